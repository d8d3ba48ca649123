"""Selection of holdings by wallet, token, column values, search words, spam and value."""

from __future__ import annotations

from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.address.forms import canonical_blockchain, canonical_key
from walletframe.address.lists import parse_wallets
from walletframe.analysis.chunked import read_token_symbol_pairs
from walletframe.analysis.search import rows_with_words_mask, searchable_columns, split_search_words
from walletframe.analysis.spam.flags import spam_mask
from walletframe.analysis.valuation import has_default_prices, value
from walletframe.errors import (
    ColumnsError,
    InputWarning,
    SettingsError,
    UnknownBlockchainError,
    UnknownWalletError,
)
from walletframe.frames.asset_list import (
    BRIDGED,
    find_token_or_asset,
    tokens_to_assets,
    warn_about_omitted_bridged,
)
from walletframe.frames.coverage import (
    DROPPED,
    SELECTED,
    OmittedBalances,
    count_and_sum_bridged,
    drop_rows,
    narrow_attrs,
    omitted_rows,
    with_omitted_rows,
)
from walletframe.frames.details import WalletDetails
from walletframe.frames.extra_columns import extra_names
from walletframe.frames.groups import reject_both
from walletframe.frames.identity import UNKNOWN, encode_wallets, is_unknown, token_key
from walletframe.frames.names import token_index, token_names
from walletframe.frames.positions import HOLDERS, encode_holdings, read_positions
from walletframe.frames.schema import SNAPSHOT
from walletframe.notice import notify
from walletframe.pandas_versions import TEXT
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from walletframe.address.lists import WalletsLike
    from walletframe.bulk import StoredHoldings
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.identity import Codes, KeyCodes, Mask, TokenKey
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions, PositionsLike

_TOKEN_OPTIONS = ("token", "asset", "assets", "bridged")
_MAX_LISTED = 10
_MAX_OMITTED = 1_000  # bridged rows that are recorded by wallet
_OPTIONS = ("wallet", "blockchain", "spam", "small", *_TOKEN_OPTIONS)


