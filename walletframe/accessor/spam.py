"""What speaks for a token being spam."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.analysis.token_lists import TokensLike
    from walletframe.frames import TokenLike


class SpamAccessor:
    """What can be asked of holdings in which strangers put tokens."""

    _data: pd.DataFrame

    def flag_spam(
        self,
        *,
        allow: TokensLike | None = None,
        deny: TokensLike | None = None,
        threshold: float = 0.5,
    ) -> pd.DataFrame:
        """Add what speaks for each row's token being spam; no row is dropped.

        Parameters
        ----------
        allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
            Tokens that are no spam, and tokens that are: a file in the Uniswap token-list format,
            a frame with ``token_blockchain`` and ``token_address``, or (blockchain, contract)
            pairs.
        threshold : float, default 0.5
            From which score on a token counts as spam.

        Returns
        -------
        DataFrame
            The same rows and columns, and ``spam_score`` (float64, from 0 to 1), ``spam_reasons``
            (str, empty where nothing was found) and ``is_spam`` (bool).

        Raises
        ------
        TokenListError
            Where a list can't be read, or a token is on both.
        ColumnsError
            Where the holdings lack a column.
        AmountError
            Where ``amount`` holds no amounts.
        SettingsError
            Where the threshold is not above 0 and at most 1.
        """
        from walletframe.analysis import flag_spam  # noqa: PLC0415 - loads pyarrow.compute

        return flag_spam(self._data, allow=allow, deny=deny, threshold=threshold)

    def without_spam(
        self,
        *,
        allow: TokensLike | None = None,
        deny: TokensLike | None = None,
        threshold: float = 0.5,
    ) -> pd.DataFrame:
        """Return the rows that `flag_spam` does not flag.

        Parameters
        ----------
        allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
            As in `flag_spam`.
        threshold : float, default 0.5
            As in `flag_spam`.

        Returns
        -------
        DataFrame
            In their order, with the columns they had.

        Raises
        ------
        TokenListError, ColumnsError, AmountError, SettingsError
            As in `flag_spam`.

        Warns
        -----
        SpamWarning
            Saying how many rows of how many tokens were left out, if any; it is never an error.
        """
        from walletframe.analysis import without_spam  # noqa: PLC0415 - loads pyarrow.compute

        return without_spam(self._data, allow=allow, deny=deny, threshold=threshold)

    def explain_spam(
        self,
        token: TokenLike | None = None,
        *,
        allow: TokensLike | None = None,
        deny: TokensLike | None = None,
        threshold: float = 0.5,
        everything: bool = False,
    ) -> pd.DataFrame:
        """Say token by token what `flag_spam` found, in words for a person.

        Parameters
        ----------
        token : str or (str, str or None), optional
            One token only, flagged or not: (blockchain, contract), or an unambiguous symbol.
        allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
            As in `flag_spam`.
        threshold : float, default 0.5
            As in `flag_spam`.
        everything : bool, default False
            Tell of tokens that are not flagged, too, where anything was found of them.

        Returns
        -------
        DataFrame
            One row for each finding: ``symbol``, ``token_blockchain``, ``token_address``,
            ``spam_score`` (float64), ``is_spam`` (bool), ``reason`` (str), ``weight`` (float64)
            and ``text`` (str); the highest score first.

        Raises
        ------
        UnknownTokenError, AmbiguousTokenError
            Where the token is not one of the holdings.
        TokenListError, ColumnsError, AmountError, SettingsError
            As in `flag_spam`.
        """
        from walletframe.analysis import explain_spam  # noqa: PLC0415 - loads pyarrow.compute

        return explain_spam(
            self._data,
            token,
            allow=allow,
            deny=deny,
            threshold=threshold,
            everything=everything,
        )
