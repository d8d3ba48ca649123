"""Holdings with integer codes for each row's wallet and token, and masks of known wallets.

Tables and charts are computed from `Positions`, so tokens and wallets are identified only once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, Union

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.sums import AmountsWithGroups, group_totals
from walletframe.chains import find_blockchain
from walletframe.errors import ArgumentError, SnapshotError, UnknownWalletError
from walletframe.frames.details import extract_frame
from walletframe.frames.extra_columns import extra_names
from walletframe.frames.identity import TOKEN, KeyCodes, encode_tokens, encode_wallets, first_rows
from walletframe.frames.known import known_and_fresh_mask, known_mask, stale_mask
from walletframe.frames.schema import SNAPSHOT, amounts_of, require_columns, text_array
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import TEXT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from walletframe.frames.details import FetchLike, WalletDetails
    from walletframe.frames.identity import Codes, Mask, TokenKey

HOLDING_COLUMNS = ("blockchain", "address", "symbol", "token_blockchain", "token_address", "amount")
_WALLET = ("blockchain", "address")
_REQUESTED = (*_WALLET, "status", "tokens", "source")
HOLDERS: Final = "holders"
"""Key in ``attrs``: the blockchains and omitted balances of a selection by token."""


class Assets(NamedTuple):
    """The assets that replace tokens in `Positions`."""

    contracts: KeyCodes  # the tokens of the rows
    names: Collection[str]  # of all listed assets, in lower case
    blockchains: Mapping[TokenKey, Collection[str]]  # asset -> blockchains of its contracts
    bridged: Mapping[TokenKey, TokenKey]  # omitted bridged contract -> asset


@dataclass(frozen=True, eq=False)
class Positions:
    """Holdings with n rows and w wallets, encoded as integers. Read-only.

    If there is no `wallets` frame, only wallets with rows are included.
    """

    holdings: pd.DataFrame  # n rows
    amounts: AmountArray
    tokens: KeyCodes  # the tokens of the rows, or the assets if `assets` is set
    wallet_keys: list[TokenKey]  # canonical (blockchain, address) of w wallets, by first row
    wallet_frame: pd.DataFrame  # the frame that lists the wallets: `wallets` or holdings
    first: Codes  # the first row of each wallet in `wallet_frame`
    wallet_codes: Codes  # the wallet index of each row of holdings
    has_wallets: bool  # whether `wallet_frame` is the `wallets` of a fetch
    known: Mask  # the wallets whose balances are known
    stale: Mask  # the wallets whose answer is out of date
    listed: Codes  # the number of balances that the service listed for each known wallet, else 0
    by_snapshot: bool = False  # whether a wallet is a different wallet in each snapshot
    assets: Assets | None = None  # set if assets replace tokens

    @cached_property
    def wallets(self) -> pd.DataFrame:
        """The blockchain and the address of each wallet, as in the wallet's first row."""
        columns = {name: self.wallet_frame[name].array.take(self.first) for name in _WALLET}
        return pd.DataFrame({name: text_array(column) for name, column in columns.items()})

    @cached_property
    def index_by_chain(self) -> dict[str, int]:
        """The index of each blockchain that has wallets, by canonical identifier."""
        names = dict.fromkeys(key[0] for key in self.wallet_keys)
        return {name: index for index, name in enumerate(names)}

    @cached_property
    def wallet_chain_codes(self) -> Codes:
        """The index of each wallet's blockchain."""
        return np.array([self.index_by_chain[key[0]] for key in self.wallet_keys], dtype=np.intp)

    @cached_property
    def distinct_chains(self) -> list[str]:
        """The distinct blockchains, spelled as in the first row of each blockchain."""
        first = first_rows(self.wallet_chain_codes, len(self.index_by_chain))
        return [*self.wallets["blockchain"].array.take(first)]

    @cached_property
    def unknown_on_unlisted_chains(self) -> Mask:
        """A mask of unknown wallets on unlisted blockchains, where any token is possible."""
        return ~self.known & unlisted_mask(self.index_by_chain)[self.wallet_chain_codes]

    @cached_property
    def wallets_able_to_hold_selection(self) -> Mask:
        """A mask of the wallets that could hold a selected token. All, if none is selected."""
        chains = self.holdings.attrs.get(HOLDERS, {}).get("blockchains")
        return np.ones_like(self.known) if chains is None else self.wallets_on_chains_mask(chains)

    @property
    def kind(self) -> str:
        """The kind of `tokens`: "token" or "asset"."""
        return "asset" if self.assets else "token"

    @property
    def contracts(self) -> KeyCodes:
        """The tokens of the rows. The attribute `tokens` may contain assets instead."""
        return self.assets.contracts if self.assets else self.tokens

    @cached_property
    def extra_column_names(self) -> list[str]:
        """The names of the extra columns of `wallets`."""
        return extra_names(self.wallet_frame) if self.has_wallets else []

    def with_contracts_as_tokens(self) -> Positions:
        """Return the same holdings by contract instead of by asset."""
        return replace(self, tokens=self.contracts, assets=None) if self.assets else self

    def select_rows(self, mask: Mask) -> Positions:
        """Return the rows in a mask. If there is no `wallets` frame, drop wallets without rows."""
        if mask.all():
            return self
        rows = np.flatnonzero(mask)
        codes, kept = pd.factorize(self.wallet_codes[rows])
        if self.has_wallets:
            codes, kept = self.wallet_codes[rows], np.arange(len(self.wallets))
        return replace(
            self.with_wallets(kept),
            holdings=self.holdings[mask],
            amounts=self.amounts[rows],
            tokens=self.tokens.take(rows),
            wallet_codes=codes,
            assets=self.assets and self.assets._replace(contracts=self.assets.contracts.take(rows)),
        )

    def with_wallets(self, indices: Codes) -> Positions:
        """Return a copy with only these wallets. The caller must then select their rows."""
        return replace(
            self,
            wallet_keys=[self.wallet_keys[index] for index in indices.tolist()],
            first=self.first[indices],
            known=self.known[indices],
            stale=self.stale[indices],
            listed=self.listed[indices],
        )

    def with_rows(self, holdings: pd.DataFrame, tokens: KeyCodes, wallet_codes: Codes) -> Positions:
        """Return a copy with the rows of `holdings`."""
        return replace(
            self,
            holdings=holdings,
            amounts=amounts_of(holdings["amount"]),
            tokens=tokens,
            wallet_codes=wallet_codes,
            assets=None,
        )

    def with_holdings(self, rows: pd.DataFrame) -> Positions:
        """Return a copy with the same wallets and the holdings `rows`."""
        held = read_positions(rows)
        index_by_key = {key: index for index, key in enumerate(self.wallet_keys)}
        indices = np.array([index_by_key[key] for key in held.wallet_keys], dtype=np.intp)
        return self.with_rows(rows, held.tokens, indices[held.wallet_codes])

    def token_blockchains(self, token: int) -> Collection[str]:
        """Return the blockchain of a token, or the blockchains of an asset's contracts."""
        key = self.tokens.keys[token]
        return self.assets.blockchains.get(key, key[:1]) if self.assets else key[:1]

    def possible_holders_mask(self, token: int) -> Mask:
        """Return a mask of the wallets that could hold the token at this index."""
        names = self.token_blockchains(token)
        key_chains = [self.index_by_chain[name] for name in names if name in self.index_by_chain]
        row_chains = self.wallet_chain_codes[self.wallet_codes[self.tokens.codes == token]]
        on_chains = np.isin(self.wallet_chain_codes, np.append(row_chains, key_chains))
        return on_chains | self.unknown_on_unlisted_chains

    def wallets_on_chains_mask(self, names: Collection[str]) -> Mask:
        """Return a mask of the wallets on these or unlisted blockchains."""
        chains = self.index_by_chain
        return (unlisted_mask(chains) | np.isin([*chains], [*names]))[self.wallet_chain_codes]

    @cached_property
    def wallet_chains_or_any(self) -> Codes:
        """The index of each wallet's blockchain, or -1 for wallets that may hold any token."""
        # In a history, a wallet that may hold any token can have rows with NA amounts.
        return np.where(self.unknown_on_unlisted_chains, -1, self.wallet_chain_codes)

    def possible_blockchains_mask(self) -> Mask:
        """Call the function `possible_blockchains_mask` for these holdings."""
        row_chains = self.wallet_chains_or_any[self.wallet_codes]
        blockchains = self.assets.blockchains if self.assets else {}
        return possible_blockchains_mask(self.tokens, row_chains, self.index_by_chain, blockchains)


