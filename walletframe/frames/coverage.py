"""How complete groups are: as far as the wallets are known that could hold something of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.frames.contract import count_array
from walletframe.frames.groups import ADDED

if TYPE_CHECKING:
    from walletframe.frames.groups import Groups
    from walletframe.frames.identity import Codes, Mask
    from walletframe.frames.positions import Positions

_COLUMNS = ("wallets_ok", "wallets_stale", "wallets_asked")


def completeness(positions: Positions, groups: Groups) -> dict[str, Any]:
    """Count the wallets asked of each group, and those known; nothing where none were given.

    By token or asset, too, these are the wallets of the group that could hold it.
    """
    everyone = np.ones(len(positions.wallets), dtype=bool)
    names = {*groups.names}
    if ADDED.isdisjoint(names) or {"wallet", "blockchain"} & names:
        return completeness_among(positions, groups, everyone)
    if not positions.asked:
        return {}
    tokens, chains = positions.could_hold()
    sizes = np.bincount(tokens, minlength=len(positions.tokens.keys))
    begins, chains = np.cumsum(sizes) - sizes, chains[np.argsort(tokens, kind="stable")]
    some = np.flatnonzero(groups.tokens >= 0)
    reach = sizes[groups.tokens[some]]
    members = np.repeat(some, reach)  # a group once for each blockchain where it could be held
    steps = np.arange(len(members)) - np.repeat(np.cumsum(reach) - reach, reach)
    here = chains[begins[groups.tokens[members]] + steps]

    wide, counted = len(positions.chains), _states(positions)
    cells = groups.owner_codes * wide + positions.chain_codes
    known_cells, places = np.unique(cells, return_inverse=True)
    wanted = groups.owners[members] * wide + here
    found = np.searchsorted(known_cells, wanted).clip(max=max(len(known_cells) - 1, 0))
    there = known_cells[found] == wanted
    counts = _added(counted, places, len(known_cells))[:, found[there]]
    added = _added(counts, members[there], len(groups))
    empty = groups.tokens < 0
    added[:, empty] = _added(counted, groups.owner_codes, groups.owned)[:, groups.owners[empty]]
    return _named(added)


def completeness_among(positions: Positions, groups: Groups, wallets: Mask) -> dict[str, Any]:
    """Count some of the wallets, and those known of them, in each group."""
    if not positions.asked:
        return {}
    counted = _added(_states(positions)[:, wallets], groups.owner_codes[wallets], groups.owned)
    return _named(counted[:, groups.owners])


def completeness_alike(positions: Positions, wallets: Mask, rows: int) -> dict[str, Any]:
    """Count some of the wallets, and those known of them, alike in each of some rows."""
    if not positions.asked:
        return {}
    counted = _states(positions)[:, wallets].sum(axis=1, keepdims=True)
    return _named(counted.repeat(rows, axis=1))


def _states(positions: Positions) -> Codes:
    """Give, of each wallet, whether it is known, known as of long ago, and asked: all are."""
    asked = np.ones(len(positions.known), dtype=np.intp)
    return np.stack([positions.known, positions.stale, asked])


def _added(counted: Codes, codes: Codes, count: int) -> Codes:
    rows = [np.bincount(codes, weights=row, minlength=count) for row in counted]
    return np.stack(rows).astype(np.intp)


def _named(counted: Codes) -> dict[str, Any]:
    return dict(zip(_COLUMNS, map(count_array, counted), strict=True))
