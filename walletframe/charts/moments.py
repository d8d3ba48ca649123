"""The snapshots of a timeline: their times, and of how many wallets each knows what they held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.charts.notes import simulated, wallets_frame
from walletframe.frames import (
    candidates,
    find_token,
    known_wallets,
    require_columns,
    wallet_identities,
)
from walletframe.numerals import many

if TYPE_CHECKING:
    from walletframe.analysis.positions import WalletsLike
    from walletframe.charts.balances import Balances, Mask
    from walletframe.charts.measures import Places
    from walletframe.frames import TokenLike

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


def read_moments(
    balances: Balances, wallets: WalletsLike | None, token: TokenLike | None
) -> Moments:
    """Tell which snapshots there are to draw."""
    column = _in_utc(balances.frame)
    times, known, most, said = column.dropna().unique(), pd.Series(dtype=np.int64), 0, []
    certain = np.ones(len(column), dtype=bool)
    if wallets is not None:
        frame = wallets_frame(wallets)
        certain = _certain(balances, frame, column)
        times = column[certain].dropna().unique()
        counted = frame[_could_hold(balances, frame, token)]
        known, most = _known(counted)
        times = times.union(pd.DatetimeIndex(known.index[known > 0]))
        everyone = len(wallet_identities(counted).keys)
        said = [
            *_outdated(int((~certain).sum())),
            f"{most:,} of {many(everyone, 'wallet')} ever known.",
            *_fewer(int((known.to_numpy() < most).sum()), len(known)),
            *simulated(frame),
        ]
    times = times.sort_values()
    chosen = times[np.linspace(0, len(times) - 1, min(len(times), _MOST)).round().astype(np.intp)]
    lacking = known[(known < most) & (known.index.isin(chosen) | (known == 0))].head(_MOST)
    return Moments(
        codes=np.where(certain, chosen.get_indexer(column), -1),
        times=_written(chosen),
        incomplete=[
            (time, f"{count:,} of {many(most, 'wallet')} known")
            for time, count in zip(_written(pd.DatetimeIndex(lacking.index)), lacking, strict=True)
        ],
        said=[*_without(len(column) - len(column.dropna())), _extent(times, len(chosen)), *said],
    )


def _certain(balances: Balances, wallets: pd.DataFrame, column: pd.DatetimeIndex) -> Mask:
    """Tell which rows are not of an answer that was out of date."""
    who = _everyone(wallets, balances.frame)
    times = _in_utc(wallets)
    every = times.union(column).unique()
    cells = who * (len(every) + 1) + np.append(every.get_indexer(times), every.get_indexer(column))
    asked, held = np.split(cells, [len(wallets)])
    return ~np.isin(held, asked[~known_wallets(wallets, stale=False)])


def _could_hold(balances: Balances, wallets: pd.DataFrame, token: TokenLike | None) -> Mask:
    """Tell which wallets could hold the token, where there is one."""
    frame, tokens = balances.frame, balances.tokens
    if token is None or not len(frame):
        return np.ones(len(wallets), dtype=bool)
    place = tokens.codes[find_token(frame, token, identities=tokens).argmax()]
    identifiers = [key[0] for key in wallet_identities(wallets).keys]
    owners = [key[0] for key in balances.wallets.keys]
    codes, names = pd.factorize(np.array([*identifiers, *owners], dtype=object))
    own, held = np.split(codes, [len(identifiers)])
    rows = held[balances.wallets.codes]
    found, chains = candidates(tokens, rows, {name: place for place, name in enumerate(names)})
    able: Mask = np.isin(own, chains[found == place])
    return np.asarray(able[wallet_identities(wallets).codes])


def _everyone(wallets: pd.DataFrame, holdings: pd.DataFrame) -> Places:
    names = ["blockchain", "address"]
    both = pd.concat([wallets[names], holdings[names]], ignore_index=True)
    codes: Places = wallet_identities(both).codes
    return codes


def _in_utc(frame: pd.DataFrame) -> pd.DatetimeIndex:
    require_columns(frame, [_COLUMN])
    return pd.DatetimeIndex(pd.to_datetime(frame[_COLUMN], utc=True))


def _known(wallets: pd.DataFrame) -> tuple[pd.Series, int]:
    """Count the wallets known in each snapshot, and those known in any."""
    known = known_wallets(wallets, stale=False)
    counts = pd.Series(known).groupby(_in_utc(wallets)).sum()
    return counts, len(np.unique(wallet_identities(wallets).codes[known]))


def _written(times: pd.DatetimeIndex) -> list[str]:
    return times.strftime("%Y-%m-%d %H:%M:%S").tolist()


def _fewer(incomplete: int, asked: int) -> list[str]:
    if not incomplete:
        return []
    return [f"In {incomplete:,} of {many(asked, 'snapshot')} fewer of them are known."]


def _outdated(rows: int) -> list[str]:
    return [f"{many(rows, 'balance')} of answers out of date not drawn."] * bool(rows)


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
