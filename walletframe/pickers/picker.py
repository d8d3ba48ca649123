"""Pickers for blockchains, tokens and wallets: searchable lists with multiple selection.

Each option shows the number of balances and the total value. Wallets can also be pasted.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from traitlets import Any as AnyTrait
from traitlets import Bool, Int, List, Unicode, observe, validate

from walletframe import errors
from walletframe.address.formats import malformed_reason
from walletframe.address.forms import canonical_blockchain, truncated_text, wallet_or_reason
from walletframe.address.lists import parse_wallets, read_pasted, rename_wallet_columns
from walletframe.analysis.selection import label_texts
from walletframe.analysis.valuation import has_default_prices, value
from walletframe.frames import identity
from walletframe.frames.details import as_details, extract_frame, is_pair_of_frames
from walletframe.frames.known import known_mask
from walletframe.frames.names import short_wallet_name, token_index, token_names, user_wallet_names
from walletframe.frames.schema import require_columns
from walletframe.numerals import compact, counted_noun
from walletframe.pandas_versions import factorize
from walletframe.pickers.base import TypedTuple, ValueWidget
from walletframe.pickers.page import join_css, join_js
from walletframe.pickers.widget import LOCK, MessageHandlingWidget, locked_handler
from walletframe.settings.tables import table_defaults
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from traitlets import TraitType

    from walletframe.address.forms import WalletAddress, WalletLike
    from walletframe.address.lists import PastedWallets, WalletsLike
    from walletframe.amounts.integers import Floats
    from walletframe.frames.details import DetailsLike, FetchLike, WalletDetails
    from walletframe.frames.identity import Codes, TokenKey
    from walletframe.frames.names import TokenLike

OptionValue: TypeAlias = "str | TokenKey"
_PRICE_COLUMNS = ("symbol", "token_blockchain", "token_address", "amount", "price")
_MIN_SHOWN_VALUE, _MAX_PRICE = 0.01, 1e300


class OptionStats(NamedTuple):
    """The number and the total value of an option's balances."""

    balances: int
    value: float  # NaN if no balance has a value

    def sort_key(self) -> tuple[float, int]:
        """Return a sort key: the largest value first, then the most balances, and NaN last."""
        return (math.inf if math.isnan(self.value) else -self.value, -self.balances)


class Option(NamedTuple):
    """One option of a picker. All texts except `search_text` are escaped and on one line."""

    value: OptionValue
    key: OptionValue  # the same for all spellings of the value, such as eth and ETH
    name: str  # empty if the option has no name
    chain: str = ""
    full_text: str = ""  # the full address of the wallet or contract
    short: str = ""  # a unique short name, set if `name` is not unique
    search_text: str = ""  # additional text to search


class Options(dict[OptionValue, Option]):
    """The distinct options of a picker by value, sorted by their stats."""

    def __init__(
        self,
        hint: str,
        options: Iterable[Option],
        stats: Mapping[Any, OptionStats] | None = None,
        sorted_by: str = "",
    ) -> None:
        super().__init__()
        self.hint = hint
        self.by_key: dict[OptionValue, Option] = {}
        self.stats: Mapping[Any, OptionStats] = stats or {}
        self.sorted_by = sorted_by
        order = {key: each.sort_key() for key, each in self.stats.items()}
        for option in sorted(options, key=lambda each: order.get(each.key, (math.inf, 1))):
            self.add_option(option)

    def add_option(self, option: Option) -> OptionValue:
        """Add an option unless its key exists. Return the value of the option with this key."""
        kept = self.by_key.setdefault(option.key, option)
        self[kept.value] = kept
        return kept.value

    def to_lists(self) -> dict[str, Any]:
        """Return the options for the front end, by column."""
        options = [*self.values()]
        chains = {chain: code for code, chain in enumerate({each.chain: 0 for each in options})}
        full_texts: list[str | None] = []  # None if `values` already contains the text
        for option in options:
            value = option.value
            address = value.partition(".")[2] if isinstance(value, str) else value[1]
            full_texts.append(None if address and option.full_text == address else option.full_text)
        columns = {
            "values": [each.value for each in options],
            "names": [each.name for each in options],
            "chains": [*chains],
            "chain_indices": [chains[each.chain] for each in options],
            "full_texts": full_texts,
            "sorted": self.sorted_by,
            "hint": self.hint,
        }
        for name in ("short", "search_text"):
            texts = [(position, getattr(each, name)) for position, each in enumerate(options)]
            columns[name] = {position: text for position, text in texts if text}
        if self.stats:
            columns |= _stats_columns(self.stats, [each.key for each in options])
        return columns

    def ranked_remaining(self, remaining: Mapping[Any, OptionStats | None]) -> dict[str, Any]:
        """Return the indices and stats of the remaining options, the largest value first."""
        positions = {option.key: position for position, option in enumerate(self.values())}
        order = {key: stats.sort_key() for key, stats in remaining.items() if stats}
        keys = [key for key in remaining if key in positions]
        keys.sort(key=lambda key: order.get(key, (math.inf, 0)))
        return {"indices": [positions[key] for key in keys], **_stats_columns(remaining, keys)}


