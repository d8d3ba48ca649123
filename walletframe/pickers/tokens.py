"""The picker of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.errors import UnknownTokenError
from walletframe.frames import (
    holdings_given,
    is_unknown,
    require_columns,
    token_identities,
    token_key,
    token_names,
    token_place,
)
from walletframe.pickers.chooser import Chooser, Option, Options
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.frames import FetchLike, TokenKey, TokenLike
    from walletframe.pickers.chooser import Value

_SYMBOL, _CONTRACT = 24, 100


class TokenPicker(Chooser):
    """Pick tokens from those in the holdings.

    Parameters
    ----------
    holdings : WalletDetails or DataFrame
        What to choose from: ``symbol``, ``token_blockchain`` and ``token_address``; tokens with
        the most rows first.
    value : str, or sequence of (str, str or None) or of str
        The first choice: unambiguous symbols, or (blockchain, contract), None for a native coin.
    description : str, default "Tokens"
        The label.

    Attributes
    ----------
    value : tuple of (str, str or None)
        The tokens that are chosen, in the order chosen: blockchain in upper case, contract in
        lower case where it is hex. Can be set, observed and linked.

    Raises
    ------
    ArgumentError, ColumnsError
        If `holdings` is of another type, or lacks a column.
    UnknownTokenError, AmbiguousTokenError
        If `value` names a token that is not there, or by a symbol that several share; later, too.

    Examples
    --------
    >>> import pandas as pd
    >>> holdings = pd.DataFrame(
    ...     {"symbol": ["USDC"], "token_blockchain": ["ETH"], "token_address": ["0xA0b8"]}
    ... )
    >>> picker = TokenPicker(holdings)
    >>> picker.value = ["USDC"]
    >>> picker.offer(holdings)
    >>> picker.value
    (('ETH', '0xa0b8'),)
    >>> picker.close()
    """

    def __init__(
        self,
        holdings: FetchLike,
        *,
        value: str | Sequence[TokenLike] = (),
        description: str = "Tokens",
    ) -> None:
        super().__init__(
            self._keep(holdings), value=value, description=description, hint="symbol or contract"
        )

    def offer(self, holdings: FetchLike) -> None:
        """Offer other tokens; of those chosen, those that are not among them are removed.

        Parameters
        ----------
        holdings : WalletDetails or DataFrame
            What to choose from.

        Raises
        ------
        ArgumentError, ColumnsError
            If `holdings` is of another type, or lacks a column.
        """
        self._offer(self._keep(holdings))

    def _keep(self, source: FetchLike) -> Options:
        """Keep the holdings, by which symbols are resolved, and return the tokens in them.

        Those with the most rows come first.
        """
        holdings = holdings_given(source)
        require_columns(holdings, ["symbol"])
        tokens = token_identities(holdings)
        self._holdings, self._tokens = holdings[["symbol"]].copy(), tokens
        rows = np.bincount(tokens.codes, minlength=len(tokens.keys))
        known = [place for place, key in enumerate(tokens.keys) if not is_unknown(key)]
        order = np.array(sorted(known, key=lambda place: -rows[place]), dtype=np.intp)
        first = tokens.first[order]
        symbols = holdings["symbol"].array.take(first).tolist()
        contracts = holdings["token_address"].array.take(first).tolist()
        names = token_names(holdings, tokens, order)
        keys = [tokens.keys[place] for place in order]
        return Options(map(_option, keys, names, symbols, contracts))

    def _resolve(self, value: Any) -> Value:
        if isinstance(value, str):
            hint = "name the one token, such as {!a}".format
            return self._tokens.keys[token_place(self._holdings, self._tokens, value, hint=hint)]
        key = token_key(value)
        if key not in self._options:
            raise UnknownTokenError(value)
        return key


def _option(key: TokenKey, name: str, symbol: object, contract: object) -> Option:
    called = shown(symbol, _SYMBOL) if isinstance(symbol, str) else ""
    written = shown(contract, _CONTRACT) if isinstance(contract, str) else "native coin"
    label = f"{called or 'no symbol'} · {shown(key[0], _SYMBOL)} · {written}"
    as_sent = [text[:_CONTRACT] for text in (symbol, *key, contract) if isinstance(text, str)]
    return Option(key, label, name, " ".join([called, written, *as_sent]).casefold(), key)
