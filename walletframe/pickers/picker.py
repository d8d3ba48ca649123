"""Pickers of blockchains, tokens and wallets: searchable lists with multiple selection.

Each option shows how many balances it has, and their value. Wallets can also be pasted.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from traitlets import Any as AnyTrait
from traitlets import Bool, Int, List, Unicode, observe, validate

from walletframe.address.forms import canonical_blockchain, read_wallet, shorten
from walletframe.address.lists import parse_wallets, read_pasted, with_standard_columns
from walletframe.amounts import AmountDtype
from walletframe.analysis.selection import label_texts
from walletframe.analysis.valuation import value
from walletframe.errors import (
    AddressError,
    ArgumentError,
    UnknownBlockchainError,
    UnknownTokenError,
)
from walletframe.frames.contract import require_columns
from walletframe.frames.details import as_details, as_holdings_frame, is_details
from walletframe.frames.identity import (
    KeyCodes,
    is_unknown,
    token_identities,
    token_key,
    wallet_identities,
)
from walletframe.frames.known import known_wallets
from walletframe.frames.names import short_wallet, token_names, token_place, user_wallet_names
from walletframe.numerals import compact, counted_noun
from walletframe.pandas_versions import factorized
from walletframe.pickers.base import TypedTuple, ValueWidget
from walletframe.pickers.page import script, styles
from walletframe.pickers.widget import LOCK, PageWidget, handler
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    from traitlets import TraitType

    from walletframe.address.forms import WalletAddress, WalletLike
    from walletframe.address.lists import Pasted, WalletsLike
    from walletframe.frames.details import DetailsLike, FetchLike, WalletDetails
    from walletframe.frames.identity import Codes, TokenKey
    from walletframe.frames.names import TokenLike

    Floats = npt.NDArray[np.float64]

Value: TypeAlias = "str | TokenKey"
_PRICED = ("symbol", "token_blockchain", "token_address", "amount", "price")
_LEAST, _MOST, _CURRENCY = 0.01, 1e300, 12


class OptionStats(NamedTuple):
    """The number of balances of an option, and their total value."""

    balances: int
    value: float  # NaN if no balance has one

    def sort_key(self) -> tuple[float, int]:
        """Return a sort key: the most valuable first, then those with the most balances."""
        return (math.inf if math.isnan(self.value) else -self.value, -self.balances)


@dataclass(frozen=True, slots=True)
class Option:
    """One option to choose; all texts but `words` are safe single lines."""

    value: Value
    key: Value  # equal for all spellings of the value
    name: str  # empty if it has none
    chain: str = ""
    whole: str = ""  # the address or contract in full
    short: str = ""  # a unique name, if `name` is not unique
    words: str = ""  # more text to search in


class Options(dict[Value, Option]):
    """Options by value, each key once; if stats are known, the most valuable first."""

    def __init__(
        self,
        hint: str,
        options: Iterable[Option],
        known: Mapping[Any, OptionStats] | None = None,
        sorted_by: str = "",
    ) -> None:
        super().__init__()
        self.hint = hint
        self.by_key: dict[Value, Option] = {}
        self.known: Mapping[Any, OptionStats] = known or {}
        self.sorted_by = sorted_by
        order = {key: stats.sort_key() for key, stats in self.known.items()}
        for option in sorted(options, key=lambda each: order.get(each.key, (math.inf, 1))):
            self.add(option)

    def add(self, option: Option) -> Value:
        """Add an option, and return its value, which may be there in another spelling."""
        kept = self.by_key.setdefault(option.key, option)
        self[kept.value] = kept
        return kept.value

    def columns(self) -> dict[str, Any]:
        """Return the texts that a page shows and searches, as columns; rare texts by index."""
        options = [*self.values()]
        chains = {chain: code for code, chain in enumerate({each.chain: 0 for each in options})}
        wholes: list[str | None] = []  # None if it is part of the value
        for option in options:
            value = option.value
            own = value.partition(".")[2] if isinstance(value, str) else value[1]
            wholes.append(None if own and option.whole == own else option.whole)
        made = {
            "values": [each.value for each in options],
            "names": [each.name for each in options],
            "chains": [*chains],
            "on": [chains[each.chain] for each in options],
            "wholes": wholes,
            "sorted": self.sorted_by,
            "hint": self.hint,
        }
        for name in ("short", "words"):
            texts = [(place, getattr(each, name)) for place, each in enumerate(options)]
            made[name] = {place: text for place, text in texts if text}
        return made | (_columns(self.known, [each.key for each in options]) if self.known else {})

    def here(self, remaining: Mapping[Any, OptionStats | None]) -> dict[str, Any]:
        """Return the remaining options for a page, the most valuable first."""
        places = {option.key: place for place, option in enumerate(self.values())}
        order = {key: stats.sort_key() for key, stats in remaining.items() if stats}
        keys = [key for key in remaining if key in places]
        keys.sort(key=lambda key: order.get(key, (math.inf, 0)))
        return {"places": [places[key] for key in keys], **_columns(remaining, keys)}


def _columns(stats: Mapping[Any, OptionStats | None], keys: Sequence[Any]) -> dict[str, list[Any]]:
    """Return stats as columns for a page, None if unknown."""
    each = [stats.get(key) for key in keys]
    worths = []
    for one in each:
        value = one.value if one else math.nan
        small = "<0.01" if 0 < value < _LEAST else ""
        worths.append("" if math.isnan(value) else small or compact(value))
    return {"balances": [one and one.balances for one in each], "worths": worths}


def stats_of(keys: Sequence[Any], codes: Codes, values: Floats | None) -> dict[Any, OptionStats]:
    """Return the number and total value of balances for each key; `codes` has each row's key."""
    counts = np.bincount(codes, minlength=len(keys)).tolist()
    known = np.zeros(len(codes), dtype=bool) if values is None else ~np.isnan(values)
    valued, weights = codes[known], None if values is None else values[known]
    sums = np.bincount(valued, weights, len(keys)).astype(np.float64)  # integers if there are none
    sums[np.bincount(valued, minlength=len(keys)) == 0] = np.nan
    return dict(zip(keys, map(OptionStats, counts, sums.tolist()), strict=True))


