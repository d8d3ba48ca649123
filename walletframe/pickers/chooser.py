"""A list that is searched by typing, of which a person chooses some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ipywidgets import HTML, Layout, SelectMultiple, Text, ValueWidget
from ipywidgets.widgets.trait_types import TypedTuple
from traitlets import Any as AnyTrait
from traitlets import Unicode, observe, validate

from walletframe.pickers.chips import Chips
from walletframe.pickers.pane import TURN, Pane, guarded
from walletframe.pickers.pause import Pause
from walletframe.text import as_html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.pickers.options import Option, Options, Value

LIMIT = 200
_LATE_S = 0.3  # a page may send Enter before the last letters
_NARROW = {"description_width": "8.5em"}


class _Several(TypedTuple):
    """A tuple; a text is one value, not its letters."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Return the tuple."""
        return super().validate(obj, (value,) if isinstance(value, str) else value)


class Chooser(Pane, ValueWidget):
    """A list with a line to search it and a button for each thing that is chosen."""

    value: Any = _Several(AnyTrait())  # mypy takes a trait for what it validates
    description = Unicode()

    def __init__(
        self, options: Options, *, value: Sequence[Any] = (), description: str, hint: str
    ) -> None:
        self._options = options
        named = Chooser.value.validate(self, value)
        chosen = [self._resolve(each) for each in named]  # what fails leaves no widget behind
        self._shown: list[Option] = []
        self._total, self._showing = 0, False
        self._takes_first = False
        self._pause = Pause(self._follow)
        wide = {"width": "auto", "min_width": "0"}
        self._search = Text(placeholder=hint, style=_NARROW, layout=Layout(**wide))
        self._list = SelectMultiple(rows=6, style=_NARROW, layout=Layout(**wide))
        self._status = HTML()
        self._chips = Chips(self._take_away)
        super().__init__()
        self.ends_with(self._pause.stop)
        self.children = (self._search, self._list, self._status, self._chips, self._alert)
        self.description = description
        self._search.observe(lambda _: self._wait(), "value")
        self._search.on_msg(self._hear)
        self._list.observe(self._take_over, "index")
        self.value = chosen
        self._show()

    def _offer(self, options: Options) -> None:
        """Offer other things; what is chosen and not among them is let go."""
        with TURN:
            kept = tuple(value for value in self.value if value in options)
            self._options = options
            self.value = kept
            self._show()

    def _resolve(self, value: Any) -> Value:
        """Return the option's value that something stands for, or raise."""
        raise NotImplementedError

    @validate("value")
    def _known(self, proposal: dict[str, Any]) -> tuple[Value, ...]:
        return tuple(dict.fromkeys(self._resolve(value) for value in proposal["value"]))

    @observe("description")
    def _name(self, change: dict[str, Any]) -> None:
        self._search.description = f"Find {change['new'].lower()}"
        self._list.description = change["new"]

    @observe("value")
    def _mark(self, _change: object) -> None:
        with TURN:
            self._show_marks()
            self._chips.show([self._options[value] for value in self.value])
            self._show_status()
            self.tell_fault("")

    def _wait(self) -> None:
        self._pause.begin(_LATE_S if self._takes_first else None)

    def _hear(self, _widget: object, content: dict[str, Any], _buffers: object) -> None:
        if content.get("event") == "submit":
            self._takes_first = True
            self._wait()

    @guarded
    def _follow(self) -> None:
        """Show what the words find; after Enter, choose the first of it and begin anew."""
        self._show()
        if self._takes_first:
            self._takes_first = False
            if option := self._first():
                self.value = (*self.value, option.value)
                self._search.value = ""

    @guarded
    def _show(self) -> None:
        """Show what the words find."""
        hits = self._options.find(self._search.value, LIMIT, self.value)
        self._shown, self._total = hits.options, hits.total
        with self._list.hold_sync():
            self._showing = True
            self._list.options = [(option.label, place) for place, option in enumerate(self._shown)]
            self._show_marks()
        for part in (self._search, self._list, self._status):
            part.layout.display = None if len(self._options) else "none"
        self._show_status()

    def _show_marks(self) -> None:
        chosen = set(self.value)
        marks = [place for place, option in enumerate(self._shown) if option.value in chosen]
        self._showing = True
        self._list.index = tuple(marks)
        self._showing = False

    def _first(self) -> Option | None:
        """Return what Enter chooses: the first of what the words find that is not chosen yet."""
        found = self._shown if self._search.value.strip() else []
        chosen = set(self.value)
        return next((option for option in found if option.value not in chosen), None)

    def _show_status(self) -> None:
        found = f"{self._total:,} of {len(self._options):,} match"
        parts = [found if self._search.value.strip() else f"{self._total:,} to choose from"]
        if self._total > LIMIT:
            parts.append(f"first {LIMIT} shown")
        parts.append(f"{len(self.value):,} chosen")
        if option := self._first():
            parts.append(f"Enter chooses {as_html(option.short, whole=option.label)}")
        self._status.value = f'<div role="status" style="line-height: 1.5">{", ".join(parts)}</div>'

    @guarded
    def _take_over(self, change: dict[str, Any]) -> None:
        """Choose what is marked in the list; let go only what was surely taken away on purpose.

        A plain click on one thing takes the marks of all others away, and is not meant so.
        """
        if self._showing:
            return
        marked = [self._shown[place].value for place in change["new"]]
        gone = {option.value for option in self._shown} & set(self.value) - set(marked)
        if len(gone) > 1 or len(marked) == 1:
            gone = set()
        chosen = dict.fromkeys([*self.value, *marked])
        self.value = tuple(value for value in chosen if value not in gone)
        self._show_marks()

    @guarded
    def _take_away(self, values: Sequence[Value]) -> None:
        self.value = tuple(value for value in self.value if value not in set(values))
