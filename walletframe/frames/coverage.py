"""How complete groups are: as far as the wallets are known that could hold something of them.

Of a token, a wallet is known if it is at all, if no amount of the token in it is unreadable, and if
none of its balances is of an unknown token. An unknown token is the same as no other: of it the
wallet is known that has it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.frames.contract import count_array
from walletframe.frames.groups import ADDED

if TYPE_CHECKING:
    from walletframe.frames.groups import Groups
    from walletframe.frames.identity import Codes, Mask
    from walletframe.frames.positions import Positions

_COLUMNS = ("wallets_ok", "wallets_stale", "wallets_asked")


def completeness(positions: Positions, groups: Groups, unread: Codes | int = 0) -> dict[str, Any]:
    """Count the wallets asked of each group, and those known; nothing where none were given.

    By token or asset, too, these are the wallets of the group that could hold it, and known are
    those of which its amount is: less `unread`, as `unread_wallets` counts them.
    """
    if not positions.asked:
        return {}
    states = _states(positions)
    if ADDED.isdisjoint(groups.names):
        return _named(_in_groups(states, groups))
    hidden = states[:2] * positions.hides
    if hidden.any():
        states = np.concatenate([states, hidden])
    if {"wallet", "blockchain"}.isdisjoint(groups.names):
        counted = _able(positions, groups, states)
    else:
        counted = _in_groups(states, groups)
    if hidden.any():
        counted[:2] -= counted[3:] * ~np.append(positions.tokens.unknown, False)[groups.tokens]
    counted[:2] -= unread
    return _named(counted)


def unread_wallets(positions: Positions, groups: Groups) -> Codes:
    """Count the wallets that are known, and as of long ago, but have an unreadable amount there.

    Those that hide an unknown token, which may be that of the group, are none of them.
    """
    rows = np.flatnonzero(positions.amounts._amounts().missing)  # noqa: SLF001 - of ours
    if not len(rows):
        return np.zeros((2, len(groups)), dtype=np.intp)
    owners, tokens = positions.wallet_codes[rows], positions.tokens
    told = ~positions.hides[owners] | tokens.unknown[tokens.codes[rows]]
    pairs = pd.unique(groups.codes[rows[told]] * len(positions.wallets) + owners[told])
    codes, owners = np.divmod(pairs, len(positions.wallets))
    return _added(_states(positions)[:2, owners], codes, len(groups))


def of_one_token(positions: Positions, rows: Mask) -> Positions:
    """Take a wallet for known only where its amount of one token is; `rows` are those of it."""
    lost = positions.hides.copy()
    lost[positions.wallet_codes[positions.amounts.isna() & rows]] = True
    return replace(positions, known=positions.known & ~lost, stale=positions.stale & ~lost)


def _able(positions: Positions, groups: Groups, counted: Codes) -> Codes:
    """Add up in each group what is counted of the wallets that could hold its token."""
    tokens, chains = positions.could_hold()
    sizes = np.bincount(tokens, minlength=len(positions.tokens.keys))
    begins, chains = np.cumsum(sizes) - sizes, chains[np.argsort(tokens, kind="stable")]
    some = np.flatnonzero(groups.tokens >= 0)
    reach = sizes[groups.tokens[some]]
    members = np.repeat(some, reach)  # a group once for each blockchain where it could be held
    steps = np.arange(len(members)) - np.repeat(np.cumsum(reach) - reach, reach)
    here = chains[begins[groups.tokens[members]] + steps]

    wide = len(positions.chains)
    cells = groups.owner_codes * wide + positions.chain_codes
    known_cells, places = np.unique(cells, return_inverse=True)
    wanted = groups.owners[members] * wide + here
    found = np.searchsorted(known_cells, wanted).clip(max=max(len(known_cells) - 1, 0))
    there = known_cells[found] == wanted
    counts = _added(counted, places, len(known_cells))[:, found[there]]
    added = _added(counts, members[there], len(groups))
    empty = groups.tokens < 0
    added[:, empty] = _in_groups(counted, groups)[:, empty]
    return added


def completeness_among(positions: Positions, groups: Groups, wallets: Mask) -> dict[str, Any]:
    """Count some of the wallets, and those known of them, in each group."""
    if not positions.asked:
        return {}
    return _named(_in_groups(_states(positions) * wallets, groups))


def completeness_alike(positions: Positions, wallets: Mask, rows: int) -> dict[str, Any]:
    """Count some of the wallets, and those known of them, alike in each of some rows."""
    if not positions.asked:
        return {}
    counted = _states(positions)[:, wallets].sum(axis=1, keepdims=True)
    return _named(counted.repeat(rows, axis=1))


def _in_groups(counted: Codes, groups: Groups) -> Codes:
    """Add up in each group what is counted of its wallets."""
    return _added(counted, groups.owner_codes, groups.owned)[:, groups.owners]


def _states(positions: Positions) -> Codes:
    """Return of each wallet whether it is known, stale, and requested, which all are."""
    asked = np.ones(len(positions.known), dtype=np.intp)
    return np.stack([positions.known, positions.stale, asked])


def _added(counted: Codes, codes: Codes, count: int) -> Codes:
    rows = [np.bincount(codes, weights=row, minlength=count) for row in counted]
    return np.stack(rows).astype(np.intp)


def _named(counted: Codes) -> dict[str, Any]:
    return dict(zip(_COLUMNS, map(count_array, counted[:3]), strict=True))
