"""Spam tokens: flag, explain and leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.accessor.given import Given, RowsT

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.analysis import TokensLike
    from walletframe.frames import TokenLike


class SpamAccessor(Given[RowsT]):
    """Methods that find spam tokens in holdings."""

    def flag_spam(
        self,
        *,
        allow: TokensLike | None = None,
        deny: TokensLike | None = None,
        threshold: float = 0.5,
    ) -> RowsT:
        """Add a spam score and its reasons to each row; no row is dropped.

        Parameters
        ----------
        allow : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
            Tokens that are never spam: a file in the Uniswap token-list format, or parsed from one,
            a frame with ``token_blockchain`` and ``token_address``, or (blockchain, contract)
            pairs. Where the list has symbols, another contract that bears one of them on the same
            blockchain counts as an imitation.
        deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
            Tokens that are spam, in the same forms.
        threshold : float, default 0.5
            The lowest score that counts as spam.

        Returns
        -------
        DataFrame, or WalletDetails of a fetch
            The same rows and columns, and ``spam_score`` (float64, from 0 to 1), ``spam_reasons``
            (str: stable words, the heaviest first, joined by ``", "``; empty where nothing was
            found) and ``is_spam`` (bool). All rows of one token under one symbol have the same.

        Raises
        ------
        TokenListError, OSError
            If a list or its file can't be read, or a token is on both lists.
        ColumnsError, AmountError, SettingsError
            If a frame lacks a column, ``amount`` has no amounts, or the threshold is not in (0, 1].

        Notes
        -----
        The score is the sum of the reasons' weights, at most 1; `explain_spam` gives each. Known
        and allowed tokens and native coins have 0, denied ones 1. Nothing is fetched. A worthless
        token with a plain name is not detected.

        A price that the service gives weighs against other findings, but never against a link, a
        claim or a disguise. That it gives none, where it gives one for another token of the
        blockchain, weighs a little beside other findings. Pass the whole frame: prices, amounts and
        equal symbols in all its rows count.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"symbol": ["$ usdcgift.com - Visit to claim", "FOO"],
        ...     "token_blockchain": "ETH", "token_address": ["0xab", "0xcd"],
        ...     "amount": pd.array(["1000", "5"], dtype="amount"), "raw_amount": ["1000", "5"]})
        >>> frame.wf.flag_spam()[["spam_score", "spam_reasons", "is_spam"]]
           spam_score                     spam_reasons  is_spam
        0         1.0  domain, claim, foremost, phrase     True
        1         0.0                                     False
        """
        from walletframe.analysis import flag_spam

        rows = flag_spam(self._data, allow=allow, deny=deny, threshold=threshold)
        return self._again(rows)

    def without_spam(
        self,
        *,
        allow: TokensLike | None = None,
        deny: TokensLike | None = None,
        threshold: float = 0.5,
    ) -> RowsT:
        """Return the rows that `flag_spam` does not flag.

        Parameters
        ----------
        allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
            Tokens that are no spam, and tokens that are, as in `flag_spam`.
        threshold : float, default 0.5
            The lowest score that counts as spam.

        Returns
        -------
        DataFrame, or WalletDetails of a fetch
            Those rows in their order, on their own index, with the columns they had.

        Raises
        ------
        TokenListError, OSError
            If a list or its file can't be read, or a token is on both lists.
        ColumnsError, AmountError, SettingsError
            If a frame lacks a column, ``amount`` has no amounts, or the threshold is not in (0, 1].

        Warns
        -----
        SpamWarning
            Saying how many rows of how many tokens were left out, if any; never an error, whatever
            the filters of warnings.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"symbol": ["FOO"], "token_blockchain": "ETH",
        ...     "token_address": ["0xcd"], "amount": pd.array(["5"], dtype="amount"),
        ...     "raw_amount": ["5"]})
        >>> frame.wf.without_spam().symbol.tolist()
        ['FOO']
        """
        from walletframe.analysis import without_spam

        rows = without_spam(self._data, allow=allow, deny=deny, threshold=threshold)
        return self._again(rows)

    def explain_spam(
        self,
        token: TokenLike | None = None,
        *,
        allow: TokensLike | None = None,
        deny: TokensLike | None = None,
        threshold: float = 0.5,
        everything: bool = False,
    ) -> pd.DataFrame:
        """Explain in words, token by token, what `flag_spam` found.

        Parameters
        ----------
        token : str or (str, str or None), optional
            Only this token, flagged or not: (blockchain, contract), or an unambiguous symbol.
        allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
            Tokens that are no spam, and tokens that are, as in `flag_spam`.
        threshold : float, default 0.5
            The lowest score that counts as spam.
        everything : bool, default False
            Include tokens that are not flagged, if there are findings about them.

        Returns
        -------
        DataFrame
            One row for each finding, the highest score first, of each token the heaviest reason:
            ``symbol``, ``token_blockchain``, ``token_address``, ``spam_score`` (float64) and
            ``is_spam`` (bool) of the token, ``reason`` (str), ``weight`` (float64; 0 or less for
            what speaks for a token) and ``text`` (str).

        Raises
        ------
        UnknownTokenError, AmbiguousTokenError
            If no row has the token, or several tokens share the symbol.
        TokenListError, OSError
            If a list or its file can't be read, or a token is on both lists.
        ColumnsError, AmountError, SettingsError
            If a frame lacks a column, ``amount`` has no amounts, or the threshold is not in (0, 1].

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"symbol": ["Visit usdcgift.com to claim"],
        ...     "token_blockchain": "ETH", "token_address": ["0xab"],
        ...     "amount": pd.array(["1000"], dtype="amount"), "raw_amount": ["1000"]})
        >>> frame.wf.explain_spam().reason.iloc[0]
        'domain'
        """
        from walletframe.analysis import explain_spam

        return explain_spam(
            self._data, token, allow=allow, deny=deny, threshold=threshold, everything=everything
        )
