"""Charts of snapshots: holdings over time, and the changes between two of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from walletframe.charts.balances import (
    check_top,
    join_names,
    label_text,
    largest,
    pivot_sizes,
    ranks,
    read_grouped,
    sum_by,
)
from walletframe.charts.canvas import (
    Notes,
    Space,
    axis_title,
    blank,
    category_axis,
    drawn_note,
    figure,
    hover,
    markup,
    not_drawn,
    other_name,
    row_space,
    simulated_note,
    wallets_frame,
    with_legend,
)
from walletframe.charts.palette import COLORS, EDGE, OTHER, OUTLINE
from walletframe.errors import ColumnsError, SettingsError, UnknownTokenError
from walletframe.frames.asset_list import token_or_asset_index
from walletframe.frames.contract import COMPARED, SIMULATED
from walletframe.frames.details import as_wallets_frame
from walletframe.frames.groups import ADDED, SNAPSHOT, list_names
from walletframe.frames.identity import token_identities, wallet_identities
from walletframe.frames.known import known_and_fresh
from walletframe.frames.names import (
    find_token,
    unique_names,
    user_wallet_names,
    wallet_names,
    whole_wallet,
)
from walletframe.frames.positions import snapshot_times
from walletframe.numerals import compact, count_of, counted_noun, full_amount
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.amounts.scalar import Amount
    from walletframe.charts.balances import Balances, GroupedBalances, Level, Measure, Places, Sizes
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Mask, TokenKey
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions, PositionsLike

_SERIES, _SNAPSHOTS, _FEW_TICKS = 20, 200, 8
_INCOMPLETE = "fewer wallets known"
_DASHES = ("solid", "dot", "dash")
_FEW_POINTS, _LARGE, _SMALL = 40, 8, 4
_HOLLOW = "Hollow points: fewer wallets of the group are known than at other times."
_TOKEN_COLUMNS, _ASSET = ["symbol", "token_address", "token_blockchain"], "asset"
_CHANGE_COLUMNS = ["before", "difference", "change"]
_CHANGES = 100
_SHORT, _LONG = 24, 80
_MAX_NAMED = 3  # names in a note
_PAD = 0.12  # of the axis, for numbers beside the bars
_ALL_ROWS = "all together"
_BY_ASSET = (
    "use compare(before, after, asset=…).wf.plot.waterfall(); or, to choose from several assets, "
    "compare(before, after, by=['wallet', 'asset']).wf.plot.waterfall(asset=…)"
)
_COMPARED = "use compare(before, after).wf.plot.waterfall()"


@dataclass(frozen=True, slots=True)
class _Snapshots:
    """The snapshots that are drawn."""

    codes: Places  # the snapshot of each row of holdings, -1 if that is not drawn
    drawn: pd.DatetimeIndex  # in order
    times: list[str]  # the same as text, in UTC
    requests: pd.DataFrame | None  # columns wallet (a code), time, and whether known
    incomplete: list[tuple[str, str]]  # times with fewer known wallets than ever, and how many
    notes: Notes


class _Traces(NamedTuple):
    """The bars or lines of a timeline."""

    traces: list[Any]
    names: list[str]
    notes: list[str]  # how much is drawn, and what its points mean
    highest: float


def timeline(  # noqa: PLR0913  the options of a chart
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
    """Draw snapshots of holdings over time: stacked by token, or a line for each owner.

    The frame has the rows of several fetches, and a column ``snapshot``, datetime64[us, UTC].
    Heights show ``value`` if there is such a column (float64, with an optional ``currency``),
    else numbers of balances.

    Parameters
    ----------
    by : str or list of str, default "token"
        ``"token"`` or ``"asset"`` for stacked bars; any other names that `bar` takes, such as
        ``"owner"`` or ``"wallet"``, for a line for each group.
    token, asset : str or (str, str or None), optional
        Draw the amounts of one, as in `bar`.
    top_tokens : int, default 8
        The most tokens, assets or lines with a colour of their own, up to 20; the rest are
        drawn as Other.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetches, with a column ``snapshot``. Then snapshots with
        failed wallets are marked, wholly unknown snapshots are not drawn as 0, and out-of-date
        answers are left out; with a token, only wallets that could hold it count. A line has a
        gap if no wallet of its group is known, and a separate point if fewer are known than at
        other times. ``details.wf`` passes them.
    assets, bridged, colors : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace for each token, the largest first, with exact amounts in the hover; a line has
        two or three; with `wallets`, marks are one more. If nothing is above 0, no trace, but a
        note why. At most 200 snapshots are drawn, evenly chosen. Times are in UTC.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        As `bar`, or if `wallets` has several owners of one wallet.
    ColumnsError, AmountError, PricesError, TokenListError, OSError
        As `bar`.
    UnknownTokenError, AmbiguousTokenError
        As `bar`.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
    ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
    >>> frame["snapshot"] = pd.Timestamp("2026-01-31", tz="UTC")
    >>> frame.wf.plot.timeline(token="ETH").data[0].y
    (4.0,)
    """
    series, names = check_top("top_tokens", top_tokens, _SERIES), list_names(by)
    if SNAPSHOT in names:
        hint = "snapshots are on the axis already; leave snapshot out of by="
        raise SettingsError(f"a timeline can't be grouped by {by!r}", hint=hint)
    grouped = read_grouped(
        holdings,
        names,
        token=token,
        asset=asset,
        wallets=wallets,
        assets=assets,
        bridged=bridged,
        all_wallets=names != ["token"],
    )
    balances, stacked = grouped.balances, grouped.names in (["token"], ["asset"])
    measure, what = balances.measure, "" if stacked else f"by {join_names(grouped.names)} "
    snapshots = _read_snapshots(balances.positions, wallets, token if asset is None else asset)
    title = f"{measure.title_start} {what}over time"
    notes = snapshots.notes._replace(left_out=[*balances.left_out, *snapshots.notes.left_out])
    mask = snapshots.codes[balances.rows] >= 0
    if not mask.any():
        reason = "No row has a snapshot." if len(balances.rows) else balances.empty_reason
        return blank(title, notes, reason)
    drawn = replace(balances, rows=balances.rows[mask], sizes=balances.sizes[mask])
    if stacked:
        lines = _draw_bars(drawn, snapshots, series, colors)
    else:
        lines = _draw_lines(replace(grouped, balances=drawn), snapshots, series)
    if snapshots.incomplete:  # mark them by triangles on the axis
        times, texts = zip(*snapshots.incomplete, strict=True)
        line = {"color": "#000000", "width": 1.5}
        marks = go.Scatter(
            name=_INCOMPLETE,
            x=times,
            y=[0] * len(times),
            mode="markers",
            marker={"symbol": "triangle-up", "size": 11, "color": "#FFFFFF", "line": line},
            hovertext=[markup([text]) for text in texts],
            hoverinfo="text",
            cliponaxis=False,
        )
        lines.traces.append(marks)
        lines.names.append(_INCOMPLETE)
    return figure(
        lines.traces,
        title=title,
        notes=notes._replace(drawn=[*notes.drawn, *lines.notes, f"Height: {measure.phrase}."]),
        **with_legend(Space(360), lines.names),
        barmode="stack",
        hovermode="x unified",
        xaxis=axis_title("time (UTC)")
        | {"type": "date", "automargin": True}
        | _time_ticks({*snapshots.times, *(time for time, _ in snapshots.incomplete)}),
        yaxis=measure.axis(lines.highest) | {"ticklabelstandoff": 4, "automargin": True},
    )


def _read_snapshots(
    positions: Positions, wallets: FetchLike | None, token: TokenLike | None
) -> _Snapshots:
    """Choose the snapshots that have rows or, by `wallets`, could have had some.

    Answers out of date count as unknown. If one token is drawn, wallets that can't hold it don't
    count, and a wallet with an unknown amount of it counts as unknown.
    """
    column, requests = snapshot_times(positions.holdings), None
    times, known, most = column.dropna().unique(), pd.Series(dtype=np.int64), 0
    marked, trust = list[str](), list[str]()
    certain = np.ones(len(column), dtype=bool)
    if wallets is not None:
        frame = wallets_frame(wallets)
        requests, certain = _read_requests(positions, column, frame, token)
        known = requests.groupby("time")["known"].sum()
        most = requests["wallet"][requests["known"]].nunique()
        times = column[certain].dropna().unique()
        times = times.union(pd.DatetimeIndex(known.index[known > 0]))
        marked = simulated_note(frame)
        requested = requests["wallet"].nunique()
        trust = [f"{count_of(most, requested, 'wallet')} known in some snapshot."]
        if fewer := int((known < most).sum()):
            trust.append(
                f"In {fewer:,} of {counted_noun(len(known), 'snapshot')} fewer of them are known."
            )
    times = times.sort_values()
    places = np.linspace(0, len(times) - 1, min(len(times), _SNAPSHOTS)).round().astype(np.intp)
    chosen = times[places]
    lacking = known[(known < most) & (known.index.isin(chosen) | (known == 0))].head(_SNAPSHOTS)
    without = len(column) - len(column.dropna())
    left_out = not_drawn(without, "balance", " without a snapshot")
    left_out += not_drawn(int((~certain).sum()), "balance", " of answers out of date")
    return _Snapshots(
        codes=np.where(certain, chosen.get_indexer(column), -1),
        drawn=chosen,
        times=_texts(chosen),
        requests=requests,
        incomplete=[
            (time, f"{count:,} of {counted_noun(most, 'wallet')} known")
            for time, count in zip(_texts(pd.DatetimeIndex(lacking.index)), lacking, strict=True)
        ],
        notes=Notes(marked, [_extent_note(times, len(chosen))], left_out, trust),
    )


def _read_requests(
    positions: Positions, times: pd.DatetimeIndex, wallets: pd.DataFrame, token: TokenLike | None
) -> tuple[pd.DataFrame, Mask]:
    """Return the requests of wallets that can hold it, and a mask of the rows not out of date."""
    identities, tokens = wallet_identities(wallets), positions.tokens
    requests = pd.DataFrame({"wallet": identities.codes, "known": known_and_fresh(wallets)})
    requests["time"] = snapshot_times(wallets)
    # Encode the wallet and time of each row of holdings, and of each request, as one integer.
    places = {key: place for place, key in enumerate(identities.keys)}
    owners = np.array([places.get(key, len(places)) for key in positions.wallet_keys], np.intp)
    every = pd.DatetimeIndex(requests["time"].unique())
    width = len(every) + 1  # the last column is for rows of other times
    held = owners[positions.wallet_codes] * width + every.get_indexer(times) % width
    requested = identities.codes * width + every.get_indexer(pd.DatetimeIndex(requests["time"]))
    certain = ~np.isin(held, requested[~requests["known"]])
    if token is not None and len(times):
        place = token_or_asset_index(positions, token)
        # A row of an unknown token, or of an unknown amount, makes the wallet's total unknown.
        doubtful = (tokens.codes == place) & positions.amounts.isna() | tokens.unknown[tokens.codes]
        requests["known"] &= ~np.isin(requested, held[doubtful])
        of_tokens, chains = positions.possible_blockchains()
        names = [*positions.chain_places]
        able = {names[chain] for chain in chains[of_tokens == place]} | {tokens.keys[place][0]}
        can_hold = np.array([chain in able for chain, _ in identities.keys], dtype=bool)
        requests = requests[can_hold[identities.codes]]
    return requests, certain


def _texts(times: pd.DatetimeIndex) -> list[str]:
    return times.strftime("%Y-%m-%d %H:%M:%S").tolist()


def _extent_note(times: pd.DatetimeIndex, drawn: int) -> str:
    if not len(times):
        return "No snapshot."
    if len(times) == 1:
        return f"1 snapshot of {times[0]:%Y-%m-%d %H:%M} UTC."
    count = counted_noun(len(times), "snapshot")
    if drawn < len(times):
        count = f"{drawn:,} of {count}"
    return f"{count} from {times[0]:%Y-%m-%d %H:%M} to {times[-1]:%Y-%m-%d %H:%M} UTC."


def _draw_bars(
    balances: Balances, snapshots: _Snapshots, top: int, colors: Mapping[TokenKey, str] | None
) -> _Traces:
    """Return bars of the largest tokens, and of the others, with one-line hover texts."""
    measure, count = balances.measure, len(snapshots.times)
    tokens = largest(sum_by(balances.token_codes, balances.sizes), top)
    grid = pivot_sizes(balances, snapshots.codes[balances.rows], np.arange(count), tokens)
    # Bars touch only if snapshots are very close; the width is in milliseconds.
    times = np.array(snapshots.times, dtype="datetime64[ms]").astype(np.int64)
    width = 6 * 60 * 60 * 1000.0
    if count > 1:
        width = float(max(0.8 * np.diff(times).min(), np.ptp(times) / _SNAPSHOTS / 2))
    traces, series = [], grid.series(colors)
    for token, each in enumerate(series):
        sizes, texts = grid.sizes[:count, token].tolist(), []
        for row, size in enumerate(sizes):
            exact = grid.exact(row, token) if token < len(tokens) and size else ""
            texts.append(f"{markup([each.name])}: {markup([_size_text(measure, size, exact)])}")
        traces.append(each.bar(x=snapshots.times, y=sizes, width=width, hovertext=texts))
    notes = [drawn_note((len(tokens), grid.other_tokens, grid.kind))] * (measure.kind != "amount")
    names = [each.name for each in series]
    return _Traces(traces, names, notes, float(grid.sizes.sum(axis=1).max()))


def _size_text(measure: Measure, size: float, exact: str) -> str:
    """Write a size on one line; `exact` is empty if there are several tokens or none."""
    if measure.kind == "amount":
        return exact or "0"
    short = measure.short(size)
    return f"{exact} ({short})" if exact and measure.kind == "value" else short


def _time_ticks(times: set[str]) -> dict[str, Any]:
    """Return ticks at the snapshots if there are few; for a single one, the range of a day."""
    if len(times) > _FEW_TICKS:
        return {}
    at_midnight = all(time.endswith(" 00:00:00") for time in times)
    form = "%Y-%m-%d" if at_midnight else "%Y-%m-%d<br>%H:%M"
    axis: dict[str, Any] = {"tickvals": sorted(times), "tickformat": form}
    if len(times) == 1:
        [time], half = times, np.timedelta64(12, "h")
        axis["range"] = [str(np.datetime64(time) - half), str(np.datetime64(time) + half)]
    return axis


def _draw_lines(grouped: GroupedBalances, snapshots: _Snapshots, top: int) -> _Traces:
    """Return a line for each of the largest groups, and one for the others."""
    balances, level, width = grouped.balances, grouped.level(grouped.names), len(snapshots.times)
    chosen = largest(sum_by(level.codes, balances.sizes), top)
    of_rows = ranks(chosen, len(level.groups))[level.codes]
    cells, count = of_rows * width + snapshots.codes[balances.rows], (len(chosen) + 1) * width
    sizes = sum_by(cells, balances.sizes, count).reshape(-1, width)
    # No point if nothing is known, or the others hold nothing; a hollow one if fewer wallets are
    # known than at other times.
    held = np.bincount(cells, minlength=count).reshape(-1, width) > 0
    hollow, heights = np.zeros_like(held), _point_texts(grouped, cells, sizes)
    if snapshots.requests is not None:
        known, most = _count_known(level, chosen, snapshots.drawn, snapshots.requests)
        held[:-1] = known > 0
        hollow[:-1] = held[:-1] & (known < most[:, np.newaxis])
        for line in np.flatnonzero(most).tolist():
            of = counted_noun(int(most[line]), "wallet")
            each = zip(heights[line], known[line].tolist(), strict=True)
            heights[line] = [f"{height} ({count:,} of {of} known)" for height, count in each]
    others = len(np.unique(level.codes[of_rows == len(chosen)]))
    names = level.short(chosen.tolist()) + [other_name(others, level.noun)] * bool(others)
    traces = []
    for line, name in enumerate(names):
        points = {
            "x": snapshots.times,
            "legendgroup": str(line),
            "hovertext": [markup([f"{name}: {height}"]) for height in heights[line]],
            "hoverinfo": "text",
        }
        drawn, alone = (
            [size if at else None for size, at in zip(sizes[line].tolist(), mask, strict=True)]
            for mask in ((held & ~hollow)[line].tolist(), hollow[line].tolist())
        )
        color = EDGE if line == len(chosen) else COLORS[line % len(COLORS)]
        dash = _DASHES[line // len(COLORS) % len(_DASHES)]
        marker = {"size": _LARGE if width <= _FEW_POINTS else _SMALL}
        # A grey line below makes it visible on any paper.
        below = points | {"hoverinfo": "skip", "line": {"color": EDGE, "width": 4}}
        ring = marker | {"color": "#FFFFFF", "line": {"color": color, "width": 2}}
        traces += [
            go.Scatter(**below, y=drawn, mode="lines", showlegend=False),
            go.Scatter(
                **points,
                name=markup([name]),
                y=drawn,
                mode="lines+markers",
                line={"color": color, "width": 2, "dash": dash},
                marker=marker | {"color": color, "line": {"color": EDGE, "width": 1}},
            ),
            *[go.Scatter(**points, y=alone, mode="markers", marker=ring, showlegend=False)]
            * bool(hollow[line].any()),
        ]
    notes = [drawn_note((len(chosen), others, level.noun)), *[_HOLLOW] * bool(hollow.any())]
    return _Traces(traces, names, notes, float(sizes.max()))


def _count_known(
    level: Level, chosen: Places, times: pd.DatetimeIndex, requests: pd.DataFrame
) -> tuple[Places, Places]:
    """Count the known wallets of each chosen group: at each time, and at any time."""
    rows = requests[requests["known"]]
    once = rows.drop_duplicates(["wallet", "time"])
    at = times.get_indexer(pd.DatetimeIndex(once["time"]))
    set_codes = level.groups.wallet_set_codes[once["wallet"]]
    count, width = level.groups.wallet_set_count, len(times)
    cells = (set_codes * width + at)[at >= 0]
    known = np.bincount(cells, minlength=count * width).reshape(count, width)
    wallets = rows["wallet"].unique()
    most = np.bincount(level.groups.wallet_set_codes[wallets], minlength=count)
    sets = level.groups.wallet_sets[chosen]
    return known[sets], most[sets]


def _point_texts(grouped: GroupedBalances, cells: Places, sizes: Sizes) -> list[list[str]]:
    """Write the size of each point, exactly if it is of one token or asset."""
    balances, (lines, width) = grouped.balances, sizes.shape
    exact = [""] * sizes.size
    if balances.measure.kind == "amount" or not ADDED.isdisjoint(grouped.names):
        amounts = balances.exact(cells, np.arange((lines - 1) * width))
        exact[: len(amounts)] = [
            "" if amount is None else full_amount(amount) for amount in amounts
        ]
    each = zip(sizes.ravel().tolist(), exact, strict=True)
    texts = [_size_text(balances.measure, *parts) for parts in each]
    if balances.measure.kind == "amount":  # Other has no exact amount
        texts[-width:] = [balances.measure.short(size) for size in sizes[-1].tolist()]
    return [texts[start : start + width] for start in range(0, len(texts), width)]


def waterfall(
    changes: pd.DataFrame,
    *,
    token: TokenLike | None = None,
    asset: str | None = None,
    top: int = 20,
    wallets: FetchLike | None = None,
) -> go.Figure:
    """Draw the changes of one token or asset, as `history.compare` returns them.

    Parameters
    ----------
    token : str or (str, str or None), optional
        The token: an unambiguous symbol, or (blockchain, contract), None if native; needed if
        there are changes of several.
    asset : str, optional
        For changes by asset: the asset.
    top : int, default 20
        The most bars, up to 100: the largest changes; the rest are drawn as Other.
    wallets : DataFrame or WalletDetails, optional
        One of the two fetches, whose column ``name``, if any, names the wallets.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace with a bar for each wallet, or each group of ``by=``, and one for all
        together, with exact amounts in the hover; if no change is known, no trace, but a note.

    Raises
    ------
    SettingsError
        If there are several tokens or assets and none is named, or `top` is out of range.
    ColumnsError
        If a column of changes is missing, as in holdings.
    UnknownTokenError, AmbiguousTokenError
        If no row has the token, or several tokens share the symbol.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> changes = pd.DataFrame({"owner": ["Ada", "Bo"], "symbol": "ETH", "change": "increased",
    ...     "token_address": None, "token_blockchain": "ETH", "before": 0,
    ...     "difference": pd.array(["1.5", "2"], dtype="amount")})
    >>> changes.wf.plot.waterfall().data[0].x
    (2.0, 1.5, 0)
    """
    most = check_top("top", top, _CHANGES)
    by_asset = _ASSET in changes or asset is not None
    needed = [*_CHANGE_COLUMNS, *([_ASSET] if by_asset else _TOKEN_COLUMNS)]
    if missing := [name for name in needed if name not in changes.columns]:
        present = [str(name) for name in changes.columns]
        of_tokens = missing == [_ASSET] and {*_TOKEN_COLUMNS} <= {*present}
        raise ColumnsError(missing, present, hint=_BY_ASSET if of_tokens else _COMPARED)
    # A row without a token belongs to an unknown wallet.
    has_token = changes["token_blockchain" if "symbol" in changes else _ASSET].notna()
    selected = _select_one(changes[has_token], token, asset)
    is_known = selected["change"] != "unknown"
    known, unknown = selected[is_known], pd.concat([selected[~is_known], changes[~has_token]])
    left_out, trust = [], []
    if len(unknown):
        count = f"{counted_noun(len(unknown), 'change')} {'is' if len(unknown) == 1 else 'are'}"
        left_out.append(f"{count} unknown and not drawn: {_join_first(unknown, wallets)}.")
    if {"wallets_known", "wallets"} <= {*known.columns}:
        partly = known[known["wallets_known"] < known["wallets"]]
        if len(partly):
            affected = _join_first(partly, wallets)
            trust.append(f"Some wallets are unknown, so changes may differ: {affected}.")
    info = changes.attrs.get(COMPARED, {})
    times = [f"From {info['before']} to {info['after']}."] if {"before", "after"} <= {*info} else []
    marked = ["Simulated data."] if info.get("service") == SIMULATED else []
    if wallets is not None:
        marked = simulated_note(wallets_frame(wallets))
    drawn = [*times, "Length: the change in the amounts that are known at both times."]
    notes = Notes(marked, drawn, left_out, trust)
    if known.empty:
        return blank("Changes", notes, "No change is known.")
    sizes = np.abs(known["difference"].astype("float64").to_numpy())
    order = np.argsort(-sizes, kind="stable")
    rows, rest = known.iloc[order[:most]], known.iloc[order[most:]]
    symbol = safe_line(str(rows["symbol" if "symbol" in rows else _ASSET].iloc[0]), _SHORT)
    short, full = _row_names(rows, wallets)
    exact = [*rows["difference"]]
    if len(rest):
        short, full = ([*each, other_name(len(rest), "change")] for each in (short, full))
        exact.append(rest["difference"].sum())
    sums, names = [*exact, known["difference"].sum()], [*short, _ALL_ROWS]
    exact_texts = [f"{each} {symbol}" for each in sums]
    more, less, all_ = (
        {"marker": {"color": color, "line": OUTLINE}} for color in (COLORS[6], COLORS[0], OTHER)
    )
    trace = go.Waterfall(
        orientation="h",
        y=list(range(len(sums))),
        x=[*map(float, exact), 0],
        measure=["relative"] * len(exact) + ["total"],
        text=[f"{'+' * (each > 0)}{compact(float(each))}" for each in sums],
        textposition="outside",
        cliponaxis=False,
        constraintext="none",
        hovertext=[hover(*each) for each in zip([*full, _ALL_ROWS], exact_texts, strict=True)],
        hoverinfo="text",
        increasing=more,
        decreasing=less,
        totals=all_,
        connector={"line": OUTLINE},
    )
    axis_name = (
        "wallet" if "address" in rows else ", ".join(map(safe_line, _keys(rows))) or "wallets"
    )
    return figure(
        [trace],
        title=f"Changes of {symbol}",
        notes=notes,
        space=row_space(names),
        showlegend=False,
        bargap=0.25,
        yaxis=category_axis(names, axis_name) | {"range": [len(sums) - 0.5, -0.5]},
        xaxis=axis_title(f"change of {symbol}") | {"side": "top", "range": _axis_range(exact)},
        xaxis_title_standoff=4,
    )


def _select_one(named: pd.DataFrame, token: TokenLike | None, asset: str | None) -> pd.DataFrame:
    """Return the changes of one token or asset."""
    if asset is not None:
        held = [name for name in named[_ASSET].unique() if name.casefold() == asset.casefold()]
        if not held:
            raise UnknownTokenError(asset, _ASSET, "use one from the column asset")
        named = named[named[_ASSET].isin(held)]
    if token is not None:
        named = named[find_token(named, token)]
    by_token = "symbol" in named
    kinds = token_identities(named).keys if by_token else named[_ASSET].unique()
    if len(kinds) > 1:
        hint = f"choose one with {'token' if by_token else _ASSET}=…"
        raise SettingsError("amounts of different tokens are never added", hint=hint)
    return named


def _join_first(rows: pd.DataFrame, wallets: FetchLike | None) -> str:
    """Join the first few names of the rows, and the number of the others."""
    names = list(dict.fromkeys(_row_names(rows, wallets)[0]))
    more = [f"{len(names) - _MAX_NAMED:,} more"] if len(names) > _MAX_NAMED else []
    return ", ".join([*names[:_MAX_NAMED], *more])


def _axis_range(exact: list[Amount]) -> list[float]:
    """Return the axis range, with room for numbers: right of increases, left of decreases."""
    sizes = [float(each) for each in exact]
    ends: list[float] = np.cumsum(sizes).tolist()
    bars = [*zip([*sizes, ends[-1]], [*ends, ends[-1]], strict=True)]
    low, high = min(0, *ends), max(0, *ends)
    pad = _PAD * (high - low)
    left = min([low, *(end - pad for size, end in bars if size < 0)])
    return [left, max([high, *(end + pad for size, end in bars if size > 0)])]


def _keys(rows: pd.DataFrame) -> list[str]:
    """Return the columns that changes are grouped by, without those of the token or asset."""
    columns = [str(name) for name in rows.columns]
    others = {*_TOKEN_COLUMNS, _ASSET}
    return [name for name in columns[: columns.index("before")] if name not in others]


def _row_names(rows: pd.DataFrame, wallets: FetchLike | None) -> tuple[list[str], list[str]]:
    """Return short and full names of rows: of their wallets, or of their groups."""
    if "address" in rows:
        called = user_wallet_names(rows, None if wallets is None else as_wallets_frame(wallets))
        each = zip(rows["blockchain"], rows["address"], called, strict=True)
        full = [whole_wallet(*parts) for parts in each]
        return wallet_names(rows, np.arange(len(rows)), called), full
    labels = rows[_keys(rows)]
    if not len(labels.columns):
        return ["all wallets"], ["all wallets"]
    short, full = (
        [
            " · ".join(
                label_text(label, limit, str(name)) for name, label in zip(labels, row, strict=True)
            )
            for row in labels.to_numpy(dtype=object)
        ]
        for limit in (_SHORT, _LONG)
    )
    return unique_names(short, full.__getitem__), full
