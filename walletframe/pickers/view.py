"""The state of an explorer without its widget: the data, the selection and the chart.

A click in the treemap filters the table in these steps:

1. `Chart.#listenForClicks` of ``page/chart.js`` calls `Chart.refresh`, which sends the click.
2. `ExplorerState.answer_action` calls `selection_after_click` and returns the new chart.
3. `Explorer.#show` of ``page/explorer.js`` calls `RowStore.open`, which requests rows.
4. `ExplorerState._answer_rows` returns the rows of the new selection.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.address.forms import canonical_blockchain, wallet_or_reason
from walletframe.analysis.selection import Selection, label_texts
from walletframe.charts import has_custom_template, parse_box_id
from walletframe.charts.balances import join_names
from walletframe.frames.asset_list import tokens_to_assets
from walletframe.frames.groups import KINDS
from walletframe.frames.identity import is_unknown
from walletframe.frames.known import known_mask
from walletframe.frames.names import token_names, user_wallet_names, wallet_names
from walletframe.numerals import compact, counted_noun
from walletframe.pickers.chart import AMOUNTS, VALUE, ChartOptions, bridged_button_label, draw_chart
from walletframe.pickers.data import (
    SMALL_BELOW,
    has_only_failures,
    small_filter_label,
    spam_button_label,
    status_message,
    summary_parts,
)
from walletframe.pickers.picker import OptionStats, options_of_filter
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from walletframe.pickers.chart import ExplorerChart
    from walletframe.pickers.data import ExplorerData

    Remaining = Mapping[Any, OptionStats | None]

_CACHE_SIZE = 16
_BREADCRUMB_ORDER = ("blockchains", "wallets", "labels", "tokens")
_MAX_CRUMB = 60

FILTERS = {kind: kind.title() for kind in ("wallets", "tokens", "blockchains", "labels")}
"""The title of each filter. The keys are fields of `Selection`."""


def _remaining_with_stats(data: ExplorerData, selection: Selection, filter_name: str) -> Remaining:
    """Return the options that match the other filters, with the stats of their balances."""
    nothing: dict[str, Any] = {filter_name: ()}
    others = selection._replace(**nothing)
    held: dict[Any, OptionStats | None] = {}
    if filter_name != "labels":
        held |= data.option_stats(others, filter_name)
    if filter_name == "tokens" or (selection.tokens and filter_name != "labels"):
        return held  # wallets without the selected tokens don't match
    requested = data.wallet_mask(others)
    keys = [data.requested.keys[code] for code in data.requested.codes[requested].tolist()]
    wallets = data.wallets[requested]
    if filter_name == "wallets":
        return {
            f"{chain}.{address}": OptionStats(0, math.nan) if is_known else None
            for (chain, address), is_known in zip(keys, known_mask(wallets), strict=True)
        } | held
    if filter_name == "blockchains":
        return {chain: OptionStats(0, math.nan) for chain, _ in keys} | held
    if selection.tokens:
        holders = data.option_stats(others, "wallets")
        wallets = wallets[[f"{chain}.{address}" in holders for chain, address in keys]]
    labels = ((name, label_texts(wallets[name]).unique()) for name in data.label_columns)
    return {(name, text): None for name, texts in labels for text in texts}


class ExplorerState:
    """The state of an explorer's front end, with handlers for requests."""

    def __init__(self, data: ExplorerData, notify: Callable[[int], None] = lambda _: None) -> None:
        self.selection: Selection = Selection()
        self.chart_options: ChartOptions = ChartOptions()
        self.search: str = ""  # the last search for balances
        self._edition = -1  # the number of changes of the data or the selection
        self._notify = notify  # called with `_edition` after a chart request or new data
        self.handlers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "chart": self.answer_action,
            "rows": self._answer_rows,
            "remaining": self._answer_remaining,
            "status": self._answer_status,
            **{f"options {kind}": partial(self._answer_options, kind) for kind in FILTERS},
        }
        self.replace_data(data)

    def replace_data(self, data: ExplorerData) -> None:
        """Replace the data. Keep the selected options that the new data contains."""
        self.data: ExplorerData = data
        small_cache = lru_cache(_CACHE_SIZE // 4)
        self._select = small_cache(data.select_holdings)
        self._summarize = small_cache(lambda chosen: summary_parts(self._select(chosen)))
        self._draw = lru_cache(_CACHE_SIZE)(
            lambda selection, options: draw_chart(self._select(selection), options)
        )
        self._options = lru_cache(partial(options_of_filter, data.details, data.label_columns))
        self._table = lru_cache(1)(lambda selection: data.table(self._select(selection)))
        self.chart_options = self.chart_options.with_user_changes({}, data.label_columns)
        kept: Any = {
            kind: self._valid_values(kind, getattr(self.selection, kind)) for kind in FILTERS
        }
        self.selection = self.selection._replace(**kept)
        self._edition += 1
        self._notify(self._edition)

    def drawn_chart(self) -> ExplorerChart:
        """Return the chart of the current selection."""
        return self._draw(self.selection, self.chart_options)

    def answer_action(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Apply a user's action, such as a click. Return the reply's fields and buffers."""
        before, changes = self.selection, dict[str, Any]()
        if "click" in request and request["view"] == self._drawn_chart_id():
            self.selection = selection_after_click(self.drawn_chart(), request["click"])
        elif "back" in request:
            self.selection = keep_first_breadcrumb_filters(before, request["back"])
        else:
            if "spam" in request:
                changes["spam"] = None if request["spam"] else False
            if "small" in request:
                changes["small"] = None if request["small"] else SMALL_BELOW
            if "pick" in request:
                kind = request["pick"]["filter"]
                changes[kind] = self._valid_values(kind, request["pick"]["values"])
            cell = request.get("only")
            if cell and (field_and_key := self._table(before).selection_field_and_key(cell)):
                kind, value = field_and_key
                changes[kind] = self._valid_values(kind, [value])
            self.selection = before._replace(**changes)
        self._edition += self.selection != before
        self.chart_options = self.chart_options.with_user_changes(request, self.data.label_columns)
        content, figure = self._state_without_figure(), self.drawn_chart().figure
        self._notify(self._edition)
        return content, [figure] * bool(figure)

    def _drawn_chart_id(self) -> str:
        """Return an ID of the drawn chart. If it changes, the front end resets the zoom."""
        return f"{hash((id(self.data), self.selection, self.drawn_chart().options)):x}"

    def _state_without_figure(self) -> dict[str, Any]:
        chart, data, selection = self.drawn_chart(), self.data, self.selection
        heading = _heading_after_crumbs(chart, crumbs := breadcrumb_texts(data, selection))
        return {
            "edition": self._edition,
            "view": self._drawn_chart_id(),
            "rows": f"{hash((id(data), selection)):x}",
            "data_id": f"{id(data):x}",
            "chosen": {kind: getattr(selection, kind) for kind in FILTERS},
            "crumbs": crumbs,
            "summary": self._summarize(selection),
            "spam": {"shown": selection.spam is None, "text": spam_button_label(chart.selected)},
            "small": {"shown": selection.small is None, "text": small_filter_label(chart.selected)},
            "bridged": {"shown": self.chart_options.bridged, "text": bridged_button_label(chart)},
            "all_failed": has_only_failures(data),
            "has_template": has_custom_template(),
            "title": f"{', '.join(crumbs)}: {heading}" if crumbs else heading,
            "heading": heading,
            "subtitle": chart.subtitle,
            "line": chart.coverage_line,
            "about": chart.notes,
            "reason": chart.reason,
            **chart.choices(),
        }

    def _valid_values(self, filter_name: str, values: Iterable[Any]) -> tuple[Any, ...]:
        options = []
        for value in values:
            key: Any = tuple(value)
            if filter_name == "wallets":
                wallet = wallet_or_reason(value)
                key = value if isinstance(wallet, str) else str(wallet.canonical)
            elif filter_name == "blockchains":
                key = canonical_blockchain(str(value))
            options.append(self._options(filter_name).by_key.get(key))
        return tuple(dict.fromkeys(option.value for option in options if option))

    def _answer_rows(self, request: dict[str, Any]) -> dict[str, Any]:
        answer = self._table(self.selection).answer_rows(request)
        self.search = "" if answer["by"] else str(request.get("find", ""))
        return answer

    def _answer_status(self, _request: object) -> dict[str, Any]:
        selected = self._select(self.selection)
        return status_message(selected.wallets, selected.with_wallets)

    def _answer_options(self, filter_name: str, _request: object) -> dict[str, Any]:
        options = self._options(filter_name)
        remaining = _remaining_with_stats(self.data, self.selection, filter_name)
        return options.to_lists() | {"remaining": options.ranked_remaining(remaining)}

    def _answer_remaining(self, request: dict[str, Any]) -> dict[str, Any]:
        data = self.data
        held, wallet_keys = data.held, data.requested.keys
        matching = {kind: _remaining_with_stats(data, self.selection, kind) for kind in FILTERS}
        totals = {  # counted without making the options, which is slow
            "wallets": len(wallet_keys),
            "tokens": sum(not is_unknown(key) for key in held.tokens.keys),
            "blockchains": len({*held.index_by_chain, *(chain for chain, _ in wallet_keys)}),
            "labels": sum(label_texts(data.wallets[name]).nunique() for name in data.label_columns),
        }
        counts = {kind: {"all": totals[kind], "remaining": len(matching[kind])} for kind in FILTERS}
        opened = request.get("open", ())
        options = {kind: self._options(kind).ranked_remaining(matching[kind]) for kind in opened}
        return {"counts": counts, "options": options}


def selection_after_click(chart: ExplorerChart, click: Mapping[str, Any]) -> Selection:
    """Return the selection after a click on a box, legend entry, bar, slice or cell."""
    selected, by = chart.selected, chart.options.by
    held, data = selected.held, selected.data
    token_level = "asset" if chart.options.per_asset else "token"
    if box := parse_box_id(str(click.get("id", ""))):
        names = by[: box.depth + 1]
        if "wallet" in names:  # a wallet is in one group and on one blockchain
            names = names[names.index("wallet") :]
        names = names[-1:] if box.in_several else names
        targets = [(name, box.row) for name in names if box.row < len(held.holdings)]
    else:
        targets = _clicked_columns_and_rows(chart, click, token_level)
    changes: dict[str, Any] = {}
    for name, row in targets:
        owner, token = int(held.wallet_codes[row]), held.tokens.codes[row]
        if name == "wallet":
            changes["wallets"] = (".".join(held.wallets.iloc[owner]),)
        elif name == "blockchain":
            changes["blockchains"] = (held.distinct_chains[held.wallet_chain_codes[owner]],)
        elif name == "token":
            changes["tokens"] = (held.tokens.keys[token],)
        elif name == "asset":
            codes = tokens_to_assets(held, bridged=chart.options.bridged).tokens.codes
            same_asset = np.unique(held.tokens.codes[codes == codes[row]]).tolist()
            changes["tokens"] = tuple(held.tokens.keys[position] for position in same_asset)
        else:
            wallets = data.requested
            position = wallets.first[wallets.keys.index(held.wallet_keys[owner])]
            changes["labels"] = ((name, label_texts(data.wallets[name]).iloc[position]),)
    return selected.selection._replace(**changes)


def _clicked_columns_and_rows(
    chart: ExplorerChart, click: Mapping[str, Any], token_level: str
) -> list[tuple[str, int]]:
    point, function = click.get("point"), chart.options.type.function
    wallet_levels = [name for name in chart.options.by if name not in KINDS]
    positions: list[tuple[list[str], tuple[int, ...], object]] = []
    if "token" in click or function == "pie":
        positions = [([token_level], chart.tokens, click.get("token", point))]
    elif function == "bar":
        positions = [(wallet_levels, chart.rows, point)]
    elif function == "heatmap" and isinstance(point, list):
        row = point[0] if click.get("trace") == 0 else -1
        positions = [(wallet_levels, chart.rows, row), ([token_level], chart.tokens, point[1])]
    return [
        (name, rows[position])
        for names, rows, position in positions
        if isinstance(position, int) and 0 <= position < len(rows)
        for name in names
    ]


def _heading_after_crumbs(chart: ExplorerChart, crumbs: Sequence[str]) -> str:
    """Return a heading such as ``13.99M USD by wallet``, to show after the breadcrumb."""
    options, selected = chart.options, chart.selected
    selection, holdings, wallet_name = selected.selection, selected.held.holdings, ""
    levels, wallet = chart.levels, (chart.arguments or {}).get("wallet")
    head, _, name = chart.title.partition(" of " if wallet else " by ")
    if wallet:
        holdings = holdings[selected.held.wallet_codes == selected.held.wallet_keys.index(wallet)]
        wallet_name = f"{name}: " * (selection.wallet_keys() != [wallet])
    elif not (levels and crumbs):
        return chart.title
    if options.measure == VALUE:
        head = f"{compact(holdings['value'].sum())}{selected.data.currency}"
    elif options.measure == AMOUNTS and len(selection.tokens) == 1:
        head = f"{compact(float(holdings['amount'].sum()))} {chart.token}"
    # The heading omits groups in the breadcrumb. A wallet is in one group and on one blockchain.
    labels = selection.texts_by_column(options.by)
    chosen = {name for name, texts in labels.items() if len(texts) == 1}
    chosen |= {"blockchain"} if len(selection.blockchains) == 1 else set()
    chosen |= {*options.by} - KINDS if len(selection.wallets) == 1 else set()
    chosen |= KINDS if len(selection.tokens) == 1 else set()
    levels = [name for name in levels if name not in chosen]
    return f"{wallet_name}{head}{f' by {join_names(levels)}' if levels else ''}"


def breadcrumb_texts(data: ExplorerData, selection: Selection) -> list[str]:
    """Return the breadcrumb's texts, one for each filter with a selection."""
    held, labels, texts = data.held, selection.labels, []
    if chains := selection.blockchains:
        texts.append(chains[0] if len(chains) == 1 else counted_noun(len(chains), "blockchain"))
    if wallets := selection.wallet_keys():
        if len(wallets) == 1 and wallets[0] in held.wallet_keys:
            one = held.wallets.iloc[[held.wallet_keys.index(wallets[0])]]
            names = user_wallet_names(one, data.wallets)
            is_unique = names[0] and (data.wallets["name"] == names[0]).sum() == 1
            shown = [safe_line(names[0], _MAX_CRUMB)] if is_unique else []
            texts += shown or wallet_names(one, np.arange(1), names)
        else:
            texts.append(counted_noun(len(wallets), "wallet"))
    if labels:
        name, text = labels[0]
        label = safe_line(f"{name}: {text}" if text else f"no {name}", _MAX_CRUMB)
        texts.append(label if len(labels) == 1 else counted_noun(len(labels), "label"))
    if tokens := selection.tokens:
        if len(tokens) == 1 and tokens[0] in held.tokens.keys:
            position = np.array([held.tokens.keys.index(tokens[0])])
            texts += token_names(held.holdings, held.tokens, position)
        else:
            texts.append(counted_noun(len(tokens), "token"))
    return texts


def keep_first_breadcrumb_filters(selection: Selection, filter_count: int) -> Selection:
    """Keep only the first `filter_count` filters of the breadcrumb."""
    kinds = [kind for kind in _BREADCRUMB_ORDER if getattr(selection, kind)]
    nothing: dict[str, Any] = dict.fromkeys(kinds[max(filter_count, 0) :], ())
    return selection._replace(**nothing)
