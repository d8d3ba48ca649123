"""The charts of the explorer: their types, their options, and a function that draws them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from walletframe import charts
from walletframe.errors import ArgumentError
from walletframe.frames.asset_list import count_bridged_rows, token_or_asset_names, tokens_to_assets
from walletframe.numerals import counted_noun
from walletframe.pickers.data import VALUE_COLUMNS, empty_reason, has_only_failures
from walletframe.pickers.widget import error_text
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.frames.positions import Positions
    from walletframe.pickers.data import SelectedHoldings

VALUE, AMOUNTS, BALANCES = "value", "amounts", "balances"
WALLET, BLOCKCHAIN, TOKENS, ASSETS = "wallet", "blockchain", "tokens", "assets"
_CHARTS_WITHOUT_AXES, _NARROW_HEIGHT = {"Treemap", "Sunburst"}, 400


class ChartType(NamedTuple):
    """A type of chart, with its limits and its default grouping."""

    function: str  # the name of the function in `walletframe.charts`
    needs: str  # the argument it needs: "token", "wallet", "token?" (optional) or "" (none)
    limits: Mapping[str, Any]  # arguments that keep the browser fast
    by: tuple[str, ...] = ()  # the default grouping; empty if users can't group the chart


_NARROW_WIDTH, _NARROW_HEATMAP = 600, {"top": 15, "top_tokens": 5}
_NESTED_LIMITS, _NESTED_LEVELS = {"top": 80}, (BLOCKCHAIN, WALLET, "asset")
CHARTS = {
    "Treemap": ChartType("treemap", "token?", _NESTED_LIMITS, _NESTED_LEVELS),
    "Sunburst": ChartType("sunburst", "token?", _NESTED_LIMITS, _NESTED_LEVELS),
    "Bars": ChartType("bar", "token?", {"top": 12}, (WALLET,)),
    "Heatmap": ChartType("heatmap", "", {"top": 20, "top_tokens": 15}, (WALLET,)),
    "Pie of a wallet": ChartType("pie", "wallet", {}),
    "Lorenz curve": ChartType("lorenz", "token", {}),
}


class ChartOptions(NamedTuple):
    """The user's options for the chart."""

    chart: str = "Treemap"
    measure: str = ""  # an unavailable measure is replaced by a default
    group: str = WALLET  # WALLET, BLOCKCHAIN, or an extra column of the wallets
    per_asset: bool = True  # whether tokens are combined per asset
    bridged: bool = False  # whether assets include bridged versions
    width: int = 1000  # the width of the front end in pixels

    @property
    def is_narrow(self) -> bool:
        """Whether the front end is as narrow as a phone."""
        return self.width < _NARROW_WIDTH

    @property
    def type(self) -> ChartType:
        """The chart's type."""
        return CHARTS[self.chart]

    @property
    def by(self) -> tuple[str, ...]:
        """The columns to group the chart by."""
        by = self.type.by
        if by and self.group not in by:
            by = (self.group, *by[1:])
        return by if self.per_asset else (*(name for name in by if name != "asset"), "token")

    def with_user_changes(self, request: Mapping[str, Any], columns: Sequence[str]) -> ChartOptions:
        """Return the options after a user's changes. `columns` are the extra columns."""
        names = ("chart", "measure", "group", "bridged", "width")
        changes = {name: request[name] for name in names if name in request}
        if changes.get("chart", self.chart) not in CHARTS:
            hint = f"choose one of {', '.join(CHARTS)}"
            raise ArgumentError(f"{changes['chart']!r} is not a type of chart", hint=hint)
        if "combine" in request:
            changes["per_asset"] = request["combine"] == ASSETS
        # The front end may still show the columns of an earlier result.
        options = self._replace(**changes)
        is_valid = options.group in (BLOCKCHAIN, *columns)
        return options if is_valid else options._replace(group=WALLET)


