"""The charts of the explorer: their types, their options, and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe import charts
from walletframe.errors import ArgumentError
from walletframe.frames.names import token_names
from walletframe.pickers.portfolio import VALUED, empty_reason
from walletframe.pickers.widget import error_text
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.frames.identity import TokenKey
    from walletframe.pickers.portfolio import Selected

VALUE, AMOUNTS, BALANCES = "value", "amounts", "balances"
WALLET, TOKENS, ASSETS = "wallet", "tokens", "assets"
_ROUND, _LOW = {"Treemap", "Sunburst"}, 400
_NO_MARGIN = dict.fromkeys("tblr", 0)


@dataclass(frozen=True, slots=True)
class ChartType:
    """A type of chart to choose."""

    function: str  # in `walletframe.charts`
    needs: str  # "token?" (optional), "token", "wallet" or ""
    arguments: Mapping[str, Any]  # how much to draw, so that the browser stays fast
    by: tuple[str, ...] = ()  # the names to group by; empty if they can't be chosen
    below: tuple[str, ...] = ()  # the names inside a user's own column
    colored: bool = True  # whether it takes the colours of tokens


_NARROW = {"bar": {"top_tokens": 4}, "heatmap": {"top": 15, "top_tokens": 5}}
_NESTED, _BARS = {"top": 80}, {"top": 12, "top_tokens": 6}
_LEVELS = ("blockchain", "wallet", "token"), ("wallet", "token")
_CELLS = {"top": 20, "top_tokens": 15}
CHARTS = {
    "Treemap": ChartType("treemap", "token?", _NESTED, *_LEVELS),
    "Sunburst": ChartType("sunburst", "token?", _NESTED, *_LEVELS),
    "Bars by wallet": ChartType("bar", "token?", _BARS, ("wallet",)),
    "Bars by blockchain": ChartType("bar", "token?", _BARS, ("blockchain",), ("blockchain",)),
    "Heatmap": ChartType("heatmap", "", _CELLS, ("wallet",), colored=False),
    "Pie of a wallet": ChartType("pie", "wallet", {}),
    "Lorenz curve": ChartType("lorenz", "token", {}, colored=False),
}


@dataclass(frozen=True, slots=True)
class ChartOptions:
    """The options of the chart that a user has chosen."""

    chart: str = "Treemap"
    measure: str = ""  # the best one is used if it is empty or not available
    group: str = WALLET  # or a user's own column of the wallets
    assets: bool = False  # instead of tokens
    narrow: bool = False  # whether the page is narrow

    @property
    def type(self) -> ChartType:
        """The type of the chart."""
        return CHARTS[self.chart]

    @property
    def by(self) -> tuple[str, ...]:
        """The names to group by: those of the type, or the user's own column; optionally assets."""
        by = self.type.by
        if by and self.group != WALLET:
            by = (self.group, *self.type.below)
        return (*(name for name in by if name != "token"), "asset") if by and self.assets else by

    def changed(self, request: Mapping[str, Any], groups: Sequence[str]) -> ChartOptions:
        """Return the options changed by a page's request; `groups` are columns to group by."""
        names = ("chart", "measure", "group", "narrow")
        changes = {name: request[name] for name in names if name in request}
        if changes.get("chart", self.chart) not in CHARTS:
            hint = f"choose one of {', '.join(CHARTS)}"
            raise ArgumentError(f"{changes['chart']!r} is not a chart", hint=hint)
        if "thing" in request:
            changes["assets"] = request["thing"] == ASSETS
        options = replace(self, **changes)  # the page may show an older fetch with other groups
        return options if options.group in groups else replace(options, group=WALLET)


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart for the page; texts are plain and untrusted."""

    selected: Selected  # the figure refers to rows of its holdings
    options: ChartOptions  # with the measure that is drawn
    measures: tuple[str, ...]  # the available measures
    title: str
    token: str = ""  # the name of the one drawn token, if any
    line: str = ""
    about: tuple[str, ...] = ()
    figure: bytes = b""  # JSON; empty if nothing is drawn
    reason: str = ""  # why nothing is drawn
    arguments: Mapping[str, Any] | None = None  # of the chart's function; None if nothing is drawn
    rows: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()

    def choices(self) -> dict[str, Any]:
        """Return the choices of chart, measure and grouping for a page, with the current ones."""
        chart = self.options
        measures = {
            VALUE: "value",
            AMOUNTS: f"amount of {self.token or 'one token'}",
            BALANCES: "number of balances",
        }
        own = self.selected.portfolio.groups if chart.type.by else []
        usual = "blockchain" if chart.type.by == ("blockchain",) else "wallet"
        groups = [(WALLET, usual), *((name, safe_line(name, 40)) for name in own)]
        return {
            "chart": chart.chart,
            "charts": [(name, name) for name in CHARTS],
            "measure": chart.measure,
            "measures": [(name, measures[name]) for name in self.measures],
            "group": chart.group,
            "groups": groups if own else [],
            "thing": ASSETS if chart.assets else TOKENS,
            "things": [(TOKENS, "per token"), (ASSETS, "per asset")] if chart.type.by else [],
        }


def draw(selected: Selected, options: ChartOptions) -> Picture:
    """Draw the selection; if its chart can't be drawn, return the reason."""
    kind, held = options.type, selected.held
    # A chart without a token shows shares, not amounts.
    measures = [VALUE] if "value" in held.holdings and held.holdings["value"].notna().any() else []
    measures += [AMOUNTS] if kind.needs == "token?" else []
    measures = [AMOUNTS] if kind.needs == "token" else [*measures, BALANCES]
    if options.measure not in measures:  # values first, but amounts for one selected token
        is_one = len(selected.selection.tokens) == 1 and AMOUNTS in measures
        best = AMOUNTS if is_one else VALUE
        options = replace(options, measure=best if best in measures else measures[-1])
    picture = Picture(selected, options, tuple(measures), title=options.chart)
    if not len(held.holdings):
        return replace(picture, reason=empty_reason(selected))
    drawn = held
    if options.measure != VALUE and kind.needs != "token":  # so that counts or amounts are drawn
        bare = held.holdings.drop(columns=VALUED, errors="ignore")
        drawn = replace(held, holdings=bare)
    try:
        arguments = _arguments(selected, options)
        colors = {"colors": selected.portfolio.colors} if kind.colored else {}
        figure = getattr(charts, kind.function)(
            drawn, wallets=selected.wallets, **arguments, **colors
        )
    except Exception as error:  # noqa: BLE001 - shown in place of the chart
        return replace(picture, reason=f"No chart: {error_text(error)}")
    if not figure.data:  # its only annotation is the reason
        return replace(picture, reason=charts.plain_text(figure.layout.annotations[0].text))
    meta, token = figure.layout.meta, ""
    title, about = charts.extract_notes(figure)  # this removes the meta, too
    if "token" in arguments:
        place = held.tokens.keys.index(arguments["token"])
        [token] = token_names(held.holdings, held.tokens, np.array([place]))
    _fit(figure, options)
    return replace(
        picture,
        token=token,
        title=title,
        line=charts.plain_text(meta["line"]),
        about=tuple(about),
        figure=figure.to_json(validate=False).encode(),
        arguments=arguments,
        rows=tuple(meta.get("rows", ())),
        tokens=tuple(meta.get("tokens", ())),
    )


