"""The state of an explorer without its widget: the fetch, the selection and the chart.

A click in the treemap narrows the table in six steps: `Chart.#listen` and `Chart.refresh` of
``page/chart.js`` send it, `View.answer_chart` has `picked` read it, then `Explorer.#show` of
``page/explorer.js`` has `RowStore.open` ask for rows, which `View._answer_rows` answers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from walletframe.address.forms import canonical_blockchain, read_wallet
from walletframe.analysis.selection import Selection, label_texts
from walletframe.charts import has_custom_template, read_box_id
from walletframe.frames.asset_list import with_assets
from walletframe.frames.groups import ADDED
from walletframe.frames.identity import is_unknown
from walletframe.frames.known import known_wallets
from walletframe.frames.names import token_names, user_wallet_names, wallet_names
from walletframe.numerals import counted_noun
from walletframe.pickers.picker import OptionStats, filter_options
from walletframe.pickers.pictures import ChartOptions, draw
from walletframe.pickers.portfolio import DUST, dust_words, spam_words, summarize
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from walletframe.pickers.pictures import Picture
    from walletframe.pickers.portfolio import Portfolio, Selected

    Remaining = Mapping[Any, OptionStats | None]

_CACHED = 16
_KINDS = ("blockchains", "wallets", "labels", "tokens")  # in the order of a breadcrumb


FILTERS = {kind: kind.title() for kind in ("wallets", "tokens", "blockchains", "labels")}
"""The explorer's pickers, by the field of a `Selection` that they set, with their titles."""


def remaining(portfolio: Portfolio, selection: Selection, kind: str) -> Remaining:
    """Return the options of one filter that the other filters leave, with their stats."""
    nothing: dict[str, Any] = {kind: ()}
    others = replace(selection, **nothing)
    held: dict[Any, OptionStats | None] = {}
    if kind != "labels":
        held |= portfolio.stats(others, kind)
    if kind == "tokens" or (selection.tokens and kind != "labels"):
        return held  # wallets without these tokens don't match
    asked = portfolio.wallet_marks(others)
    keys = [portfolio.requested.keys[code] for code in portfolio.requested.codes[asked].tolist()]
    wallets = portfolio.wallets[asked]
    if kind == "wallets":
        known = known_wallets(wallets)
        return {
            f"{chain}.{address}": OptionStats(0, math.nan) if is_known else None
            for (chain, address), is_known in zip(keys, known, strict=True)
        } | held
    if kind == "blockchains":
        return {chain: OptionStats(0, math.nan) for chain, _ in keys} | held
    if selection.tokens:
        owners = portfolio.stats(others, "wallets")
        wallets = wallets[[f"{chain}.{address}" in owners for chain, address in keys]]
    texts = ((name, label_texts(wallets[name]).unique()) for name in portfolio.groups)
    return {(name, text): None for name, labels in texts for text in labels}


