"""What is held in each snapshot, by how many known wallets; and what changed between two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from walletframe.charts.balances import (
    added,
    check_top,
    label_text,
    largest,
    lay_out,
    listed,
    ranks,
    read_groupings,
)
from walletframe.charts.canvas import (
    Notes,
    Space,
    blank,
    drawn_of,
    figure,
    hover,
    markup,
    named_axis,
    other,
    rows_of,
    simulated,
    titled,
    wallets_frame,
    with_legend,
)
from walletframe.charts.palette import COLORS, EDGE, OTHER, OUTLINE
from walletframe.errors import ColumnsError, SettingsError, UnknownTokenError
from walletframe.frames.asset_list import held_place
from walletframe.frames.contract import COMPARED, SIMULATED
from walletframe.frames.details import wallets_given
from walletframe.frames.groups import ADDED, SNAPSHOT, names_of
from walletframe.frames.identity import token_identities, wallet_identities
from walletframe.frames.known import known_when_asked
from walletframe.frames.names import (
    find_token,
    given_names,
    unique_names,
    wallet_names,
    whole_wallet,
)
from walletframe.frames.positions import snapshot_times
from walletframe.numerals import compact, many, whole
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.amounts.scalar import Amount
    from walletframe.charts.balances import Balances, Groupings, Level, Measure, Places, Sizes
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Mask, TokenKey
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions, PositionsLike

_SERIES, _SNAPSHOTS, _FEW_TICKS = 20, 200, 8
_INCOMPLETE = "fewer wallets known"
_DASHES = ("solid", "dot", "dash")
_FEW, _LARGE, _SMALL = 40, 8, 4
_HOLLOW = "A hollow point: fewer wallets of its group are known than at other times."
_TOKEN, _ASSET = ["symbol", "token_address", "token_blockchain"], "asset"
_NEEDED = ["before", "difference", "change"]
_CHANGES = 100
_SHORT, _LONG = 24, 80
_WHO = 3  # names in a note
_PAD = 0.12  # of the axis, for numbers beside the bars
_ALL = "all together"
_BY_ASSET = (
    "compare(before, after, asset=…).wf.plot.waterfall() draws one asset; several can "
    "be chosen from with compare(before, after, by=['wallet', 'asset'])"
)
_COMPARED = "compare(before, after).wf.plot.waterfall() draws changes"


@dataclass(frozen=True, slots=True)
class _Moments:
    """The snapshots that are drawn."""

    codes: Places  # for each row of holdings the place of its snapshot, -1 where that is not drawn
    drawn: pd.DatetimeIndex  # in order
    times: list[str]  # the same, in UTC
    asked: pd.DataFrame | None  # the places of wallets that could hold it, and if known when
    incomplete: list[tuple[str, str]]  # when wallets are unknown that are known elsewhere: how many
    notes: Notes  # sentences about them


class _Drawn(NamedTuple):
    """The bars or lines of a timeline."""

    traces: list[Any]
    names: list[str]
    said: list[str]  # how much is drawn, and what its points mean
    highest: float


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
    """Draw snapshots of holdings along time: stacked by token, or a line for each owner.

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
        gap where nothing is known of its group, and a point that stands alone where less is
        known than at other times. ``details.wf`` has them.
    assets, bridged, colors : optional
        As in `bar`.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace for each token, the largest first, with exact amounts in the hover; a line has
        two or three; with `wallets`, one more of the marks, if there are any; none, but a note
        why, if nothing is above 0. At most 200 snapshots, evenly chosen. Times are in UTC.

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
    measure, what = balances.measure, "" if stacked else f"by {listed(found.names)} "
    moments = _read_moments(balances.positions, wallets, token if asset is None else asset)
    title = f"{measure.of} {what}over time"
    notes = moments.notes._replace(left_out=[*balances.left_out, *moments.notes.left_out])
    mask = moments.codes[balances.rows] >= 0
    if not mask.any():
        reason = "No row has a snapshot." if len(balances.rows) else balances.why_none
        return blank(title, notes, reason)
    drawn = replace(balances, rows=balances.rows[mask], sizes=balances.sizes[mask])
    if stacked:
        lines = _stacked(drawn, moments, series, colors)
    else:
        lines = _lines(replace(found, balances=drawn), moments, series)
    if moments.incomplete:  # a triangle on the axis where fewer wallets are known
        times, texts = zip(*moments.incomplete, strict=True)
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
        notes=notes._replace(drawn=[*notes.drawn, *lines.said, f"Height: {measure.phrase}."]),
        **with_legend(Space(360), lines.names),
        barmode="stack",
        hovermode="x unified",
        xaxis=titled("time (UTC)")
        | {"type": "date", "automargin": True}
        | _marked({*moments.times, *(time for time, _ in moments.incomplete)}),
        yaxis=measure.axis(lines.highest) | {"ticklabelstandoff": 4, "automargin": True},
    )


