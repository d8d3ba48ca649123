"""Holdings encoded as integers: the wallet and the token of each row, and which wallets are known.

Tables and charts start from `Positions`, so that tokens and wallets are identified only once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.sums import Segments, sums
from walletframe.errors import UnknownWalletError
from walletframe.frames.contract import amounts_of, require_columns, text_array
from walletframe.frames.details import as_wallets_frame
from walletframe.frames.identity import (
    KeyCodes,
    first_rows,
    token_identities,
    wallet_identities,
)
from walletframe.frames.kept import kept_names
from walletframe.frames.known import known_wallets, stale_wallets
from walletframe.numerals import counted_noun

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from walletframe.frames.details import FetchLike
    from walletframe.frames.identity import Codes, Mask, TokenKey

_HOLDINGS = ("blockchain", "address", "symbol", "token_blockchain", "token_address", "amount")
_WALLET, _ASKED = ("blockchain", "address"), ("blockchain", "address", "status", "tokens", "source")
_SNAPSHOT = "snapshot"


@dataclass(frozen=True, slots=True)
class Assets:
    """The assets that replace tokens in `Positions`, by their keys."""

    contracts: KeyCodes  # the tokens of the rows
    names: Mapping[TokenKey, str]  # of each asset, and of each token without an asset
    blockchains: Mapping[TokenKey, Collection[str]]  # of the contracts of each asset


@dataclass(frozen=True)
class Positions:
    """Holdings of n rows and w wallets: the requested ones, else those with rows. Read-only."""

    holdings: pd.DataFrame  # n rows
    amounts: AmountArray
    tokens: KeyCodes  # of the rows; with `assets`, the assets
    wallet_keys: list[TokenKey]  # w canonical (blockchain, address), in the order of their rows
    wallet_frame: pd.DataFrame  # that lists the wallets: `wallets` of a fetch, or holdings
    first: Codes  # of each wallet, its first row in `wallet_frame`
    wallet_codes: Codes  # of each row of holdings, the index of its wallet
    has_wallets: bool  # whether `wallet_frame` is the `wallets` of a fetch
    known: Mask  # of each wallet, whether its balances are known
    stale: Mask  # of each wallet, whether they are known from an out-of-date answer
    has_unknown_token: Mask  # of each wallet, whether a balance is of an unknown token
    timed: bool = False  # whether a wallet counts as another one in each snapshot
    assets: Assets | None = None  # the assets in `tokens`, if tokens were replaced by assets

    @cached_property
    def wallets(self) -> pd.DataFrame:
        """The blockchain and the address of each wallet, as first written."""
        columns = {name: self.wallet_frame[name].array.take(self.first) for name in _WALLET}
        return pd.DataFrame({name: text_array(column) for name, column in columns.items()})

    @cached_property
    def chain_places(self) -> dict[str, int]:
        """The indices of the distinct blockchains of the wallets, by canonical identifier."""
        names = dict.fromkeys(key[0] for key in self.wallet_keys)
        return {name: place for place, name in enumerate(names)}

    @cached_property
    def chain_codes(self) -> Codes:
        """Of each wallet, the index of its blockchain."""
        return np.array([self.chain_places[key[0]] for key in self.wallet_keys], dtype=np.intp)

    @cached_property
    def chains(self) -> list[str]:
        """The distinct blockchains of the wallets, as first written."""
        starts = first_rows(self.chain_codes, len(self.chain_places))
        return [*self.wallets["blockchain"].array.take(starts)]

    @property
    def kind(self) -> str:
        """The kind of things in `tokens`, as a name to group by: "token" or "asset"."""
        return "asset" if self.assets else "token"

    @property
    def contracts(self) -> KeyCodes:
        """The tokens of the rows, also if `tokens` has assets."""
        return self.assets.contracts if self.assets else self.tokens

    @cached_property
    def kept(self) -> list[str]:
        """The user's own columns of `wallets`; none if there are only holdings."""
        return kept_names(self.wallet_frame) if self.has_wallets else []

    def by_contract(self) -> Positions:
        """Return the same holdings with tokens instead of assets."""
        return replace(self, tokens=self.contracts, assets=None) if self.assets else self

    def where(self, marks: Mask) -> Positions:
        """Return the marked rows, and their wallets; requested wallets all stay."""
        if marks.all():
            return self
        rows = np.flatnonzero(marks)
        codes, kept = pd.factorize(self.wallet_codes[rows])
        if self.has_wallets:
            codes, kept = self.wallet_codes[rows], np.arange(len(self.wallets))
        return replace(
            self.select_wallets(kept),
            holdings=self.holdings[marks],
            amounts=self.amounts[rows],
            tokens=self.tokens.take(rows),
            wallet_codes=codes,
            assets=self.assets and replace(self.assets, contracts=self.assets.contracts.take(rows)),
        )

    def select_wallets(self, places: Codes) -> Positions:
        """Return the wallets with these indices; the caller has to replace the rows."""
        return replace(
            self,
            wallet_keys=[self.wallet_keys[place] for place in places.tolist()],
            first=self.first[places],
            known=self.known[places],
            stale=self.stale[places],
            has_unknown_token=self.has_unknown_token[places],
        )

    def with_rows(self, holdings: pd.DataFrame, tokens: KeyCodes, owners: Codes) -> Positions:
        """Return the same wallets with these rows; `owners` has the index of each row's wallet."""
        return replace(
            self,
            holdings=holdings,
            amounts=amounts_of(holdings["amount"]),
            tokens=tokens,
            wallet_codes=owners,
            has_unknown_token=_marked(owners[tokens.unknown_rows()], len(self.wallet_keys)),
            assets=None,
        )

    def with_holdings(self, rows: pd.DataFrame) -> Positions:
        """Return the same wallets with the rows of a frame."""
        held = read_positions(rows)
        index = {key: place for place, key in enumerate(self.wallet_keys)}
        owners = np.array([index[key] for key in held.wallet_keys], dtype=np.intp)
        return self.with_rows(rows, held.tokens, owners[held.wallet_codes])

    def wallets_that_can_hold(self, token: int) -> Mask:
        """Mark the wallets on the blockchains of a token or asset, or on one where it is held."""
        key = self.tokens.keys[token]
        names = self.assets.blockchains.get(key, key[:1]) if self.assets else key[:1]
        own = [self.chain_places[name] for name in names if name in self.chain_places]
        held = self.chain_codes[self.wallet_codes[self.tokens.codes == token]]
        return np.isin(self.chain_codes, np.append(held, own))

    def possible_blockchains(self) -> tuple[Codes, Codes]:
        """Return pairs of a token and a blockchain, as `possible_token_blockchains` does."""
        row_chains = self.chain_codes[self.wallet_codes]
        blockchains = self.assets.blockchains if self.assets else None
        return possible_token_blockchains(self.tokens, row_chains, self.chain_places, blockchains)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some of the requested wallets with all of their rows, read from a larger table."""

    positions: Positions
    places: Codes  # of each wallet, its index among all wallets
    rows: Codes  # of each row, its position among all rows; ascending


PositionsLike: TypeAlias = Union["pd.DataFrame", Positions]


def read_positions(
    holdings: PositionsLike, wallets: FetchLike | None = None, *, timed: bool = False
) -> Positions:
    """Encode the wallets and tokens of holdings, and add the requested `wallets`.

    With `timed`, a wallet counts as another one in each snapshot, unless `wallets` has none.
    """
    frame = None if wallets is None else as_wallets_frame(wallets)
    timed = timed and (frame is None or _SNAPSHOT in frame.columns)
    held = holdings if isinstance(holdings, Positions) else _encode_holdings(holdings, timed=timed)
    if frame is None:
        return held
    require_columns(frame, _ASKED)
    requested = _encode_wallets(frame, timed=timed)
    index = {key: place for place, key in enumerate(requested.keys)}
    if missing := [key for key in held.wallet_keys if key not in index]:
        chain, address = missing[0][:2]
        count = counted_noun(len(missing), "wallet")
        hint = f"`wallets` lacks {count} of holdings: give both frames of the same fetch"
        raise UnknownWalletError(f"{chain}.{address}", hint=hint)
    places = np.array([index[key] for key in held.wallet_keys], dtype=np.intp)
    return replace(
        held,
        wallet_keys=requested.keys,
        wallet_frame=frame,
        first=requested.first,
        wallet_codes=places[held.wallet_codes],
        has_wallets=True,
        known=_marked(requested.codes[known_wallets(frame)], len(requested.keys)),
        stale=_marked(requested.codes[stale_wallets(frame)], len(requested.keys)),
        has_unknown_token=_marked(places[held.has_unknown_token], len(requested.keys)),
    )


def _encode_holdings(holdings: pd.DataFrame, *, timed: bool) -> Positions:
    require_columns(holdings, _HOLDINGS)
    owners = _encode_wallets(holdings, timed=timed)
    known, tokens = np.ones(len(owners.keys), dtype=bool), token_identities(holdings)
    return Positions(
        holdings=holdings,
        amounts=amounts_of(holdings["amount"]),
        tokens=tokens,
        wallet_keys=owners.keys,
        wallet_frame=holdings,
        first=owners.first,
        wallet_codes=owners.codes,
        has_wallets=False,
        known=known,
        stale=~known,
        has_unknown_token=_marked(owners.codes[tokens.unknown_rows()], len(owners.keys)),
        timed=timed,
    )


def _marked(places: Codes, count: int) -> Mask:
    """Return a mask of `count` elements, True at these places."""
    return np.bincount(places, minlength=count) > 0


def _encode_wallets(frame: pd.DataFrame, *, timed: bool) -> KeyCodes:
    wallets = wallet_identities(frame)
    if not timed:
        return wallets
    times, moments = pd.factorize(snapshot_times(frame), use_na_sentinel=False)
    size = max(len(moments), 1)
    codes, pairs = pd.factorize(wallets.codes * size + times)
    split = (divmod(pair, size) for pair in pairs.tolist())
    keys: list[Any] = [(*wallets.keys[wallet], moments[time]) for wallet, time in split]
    return KeyCodes(codes, keys, first_rows(codes, len(keys)))


def snapshot_times(frame: pd.DataFrame) -> pd.DatetimeIndex:
    """Return the column ``snapshot`` of holdings or wallets, in UTC."""
    require_columns(frame, [_SNAPSHOT])
    return pd.DatetimeIndex(pd.to_datetime(frame[_SNAPSHOT], utc=True))


def token_columns(holdings: pd.DataFrame, tokens: KeyCodes, places: Codes) -> dict[str, Any]:
    """Return the three columns that name tokens, from their first rows; NA for place -1."""
    rows = np.append(tokens.first, -1)[places]
    return {
        name: text_array(holdings[name].array.take(rows, allow_fill=True))
        for name in ("token_blockchain", "token_address", "symbol")
    }


def possible_token_blockchains(
    tokens: KeyCodes,
    row_chains: Codes,
    chains: Mapping[str, int],
    asset_blockchains: Mapping[TokenKey, Collection[str]] | None = None,
) -> tuple[Codes, Codes]:
    """Pair tokens with the blockchains, as indices, where a wallet could hold them, or does.

    `row_chains` has the blockchain index of each row, `chains` the index by identifier. A token is
    on the blockchain in its key, unless `asset_blockchains` has it.
    """
    stride = max(len(chains), 1)
    several = asset_blockchains or {}
    own = [
        token * stride + chains[chain]
        for token, key in enumerate(tokens.keys)
        for chain in several.get(key, key[:1])
        if chain in chains
    ]
    held = tokens.codes * stride + row_chains
    pairs = pd.unique(np.append(held, own).astype(np.intp))
    return pairs // stride, pairs % stride


def cell_sums(amounts: AmountArray, cells: Codes, count: int) -> AmountArray:
    """Return the exact sum of each cell, NA if an amount in it is NA; cell -1 is left out."""
    exact = amounts.exact()
    grouped = Segments(exact, cells, count)
    units = sums(grouped)
    units[grouped.has_missing] = 0
    return AmountArray(units, grouped.has_missing, exact.scale)
