"""The snapshots of a timeline: their times, and of how many wallets each knows what they held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.charts.notes import simulated, wallets_frame
from walletframe.frames import require_columns, wallet_identities
from walletframe.frames.summary import many

if TYPE_CHECKING:
    from walletframe.analysis.positions import WalletsLike
    from walletframe.charts.ranking import Places

_COLUMN, _MOST = "snapshot", 200


@dataclass(frozen=True, slots=True)
class Moments:
    """Snapshots.

    Attributes
    ----------
    codes : ndarray of intp
        For each row of holdings the place of its snapshot, -1 where that is not drawn.
    times : list of str
        The snapshots that are drawn, in order, in UTC.
    incomplete : list of (str, str)
        Times of which some wallet is not known that is known of others, and how many are.
    said : list of str
        Sentences about them.
    """

    codes: Places
    times: list[str]
    incomplete: list[tuple[str, str]]
    said: list[str]


def read_moments(holdings: pd.DataFrame, wallets: WalletsLike | None) -> Moments:
    """Tell which snapshots there are to draw.

    Parameters
    ----------
    holdings : DataFrame
        With the column ``snapshot``.
    wallets : DataFrame or WalletDetails, optional
        With the column ``snapshot``.

    Returns
    -------
    Moments
        Those that have rows or, as `wallets` say, could have had any.

    Raises
    ------
    ColumnsError
        Where a column is missing.
    """
    column = _in_utc(holdings)
    times, known, most, said = column.dropna().unique(), pd.Series(dtype=np.int64), 0, []
    if wallets is not None:
        frame = wallets_frame(wallets)
        known, most = _known(frame)
        times = times.union(pd.DatetimeIndex(known.index[known > 0]))
        everyone = len(wallet_identities(frame).keys)
        said = [
            f"{most:,} of {many(everyone, 'wallet')} ever known.",
            *_fewer(int((known.to_numpy() < most).sum()), len(known)),
            *simulated(frame),
        ]
    times = times.sort_values()
    chosen = times[np.linspace(0, len(times) - 1, min(len(times), _MOST)).round().astype(np.intp)]
    lacking = known[(known < most) & (known.index.isin(chosen) | (known == 0))].head(_MOST)
    return Moments(
        codes=chosen.get_indexer(column),
        times=_written(chosen),
        incomplete=[
            (time, f"{count:,} of {many(most, 'wallet')} known")
            for time, count in zip(_written(pd.DatetimeIndex(lacking.index)), lacking, strict=True)
        ],
        said=[*_without(len(column) - len(column.dropna())), _extent(times, len(chosen)), *said],
    )


def _in_utc(frame: pd.DataFrame) -> pd.DatetimeIndex:
    require_columns(frame, [_COLUMN])
    return pd.DatetimeIndex(pd.to_datetime(frame[_COLUMN], utc=True))


def _known(wallets: pd.DataFrame) -> tuple[pd.Series, int]:
    """Count the wallets known in each snapshot, and those known in any."""
    known = ((wallets["status"] == "ok") & wallets["tokens"].notna()).to_numpy(dtype=bool)
    counts = pd.Series(known).groupby(_in_utc(wallets)).sum()
    return counts, len(np.unique(wallet_identities(wallets).codes[known]))


def _written(times: pd.DatetimeIndex) -> list[str]:
    return times.strftime("%Y-%m-%d %H:%M:%S").tolist()


def _fewer(incomplete: int, asked: int) -> list[str]:
    if not incomplete:
        return []
    return [f"In {incomplete:,} of {many(asked, 'snapshot')} fewer of them are known."]


def _without(rows: int) -> list[str]:
    return [f"{many(rows, 'balance')} without a snapshot not drawn."] * bool(rows)


def _extent(times: pd.DatetimeIndex, drawn: int) -> str:
    if not len(times):
        return "No snapshot."
    if len(times) == 1:
        return f"1 snapshot of {times[0]:%Y-%m-%d %H:%M} UTC."
    count = many(len(times), "snapshot")
    if drawn < len(times):
        count = f"{drawn:,} of {count}"
    return f"{count} from {times[0]:%Y-%m-%d %H:%M} to {times[-1]:%Y-%m-%d %H:%M} UTC."
