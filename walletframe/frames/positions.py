"""Holdings as integer codes: wallet, token, amount and time, and which wallets are known.

What is asked of holdings, or drawn of them, begins here: tokens and wallets are told apart once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.sums import Segments, sums
from walletframe.errors import UnknownWalletError
from walletframe.frames.contract import amounts_of, require_columns, text_array
from walletframe.frames.details import wallets_given
from walletframe.frames.identity import (
    Identities,
    first_rows,
    token_identities,
    wallet_identities,
)
from walletframe.frames.kept import kept_names
from walletframe.frames.known import known_wallets, stale_wallets
from walletframe.numerals import many
from walletframe.pandas_versions import factorized

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from walletframe.frames.details import FetchLike
    from walletframe.frames.identity import Codes, Mask, TokenKey

_HOLDINGS = ("blockchain", "address", "symbol", "token_blockchain", "token_address", "amount")
_WALLET, _ASKED = ("blockchain", "address"), ("blockchain", "address", "status", "tokens", "source")
_SNAPSHOT = "snapshot"


@dataclass(frozen=True, slots=True)
class Assets:
    """What is known of assets that stand in the place of tokens; by key where it can be."""

    contracts: Identities  # the tokens of the rows
    names: Mapping[TokenKey, str]  # of each asset, and of each token that is of none
    homes: Mapping[TokenKey, Collection[str]]  # the blockchains that have it, of each asset


@dataclass(frozen=True, slots=True)
class Positions:
    """Holdings of n rows and w wallets: those asked, else those with rows. Not to be changed."""

    holdings: pd.DataFrame  # n rows, as given
    amounts: AmountArray
    tokens: Identities  # of the rows; with `assets`, the assets
    wallets: pd.DataFrame  # w rows: blockchain and address as first written, in their order
    wallet_keys: list[TokenKey]  # the same, canonical
    given: pd.DataFrame  # the frame in which the wallets stand: that of `wallets`, else holdings
    first: Codes  # of each wallet, its first row there
    wallet_codes: Codes  # of each row of holdings, the place of its wallet
    chains: list[str]  # the distinct blockchains of the wallets, as first written
    chain_codes: Codes  # of each wallet, the place of its blockchain
    chain_places: dict[str, int]  # these places, by canonical identifier
    asked: bool  # whether the wallets asked were given
    known: Mask  # of each wallet, whether its balances are known
    stale: Mask  # whether they are known as of an answer that is past its time
    hides: Mask  # whether one of them is of an unknown token, which may be any
    timed: bool = False  # whether a wallet of another snapshot is another wallet
    assets: Assets | None = None  # which contracts were put together, if any were

    @property
    def kind(self) -> str:
        """What stands in `tokens`, as a name to group by: "token" or "asset"."""
        return "asset" if self.assets else "token"

    @property
    def contracts(self) -> Identities:
        """The tokens of the rows, whether assets stand in their place or not."""
        return self.assets.contracts if self.assets else self.tokens

    @property
    def kept(self) -> list[str]:
        """The names of a user's own columns of wallets, where it is told which were asked."""
        return kept_names(self.given) if self.asked else []

    def by_contract(self) -> Positions:
        """Return them without assets in the place of tokens."""
        return replace(self, tokens=self.contracts, assets=None)

    def where(self, marks: Mask) -> Positions:
        """Return the rows that are marked, and their wallets; those that were asked all stay."""
        if marks.all():
            return self
        rows = np.flatnonzero(marks)
        codes, kept = pd.factorize(self.wallet_codes[rows])
        if self.asked:
            codes, kept = self.wallet_codes[rows], np.arange(len(self.wallets))
        return replace(
            self.some(kept),
            holdings=self.holdings[marks],
            amounts=self.amounts[rows],
            tokens=self.tokens.take(rows),
            wallet_codes=codes,
            assets=self.assets and replace(self.assets, contracts=self.assets.contracts.take(rows)),
        )

    def some(self, places: Codes) -> Positions:
        """Return some of the wallets, by their places; the rows, if any, are left to the caller."""
        keys = [self.wallet_keys[place] for place in places.tolist()]
        return replace(
            self,
            first=self.first[places],
            **_listed(self.wallets, Identities(places, keys, places)),
            known=self.known[places],
            stale=self.stale[places],
            hides=self.hides[places],
        )

    def with_rows(self, holdings: pd.DataFrame, tokens: Identities, owners: Codes) -> Positions:
        """Return the same wallets with these rows; `owners` has the place of each row's wallet."""
        return replace(
            self,
            holdings=holdings,
            amounts=amounts_of(holdings["amount"]),
            tokens=tokens,
            wallet_codes=owners,
            hides=_marked(owners[tokens.unknown_rows()], len(self.wallet_keys)),
            assets=None,
        )

    def with_holdings(self, rows: pd.DataFrame) -> Positions:
        """Return the same wallets with the rows that a frame has of them."""
        held = read_positions(rows)
        places = {key: place for place, key in enumerate(self.wallet_keys)}
        owners = np.array([places[key] for key in held.wallet_keys], dtype=np.intp)
        return self.with_rows(rows, held.tokens, owners[held.wallet_codes])

    def able(self, token: int) -> Mask:
        """Return which wallets could hold a token or asset, by its place: on its blockchains."""
        key = self.tokens.keys[token]
        homes = self.assets.homes.get(key, key[:1]) if self.assets else key[:1]
        here = [self.chain_places[chain] for chain in homes if chain in self.chain_places]
        held = self.chain_codes[self.wallet_codes[self.tokens.codes == token]]
        return np.isin(self.chain_codes, np.append(held, here))

    def could_hold(self) -> tuple[Codes, Codes]:
        """Return the blockchains on which a wallet could hold a token, as `candidates` does."""
        row_chains = self.chain_codes[self.wallet_codes]
        homes = self.assets.homes if self.assets else None
        return candidates(self.tokens, row_chains, self.chain_places, homes)


