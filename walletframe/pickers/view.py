"""What an explorer shows, without its widget: of which fetch, what of it, and drawn how.

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
from walletframe.charts import has_template, read_box_id
from walletframe.frames.asset_list import with_assets
from walletframe.frames.groups import ADDED
from walletframe.frames.identity import is_unknown
from walletframe.frames.known import known_wallets
from walletframe.frames.names import given_names, token_names, wallet_names
from walletframe.numerals import many
from walletframe.pickers.picker import Fact, filter_options
from walletframe.pickers.pictures import ChartOptions, draw
from walletframe.pickers.portfolio import DUST, dust_words, spam_words, summarize
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from walletframe.pickers.pictures import Picture
    from walletframe.pickers.portfolio import Portfolio, Selected

    Remaining = Mapping[Any, Fact | None]

_KEPT = 16
_KINDS = ("blockchains", "wallets", "labels", "tokens")  # in the order of a breadcrumb


FILTERS = {kind: kind.title() for kind in ("wallets", "tokens", "blockchains", "labels")}
"""The explorer's pickers, each of a kind of what a `Selection` has, and their titles."""


def remaining(portfolio: Portfolio, selection: Selection, kind: str) -> Remaining:
    """Return what of a kind is there beside what is chosen of the others, with what is held."""
    nothing: dict[str, Any] = {kind: ()}
    others = replace(selection, **nothing)
    found: dict[Any, Fact | None] = {}
    if kind != "labels":
        found |= portfolio.facts(others, kind)
    if kind == "tokens" or (selection.tokens and kind != "labels"):
        return found  # who holds none of these tokens is not meant
    asked = portfolio.asked_marks(others)
    keys = [portfolio.asked.keys[code] for code in portfolio.asked.codes[asked].tolist()]
    wallets = portfolio.wallets[asked]
    if kind == "wallets":
        known = known_wallets(wallets)
        return {
            f"{chain}.{address}": Fact(0, math.nan) if is_known else None
            for (chain, address), is_known in zip(keys, known, strict=True)
        } | found
    if kind == "blockchains":
        return {chain: Fact(0, math.nan) for chain, _ in keys} | found
    if selection.tokens:
        owners = portfolio.facts(others, "wallets")
        wallets = wallets[[f"{chain}.{address}" in owners for chain, address in keys]]
    texts = ((name, label_texts(wallets[name]).unique()) for name in portfolio.groups)
    return {(name, text): None for name, labels in texts for text in labels}