class Chunk(NamedTuple):
    """A part of holdings: some of the wallets, with all their rows."""

    positions: Positions
    wallet_indices: Codes  # the index of each wallet among all wallets
    rows: Codes  # the position of each row among all rows, in ascending order


PositionsLike: TypeAlias = Union["pd.DataFrame", Positions]


def read_positions(
    holdings: PositionsLike, wallets: FetchLike | None = None, *, by_snapshot: bool = False
) -> Positions:
    """Encode the wallets and tokens of holdings, and add the requested `wallets`.

    With `by_snapshot`, a wallet counts as a different wallet in each snapshot of `wallets`. Without
    `by_snapshot`, several snapshots raise an error.
    """
    frame = None if wallets is None else extract_frame(wallets, "wallets")
    if not by_snapshot and not isinstance(holdings, Positions):
        reject_mixed_snapshots(holdings, *([] if frame is None else [frame]))
    by_snapshot = by_snapshot and (frame is None or SNAPSHOT in frame.columns)
    encoded = holdings
    if not isinstance(encoded, Positions):
        encoded = encode_holdings(encoded, by_snapshot=by_snapshot)
    if frame is None or (encoded.has_wallets and frame is encoded.wallet_frame):
        return encoded
    require_columns(frame, _REQUESTED)
    requested = _encode_row_wallets(frame, by_snapshot=by_snapshot)
    index_by_key = {key: index for index, key in enumerate(requested.keys)}
    if missing := [key for key in encoded.wallet_keys if key not in index_by_key]:
        chain, address = missing[0][:2]
        count = counted_noun(len(missing), "wallet")
        hint = f"pass both frames of the same fetch: `holdings` has {count} that `wallets` lacks"
        raise UnknownWalletError(f"{chain}.{address}", hint=hint)
    indices = np.array([index_by_key[key] for key in encoded.wallet_keys], dtype=np.intp)
    known_rows, listed = known_mask(frame), frame["tokens"].to_numpy(np.int64, na_value=0)
    known = _mask_of_indices(requested.codes[known_rows], len(requested.keys))
    if failed := np.flatnonzero(~known[indices]).tolist():
        chain, address = encoded.wallet_keys[failed[0]][:2]
        raise ArgumentError(
            f"`holdings` has balances of {counted_noun(len(failed), 'wallet')} that failed in "
            f"`wallets`, such as {chain}.{address}",
            hint="pass both frames of the same fetch",
        )
    positions = replace(
        encoded,
        wallet_keys=requested.keys,
        wallet_frame=frame,
        first=requested.first,
        wallet_codes=indices[encoded.wallet_codes],
        has_wallets=True,
        known=known,
        stale=_mask_of_indices(requested.codes[stale_mask(frame)], len(requested.keys)),
        listed=(listed * known_rows)[requested.first],
    )
    return _mark_unable_to_hold_known(positions) if HOLDERS in encoded.holdings.attrs else positions