def row_values(holdings: pd.DataFrame) -> tuple[Floats | None, str]:
    """Return the value of each row, or None, and a few words on its currency or prices."""
    if "value" in holdings:
        named = [*holdings["currency"].dropna().unique()] if "currency" in holdings else []
        if len(named) > 1:
            return None, ""
        unit = f"value in {safe_line(str(named[0]), _CURRENCY)}" if named else "value"
        return holdings["value"].to_numpy(np.float64, na_value=np.nan), unit
    if not {*_PRICED} <= {*holdings} or not isinstance(holdings["amount"].dtype, AmountDtype):
        return None, ""
    prices = holdings["price"].where(holdings["price"].between(0, _MOST))
    if prices.isna().all():
        return None, ""
    values = value(holdings.assign(price=prices))["value"]
    return values.to_numpy(np.float64, na_value=np.nan), "value at the service's prices"


class _TupleTrait(TypedTuple):
    """A tuple trait; a string is one value, not a sequence of letters."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Return the tuple."""
        return super().validate(obj, (value,) if isinstance(value, str) else value)


def _from_page(values: list[Any], picker: Picker) -> tuple[Any, ...]:
    """Parse the values that the page chose; raise if one is no longer offered."""
    keys = (tuple(value) if isinstance(value, list) else value for value in values)
    return tuple(picker._resolve(key) for key in keys)  # noqa: SLF001 - of this module


