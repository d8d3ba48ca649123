"""Pick tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from walletframe.errors import UnknownTokenError
from walletframe.frames import (
    ambiguous,
    holdings_given,
    is_unknown,
    require_columns,
    token_identities,
    token_key,
)
from walletframe.pickers.chooser import Chooser
from walletframe.pickers.options import Option, Options
from walletframe.text import shortened, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from walletframe.frames import DetailsLike, TokenKey, TokenLike
    from walletframe.pickers.options import Value

HoldingsLike: TypeAlias = "DetailsLike | pd.DataFrame"
_SYMBOL, _CONTRACT = 24, 100


class TokenPicker(Chooser):
    """Pick tokens, out of those that somebody holds.

    Parameters
    ----------
    holdings : WalletDetails or DataFrame
        What to choose from: ``symbol``, ``token_blockchain`` and ``token_address``; tokens with
        the most rows first.
    value : str, or sequence of (str, str or None) or of str
        What is chosen at first: (blockchain, contract), None for a native coin; or symbols that
        one token alone has.
    description : str, default "Tokens"
        The label.

    Attributes
    ----------
    value : tuple of (str, str or None)
        The tokens that are chosen, in the order chosen: blockchain in upper case, contract in
        lower case where it is hex. Can be set, observed and linked.

    Raises
    ------
    ArgumentError
        Where `holdings` is something else.
    ColumnsError
        Where a column is missing.
    UnknownTokenError
        Where `value` names a token that is not there; when it is set later, as well.
    AmbiguousTokenError
        Where several tokens share the symbol.

    Examples
    --------
    >>> import pandas as pd
    >>> picker = TokenPicker(
    ...     pd.DataFrame(
    ...         {"symbol": ["USDC"], "token_blockchain": ["ETH"], "token_address": ["0xA0b8"]}
    ...     )
    ... )
    >>> picker.value = ["USDC"]
    >>> picker.value
    (('ETH', '0xa0b8'),)
    >>> picker.close()
    """

    def __init__(
        self,
        holdings: HoldingsLike,
        *,
        value: str | Sequence[TokenLike] = (),
        description: str = "Tokens",
    ) -> None:
        super().__init__(
            token_options(holdings),
            value=value,
            description=description,
            hint="symbol or contract",
        )

    def offer(self, holdings: HoldingsLike) -> None:
        """Offer other tokens; of those chosen, the ones that are not among them are let go.

        Parameters
        ----------
        holdings : WalletDetails or DataFrame
            What to choose from.
        """
        self._offer(token_options(holdings))

    def _resolve(self, value: Any) -> Value:
        if isinstance(value, str):
            return self._named(value)
        option = self._options.get(token_key(value))
        if option is None:
            raise UnknownTokenError(value)
        return option.value

    def _named(self, symbol: str) -> Value:
        begin = f"{symbol.casefold()} "
        tokens = [option.value for option in self._options if option.words.startswith(begin)]
        if not tokens:
            raise UnknownTokenError(symbol)
        if len(tokens) > 1:
            raise ambiguous(
                {symbol: [key for key in tokens if isinstance(key, tuple)]},
                hint=lambda first: f"name the one token, such as {first!a}",
            )
        return tokens[0]


def token_options(source: HoldingsLike) -> Options:
    """Return the tokens of holdings."""
    holdings = holdings_given(source)
    require_columns(holdings, ["symbol"])
    tokens = token_identities(holdings)
    rows = np.bincount(tokens.codes, minlength=len(tokens.keys))
    known = [place for place, key in enumerate(tokens.keys) if not is_unknown(key)]
    order = np.array(sorted(known, key=lambda place: -rows[place]), dtype=np.intp)
    first = tokens.first[order]
    symbols = holdings["symbol"].array.take(first).tolist()
    contracts = holdings["token_address"].array.take(first).tolist()
    return Options(map(_option, [tokens.keys[place] for place in order], symbols, contracts))


def _option(key: TokenKey, symbol: object, contract: object) -> Option:
    name = shown(symbol, _SYMBOL) if isinstance(symbol, str) else ""
    written = shown(contract, _CONTRACT) if isinstance(contract, str) else "native coin"
    named = f"{name or 'no symbol'} · {shown(key[0], _SYMBOL)} · "
    words = f"{name} {key[0]} {written}".casefold()
    return Option(key, named + written, named + shortened(written), words, key)