def _fit(figure: charts.Figure, options: ChartOptions) -> None:
    """Fit a figure to the page, which sets its own colours."""
    layout = figure.layout
    if not charts.has_custom_template():
        layout.template = None
    if options.chart in _ROUND:  # there are no axes
        room = layout.margin.t + layout.margin.b
        layout.height, layout.margin = layout.height - room, _NO_MARGIN
        if options.narrow:
            layout.height = min(layout.height, _LOW)
    elif options.narrow and options.chart == "Heatmap":  # no room for texts and the scale
        top = layout.margin.t
        figure.update_traces(texttemplate=None, showscale=False)
        layout.annotations, layout.margin.t, layout.height = (), 0, layout.height - top
        layout.xaxis.update(tickangle=-90, title=None)
        layout.yaxis.title = None
    elif options.narrow and options.type.function == "bar":  # names take most of the width
        layout.xaxis.update(nticks=3, tickangle=0)
        layout.yaxis.title = None


def _arguments(selected: Selected, options: ChartOptions) -> dict[str, Any]:
    """Return a chart's arguments, with the selected wallet or token, or that of most balances."""
    kind, held, selection = options.type, selected.held, selected.selection
    arguments: dict[str, Any] = {}
    if by := options.by:
        arguments["by"] = by[0] if len(by) == 1 else [*by]
    arguments |= kind.arguments
    chosen: Sequence[TokenKey] | None = None
    if kind.needs == "wallet":
        name, chosen = "wallet", selection.wallet_keys()
        keys, codes = held.wallet_keys, held.wallet_codes
    elif options.measure == AMOUNTS:
        name, chosen, keys, codes = "token", selection.tokens, held.tokens.keys, held.tokens.codes
    if chosen is not None:
        there, most = {*keys}, keys[int(np.bincount(codes).argmax())]
        arguments[name] = next((key for key in chosen if key in there), most)
    return arguments | (_NARROW.get(kind.function, {}) if options.narrow else {})
