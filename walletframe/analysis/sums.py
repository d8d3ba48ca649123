"""Totals of holdings: cut into groups, added up exactly, and how complete each group is.

A group is as complete as the wallets are known that could have held something of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.floats import float_sums
from walletframe.amounts.segments import Segments, sums
from walletframe.errors import Argument, Either, PricesError, SettingsError, Spelled
from walletframe.frames import (
    ambiguous,
    count_array,
    read_positions,
    shared_symbols,
    text_array,
    token_columns,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.frames import Codes, FetchLike, Mask, Positions, PositionsLike

By: TypeAlias = Literal["token", "wallet", "blockchain", "symbol"]

_COMPLETENESS = ("wallets_ok", "wallets_stale", "wallets_asked")
_APART = Spelled(
    Argument("by", Either('"token"', "token")),
    " keeps contracts apart; or leave out the rows of all but one",
)


def totals(
    holdings: PositionsLike, by: By | Sequence[By] = "token", *, wallets: FetchLike | None = None
) -> pd.DataFrame:
    """Add up holdings by token, wallet or blockchain, and say how complete that is."""
    positions = read_positions(holdings, wallets)
    return totals_of(positions, _read_kinds(by, positions))


def totals_of(positions: Positions, kinds: list[str]) -> pd.DataFrame:
    """Add up as `totals` does; by token alone, in the order of ``positions.tokens``."""
    groups = _cut(positions, kinds)
    known = _completeness(positions, groups)
    balances = np.bincount(groups.codes, minlength=len(groups))
    unknown = (balances == 0) & (np.asarray(known["wallets_ok"] == 0) if known else False)
    return pd.DataFrame(
        {
            **_group_columns(positions, groups),
            **_amounts(positions, groups, balances, unknown),
            **_values(positions, groups, balances, unknown),
            **known,
        }
    )


@dataclass(frozen=True, slots=True)
class _Partition:
    """Groups of holdings, by wallet or blockchain first, then in the order of the first row."""

    kinds: list[str]  # of "token", "wallet" and "blockchain", in the order asked
    codes: Codes  # the group of each row
    owners: Codes  # the place of each group's wallet, else of its blockchain, else 0
    tokens: Codes  # the place of each group's token, -1 for none

    def __len__(self) -> int:
        return len(self.owners)


def _read_kinds(by: By | Sequence[By], positions: Positions) -> list[str]:
    """Check what to cut by; "symbol" is "token" where no symbol is shared."""
    given: list[Any] = [by] if isinstance(by, str) else list(by)
    if not given or any(kind not in get_args(By) for kind in given):
        raise SettingsError(f"by: {by!r}", hint="token, wallet, blockchain, or a list of them")
    if "symbol" in given and (shared := shared_symbols(positions.holdings, positions.tokens)):
        raise ambiguous(shared, lambda _: _APART)
    return list(dict.fromkeys("token" if kind == "symbol" else kind for kind in given))


def _cut(positions: Positions, kinds: list[str]) -> _Partition:
    """Cut holdings into groups; each wallet or blockchain asked has one, even without rows."""
    row_tokens, count = positions.tokens.codes, len(positions.tokens.keys)
    if kinds == ["token"]:
        return _Partition(kinds, row_tokens, np.zeros(count, dtype=np.intp), np.arange(count))
    row_owners, owned = positions.wallet_codes, len(positions.wallets)
    if "wallet" not in kinds:
        row_owners, owned = positions.chain_codes[row_owners], len(positions.chains)
    if "token" not in kinds:
        return _Partition(kinds, row_owners, np.arange(owned), np.full(owned, -1))
    first, pairs = pd.factorize(row_owners * count + row_tokens)
    owners, tokens = np.divmod(pairs, max(count, 1))
    idle = np.flatnonzero(np.bincount(owners, minlength=owned) == 0)
    owners, tokens = np.append(owners, idle), np.append(tokens, np.full(len(idle), -1))
    order = np.argsort(owners, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return _Partition(kinds, ranks[first], owners[order], tokens[order])


def _group_columns(positions: Positions, groups: _Partition) -> dict[str, Any]:
    """Give the columns that name the groups, in the order of the kinds."""
    columns: dict[str, Any] = {}
    for kind in groups.kinds:
        if kind == "token":
            columns |= token_columns(positions.holdings, positions.tokens, groups.tokens)
        elif kind == "wallet":
            for name in ("blockchain", "address"):
                columns[name] = positions.wallets[name].array.take(groups.owners)
        elif "wallet" not in groups.kinds:
            columns["blockchain"] = text_array(np.array(positions.chains, object)[groups.owners])
    return columns


def _amounts(
    positions: Positions, groups: _Partition, balances: Codes, unknown: Mask
) -> dict[str, Any]:
    """Add up the amounts of tokens, and count; NA where nothing is known of a group."""
    exact = positions.amounts.exact()
    added = Segments(exact, groups.codes, len(groups))
    none_known = unknown | ((balances > 0) & (added.sizes == 0))
    held = np.flatnonzero(exact.integers > 0)

    def counted(members: Codes) -> Any:
        wide = int(members.max(initial=0)) + 1
        pairs = distinct(groups.codes[held] * wide + members[held])
        return count_array(np.bincount(pairs // wide, minlength=len(groups)), none_known)

    columns: dict[str, Any] = {}
    if "token" in groups.kinds:
        columns["amount"] = AmountArray(sums(added), added.sizes == 0, exact.scale)
    else:
        columns["tokens"] = counted(positions.tokens.codes)
    if "wallet" not in groups.kinds:
        columns["holders"] = counted(positions.wallet_codes)
    columns["balances"] = count_array(balances, unknown)
    columns["amount_na"] = count_array(balances - added.sizes, unknown)
    return columns


def _values(
    positions: Positions, groups: _Partition, balances: Codes, unknown: Mask
) -> dict[str, Any]:
    """Add up the values of holdings that have any, in their one currency."""
    holdings, count = positions.holdings, len(groups)
    if "value" not in holdings.columns:
        return {}
    currencies = holdings["currency"].unique().tolist() if "currency" in holdings.columns else []
    if len(currencies) > 1:
        raise PricesError(
            f"the values are in {len(currencies)} currencies: {currencies}",
            hint="value all holdings in one currency, or add up each currency's rows separately",
        )
    values = holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan)
    summed, sizes = float_sums(values, groups.codes, count)
    summed[unknown | ((balances > 0) & (sizes == 0))] = np.nan
    unpriced = np.isnan(values) & ~positions.amounts.isna()
    return {
        "value": summed,
        "currency": text_array((currencies or [None]) * count),
        "unpriced": count_array(np.bincount(groups.codes[unpriced], minlength=count), unknown),
    }


def distinct(codes: Codes) -> Codes:
    """Return each number once, ascending: sorting takes a fourth of what hashing does."""
    ordered = np.sort(codes)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def _completeness(positions: Positions, groups: _Partition) -> dict[str, Any]:
    """Count the wallets asked of each group, and those known; nothing where none were given."""
    if not positions.asked:
        return {}
    counted = _states(positions)
    if "wallet" in groups.kinds:
        return _columns(counted[:, groups.owners])
    counted = _added(counted, positions.chain_codes, len(positions.chains))
    if "blockchain" in groups.kinds:
        return _columns(counted[:, groups.owners])
    tokens, chains = positions.could_hold()
    return _columns(_added(counted[:, chains], tokens, len(groups)))


def completeness_alike(positions: Positions, wallets: Mask, rows: int) -> dict[str, Any]:
    """Count some of the wallets, and those known of them, alike in each of some rows."""
    if not positions.asked:
        return {}
    counted = _states(positions)[:, wallets].sum(axis=1, keepdims=True)
    return _columns(counted.repeat(rows, axis=1))


def _states(positions: Positions) -> Codes:
    """Give, of each wallet, whether it is known, known as of long ago, and asked: all are."""
    asked = np.ones(len(positions.known), dtype=np.intp)
    return np.stack([positions.known, positions.stale, asked])


def _added(counted: Codes, codes: Codes, count: int) -> Codes:
    rows = [np.bincount(codes, weights=row, minlength=count) for row in counted]
    return np.stack(rows).astype(np.intp)


def _columns(counted: Codes) -> dict[str, Any]:
    return dict(zip(_COMPLETENESS, map(count_array, counted), strict=True))