class Picker(PageWidget, ValueWidget):
    """A searchable list of options, with a button for each selected one."""

    _esm, _css = script("pickerwidget"), styles("picker")
    # Any, since mypy takes the type of a trait for that of its value.
    value: Any = _TupleTrait(AnyTrait()).tag(sync=True, from_json=_from_page)
    description: Unicode[str, str | bytes] = Unicode().tag(sync=True)  # the label
    _offers = Int().tag(sync=True)  # counts calls of `offer`

    def __init__(self, source: Any, *, value: Any, description: str) -> None:
        self._options = self._read(source)
        self._remaining: Mapping[Any, OptionStats | None] | None = None
        # Before super().__init__, so that an error leaves no widget behind.
        chosen = [self._resolve(each) for each in Picker.value.validate(self, value)]
        super().__init__(description=description)
        self._handlers["options"] = lambda _: self._options.columns() | self._here()
        self.value = chosen

    @staticmethod
    @abstractmethod
    def _read(source: Any) -> Options:
        """Return the options in a source."""

    @abstractmethod
    def _resolve(self, value: Any) -> Value:
        """Return the value of the matching option."""

    def offer(self, source: Any, /) -> None:
        """Replace the options. Selected values that are no longer offered are removed.

        Parameters
        ----------
        source : WalletDetails, DataFrame or list
            The new options, as a picker of this kind takes them.

        Raises
        ------
        ArgumentError, ColumnsError, AddressError
            If `source` has another type, lacks a column, or contains an invalid wallet.

        Examples
        --------
        >>> from walletframe.pickers import BlockchainPicker
        >>> picker = BlockchainPicker(["ETH", "BSC"], value=["ETH", "BSC"])
        >>> picker.offer(["BSC", "NEAR"])
        >>> picker.value
        ('BSC',)
        >>> picker.close()
        """
        options = self._read(source)
        with LOCK:
            kept = tuple(value for value in self.value if value in options)
            self._options, self._remaining = options, None
            self.value = kept
            self._offers += 1

    def narrow(self, source: Any = None) -> None:
        """Show only some options, such as those that match another picker; keep the selection.

        Parameters
        ----------
        source : WalletDetails, DataFrame or None
            A part of the options, with the balances to count for each; None for all options.

        Raises
        ------
        ArgumentError, ColumnsError
            If `source` has another type, or lacks a column.

        Examples
        --------
        >>> from walletframe.pickers import BlockchainPicker
        >>> picker = BlockchainPicker(["ETH", "BSC", "NEAR"])
        >>> picker.narrow(["ETH", "NEAR"])
        >>> picker.narrow()
        >>> picker.close()
        """
        part = None if source is None else self._read(source)
        with LOCK:
            self._remaining = (
                None if part is None else {key: part.known.get(key) for key in part.by_key}
            )
            self.send({"kind": "narrowed", **self._here()})

    def _here(self) -> dict[str, Any]:
        """Return the remaining options for the page, None for all."""
        remaining = self._remaining
        return {"here": None if remaining is None else self._options.here(remaining)}

    @validate("value")
    def _resolve_all(self, proposal: dict[str, Any]) -> tuple[Value, ...]:
        return tuple(dict.fromkeys(self._resolve(value) for value in proposal["value"]))

    @observe("value")
    def _forget_error(self, _change: object) -> None:
        self._show_error("")


BlockchainsLike: TypeAlias = "DetailsLike | pd.DataFrame | str | Iterable[str]"
KnownWallets: TypeAlias = "DetailsLike | WalletsLike"
_SYMBOL, _CONTRACT = 24, 100
_NAME, _LABEL, _WHOLE, _PROBLEMS, _REASON = 24, 60, 500, 10, 120