def where(  # noqa: PLR0913 - users pass each option by name
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
    """Select the balances that match all given conditions.

    Parameters
    ----------
    holdings : DataFrame
        The balances.
    wallet : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of them, optional
        One or more wallets, in a form that `fetch_wallets` accepts.
    token : str, (str, str or None), or list of them, optional
        One or more tokens. A token is a pair (blockchain, contract), or a symbol that no other
        token has. The contract of a native coin is None.
    asset : str or list of str, optional
        One or more assets. An asset includes all its contracts in `walletframe.assets`.
    blockchain : str or list of str, optional
        One or more blockchains. All wallets on these blockchains are selected.
    search : str, default ""
        Words to search for. A row must contain all words, in upper or lower case. The
        search covers wallet, token, blockchain, contract and all non-numeric extra columns.
    spam : bool, optional
        True selects only spam, and False leaves out spam. By default, both are selected. If the
        column ``is_spam`` is missing, spam is detected as in `without_spam`.
    small : float, optional
        The minimum value of a balance. Balances without a value are kept. If the column ``value``
        is missing, values are computed at the default prices of the method `value`.
    assets : DataFrame, str or Path, optional
        Your own contracts of assets, in a form that `walletframe.assets` accepts.
    bridged : bool, default False
        Whether `asset` also selects bridged versions, such as USDC.e and WETH. If True, tables and
        charts of the selection count these versions as the asset.
    **labels : str, number, None, or list of them
        Conditions on other columns, such as ``owner="Ada"``: one or more values to select. The
        column is an extra column of `wallets` or any column of these holdings. You may pass a value
        as text, such as ``"5"`` for 5. None selects missing values.

    Returns
    -------
    DataFrame or WalletDetails
        ``holdings.wf.where`` returns the selected rows, with all columns and the original index.

        ``details.wf.where`` returns a `walletframe.WalletDetails`. The table ``wallets`` is
        filtered only by wallet, blockchain and extra columns. Failed wallets and wallets without a
        selected balance stay in this table.

        For a folder, the selection is read into memory and returned as a
        `walletframe.WalletDetails`. The index of its ``holdings`` starts from 0.

        A selection by token or asset omits balances of unknown tokens. The line below its tables
        counts these balances. The line does not count wallets that can't hold the token.

    Raises
    ------
    SettingsError
        If a list is empty; if no row has a value in `labels`; if both `token` and `asset` are
        given; or if `assets` or `bridged` is given without `asset`.
    UnknownWalletError, UnknownBlockchainError, UnknownTokenError, AmbiguousTokenError
        If these holdings lack the wallet, blockchain, token or asset; or if tokens share a symbol.
    AddressError
        If wallets can't be parsed. The error lists all of them.
    TokenListError, OSError
        If `assets` can't be used.
    ColumnsError, AmountError, PricesError
        If a column is missing, if ``amount`` does not contain amounts, or if a price can't be used.

    Warns
    -----
    InputWarning
        If bridged versions are omitted, or if `small` is passed and no balance has a value.

    Examples
    --------
    >>> import walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = client.fetch(["NEAR.alice.near", "ETH.0x" + "1" * 40])
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
    """Select rows of both frames of a fetch."""
    rows = SelectableHoldings(encode_holdings(holdings), wallets)  # allows several snapshots
    return rows.where(parse_where_arguments(rows, rows.held, **options), search)


def where_in_chunks(
    source: StoredHoldings, columns: Sequence[str], /, *, search: str = "", **options: Any
) -> WalletDetails:
    """Compute the result of `where` for a folder, with the given columns of holdings."""
    wallets, tokens = source.template.wallet_frame, source.template
    if search or {"token", "asset"} & {name for name, each in options.items() if each is not None}:
        tokens = read_token_symbol_pairs(source)
    empty = SelectableHoldings(source.template.holdings, wallets)
    selection = parse_where_arguments(empty, tokens, **options)
    indices = np.flatnonzero(empty.wallet_mask(selection))
    keys = {*selection.tokens, *dict(selection.bridged), UNKNOWN} if selection.tokens else None
    rows = source.holdings_of_wallets(indices).read_rows(keys, [*source.template.holdings])
    if record := source.template.holdings.attrs.get(DROPPED):
        rows.attrs[DROPPED] = record | {"rows": len(rows)}
    by_key: dict[TokenKey, str] = {}
    if search:  # names must be unique among all tokens of the folder
        labels = token_names(tokens.holdings, tokens.tokens, np.arange(len(tokens.tokens.keys)))
        pairs = zip(tokens.tokens.keys, labels, strict=True)
        by_key = {key: name for key, name in pairs if not is_unknown(key)}
    selected = SelectableHoldings(rows, wallets, *columns).where(selection, search, by_key)
    return selected._replace(holdings=selected.holdings.reset_index(drop=True))


class Selection(NamedTuple):
    """Conditions on holdings. An empty tuple or None means no condition."""

    blockchains: tuple[str, ...] = ()
    wallets: tuple[str, ...] = ()
    tokens: tuple[TokenKey, ...] = ()
    token_blockchains: tuple[Collection[str], ...] = ()  # of each selected token or asset
    assets: tuple[str, ...] = ()  # the names of the selected assets
    bridged: tuple[tuple[TokenKey, TokenKey], ...] = ()  # omitted bridged versions, with assets
    labels: tuple[tuple[str, str], ...] = ()  # pairs of a column name and a text in the column
    spam: bool | None = False  # False: no spam, True: only spam, None: both
    small: float | None = None  # the minimum value of a balance
    conditions: tuple[str, ...] = ()  # all conditions as normalized texts

    def wallet_keys(self) -> list[TokenKey]:
        """Return the canonical key of each wallet in `wallets`."""
        named = parse_wallets(self.wallets)
        return [canonical_key(wallet.blockchain, wallet.address) for wallet in named]

    def texts_by_column(self, columns: Container[str]) -> dict[str, list[str]]:
        """Return the texts to select in the given columns, by column."""
        texts: dict[str, list[str]] = {}
        for name, text in self.labels:
            if name in columns:
                texts.setdefault(name, []).append(text)
        return texts


class SelectableHoldings:
    """Holdings to select from, optionally with the wallets of the same fetch."""

    def __init__(self, rows: PositionsLike, wallets: pd.DataFrame | None, *columns: str) -> None:
        self.held: Positions = read_positions(rows)
        self.columns: list[str] = [*columns]  # of the selected rows, or [] for all
        self.wallets: pd.DataFrame = self.held.holdings[:0] if wallets is None else wallets
        self.label_columns: list[str] = [] if wallets is None else extra_names(wallets)
        self.requested: KeyCodes = encode_wallets(self.wallets)
        # Whether `wallets` contains all wallets of the holdings.
        keys = {*self.held.wallet_keys}
        self.is_complete: bool = wallets is not None and keys <= {*self.requested.keys}
        wallets = wallets if self.is_complete else None
        self.with_wallets: Positions = read_positions(self.held, wallets)

    @cached_property
    def spam_mask(self) -> Mask:
        """A mask of the rows that are spam."""
        return spam_mask(self.held.holdings, self.held.tokens)

    @cached_property
    def row_values(self) -> npt.NDArray[np.float64] | None:
        """The value of each row, or NaN if unknown. None means that there are no prices."""
        holdings = self.held.holdings
        valued = holdings if "value" in holdings else value(holdings)
        return valued["value"].to_numpy(np.float64, na_value=np.nan)

    def wallet_mask(self, selection: Selection) -> Mask:
        """Return a mask of the selected wallets."""
        mask = _selected_wallets_mask(self.requested.keys, selection)[self.requested.codes]
        for name, texts in selection.texts_by_column(self.label_columns).items():
            mask &= label_texts(self.wallets[name]).isin(texts).to_numpy()
        return np.asarray(mask)

    def mask_before_spam_and_value(self, selection: Selection) -> Mask:
        """Return a mask of the rows that match all conditions except `spam` and `small`."""
        held = self.held
        mask = self._wallet_keys_mask(held.wallet_keys, selection)[held.wallet_codes]
        for name, texts in selection.texts_by_column(
            {*held.holdings} - {*self.label_columns}
        ).items():
            mask &= label_texts(held.holdings[name]).isin(texts).to_numpy()
        if selection.tokens:
            mask &= _membership_mask(held.tokens.keys, selection.tokens)[held.tokens.codes]
        return mask

    def _wallet_keys_mask(self, keys: list[TokenKey], selection: Selection) -> Mask:
        mask = _selected_wallets_mask(keys, selection)
        if selection.texts_by_column(self.label_columns):
            codes = self.requested.codes[self.wallet_mask(selection)]
            mask &= _membership_mask(keys, [self.requested.keys[code] for code in codes.tolist()])
        return mask

    def where(
        self, selection: Selection, search: str, names: Mapping[TokenKey, str] | None = None
    ) -> WalletDetails:
        """Select the rows that match `selection` and contain all words of `search`."""
        holdings = self.held.holdings
        found = np.ones(len(holdings), dtype=bool)
        if words := split_search_words(search):
            texts = searchable_columns(self.with_wallets, names).values()
            found = rows_with_words_mask(words, texts, len(holdings))
        matches = found & self.mask_before_spam_and_value(selection)
        mask = self.narrow_mask_by_spam_and_value(matches, selection)
        with_small = self.narrow_mask_by_spam_and_value(matches, selection._replace(small=None))
        reasons = {}
        if selection.spam is not None:
            reasons["other" if selection.spam else "spam"] = matches & ~with_small, ""
        if selection.small is not None:
            reasons["small"] = with_small & ~mask, ""
            has_values = "value" in holdings or has_default_prices(holdings)
            if len(holdings) and not has_values:
                text = "small=… drops no balance, since no balance has a value"
                notify(f"{text}; call value(…) with prices first", InputWarning)
        if words or selection.tokens:
            reasons[SELECTED] = np.zeros(len(holdings), dtype=bool), ""
        # Words, values and labels of rows can't be checked for rows that were omitted before.
        omitted, labels = omitted_rows(holdings), {name for name, _ in selection.labels}
        is_by_row = bool(words) or not labels <= {*self.label_columns}
        is_checked = not is_by_row and selection.small is None
        keys = [*{*self.held.wallet_keys, *self.requested.keys, *(row[:2] for row in omitted)}]
        selected_keys = {*compress(keys, self._wallet_keys_mask(keys, selection))}
        is_narrower = is_by_row or bool(selection.tokens) or len(selected_keys) < len(keys)
        if is_narrower or (omitted and not is_checked):
            holdings = narrow_attrs(holdings, selected_keys, counts_bridged=is_checked)
        selected = drop_rows(holdings[self.columns] if self.columns else holdings, mask, reasons)
        if record := self._possible_holders_attrs(holdings, selection, matches, found):
            selected.attrs[HOLDERS] = record
        searched = [_condition_text("search", [" ".join(sorted(words))])] * bool(words)
        earlier = holdings.attrs.get(SELECTED, [])
        selected.attrs[SELECTED] = [*earlier, *searched, *selection.conditions]
        if "bridged=True" in selection.conditions:
            selected.attrs[BRIDGED] = True
        return WalletDetails(self.wallets[self.wallet_mask(selection)], selected)

    def _possible_holders_attrs(
        self, holdings: pd.DataFrame, selection: Selection, matches: Mask, found: Mask
    ) -> dict[str, Any]:
        record, rows = {**holdings.attrs.get(HOLDERS, {})}, omitted_rows(holdings)
        if not selection.tokens and found.all():
            return record
        holders = np.unique(self.held.wallet_codes[matches]).tolist()
        chains = {self.held.wallet_keys[index][0] for index in holders}
        chains = chains.union(*selection.token_blockchains)
        if selection.tokens:
            is_single = len(selection.token_blockchains) == 1
            record |= {"blockchains": sorted(chains), "is_single": is_single}
            record["asset"] = selection.assets[0] if is_single and selection.assets else ""
        omitted = self.held.tokens.unknown[self.held.tokens.codes]
        omitted &= ~found | bool(selection.tokens)
        omitted &= self.mask_before_spam_and_value(selection._replace(tokens=()))
        if selection.bridged:
            versions = selection._replace(tokens=tuple(dict(selection.bridged)))
            mask = self.mask_before_spam_and_value(versions)
            omitted |= self.narrow_mask_by_spam_and_value(mask & found, versions)
        added = self._group_omitted_rows(np.flatnonzero(omitted), dict(selection.bridged))
        warn_about_omitted_bridged(*count_and_sum_bridged(added))
        rows += added
        if selection.tokens:
            by_asset = [row for row in rows if row.asset in selection.assets]
            rows = [row for row in rows if not row.asset and row.blockchain in chains] + by_asset
        return with_omitted_rows(record, rows)

    def _group_omitted_rows(
        self, rows: Codes, asset_by_key: Mapping[TokenKey, TokenKey]
    ) -> list[OmittedBalances]:
        held = self.held
        wallets: list[Any] = [held.wallet_keys[code] for code in held.wallet_codes[rows].tolist()]
        keys = [held.tokens.keys[code] for code in held.tokens.codes[rows].tolist()]
        columns = pd.DataFrame(wallets, columns=["blockchain", "address"])
        columns["asset"] = [asset_by_key.get(key, UNKNOWN)[1] or "" for key in keys]
        columns["contract"] = [*map(str, keys)]
        columns["snapshot"] = ""
        if SNAPSHOT in held.holdings:
            columns["snapshot"] = label_texts(held.holdings[SNAPSHOT].take(rows)).to_numpy()
        if len(rows) > _MAX_OMITTED:
            columns["address"] = columns["address"].mask(columns["asset"] != "", "")
        columns["amount"] = held.amounts[rows]
        groups = columns.groupby([*columns][:-1], sort=False)["amount"]
        sums, sizes = groups.sum(min_count=1), groups.size().tolist()
        amounts = ["" if pd.isna(each) else format(each, "f") for each in sums]
        parts: Any = zip(sums.index, amounts, sizes, strict=True)
        return [OmittedBalances._make([*key, *numbers]) for key, *numbers in parts]

    def narrow_mask_by_spam_and_value(self, mask: Mask, selection: Selection) -> Mask:
        """Narrow a mask to the rows that match the conditions `spam` and `small`."""
        if selection.spam is not None:
            mask = mask & (self.spam_mask == selection.spam)
        if selection.small is not None and self.row_values is not None:
            mask = mask & ~(self.row_values < selection.small)
        return mask


def parse_where_arguments(
    source: SelectableHoldings, tokens: Positions, /, **arguments: Any
) -> Selection:
    """Check the arguments of `where`, and return a `Selection`."""
    options = {name: arguments.pop(name, None) for name in _OPTIONS}
    wallet, blockchain = options["wallet"], options["blockchain"]
    reject_both(options["token"], options["asset"])
    labels: list[tuple[str, str]] = []
    conditions: dict[str, list[Any]] = {}
    for name, wanted in arguments.items():
        frame = source.wallets if name in source.label_columns else source.held.holdings
        if name not in frame:
            raise ColumnsError([name], [*source.label_columns, *map(str, frame.columns)])
        texts, values = label_texts(frame[name]), _nonempty_list(name, wanted)
        equal = texts[frame[name].isin([each for each in values if not isinstance(each, str)])]
        named = label_texts(pd.Series(values, dtype=object))
        known = {*texts.unique(), "", *named[pd.Series(values, dtype=object).isin([*frame[name]])]}
        if unknown := [text for text in named if text not in known]:
            labels_of_rows = sorted({*texts.unique()} - {""})
            listed = ", ".join(repr(safe_line(text)) for text in labels_of_rows[:_MAX_LISTED])
            raise SettingsError(f"no row has {name}={unknown[0]!r}", hint=f"choose from: {listed}")
        labels += [(name, text) for text in (*named, *equal)]
        conditions[name] = [text or None for text in named]
    keys, token_chains, left_out, names = _tokens_chains_omitted_versions_and_names(tokens, options)
    wallets = [] if wallet is None else _nonempty_list("wallet", parse_wallets(wallet))
    selection = Selection(
        blockchains=() if blockchain is None else tuple(_nonempty_list("blockchain", blockchain)),
        wallets=tuple(map(str, wallets)),
        tokens=tuple(keys),
        token_blockchains=tuple(token_chains),
        assets=() if options["asset"] is None else tuple(map(str, names)),
        bridged=tuple(left_out),
        labels=tuple(labels),
        spam=options["spam"],
        small=options["small"],
    )
    requested = {*source.requested.keys, *source.held.wallet_keys}
    for wanted, key in zip(selection.wallets, selection.wallet_keys(), strict=True):
        if key not in requested:
            raise UnknownWalletError(wanted)
    chains = {chain: None for chain, _ in requested}
    for name in selection.blockchains:
        if canonical_blockchain(name) not in chains:
            raise UnknownBlockchainError(name, sorted(chains))
    conditions = {
        "wallet": [str(each.canonical) for each in wallets],
        "token" if options["asset"] is None else "asset": names,
        "blockchain": [*map(canonical_blockchain, selection.blockchains)],
        "bridged": [True] * bool(options["bridged"]),
        "spam": [True] * bool(selection.spam),
        **conditions,
    }
    recorded = [_condition_text(*item) for item in conditions.items() if item[1]]
    if selection.small is not None:
        recorded.append(f"small={np.format_float_positional(selection.small, trim='-')}")
    return selection._replace(conditions=tuple(recorded))


def _condition_text(name: str, values: Iterable[object]) -> str:
    texts = sorted({*map(repr, values)})
    return f"{name}={texts[0] if len(texts) == 1 else '[' + ', '.join(texts) + ']'}"


def _nonempty_list(name: str, argument: Any, types: Any = (list, tuple, set)) -> list[Any]:
    values = [*argument] if isinstance(argument, types) else [argument]
    if not values:
        hint = f"leave out {name}=… to select all rows"
        raise SettingsError(f"the list {name}=… is empty", hint=hint)
    return values


def _tokens_chains_omitted_versions_and_names(
    positions: Positions, options: Mapping[str, Any]
) -> tuple[list[TokenKey], list[Collection[str]], list[tuple[TokenKey, TokenKey]], list[Any]]:
    keys, holdings = positions.tokens.keys, positions.holdings
    token, asset, assets, bridged = (options[name] for name in _TOKEN_OPTIONS)
    if asset is not None:
        by_asset = tokens_to_assets(positions, assets, bridged=bool(bridged))
        names = _nonempty_list("asset", asset)
        indices = [find_token_or_asset(by_asset, name) for name in names]
        codes = positions.tokens.codes[np.isin(by_asset.tokens.codes, indices)]
        chosen = [by_asset.tokens.keys[index] for index in indices]
        bridged_keys = by_asset.assets.bridged if by_asset.assets else {}
        left_out = [(key, bridged_keys[key]) for key in keys if bridged_keys.get(key) in chosen]
        chains = [by_asset.token_blockchains(index) for index in indices]
        listed = by_asset.assets.blockchains if by_asset.assets else {}
        pairs = zip(chosen, names, strict=True)
        normalized = [key[1] if key in listed else name for key, name in pairs]
        return [keys[code] for code in np.unique(codes).tolist()], chains, left_out, normalized
    if assets is not None or bridged:
        raise SettingsError(
            "assets=… and bridged=… work only with asset=…", 'pass asset=…, such as asset="USDC"'
        )
    named = [] if token is None else _nonempty_list("token", token, (list,))
    selected = [keys[token_index(holdings, positions.tokens, each)] for each in named]
    names = [each if isinstance(each, str) else token_key(each) for each in named]
    return selected, [key[:1] for key in selected], [], names


def label_texts(column: pd.Series) -> pd.Series:
    """Convert a column to text. Missing values become ""."""
    return column.astype(TEXT).fillna("")


def _selected_wallets_mask(wallets: list[TokenKey], selection: Selection) -> Mask:
    mask = np.ones(len(wallets), dtype=bool)
    if selection.blockchains:
        chains = [canonical_blockchain(name) for name in selection.blockchains]
        mask &= _membership_mask([chain for chain, _ in wallets], chains)
    if selection.wallets:
        mask &= _membership_mask(wallets, selection.wallet_keys())
    return mask


def _membership_mask(keys: Iterable[object], chosen: Iterable[object]) -> Mask:
    wanted = set(chosen)
    return np.array([key in wanted for key in keys], dtype=bool)