def _read_moments(
    positions: Positions, wallets: FetchLike | None, token: TokenLike | None
) -> _Moments:
    """Choose the snapshots that have rows or, as `wallets` say, could have had any.

    Answers that were out of date count as unknown. Where one token is drawn, wallets that could not
    hold it don't count, and those of which its amount is unknown are not known.
    """
    column, asked = snapshot_times(positions.holdings), None
    times, known, most = column.dropna().unique(), pd.Series(dtype=np.int64), 0
    real, trust = list[str](), list[str]()
    certain = np.ones(len(column), dtype=bool)
    if wallets is not None:
        frame = wallets_frame(wallets)
        asked, certain = _asked(positions, column, frame, token)
        known = asked.groupby("time")["known"].sum()
        most = asked["wallet"][asked["known"]].nunique()
        times = column[certain].dropna().unique()
        times = times.union(pd.DatetimeIndex(known.index[known > 0]))
        real = simulated(frame)
        trust = [f"{most:,} of {many(asked['wallet'].nunique(), 'wallet')} ever known."]
        if fewer := int((known < most).sum()):
            trust.append(f"In {fewer:,} of {many(len(known), 'snapshot')} fewer of them are known.")
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


def _asked(
    positions: Positions, times: pd.DatetimeIndex, wallets: pd.DataFrame, token: TokenLike | None
) -> tuple[pd.DataFrame, Mask]:
    """Return who could hold it, when asked, and if known; and which rows are not out of date."""
    who, tokens = wallet_identities(wallets), positions.tokens
    asked = pd.DataFrame({"wallet": who.codes, "known": known_when_asked(wallets)})
    asked["time"] = snapshot_times(wallets)
    # A number for the wallet and time of each row of holdings, and of each that was asked.
    places = {key: place for place, key in enumerate(who.keys)}
    owners = np.array([places.get(key, len(places)) for key in positions.wallet_keys], np.intp)
    every = pd.DatetimeIndex(asked["time"].unique())
    wide = len(every) + 1  # the last is of rows of another time
    held = owners[positions.wallet_codes] * wide + every.get_indexer(times) % wide
    told = who.codes * wide + every.get_indexer(pd.DatetimeIndex(asked["time"]))
    certain = ~np.isin(held, told[~asked["known"]])
    if token is not None and len(times):
        place = held_place(positions, token)
        # By a token that is unknown, or an amount, it is unknown how much the wallet had of it.
        doubtful = (tokens.codes == place) & positions.amounts.isna() | tokens.unknown[tokens.codes]
        asked["known"] &= ~np.isin(told, held[doubtful])
        of_tokens, chains = positions.could_hold()
        names = [*positions.chain_places]
        able = {names[chain] for chain in chains[of_tokens == place]} | {tokens.keys[place][0]}
        asked = asked[np.array([chain in able for chain, _ in who.keys], dtype=bool)[who.codes]]
    return asked, certain


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


