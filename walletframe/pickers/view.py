"""What an explorer shows, without its widget: of which fetch, what of it, and drawn how."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from walletframe import charts
from walletframe.address import canonical_blockchain, read_wallet
from walletframe.errors import ArgumentError
from walletframe.pickers.clicks import back, crumbs, picked
from walletframe.pickers.filters import FILTERS, remaining
from walletframe.pickers.pictures import (
    AMOUNTS,
    ASSETS,
    BALANCES,
    CHARTS,
    TOKENS,
    VALUE,
    WALLET,
    ChartOptions,
    draw,
)
from walletframe.pickers.portfolio import Selection
from walletframe.pickers.summary import dust_words, spam_words, summarize
from walletframe.pickers.widget import NotReadError
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from walletframe.pickers.pictures import Picture
    from walletframe.pickers.portfolio import Portfolio, Selected

_KEPT = 16


class View:
    """Answers what a page asks; the last pictures are kept: going back to one costs nothing."""

    def __init__(self, portfolio: Portfolio) -> None:
        self.selection: Selection = Selection()
        self.chart: ChartOptions = ChartOptions()
        self.edition: int = -1  # counts what changed that every page has to show
        self.show(portfolio)

    def show(self, portfolio: Portfolio) -> None:
        """Show another fetch; of what is selected, what is there stays."""
        self.portfolio: Portfolio = portfolio
        self._select = lru_cache(_KEPT // 4)(portfolio.select)
        self._summarize = lru_cache(_KEPT // 4)(lambda chosen: summarize(self._select(chosen)))
        self._draw = lru_cache(_KEPT)(lambda chosen, chart: draw(self._select(chosen), chart))
        self._options = lru_cache(
            lambda kind: portfolio.options(kind, FILTERS[kind].options(portfolio))
        )
        self._table = lru_cache(1)(lambda chosen: portfolio.table(self._select(chosen)))
        if self.chart.group not in portfolio.groups:
            self.chart = replace(self.chart, group=WALLET)
        left: dict[str, Any] = dict.fromkeys(FILTERS, ())
        with suppress(NotReadError):  # of what was not read yet nothing stays
            left = {kind: self._offered(kind, getattr(self.selection, kind)) for kind in FILTERS}
        self.selection = replace(self.selection, **left)
        self.edition += 1

    @property
    def handlers(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        """What answers which kind of message."""
        kinds = {f"options {kind}": partial(self._answer_options, kind) for kind in FILTERS}
        return kinds | {
            "chart": self.answer_chart,
            "rows": lambda asked: self._table(self.selection).answer(asked),
            "remaining": self._answer_remaining,
        }

    def selected(self) -> Selected:
        """Return what is selected."""
        return self._select(self.selection)

    def go_back(self, selection: Selection) -> None:
        """Select what was selected before."""
        self.selection = selection
        self.edition += 1

    def picture(self) -> Picture:
        """Return the chart of what is selected."""
        return self._draw(self.selection, self.chart)

    def answer_chart(self, asked: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Take what a person did, and return what there is to see: the chart, what is picked.

        What was taken is no longer in what is asked, so that it can be asked again.
        """
        before, self.selection = self.selection, self._taken(asked)
        self.edition += self.selection != before
        self._take_chart(asked)
        for name in asked.keys() - {"kind", "n", "narrow"}:
            del asked[name]
        picture = self.picture()
        return self._content(picture), [picture.figure] * bool(picture.figure)

    def _taken(self, asked: dict[str, Any]) -> Selection:
        """Return what is selected by a pick in a filter, a cell of the table, a click, a way back.

        ``view`` names the picture in which the click was.
        """
        chosen: dict[str, Any] = {name: asked[name] for name in ("spam", "dust") if name in asked}
        if "pick" in asked:
            kind = asked["pick"]["of"]
            chosen[kind] = self._offered(kind, asked["pick"]["values"])
        if "only" in asked and (meant := self._table(self.selection).meant(asked["only"])):
            kind, value = meant
            chosen[kind] = self._offered(kind, [value])
        selection = replace(self.selection, **chosen)
        if "click" in asked and asked["view"] == self._view():
            return picked(self.picture(), asked["click"])
        return back(selection, asked["back"]) if "back" in asked else selection

    def _take_chart(self, asked: dict[str, Any]) -> None:
        names = ("chart", "measure", "group", "narrow")
        given = {name: asked[name] for name in names if name in asked}
        if given.get("chart", self.chart.chart) not in CHARTS:
            hint = f"one of {', '.join(CHARTS)}"
            raise ArgumentError(f"{given['chart']!r} is not a chart", hint=hint)
        if given.get("group", WALLET) not in (WALLET, *self.portfolio.groups):
            given["group"] = WALLET  # another page may have a fetch that is gone
        if "thing" in asked:
            given["assets"] = asked["thing"] == ASSETS
        self.chart = replace(self.chart, **given)

    def _view(self) -> str:
        """Name what is seen: where it is the same again, the page keeps what a person zoomed."""
        return f"{hash((id(self.portfolio), self.selection, self.picture().options)):x}"

    def _content(self, picture: Picture) -> dict[str, Any]:
        selected, chart, portfolio = picture.selected, picture.options, self.portfolio
        selection = self.selection
        return {
            "edition": self.edition,
            "view": self._view(),
            "rows": f"{hash((id(portfolio), selection)):x}",
            "offered": f"{id(portfolio):x}",
            "chosen": {kind: getattr(selection, kind) for kind in FILTERS},
            "crumbs": crumbs(portfolio, selection),
            "summary": asdict(self._summarize(selection)),
            "spam": {"shown": selection.spam, "text": spam_words(selected)},
            "dust": {"shown": selection.dust, "text": dust_words(selected)},
            "painted": charts.has_template(),
            "title": picture.title,
            "line": picture.line,
            "about": picture.about,
            "reason": picture.reason,
            "chart": chart.chart,
            "charts": [[name, name] for name in CHARTS],
            "measure": chart.measure,
            "measures": _measures(picture),
            "group": chart.group,
            "groups": _groups(portfolio, chart),
            "thing": ASSETS if chart.assets else TOKENS,
            "things": [[name, name] for name in (TOKENS, ASSETS) if chart.type.by],
        }

    def _offered(self, kind: str, values: Iterable[Any]) -> tuple[Any, ...]:
        """Return those of some values that are offered, as they are spelled there."""
        if not values:
            return ()
        by_key = self._options(kind).by_key
        found = (by_key.get(_key(kind, value)) for value in values)
        return tuple(dict.fromkeys(option.value for option in found if option))

    def _answer_options(self, kind: str, _asked: object) -> dict[str, Any]:
        options, left = self._options(kind), remaining(self.portfolio, self.selection, kind)
        return options.columns() | {"here": options.here(left)}

    def _answer_remaining(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Tell how much of each kind remains, and what of those that the page shows."""
        left = {kind: remaining(self.portfolio, self.selection, kind) for kind in FILTERS}
        counts = {
            kind: {"all": each.count(self.portfolio), "here": len(left[kind])}
            for kind, each in FILTERS.items()
        }
        here = {kind: self._options(kind).here(left[kind]) for kind in asked.get("of", ())}
        return {"counts": counts, "of": here}


def _measures(picture: Picture) -> list[list[str]]:
    amounts = f"amount of {picture.token or 'one token'}"
    labels = {VALUE: "value", AMOUNTS: amounts, BALANCES: "number of balances"}
    return [[name, labels[name]] for name in picture.measures]


def _groups(portfolio: Portfolio, chart: ChartOptions) -> list[list[str]]:
    """Return what the chart can be grouped by, each as a name and a line."""
    if not chart.type.by or not portfolio.groups:
        return []
    usual = "blockchain" if chart.type.by == ("blockchain",) else "wallet"
    return [[WALLET, usual], *([name, shown(name, 40)] for name in portfolio.groups)]


def _key(kind: str, value: Any) -> Any:
    """Return what equals all spellings of a value, as options are found by."""
    if kind == "wallets":
        wallet = read_wallet(value)
        return value if isinstance(wallet, str) else str(wallet.canonical)
    if kind == "blockchains":
        return canonical_blockchain(str(value))
    return tuple(value)
