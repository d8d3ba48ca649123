"""A list with search-as-you-type and multiple choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ipywidgets import HTML, Button, HBox, Layout, SelectMultiple, Text, ValueWidget
from ipywidgets.widgets.trait_types import TypedTuple
from traitlets import Any as AnyTrait
from traitlets import Unicode, observe, validate

from walletframe.pickers.pane import LOCK, Debounce, Pane, guarded
from walletframe.text import as_html

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from walletframe.pickers.options import Option, Options, Value

_SHOWN = 200
_CHIPS = 8
_LATE_S = 0.3  # a page may send Enter before the last letters
_NARROW = {"description_width": "8.5em"}


class _Several(TypedTuple):
    """A tuple; a text is one value, not its letters."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Return the tuple."""
        return super().validate(obj, (value,) if isinstance(value, str) else value)


class Chooser(Pane, ValueWidget):
    """A list with a line to search it and a button for each thing that is chosen.

    `description` names the things, `hint` says what can be typed to find one.
    """

    value: Any = _Several(AnyTrait())  # mypy takes a trait for what it validates
    description = Unicode()
    _resolve: Callable[[Any], Value]  # returns the option's value that is meant, or raises

    def __init__(
        self, options: Options, *, value: Sequence[Any] = (), description: str, hint: str
    ) -> None:
        self._options = options
        named = Chooser.value.validate(self, value)
        chosen = [self._resolve(each) for each in named]  # what fails leaves no widget behind
        self._found: list[Option] = []
        self._total, self._updating = 0, False
        self._enter_pressed = False
        self._debounce = Debounce(self._search_now)
        wide = {"width": "auto", "min_width": "0"}
        self._search = Text(placeholder=hint, style=_NARROW, layout=Layout(**wide))
        self._list = SelectMultiple(rows=6, style=_NARROW, layout=Layout(**wide))
        self._status = HTML()
        self._chips = _Chips(self._remove)
        super().__init__()
        self._on_close(self._debounce.stop)
        self.children = (self._search, self._list, self._status, self._chips, self._alert)
        self.description = description
        self._search.observe(lambda _: self._search_soon(), "value")
        self._search.on_msg(self._take_message)
        self._list.observe(self._take_marks, "index")
        self.value = chosen
        self._show()

    def _offer(self, options: Options) -> None:
        """Offer other things; what is chosen and not among them is removed."""
        with LOCK:
            kept = tuple(value for value in self.value if value in options)
            self._options = options
            self.value = kept
            self._show()

    @validate("value")
    def _resolve_all(self, proposal: dict[str, Any]) -> tuple[Value, ...]:
        return tuple(dict.fromkeys(self._resolve(value) for value in proposal["value"]))

    @observe("description")
    def _name_parts(self, change: dict[str, Any]) -> None:
        self._search.description = f"Find {change['new'].lower()}"
        self._list.description = change["new"]

    @observe("value")
    def _show_chosen(self, _change: object) -> None:
        with LOCK:
            self._show_marks()
            self._chips.show([self._options[value] for value in self.value])
            self._show_status()
            self._show_error("")

    def _search_soon(self) -> None:
        self._debounce.call(_LATE_S if self._enter_pressed else None)

    def _take_message(self, _widget: object, content: dict[str, Any], _buffers: object) -> None:
        if content.get("event") == "submit":
            self._enter_pressed = True
            self._search_soon()

    @guarded
    def _search_now(self) -> None:
        """Show what the words find; after Enter, choose the first of it and begin anew."""
        self._show()
        if self._enter_pressed:
            self._enter_pressed = False
            if option := self._first():
                self.value = (*self.value, option.value)
                self._search.value = ""

    @guarded
    def _show(self) -> None:
        hits = self._options.find(self._search.value, _SHOWN, self.value)
        self._found, self._total = hits.options, hits.total
        with self._list.hold_sync():
            self._updating = True
            self._list.options = [(option.label, place) for place, option in enumerate(self._found)]
            self._show_marks()
        for part in (self._search, self._list, self._status):
            part.layout.display = None if len(self._options) else "none"
        self._show_status()

    def _show_marks(self) -> None:
        chosen = set(self.value)
        marks = [place for place, option in enumerate(self._found) if option.value in chosen]
        self._updating = True
        self._list.index = tuple(marks)
        self._updating = False

    def _first(self) -> Option | None:
        """Return what Enter chooses: the first of what the words find that is not chosen yet."""
        found = self._found if self._search.value.strip() else []
        chosen = set(self.value)
        return next((option for option in found if option.value not in chosen), None)

    def _show_status(self) -> None:
        found = f"{self._total:,} of {len(self._options):,} match"
        parts = [found if self._search.value.strip() else f"{self._total:,} to choose from"]
        if self._total > _SHOWN:
            parts.append(f"first {_SHOWN} shown")
        parts.append(f"{len(self.value):,} chosen")
        if option := self._first():
            parts.append(f"Enter chooses {as_html(option.short, whole=option.label)}")
        self._status.value = f'<div role="status" style="line-height: 1.5">{", ".join(parts)}</div>'

    @guarded
    def _take_marks(self, change: dict[str, Any]) -> None:
        """Choose what is marked in the list; remove only what was surely unmarked on purpose.

        A plain click on one thing unmarks all others, and is not meant so.
        """
        if self._updating:
            return
        marked = [self._found[place].value for place in change["new"]]
        gone = {option.value for option in self._found} & set(self.value) - set(marked)
        if len(gone) > 1 or len(marked) == 1:
            gone = set()
        chosen = dict.fromkeys([*self.value, *marked])
        self.value = tuple(value for value in chosen if value not in gone)
        self._show_marks()

    @guarded
    def _remove(self, values: Sequence[Value]) -> None:
        self.value = tuple(value for value in self.value if value not in set(values))


class _Chips(HBox):
    """Buttons that remove: one for each of the first eight things chosen, and one for all."""

    def __init__(self, remove: Callable[[Sequence[Value]], None]) -> None:
        self._remove = remove
        self._chosen: list[Option] = []
        self._buttons: list[Button] = []
        self._more = HTML()
        self._clear = Button(
            description="Remove all", layout=Layout(width="auto", display="none"), icon="trash"
        )
        self._clear.on_click(lambda _: remove([option.value for option in self._chosen]))
        super().__init__(
            [self._more, self._clear], layout=Layout(flex_flow="row wrap", align_items="center")
        )

    def show(self, chosen: Sequence[Option]) -> None:
        """Show what is chosen, in the order chosen."""
        self._chosen = list(chosen)
        while len(self._buttons) < min(len(chosen), _CHIPS):
            self._add_button(len(self._buttons))
        for place, button in enumerate(self._buttons):
            if place < len(chosen):
                button.description = f"{chosen[place].short} ✕"
                button.tooltip = f"Remove {chosen[place].label}"
            button.layout.display = None if place < len(chosen) else "none"
        rest = len(chosen) - _CHIPS
        self._more.value = f"<span>and {rest:,} more</span>" if rest > 0 else ""
        self._clear.layout.display = None if len(chosen) > 1 else "none"

    def _add_button(self, place: int) -> None:
        button = Button(layout=Layout(width="auto", max_width="100%"))
        button.on_click(lambda _: self._remove([self._chosen[place].value]))
        self._buttons.append(button)
        self.children = (*self._buttons, self._more, self._clear)
