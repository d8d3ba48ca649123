"""The snapshots of a timeline: their times, and how many wallets are known in each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.charts.notes import simulated, wallets_frame
from walletframe.frames import known_when_asked, snapshot_times, token_place, wallet_identities
from walletframe.numerals import many

if TYPE_CHECKING:
    from walletframe.charts.balances import Mask
    from walletframe.charts.measures import Places
    from walletframe.frames import FetchLike, Positions, TokenKey, TokenLike

_MOST = 200


@dataclass(frozen=True, slots=True)
class Moments:
    """The snapshots that are drawn."""

    codes: Places  # for each row of holdings the place of its snapshot, -1 where that is not drawn
    times: list[str]  # in order, in UTC
    incomplete: list[tuple[str, str]]  # when wallets are unknown that are known elsewhere: how many
    said: list[str]  # sentences about them


@dataclass(frozen=True, slots=True)
class _Asked:
    """The n rows of wallets: whose each is, when it was asked, and whether it is known then."""

    wallets: Places
    keys: list[TokenKey]
    times: pd.DatetimeIndex
    known: Mask

    def marked(self, wallets: Mask) -> _Asked:
        """Return the rows of some wallets."""
        rows = wallets[self.wallets]
        return _Asked(self.wallets[rows], self.keys, self.times[rows], self.known[rows])


def read_moments(
    positions: Positions, wallets: FetchLike | None, token: TokenLike | None
) -> Moments:
    """Choose the snapshots that have rows or, as `wallets` say, could have had any.

    Answers that were out of date count as unknown. Where one token is drawn, wallets that could not
    hold it don't count.
    """
    column = positions.times
    times, known, most, said = column.dropna().unique(), pd.Series(dtype=np.int64), 0, []
    certain = np.ones(len(column), dtype=bool)
    if wallets is not None:
        frame = wallets_frame(wallets)
        asked = _asked(frame)
        certain = _certain(positions, asked)
        asked = asked.marked(_could_hold(positions, asked.keys, token))
        known, most = _known(asked)
        times = column[certain].dropna().unique()
        times = times.union(pd.DatetimeIndex(known.index[known > 0]))
        said = [*_said(asked, known, most, int((~certain).sum())), *simulated(frame)]
    times = times.sort_values()
    chosen = times[np.linspace(0, len(times) - 1, min(len(times), _MOST)).round().astype(np.intp)]
    lacking = known[(known < most) & (known.index.isin(chosen) | (known == 0))].head(_MOST)
    without = len(column) - len(column.dropna())
    timeless = [f"{many(without, 'balance')} without a snapshot not drawn."] * bool(without)
    return Moments(
        codes=np.where(certain, chosen.get_indexer(column), -1),
        times=_written(chosen),
        incomplete=[
            (time, f"{count:,} of {many(most, 'wallet')} known")
            for time, count in zip(_written(pd.DatetimeIndex(lacking.index)), lacking, strict=True)
        ],
        said=[*timeless, _extent(times, len(chosen)), *said],
    )


def _said(asked: _Asked, known: pd.Series, most: int, outdated: int) -> list[str]:
    """Say how many rows were out of date, and of how many wallets it is known what they held."""
    everyone, fewer = len(np.unique(asked.wallets)), int((known.to_numpy() < most).sum())
    said = [f"{most:,} of {many(everyone, 'wallet')} ever known."]
    if outdated:
        said.insert(0, f"{many(outdated, 'balance')} of answers out of date not drawn.")
    if fewer:
        said.append(f"In {fewer:,} of {many(len(known), 'snapshot')} fewer of them are known.")
    return said


def _asked(wallets: pd.DataFrame) -> _Asked:
    found = wallet_identities(wallets)
    known = known_when_asked(wallets)
    return _Asked(found.codes, found.keys, snapshot_times(wallets), known)


def _certain(positions: Positions, asked: _Asked) -> Mask:
    """Tell which rows are not of an answer that was out of date."""
    places = {key: place for place, key in enumerate(asked.keys)}
    owners = np.array(
        [places.get(key, len(places)) for key in positions.wallet_keys], dtype=np.intp
    )
    every = asked.times.unique()
    wide = len(every) + 1
    unknown = (asked.wallets * wide + every.get_indexer(asked.times))[~asked.known]
    when = every.get_indexer(positions.times)
    held = owners[positions.wallet_codes] * wide + when
    return ~np.isin(held, unknown) | (when < 0)


def _could_hold(positions: Positions, keys: list[TokenKey], token: TokenLike | None) -> Mask:
    """Tell which wallets could hold the token, where there is one."""
    if token is None or not len(positions.holdings):
        return np.ones(len(keys), dtype=bool)
    place = token_place(positions.holdings, positions.tokens, token)
    tokens, chains = positions.could_hold()
    names = [*positions.chain_places]
    able = {names[chain] for chain in chains[tokens == place]} | {positions.tokens.keys[place][0]}
    return np.array([chain in able for chain, _ in keys], dtype=bool)


def _known(asked: _Asked) -> tuple[pd.Series, int]:
    """Count the wallets known in each snapshot, and those known in any."""
    counts = pd.Series(asked.known).groupby(asked.times).sum()
    return counts, len(np.unique(asked.wallets[asked.known]))


def _written(times: pd.DatetimeIndex) -> list[str]:
    return times.strftime("%Y-%m-%d %H:%M:%S").tolist()


def _extent(times: pd.DatetimeIndex, drawn: int) -> str:
    if not len(times):
        return "No snapshot."
    if len(times) == 1:
        return f"1 snapshot of {times[0]:%Y-%m-%d %H:%M} UTC."
    count = many(len(times), "snapshot")
    if drawn < len(times):
        count = f"{drawn:,} of {count}"
    return f"{count} from {times[0]:%Y-%m-%d %H:%M} to {times[-1]:%Y-%m-%d %H:%M} UTC."