def _stacked(
    balances: Balances, moments: _Moments, top: int, colors: Mapping[TokenKey, str] | None
) -> _Drawn:
    """Draw bars for each of the largest tokens, and for the others; each height on one line."""
    measure, count = balances.measure, len(moments.times)
    tokens = largest(added(balances.token_codes, balances.sizes), top)
    grid = lay_out(balances, moments.codes[balances.rows], np.arange(count), tokens)
    # The bars of snapshots touch only where they must; their width is in milliseconds.
    times = np.array(moments.times, dtype="datetime64[ms]").astype(np.int64)
    width = 6 * 60 * 60 * 1000.0
    if count > 1:
        width = float(max(0.8 * np.diff(times).min(), np.ptp(times) / _SNAPSHOTS / 2))
    traces, series = [], grid.series(colors)
    for token, each in enumerate(series):
        sizes, texts = grid.sizes[:count, token].tolist(), []
        for row, size in enumerate(sizes):
            exact = grid.exact(row, token) if token < len(tokens) and size else ""
            texts.append(f"{markup([each.name])}: {markup([_height(measure, size, exact)])}")
        traces.append(each.bar(x=moments.times, y=sizes, width=width, hovertext=texts))
    said = [drawn_of((len(tokens), grid.other_tokens, grid.kind))] * (measure.kind != "amount")
    return _Drawn(traces, [each.name for each in series], said, float(grid.sizes.sum(axis=1).max()))


def _height(measure: Measure, size: float, exact: str) -> str:
    """Write a size on one line; the amount is empty where it is of several tokens or none."""
    if measure.kind == "amount":
        return exact or "0"
    short = measure.short(size)
    return f"{exact} ({short})" if exact and measure.kind == "value" else short


def _marked(times: set[str]) -> dict[str, Any]:
    """Mark the times themselves where they are few; an axis of one alone is of its day."""
    if len(times) > _FEW_TICKS:
        return {}
    at_midnight = all(time.endswith(" 00:00:00") for time in times)
    form = "%Y-%m-%d" if at_midnight else "%Y-%m-%d<br>%H:%M"
    axis: dict[str, Any] = {"tickvals": sorted(times), "tickformat": form}
    if len(times) == 1:
        [time], half = times, np.timedelta64(12, "h")
        axis["range"] = [str(np.datetime64(time) - half), str(np.datetime64(time) + half)]
    return axis


