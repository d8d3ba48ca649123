"""What a person sees of a portfolio as a chart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe import charts
from walletframe.errors import ArgumentError
from walletframe.frames.names import token_names
from walletframe.pickers.portfolio import VALUED, absence
from walletframe.pickers.widget import error_text
from walletframe.text import shown

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
    """A chart to choose."""

    function: str  # in `walletframe.charts`
    takes: str  # "perhaps a token", "a token", "a wallet" or ""
    arguments: Mapping[str, Any]  # how much is drawn, so that a browser draws it in a moment
    by: tuple[str, ...] = ()  # what it groups by; nothing where that is no choice
    below: tuple[str, ...] = ()  # what it groups by below a user's own column
    colored: bool = True  # whether it takes the colours of tokens


_NARROW = {"bar": {"top_tokens": 4}, "heatmap": {"top": 15, "top_tokens": 5}}
_NESTED, _BARS = {"top": 80}, {"top": 12, "top_tokens": 6}
_LEVELS = ("blockchain", "wallet", "token"), ("wallet", "token")
_CELLS = {"top": 20, "top_tokens": 15}
CHARTS = {
    "Treemap": ChartType("treemap", "perhaps a token", _NESTED, *_LEVELS),
    "Sunburst": ChartType("sunburst", "perhaps a token", _NESTED, *_LEVELS),
    "Bars by wallet": ChartType("bar", "perhaps a token", _BARS, ("wallet",)),
    "Bars by blockchain": ChartType(
        "bar", "perhaps a token", _BARS, ("blockchain",), ("blockchain",)
    ),
    "Heatmap": ChartType("heatmap", "", _CELLS, ("wallet",), colored=False),
    "Pie of a wallet": ChartType("pie", "a wallet", {}),
    "Lorenz curve": ChartType("lorenz", "a token", {}, colored=False),
}


@dataclass(frozen=True, slots=True)
class ChartOptions:
    """How a person wants to see what is selected."""

    chart: str = "Treemap"
    measure: str = ""  # where it is empty or can't be had, what is best
    group: str = WALLET  # or a column that the wallets keep
    assets: bool = False  # in the place of tokens
    narrow: bool = False  # a page that has little room beside names

    @property
    def type(self) -> ChartType:
        """What there is to know of the chart."""
        return CHARTS[self.chart]

    @property
    def by(self) -> tuple[str, ...]:
        """What it groups by: as it is, or by a user's own column, and by assets."""
        by = self.type.by
        if by and self.group != WALLET:
            by = (self.group, *self.type.below)
        return (*(name for name in by if name != "token"), "asset") if by and self.assets else by

    def changed(self, asked: Mapping[str, Any], groups: Sequence[str]) -> ChartOptions:
        """Return them as a person wants them, where wallets keep these columns to group by."""
        names = ("chart", "measure", "group", "narrow")
        given = {name: asked[name] for name in names if name in asked}
        if given.get("chart", self.chart) not in CHARTS:
            hint = f"one of {', '.join(CHARTS)}"
            raise ArgumentError(f"{given['chart']!r} is not a chart", hint=hint)
        if "thing" in asked:
            given["assets"] = asked["thing"] == ASSETS
        found = replace(self, **given)  # another page may have a fetch that is gone
        return found if found.group in groups else replace(found, group=WALLET)


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart as the page gets it; texts are plain, as strangers may have written them."""

    selected: Selected  # whose places the figure and its nodes have
    options: ChartOptions  # with the measure that was chosen
    measures: tuple[str, ...]  # what there is to choose from
    title: str
    token: str = ""  # the one token that is drawn, if it is one
    line: str = ""
    about: tuple[str, ...] = ()
    figure: bytes = b""  # JSON; empty where nothing is drawn
    reason: str = ""  # why nothing is
    arguments: Mapping[str, Any] | None = None  # of the chart's function, None where it isn't drawn
    rows: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()

    def choices(self) -> dict[str, Any]:
        """Return for a page what there is to choose a chart by, and what is chosen."""
        chart = self.options
        measures = {
            VALUE: "value",
            AMOUNTS: f"amount of {self.token or 'one token'}",
            BALANCES: "number of balances",
        }
        own = self.selected.portfolio.groups if chart.type.by else []
        usual = "blockchain" if chart.type.by == ("blockchain",) else "wallet"
        groups = [(WALLET, usual), *((name, shown(name, 40)) for name in own)]
        return {
            "chart": chart.chart,
            "charts": [(name, name) for name in CHARTS],
            "measure": chart.measure,
            "measures": [(name, measures[name]) for name in self.measures],
            "group": chart.group,
            "groups": groups if own else [],
            "thing": ASSETS if chart.assets else TOKENS,
            "things": [(name, name) for name in (TOKENS, ASSETS) if chart.type.by],
        }


def draw(selected: Selected, options: ChartOptions) -> Picture:
    """Draw what is selected; where its chart can't be drawn, say why."""
    kind, held = options.type, selected.held
    # Shares stand for amounts where a chart takes no token.
    measures = [VALUE] if "value" in held.holdings and held.holdings["value"].notna().any() else []
    measures += [AMOUNTS] if kind.takes == "perhaps a token" else []
    measures = [AMOUNTS] if kind.takes == "a token" else [*measures, BALANCES]
    if options.measure not in measures:  # values first, or the amounts of the one token picked
        is_one = len(selected.selection.tokens) == 1 and AMOUNTS in measures
        best = AMOUNTS if is_one else VALUE
        options = replace(options, measure=best if best in measures else measures[-1])
    picture = Picture(selected, options, tuple(measures), title=options.chart)
    if not len(held.holdings):
        return replace(picture, reason=absence(selected))
    drawn = held
    if options.measure != VALUE and kind.takes != "a token":  # counted, or drawn by amounts
        bare = held.holdings.drop(columns=VALUED, errors="ignore")
        drawn = replace(held, holdings=bare)
    try:
        given = _arguments(selected, options)
        colors = {"colors": selected.portfolio.colors} if kind.colored else {}
        figure = getattr(charts, kind.function)(drawn, wallets=selected.wallets, **given, **colors)
    except Exception as error:  # noqa: BLE001 - shown in the chart's place
        return replace(picture, reason=f"No chart: {error_text(error)}")
    if not figure.data:  # its one annotation says why
        return replace(picture, reason=charts.plain(figure.layout.annotations[0].text))
    meta, token = figure.layout.meta, ""
    title, about = charts.take_words(figure)  # which takes the meta, too
    if "token" in given:
        place = held.tokens.keys.index(given["token"])
        [token] = token_names(held.holdings, held.tokens, np.array([place]))
    _fit(figure, options)
    return replace(
        picture,
        token=token,
        title=title,
        line=charts.plain(meta["line"]),
        about=tuple(about),
        figure=figure.to_json(validate=False).encode(),
        arguments=given,
        rows=tuple(meta.get("rows", ())),
        tokens=tuple(meta.get("tokens", ())),
    )


