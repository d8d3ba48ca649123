"""Rows of holdings that are selected: by wallet, label, token, words, spam and value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from walletframe.address.forms import canonical_blockchain, canonical_key
from walletframe.address.lists import parse_wallets
from walletframe.analysis.parted import InBlocks, tokens_of_blocks
from walletframe.analysis.search import row_texts, rows_with, words_of
from walletframe.analysis.spam.flags import flag_spam
from walletframe.analysis.valuation import value
from walletframe.errors import (
    ColumnsError,
    SettingsError,
    UnknownBlockchainError,
    UnknownWalletError,
)
from walletframe.frames.asset_list import held_place, with_assets
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
    from walletframe.frames.identity import Codes, Identities, Mask, TokenKey
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions

_OF_TOKENS = ("token", "asset", "assets", "bridged")
_OPTIONS = ("wallet", "blockchain", "spam", "small", *_OF_TOKENS)
_NOT_THERE = "in holdings alone, a wallet that failed, or holds nothing, has no rows"


def where(  # noqa: PLR0913 - all by which it selects
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
    """Select balances by wallet, label, token, text, spam and value; all that is given counts.

    Parameters
    ----------
    holdings : DataFrame
        The balances.
    wallet : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of them, optional
        Wallets, as `fetch_wallets` takes them.
    token : str, (str, str or None), or list of them, optional
        Tokens: an unambiguous symbol, or (blockchain, contract), None for a native coin.
    asset : str or list of str, optional
        Assets, each of which is all contracts that `walletframe.assets` lists as the same.
    blockchain : str or list of str, optional
        Blockchains of wallets.
    search : str, default ""
        Words, without regard to case, each of which is in a text of the row: its wallet, token,
        blockchain, contract, or a column of yours that holds no numbers.
    spam : bool, optional
        True for spam alone, False for all else: by the column ``is_spam``, else as `flag_spam`
        finds. By default both.
    small : float, optional
        Leave out balances of less value than this, by the column ``value``, else by the service's
        prices. What has no value stays.
    assets : DataFrame, str or Path, optional
        With `asset`: contracts of your own, as `walletframe.assets` takes them.
    bridged : bool, default False
        With `asset`: whether twins are selected, too, such as USDC.e and WETH.
    **labels : str, number, None, or list of them
        Values of a column of yours that `wallets` keeps, such as ``owner="Ada"``, or of one of
        these holdings, or their texts; None for what is missing.

    Returns
    -------
    DataFrame or WalletDetails
        The selected rows of holdings, with all columns, on their index. ``details.wf`` returns a
        fetch: its wallets are selected by wallet, blockchain and label alone, so that wallets that
        failed, or hold nothing of the rest, still count. A folder's selection is read into memory,
        as a fetch whose holdings have an index from 0. Balances of unknown tokens, each of which
        may be any, are not among those of a token or asset: how complete a total of it is, say
        `totals` and `share` of all rows.

    Raises
    ------
    SettingsError
        If a list is empty, `token` and `asset` are both given, or `assets` or `bridged` without
        `asset`.
    UnknownWalletError, UnknownBlockchainError, UnknownTokenError, AmbiguousTokenError
        If what is named is not there, or several tokens share a symbol.
    AddressError
        Lists every one of `wallet` that can't be read.
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
    chosen: dict[str, Any] = {"wallet": wallet, "token": token, "asset": asset}
    chosen |= {"blockchain": blockchain, "spam": spam, "small": small}
    chosen |= {"assets": assets, "bridged": bridged, **labels}
    return where_in_fetch(holdings, None, search=search, **chosen).holdings


def where_in_fetch(
    holdings: pd.DataFrame, wallets: pd.DataFrame | None, /, *, search: str = "", **given: Any
) -> WalletDetails:
    """Select as `where` does, of both frames of a fetch."""
    rows = Selectable(holdings, wallets)
    return rows.where(read_selection(rows, rows.held, **given), search)


class Stored(InBlocks, Protocol):
    """Holdings of which those of some wallets and tokens can be read."""

    def some(self, places: Codes) -> Stored:
        """Return those of some wallets alone, by their places, which ascend."""

    def read(self, tokens: Collection[TokenKey] | None, names: Collection[str]) -> pd.DataFrame:
        """Read the rows of some tokens, or all of them for None, in their order."""


