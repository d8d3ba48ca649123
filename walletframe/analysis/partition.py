"""How holdings are cut into groups, by token, wallet or blockchain, and how complete each group is.

A group is as complete as the wallets are known that could have held something of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from walletframe.errors import Argument, Either, SettingsError, Spelled
from walletframe.frames import ambiguous, count_array, shared_symbols, text_array, token_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from walletframe.frames import Codes, Positions

By: TypeAlias = Literal["token", "wallet", "blockchain", "symbol"]

_COMPLETENESS = ("wallets_ok", "wallets_stale", "wallets_asked")
_KINDS = ("token", "wallet", "blockchain", "symbol")


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
    if not given or any(kind not in _KINDS for kind in given):
        raise SettingsError(f"by: {by!r}", hint="token, wallet, blockchain, or a list of them")
    shared = "symbol" in given and shared_symbols(positions.holdings, positions.tokens)
    if shared:
        raise ambiguous(
            shared,
            lambda _: Spelled(
                Argument("by", Either('"token"', "token")),
                " keeps contracts apart; or leave out the rows of all but one",
            ),
        )
    return list(dict.fromkeys("token" if kind == "symbol" else kind for kind in given))


def cut(positions: Positions, kinds: list[str]) -> Partition:
    """Cut holdings into groups; each wallet or blockchain asked has one, even without rows."""
    by_wallet, by_chain = "wallet" in kinds, "blockchain" in kinds
    if by_wallet:
        row_owners, count = positions.wallet_codes, len(positions.wallets)
    elif by_chain:
        row_owners = positions.chain_codes[positions.wallet_codes]
        count = len(positions.chains)
    else:
        row_owners, count = np.zeros(len(positions.holdings), dtype=np.intp), 1
    wide = len(positions.tokens.keys) + 1
    row_tokens = positions.tokens.codes if "token" in kinds else -1
    first, pairs = pd.factorize(row_owners * wide + row_tokens + 1)
    owners, tokens = np.divmod(pairs, wide)
    if positions.asked and (by_wallet or by_chain):
        idle = np.setdiff1d(np.arange(count), owners)
        owners, tokens = np.append(owners, idle), np.append(tokens, np.zeros_like(idle))
    order = np.argsort(owners, kind="stable")
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    return Partition(kinds, ranks[first], owners[order], tokens[order] - 1)


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


def completeness(positions: Positions, groups: Partition) -> dict[str, Any]:
    """Count the wallets asked of each group, and those known; nothing where none were given."""
    if not positions.asked:
        return {}
    if "wallet" in groups.kinds:
        counted = _each(positions)[:, groups.owners]
    elif "blockchain" in groups.kinds:
        counted = _by_chain(positions)[:, groups.owners]
    else:
        counted = _of_tokens(positions)[:, groups.tokens]
    return _columns(counted)


def completeness_alike(positions: Positions, rows: int, token: int | None = None) -> dict[str, Any]:
    """Count all wallets asked, or those that could hold a token, alike in each of some rows."""
    if not positions.asked:
        return {}
    counted = _each(positions).sum(axis=1) if token is None else _of_tokens(positions)[:, token]
    return _columns(np.repeat(counted[:, np.newaxis], rows, axis=1))


def _columns(counted: Iterable[Codes]) -> dict[str, Any]:
    return dict(zip(_COMPLETENESS, map(count_array, counted), strict=True))


def _each(positions: Positions) -> Codes:
    """Give, of each wallet, whether it is known, known as of long ago, and asked: all are."""
    asked = np.ones(len(positions.known), dtype=np.intp)
    return np.stack([positions.known, positions.stale, asked]).astype(np.intp)


def _by_chain(positions: Positions) -> Codes:
    wide, chains = len(positions.chains), positions.chain_codes
    rows = [np.bincount(chains, weights=row, minlength=wide) for row in _each(positions)]
    return np.stack(rows).astype(np.intp)


def _of_tokens(positions: Positions) -> Codes:
    """Count over the token's own blockchain, and all where a wallet holds it."""
    tokens, chains = positions.could_hold()
    count = len(positions.tokens.keys)
    rows = [
        np.bincount(tokens, weights=row[chains], minlength=count) for row in _by_chain(positions)
    ]
    return np.stack(rows).astype(np.intp)
