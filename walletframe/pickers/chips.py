"""What is chosen, as buttons that take it away again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipywidgets import HTML, Button, HBox, Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from walletframe.pickers.options import Option, Value

_MOST = 8


class Chips(HBox):
    """A row of buttons, one for each thing that is chosen, and one for all of them."""

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
        """Show what is chosen."""
        self._chosen = list(chosen)
        while len(self._buttons) < min(len(chosen), _MOST):
            self._add_button(len(self._buttons))
        for place, button in enumerate(self._buttons):
            if place < len(chosen):
                button.description = f"{chosen[place].short} ✕"
                button.tooltip = f"Remove {chosen[place].label}"
            button.layout.display = None if place < len(chosen) else "none"
        rest = len(chosen) - _MOST
        self._more.value = f"<span>and {rest:,} more</span>" if rest > 0 else ""
        self._clear.layout.display = None if len(chosen) > 1 else "none"

    def _add_button(self, place: int) -> None:
        button = Button(layout=Layout(width="auto", max_width="100%"))
        button.on_click(lambda _: self._remove([self._chosen[place].value]))
        self._buttons.append(button)
        self.children = (*self._buttons, self._more, self._clear)