class View:
    """The state that a page shows, and its answers; the last pictures are cached."""

    def __init__(
        self, portfolio: Portfolio, changed: Callable[[int], None] = lambda _edition: None
    ) -> None:
        self.selection: Selection = Selection()
        self.chart: ChartOptions = ChartOptions()
        self.search: str = ""  # in the table of balances, from the last request
        self._edition = -1  # counts changes that all pages must show
        self._changed = changed  # called after each request for a chart
        self.handlers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "chart": self.answer_chart,
            "rows": self._answer_rows,
            "remaining": self._answer_remaining,
            **{f"options {kind}": partial(self._answer_options, kind) for kind in FILTERS},
        }
        self.show(portfolio)

    def show(self, portfolio: Portfolio) -> None:
        """Show another fetch; the selection stays as far as the fetch has it."""
        self.portfolio: Portfolio = portfolio
        self._select = lru_cache(_CACHED // 4)(portfolio.select)
        self._summarize = lru_cache(_CACHED // 4)(lambda chosen: summarize(self._select(chosen)))
        self._draw = lru_cache(_CACHED)(lambda chosen, chart: draw(self._select(chosen), chart))
        self._options = lru_cache(partial(filter_options, portfolio.details, portfolio.groups))
        self._table = lru_cache(1)(lambda chosen: portfolio.table(self._select(chosen)))
        self.chart = self.chart.changed({}, portfolio.groups)
        old = self.selection
        kept: dict[str, Any] = {kind: self._offered(kind, getattr(old, kind)) for kind in FILTERS}
        self.selection = replace(old, **kept)
        self._edition += 1
        self._changed(self._edition)

    def selected(self) -> Selected:
        """Return the selected part of the fetch."""
        return self._select(self.selection)

    def picture(self) -> Picture:
        """Return the chart of the selection."""
        return self._draw(self.selection, self.chart)

    def answer_chart(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Apply a user's action, such as a click, and return the selection and the chart."""
        before, chosen = self.selection, dict[str, Any]()
        if "click" in request and request["view"] == self._view_id():
            self.selection = picked(self.picture(), request["click"])
        elif "back" in request:
            self.selection = back(before, request["back"])
        else:
            if "spam" in request:
                chosen["spam"] = None if request["spam"] else False
            if "dust" in request:
                chosen["small"] = None if request["dust"] else DUST
            if "pick" in request:
                kind = request["pick"]["of"]
                chosen[kind] = self._offered(kind, request["pick"]["values"])
            only = request.get("only")
            if only and (target := self._table(before).cell_selection(only)):
                kind, value = target
                chosen[kind] = self._offered(kind, [value])
            self.selection = replace(before, **chosen)
        self._edition += self.selection != before
        self.chart = self.chart.changed(request, self.portfolio.groups)
        content, figure = self._content(), self.picture().figure
        self._changed(self._edition)
        return content, [figure] * bool(figure)

    def _view_id(self) -> str:
        """Return the id of the current picture; the page keeps its zoom until the id changes."""
        return f"{hash((id(self.portfolio), self.selection, self.picture().options)):x}"

    def _content(self) -> dict[str, Any]:
        """Return the selection and the chart, without its figure, for a page."""
        picture, portfolio, selection = self.picture(), self.portfolio, self.selection
        return {
            "edition": self._edition,
            "view": self._view_id(),
            "rows": f"{hash((id(portfolio), selection)):x}",
            "offered": f"{id(portfolio):x}",
            "chosen": {kind: getattr(selection, kind) for kind in FILTERS},
            "crumbs": crumbs(portfolio, selection),
            "summary": self._summarize(selection),
            "spam": {"shown": selection.spam is None, "text": spam_words(picture.selected)},
            "dust": {"shown": selection.small is None, "text": dust_words(picture.selected)},
            "painted": has_custom_template(),
            "title": picture.title,
            "line": picture.line,
            "about": picture.about,
            "reason": picture.reason,
            **picture.choices(),
        }

    def _offered(self, kind: str, values: Iterable[Any]) -> tuple[Any, ...]:
        """Return those of the values that are options, as spelled there."""
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
        """Return a window of the selected rows."""
        answer = self._table(self.selection).answer(request)
        self.search = "" if answer["by"] else str(request.get("find", ""))
        return answer

    def _answer_options(self, kind: str, _asked: object) -> dict[str, Any]:
        options, rest = self._options(kind), remaining(self.portfolio, self.selection, kind)
        return options.columns() | {"here": options.here(rest)}

    def _answer_remaining(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the number of options left in each filter, and the options of those shown."""
        portfolio = self.portfolio
        held, wallet_keys = portfolio.held, portfolio.requested.keys
        rest = {kind: remaining(portfolio, self.selection, kind) for kind in FILTERS}
        labels = [label_texts(portfolio.wallets[name]).nunique() for name in portfolio.groups]
        every = {  # without making all options
            "wallets": len(wallet_keys),
            "tokens": sum(not is_unknown(key) for key in held.tokens.keys),
            "blockchains": len({*held.chain_places, *(chain for chain, _ in wallet_keys)}),
            "labels": sum(labels),
        }
        counts = {kind: {"all": every[kind], "here": len(rest[kind])} for kind in FILTERS}
        here = {kind: self._options(kind).here(rest[kind]) for kind in request.get("of", ())}
        return {"counts": counts, "of": here}


def picked(picture: Picture, click: Mapping[str, Any]) -> Selection:
    """Return the selection after a click in a chart.

    The click has the ``id`` of a node, the index of a legend's ``token``, or the indices ``trace``
    and ``point``. Clicks on Other, and on boxes of several wallets, change nothing.
    """
    selected, by = picture.selected, picture.options.by
    held, portfolio = selected.held, selected.portfolio
    thing = "asset" if "asset" in by else "token"
    if box := read_box_id(str(click.get("id", ""))):
        names = by[max(box.depth - 1, 0) : box.depth + 1]
        names = names if {*names} >= {"wallet", thing} and not box.in_several else names[-1:]
        targets = [(name, box.row) for name in names if box.row < len(held.holdings)]
    else:
        targets = _click_targets(picture, click, thing)
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
            codes = with_assets(held).tokens.codes
            alike = np.unique(held.tokens.codes[codes == codes[row]])
            changes["tokens"] = tuple(held.tokens.keys[place] for place in alike.tolist())
        else:
            wallets = portfolio.requested
            place = wallets.first[wallets.keys.index(held.wallet_keys[owner])]
            changes["labels"] = ((name, label_texts(portfolio.wallets[name]).iloc[place]),)
    if {*changes} >= {"tokens", "wallets"} and picture.options.chart != "Heatmap":
        # The first click selects the wallet, the second one its token.
        is_chosen = selected.selection.wallets == changes["wallets"]
        changes.pop("wallets" if is_chosen else "tokens")
    return replace(selected.selection, **changes)


def _click_targets(picture: Picture, click: Mapping[str, Any], thing: str) -> list[tuple[str, int]]:
    """Return the targets of a click, as pairs of a group name and a row of holdings."""
    point, function = click.get("point"), picture.options.type.function
    owners = [name for name in picture.options.by if name not in ADDED]
    places: list[tuple[list[str], tuple[int, ...], object]] = []
    if "token" in click or function == "pie":
        places = [([thing], picture.tokens, click.get("token", point))]
    elif function == "bar":
        places = [(owners, picture.rows, point)]
    elif function == "heatmap" and isinstance(point, list):
        row = point[0] if click.get("trace") == 0 else -1
        places = [(owners, picture.rows, row), ([thing], picture.tokens, point[1])]
    return [
        (name, rows[place])
        for names, rows, place in places
        if isinstance(place, int) and 0 <= place < len(rows)
        for name in names
    ]


def crumbs(portfolio: Portfolio, selection: Selection) -> list[str]:
    """Return the texts of the breadcrumb after ``All``: the selection, kind by kind."""
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
            place = np.array([held.tokens.keys.index(tokens[0])])
            texts += token_names(held.holdings, held.tokens, place)
        else:
            texts.append(counted_noun(len(tokens), "token"))
    return texts


def back(selection: Selection, level: int) -> Selection:
    """Return the selection with only its first `level` kinds."""
    kinds = [kind for kind in _KINDS if getattr(selection, kind)]
    nothing: dict[str, Any] = dict.fromkeys(kinds[max(level, 0) :], ())
    return replace(selection, **nothing)
