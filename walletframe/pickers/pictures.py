"""What a person sees of a portfolio as a chart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe import charts
from walletframe.frames import token_names
from walletframe.numerals import many
from walletframe.pickers.portfolio import VALUED
from walletframe.pickers.summary import ONE_BY_ONE, absence, too_many
from walletframe.pickers.widget import error_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from walletframe.frames import TokenKey
    from walletframe.pickers.portfolio import Selected, Selection

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
    summed: bool = False  # of many wallets, which are not told apart

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
        if self.summed:
            by = tuple(name for name in by if name != "wallet")
        return (*(name for name in by if name != "token"), "asset") if by and self.assets else by


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


def draw(selected: Selected, options: ChartOptions) -> Picture:
    """Draw what is selected; where its chart can't be drawn, say why."""
    kind = options.type
    if selected.summed and kind.by and options.group != WALLET:
        selected = replace(selected, held=selected.summed.by_label(options.group))
    held, options = selected.held, replace(options, summed=selected.summed is not None)
    measures = tuple(_measures(selected, kind))
    if selected.summed and not (options.by and measures):
        return Picture(selected, options, (), title=options.chart, reason=too_many(selected.summed))
    if options.measure not in measures:
        options = replace(options, measure=_best(selected.selection, measures, kind))
    picture = Picture(selected, options, measures, title=options.chart)
    if not len(held.holdings):
        return replace(picture, reason=absence(selected))
    if options.measure != VALUE and kind.takes != "a token":  # counted, or drawn by amounts
        bare = held.holdings.drop(columns=VALUED, errors="ignore")
        held = replace(held, holdings=bare)
    try:
        given = _arguments(selected, options)
        colors = {"colors": selected.portfolio.colors} if kind.colored else {}
        figure = getattr(charts, kind.function)(held, wallets=selected.wallets, **given, **colors)
    except Exception as error:  # noqa: BLE001 - shown in the chart's place
        return replace(picture, reason=f"No chart: {error_text(error)}")
    if not figure.data:  # its one annotation says why
        return replace(picture, reason=charts.plain(figure.layout.annotations[0].text))
    return _finished(picture, figure, given)


def _finished(picture: Picture, figure: charts.Figure, given: Mapping[str, Any]) -> Picture:
    held, meta = picture.selected.held, figure.layout.meta
    title, about = charts.take_words(figure)
    if summed := picture.selected.summed:
        about = [*about, f"Sums of {many(summed.balances, 'balance')}; {ONE_BY_ONE}."]
    token = ""
    if "token" in given:
        place = held.tokens.keys.index(given["token"])
        [token] = token_names(held.holdings, held.tokens, np.array([place]))
    return replace(
        picture,
        token=token,
        title=title,
        line=charts.plain(meta["line"]),
        about=tuple(about),
        figure=_fitted(figure, picture.options).to_json(validate=False).encode(),
        arguments=given,
        rows=tuple(meta.get("rows", ())),
        tokens=tuple(meta.get("tokens", ())),
    )


def _fitted(figure: charts.Figure, options: ChartOptions) -> charts.Figure:
    """Let a figure fill the page, which paints it in its own colours."""
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
    elif options.narrow and CHARTS[options.chart].function == "bar":  # names take most of it
        layout.xaxis.update(nticks=3, tickangle=0)
        layout.yaxis.title = None
    return figure


def _measures(selected: Selected, kind: ChartType) -> list[str]:
    """Tell by what rows can be drawn: shares stand for amounts where a chart takes no token."""
    held = selected.held
    if kind.takes == "a token":
        return [AMOUNTS]
    found = [VALUE] if "value" in held.holdings and held.holdings["value"].notna().any() else []
    if selected.summed:  # of which balances can't be counted, nor one token be chosen
        is_one = kind.takes == "perhaps a token" and len(selected.selection.tokens) == 1
        return found + [AMOUNTS] * is_one
    found += [AMOUNTS] if kind.takes == "perhaps a token" else []
    return [*found, BALANCES]


def _best(selection: Selection, measures: tuple[str, ...], kind: ChartType) -> str:
    """Prefer values, and the amounts of the one token that is picked."""
    if len(selection.tokens) == 1 and kind.takes == "perhaps a token":
        return AMOUNTS
    return VALUE if VALUE in measures else measures[-1]


def _arguments(selected: Selected, options: ChartOptions) -> dict[str, Any]:
    """Choose the arguments of a chart of some holdings, which are not empty.

    Where it needs a token or a wallet and none is picked, it is the one with the most balances.
    """
    kind, held, selection = options.type, selected.held, selected.selection
    found: dict[str, Any] = {}
    if by := options.by:
        found["by"] = by[0] if len(by) == 1 else [*by]
    found |= kind.arguments
    if kind.takes == "a wallet":
        found["wallet"] = _first(selection.wallet_keys(), held.wallet_keys, held.wallet_codes)
    elif options.measure == AMOUNTS:
        found["token"] = _first(selection.tokens, held.tokens.keys, held.tokens.codes)
    return found | (_NARROW.get(kind.function, {}) if options.narrow else {})


def _first(chosen: Iterable[TokenKey], keys: list[TokenKey], codes: np.ndarray) -> TokenKey:
    """Return the first that is chosen and there, or else that with the most rows."""
    there, most = set(keys), keys[int(np.bincount(codes).argmax())]
    return next((key for key in chosen if key in there), most)