def _stats_columns(stats: Mapping[Any, OptionStats | None], keys: Sequence[Any]) -> dict[str, Any]:
    stats_by_row = [stats.get(key) for key in keys]
    value_texts = []
    for row in stats_by_row:
        value = row.value if row else math.nan
        small = "<0.01" if 0 < value < _MIN_SHOWN_VALUE else ""
        value_texts.append("" if math.isnan(value) else small or compact(value))
    return {"balances": [row and row.balances for row in stats_by_row], "value_texts": value_texts}


def stats_by_key(keys: list[Any], codes: Codes, values: Floats | None) -> dict[Any, OptionStats]:
    """Return the stats of each key. `codes` has the position of each row's key in `keys`."""
    counts = np.bincount(codes, minlength=len(keys)).tolist()
    known = np.zeros(len(codes), dtype=bool) if values is None else ~np.isnan(values)
    valued, weights = codes[known], None if values is None else values[known]
    sums = np.bincount(valued, weights, len(keys)).astype(np.float64)  # without rows, sums are ints
    sums[np.bincount(valued, minlength=len(keys)) == 0] = np.nan
    return dict(zip(keys, map(OptionStats, counts, sums.tolist()), strict=True))


def row_values_and_phrase(holdings: pd.DataFrame) -> tuple[Floats | None, str]:
    """Return the value of each row, or None, and a phrase such as "value in USD", or ""."""
    if "value" in holdings:
        currencies = [*holdings["currency"].dropna().unique()] if "currency" in holdings else []
        if len(currencies) > 1:
            return None, ""
        phrase = f"value in {safe_line(str(currencies[0]), 12)}" if currencies else "value"
        return holdings["value"].to_numpy(np.float64, na_value=np.nan), phrase
    if not {*_PRICE_COLUMNS} <= {*holdings} or holdings["amount"].dtype != "amount":
        return None, ""
    usable = holdings["price"].where(holdings["price"].between(0, _MAX_PRICE))
    holdings = holdings.assign(price=usable)
    if not has_default_prices(holdings):
        return None, ""
    source = "the service's prices" if table_defaults().prices is None else "your prices"
    return value(holdings)["value"].to_numpy(np.float64, na_value=np.nan), f"value at {source}"


class _TupleOrStringTrait(TypedTuple):
    """A trait that accepts a string as a tuple of one value."""

    def validate(self, obj: Any, value: Any) -> Any:
        return super().validate(obj, (value,) if isinstance(value, str) else value)


def _parse_front_end_values(values: list[Any], picker: Picker) -> tuple[Any, ...]:
    keys = (tuple(value) if isinstance(value, list) else value for value in values)
    return tuple(picker._resolve_value(key) for key in keys)  # noqa: SLF001 - this module defines the class


