"""What may be saved: unchanged frames of a fetch, and never simulated holdings among real ones."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa

from walletframe.errors import Argument, HistoryError, SnapshotError, Spelled
from walletframe.frames import (
    HOLDING_DTYPES,
    SIMULATED,
    WALLET_DTYPES,
    WalletDetails,
    kept_columns,
    kept_frame,
    kept_table,
    wallet_identities,
    with_kept,
)
from walletframe.history.folder import history_folder, is_there, snapshot_folders
from walletframe.history.tables import SNAPSHOT, converted, read, read_wallets
from walletframe.history.times import moment
from walletframe.numerals import many, part
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

    from walletframe.history.times import Moment


def admitted(details: WalletDetails, folder: Path, *, may_be_simulated: bool) -> WalletDetails:
    """Return what is to be kept of a fetch, checked against what its folder holds."""
    wallets, holdings = details
    own = kept_columns(wallets)
    try:
        kept_table(own)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as fault:
        raise SnapshotError(
            f"your own columns of wallets can't be saved: {shown(str(fault))}",
            hint="give each of them values of one type, or drop it",
        ) from None
    asked = with_kept(converted(wallets, WALLET_DTYPES), own)
    kept = WalletDetails(asked, converted(holdings, HOLDING_DTYPES))
    _check_whole(kept)
    _check_kinds(kept.wallets["service"], folder, may_be_simulated=may_be_simulated)
    return kept


def require_savable(service: str, *, folder: Path | None, at: Moment | None) -> None:
    """Refuse, before anything is fetched for it, a snapshot that could not be kept."""
    place = history_folder(folder)
    taken_at = None if at is None else moment(at)
    _check_kinds([service], place, may_be_simulated=folder is not None)
    if taken_at is not None and is_there(place, taken_at):
        raise already_there(taken_at)


def is_kept(details: WalletDetails, folder: Path, taken_at: datetime) -> bool:
    """Tell whether the snapshot of a time has the same answers, wherever they came from."""
    as_read = with_kept(details.wallets, kept_frame(kept_table(kept_columns(details.wallets))))
    with suppress(HistoryError):
        kept = read([each for each in snapshot_folders(folder) if each.moment == taken_at], None)
        return all(
            saved.drop(columns=[SNAPSHOT, "source"], errors="ignore").equals(
                given.drop(columns="source", errors="ignore")
            )
            for saved, given in zip(kept, (as_read, details.holdings), strict=True)
        )
    return False


def already_there(taken_at: datetime) -> SnapshotError:
    """Return the error for a time of which there is a snapshot."""
    hint = Spelled("give another ", Argument("at"))
    return SnapshotError(f"there is a snapshot of {taken_at} already", hint)


def _check_whole(details: WalletDetails) -> None:
    """Refuse frames that were changed: a comparison would find changes that never were."""
    wallets, holdings = details
    names = ["blockchain", "address"]
    who = wallet_identities(pd.concat([wallets[names], holdings[names]], ignore_index=True))
    asked, holders = np.split(who.codes, [len(wallets)])
    times = np.bincount(asked, minlength=len(who.keys))
    said = np.zeros(len(who.keys), dtype=np.int64)
    said[asked] = wallets["tokens"].fillna(0)
    there = np.bincount(holders, minlength=len(who.keys))
    wrong = np.flatnonzero((times != 1) | (said != there))
    if len(wrong):
        place = wrong[0]
        name = ".".join(str(part) for part in who.keys[place])
        raise SnapshotError(
            f"{part(len(wrong), len(who.keys), 'wallet')} not as fetched; the first is {name!a}: "
            f"{many(int(times[place]), 'row')} in wallets, {there[place]} in holdings where tokens "
            f"says {said[place]}",
            hint="save what was fetched, and leave rows out after loading it",
        )


def _check_kinds(services: Iterable[str], folder: Path, *, may_be_simulated: bool) -> None:
    """Refuse simulated holdings beside real ones, and in the folder that is not named."""
    kinds = {service == SIMULATED for service in services}
    refused = True in kinds and not may_be_simulated
    with suppress(HistoryError):  # a broken snapshot keeps no other one from being saved
        latest = read_wallets(snapshot_folders(folder)[-1:])
        kinds |= {service == SIMULATED for service in latest["service"]}
    if refused or len(kinds) > 1:
        raise SnapshotError(
            f"simulated holdings can't be stored beside real ones in {folder}",
            hint=Spelled("give each kind a folder of its own: ", Argument("folder")),
        )