def where_on_disk(
    held: Stored, names: Sequence[str], /, *, search: str = "", **given: Any
) -> WalletDetails:
    """Select as `where` does, and read no more than that; `names` has the columns of the result."""
    wallets, written = held.whole.given, held.whole
    if search or {"token", "asset"} & {name for name, each in given.items() if each is not None}:
        written = tokens_of_blocks(held)
    empty = Selectable(held.whole.holdings, wallets)
    selection = read_selection(empty, written, **given)
    places = np.flatnonzero(empty.asked_marks(selection))
    read = held.some(places).read(selection.tokens or None, [*held.whole.holdings])
    called: dict[TokenKey, str] = {}
    if search:  # tokens are called as they are among all
        every = np.arange(len(written.tokens.keys))
        known = token_names(written.holdings, written.tokens, every)
        pairs = zip(written.tokens.keys, known, strict=True)
        called = {key: name for key, name in pairs if not is_unknown(key)}
    found = Selectable(read, wallets).where(selection, search, called)
    return found._replace(holdings=found.holdings[[*names]].reset_index(drop=True))


@dataclass(frozen=True, slots=True)
class Selection:
    """What is selected; where nothing of a kind is named, all of it is."""

    blockchains: tuple[str, ...] = ()
    wallets: tuple[str, ...] = ()
    tokens: tuple[TokenKey, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()  # the names of columns, and texts in these
    spam: bool | None = False  # None: with all else; True: alone
    small: float | None = None  # balances of less value are left out

    def wallet_keys(self) -> list[TokenKey]:
        """Return the identities of the chosen wallets, in the order chosen."""
        named = parse_wallets(self.wallets)
        return [canonical_key(wallet.blockchain, wallet.address) for wallet in named]

    def texts(self, names: Container[str]) -> dict[str, list[str]]:
        """Return the texts that are chosen in some columns."""
        found: dict[str, list[str]] = {}
        for name, text in self.labels:
            if name in names:
                found.setdefault(name, []).append(text)
        return found


class Selectable:
    """Holdings to select from, with the wallets of the same fetch if these are given."""

    def __init__(self, holdings: pd.DataFrame, wallets: pd.DataFrame | None) -> None:
        self.held: Positions = read_positions(holdings)
        self.wallets: pd.DataFrame = holdings.iloc[:0] if wallets is None else wallets
        self.groups: list[str] = [] if wallets is None else kept_names(wallets)
        self.asked: Identities = wallet_identities(self.wallets)
        # Of holdings of other wallets than were asked nobody knows who else was.
        keys = {*self.held.wallet_keys}
        self.is_complete: bool = wallets is not None and keys <= {*self.asked.keys}

    @cached_property
    def spam(self) -> Mask:
        """Which rows are spam."""
        holdings = self.held.holdings
        found = holdings if "is_spam" in holdings else flag_spam(holdings)
        return found["is_spam"].astype("boolean").to_numpy(dtype=bool, na_value=False)

    @cached_property
    def row_values(self) -> npt.NDArray[np.float64] | None:
        """The value of each row, NaN where it is unknown; None where nothing is valued."""
        holdings = self.held.holdings
        found = holdings if "value" in holdings else value(holdings)
        return found["value"].to_numpy(np.float64, na_value=np.nan)

    def asked_marks(self, selection: Selection) -> Mask:
        """Mark the wallets that are selected."""
        marks = _chosen(self.asked.keys, selection)[self.asked.codes]
        for name, texts in selection.texts(self.groups).items():
            marks &= label_texts(self.wallets[name]).isin(texts).to_numpy()
        return np.asarray(marks)

    def marks(self, selection: Selection) -> Mask:
        """Mark the rows of the selected wallets, labels and tokens, be they spam, small or not."""
        held = self.held
        marks = _chosen(held.wallet_keys, selection)[held.wallet_codes]
        if selection.texts(self.groups):
            codes = self.asked.codes[self.asked_marks(selection)]
            owners = [self.asked.keys[code] for code in codes.tolist()]
            marks &= _among(held.wallet_keys, owners)[held.wallet_codes]
        for name, texts in selection.texts({*held.holdings} - {*self.groups}).items():
            marks &= label_texts(held.holdings[name]).isin(texts).to_numpy()
        if selection.tokens:
            marks &= _among(held.tokens.keys, selection.tokens)[held.tokens.codes]
        return marks

    def where(
        self, selection: Selection, search: str, names: Mapping[TokenKey, str] | None = None
    ) -> WalletDetails:
        """Return what is selected, and holds some words; `names` has those of tokens."""
        holdings = self.held.holdings
        marks = self.left(self.marks(selection), selection)
        if words := words_of(search):
            held = read_positions(self.held, self.wallets) if self.is_complete else self.held
            marks &= rows_with(words, row_texts(held, names).values(), len(holdings))
        return WalletDetails(self.wallets[self.asked_marks(selection)], holdings[marks])

    def left(self, marks: Mask, selection: Selection) -> Mask:
        """Unmark rows of what is, or is no, spam, and of what is small."""
        if selection.spam is not None:
            marks = marks & (self.spam == selection.spam)
        if selection.small is not None and self.row_values is not None:
            marks = marks & ~(self.row_values < selection.small)
        return marks


def read_selection(rows: Selectable, tokens: Positions, /, **given: Any) -> Selection:
    """Read the arguments of `where`, of which all have to name what is there."""
    options = {name: given.pop(name, None) for name in _OPTIONS}
    wallet, blockchain = options["wallet"], options["blockchain"]
    if options["token"] is not None and options["asset"] is not None:
        raise SettingsError("token=… and asset=… contradict")
    named: list[tuple[str, str]] = []
    for name, wanted in given.items():
        frame = rows.wallets if name in rows.groups else rows.held.holdings
        if name not in frame:
            raise ColumnsError([name], [*rows.groups, *map(str, frame.columns)])
        texts, values = label_texts(frame[name]), _listed(name, wanted)
        alike = texts[frame[name].isin([each for each in values if not isinstance(each, str)])]
        named += [(name, text) for text in (*label_texts(pd.Series(values, dtype=object)), *alike)]
    selection = Selection(
        blockchains=() if blockchain is None else tuple(_listed("blockchain", blockchain)),
        wallets=() if wallet is None else tuple(map(str, _listed("wallet", parse_wallets(wallet)))),
        tokens=tuple(_token_keys(tokens, options)),
        labels=tuple(named),
        spam=options["spam"],
        small=options["small"],
    )
    keys = {*rows.asked.keys, *rows.held.wallet_keys}
    for wanted, key in zip(selection.wallets, selection.wallet_keys(), strict=True):
        if key not in keys:
            raise UnknownWalletError(wanted, _NOT_THERE)
    chains = {chain: None for chain, _ in keys}
    for name in selection.blockchains:
        if canonical_blockchain(name) not in chains:
            raise UnknownBlockchainError(name, sorted(chains))
    return selection


def _listed(name: str, given: Any, several: Any = (list, tuple, set)) -> list[Any]:
    """Return one thing, or several, as a list."""
    things = [*given] if isinstance(given, several) else [given]
    if not things:
        raise SettingsError(f"{name} is an empty list", hint="leave it out to select all")
    return things


def _token_keys(positions: Positions, options: Mapping[str, Any]) -> list[TokenKey]:
    """Return the tokens that are named, or those of the assets that are."""
    keys, holdings = positions.tokens.keys, positions.holdings
    token, asset, assets, bridged = (options[name] for name in _OF_TOKENS)
    if asset is not None:
        alike = with_assets(positions, assets, bridged=bool(bridged))
        places = [held_place(alike, named) for named in _listed("asset", asset)]
        codes = positions.tokens.codes[np.isin(alike.tokens.codes, places)]
        return [keys[code] for code in np.unique(codes).tolist()]
    if assets is not None or bridged:
        raise SettingsError("assets=… and bridged=… are for asset=… alone")
    named = [] if token is None else _listed("token", token, (list,))
    return [keys[token_place(holdings, positions.tokens, each)] for each in named]


def label_texts(column: pd.Series) -> pd.Series:
    """Return what a user says of wallets in a column, as text, empty where that is nothing."""
    return column.astype(TEXT).fillna("")


def _chosen(wallets: list[TokenKey], selection: Selection) -> Mask:
    """Mark the wallets that are on the blockchains and among the wallets that are picked."""
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
