"""Two fetches side by side: whether they can be compared, and what was left out of one alone."""

from __future__ import annotations

import numpy as np
import pandas as pd

from walletframe.errors import SnapshotError, Spelled
from walletframe.frames import SIMULATED, Source, WalletDetails, require_columns, wallet_identities
from walletframe.history.folder import LISTED
from walletframe.history.tables import SNAPSHOT

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

    It came from the cache there: nobody asked in between.
    """
    frames = before.wallets, after.wallets
    if not all(SNAPSHOT in wallets and len(wallets) for wallets in frames):
        return before, after
    names = [*_WALLET, "service", "fetched_at"]
    both = pd.concat([wallets[names] for wallets in frames], ignore_index=True)
    answers = both[["service", "fetched_at"]].assign(wallet=wallet_identities(both).codes)
    repeated = answers.duplicated(keep=False) & answers["fetched_at"].notna()
    sides = np.split(repeated.to_numpy(), [len(before.wallets)])
    later = int(frames[1][SNAPSHOT].max() > frames[0][SNAPSHOT].max())
    stale = frames[later]["source"].astype("str").mask(sides[later], Source.STALE.value)
    outdated = (before, after)[later]._replace(wallets=frames[later].assign(source=stale))
    return (before, outdated) if later else (outdated, after)