@dataclass(frozen=True, slots=True)
class Block:
    """Some of the wallets asked with all of their rows, where no frame holds those of all."""

    positions: Positions
    places: Codes  # of each wallet, its place among all
    rows: Codes  # of each row, its place among all; ascending


PositionsLike: TypeAlias = Union["pd.DataFrame", Positions]


def read_positions(
    holdings: PositionsLike, wallets: FetchLike | None = None, *, timed: bool = False
) -> Positions:
    """Code the wallets and tokens of holdings, unless that was done, and note who was asked.

    With ``timed`` a wallet of another snapshot is another wallet, unless `wallets` names none.
    """
    frame = None if wallets is None else wallets_given(wallets)
    timed = timed and (frame is None or _SNAPSHOT in frame.columns)
    held = holdings if isinstance(holdings, Positions) else _held(holdings, timed=timed)
    if frame is None:
        return held
    require_columns(frame, _ASKED)
    asked = _owners(frame, timed=timed)
    rows_of = {key: place for place, key in enumerate(asked.keys)}
    strangers = [key for key in held.wallet_keys if key not in rows_of]
    if strangers:
        chain, address = strangers[0][:2]
        raise UnknownWalletError(
            f"{chain}.{address}",
            hint=f"`wallets` lacks {many(len(strangers), 'wallet')} of holdings: give one fetch",
        )
    places = np.array([rows_of[key] for key in held.wallet_keys], dtype=np.intp)
    return replace(
        held,
        given=frame,
        first=asked.first,
        wallet_codes=places[held.wallet_codes],
        **_listed(frame, asked),
        asked=True,
        known=_marked(asked.codes[known_wallets(frame)], len(asked.keys)),
        stale=_marked(asked.codes[stale_wallets(frame)], len(asked.keys)),
        hides=_marked(places[held.hides], len(asked.keys)),
    )


