"""Two fetches side by side: whether they can be compared, of when, and what one of them lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.errors import InputWarning, SnapshotError, Spelled
from walletframe.frames import (
    COMPARED,
    SIMULATED,
    Source,
    WalletDetails,
    is_simulated,
    known_wallets,
    require_columns,
    wallet_identities,
)
from walletframe.history.folder import LISTED
from walletframe.history.grid import OK
from walletframe.history.tables import SNAPSHOT
from walletframe.notice import notify
from walletframe.numerals import many

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from walletframe.history.grid import Grid

_WALLET = ["blockchain", "address"]


def comparable(before: WalletDetails, after: WalletDetails) -> tuple[WalletDetails, WalletDetails]:
    """Return two fetches in which each answer is of one time alone.

    Refuses real wallets beside simulated ones, and those that were not asked in between.
    """
    frames = before.wallets, after.wallets
    kinds: set[bool] = set()
    for wallets in frames:
        require_columns(wallets, ["service", "source", "fetched_at"])
        kinds |= set(wallets["service"].isin([SIMULATED]))
    if len(kinds) > 1:
        raise SnapshotError(
            "simulated holdings can't be compared with real ones",
            hint="compare snapshots of one and the same service: see wallets.service",
        )
    times = [wallets.get(SNAPSHOT, pd.Series([])) for wallets in frames]
    same = times[0][times[0].isin(times[1])]
    if len(same):
        raise SnapshotError(
            f"before and after are the same snapshot, of {same.iloc[0]}",
            hint=Spelled("save a newer one, or name an earlier time: ", LISTED, " lists them"),
        )
    return _once_each(before, after)


def _once_each(before: WalletDetails, after: WalletDetails) -> tuple[WalletDetails, WalletDetails]:
    """Let an answer that two snapshots have be out of date in the later one.

    It came from the cache there: nobody asked in between. Of fetches, that is only told: who asks
    again soon for what failed wants to see what that changed.
    """
    frames = before.wallets, after.wallets
    earlier, newest = map(_newest, frames)
    if pd.isna(earlier) or pd.isna(newest) or bool(earlier == newest):
        return before, after
    names = [*_WALLET, "service", "fetched_at"]
    both = pd.concat([wallets[names] for wallets in frames], ignore_index=True)
    answers = both[["service", "fetched_at"]].assign(wallet=wallet_identities(both).codes)
    repeated = answers.duplicated(keep=False) & answers["fetched_at"].notna()
    sides = np.split(repeated.to_numpy(), [len(before.wallets)])
    later = int(newest > earlier)
    if not all(SNAPSHOT in wallets for wallets in frames):
        if count := int(sides[later].sum()):
            notify(
                f"{count:,} of {many(len(frames[later]), 'wallet')} came with the same answer in "
                "both, from the cache, and seem unchanged: nobody asked in between",
                InputWarning,
            )
        return before, after
    stale = frames[later]["source"].astype("str").mask(sides[later], Source.STALE.value)
    outdated = (before, after)[later]._replace(wallets=frames[later].assign(source=stale))
    return (before, outdated) if later else (outdated, after)


def _newest(wallets: pd.DataFrame) -> Any:
    """Return the time that wallets are of: of the snapshot, else of the newest answer."""
    return pd.to_datetime(
        wallets[SNAPSHOT if SNAPSHOT in wallets else "fetched_at"], utc=True
    ).max()


def warn_of_rows_left_out(sides: Sequence[WalletDetails], cells: Grid) -> None:
    """Warn where rows are missing from one of the two alone, so that tokens seem gone or new."""
    missing = []
    for wallets, holdings in sides:
        fetched = wallets["tokens"][known_wallets(wallets)].sum()
        missing.append(max(int(fetched) - len(holdings), 0))
    if all(missing) or not any(missing):
        return
    short = int(missing[1] > 0)
    known = (cells.status == OK).all(axis=1)
    lone = known & (cells.integers[:, short] == 0) & (cells.integers[:, 1 - short] != 0)
    if count := int(lone.sum()):
        name, other, seem = ("after", "before", "gone") if short else ("before", "after", "new")
        notify(
            f"{name} has {many(missing[short], 'row')} of holdings fewer than its wallets.tokens "
            f"says were fetched, and {many(count, 'balance')} of {other} may seem {seem} for that: "
            "give both whole, or leave the same tokens out of both",
            InputWarning,
        )


def told_of(before: WalletDetails, after: WalletDetails) -> Mapping[Hashable | None, Any]:
    """Tell charts of changes what these are of, as attributes that any file of a frame can hold."""
    told = {}
    for name, (wallets, _) in (("before", before), ("after", after)):
        newest = _newest(wallets)
        if not pd.isna(newest):
            told[name] = f"{newest:%Y-%m-%d %H:%M} UTC"
    if is_simulated(before.wallets) or is_simulated(after.wallets):
        told["service"] = SIMULATED
    return {COMPARED: told}