def _mark_unable_to_hold_known(positions: Positions) -> Positions:
    can_hold = positions.wallets_able_to_hold_selection
    return replace(positions, known=positions.known | ~can_hold, stale=positions.stale & can_hold)


def mark_na_unknown_if_single(positions: Positions) -> Positions:
    """If a single token or asset is selected, mark wallets with NA amounts as unknown."""
    is_single = positions.holdings.attrs.get(HOLDERS, {}).get("is_single")
    return mark_na_wallets_unknown(positions, slice(None)) if is_single else positions


def mark_na_wallets_unknown(positions: Positions, rows: Mask | slice) -> Positions:
    """Return a copy in which wallets with NA amounts in `rows` are unknown."""
    missing = positions.amounts.isna()[rows]
    unread = _mask_of_indices(positions.wallet_codes[rows][missing], len(positions.wallet_keys))
    return replace(positions, known=positions.known & ~unread, stale=positions.stale & ~unread)


def mark_unable_to_hold_ok(details: WalletDetails) -> WalletDetails:
    """Return a copy in which wallets that can't hold the selected tokens are ok, with 0 tokens."""
    wallets, holdings = details
    if HOLDERS not in holdings.attrs:
        return details
    positions = read_positions(holdings, wallets, by_snapshot=True)
    codes = _encode_row_wallets(wallets, by_snapshot=positions.by_snapshot).codes
    fresh = (positions.known & ~positions.stale)[codes]
    cannot_hold = fresh & ~known_and_fresh_mask(wallets)
    columns = {"tokens": wallets["tokens"].mask(cannot_hold & wallets["tokens"].isna(), 0)}
    for name, text in (("status", "ok"), ("source", "service")):
        columns[name] = wallets[name].astype(TEXT).mask(cannot_hold, text)
    return details._replace(wallets=wallets.assign(**columns))


