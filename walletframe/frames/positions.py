"""Holdings as integer codes: wallet, token, amount and time, and which wallets are known.

What is asked of holdings, or drawn of them, begins here: tokens and wallets are told apart once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.segments import Segments, sums
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

    def take(self, rows: Codes) -> Assets:
        """Return those of some rows, given by their positions."""
        return replace(self, contracts=self.contracts.take(rows))


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

    @property
    def times(self) -> pd.DatetimeIndex:
        """When each row was held, in UTC, by its column ``snapshot``."""
        return snapshot_times(self.holdings)

    def where(self, marks: Mask) -> Positions:
        """Return the rows that are marked, and their wallets; those that were asked all stay."""
        if marks.all():
            return self
        rows = np.flatnonzero(marks)
        codes, kept = pd.factorize(self.wallet_codes[rows])
        if self.asked:
            codes, kept = self.wallet_codes[rows], np.arange(len(self.wallets))
        left = Identities(codes, [self.wallet_keys[place] for place in kept.tolist()], kept)
        return replace(
            self,
            holdings=self.holdings[marks],
            amounts=self.amounts[rows],
            tokens=self.tokens.take(rows),
            first=self.first[kept],
            wallet_codes=codes,
            **_listed(self.wallets, left),
            known=self.known[kept],
            stale=self.stale[kept],
            assets=self.assets and self.assets.take(rows),
        )

    def could_hold(self) -> tuple[Codes, Codes]:
        """Tell on which blockchains a wallet could hold a token, as `candidates` does."""
        row_chains = self.chain_codes[self.wallet_codes]
        homes = self.assets.homes if self.assets else None
        return candidates(self.tokens, row_chains, self.chain_places, homes)


PositionsLike: TypeAlias = Union["pd.DataFrame", Positions]


def read_positions(
    holdings: PositionsLike, wallets: FetchLike | None = None, *, timed: bool = False
) -> Positions:
    """Tell wallets and tokens of holdings apart, unless that was done, and note who was asked.

    With ``timed`` a wallet of another snapshot is another wallet, of holdings and `wallets` both.
    """
    held = holdings if isinstance(holdings, Positions) else _held(holdings, timed=timed)
    if wallets is None:
        return held
    frame = wallets_given(wallets)
    require_columns(frame, _ASKED)
    asked = _owners(frame, timed=timed)
    marks = []
    for rows in (known_wallets(frame), stale_wallets(frame)):
        marks.append(np.zeros(len(asked.keys), dtype=bool))
        marks[-1][asked.codes[rows]] = True
    return replace(
        held,
        given=frame,
        first=asked.first,
        wallet_codes=_places(held.wallet_keys, asked)[held.wallet_codes],
        **_listed(frame, asked),
        asked=True,
        known=marks[0],
        stale=marks[1],
    )


def _held(holdings: pd.DataFrame, *, timed: bool) -> Positions:
    require_columns(holdings, _HOLDINGS)
    owners = _owners(holdings, timed=timed)
    certain = np.ones(len(owners.keys), dtype=bool)
    return Positions(
        holdings=holdings,
        amounts=amounts_of(holdings["amount"]),
        tokens=token_identities(holdings),
        given=holdings,
        first=owners.first,
        wallet_codes=owners.codes,
        **_listed(holdings, owners),
        asked=False,
        known=certain,
        stale=~certain,
    )


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
    """Give the wallets that are listed in a frame, and their blockchains."""
    named = {name: text_array(frame[name].array.take(wallets.first)) for name in _WALLET}
    codes, identifiers = pd.factorize(np.array([key[0] for key in wallets.keys], dtype=object))
    starts = np.unique(codes, return_index=True)[1]
    return {
        "wallets": pd.DataFrame(named),
        "wallet_keys": wallets.keys,
        "chains": [*named["blockchain"].take(starts)],
        "chain_codes": codes,
        "chain_places": {key: place for place, key in enumerate(identifiers)},
    }


def _places(held: list[TokenKey], asked: Identities) -> Codes:
    rows = {key: place for place, key in enumerate(asked.keys)}
    strangers = [key for key in held if key not in rows]
    if strangers:
        chain, address = strangers[0][:2]
        raise UnknownWalletError(
            f"{chain}.{address}",
            hint=f"`wallets` lacks {many(len(strangers), 'wallet')} of holdings: give one fetch",
        )
    return np.array([rows[key] for key in held], dtype=np.intp)


def snapshot_times(frame: pd.DataFrame) -> pd.DatetimeIndex:
    """Return the column ``snapshot`` of holdings or wallets, in UTC."""
    require_columns(frame, [_SNAPSHOT])
    return pd.DatetimeIndex(pd.to_datetime(frame[_SNAPSHOT], utc=True))


def token_columns(holdings: pd.DataFrame, tokens: Identities, places: Codes) -> dict[str, Any]:
    """Give the three columns that tell tokens, as their first rows have them; NA for place -1."""
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
