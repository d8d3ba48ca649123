"""The state of an explorer without its widget: the data, the selection and the chart.

For example, a click in the treemap filters the table in these steps:

1. `Chart.#listen` of ``page/chart.js`` receives the click, and `Chart.refresh` sends it.
2. `ExplorerState.answer_chart` calls `selection_after_click`, and returns the new chart.
3. `Explorer.#show` of ``page/explorer.js`` calls `RowStore.open`, which requests rows.
4. `ExplorerState._answer_rows` returns the rows of the new selection.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.address.forms import canonical_blockchain, read_wallet
from walletframe.analysis.selection import Selection, label_texts
from walletframe.charts import has_custom_template, parse_box_id
from walletframe.frames.asset_list import tokens_to_assets
from walletframe.frames.groups import KINDS
from walletframe.frames.identity import is_unknown
from walletframe.frames.known import known_mask
from walletframe.frames.names import token_names, user_wallet_names, wallet_names
from walletframe.numerals import compact, counted_noun
from walletframe.pickers.picker import OptionStats, filter_options
from walletframe.pickers.pictures import VALUE, ChartOptions, bridged_text, draw_chart
from walletframe.pickers.portfolio import (
    SMALL_BELOW,
    has_only_failures,
    small_text,
    spam_text,
    summary_parts,
    wallet_status,
)
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from walletframe.pickers.pictures import Picture
    from walletframe.pickers.portfolio import Portfolio, Selected

    Remaining = Mapping[Any, OptionStats | None]

_CACHE_SIZE = 16
_BREADCRUMB_ORDER = ("blockchains", "wallets", "labels", "tokens")

FILTERS = {kind: kind.title() for kind in ("wallets", "tokens", "blockchains", "labels")}
"""The titles of the explorer's filters, by the field of a `Selection` that a filter sets."""


def remaining_options(portfolio: Portfolio, selection: Selection, kind: str) -> Remaining:
    """Return the options of one filter that match the other filters, with their stats."""
    nothing: dict[str, Any] = {kind: ()}
    others = replace(selection, **nothing)
    held: dict[Any, OptionStats | None] = {}
    if kind != "labels":
        held |= portfolio.option_stats(others, kind)
    if kind == "tokens" or (selection.tokens and kind != "labels"):
        return held  # wallets without the selected tokens don't match
    requested = portfolio.wallet_mask(others)
    codes = portfolio.requested.codes[requested].tolist()
    keys = [portfolio.requested.keys[code] for code in codes]
    wallets = portfolio.wallets[requested]
    if kind == "wallets":
        known = known_mask(wallets)
        return {
            f"{chain}.{address}": OptionStats(0, math.nan) if is_known else None
            for (chain, address), is_known in zip(keys, known, strict=True)
        } | held
    if kind == "blockchains":
        return {chain: OptionStats(0, math.nan) for chain, _ in keys} | held
    if selection.tokens:
        holders = portfolio.option_stats(others, "wallets")
        wallets = wallets[[f"{chain}.{address}" in holders for chain, address in keys]]
    texts = ((name, label_texts(wallets[name]).unique()) for name in portfolio.groups)
    return {(name, text): None for name, labels in texts for text in labels}


