"""The timeline: what is held in each snapshot, and how many wallets are known in each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from walletframe.charts.balances import added, check_top, largest, lay_out
from walletframe.charts.canvas import Space, blank, figure, markup, titled, with_legend
from walletframe.charts.levels import listed, read_groupings
from walletframe.charts.lines import Lines, draw_lines
from walletframe.charts.notes import Notes, drawn_of, simulated, wallets_frame
from walletframe.charts.palette import EDGE, pattern
from walletframe.errors import SettingsError
from walletframe.frames import (
    held_place,
    known_when_asked,
    names_of,
    snapshot_times,
    wallet_identities,
)
from walletframe.frames.groups import SNAPSHOT
from walletframe.numerals import many

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.charts.balances import Balances, Grid, Mask
    from walletframe.charts.measures import Places
    from walletframe.frames import (
        AssetsLike,
        By,
        FetchLike,
        Positions,
        PositionsLike,
        TokenKey,
        TokenLike,
    )

_SERIES, _SNAPSHOTS, _FEW = 20, 200, 8
_DAY_MS = 24 * 60 * 60 * 1000
_SPACE = Space(360)
_INCOMPLETE = "fewer wallets known"


@dataclass(frozen=True, slots=True)
class _Moments:
    """The snapshots that are drawn."""

    codes: Places  # for each row of holdings the place of its snapshot, -1 where that is not drawn
    drawn: pd.DatetimeIndex  # in order
    times: list[str]  # the same, in UTC
    asked: pd.DataFrame | None  # the places of wallets that could hold it, and if known when
    incomplete: list[tuple[str, str]]  # when wallets are unknown that are known elsewhere: how many
    notes: Notes  # sentences about them

    def with_notes(self, drawn: list[str], balances: Balances) -> Notes:
        """Return all sentences: those about the snapshots, and others."""
        real, extent, left_out, trust = self.notes
        return Notes(real, [*extent, *drawn], [*balances.left_out, *left_out], trust)


def timeline(  # noqa: PLR0913  each is one choice of whoever draws it
    holdings: PositionsLike,
    *,
    by: By = "token",
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    top_tokens: int = 8,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    colors: Mapping[TokenKey, str] | None = None,
) -> go.Figure:
    """Draw snapshots of holdings along time: stacked by token or asset, else as lines."""
    series, names = check_top("top_tokens", top_tokens, _SERIES), names_of(by)
    if SNAPSHOT in names:
        raise SettingsError(f"by: {by!r}", hint="snapshots are along the axis: name what else")
    found = read_groupings(
        holdings,
        names,
        token=token,
        asset=asset,
        wallets=wallets,
        assets=assets,
        bridged=bridged,
        everyone=names != ["token"],
    )
    balances, stacked = found.balances, found.names in (["token"], ["asset"])
    moments = _read_moments(balances.positions, wallets, token if asset is None else asset)
    title = balances.measure.title(f"{f'by {listed(found.names)} ' * (not stacked)}over time")
    drawn = balances.where(moments.codes[balances.rows] >= 0)
    if not len(drawn.rows):
        reason = "No row has a snapshot." if len(balances.rows) else balances.why_none
        return blank(title, moments.with_notes([], balances), reason)
    if not stacked:
        found, places = replace(found, balances=drawn), moments.codes[drawn.rows]
        lines = draw_lines(found, places, moments.drawn, moments.asked, series)
        return _figure(lines, moments, drawn, title)
    tokens = largest(added(drawn.token_codes, drawn.sizes), series)
    rows = np.arange(len(moments.times))
    grid = lay_out(drawn, moments.codes[drawn.rows], rows, tokens)
    return _drawn(grid, moments, title, colors)


def _read_moments(
    positions: Positions, wallets: FetchLike | None, token: TokenLike | None
) -> _Moments:
    """Choose the snapshots that have rows or, as `wallets` say, could have had any.

    Answers that were out of date count as unknown. Where one token is drawn, wallets that could not
    hold it don't count.
    """
    column, asked = positions.times, None
    times, known, most = column.dropna().unique(), pd.Series(dtype=np.int64), 0
    real: list[str] = []
    trust: list[str] = []
    certain = np.ones(len(column), dtype=bool)
    if wallets is not None:
        frame = wallets_frame(wallets)
        who = wallet_identities(frame)
        asked = pd.DataFrame({"wallet": who.codes, "known": known_when_asked(frame)})
        asked["time"] = snapshot_times(frame)
        certain = _certain(positions, column, who.keys, asked)
        asked = asked[_could_hold(positions, who.keys, token)[who.codes]]
        known = asked.groupby("time")["known"].sum()
        most = asked["wallet"][asked["known"]].nunique()
        times = column[certain].dropna().unique()
        times = times.union(pd.DatetimeIndex(known.index[known > 0]))
        real, trust = simulated(frame), _trust(asked, known, most)
    times = times.sort_values()
    places = np.linspace(0, len(times) - 1, min(len(times), _SNAPSHOTS)).round().astype(np.intp)
    chosen = times[places]
    lacking = known[(known < most) & (known.index.isin(chosen) | (known == 0))].head(_SNAPSHOTS)
    without = len(column) - len(column.dropna())
    left_out = [f"{many(without, 'balance')} without a snapshot not drawn."] * bool(without)
    outdated = int((~certain).sum())
    left_out += [f"{many(outdated, 'balance')} of answers out of date not drawn."] * bool(outdated)
    return _Moments(
        codes=np.where(certain, chosen.get_indexer(column), -1),
        drawn=chosen,
        times=_written(chosen),
        asked=asked,
        incomplete=[
            (time, f"{count:,} of {many(most, 'wallet')} known")
            for time, count in zip(_written(pd.DatetimeIndex(lacking.index)), lacking, strict=True)
        ],
        notes=Notes(real, [_extent(times, len(chosen))], left_out, trust),
    )


def _trust(asked: pd.DataFrame, known: pd.Series, most: int) -> list[str]:
    """Say of how many wallets it is known what they held."""
    said = [f"{most:,} of {many(asked['wallet'].nunique(), 'wallet')} ever known."]
    if fewer := int((known < most).sum()):
        said.append(f"In {fewer:,} of {many(len(known), 'snapshot')} fewer of them are known.")
    return said


def _certain(
    positions: Positions, times: pd.DatetimeIndex, keys: list[TokenKey], asked: pd.DataFrame
) -> Mask:
    """Tell which rows are not of an answer that was out of date."""
    places = {key: place for place, key in enumerate(keys)}
    owners = np.array([places.get(key, len(keys)) for key in positions.wallet_keys], dtype=np.intp)
    every = pd.DatetimeIndex(asked["time"].unique())
    wide, when = len(every) + 1, every.get_indexer(times)
    unknown = asked["wallet"].to_numpy() * wide + every.get_indexer(pd.DatetimeIndex(asked["time"]))
    held = owners[positions.wallet_codes] * wide + when
    return ~np.isin(held, unknown[~asked["known"]]) | (when < 0)


def _could_hold(positions: Positions, keys: list[TokenKey], token: TokenLike | None) -> Mask:
    """Tell which wallets could hold the token, where there is one."""
    if token is None or not len(positions.holdings):
        return np.ones(len(keys), dtype=bool)
    place = held_place(positions, token)
    tokens, chains = positions.could_hold()
    names = [*positions.chain_places]
    able = {names[chain] for chain in chains[tokens == place]} | {positions.tokens.keys[place][0]}
    return np.array([chain in able for chain, _ in keys], dtype=bool)


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


def _drawn(
    grid: Grid, moments: _Moments, title: str, colors: Mapping[TokenKey, str] | None
) -> go.Figure:
    measure, series = grid.balances.measure, grid.series(colors)
    width = _width(moments.times)
    traces: list[Any] = [
        go.Bar(
            name=markup([each.name]),
            x=moments.times,
            y=grid.sizes[: len(moments.times), token].tolist(),
            width=width,
            marker={
                "color": each.color,
                "line": {"color": EDGE, "width": 0.5},
                "pattern": pattern(each.pattern),
            },
            hovertext=_texts(grid, token, each.name),
            hoverinfo="text",
        )
        for token, each in enumerate(series)
    ]
    extent = [drawn_of((len(grid.tokens), grid.other_tokens, grid.kind))] * (not measure.one_token)
    names, highest = [each.name for each in series], float(grid.sizes.sum(axis=1).max())
    return _figure(Lines(traces, names, extent, highest), moments, grid.balances, title)


def _figure(drawn: Lines, moments: _Moments, balances: Balances, title: str) -> go.Figure:
    """Make the figure of what is drawn, and mark where fewer wallets are known."""
    measure, traces, names = balances.measure, [*drawn.traces], drawn.names
    if moments.incomplete:
        traces.append(_marks(moments.incomplete))
        names = [*names, _INCOMPLETE]
    return figure(
        traces,
        title=title,
        notes=moments.with_notes([*drawn.said, f"Height: {measure.phrase}."], balances),
        **with_legend(_SPACE, names),
        barmode="stack",
        hovermode="x unified",
        xaxis=titled("time (UTC)")
        | {"type": "date", "automargin": True}
        | _marked({*moments.times, *(time for time, _ in moments.incomplete)}),
        yaxis=titled(measure.name)
        | measure.axis(drawn.highest)
        | {"rangemode": "tozero", "ticklabelstandoff": 4, "automargin": True},
    )


def _width(times: list[str]) -> float:
    """Give the width of a snapshot's bar in milliseconds: the bars touch only where they must."""
    moments = np.array(times, dtype="datetime64[ms]").astype(np.int64)
    if len(moments) == 1:
        return _DAY_MS / 4
    return float(max(0.8 * np.diff(moments).min(), np.ptp(moments) / _SNAPSHOTS / 2))