def chain_options(source: BlockchainsLike) -> Options:
    """Return the blockchains of a frame or a list, with stats of their balances."""
    holdings: pd.DataFrame | None = None
    if is_details(source):
        details = as_details(source, "blockchains")
        holdings = details.holdings
        pairs = [*_counts(holdings), *_counts(details.wallets)]
    elif isinstance(source, pd.DataFrame):
        pairs = _counts(source)
        holdings = source if "token_blockchain" in source else None
    else:
        names: object = [source] if isinstance(source, str) else source
        each: list[Any] = list(names) if isinstance(names, Iterable) else [None]
        pairs = [(name, 1) for name in each]
        if not all(isinstance(name, str) for name, _ in pairs):
            raise ArgumentError(
                "blockchains is not a list of identifiers",
                hint='use a list of text, such as ["ETH", "BSC"], or the result of fetch_wallets',
            )
    spelling = {canonical_blockchain(name): name for name, _ in reversed(pairs)}  # the first
    totals: Counter[str] = Counter()
    for name, count in pairs:
        totals[canonical_blockchain(name)] += count
    named = [(key, spelling[key]) for key, _ in totals.most_common()]
    options = [
        Option(
            name, key, safe_line(name), short=safe_line(name, _SYMBOL), words=_original_text(name)
        )
        for key, name in named
    ]
    hint = "Blockchain"
    if holdings is None:
        return Options(hint, options)
    codes, written = factorized(holdings["blockchain"])
    canonical = [canonical_blockchain(str(name)) for name in written]
    folded, keys = pd.factorize(np.array(canonical, dtype=object))
    values, unit = row_values(holdings)
    return Options(hint, options, stats_of([*keys], np.append(folded, -1)[codes], values), unit)


def _counts(frame: pd.DataFrame) -> list[tuple[str, int]]:
    require_columns(frame, ["blockchain"])
    counts = frame["blockchain"].dropna().value_counts(sort=False)
    return [(str(name), int(count)) for name, count in counts.items()]


class BlockchainPicker(Picker):
    """Pick blockchains from a frame or a list.

    Parameters
    ----------
    blockchains : WalletDetails, DataFrame with a column blockchain, str, or iterable of str
        The options. Of holdings, the most valuable come first, then those with most balances.
    value : str or sequence of str
        The initial selection, in upper or lower case.
    description : str, default "Blockchains"
        The label.

    Attributes
    ----------
    value : tuple of str
        The selection, as first written, in the order chosen. Can be set, observed and linked.

    Raises
    ------
    ArgumentError, ColumnsError
        If `blockchains` has another type, or is a frame without the column.
    UnknownBlockchainError
        If `value` has a blockchain that is not an option, now or when it is set later.

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
    _read = staticmethod(chain_options)

    def __init__(
        self,
        blockchains: BlockchainsLike,
        *,
        value: str | Sequence[str] = (),
        description: str = "Blockchains",
    ) -> None:
        super().__init__(blockchains, value=value, description=description)

    def _resolve(self, value: Any) -> Value:
        key = canonical_blockchain(value) if isinstance(value, str) else ""
        if key not in self._options.by_key:
            raise UnknownBlockchainError(str(value), [*map(str, self._options)])
        return self._options.by_key[key].value


class TokenPicker(Picker):
    """Pick tokens from those in the holdings.

    Parameters
    ----------
    holdings : WalletDetails or DataFrame
        The options, in ``symbol``, ``token_blockchain`` and ``token_address``. The most valuable
        come first, by ``value`` or else by the service's ``price``, then those of most rows.
    value : str, or sequence of (str, str or None) or of str
        The initial selection: unambiguous symbols, or (blockchain, contract), None if native.
    description : str, default "Tokens"
        The label.

    Attributes
    ----------
    value : tuple of (str, str or None)
        The selected tokens, in the order chosen: blockchain in upper case, contract in lower case
        if it is hex. Can be set, observed and linked.

    Raises
    ------
    ArgumentError, ColumnsError
        If `holdings` has another type, or lacks a column.
    UnknownTokenError, AmbiguousTokenError
        If `value` has a token that is not an option, or a symbol that several share; later, too.

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

    @staticmethod
    def _read(source: FetchLike) -> TokenOptions:
        return TokenOptions(as_holdings_frame(source))

    def _resolve(self, value: Any) -> Value:
        if isinstance(value, str):
            hint = "choose one token, such as {!a}".format
            symbols, tokens = self._options.symbols, self._options.tokens
            return tokens.keys[token_place(symbols, tokens, value, hint=hint)]
        key = token_key(value)
        if key not in self._options:
            raise UnknownTokenError(value)
        return key


