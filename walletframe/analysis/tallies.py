"""What rows add up to in groups, so that tallies of different wallets add up to that of all.

A part's rows are tallied, tallies are merged, and a table shows them: `sums` does so of one part,
`parted` of many. Each wallet has to be in one part with all of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.amounts.floats import FloatTotals, float_totals, joined_totals
from walletframe.amounts.integers import rescale
from walletframe.amounts.words import added, positive
from walletframe.errors import PricesError
from walletframe.frames import ADDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from walletframe.amounts.integers import Integers
    from walletframe.frames import Codes, Groups, Positions

_SHORT = 2**31


class Pairs(NamedTuple):
    """Codes with members, each pair once, ascending."""

    numbers: Codes  # the code times `wide`, and the member
    wide: int

    @property
    def codes(self) -> Codes:
        """The code of each pair."""
        return self.numbers // self.wide

    @property
    def members(self) -> Codes:
        """The member of each pair."""
        return self.numbers % self.wide


@dataclass(frozen=True, slots=True)
class Worth:
    """The values of g groups, and how many balances of a known amount have none."""

    totals: FloatTotals
    unpriced: Codes
    currencies: list[Any]  # one at most


@dataclass(frozen=True, slots=True)
class Tally:
    """What n rows add up to in g groups."""

    units: Integers | None  # of each group the sum of its known amounts, if these add up
    scale: int
    sizes: Codes  # how many of its amounts are known
    balances: Codes  # how many rows it has
    holders: Codes | None  # how many wallets hold more than 0 there; None by wallet
    members: dict[str, Pairs]  # of a group and a token, or what else is counted, each once
    worth: Worth | None

    def distinct(self) -> dict[str, Codes]:
        """Count what each group holds more than 0 of, and its holders."""
        count = len(self.balances)
        found = {
            name: np.bincount(pairs.codes, minlength=count) for name, pairs in self.members.items()
        }
        return found if self.holders is None else found | {"holders": self.holders}


def tally_of(positions: Positions, groups: Groups) -> Tally:
    """Add up the rows of each group."""
    amounts, count = positions.amounts._amounts(), len(groups)  # noqa: SLF001 - of ours
    units, scale, known = None, 0, groups.codes
    if ADDED.isdisjoint(groups.names):
        known = known[~amounts.missing] if amounts.missing.any() else known
        sizes = np.bincount(known, minlength=count)
    else:
        units, scale, sizes = added(amounts, groups.codes, count)
    held = np.flatnonzero(positive(amounts))
    codes = groups.codes[held]
    members, holders = {}, None
    if ADDED.isdisjoint(groups.names):
        members["tokens"] = distinct_pairs(codes, positions.tokens.codes[held])
    elif "asset" in groups.names:
        for name, each in spread(positions).items():
            members[name] = distinct_pairs(codes, each[held])
    if "wallet" not in groups.names:
        holders = distinct_counts(codes, positions.wallet_codes[held], count)
    return Tally(
        units=units,
        scale=scale,
        sizes=sizes,
        balances=np.bincount(groups.codes, minlength=count),
        holders=holders,
        members=members,
        worth=_worth(positions, groups),
    )


def merged(
    tallies: Sequence[Tally], ids: Codes, count: int, members: Mapping[str, Sequence[Codes]]
) -> Tally:
    """Add up tallies whose groups, one tally behind the other, have these numbers among `count`.

    `members` has the numbers, among all, of what each tally has counted by its own.
    """
    scale, units = max(tally.scale for tally in tallies), None
    known = [(tally.units, tally.scale) for tally in tallies if tally.units is not None]
    if known:
        units = np.full(count, 0, dtype=object)
        np.add.at(units, ids, np.concatenate([rescale(*each, scale) for each in known]))

    def counted(counts: Sequence[Codes]) -> Codes:
        weights = np.concatenate(counts)
        return np.bincount(ids, weights=weights, minlength=count).astype(np.intp)

    ends = np.cumsum([len(tally.balances) for tally in tallies])
    own = np.split(ids, ends[:-1])
    pairs = {}
    for name, numbers in members.items():
        found = [tally.members[name] for tally in tallies]
        pairs[name] = distinct_pairs(
            np.concatenate([mine[each.codes] for mine, each in zip(own, found, strict=True)]),
            np.concatenate([all_[each.members] for all_, each in zip(numbers, found, strict=True)]),
        )
    holders = [tally.holders for tally in tallies if tally.holders is not None]
    worths = [tally.worth for tally in tallies if tally.worth is not None]
    worth = None
    if worths:
        totals = joined_totals([each.totals for each in worths]).regrouped(ids, count)
        currencies = _one_currency(name for each in worths for name in each.currencies)
        worth = Worth(totals, counted([each.unpriced for each in worths]), currencies)
    return Tally(
        units,
        scale,
        counted([tally.sizes for tally in tallies]),
        counted([tally.balances for tally in tallies]),
        counted(holders) if holders else None,
        pairs,
        worth,
    )


def _worth(positions: Positions, groups: Groups) -> Worth | None:
    """Add up the values of holdings that have any, in their one currency."""
    holdings, count = positions.holdings, len(groups)
    if "value" not in holdings.columns:
        return None
    currencies = _one_currency(holdings["currency"].unique() if "currency" in holdings else [])
    values = holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan)
    unpriced = groups.codes[np.isnan(values) & ~positions.amounts.isna()]
    totals = float_totals(values, groups.codes, count)
    return Worth(totals, np.bincount(unpriced, minlength=count), currencies)


def _one_currency(named: Iterable[Any]) -> list[Any]:
    """Return the one currency that values are in, nan where it is missing, or none."""
    currencies = list(dict.fromkeys(np.nan if pd.isna(name) else name for name in named))
    if len(currencies) > 1:
        raise PricesError(
            f"the values are in {len(currencies)} currencies: {currencies}",
            hint="value all holdings in one currency, or add up each currency's rows separately",
        )
    return currencies


def spread(positions: Positions) -> dict[str, Codes]:
    """Give what an asset is spread over, as numbers for each row: contracts, their blockchains."""
    contracts = positions.contracts.codes
    return {"contracts": contracts, "blockchains": chains_of(positions)[contracts]}


def chains_of(positions: Positions) -> Codes:
    """Give of each contract its blockchain, as numbers in the order in which these come."""
    keys = positions.contracts.keys
    return pd.factorize(np.array([key[0] for key in keys], dtype=object))[0]


def distinct_counts(codes: Codes, members: Codes, count: int) -> Codes:
    """Count the distinct members that have each code."""
    return np.bincount(distinct_pairs(codes, members).codes, minlength=count)


def distinct_pairs(codes: Codes, members: Codes) -> Pairs:
    """Find each pair of a code and a member."""
    wide = int(members.max(initial=0)) + 1
    is_short = (int(codes.max(initial=0)) + 1) * wide < _SHORT  # which takes half as long to sort
    numbers: Codes = codes.astype(np.dtype(np.int32 if is_short else np.int64))
    numbers *= wide
    numbers += members
    return Pairs(distinct(numbers), wide)


def distinct(codes: Codes) -> Codes:
    """Return each number once, ascending: sorting takes a fourth of what hashing does."""
    ordered = np.sort(codes)
    found: Codes = ordered[np.append(True, ordered[1:] > ordered[:-1])[: len(ordered)]]
    return found