class Picker(MessageHandlingWidget, ValueWidget):
    """A searchable list of options, with a button for each selected option."""

    _esm, _css = join_js("pickerwidget"), join_css("picker")
    # Any, because mypy confuses the type of a trait with the type of its value.
    value: Any = _TupleOrStringTrait(AnyTrait()).tag(sync=True, from_json=_parse_front_end_values)
    description: Unicode[str, str | bytes] = Unicode().tag(sync=True)  # the label
    _offer_count = Int().tag(sync=True)  # number of calls of `offer`

    def __init__(self, source: Any, *, value: Any, description: str) -> None:
        self._options = self._read_options(source)
        self._remaining: Mapping[Any, OptionStats | None] | None = None
        # Invalid values raise an error before super().__init__ registers the widget.
        chosen = [self._resolve_value(each) for each in Picker.value.validate(self, value)]
        super().__init__(description=description)
        self._handlers["options"] = lambda _: self._options.to_lists() | self._remaining_field()
        self.value = chosen

    @staticmethod
    @abstractmethod
    def _read_options(source: Any) -> Options:
        """Return the options of a `source` that the constructor accepts."""

    @abstractmethod
    def _resolve_value(self, value: Any) -> OptionValue:
        """Return `value` in the spelling of its option, or raise an error if it is not valid."""

    def offer(self, source: Any, /) -> None:
        """Replace the options. Drop selected values that are not among the new options.

        Parameters
        ----------
        source : WalletDetails, DataFrame or list
            The new options, in any form that the constructor of the picker accepts.

        Raises
        ------
        ArgumentError, ColumnsError, SettingsError, AddressError
            If `source` has a wrong type, a missing or repeated column, or an invalid wallet.

        Examples
        --------
        >>> from walletframe.pickers import BlockchainPicker
        >>> picker = BlockchainPicker(["ETH", "BSC"], value=["ETH", "BSC"])
        >>> picker.offer(["BSC", "NEAR"])
        >>> picker.value
        ('BSC',)
        >>> picker.close()
        """
        options = self._read_options(source)
        with LOCK:
            self._options, self._remaining = options, None
            self.value = tuple(value for value in self.value if value in options)
            self._offer_count += 1

    def narrow(self, source: Any = None) -> None:
        """Show only some options, for instance to match another picker's selection.

        The selection of this picker does not change.

        Parameters
        ----------
        source : WalletDetails, DataFrame, list or None
            The options to show. Options from holdings also show balances. None shows all options.

        Raises
        ------
        ArgumentError, ColumnsError
            If `source` has a wrong type, or lacks a column.

        Examples
        --------
        >>> from walletframe.pickers import BlockchainPicker
        >>> picker = BlockchainPicker(["ETH", "BSC", "NEAR"])
        >>> picker.narrow(["ETH", "NEAR"])
        >>> picker.narrow()
        >>> picker.close()
        """
        remaining = None
        if source is not None:
            options = self._read_options(source)
            remaining = {key: options.stats.get(key) for key in options.by_key}
        with LOCK:
            self._remaining = remaining
            self.send({"kind": "narrowed", **self._remaining_field()})

    def _remaining_field(self) -> dict[str, Any]:
        kept = self._remaining
        return {"remaining": None if kept is None else self._options.ranked_remaining(kept)}

    @validate("value")
    def _validate_selection(self, proposal: dict[str, Any]) -> tuple[OptionValue, ...]:
        return tuple(dict.fromkeys(self._resolve_value(value) for value in proposal["value"]))

    @observe("value")
    def _clear_error(self, _change: object) -> None:
        self._show_error("")


BlockchainsLike: TypeAlias = "DetailsLike | pd.DataFrame | str | Iterable[str]"
WalletSource: TypeAlias = "DetailsLike | WalletsLike"
_MAX_SYMBOL, _MAX_CONTRACT = 24, 100
_MAX_NAME, _MAX_LABEL, _MAX_ADDRESS, _MAX_PROBLEMS, _MAX_REASON = 24, 60, 500, 10, 120


def _blockchain_options(source: BlockchainsLike) -> Options:
    holdings: pd.DataFrame | None = None
    if is_pair_of_frames(source):
        details = as_details(source, "blockchains")
        holdings = details.holdings
        pairs = [*_blockchain_counts(holdings), *_blockchain_counts(details.wallets)]
    elif isinstance(source, pd.DataFrame):
        pairs = _blockchain_counts(source)
        holdings = source if "token_blockchain" in source else None
    else:
        listed: object = [source] if isinstance(source, str) else source
        names: list[Any] = list(listed) if isinstance(listed, Iterable) else [None]
        pairs = [(name, 1) for name in names]
        if not all(isinstance(name, str) for name, _ in pairs):
            raise errors.ArgumentError(
                "the argument `blockchains` is not a list of blockchain identifiers",
                hint='pass a list of texts, such as ["ETH", "BSC"], or a result of fetch_wallets',
            )
    first_spelling = {canonical_blockchain(name): name for name, _ in reversed(pairs)}
    totals: Counter[str] = Counter()
    for name, count in pairs:
        totals[canonical_blockchain(name)] += count
    options = []
    for key, _ in totals.most_common():
        name = first_spelling[key]
        short, search_text = safe_line(name, _MAX_SYMBOL), _original_if_changed(name)
        options.append(Option(name, key, safe_line(name), short=short, search_text=search_text))
    if holdings is None:
        return Options("Blockchain", options)
    codes, spellings = factorize(holdings["blockchain"])
    canonical = [canonical_blockchain(str(name)) for name in spellings]
    key_codes, keys = pd.factorize(np.array(canonical, dtype=object))
    values, phrase = row_values_and_phrase(holdings)
    stats = stats_by_key([*keys], np.append(key_codes, -1)[codes], values)
    return Options("Blockchain", options, stats, phrase)


