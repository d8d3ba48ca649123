"""Selection of holdings: by wallet, label, token, words, spam and value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from walletframe.address.forms import canonical_blockchain, canonical_key
from walletframe.address.lists import parse_wallets
from walletframe.analysis.parted import ChunkedHoldings, chunked_tokens
from walletframe.analysis.search import row_texts, rows_with, words_of
from walletframe.analysis.spam.flags import spam_rows
from walletframe.analysis.valuation import value
from walletframe.errors import (
    ColumnsError,
    SettingsError,
    UnknownBlockchainError,
    UnknownWalletError,
)
from walletframe.frames.asset_list import token_or_asset_index, with_assets
from walletframe.frames.details import WalletDetails
from walletframe.frames.identity import is_unknown, wallet_identities
from walletframe.frames.kept import kept_names
from walletframe.frames.names import token_names, token_place
from walletframe.frames.positions import read_positions
from walletframe.pandas_versions import TEXT

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from walletframe.address.lists import WalletsLike
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.identity import Codes, KeyCodes, Mask, TokenKey
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions

_OF_TOKENS = ("token", "asset", "assets", "bridged")
_OPTIONS = ("wallet", "blockchain", "spam", "small", *_OF_TOKENS)
_NOT_THERE = "holdings alone have no rows of a wallet that failed, or holds nothing"


def where(  # noqa: PLR0913 - options
    holdings: pd.DataFrame,
    /,
    *,
    wallet: WalletsLike | None = None,
    token: TokenLike | list[TokenLike] | None = None,
    asset: str | list[str] | None = None,
    blockchain: str | list[str] | None = None,
    search: str = "",
    spam: bool | None = None,
    small: float | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    **labels: object,
) -> pd.DataFrame:
    """Select the balances that match all given wallets, labels, tokens, words, spam and value.

    Parameters
    ----------
    holdings : DataFrame
        The balances.
    wallet : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of them, optional
        Wallets, as `fetch_wallets` takes them.
    token : str, (str, str or None), or list of them, optional
        Tokens: an unambiguous symbol, or (blockchain, contract), None for a native coin.
    asset : str or list of str, optional
        Assets: all contracts that `walletframe.assets` lists for each.
    blockchain : str or list of str, optional
        Blockchains of wallets.
    search : str, default ""
        Words, ignoring case. A row has to contain each of them in its wallet, token, blockchain,
        contract, or a column of yours without numbers.
    spam : bool, optional
        True for spam only, False for balances that are not spam, according to the column
        ``is_spam``, else to `flag_spam`. By default both.
    small : float, optional
        Leave out balances of less value than this, by the column ``value``, else by the service's
        prices. Balances without a value stay.
    assets : DataFrame, str or Path, optional
        With `asset`: contracts of your own, as `walletframe.assets` takes them.
    bridged : bool, default False
        With `asset`: whether bridged versions are selected, too, such as USDC.e and WETH.
    **labels : str, number, None, or list of them
        Values, or their texts, of a column of yours that `wallets` keeps, such as
        ``owner="Ada"``, or of a column of these holdings; None for missing values.

    Returns
    -------
    DataFrame or WalletDetails
        The selected rows of holdings, with all columns, on their index. ``details.wf`` returns a
        fetch: its wallets are selected only by wallet, blockchain and label, so that failed
        wallets, and wallets without a selected balance, still count. A folder's selection is read
        into memory, as a fetch whose holdings have an index from 0. Selecting by token or asset
        leaves out balances of unknown tokens, although each may be that token: to see how complete
        a total is, call `totals` or `share` on all rows.

    Raises
    ------
    SettingsError
        If a list is empty, `token` and `asset` are both given, or `assets` or `bridged` without
        `asset`.
    UnknownWalletError, UnknownBlockchainError, UnknownTokenError, AmbiguousTokenError
        If the named thing is not there, or several tokens share a symbol.
    AddressError
        Lists every wallet in `wallet` that can't be read.
    TokenListError, OSError
        If `assets` can't be used.
    ColumnsError, AmountError, PricesError
        If a column is missing, ``amount`` holds no amounts, or a price can't be used.

    Examples
    --------
    >>> import walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = client.fetch(["NEAR.alice.near", "ETH.0x1"])
    >>> found = details.wf.where(blockchain="near", spam=False)
    >>> found.wallets.address.tolist(), set(found.holdings.blockchain)
    (['alice.near'], {'NEAR'})
    >>> details.holdings.wf.where(token=("NEAR", None)).symbol.tolist()
    ['NEAR']
    """
    options: dict[str, Any] = {"wallet": wallet, "token": token, "asset": asset}
    options |= {"blockchain": blockchain, "spam": spam, "small": small}
    options |= {"assets": assets, "bridged": bridged, **labels}
    return where_in_fetch(holdings, None, search=search, **options).holdings


def where_in_fetch(
    holdings: pd.DataFrame, wallets: pd.DataFrame | None, /, *, search: str = "", **options: Any
) -> WalletDetails:
    """Select as `where` does, from both frames of a fetch."""
    rows = Selectable(holdings, wallets)
    return rows.where(read_selection(rows, rows.held, **options), search)


class FilterableHoldings(ChunkedHoldings, Protocol):
    """Holdings that can be read for selected wallets and tokens."""

    def select_wallets(self, places: Codes) -> FilterableHoldings:
        """Return the holdings of the wallets with these ascending indices."""

    def read(self, tokens: Collection[TokenKey] | None, names: Collection[str]) -> pd.DataFrame:
        """Read the rows of these tokens, or all rows for None, in row order."""


def where_in_chunks(
    source: FilterableHoldings, names: Sequence[str], /, *, search: str = "", **options: Any
) -> WalletDetails:
    """Read the rows that `where` selects; `names` has the columns of the result."""
    wallets, tokens = source.whole.wallet_frame, source.whole
    if search or {"token", "asset"} & {name for name, each in options.items() if each is not None}:
        tokens = chunked_tokens(source)
    empty = Selectable(source.whole.holdings, wallets)
    selection = read_selection(empty, tokens, **options)
    places = np.flatnonzero(empty.wallet_marks(selection))
    rows = source.select_wallets(places).read(selection.tokens or None, [*source.whole.holdings])
    by_key: dict[TokenKey, str] = {}
    if search:  # tokens have the names that they have among all tokens
        every = np.arange(len(tokens.tokens.keys))
        labels = token_names(tokens.holdings, tokens.tokens, every)
        pairs = zip(tokens.tokens.keys, labels, strict=True)
        by_key = {key: name for key, name in pairs if not is_unknown(key)}
    selected = Selectable(rows, wallets).where(selection, search, by_key)
    return selected._replace(holdings=selected.holdings[[*names]].reset_index(drop=True))


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of holdings; an empty field selects everything."""

    blockchains: tuple[str, ...] = ()
    wallets: tuple[str, ...] = ()
    tokens: tuple[TokenKey, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()  # pairs of a column name and a text in the column
    spam: bool | None = False  # False: no spam, True: only spam, None: both
    small: float | None = None  # leave out balances of less value

    def wallet_keys(self) -> list[TokenKey]:
        """Return the keys of the selected wallets, in the order of `wallets`."""
        named = parse_wallets(self.wallets)
        return [canonical_key(wallet.blockchain, wallet.address) for wallet in named]

    def texts(self, names: Container[str]) -> dict[str, list[str]]:
        """Return the selected texts by column, for the columns in `names`."""
        texts: dict[str, list[str]] = {}
        for name, text in self.labels:
            if name in names:
                texts.setdefault(name, []).append(text)
        return texts


class Selectable:
    """Holdings to select from, optionally with the wallets of the same fetch."""

    def __init__(self, holdings: pd.DataFrame, wallets: pd.DataFrame | None) -> None:
        self.held: Positions = read_positions(holdings)
        self.wallets: pd.DataFrame = holdings.iloc[:0] if wallets is None else wallets
        self.groups: list[str] = [] if wallets is None else kept_names(wallets)
        self.requested: KeyCodes = wallet_identities(self.wallets)
        # If holdings have other wallets than were requested, `wallets` is incomplete.
        keys = {*self.held.wallet_keys}
        self.is_complete: bool = wallets is not None and keys <= {*self.requested.keys}

    @cached_property
    def spam(self) -> Mask:
        """Mask of the rows that are spam."""
        holdings = self.held.holdings
        if "is_spam" not in holdings:
            return spam_rows(self.held)
        return holdings["is_spam"].astype("boolean").to_numpy(dtype=bool, na_value=False)

    @cached_property
    def row_values(self) -> npt.NDArray[np.float64] | None:
        """The value of each row, NaN if it is unknown; None if there are no values."""
        holdings = self.held.holdings
        valued = holdings if "value" in holdings else value(holdings)
        return valued["value"].to_numpy(np.float64, na_value=np.nan)

    def wallet_marks(self, selection: Selection) -> Mask:
        """Mark the selected wallets."""
        marks = _match_wallets(self.requested.keys, selection)[self.requested.codes]
        for name, texts in selection.texts(self.groups).items():
            marks &= label_texts(self.wallets[name]).isin(texts).to_numpy()
        return np.asarray(marks)

    def marks(self, selection: Selection) -> Mask:
        """Mark the rows of the selected wallets, labels and tokens, with spam and small rows."""
        held = self.held
        marks = _match_wallets(held.wallet_keys, selection)[held.wallet_codes]
        if selection.texts(self.groups):
            codes = self.requested.codes[self.wallet_marks(selection)]
            owners = [self.requested.keys[code] for code in codes.tolist()]
            marks &= _among(held.wallet_keys, owners)[held.wallet_codes]
        for name, texts in selection.texts({*held.holdings} - {*self.groups}).items():
            marks &= label_texts(held.holdings[name]).isin(texts).to_numpy()
        if selection.tokens:
            marks &= _among(held.tokens.keys, selection.tokens)[held.tokens.codes]
        return marks

    def where(
        self, selection: Selection, search: str, names: Mapping[TokenKey, str] | None = None
    ) -> WalletDetails:
        """Return the selection, with rows that contain all words; `names` has names of tokens."""
        holdings = self.held.holdings
        marks = self.drop_spam_and_small(self.marks(selection), selection)
        if words := words_of(search):
            held = read_positions(self.held, self.wallets) if self.is_complete else self.held
            marks &= rows_with(words, row_texts(held, names).values(), len(holdings))
        return WalletDetails(self.wallets[self.wallet_marks(selection)], holdings[marks])

    def drop_spam_and_small(self, marks: Mask, selection: Selection) -> Mask:
        """Unmark rows that the selection leaves out by spam or value."""
        if selection.spam is not None:
            marks = marks & (self.spam == selection.spam)
        if selection.small is not None and self.row_values is not None:
            marks = marks & ~(self.row_values < selection.small)
        return marks


def read_selection(rows: Selectable, tokens: Positions, /, **arguments: Any) -> Selection:
    """Check the arguments of `where`, and return them as a selection."""
    options = {name: arguments.pop(name, None) for name in _OPTIONS}
    wallet, blockchain = options["wallet"], options["blockchain"]
    if options["token"] is not None and options["asset"] is not None:
        raise SettingsError("token=… and asset=… contradict each other", hint="give only one")
    labels: list[tuple[str, str]] = []
    for name, wanted in arguments.items():
        frame = rows.wallets if name in rows.groups else rows.held.holdings
        if name not in frame:
            raise ColumnsError([name], [*rows.groups, *map(str, frame.columns)])
        texts, values = label_texts(frame[name]), _as_list(name, wanted)
        equal = texts[frame[name].isin([each for each in values if not isinstance(each, str)])]
        labels += [(name, text) for text in (*label_texts(pd.Series(values, dtype=object)), *equal)]
    selection = Selection(
        blockchains=() if blockchain is None else tuple(_as_list("blockchain", blockchain)),
        wallets=()
        if wallet is None
        else tuple(map(str, _as_list("wallet", parse_wallets(wallet)))),
        tokens=tuple(_token_keys(tokens, options)),
        labels=tuple(labels),
        spam=options["spam"],
        small=options["small"],
    )
    keys = {*rows.requested.keys, *rows.held.wallet_keys}
    for wanted, key in zip(selection.wallets, selection.wallet_keys(), strict=True):
        if key not in keys:
            raise UnknownWalletError(wanted, _NOT_THERE)
    chains = {chain: None for chain, _ in keys}
    for name in selection.blockchains:
        if canonical_blockchain(name) not in chains:
            raise UnknownBlockchainError(name, sorted(chains))
    return selection


def _as_list(name: str, argument: Any, kinds: Any = (list, tuple, set)) -> list[Any]:
    """Return one value, or a collection of one of these kinds, as a list that is not empty."""
    values = [*argument] if isinstance(argument, kinds) else [argument]
    if not values:
        raise SettingsError(f"{name} is an empty list", hint="leave it out to select all")
    return values


def _token_keys(positions: Positions, options: Mapping[str, Any]) -> list[TokenKey]:
    """Return the keys of the named tokens, or of the tokens of the named assets."""
    keys, holdings = positions.tokens.keys, positions.holdings
    token, asset, assets, bridged = (options[name] for name in _OF_TOKENS)
    if asset is not None:
        by_asset = with_assets(positions, assets, bridged=bool(bridged))
        places = [token_or_asset_index(by_asset, name) for name in _as_list("asset", asset)]
        codes = positions.tokens.codes[np.isin(by_asset.tokens.codes, places)]
        return [keys[code] for code in np.unique(codes).tolist()]
    if assets is not None or bridged:
        raise SettingsError("assets=… and bridged=… are for asset=… alone")
    named = [] if token is None else _as_list("token", token, (list,))
    return [keys[token_place(holdings, positions.tokens, each)] for each in named]


def label_texts(column: pd.Series) -> pd.Series:
    """Return a column of labels as text, empty if a label is missing."""
    return column.astype(TEXT).fillna("")


def _match_wallets(wallets: list[TokenKey], selection: Selection) -> Mask:
    """Mark the wallets that match the selected blockchains and wallets."""
    marks = np.ones(len(wallets), dtype=bool)
    if selection.blockchains:
        chains = [canonical_blockchain(name) for name in selection.blockchains]
        marks &= _among([chain for chain, _ in wallets], chains)
    if selection.wallets:
        marks &= _among(wallets, selection.wallet_keys())
    return marks


def _among(keys: Iterable[object], picked: Iterable[object]) -> Mask:
    wanted = set(picked)
    return np.array([key in wanted for key in keys], dtype=bool)