def _fit(figure: charts.Figure, options: ChartOptions) -> None:
    """Make a figure fill the page, which paints it in its own colours."""
    layout = figure.layout
    if not charts.has_template():
        layout.template = None
    if options.chart in _ROUND:  # nothing stands beside it
        room = layout.margin.t + layout.margin.b
        layout.height, layout.margin = layout.height - room, _NO_MARGIN
        if options.narrow:
            layout.height = min(layout.height, _LOW)
    elif options.narrow and options.chart == "Heatmap":  # no room for texts and the scale
        high = layout.margin.t
        figure.update_traces(texttemplate=None, showscale=False)
        layout.annotations, layout.margin.t, layout.height = (), 0, layout.height - high
        layout.xaxis.update(tickangle=-90, title=None)
        layout.yaxis.title = None
    elif options.narrow and options.type.function == "bar":  # names take most of it
        layout.xaxis.update(nticks=3, tickangle=0)
        layout.yaxis.title = None


def _arguments(selected: Selected, options: ChartOptions) -> dict[str, Any]:
    """Choose a chart's arguments: the wallet or token that is picked, or with most balances."""
    kind, held, selection = options.type, selected.held, selected.selection
    found: dict[str, Any] = {}
    if by := options.by:
        found["by"] = by[0] if len(by) == 1 else [*by]
    found |= kind.arguments
    chosen: Sequence[TokenKey] | None = None
    if kind.takes == "a wallet":
        name, chosen = "wallet", selection.wallet_keys()
        keys, codes = held.wallet_keys, held.wallet_codes
    elif options.measure == AMOUNTS:
        name, chosen, keys, codes = "token", selection.tokens, held.tokens.keys, held.tokens.codes
    if chosen is not None:
        there, most = {*keys}, keys[int(np.bincount(codes).argmax())]
        found[name] = next((key for key in chosen if key in there), most)
    return found | (_NARROW.get(kind.function, {}) if options.narrow else {})