class View:
    """Answers what a page asks; the last pictures are kept: going back to one costs nothing."""

    def __init__(
        self, portfolio: Portfolio, changed: Callable[[int], None] = lambda _edition: None
    ) -> None:
        self.selection: Selection = Selection()
        self.chart: ChartOptions = ChartOptions()
        self.search: str = ""  # in the table of balances, by the page that asked last
        self._edition = -1  # counts what changed that every page has to show
        self._changed = changed  # hears it whenever a chart was asked for
        self.handlers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "chart": self.answer_chart,
            "rows": self._answer_rows,
            "remaining": self._answer_remaining,
            **{f"options {kind}": partial(self._answer_options, kind) for kind in FILTERS},
        }
        self.show(portfolio)

    def show(self, portfolio: Portfolio) -> None:
        """Show another fetch; of what is selected, what is there stays."""
        self.portfolio: Portfolio = portfolio
        self._select = lru_cache(_KEPT // 4)(portfolio.select)
        self._summarize = lru_cache(_KEPT // 4)(lambda chosen: summarize(self._select(chosen)))
        self._draw = lru_cache(_KEPT)(lambda chosen, chart: draw(self._select(chosen), chart))
        self._options = lru_cache(partial(filter_options, portfolio.details, portfolio.groups))
        self._table = lru_cache(1)(lambda chosen: portfolio.table(self._select(chosen)))
        self.chart = self.chart.changed({}, portfolio.groups)
        was = self.selection
        left: dict[str, Any] = {kind: self._offered(kind, getattr(was, kind)) for kind in FILTERS}
        self.selection = replace(was, **left)
        self._edition += 1
        self._changed(self._edition)

    def selected(self) -> Selected:
        """Return what is selected."""
        return self._select(self.selection)

    def picture(self) -> Picture:
        """Return the chart of what is selected."""
        return self._draw(self.selection, self.chart)

    def answer_chart(self, asked: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Take what a person did, and return what there is to see: the chart, what is picked.

        It is a click in the picture that is named by ``view``, a way back, a cell of the table, a
        pick in a filter, a switch, or another chart.
        """
        before, chosen = self.selection, dict[str, Any]()
        if "click" in asked and asked["view"] == self._view():
            self.selection = picked(self.picture(), asked["click"])
        elif "back" in asked:
            self.selection = back(before, asked["back"])
        else:
            if "spam" in asked:
                chosen["spam"] = None if asked["spam"] else False
            if "dust" in asked:
                chosen["small"] = None if asked["dust"] else DUST
            if "pick" in asked:
                kind = asked["pick"]["of"]
                chosen[kind] = self._offered(kind, asked["pick"]["values"])
            if "only" in asked and (meant := self._table(before).meant(asked["only"])):
                kind, value = meant
                chosen[kind] = self._offered(kind, [value])
            self.selection = replace(before, **chosen)
        self._edition += self.selection != before
        self.chart = self.chart.changed(asked, self.portfolio.groups)
        content, figure = self._content(), self.picture().figure
        self._changed(self._edition)
        return content, [figure] * bool(figure)

    def _view(self) -> str:
        """Name what is seen: where it is the same again, the page keeps what a person zoomed."""
        return f"{hash((id(self.portfolio), self.selection, self.picture().options)):x}"

    def _content(self) -> dict[str, Any]:
        """Return for a page what is picked, in words, and all but the figure of its chart."""
        picture, portfolio, selection = self.picture(), self.portfolio, self.selection
        return {
            "edition": self._edition,
            "view": self._view(),
            "rows": f"{hash((id(portfolio), selection)):x}",
            "offered": f"{id(portfolio):x}",
            "chosen": {kind: getattr(selection, kind) for kind in FILTERS},
            "crumbs": crumbs(portfolio, selection),
            "summary": self._summarize(selection),
            "spam": {"shown": selection.spam is None, "text": spam_words(picture.selected)},
            "dust": {"shown": selection.small is None, "text": dust_words(picture.selected)},
            "painted": has_template(),
            "title": picture.title,
            "line": picture.line,
            "about": picture.about,
            "reason": picture.reason,
            **picture.choices(),
        }

    def _offered(self, kind: str, values: Iterable[Any]) -> tuple[Any, ...]:
        """Return those of some values that are offered, as they are spelled there."""
        found = []
        for value in values:
            key: Any = tuple(value)
            if kind == "wallets":
                wallet = read_wallet(value)
                key = value if isinstance(wallet, str) else str(wallet.canonical)
            elif kind == "blockchains":
                key = canonical_blockchain(str(value))
            found.append(self._options(kind).by_key.get(key))
        return tuple(dict.fromkeys(option.value for option in found if option))

    def _answer_rows(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return a window of the rows that are selected."""
        answer = self._table(self.selection).answer(asked)
        self.search = "" if answer["by"] else str(asked.get("find", ""))
        return answer

    def _answer_options(self, kind: str, _asked: object) -> dict[str, Any]:
        options, left = self._options(kind), remaining(self.portfolio, self.selection, kind)
        return options.columns() | {"here": options.here(left)}

    def _answer_remaining(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Count what remains of each kind, and return what does of those that the page shows."""
        portfolio = self.portfolio
        held, asked_keys = portfolio.held, portfolio.asked.keys
        left = {kind: remaining(portfolio, self.selection, kind) for kind in FILTERS}
        labels = [label_texts(portfolio.wallets[name]).nunique() for name in portfolio.groups]
        every = {  # whose options need not be made
            "wallets": len(asked_keys),
            "tokens": sum(not is_unknown(key) for key in held.tokens.keys),
            "blockchains": len({*held.chain_places, *(chain for chain, _ in asked_keys)}),
            "labels": sum(labels),
        }
        counts = {kind: {"all": every[kind], "here": len(left[kind])} for kind in FILTERS}
        here = {kind: self._options(kind).here(left[kind]) for kind in asked.get("of", ())}
        return {"counts": counts, "of": here}


def picked(picture: Picture, click: Mapping[str, Any]) -> Selection:
    """Return what a click selects: one thing of its kind, beside the others.

    It has the ``id`` of a node, the place of a legend's ``token``, or those of ``trace`` and
    ``point``. What stands for several is no choice.
    """
    selected, by = picture.selected, picture.options.by
    held, portfolio = selected.held, selected.portfolio
    thing = "asset" if "asset" in by else "token"
    if box := read_box_id(str(click.get("id", ""))):
        names = by[max(box.depth - 1, 0) : box.depth + 1]
        names = names if {*names} >= {"wallet", thing} and not box.in_several else names[-1:]
        clicked = [(name, box.row) for name in names if box.row < len(held.holdings)]
    else:
        clicked = _clicked(picture, click, thing)
    found: dict[str, Any] = {}
    for name, row in clicked:
        owner, token = int(held.wallet_codes[row]), held.tokens.codes[row]
        if name == "wallet":
            found["wallets"] = (".".join(held.wallets.iloc[owner]),)
        elif name == "blockchain":
            found["blockchains"] = (held.chains[held.chain_codes[owner]],)
        elif name == "token":
            found["tokens"] = (held.tokens.keys[token],)
        elif name == "asset":
            codes = with_assets(held).tokens.codes
            alike = np.unique(held.tokens.codes[codes == codes[row]])
            found["tokens"] = tuple(held.tokens.keys[place] for place in alike.tolist())
        else:
            asked = portfolio.asked
            place = asked.first[asked.keys.index(held.wallet_keys[owner])]
            found["labels"] = ((name, label_texts(portfolio.wallets[name]).iloc[place]),)
    if {*found} >= {"tokens", "wallets"} and picture.options.chart != "Heatmap":
        # First the wallet, then a token in it.
        is_chosen = selected.selection.wallets == found["wallets"]
        found.pop("wallets" if is_chosen else "tokens")
    return replace(selected.selection, **found)


def _clicked(picture: Picture, click: Mapping[str, Any], thing: str) -> list[tuple[str, int]]:
    """Return by which names a legend, a slice, a bar or a cell stands for which row of holdings."""
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
    """Name what is selected, kind by kind: what a breadcrumb shows behind ``All``."""
    held, labels, found = portfolio.held, selection.labels, []
    if chains := selection.blockchains:
        found.append(chains[0] if len(chains) == 1 else many(len(chains), "blockchain"))
    if wallets := selection.wallet_keys():
        if len(wallets) == 1 and wallets[0] in held.wallet_keys:
            one = held.wallets.iloc[[held.wallet_keys.index(wallets[0])]]
            found += wallet_names(one, np.arange(1), given_names(one, portfolio.wallets))
        else:
            found.append(many(len(wallets), "wallet"))
    if labels:
        name, text = labels[0]
        label = shown(f"{name}: {text}" if text else f"no {name}", 60)
        found.append(label if len(labels) == 1 else many(len(labels), "label"))
    if tokens := selection.tokens:
        if len(tokens) == 1 and tokens[0] in held.tokens.keys:
            place = np.array([held.tokens.keys.index(tokens[0])])
            found += token_names(held.holdings, held.tokens, place)
        else:
            found.append(many(len(tokens), "token"))
    return found


def back(selection: Selection, level: int) -> Selection:
    """Return a selection with its first kinds alone, as many as `level`."""
    kinds = [kind for kind in _KINDS if getattr(selection, kind)]
    nothing: dict[str, Any] = dict.fromkeys(kinds[max(level, 0) :], ())
    return replace(selection, **nothing)
