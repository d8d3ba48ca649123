"""How holdings are cut into groups, by token, wallet or blockchain, and how complete each group is.

A group is as complete as the wallets are known that could have held something of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from walletframe.errors import Argument, Either, SettingsError, Spelled
from walletframe.frames import ambiguous, count_array, shared_symbols, text_array, token_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.frames import Codes, Mask, Positions

By: TypeAlias = Literal["token", "wallet", "blockchain", "symbol"]

_COMPLETENESS = ("wallets_ok", "wallets_stale", "wallets_asked")
_APART = Spelled(
    Argument("by", Either('"token"', "token")),
    " keeps contracts apart; or leave out the rows of all but one",
)


@dataclass(frozen=True, slots=True)
class Partition:
    """Groups of holdings, by wallet or blockchain first, then in the order of the first row."""

    kinds: list[str]  # of "token", "wallet" and "blockchain", in the order asked
    codes: Codes  # the group of each row
    owners: Codes  # the place of each group's wallet, else of its blockchain, else 0
    tokens: Codes  # the place of each group's token, -1 for none

    def __len__(self) -> int:
        return len(self.owners)


def read_kinds(by: By | Sequence[By], positions: Positions) -> list[str]:
    """Check what to cut by; "symbol" is "token" where no symbol is shared."""
    given: list[Any] = [by] if isinstance(by, str) else list(by)
    if not given or any(kind not in get_args(By) for kind in given):
        raise SettingsError(f"by: {by!r}", hint="token, wallet, blockchain, or a list of them")
    if "symbol" in given and (shared := shared_symbols(positions.holdings, positions.tokens)):
        raise ambiguous(shared, lambda _: _APART)
    return list(dict.fromkeys("token" if kind == "symbol" else kind for kind in given))


def cut(positions: Positions, kinds: list[str]) -> Partition:
    """Cut holdings into groups; each wallet or blockchain asked has one, even without rows."""
    row_tokens, count = positions.tokens.codes, len(positions.tokens.keys)
    if kinds == ["token"]:
        return Partition(kinds, row_tokens, np.zeros(count, dtype=np.intp), np.arange(count))
    row_owners, owned = positions.wallet_codes, len(positions.wallets)
    if "wallet" not in kinds:
        row_owners, owned = positions.chain_codes[row_owners], len(positions.chains)
    if "token" not in kinds:
        return Partition(kinds, row_owners, np.arange(owned), np.full(owned, -1))
    first, pairs = pd.factorize(row_owners * count + row_tokens)
    owners, tokens = np.divmod(pairs, max(count, 1))
    idle = np.flatnonzero(np.bincount(owners, minlength=owned) == 0)
    owners, tokens = np.append(owners, idle), np.append(tokens, np.full(len(idle), -1))
    order = np.argsort(owners, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return Partition(kinds, ranks[first], owners[order], tokens[order])


def group_columns(positions: Positions, groups: Partition) -> dict[str, Any]:
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


def distinct(codes: Codes) -> Codes:
    """Return each number once, ascending: sorting takes a fourth of what hashing does."""
    ordered = np.sort(codes)
    return ordered[np.diff(ordered, prepend=-1) > 0]


def completeness(positions: Positions, groups: Partition) -> dict[str, Any]:
    """Count the wallets asked of each group, and those known; nothing where none were given.

    Of a token these are the wallets on its own blockchain, and on all where one holds it.
    """
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
