"""Choosing several things in a list with search-as-you-type, and one by buttons."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from ipywidgets import (
    HTML,
    Button,
    HBox,
    Label,
    Layout,
    SelectMultiple,
    Text,
    ValueWidget,
)
from ipywidgets.widgets.trait_types import TypedTuple
from traitlets import Any as AnyTrait
from traitlets import Unicode, observe, validate

from walletframe.pickers.pane import LOCK, Debounce, Pane, guarded
from walletframe.text import as_html, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from walletframe.frames import TokenKey

Value: TypeAlias = "str | TokenKey"
_SHOWN, _CHIPS, _LABEL = 200, 8, 24
_TYPING_S, _LATE_S = 0.15, 0.3  # a page may send Enter before the last letters
_NARROW = {"description_width": "8.5em"}


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose."""

    value: Value
    label: str  # in the list: one harmless line, in full
    short: str  # on a button
    words: str  # what is searched, case folded; the name that people know comes first
    key: Value  # equal for all spellings of the value


class Options(dict[Value, Option]):
    """Things to choose from by their values, each key once, in the order they are offered in."""

    def __init__(self, options: Iterable[Option]) -> None:
        super().__init__()
        self.by_key: dict[Value, Option] = {}
        for option in options:
            self.add(option)

    def add(self, option: Option) -> Value:
        """Offer one more thing, and return its value: it may be there in another spelling."""
        kept = self.by_key.setdefault(option.key, option)
        self[kept.value] = kept
        return kept.value

    def find(self, text: str, limit: int, first: Sequence[Value] = ()) -> tuple[list[Option], int]:
        """Find what holds all words of a text, in any case and order, and how many that is in all.

        Those whose name is the text come first, then those that begin with it. Blank text finds
        everything, the values `first` before others.
        """
        words = text.casefold().split()
        whole = " ".join(words)

        def nearness(option: Option) -> int:
            return option.words.startswith(whole) + f"{option.words} ".startswith(f"{whole} ")

        if words:
            found = [each for each in self.values() if all(word in each.words for word in words)]
            found.sort(key=nearness, reverse=True)
        else:
            order = dict.fromkeys([*(value for value in first if value in self), *self])
            found = [self[value] for value in order]
        return found[:limit], len(found)


class _Several(TypedTuple):
    """A tuple; a text is one value, not its letters."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Return the tuple."""
        return super().validate(obj, (value,) if isinstance(value, str) else value)