class TokenOptions(Options):
    """The tokens of holdings, with stats of their balances."""

    def __init__(self, holdings: pd.DataFrame) -> None:
        require_columns(holdings, ["symbol"])
        self.tokens: KeyCodes = token_identities(holdings)
        tokens = self.tokens
        # A copy, since the caller may change the frame.
        self.symbols: pd.DataFrame = holdings[["symbol"]].copy()
        known = [place for place, key in enumerate(tokens.keys) if not is_unknown(key)]
        places = np.array(known, dtype=np.intp)
        first = tokens.first[places]
        symbols = holdings["symbol"].array.take(first).tolist()
        contracts = holdings["token_address"].array.take(first).tolist()
        names = token_names(holdings, tokens, places)
        keys = [tokens.keys[place] for place in known]
        values, unit = row_values(holdings)
        stats = stats_of(tokens.keys, tokens.codes, values)
        options = map(_token_option, keys, names, symbols, contracts)
        super().__init__("Symbol, blockchain, contract", options, stats, unit)


def _token_option(key: TokenKey, name: str, symbol: object, contract: object) -> Option:
    safe = safe_line(symbol, _SYMBOL) if isinstance(symbol, str) else ""
    whole = safe_line(contract, _CONTRACT) if isinstance(contract, str) else "native coin"
    words = [_original_text(symbol, safe), _original_text(key[0]), _original_text(contract, whole)]
    return Option(
        value=key,
        key=key,
        name=safe or "no symbol",
        chain=safe_line(key[0], _SYMBOL),
        whole=whole,
        short="" if name == safe else name,
        words=" ".join(words).strip(),
    )


def _original_text(text: object, seen: str = "") -> str:
    """Return the original text, which people may paste, if the shown text differs."""
    return text[:_CONTRACT] if isinstance(text, str) and text != (seen or safe_line(text)) else ""


def wallet_options(source: KnownWallets) -> Options:
    """Return the wallets of a fetch, a frame or a list, with stats of their balances."""
    listed: Any = with_standard_columns(source) if isinstance(source, pd.DataFrame) else source
    hint, holdings, known = "Name, blockchain, address", listed, {}
    if is_details(source):
        listed, holdings = as_details(source, "wallets")
        empty = wallet_identities(listed[known_wallets(listed)]).keys
        known = {f"{chain}.{address}": OptionStats(0, math.nan) for chain, address in empty}
    wallets, names = parse_wallets(listed), list[str]()
    if isinstance(listed, pd.DataFrame) and "blockchain" in listed:
        asked = [(wallet.blockchain, wallet.address) for wallet in wallets]
        names = user_wallet_names(pd.DataFrame(asked, columns=["blockchain", "address"]), listed)
    options = map(_wallet_option, wallets, names) if names else map(_wallet_option, wallets)
    if not isinstance(holdings, pd.DataFrame) or "token_blockchain" not in holdings:
        return Options(hint, options)
    owners = wallet_identities(holdings)
    values, unit = row_values(holdings)
    keys = [f"{chain}.{address}" for chain, address in owners.keys]
    return Options(hint, options, known | stats_of(keys, owners.codes, values), unit)


def _wallet_option(wallet: WalletAddress, name: str = "") -> Option:
    chain, address = wallet.blockchain, wallet.address
    return Option(
        value=str(wallet),
        key=str(wallet.canonical),
        name=safe_line(name, _NAME) if name else "",
        chain=safe_line(chain),
        whole=safe_line(address, _WHOLE),
        short=short_wallet(chain, address, name),
        words=name[:_WHOLE] if len(name) > _NAME else "",
    )


def filter_options(details: WalletDetails, groups: Iterable[str], kind: str) -> Options:
    """Return the options of a filter; labels come from the columns `groups`."""
    if kind == "wallets":
        return wallet_options(details)
    if kind == "tokens":
        return TokenOptions(details.holdings)
    if kind == "blockchains":
        return chain_options(details)
    options = []
    for name in groups:
        for label in label_texts(details.wallets[name]).value_counts().index:
            text, column = safe_line(label, _LABEL), safe_line(name, _NAME)
            key, none = (name, label), f"no {column}"  # the same name as in charts
            short = f"{column}: {text}" if text else none
            options.append(Option(key, key, text or none, column, short=short))
    return Options("Label or column", options)


