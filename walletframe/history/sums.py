"""Changes added up: of each token or asset, by the owner of the wallets or whatever names them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.errors import Argument, SettingsError, Spelled
from walletframe.frames import ADDED, completeness, group, kept_names, names_of, read_groups
from walletframe.history.grid import OK
from walletframe.text import shown

if TYPE_CHECKING:
    import numpy.typing as npt

    from walletframe.frames import AssetsLike, By
    from walletframe.history.grid import Grid, Places

    Sums = npt.NDArray[np.object_]

_TOKEN = ("symbol", "token_address", "token_blockchain")
_OF_WALLETS = ("wallet", "blockchain")


def sums_of_changes(
    cells: Grid,
    wallets: pd.DataFrame,
    by: By,
    *,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> tuple[pd.DataFrame, Sums, Places, Places]:
    """Add up two times by token or asset, and by what `wallets`, all rows of both, tell of theirs.

    Gives the labels of those that changed or may have, the sums of the wallets that are known at
    both times as two columns of integers, how many these are, and how many could hold some.
    """
    who = _latest(wallets, cells.who.codes[: len(wallets)])
    names = _checked(by, who)
    rows = np.flatnonzero(cells.tokens >= 0)
    pairs = cells.labels(rows).assign(amount=cells.amounts(cells.integers[rows, 1], rows >= 0))
    positions, groups = read_groups(pairs, names, who, assets=assets, bridged=bridged)
    if of_wallets := [name for name in names if name not in ADDED]:
        owners = group(positions, of_wallets)
    else:
        owners = replace(groups, names=[], owners=np.arange(1), columns={})
    whose = cells.who.codes[cells.wallet_rows]  # of each pair its wallet, by its row in `who`
    codes = len(groups) + owners.owner_codes[whose]  # what has no token is a group of its owners
    codes[rows] = groups.codes
    count, known = len(groups) + len(owners), (cells.status == OK).all(axis=1)
    partial = np.unique(codes[~known] * len(who) + whose[~known])  # a wallet counts as a whole
    known &= ~np.isin(codes * len(who) + whose, partial)
    sums = np.full((count, 2), 0, dtype=object)
    np.add.at(sums, codes[known], cells.integers[known])

    sure = (cells.wallet_status == OK).all(axis=1)
    positions = replace(positions, known=sure, stale=np.zeros_like(sure))
    counted = [completeness(positions, each) for each in (groups, owners)]
    able, some = (
        np.concatenate([np.asarray(each[name], dtype=np.intp) for each in counted])
        for name in ("wallets_asked", "wallets_ok")
    )
    unsure, lost = (partial // max(len(who), 1)), sure[partial % max(len(who), 1)]
    some -= np.bincount(unsure[lost], minlength=count)
    odd = np.bincount(unsure, minlength=count)
    order = np.argsort(np.append(groups.owners, owners.owners), kind="stable")
    told = order[((odd > 0) | (sums[:, 0] != sums[:, 1]))[order]]
    nameless = owners.labels.reindex(range(len(owners)))
    labels = pd.concat([groups.labels, nameless], ignore_index=True)
    tokens = [name for name in _TOKEN if name in labels]
    labels = labels[[*(name for name in labels if name not in tokens), *tokens]]
    return labels.take(told).reset_index(drop=True), sums[told], some[told], able[told]


def _latest(wallets: pd.DataFrame, codes: Places) -> pd.DataFrame:
    """Give one row for each wallet, with the last label that is told of it."""
    return wallets.groupby(codes).last().astype(wallets.dtypes)


def _checked(by: By, wallets: pd.DataFrame) -> list[str]:
    """Check what to add up by; tokens come last, unless assets stand in their place."""
    names = names_of(by)
    kept = kept_names(wallets)
    if not names or any(name not in {*ADDED, *_OF_WALLETS, *kept} for name in names):
        more = f" ({', '.join(map(shown, kept))})" if kept else ""
        said = f" as token, asset, wallet, blockchain or what wallets keep{more}"
        raise SettingsError(f"by: {by!r}", hint=Spelled("give ", Argument("by"), said))
    of_wallets = [name for name in names if name not in ADDED]
    return [
        *of_wallets,
        *(["asset"] if "asset" in names else []),
        *(["token"] if "token" in names or "asset" not in names else []),
    ]