def _blockchain_counts(frame: pd.DataFrame) -> list[tuple[str, int]]:
    require_columns(frame, ["blockchain"])
    counts = frame["blockchain"].dropna().value_counts(sort=False)
    return [(str(name), int(count)) for name, count in counts.items()]


class BlockchainPicker(Picker):
    """A widget to pick blockchains from a frame or a list.

    Parameters
    ----------
    blockchains : WalletDetails, DataFrame with a column blockchain, str, or iterable of str
        The options. For holdings, they are sorted by value, then by number of balances, descending.
    value : str or sequence of str
        The initial selection. Upper and lower case are equivalent.
    description : str, default "Blockchains"
        The label of the picker.

    Attributes
    ----------
    value : tuple of str
        The selected blockchains in the order of selection, in the spelling of the options. `value`
        can be set, observed and linked.

    Raises
    ------
    ArgumentError, ColumnsError
        If `blockchains` has an unsupported type, or is a frame without the column ``blockchain``.
    UnknownBlockchainError
        If `value` is set to a blockchain that is not an option.

    Examples
    --------
    >>> picker = BlockchainPicker(["ETH", "BSC"], value=["eth"])
    >>> picker.value
    ('ETH',)
    >>> picker.close()
    """

    value: TraitType[tuple[str, ...], str | Sequence[str]]
    _read_options = staticmethod(_blockchain_options)

    def __init__(
        self,
        blockchains: BlockchainsLike,
        *,
        value: str | Sequence[str] = (),
        description: str = "Blockchains",
    ) -> None:
        super().__init__(blockchains, value=value, description=description)

    def _resolve_value(self, value: Any) -> OptionValue:
        key = canonical_blockchain(value) if isinstance(value, str) else ""
        if key not in self._options.by_key:
            raise errors.UnknownBlockchainError(str(value), [*map(str, self._options)])
        return self._options.by_key[key].value