class WalletPicker(Picker):
    """Pick wallets from a fetch or a list, and paste others.

    Parameters
    ----------
    wallets : WalletDetails, or whatever `fetch_wallets` takes
        The options, which can be searched by ``name``, too, if frames have it. Default: none.
    value : str, or sequence of str, of (str, str), of mappings or of WalletAddress
        The initial selection.
    description : str, default "Wallets"
        The label.
    paste : bool, default True
        Whether other wallets can be pasted: one or several per line, or two columns of a table.
        Lines that can't be read stay in the box, with the reason for each.

    Attributes
    ----------
    value : tuple of str
        The selected wallets, each once, as ``"<BLOCKCHAIN>.<ADDRESS>"``, as first written, in the
        order chosen. Can be set, observed and linked; `fetch_wallets` takes it.

    Raises
    ------
    AddressError
        If a wallet can't be read.

    Examples
    --------
    >>> picker = WalletPicker(["NEAR.alice.near", "ETH.0xAB"])
    >>> picker.value = ["eth.0xab", "NEAR.bob.near"]
    >>> picker.value
    ('ETH.0xAB', 'NEAR.bob.near')
    >>> picker.offer(["NEAR.carol.near"])
    >>> picker.choose_all()
    >>> picker.take_pasted(), picker.value
    (True, ('NEAR.carol.near',))
    >>> picker.close()
    """

    value: TraitType[tuple[str, ...], str | Sequence[WalletLike]]
    _read = staticmethod(wallet_options)
    _pastes = Bool().tag(sync=True)
    _pasted = Unicode().tag(sync=True)  # the text in the field
    _problems = List(Unicode()).tag(sync=True)  # a sentence, and one line per bad line

    def __init__(
        self,
        wallets: KnownWallets = (),
        *,
        value: str | Sequence[WalletLike] = (),
        description: str = "Wallets",
        paste: bool = True,
    ) -> None:
        super().__init__(wallets, value=value, description=description)
        self._pastes = paste
        self._handlers["paste"] = lambda _: self.take_pasted()

    @handler
    def choose_all(self) -> None:
        """Select all options."""
        self.value = [*map(str, self._options)]

    def take_pasted(self) -> bool:
        """Select the pasted wallets; lines that can't be read stay in the field, with the reason.

        Returns
        -------
        bool
            Whether all lines could be read.
        """
        pasted = read_pasted(self._pasted)
        self.value = (*self.value, *map(str, pasted.wallets))
        self._pasted = pasted.unreadable_lines
        self._problems = _problems(read_pasted(pasted.unreadable_lines))
        return not pasted.problems

    def _resolve(self, value: Any) -> Value:
        if isinstance(value, str) and value in self._options:
            return value
        wallet = read_wallet(value)
        if isinstance(wallet, str):
            raise AddressError([(0, shorten(value), wallet)])
        return self._options.add(_wallet_option(wallet))


def _problems(pasted: Pasted) -> list[str]:
    """Return a summary of the lines that can't be read, and a line with the reasons for each."""
    wrong: dict[int, dict[str, list[str]]] = {}
    for line, text, reason in pasted.problems:
        wrong.setdefault(line, {}).setdefault(reason, []).append(text)
    if not wrong:
        return []
    stay = "stays" if len(wrong) == 1 else "stay"
    messages = [
        f"{counted_noun(len(wrong), 'line')} can't be read, and {stay} above to be corrected:"
    ]
    for line, reasons in list(wrong.items())[:_PROBLEMS]:
        parts = [
            f"{safe_line(', '.join(texts))}: {safe_line(reason, _REASON)}"
            for reason, texts in reasons.items()
        ]
        messages.append(f"Line {line}: {'; '.join(parts)}")
    rest = len(wrong) - _PROBLEMS
    return [*messages, f"and {counted_noun(rest, 'more line')}"] if rest > 0 else messages