def _lines(found: Groupings, moments: _Moments, top: int) -> _Drawn:
    """Draw a line for each of the largest groups, and one for the others."""
    balances, level, wide = found.balances, found.level(found.names), len(moments.times)
    chosen = largest(added(level.codes, balances.sizes), top)
    of_rows = ranks(chosen, len(level.groups))[level.codes]
    cells, count = of_rows * wide + moments.codes[balances.rows], (len(chosen) + 1) * wide
    sizes = added(cells, balances.sizes, count).reshape(-1, wide)
    # Where nothing is known, or the others have nothing, there is no point; a hollow one where
    # fewer wallets are known than ever are.
    held = np.bincount(cells, minlength=count).reshape(-1, wide) > 0
    hollow, heights = np.zeros_like(held), _heights(found, cells, sizes)
    if moments.asked is not None:
        known, most = _known(level, chosen, moments.drawn, moments.asked)
        held[:-1] = known > 0
        hollow[:-1] = held[:-1] & (known < most[:, np.newaxis])
        for line in np.flatnonzero(most).tolist():
            of = many(int(most[line]), "wallet")
            each = zip(heights[line], known[line].tolist(), strict=True)
            heights[line] = [f"{height} ({count:,} of {of} known)" for height, count in each]
    others = len(np.unique(level.codes[of_rows == len(chosen)]))
    names = level.short(chosen.tolist()) + [other(others, level.noun)] * bool(others)
    traces = []
    for line, name in enumerate(names):
        points = {
            "x": moments.times,
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
        marker = {"size": _LARGE if wide <= _FEW else _SMALL}
        # A grey line below, by which it is seen on any paper.
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
    said = [drawn_of((len(chosen), others, level.noun)), *[_HOLLOW] * bool(hollow.any())]
    return _Drawn(traces, names, said, float(sizes.max()))


def _known(
    level: Level, chosen: Places, times: pd.DatetimeIndex, asked: pd.DataFrame
) -> tuple[Places, Places]:
    """Count the known wallets of each chosen group at each time, and those that ever are."""
    rows = asked[asked["known"]]
    once = rows.drop_duplicates(["wallet", "time"])
    at = times.get_indexer(pd.DatetimeIndex(once["time"]))
    owners = level.groups.owner_codes[once["wallet"]]
    owned, wide = level.groups.owned, len(times)
    cells = (owners * wide + at)[at >= 0]
    known = np.bincount(cells, minlength=owned * wide).reshape(owned, wide)
    wallets = rows["wallet"].unique()
    most = np.bincount(level.groups.owner_codes[wallets], minlength=owned)
    sets = level.groups.owners[chosen]
    return known[sets], most[sets]


def _heights(found: Groupings, cells: Places, sizes: Sizes) -> list[list[str]]:
    """Write how much each point is: exactly, where it is of one token or asset."""
    balances, (lines, wide) = found.balances, sizes.shape
    exact = [""] * sizes.size
    if balances.measure.kind == "amount" or not ADDED.isdisjoint(found.names):
        amounts = balances.exact(cells, np.arange((lines - 1) * wide))
        exact[: len(amounts)] = ["" if amount is None else whole(amount) for amount in amounts]
    each = zip(sizes.ravel().tolist(), exact, strict=True)
    texts = [_height(balances.measure, *parts) for parts in each]
    if balances.measure.kind == "amount":  # the others, of whom no one's amount is told
        texts[-wide:] = [balances.measure.short(size) for size in sizes[-1].tolist()]
    return [texts[start : start + wide] for start in range(0, len(texts), wide)]


def waterfall(
    changes: pd.DataFrame,
    *,
    token: TokenLike | None = None,
    asset: str | None = None,
    top: int = 20,
    wallets: FetchLike | None = None,
) -> go.Figure:
    """Draw what changed of one token or asset, as `history.compare` says it.

    Parameters
    ----------
    token : str or (str, str or None), optional
        Which one: an unambiguous symbol, or (blockchain, contract), None if native; needed
        where there are changes of several.
    asset : str, optional
        Of changes by asset: which one.
    top : int, default 20
        The most bars, up to 100: the largest changes; the rest are drawn as Other.
    wallets : DataFrame or WalletDetails, optional
        One of the two fetches, whose column ``name``, if any, names the wallets.

    Returns
    -------
    plotly.graph_objects.Figure
        One trace with a bar for each wallet, or what ``by=`` added up, and one for all
        together, with exact amounts in the hover; none, but a note why, if nothing is known.

    Raises
    ------
    SettingsError
        If there are several tokens or assets and none is named, or `top` is out of range.
    ColumnsError
        If a column of changes is missing: holdings have none.
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
    needed = [*_NEEDED, *([_ASSET] if _ASSET in changes or asset is not None else _TOKEN)]
    if missing := [name for name in needed if name not in changes.columns]:
        present = [str(name) for name in changes.columns]
        of_tokens = missing == [_ASSET] and {*_TOKEN} <= {*present}
        raise ColumnsError(missing, present, hint=_BY_ASSET if of_tokens else _COMPARED)
    # A row without a token is of a wallet of which nothing is known.
    something = changes["token_blockchain" if "symbol" in changes else _ASSET].notna()
    named = _of_one(changes[something], token, asset)
    is_known = named["change"] != "unknown"
    known, unknown = named[is_known], pd.concat([named[~is_known], changes[~something]])
    left_out, trust = [], []
    if len(unknown):
        count = many(len(unknown), "change")
        left_out.append(f"{count} not known, and not drawn: {_who(unknown, wallets)}.")
    if {"wallets_known", "wallets"} <= {*known.columns}:
        partly = known[known["wallets_known"] < known["wallets"]]
        if len(partly):
            trust.append(f"Not all wallets are known of {_who(partly, wallets)}.")
    told = changes.attrs.get(COMPARED, {})
    times = [f"From {told['before']} to {told['after']}."] if {"before", "after"} <= {*told} else []
    real = ["Simulated data."] if told.get("service") == SIMULATED else []
    if wallets is not None:
        real = simulated(wallets_frame(wallets))
    drawn = [*times, "Length: the change, of what is known at both times."]
    notes = Notes(real, drawn, left_out, trust)
    if known.empty:
        return blank("What changed", notes, "No change is known.")
    sizes = np.abs(known["difference"].astype("float64").to_numpy())
    order = np.argsort(-sizes, kind="stable")
    rows, rest = known.iloc[order[:most]], known.iloc[order[most:]]
    symbol = shown(str(rows["symbol" if "symbol" in rows else _ASSET].iloc[0]), _SHORT)
    short, full = _names(rows, wallets)
    exact = [*rows["difference"]]
    if len(rest):
        short, full = ([*names, other(len(rest), "change")] for names in (short, full))
        exact.append(rest["difference"].sum())
    sums, names = [*exact, known["difference"].sum()], [*short, _ALL]
    said = [f"{each} {symbol}" for each in sums]
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
        hovertext=[hover(*each) for each in zip([*full, _ALL], said, strict=True)],
        hoverinfo="text",
        increasing=more,
        decreasing=less,
        totals=all_,
        connector={"line": OUTLINE},
    )
    of = "wallet" if "address" in rows else ", ".join(map(shown, _by(rows))) or "wallets"
    return figure(
        [trace],
        title=f"What changed of {symbol}",
        notes=notes,
        space=rows_of(names),
        showlegend=False,
        bargap=0.25,
        yaxis=named_axis(names, of) | {"range": [len(sums) - 0.5, -0.5]},
        xaxis=titled(f"change of {symbol}") | {"side": "top", "range": _range(exact)},
        xaxis_title_standoff=4,
    )


def _of_one(named: pd.DataFrame, token: TokenLike | None, asset: str | None) -> pd.DataFrame:
    """Return the changes of one token or asset."""
    if asset is not None:
        held = [name for name in named[_ASSET].unique() if name.casefold() == asset.casefold()]
        if not held:
            raise UnknownTokenError(asset, _ASSET, "give one of those in the column asset")
        named = named[named[_ASSET].isin(held)]
    if token is not None:
        named = named[find_token(named, token)]
    by_token = "symbol" in named
    kinds = token_identities(named).keys if by_token else named[_ASSET].unique()
    if len(kinds) > 1:
        hint = f"name one: {('token' if by_token else _ASSET)}=…"
        raise SettingsError("amounts of different tokens are never added", hint=hint)
    return named


def _who(rows: pd.DataFrame, wallets: FetchLike | None) -> str:
    """Name whose changes some are, the first few."""
    names = list(dict.fromkeys(_names(rows, wallets)[0]))
    more = [f"{len(names) - _WHO:,} more"] if len(names) > _WHO else []
    return ", ".join([*names[:_WHO], *more])


def _range(exact: list[Amount]) -> list[float]:
    """Make room for the numbers: to the right of what became more, to the left of what less."""
    sizes = [float(each) for each in exact]
    ends: list[float] = np.cumsum(sizes).tolist()
    bars = [*zip([*sizes, ends[-1]], [*ends, ends[-1]], strict=True)]
    low, high = min(0, *ends), max(0, *ends)
    pad = _PAD * (high - low)
    left = min([low, *(end - pad for size, end in bars if size < 0)])
    return [left, max([high, *(end + pad for size, end in bars if size > 0)])]


def _by(rows: pd.DataFrame) -> list[str]:
    """Return what changes were added up by, beside the token or asset."""
    columns = [str(name) for name in rows.columns]
    return [name for name in columns[: columns.index("before")] if name not in {*_TOKEN, _ASSET}]


def _names(rows: pd.DataFrame, wallets: FetchLike | None) -> tuple[list[str], list[str]]:
    """Name rows by their wallet, or by what they were added up by: for the axis, and in full."""
    if "address" in rows:
        called = given_names(rows, None if wallets is None else wallets_given(wallets))
        each = zip(rows["blockchain"], rows["address"], called, strict=True)
        full = [whole_wallet(*parts) for parts in each]
        return wallet_names(rows, np.arange(len(rows)), called), full
    labels = rows[_by(rows)]
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