class TokenPicker(Picker):
    """A widget to pick tokens that occur in holdings.

    Parameters
    ----------
    holdings : WalletDetails or DataFrame
        Holdings with the columns ``symbol``, ``token_blockchain`` and ``token_address``. The
        options are the tokens of these holdings, by descending value, then number of balances.
        Values are read from the column ``value``. Without it, they are computed from prices.
    value : str, or sequence of (str, str or None) or of str
        The initial selection. A token is an unambiguous symbol or a pair (blockchain, contract).
        The contract of a native coin is None.
    description : str, default "Tokens"
        The label of the picker.

    Attributes
    ----------
    value : tuple of (str, str or None)
        The selected tokens as pairs (blockchain, contract), in the order of selection. Blockchains
        are in upper case, and hexadecimal contracts in lower case. `value` can be set, observed and
        linked.

    Raises
    ------
    ArgumentError, ColumnsError
        If `holdings` has an unsupported type, or lacks a column.
    UnknownTokenError, AmbiguousTokenError
        If `value` is set to a token that is not an option, or to a symbol of several tokens.

    Examples
    --------
    >>> import pandas as pd
    >>> holdings = pd.DataFrame(
    ...     {"symbol": ["USDC"], "token_blockchain": ["ETH"], "token_address": ["0xA0b8"]}
    ... )
    >>> picker = TokenPicker(holdings, value=["USDC"])
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
    def _read_options(source: FetchLike) -> TokenOptions:
        return TokenOptions(extract_frame(source, "holdings"))

    def _resolve_value(self, value: Any) -> OptionValue:
        if isinstance(value, str):
            hint = "pass the token as a pair, such as {!a}".format
            symbols, tokens = self._options.symbols, self._options.tokens
            return tokens.keys[token_index(symbols, tokens, value, hint=hint)]
        if (key := identity.token_key(value)) not in self._options:
            raise errors.UnknownTokenError(value)
        return key


class TokenOptions(Options):
    """The tokens of holdings as options of a picker, with their balances."""

    def __init__(self, holdings: pd.DataFrame) -> None:
        require_columns(holdings, ["symbol"])
        self.tokens: identity.KeyCodes = identity.encode_tokens(holdings)
        tokens = self.tokens
        # A copy, because the caller may change the frame.
        self.symbols: pd.DataFrame = holdings[["symbol"]].copy()
        positions = np.flatnonzero(~tokens.unknown)
        first = tokens.first[positions]
        symbols = holdings["symbol"].array.take(first).tolist()
        contracts = holdings["token_address"].array.take(first).tolist()
        names, options = token_names(holdings, tokens, positions), []
        columns = positions.tolist(), names, symbols, contracts
        for position, name, symbol, contract in zip(*columns, strict=True):
            key, is_native = tokens.keys[position], not isinstance(contract, str)
            shown = safe_line(symbol, _MAX_SYMBOL) if isinstance(symbol, str) else ""
            full_text = "native coin" if is_native else safe_line(contract, _MAX_CONTRACT)
            pairs = (symbol, shown), (key[0], ""), (contract, full_text)
            option = Option(
                value=key,
                key=key,
                name=shown or "no symbol",
                chain=safe_line(key[0], _MAX_SYMBOL),
                full_text=full_text,
                short="" if name == shown else name,
                search_text=" ".join(starmap(_original_if_changed, pairs)).strip(),
            )
            options.append(option)
        values, phrase = row_values_and_phrase(holdings)
        stats = stats_by_key(tokens.keys, tokens.codes, values)
        super().__init__("Symbol, blockchain, contract", options, stats, phrase)


def _original_if_changed(text: object, shown_text: str = "") -> str:
    if isinstance(text, str) and text != (shown_text or safe_line(text)):
        return text[:_MAX_CONTRACT]
    return ""


def _wallet_options(source: WalletSource) -> Options:
    listed: Any = rename_wallet_columns(source) if isinstance(source, pd.DataFrame) else source
    hint, holdings, known = "Name, blockchain, address", listed, {}
    if is_pair_of_frames(source):
        listed, holdings = as_details(source, "wallets")
        empty = identity.encode_wallets(listed[known_mask(listed)]).keys
        known = {f"{chain}.{address}": OptionStats(0, math.nan) for chain, address in empty}
    is_fetched = isinstance(listed, pd.DataFrame) and "status" in listed
    wallets = parse_wallets(listed, "ask" if is_fetched else "raise")
    names = [""] * len(wallets)
    if isinstance(listed, pd.DataFrame) and "blockchain" in listed:
        requested = [(wallet.blockchain, wallet.address) for wallet in wallets]
        frame = pd.DataFrame(requested, columns=["blockchain", "address"])
        names = user_wallet_names(frame, listed)
    options = map(_wallet_option, wallets, names)
    if not isinstance(holdings, pd.DataFrame) or "token_blockchain" not in holdings:
        return Options(hint, options)
    owners = identity.encode_wallets(holdings)
    values, phrase = row_values_and_phrase(holdings)
    keys = [f"{chain}.{address}" for chain, address in owners.keys]
    return Options(hint, options, known | stats_by_key(keys, owners.codes, values), phrase)


def _wallet_option(wallet: WalletAddress, name: str = "") -> Option:
    chain, address = wallet.blockchain, wallet.address
    return Option(
        value=str(wallet),
        key=str(wallet.canonical),
        name=safe_line(name, _MAX_NAME) if name else "",
        chain=safe_line(chain),
        full_text=safe_line(address, _MAX_ADDRESS),
        short=short_wallet_name(chain, address, name),
        search_text=name[:_MAX_ADDRESS] if len(name) > _MAX_NAME else "",
    )


def options_of_filter(details: WalletDetails, columns: Iterable[str], filter_name: str) -> Options:
    """Return the options of a filter. `columns` are the wallet columns with labels."""
    if filter_name == "wallets":
        return _wallet_options(details)
    if filter_name == "tokens":
        return TokenOptions(details.holdings)
    if filter_name == "blockchains":
        return _blockchain_options(details)
    options = []
    for name in columns:
        for label in label_texts(details.wallets[name]).value_counts().index:
            text, column = safe_line(label, _MAX_LABEL), safe_line(name, _MAX_NAME)
            key, no_label = (name, label), f"no {column}"  # as in charts
            short = f"{column}: {text}" if text else no_label
            options.append(Option(key, key, text or no_label, column, short=short))
    return Options("Label or column", options)


class WalletPicker(Picker):
    """A widget to pick wallets from a fetch or a list. More wallets can be pasted.

    Parameters
    ----------
    wallets : WalletDetails, or wallets in any form that `fetch_wallets` accepts, default ()
        The options. If a frame of wallets has a column ``name``, the search also finds names.
    value : str, or sequence of str, of (str, str), of mappings or of WalletAddress
        The initial selection.
    description : str, default "Wallets"
        The label of the picker.
    paste : bool, default True
        Whether to show a field for pasting more wallets. The field accepts one or more wallets per
        line, or two columns of a table. Lines that can't be read stay in the field, with reasons.

    Attributes
    ----------
    value : tuple of str
        The distinct selected wallets in the order of selection, as ``"<BLOCKCHAIN>.<ADDRESS>"`` in
        the first spelling. `value` can be set, observed and linked.

    Raises
    ------
    AddressError
        If a wallet is not valid.

    Examples
    --------
    >>> picker = WalletPicker(["NEAR.alice.near", "ETH.0x" + "1" * 40])
    >>> picker.value = ["near.alice.near", "NEAR.bob.near"]
    >>> picker.value
    ('NEAR.alice.near', 'NEAR.bob.near')
    >>> picker.offer(["NEAR.carol.near"])
    >>> picker.choose_all()
    >>> picker.take_pasted(), picker.value
    (True, ('NEAR.carol.near',))
    >>> picker.close()
    """

    value: TraitType[tuple[str, ...], str | Sequence[WalletLike]]
    _read_options = staticmethod(_wallet_options)
    _pastes = Bool().tag(sync=True)
    _pasted = Unicode().tag(sync=True)  # the text in the field
    _problems = List(Unicode()).tag(sync=True)  # the reasons why lines can't be read

    def __init__(
        self,
        wallets: WalletSource = (),
        *,
        value: str | Sequence[WalletLike] = (),
        description: str = "Wallets",
        paste: bool = True,
    ) -> None:
        super().__init__(wallets, value=value, description=description)
        self._pastes = paste
        self._handlers["paste"] = lambda _: self.take_pasted()

    @locked_handler
    def choose_all(self) -> None:
        """Select all options."""
        self.value = [*map(str, self._options)]

    def take_pasted(self) -> bool:
        """Select the pasted wallets. Lines that can't be read stay in the field, with reasons.

        Returns
        -------
        bool
            True if all lines were read.
        """
        pasted = read_pasted(self._pasted)
        self.value = (*self.value, *map(str, pasted.wallets))
        self._pasted = pasted.unreadable_lines
        self._problems = _problem_texts(read_pasted(pasted.unreadable_lines))
        return not pasted.problems

    def _resolve_value(self, value: Any) -> OptionValue:
        if isinstance(value, str) and value in self._options:
            return value
        wallet = wallet_or_reason(value)
        if isinstance(wallet, str):
            raise errors.AddressError([(0, truncated_text(value), wallet)])
        if reason := malformed_reason(wallet):
            raise errors.AddressError([(0, truncated_text(value), reason)])
        return self._options.add_option(_wallet_option(wallet))


def _problem_texts(pasted: PastedWallets) -> list[str]:
    problems_by_line: dict[int, dict[str, list[str]]] = {}
    for line, text, reason in pasted.problems:
        problems_by_line.setdefault(line, {}).setdefault(reason, []).append(text)
    if not problems_by_line:
        return []
    pronoun = "it" if len(problems_by_line) == 1 else "them"
    lines = counted_noun(len(problems_by_line), "line")
    messages = [f"{lines} can't be read. Correct {pronoun} in the field above:"]
    for line, reasons in list(problems_by_line.items())[:_MAX_PROBLEMS]:
        parts = [
            f"{safe_line(', '.join(texts))}: {safe_line(reason, _MAX_REASON)}"
            for reason, texts in reasons.items()
        ]
        messages.append(f"Line {line}: {'; '.join(parts)}")
    rest = len(problems_by_line) - _MAX_PROBLEMS
    return [*messages, f"and {counted_noun(rest, 'more line')}"] if rest > 0 else messages