class Chooser(Pane, ValueWidget):
    """A list with a line to search it and a button for each thing that is chosen."""

    value: Any = _Several(AnyTrait())  # mypy takes a trait for what it validates
    description = Unicode()  # names the things
    _hint = ""  # what can be typed to find one
    _resolve: Callable[[Any], Value]  # returns the option's value that is meant, or raises

    def __init__(self, options: Options, *, value: Sequence[Any], description: str) -> None:
        self._options = options
        named = Chooser.value.validate(self, value)
        chosen = [self._resolve(each) for each in named]  # what fails leaves no widget behind
        self._found: list[Option] = []
        self._total, self._updating, self._enter_pressed = 0, False, False
        self._debounce = Debounce(self._search_now)
        wide = {"width": "auto", "min_width": "0"}
        self._search = Text(placeholder=self._hint, style=_NARROW, layout=Layout(**wide))
        self._list = SelectMultiple(rows=6, style=_NARROW, layout=Layout(**wide))
        self._status, self._more = HTML(), HTML()
        self._buttons: list[Button] = []  # each removes one of the first things chosen
        hidden = Layout(width="auto", display="none")
        self._clear = Button(description="Remove all", icon="trash", layout=hidden)
        row = Layout(flex_flow="row wrap", align_items="center")
        self._chips = HBox([self._more, self._clear], layout=row)
        super().__init__()
        self._endings.append(self._debounce.stop)
        self.children = (self._search, self._list, self._status, self._chips, self._alert)
        self.description = description
        self._search.observe(lambda _: self._search_soon(), "value")
        self._search.on_msg(self._take_message)
        self._list.observe(self._take_marks, "index")
        self._clear.on_click(partial(self._remove, slice(None)))
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
            self._show_chips()
            self._show_status()
            self._show_error("")

    def _search_soon(self) -> None:
        self._debounce.call(_LATE_S if self._enter_pressed else _TYPING_S)

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
        self._found, self._total = self._options.find(self._search.value, _SHOWN, self.value)
        with self._list.hold_sync():
            self._updating = True
            self._list.options = [(option.label, place) for place, option in enumerate(self._found)]
            self._show_marks()
        for part in (self._search, self._list, self._status):
            part.layout.display = None if self._options else "none"
        self._show_status()

    def _show_marks(self) -> None:
        chosen = set(self.value)
        marks = [place for place, option in enumerate(self._found) if option.value in chosen]
        self._updating = True
        self._list.index = tuple(marks)
        self._updating = False

    def _show_chips(self) -> None:
        chosen = [self._options[value] for value in self.value]
        while len(self._buttons) < min(len(chosen), _CHIPS):
            button = Button(layout=Layout(width="auto", max_width="100%"))
            place = len(self._buttons)
            button.on_click(partial(self._remove, slice(place, place + 1)))
            self._buttons.append(button)
            self._chips.children = (*self._buttons, self._more, self._clear)
        for place, button in enumerate(self._buttons):
            if place < len(chosen):
                button.description = f"{chosen[place].short} ✕"
                button.tooltip = f"Remove {chosen[place].label}"
            button.layout.display = None if place < len(chosen) else "none"
        rest = len(chosen) - _CHIPS
        self._more.value = f"<span>and {rest:,} more</span>" if rest > 0 else ""
        self._clear.layout.display = None if len(chosen) > 1 else "none"

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
    def _remove(self, places: slice, _button: Button) -> None:
        gone = set(self.value[places])
        self.value = tuple(value for value in self.value if value not in gone)


class ToggleRow(HBox, ValueWidget):
    """Buttons of which one is on, to be chosen by one click, or by Tab and Space."""

    # A check mark tells which is on to those who don't see a shade: ipywidgets's toggle buttons
    # have that alone, and its radio buttons need the arrow keys, which JupyterLab keeps for itself.

    value = Unicode()

    def __init__(self, name: str, labels: Sequence[str]) -> None:
        self._buttons: dict[str, Button] = {}
        row = Layout(flex_flow="row wrap", align_items="center", width="100%")
        self._name = Label(name)
        super().__init__([self._name], layout=row)
        self.offer(labels)

    def offer(self, labels: Sequence[str]) -> None:
        """Offer other labels, the first of them where the one that is on is gone.

        A choice of one is none, and not shown.
        """
        gone = [self._buttons.pop(label) for label in self._buttons.keys() - set(labels)]
        self._buttons = {label: self._buttons.get(label) or self._made(label) for label in labels}
        self.children = (self._name, *self._buttons.values())
        for button in gone:
            for part in (button.layout, button.style, button):
                part.close()
        self.layout.display = None if len(labels) > 1 else "none"
        if self.value not in self._buttons:
            self.value = labels[0]

    def _made(self, label: str) -> Button:
        text = shown(label, _LABEL)
        button = Button(description=text, layout=Layout(width="auto"))
        button.on_click(partial(self._choose, label))
        return button

    def _choose(self, label: str, _button: Button) -> None:
        self.value = label

    @observe("value")
    def _mark(self, change: dict[str, Any]) -> None:
        """Change the text in place: a button made anew would lose the keyboard."""
        for label in {change["old"], change["new"]} & self._buttons.keys():
            chosen, text = label == change["new"], shown(label, _LABEL)
            self._buttons[label].description = f"✓ {text}" if chosen else text
            self._buttons[label].style.font_weight = "bold" if chosen else ""