class ExplorerChart(NamedTuple):
    """A chart for the front end. All texts except `subtitle` are untrusted plain text."""

    selected: SelectedHoldings
    options: ChartOptions  # with the measure that is drawn
    measures: tuple[str, ...]  # the available measures
    title: str
    token: str = ""  # the name of the token or asset, if a single one is drawn
    coverage_line: str = ""  # the numbers of drawn and omitted wallets and balances
    notes: tuple[str, ...] = ()
    subtitle: str = ""  # the notes in a downloaded image, in plotly's markup
    figure: bytes = b""  # JSON; empty if nothing is drawn
    reason: str = ""  # the reason why nothing is drawn
    arguments: Mapping[str, Any] | None = None  # of the chart function; None if nothing is drawn
    levels: Sequence[str] = ()  # the columns in the title
    rows: tuple[int, ...] = ()  # for each drawn wallet or group, its first row in the holdings
    tokens: tuple[int, ...] = ()  # for each drawn token or asset, its first row in the holdings

    def choices(self) -> dict[str, Any]:
        """Return the current value of each menu (chart, measure, grouping), and all its values."""
        chart = self.options
        measures = {
            VALUE: "value",
            AMOUNTS: f"amount of {self.token or ('one asset' if chart.per_asset else 'one token')}",
            BALANCES: "number of balances",
        }
        selection, groups, combines = self.selected.selection, list[tuple[str, str]](), []
        if chart.type.by and len(selection.wallets) != 1:
            names = dict.fromkeys([chart.type.by[0], BLOCKCHAIN, *self.selected.data.label_columns])
            groups = [(name, f"by {safe_line(name, 40)}") for name in names]
        if len(selection.tokens) != 1:
            combines = [(ASSETS, "per asset"), (TOKENS, "per token")]
        return {
            "chart": chart.chart,
            "charts": [(name, name) for name in CHARTS],
            "measure": chart.measure,
            "measures": [(name, measures[name]) for name in self.measures],
            "group": chart.by[0] if groups else "",
            "groups": groups,
            "combine": ASSETS if chart.per_asset else TOKENS,
            "combines": combines,
        }


def draw_chart(selected: SelectedHoldings, options: ChartOptions) -> ExplorerChart:
    """Draw the chart of the selection, or return the reason why it can't be drawn."""
    chart_type, held = options.type, selected.held
    # Amounts are drawn only in a chart of one token.
    measures = [VALUE] if "value" in held.holdings and held.holdings["value"].notna().any() else []
    measures += [AMOUNTS] if chart_type.needs == "token?" else []
    measures = [AMOUNTS] if chart_type.needs == "token" else [*measures, BALANCES]
    if options.measure not in measures:  # choose a default
        keys = _combine_if_per_asset(held, options).tokens.keys if selected.selection.tokens else []
        best = AMOUNTS if len(keys) == 1 and AMOUNTS in measures else VALUE
        options = options._replace(measure=best if best in measures else measures[-1])
    chart = ExplorerChart(selected, options, tuple(measures), title=options.chart)
    if not len(held.holdings):
        title = "No wallet could be read" if has_only_failures(selected.data) else chart.title
        return chart._replace(title=title, reason=empty_reason(selected))
    draws_wallets = chart_type.needs == "wallet" or WALLET in options.by[:1]
    drawn = held if draws_wallets else selected.with_wallets  # charts of wallets omit empty ones
    if options.measure != VALUE and chart_type.needs != "token":  # charts prefer values
        drawn = replace(drawn, holdings=held.holdings.drop(columns=VALUE_COLUMNS, errors="ignore"))
    try:
        arguments, token = _chart_arguments_and_token_name(selected, options)
        wallets = selected.wallets if selected.data.is_complete else None
        figure = getattr(charts, chart_type.function)(drawn, wallets=wallets, **arguments)
    except Exception as error:  # noqa: BLE001 - shown in place of the chart
        return chart._replace(reason=f"The chart can't be drawn: {error_text(error)}")
    if not figure.data:  # an empty figure has the reason as its only annotation
        return chart._replace(reason=charts.markup_to_text(figure.layout.annotations[0].text))
    meta, subtitle = figure.layout.meta, figure.layout.title.subtitle.text
    title, notes = charts.pop_title_and_notes(figure)  # this also removes the meta
    _fit_to_page(figure, options)
    return chart._replace(
        token=token,
        title=title,
        coverage_line=charts.markup_to_text(meta["line"]),
        notes=tuple(notes),
        subtitle=subtitle,
        figure=figure.to_json(validate=False).encode(),
        arguments=arguments,
        levels=meta.get("levels", ()),
        rows=tuple(meta.get("rows", ())),
        tokens=tuple(meta.get("tokens", ())),
    )