class ExplorerState:
    """The state that the front end shows, and the handlers of its requests."""

    def __init__(
        self, portfolio: Portfolio, notify: Callable[[int], None] = lambda _edition: None
    ) -> None:
        self.selection: Selection = Selection()
        self.chart: ChartOptions = ChartOptions()
        self.search: str = ""  # the search text of the last request for balances
        self._edition = -1  # the number of changes that all front ends must show
        self._notify = notify  # called with the edition after chart requests and new data
        self.handlers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "chart": self.answer_chart,
            "rows": self._answer_rows,
            "remaining": self._answer_remaining,
            "status": self._answer_status,
            **{f"options {kind}": partial(self._answer_options, kind) for kind in FILTERS},
        }
        self.show(portfolio)

    def show(self, portfolio: Portfolio) -> None:
        """Show other data. Selected options are kept if the data contains them."""
        self.portfolio: Portfolio = portfolio
        self._select = lru_cache(_CACHE_SIZE // 4)(portfolio.select)
        self._summarize = lru_cache(_CACHE_SIZE // 4)(
            lambda chosen: summary_parts(self._select(chosen))
        )
        self._draw = lru_cache(_CACHE_SIZE)(
            lambda chosen, chart: draw_chart(self._select(chosen), chart)
        )
        self._options = lru_cache(partial(filter_options, portfolio.details, portfolio.groups))
        self._table = lru_cache(1)(lambda chosen: portfolio.table(self._select(chosen)))
        self.chart = self.chart.with_changes({}, portfolio.groups)
        old = {kind: getattr(self.selection, kind) for kind in FILTERS}
        kept: Any = {kind: self._offered_values(kind, values) for kind, values in old.items()}
        self.selection = replace(self.selection, **kept)
        self._edition += 1
        self._notify(self._edition)

    def selected(self) -> Selected:
        """Return the selected part of the data."""
        return self._select(self.selection)

    def picture(self) -> Picture:
        """Return the chart of the selection."""
        return self._draw(self.selection, self.chart)

    def answer_chart(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Apply a user's action, such as a click, and return the selection and the chart."""
        before, chosen = self.selection, dict[str, Any]()
        if "click" in request and request["view"] == self._view_id():
            self.selection = selection_after_click(self.picture(), request["click"])
        elif "back" in request:
            self.selection = selection_up_to(before, request["back"])
        else:
            if "spam" in request:
                chosen["spam"] = None if request["spam"] else False
            if "dust" in request:
                chosen["small"] = None if request["dust"] else SMALL_BELOW
            if "pick" in request:
                kind = request["pick"]["of"]
                chosen[kind] = self._offered_values(kind, request["pick"]["values"])
            only = request.get("only")
            if only and (target := self._table(before).cell_selection(only)):
                kind, value = target
                chosen[kind] = self._offered_values(kind, [value])
            self.selection = replace(before, **chosen)
        self._edition += self.selection != before
        self.chart = self.chart.with_changes(request, self.portfolio.groups)
        content, figure = self._chart_message(), self.picture().figure
        self._notify(self._edition)
        return content, [figure] * bool(figure)

    def _view_id(self) -> str:
        """Return the id of the current chart. The front end keeps its zoom until the id changes."""
        return f"{hash((id(self.portfolio), self.selection, self.picture().options)):x}"

    def _chart_message(self) -> dict[str, Any]:
        """Return the selection and the texts of the chart for the front end, without the figure."""
        picture, portfolio, selection = self.picture(), self.portfolio, self.selection
        return {
            "edition": self._edition,
            "view": self._view_id(),
            "rows": f"{hash((id(portfolio), selection)):x}",
            "offered": f"{id(portfolio):x}",
            "chosen": {kind: getattr(selection, kind) for kind in FILTERS},
            "crumbs": breadcrumb_texts(portfolio, selection),
            "summary": self._summarize(selection),
            "spam": {"shown": selection.spam is None, "text": spam_text(picture.selected)},
            "dust": {"shown": selection.small is None, "text": small_text(picture.selected)},
            "bridged": {"shown": self.chart.bridged, "text": bridged_text(picture)},
            "all_failed": has_only_failures(portfolio),
            "painted": has_custom_template(),
            "title": picked_title(picture, breadcrumb_texts(portfolio, selection)),
            "subtitle": picture.subtitle,
            "line": picture.line,
            "about": picture.about,
            "reason": picture.reason,
            **picture.choices(),
        }

    def _offered_values(self, kind: str, values: Iterable[Any]) -> tuple[Any, ...]:
        """Return the values that a filter offers, spelled as the filter spells them."""
        options = []
        for value in values:
            key: Any = tuple(value)
            if kind == "wallets":
                wallet = read_wallet(value)
                key = value if isinstance(wallet, str) else str(wallet.canonical)
            elif kind == "blockchains":
                key = canonical_blockchain(str(value))
            options.append(self._options(kind).by_key.get(key))
        return tuple(dict.fromkeys(option.value for option in options if option))

    def _answer_rows(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return a window of the table of selected rows."""
        answer = self._table(self.selection).answer(request)
        self.search = "" if answer["by"] else str(request.get("find", ""))
        return answer

    def _answer_status(self, _request: object) -> dict[str, Any]:
        selected = self.selected()
        is_complete = self.portfolio.is_complete
        return wallet_status(selected.wallets, selected.held, is_complete=is_complete)

    def _answer_options(self, kind: str, _request: object) -> dict[str, Any]:
        options = self._options(kind)
        remaining = remaining_options(self.portfolio, self.selection, kind)
        return options.columns() | {"here": options.remaining_columns(remaining)}

    def _answer_remaining(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the number of remaining options per filter, and the options of open filters."""
        portfolio = self.portfolio
        held, wallet_keys = portfolio.held, portfolio.requested.keys
        remaining = {kind: remaining_options(portfolio, self.selection, kind) for kind in FILTERS}
        labels = [label_texts(portfolio.wallets[name]).nunique() for name in portfolio.groups]
        totals = {  # counted without creating all options
            "wallets": len(wallet_keys),
            "tokens": sum(not is_unknown(key) for key in held.tokens.keys),
            "blockchains": len({*held.chain_indices, *(chain for chain, _ in wallet_keys)}),
            "labels": sum(labels),
        }
        counts = {kind: {"all": totals[kind], "here": len(remaining[kind])} for kind in FILTERS}
        opened = request.get("of", ())
        here = {kind: self._options(kind).remaining_columns(remaining[kind]) for kind in opened}
        return {"counts": counts, "of": here}


def selection_after_click(picture: Picture, click: Mapping[str, Any]) -> Selection:
    """Return the selection after a click in a chart.

    The click contains the ``id`` of a node, the index ``token`` of a legend entry, or the indices
    ``trace`` and ``point``.
    """
    selected, by = picture.selected, picture.options.by
    held, portfolio = selected.held, selected.portfolio
    token_level = "asset" if picture.options.per_asset else "token"
    if box := parse_box_id(str(click.get("id", ""))):
        names = by[: box.depth + 1]
        if "wallet" in names:  # a wallet is in one group and on one blockchain
            names = names[names.index("wallet") :]
        names = names[-1:] if box.in_several else names
        targets = [(name, box.row) for name in names if box.row < len(held.holdings)]
    else:
        targets = _click_targets(picture, click, token_level)
    changes: dict[str, Any] = {}
    for name, row in targets:
        owner, token = int(held.wallet_codes[row]), held.tokens.codes[row]
        if name == "wallet":
            changes["wallets"] = (".".join(held.wallets.iloc[owner]),)
        elif name == "blockchain":
            changes["blockchains"] = (held.chains[held.chain_codes[owner]],)
        elif name == "token":
            changes["tokens"] = (held.tokens.keys[token],)
        elif name == "asset":
            codes = tokens_to_assets(held, bridged=picture.options.bridged).tokens.codes
            same_asset = np.unique(held.tokens.codes[codes == codes[row]]).tolist()
            changes["tokens"] = tuple(held.tokens.keys[position] for position in same_asset)
        else:
            wallets = portfolio.requested
            position = wallets.first[wallets.keys.index(held.wallet_keys[owner])]
            changes["labels"] = ((name, label_texts(portfolio.wallets[name]).iloc[position]),)
    return replace(selected.selection, **changes)


def _click_targets(
    picture: Picture, click: Mapping[str, Any], token_level: str
) -> list[tuple[str, int]]:
    """Return the targets of a click, as pairs of a group name and a row number of the holdings."""
    point, function = click.get("point"), picture.options.type.function
    wallet_levels = [name for name in picture.options.by if name not in KINDS]
    positions: list[tuple[list[str], tuple[int, ...], object]] = []
    if "token" in click or function == "pie":
        positions = [([token_level], picture.tokens, click.get("token", point))]
    elif function == "bar":
        positions = [(wallet_levels, picture.rows, point)]
    elif function == "heatmap" and isinstance(point, list):
        row = point[0] if click.get("trace") == 0 else -1
        positions = [(wallet_levels, picture.rows, row), ([token_level], picture.tokens, point[1])]
    return [
        (name, rows[position])
        for names, rows, position in positions
        if isinstance(position, int) and 0 <= position < len(rows)
        for name in names
    ]


def picked_title(picture: Picture, crumbs: Sequence[str]) -> str:
    """Return the title of a chart of a selection, such as ``ARBITRUM: 13.99M USD by wallet``."""
    head, by, groups = picture.title.partition(" by ")
    if not by or not crumbs or head in crumbs:
        return picture.title
    holdings = picture.selected.held.holdings
    if picture.options.measure == VALUE:
        named = holdings.get("currency", holdings["symbol"].iloc[:0]).dropna().head(1)
        head = " ".join([compact(holdings["value"].sum()), *map(safe_line, named)])
    return f"{', '.join(crumbs)}: {head}{by}{groups}"


def breadcrumb_texts(portfolio: Portfolio, selection: Selection) -> list[str]:
    """Return the texts of the breadcrumb after "All": one text for each filter that is set."""
    held, labels, texts = portfolio.held, selection.labels, []
    if chains := selection.blockchains:
        texts.append(chains[0] if len(chains) == 1 else counted_noun(len(chains), "blockchain"))
    if wallets := selection.wallet_keys():
        if len(wallets) == 1 and wallets[0] in held.wallet_keys:
            one = held.wallets.iloc[[held.wallet_keys.index(wallets[0])]]
            texts += wallet_names(one, np.arange(1), user_wallet_names(one, portfolio.wallets))
        else:
            texts.append(counted_noun(len(wallets), "wallet"))
    if labels:
        name, text = labels[0]
        label = safe_line(f"{name}: {text}" if text else f"no {name}", 60)
        texts.append(label if len(labels) == 1 else counted_noun(len(labels), "label"))
    if tokens := selection.tokens:
        if len(tokens) == 1 and tokens[0] in held.tokens.keys:
            position = np.array([held.tokens.keys.index(tokens[0])])
            texts += token_names(held.holdings, held.tokens, position)
        else:
            texts.append(counted_noun(len(tokens), "token"))
    return texts


def selection_up_to(selection: Selection, level: int) -> Selection:
    """Return the selection with only the first `level` filters of the breadcrumb."""
    kinds = [kind for kind in _BREADCRUMB_ORDER if getattr(selection, kind)]
    nothing: dict[str, Any] = dict.fromkeys(kinds[max(level, 0) :], ())
    return replace(selection, **nothing)