def _held(holdings: pd.DataFrame, *, timed: bool) -> Positions:
    require_columns(holdings, _HOLDINGS)
    owners = _owners(holdings, timed=timed)
    certain, tokens = np.ones(len(owners.keys), dtype=bool), token_identities(holdings)
    return Positions(
        holdings=holdings,
        amounts=amounts_of(holdings["amount"]),
        tokens=tokens,
        given=holdings,
        first=owners.first,
        wallet_codes=owners.codes,
        **_listed(holdings, owners),
        asked=False,
        known=certain,
        stale=~certain,
        hides=_marked(owners.codes[tokens.unknown_rows()], len(owners.keys)),
        timed=timed,
    )


def _marked(places: Codes, count: int) -> Mask:
    """Mark some of so many places."""
    return np.bincount(places, minlength=count) > 0


def _owners(frame: pd.DataFrame, *, timed: bool) -> Identities:
    found = wallet_identities(frame)
    if not timed:
        return found
    times, moments = pd.factorize(snapshot_times(frame), use_na_sentinel=False)
    wide = max(len(moments), 1)
    codes, pairs = pd.factorize(found.codes * wide + times)
    keys: list[Any] = [(*found.keys[pair // wide], moments[pair % wide]) for pair in pairs.tolist()]
    return Identities(codes, keys, first_rows(codes, len(keys)))


def _listed(frame: pd.DataFrame, wallets: Identities) -> dict[str, Any]:
    """Return the wallets that are listed in a frame, and their blockchains."""
    named = {name: text_array(frame[name].array.take(wallets.first)) for name in _WALLET}
    codes, identifiers = factorized(np.array([key[0] for key in wallets.keys], dtype=object))
    starts = np.unique(codes, return_index=True)[1]
    return {
        "wallets": pd.DataFrame(named),
        "wallet_keys": wallets.keys,
        "chains": [*named["blockchain"].take(starts)],
        "chain_codes": codes,
        "chain_places": {key: place for place, key in enumerate(identifiers)},
    }


def snapshot_times(frame: pd.DataFrame) -> pd.DatetimeIndex:
    """Return the column ``snapshot`` of holdings or wallets, in UTC."""
    require_columns(frame, [_SNAPSHOT])
    return pd.DatetimeIndex(pd.to_datetime(frame[_SNAPSHOT], utc=True))


def token_columns(holdings: pd.DataFrame, tokens: Identities, places: Codes) -> dict[str, Any]:
    """Return the three columns of tokens, as their first rows have them; NA for place -1."""
    rows = np.append(tokens.first, -1)[places]
    return {
        name: text_array(holdings[name].array.take(rows, allow_fill=True))
        for name in ("token_blockchain", "token_address", "symbol")
    }


def candidates(
    tokens: Identities,
    row_chains: Codes,
    chains: Mapping[str, int],
    homes: Mapping[TokenKey, Collection[str]] | None = None,
) -> tuple[Codes, Codes]:
    """Pair tokens with the blockchains, as places, on which a wallet could hold them, or does.

    `row_chains` has the place of each row's blockchain, `chains` the places by identifier; `homes`
    has the blockchains of what is on several, all others are on the one in their key.
    """
    wide = max(len(chains), 1)
    found = homes or {}
    own = [
        token * wide + chains[chain]
        for token, key in enumerate(tokens.keys)
        for chain in found.get(key, key[:1])
        if chain in chains
    ]
    seen = tokens.codes * wide + row_chains
    pairs = pd.unique(np.append(seen, own).astype(np.intp))
    return pairs // wide, pairs % wide


def cell_sums(amounts: AmountArray, cells: Codes, count: int) -> AmountArray:
    """Add up amounts exactly in the cells of a grid, -1 for none: NA where one of them is NA."""
    exact = amounts.exact()
    grouped = Segments(exact, cells, count)
    units = sums(grouped)
    units[grouped.holed] = 0
    return AmountArray(units, grouped.holed, exact.scale)