def _fit_to_page(figure: Any, options: ChartOptions) -> None:
    layout = figure.layout
    if not charts.has_custom_template():
        layout.template = None  # the front end sets the colours
    if options.chart in _CHARTS_WITHOUT_AXES:
        margins = layout.margin.t + layout.margin.b
        layout.height, layout.margin = layout.height - margins, dict.fromkeys("tblr", 0)
        if options.is_narrow:
            layout.height = min(layout.height, _NARROW_HEIGHT)
    elif options.is_narrow and options.type.function in {"bar", "heatmap"}:
        charts.move_labels_above_rows(figure)
    if options.is_narrow and options.type.function == "heatmap":
        above, below = layout.margin.t, layout.margin.b
        layout.margin.update(t=below, b=above)  # the first screen has the names of the columns
        layout.xaxis.update(side="top", title=None)
        figure.data[0].colorbar.update(y=0, yanchor="top")
        layout.annotations[0].update(y=0, yanchor="bottom", yshift=12 - above)


def _combine_if_per_asset(held: Positions, options: ChartOptions) -> Positions:
    return tokens_to_assets(held, bridged=options.bridged) if options.per_asset else held


def bridged_button_label(chart: ExplorerChart) -> str:
    """Return a label such as ``Combine 3 bridged versions``, or "" to hide the button."""
    count = count_bridged_rows(chart.selected.held) if chart.options.per_asset else 0
    verb = "Separate" if chart.options.bridged else "Combine"
    return f"{verb} {counted_noun(count, 'bridged version')}" if count else ""


def _chart_arguments_and_token_name(
    selected: SelectedHoldings, options: ChartOptions
) -> tuple[dict[str, Any], str]:
    chart_type, held, selection = options.type, selected.held, selected.selection
    arguments: dict[str, Any] = {}
    if (by := options.by) and chart_type.needs != "token":
        arguments["by"] = by[0] if len(by) == 1 else [*by]
    arguments |= chart_type.limits
    if options.per_asset and options.bridged:
        arguments["bridged"] = True
    name = ""
    if chart_type.needs == "wallet":
        values = held.holdings["value"].fillna(0) if options.measure == VALUE else None
        keys, largest = held.wallet_keys, int(np.bincount(held.wallet_codes, values).argmax())
        chosen = (key for key in selection.wallet_keys() if key in {*keys})
        arguments["wallet"] = next(chosen, keys[largest])
    elif options.measure == AMOUNTS:
        drawn = _combine_if_per_asset(held, options)
        row_by_token = dict(zip(held.tokens.keys, held.tokens.first, strict=True))
        chosen_rows = (row_by_token[key] for key in selection.tokens if key in row_by_token)
        row = next(chosen_rows, drawn.tokens.first[np.bincount(drawn.tokens.codes).argmax()])
        kind = "asset" if options.per_asset else "token"
        arguments[kind] = held.tokens.keys[held.tokens.codes[row]]
        [name] = token_or_asset_names(drawn, drawn.tokens.codes[[row]])
    if chart_type.function == "treemap":
        arguments["width"] = options.width
    elif chart_type.function == "heatmap" and options.is_narrow:
        arguments |= _NARROW_HEATMAP
    return arguments, name
