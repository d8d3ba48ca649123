"""What the page's chart asks, and what it is answered: pictures, clicks in them, and plotly.js."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeVar

from walletframe import charts
from walletframe.errors import ArgumentError
from walletframe.pickers.clicks import back, crumbs, picked
from walletframe.pickers.pictures import ASSETS, CHARTS, TOKENS, WALLET, Look, draw
from walletframe.pickers.stock import Sieve, Stock, dust_words, sift, spam_words, summarize
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from walletframe.pickers.pictures import Picture
    from walletframe.pickers.selection import Selection
    from walletframe.pickers.stock import Sifted, Summary

    Answer = tuple[dict[str, Any], list[bytes]]

K = TypeVar("K")
V = TypeVar("V")
_KEPT = 16


class Drawing:
    """Draws what is selected of a fetch, in answer to a page.

    `selection` tells what is selected, and `select` takes another selection where a person clicks
    in a chart. The last pictures are kept: going back to one costs nothing.
    """

    def __init__(
        self,
        stock: Stock,
        selection: Callable[[], Selection],
        select: Callable[[Selection], None],
    ) -> None:
        self.look = Look()
        self._selection, self._select = selection, select
        self.restock(stock)

    def restock(self, stock: Stock) -> None:
        """Draw another fetch from now on."""
        self.stock = stock
        if self.look.group not in stock.groups:
            self.look = replace(self.look, group=WALLET)
        self._sifted: OrderedDict[tuple[Selection, Sieve], tuple[Sifted, Summary]] = OrderedDict()
        self._pictures: OrderedDict[tuple[Selection, Look], Picture] = OrderedDict()

    @property
    def answers(self) -> Mapping[str, Callable[[dict[str, Any]], Answer]]:
        """What answers which kind of message, for `PageWidget._answer`."""
        return {"chart": self.answer, "plotly": _library}

    def sifted(self) -> tuple[Sifted, Summary]:
        """Return the rows that are selected, and what they come to."""
        selection, sieve = self._selection(), self.look.sieve

        def make() -> tuple[Sifted, Summary]:
            found = sift(self.stock, selection, sieve)
            return found, summarize(self.stock, found)

        return _kept(self._sifted, (selection, sieve), make, _KEPT // 4)

    def picture(self) -> Picture:
        """Return the chart of what is selected."""
        selection, look = self._selection(), self.look
        return _kept(
            self._pictures,
            (selection, look),
            lambda: draw(self.stock, selection, look, self.sifted()[0]),
            _KEPT,
        )

    def answer(self, asked: Mapping[str, Any]) -> Answer:
        """Take what a person did, and return the picture of now.

        ``spam`` and ``dust`` say whether it is shown; ``click`` is one in the picture of ``view``,
        ``back`` the place of a breadcrumb.
        """
        if asked.get("click") and asked.get("view") == self._view(self.picture()):
            picture, before = self.picture(), self._selection()
            self._select(picked(self.stock, picture, before, asked["click"]))
        if isinstance(asked.get("back"), int):
            self._select(back(self._selection(), asked["back"]))
        self._take_look(asked)
        picture = self.picture()
        return self._said(picture), [picture.figure] * bool(picture.figure)

    def _take_look(self, asked: Mapping[str, Any]) -> None:
        chart, measure = asked.get("chart", self.look.chart), asked.get("measure")
        if chart not in CHARTS:
            raise ArgumentError(f"{chart!r} is not a chart", hint=f"one of {', '.join(CHARTS)}")
        sieve = self.look.sieve
        if isinstance(asked.get("spam"), bool):
            sieve = replace(sieve, spam=not asked["spam"])
        if isinstance(asked.get("dust"), bool):
            sieve = replace(sieve, dust=not asked["dust"])
        group = asked.get("group", self.look.group)
        self.look = Look(
            chart=chart,
            measure=self.look.measure if measure is None else str(measure),
            sieve=sieve,
            group=group if group in self.stock.groups else WALLET,
            assets=asked.get("things", ASSETS if self.look.assets else TOKENS) == ASSETS,
            narrow=bool(asked.get("narrow", self.look.narrow)),
        )

    def _view(self, picture: Picture) -> str:
        """Name what is seen: where it is the same again, the page keeps what a person zoomed."""
        return f"{hash((id(self.stock), self._selection(), picture.look)):x}"

    def _said(self, picture: Picture) -> dict[str, Any]:
        (sifted, summary), sieve = self.sifted(), picture.look.sieve
        return {
            "view": self._view(picture),
            "version": charts.plotly_library().version,
            "painted": charts.has_template(),
            "title": picture.title,
            "line": picture.line,
            "about": picture.about,
            "reason": picture.reason,
            "chart": picture.look.chart,
            "charts": [*CHARTS],
            "groups": _groups(self.stock, picture.look),
            "group": picture.look.group,
            "things": [TOKENS, ASSETS] if CHARTS[picture.look.chart].by else [],
            "thing": ASSETS if picture.look.assets else TOKENS,
            "measure": picture.look.measure,
            "measures": [[name, self._named(name, picture)] for name in picture.measures],
            "crumbs": crumbs(self.stock, self._selection()),
            "summary": asdict(summary),
            "spam": {"shown": not sieve.spam, "text": spam_words(sifted, sieve)},
            "dust": {"shown": not sieve.dust, "text": dust_words(sifted, sieve)},
        }

    def _named(self, measure: str, picture: Picture) -> str:
        if measure == "amounts":
            return f"amount of {picture.token}" if picture.token else "amount of one token"
        return {"value": "value", "balances": "number of balances"}[measure]


def _groups(stock: Stock, look: Look) -> list[list[str]]:
    """Return what the chart can be grouped by, each as a name and a line."""
    given = CHARTS[look.chart].by
    names = stock.groups if given else []
    usual = "blockchain" if given == ("blockchain",) else "wallet"
    return [[WALLET, usual], *([name, shown(name, 40)] for name in names)] if names else []


def _kept(store: OrderedDict[K, V], key: K, make: Callable[[], V], most: int) -> V:
    """Return what is kept, or make it, and forget what was not used for longest."""
    if key not in store:
        store[key] = make()
        while len(store) > most:
            store.popitem(last=False)
    store.move_to_end(key)
    return store[key]


def _library(_asked: object) -> Answer:
    version, script = charts.plotly_library()
    return {"version": version}, [script]
