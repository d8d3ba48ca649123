"""Pick blockchains, or tokens, of those in a frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address import canonical_blockchain
from walletframe.errors import ArgumentError, UnknownBlockchainError, UnknownTokenError
from walletframe.frames import (
    details_given,
    holdings_given,
    is_details,
    is_unknown,
    require_columns,
    token_identities,
    token_key,
    token_names,
    token_place,
)
from walletframe.pickers.options import Option, Options, facts, row_values
from walletframe.pickers.picker import Picker
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from traitlets import TraitType

    from walletframe.frames import DetailsLike, FetchLike, TokenKey, TokenLike
    from walletframe.pickers.options import Value

BlockchainsLike: TypeAlias = "DetailsLike | pd.DataFrame | str | Iterable[str]"
_SYMBOL, _CONTRACT = 24, 100


class BlockchainPicker(Picker):
    """Pick blockchains from a frame or a list.

    Parameters
    ----------
    blockchains : WalletDetails, DataFrame with a column blockchain, str, or iterable of str
        What to choose from; of holdings, those of most value first, then of most balances.
    value : str or sequence of str
        What is chosen at first, in any case.
    description : str, default "Blockchains"
        The label.

    Attributes
    ----------
    value : tuple of str
        What is chosen, as first written, in the order chosen. Can be set, observed and linked.

    Raises
    ------
    ArgumentError, ColumnsError
        If `blockchains` is of another type, or a frame without the column.
    UnknownBlockchainError
        If `value` names a blockchain that is not there, now or when it is set later.

    Examples
    --------
    >>> picker = BlockchainPicker(["ETH", "BSC"], value=["eth"])
    >>> picker.value
    ('ETH',)
    >>> picker.offer(["BSC", "NEAR"])
    >>> picker.value
    ()
    >>> picker.close()
    """

    value: TraitType[tuple[str, ...], str | Sequence[str]]

    def __init__(
        self,
        blockchains: BlockchainsLike,
        *,
        value: str | Sequence[str] = (),
        description: str = "Blockchains",
    ) -> None:
        super().__init__(blockchains, value=value, description=description)

    def _read(self, source: BlockchainsLike) -> Options:
        return chain_options(source)

    def _resolve(self, value: Any) -> Value:
        key = canonical_blockchain(value) if isinstance(value, str) else ""
        if key not in self._options.by_key:
            raise UnknownBlockchainError(str(value), [*map(str, self._options)])
        return self._options.by_key[key].value


def chain_options(source: BlockchainsLike) -> Options:
    """Return the blockchains of a frame or of a list, with what is held on them."""
    holdings: pd.DataFrame | None = None
    if is_details(source):
        details = details_given(source, "blockchains")
        holdings = details.holdings
        pairs = [*_counts(holdings), *_counts(details.wallets)]
    elif isinstance(source, pd.DataFrame):
        pairs = _counts(source)
        holdings = source if "token_blockchain" in source else None
    else:
        given: object = [source] if isinstance(source, str) else source
        each: list[Any] = list(given) if isinstance(given, Iterable) else [None]
        pairs = [(name, 1) for name in each]
        if not all(isinstance(name, str) for name, _ in pairs):
            raise ArgumentError(
                "blockchains is not a list of identifiers",
                hint='give a list of text, such as ["ETH", "BSC"], or what fetch_wallets returned',
            )
    spelling: dict[str, str] = {}
    totals: Counter[str] = Counter()
    for name, count in pairs:
        key = canonical_blockchain(name)
        spelling.setdefault(key, name)
        totals[key] += count
    named = [(key, spelling[key]) for key, _ in totals.most_common()]
    options = [
        Option(name, key, shown(name), short=shown(name, _SYMBOL), words=_other(name))
        for key, name in named
    ]
    hint = "Blockchain"
    if holdings is None:
        return Options(hint, options)
    codes, names = pd.factorize(holdings["blockchain"].array)
    canonical = [canonical_blockchain(str(name)) for name in names]
    folded, keys = pd.factorize(np.array(canonical, dtype=object))
    values, unit = row_values(holdings)
    return Options(hint, options, facts([*keys], np.append(folded, -1)[codes], values), unit)


def _counts(frame: pd.DataFrame) -> list[tuple[str, int]]:
    require_columns(frame, ["blockchain"])
    counts = frame["blockchain"].dropna().value_counts(sort=False)
    return [(str(name), int(count)) for name, count in counts.items()]


class TokenPicker(Picker):
    """Pick tokens from those in the holdings.

    Parameters
    ----------
    holdings : WalletDetails or DataFrame
        What to choose from: ``symbol``, ``token_blockchain`` and ``token_address``. Tokens of most
        value come first, by ``value`` or else by the service's ``price``, then those of most rows.
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

    value: TraitType[tuple[TokenKey, ...], str | Sequence[TokenLike]]
    _options: TokenOptions

    def __init__(
        self,
        holdings: FetchLike,
        *,
        value: str | Sequence[TokenLike] = (),
        description: str = "Tokens",
    ) -> None:
        super().__init__(holdings, value=value, description=description)

    def _read(self, source: FetchLike) -> TokenOptions:
        return TokenOptions(holdings_given(source))

    def _resolve(self, value: Any) -> Value:
        if isinstance(value, str):
            return self._options.of_symbol(value)
        key = token_key(value)
        if key not in self._options:
            raise UnknownTokenError(value)
        return key


class TokenOptions(Options):
    """The tokens of holdings, with what is held of each."""

    def __init__(self, holdings: pd.DataFrame) -> None:
        require_columns(holdings, ["symbol"])
        self._tokens = tokens = token_identities(holdings)
        self._symbols = holdings[["symbol"]].copy()  # since the caller may change the frame
        known = [place for place, key in enumerate(tokens.keys) if not is_unknown(key)]
        places = np.array(known, dtype=np.intp)
        first = tokens.first[places]
        symbols = holdings["symbol"].array.take(first).tolist()
        contracts = holdings["token_address"].array.take(first).tolist()
        names = token_names(holdings, tokens, places)
        keys = [tokens.keys[place] for place in known]
        values, unit = row_values(holdings)
        behind = facts(tokens.keys, tokens.codes, values)
        options = map(_option, keys, names, symbols, contracts)
        super().__init__("Symbol, blockchain, contract", options, behind, unit)

    def of_symbol(self, symbol: str) -> TokenKey:
        """Return the one token that has a symbol."""
        hint = "name the one token, such as {!a}".format
        return self._tokens.keys[token_place(self._symbols, self._tokens, symbol, hint=hint)]


def _option(key: TokenKey, name: str, symbol: object, contract: object) -> Option:
    called = shown(symbol, _SYMBOL) if isinstance(symbol, str) else ""
    whole = shown(contract, _CONTRACT) if isinstance(contract, str) else "native coin"
    words = [_other(symbol, called), _other(key[0]), _other(contract, whole)]
    return Option(
        value=key,
        key=key,
        name=called or "no symbol",
        chain=shown(key[0], _SYMBOL),
        whole=whole,
        short="" if name == called else name,
        words=" ".join(words).strip(),
    )


def _other(text: object, seen: str = "") -> str:
    """Return text as sent, such as people paste, where that is not what is seen of it."""
    return text[:_CONTRACT] if isinstance(text, str) and text != (seen or shown(text)) else ""
