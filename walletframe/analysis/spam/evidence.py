"""What rows of holdings give away of their tokens, beside symbols: amounts, and prices.

Of rows that are read part by part, each way in which a token is written leaves one, with all that
its rows gave away; each row of an unknown token stays, since it is of a token of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from walletframe.amounts.integers import Exact, rescale
from walletframe.amounts.words import Added, added, reaching
from walletframe.frames import (
    Identities,
    amounts_of,
    is_unknown,
    joined_ways,
    require_columns,
    text_array,
    token_identities,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.amounts import AmountArray
    from walletframe.frames import Block, Codes, Mask, Ways

_NEEDED = ("symbol", "token_blockchain", "token_address", "amount", "raw_amount")
_ABSURD, _ABSURD_DIGITS = 10**18, 60  # whole tokens, and digits in base units


@dataclass(frozen=True, slots=True)
class Evidence:
    """What n rows give away."""

    holdings: pd.DataFrame  # whose they are
    tokens: Identities
    amounts: Exact  # their sums where several rows left one
    absurd: Mask  # whether a balance is one that nobody has
    priced: Mask  # whether the service gives a price


class Part(NamedTuple):
    """What the rows of some wallets give away, those of one way together."""

    ways: Ways  # of n rows
    rows: Codes  # of each, its place among all
    sums: Added
    absurd: Mask
    priced: Mask
    counts: Codes  # how many rows each stands for


def evidence_of(holdings: pd.DataFrame) -> Evidence:
    """Read what holdings give away, row by row."""
    require_columns(holdings, _NEEDED)
    tokens, amounts = token_identities(holdings), amounts_of(holdings["amount"])
    absurd = _absurd(holdings, amounts)
    return Evidence(holdings, tokens, amounts.exact(), absurd, _priced(holdings))


def part_of(block: Block) -> Part:
    """Read what a block gives away."""
    holdings, tokens, ways = block.positions.holdings, block.positions.tokens, block.ways
    unknown = np.array([is_unknown(key) for key in tokens.keys], dtype=bool)[tokens.codes]
    marks = unknown.copy()
    marks[ways.first] = True
    kept = np.flatnonzero(marks)
    ids = np.searchsorted(kept, ways.first)[ways.codes]
    ids[unknown] = np.searchsorted(kept, np.flatnonzero(unknown))
    amounts, count = block.positions.amounts, len(kept)
    absurd = np.bincount(ids[_absurd(holdings, amounts)], minlength=count) > 0
    return Part(
        ways=ways.take(kept),
        rows=block.rows[kept],
        sums=added(amounts._amounts(), ids, count),  # noqa: SLF001 - of ours
        absurd=absurd,
        priced=np.bincount(ids[_priced(holdings)], minlength=count) > 0,
        counts=np.bincount(ids, minlength=count),
    )


def merge(parts: Sequence[Part]) -> Part:
    """Make one part of several."""
    rows = np.concatenate([part.rows for part in parts])
    order = np.argsort(rows)
    unknown = np.concatenate([part.ways.unknown[part.ways.codes] for part in parts])[order]
    own = np.where(unknown, np.cumsum(unknown), 0)
    ways = joined_ways([part.ways for part in parts], order, (own, int(unknown.sum()) + 1))
    count, scale = len(ways.first), max(part.sums.scale for part in parts)
    units = [rescale(part.sums.units, part.sums.scale, scale) for part in parts]
    totals = np.full(count, 0, dtype=object)
    np.add.at(totals, ways.codes, np.concatenate(units)[order])

    def counted(numbers: list[Codes] | list[Mask]) -> Codes:
        weights = np.concatenate(numbers)[order]
        return np.bincount(ways.codes, weights=weights, minlength=count).astype(np.intp)

    return Part(
        ways=ways.take(ways.first),
        rows=rows[order][ways.first],
        sums=Added(totals, scale, counted([part.sums.sizes for part in parts])),
        absurd=counted([part.absurd for part in parts]) > 0,
        priced=counted([part.priced for part in parts]) > 0,
        counts=counted([part.counts for part in parts]),
    )


def evidence_of_part(part: Part, wallets: pd.DataFrame) -> Evidence:
    """Show what a part with all wallets gives away, a row for each way."""
    columns = part.ways.columns(wallets)
    holdings = pd.DataFrame({name: text_array(column) for name, column in columns.items()})
    amounts = Exact(part.sums.units, part.sums.sizes == 0, part.sums.scale)
    return Evidence(holdings, part.ways.identities(), amounts, part.absurd, part.priced)


def _absurd(holdings: pd.DataFrame, amounts: AmountArray) -> Mask:
    digits = holdings["raw_amount"].astype("str").str.len().to_numpy(dtype=float, na_value=0)
    found = reaching(amounts._amounts(), _ABSURD)  # noqa: SLF001 - of ours
    return np.asarray(found | (digits >= _ABSURD_DIGITS))


def _priced(holdings: pd.DataFrame) -> Mask:
    if "price" not in holdings.columns:
        return np.zeros(len(holdings), dtype=bool)
    prices = pd.to_numeric(holdings["price"], errors="coerce").to_numpy(float, na_value=np.nan)
    return np.asarray(prices > 0)