def encode_holdings(holdings: pd.DataFrame, *, by_snapshot: bool = False) -> Positions:
    """Encode the wallets and tokens of holdings. Several snapshots are allowed."""
    require_columns(holdings, HOLDING_COLUMNS)
    wallets = _encode_row_wallets(holdings, by_snapshot=by_snapshot)
    known, tokens = np.ones(len(wallets.keys), dtype=bool), encode_tokens(holdings)
    return Positions(
        holdings=holdings,
        amounts=amounts_of(holdings["amount"]),
        tokens=tokens,
        wallet_keys=wallets.keys,
        wallet_frame=holdings,
        first=wallets.first,
        wallet_codes=wallets.codes,
        has_wallets=False,
        known=known,
        stale=~known,
        listed=np.zeros(len(wallets.keys), dtype=np.intp),
        by_snapshot=by_snapshot,
    )


def _mask_of_indices(indices: Codes, count: int) -> Mask:
    return np.bincount(indices, minlength=count) > 0


def _encode_row_wallets(frame: pd.DataFrame, *, by_snapshot: bool) -> KeyCodes:
    wallets = encode_wallets(frame)
    if not by_snapshot:
        return wallets
    times, moments = pd.factorize(snapshot_column(frame), use_na_sentinel=False)
    size = max(len(moments), 1)
    codes, pairs = pd.factorize(wallets.codes * size + times)
    split = (divmod(pair, size) for pair in pairs.tolist())
    keys: list[Any] = [(*wallets.keys[wallet], moments[time]) for wallet, time in split]
    return KeyCodes(codes, keys)


def reject_mixed_snapshots(*frames: pd.DataFrame) -> None:
    """Raise an error if a frame has rows of several snapshots."""
    count = max((each[SNAPSHOT].nunique() for each in frames if SNAPSHOT in each), default=0)
    if count > 1:
        raise SnapshotError(
            f"rows of {counted_noun(count, 'snapshot')} can't be added up",
            hint='select one snapshot, such as wf.history.snapshot("2026-01-31"). In totals, pivot '
            'and bar, you can also add "snapshot" to by=',
        )


def snapshot_column(frame: pd.DataFrame) -> pd.DatetimeIndex:
    """Return the column ``snapshot`` of holdings or wallets, in UTC."""
    require_columns(frame, [SNAPSHOT])
    return pd.DatetimeIndex(pd.to_datetime(frame[SNAPSHOT], utc=True))


def token_columns(holdings: pd.DataFrame, tokens: KeyCodes, token_indices: Codes) -> dict[str, Any]:
    """Return the columns that describe the tokens at these indices. Index -1 becomes NA."""
    rows = np.append(tokens.first, -1)[token_indices]
    return {name: text_array(holdings[name].array.take(rows, allow_fill=True)) for name in TOKEN}


def unlisted_mask(chains: Iterable[str]) -> Mask:
    """Return a mask of the blockchains that `walletframe.blockchains` does not list."""
    return np.array([find_blockchain(chain) is None for chain in chains], dtype=bool)


def possible_blockchains_mask(
    tokens: KeyCodes,
    row_chains: Codes,
    chains: Mapping[str, int],
    asset_blockchains: Mapping[TokenKey, Collection[str]],
) -> Mask:
    """Return a mask: whether a token (row) could be held on a blockchain (column).

    A token is possible on its own blockchain, and on blockchains of its asset and its holders.
    The last row (no token) and the last column (wallets that may hold any token) are True.
    """
    mask = np.zeros((len(tokens.keys) + 1, len(chains) + 1), dtype=bool)
    mask[-1] = mask[:, -1] = True
    mask[tokens.codes, row_chains] = True
    mask[np.arange(len(tokens.keys)), [chains.get(key[0], -1) for key in tokens.keys]] = True
    for token, key in enumerate(tokens.keys):
        if key in asset_blockchains:
            mask[token, [chains.get(name, -1) for name in asset_blockchains[key]]] = True
    return mask


def sum_by_cell(amounts: AmountArray, cells: Codes, count: int) -> AmountArray:
    """Return the sum of the amounts in each cell, or NA if all are NA. Skip amounts in cell -1."""
    exact = amounts.exact()
    grouped = AmountsWithGroups(exact, cells, count)
    missing = grouped.groups_with_missing & (grouped.known_counts == 0)
    return AmountArray(group_totals(grouped), missing, exact.scale)