def _marked(times: set[str]) -> dict[str, Any]:
    """Mark the times themselves where they are few; an axis of one alone is of its day."""
    if len(times) > _FEW:
        return {}
    at_midnight = all(time.endswith(" 00:00:00") for time in times)
    form = "%Y-%m-%d" if at_midnight else "%Y-%m-%d<br>%H:%M"
    axis: dict[str, Any] = {"tickvals": sorted(times), "tickformat": form}
    if len(times) == 1:
        [time], half = times, np.timedelta64(12, "h")
        axis["range"] = [str(np.datetime64(time) - half), str(np.datetime64(time) + half)]
    return axis


def _texts(grid: Grid, token: int, name: str) -> list[str]:
    """Say each height on one line, beside those of the other tokens."""
    texts, head = [], markup([name])
    for row, size in enumerate(grid.sizes[: len(grid.rows), token].tolist()):
        exact = grid.exact(row, token) if token < len(grid.tokens) and size else ""
        texts.append(f"{head}: {markup([grid.balances.measure.height(size, exact)])}")
    return texts


def _marks(incomplete: list[tuple[str, str]]) -> go.Scatter:
    """Draw a triangle on the axis where fewer wallets are known."""
    times, texts = zip(*incomplete, strict=True)
    line = {"color": "#000000", "width": 1.5}
    return go.Scatter(
        name=_INCOMPLETE,
        x=times,
        y=[0] * len(times),
        mode="markers",
        marker={"symbol": "triangle-up", "size": 11, "color": "#FFFFFF", "line": line},
        hovertext=[markup([text]) for text in texts],
        hoverinfo="text",
        cliponaxis=False,
    )
