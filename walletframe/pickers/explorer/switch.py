"""A row of buttons of which one is on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ipywidgets import Button, ButtonStyle, HBox, Label, Layout, ValueWidget
from traitlets import Unicode, observe

if TYPE_CHECKING:
    from collections.abc import Sequence


class Switch(HBox, ValueWidget):
    """Buttons to choose one thing by one click, or by Tab and Space.

    That which is chosen has a check mark in its text, so that it is told to those who don't see
    a shade, too. The toggle buttons of ipywidgets tell it by a shade alone, and its radio buttons
    need the arrow keys, which JupyterLab keeps for itself.
    """

    value = Unicode()

    def __init__(self, name: str, labels: Sequence[str]) -> None:
        wide = Layout(width="auto")
        self._plain, self._bold = ButtonStyle(), ButtonStyle(font_weight="bold")
        self._buttons = {
            label: Button(description=label, layout=wide, style=self._plain) for label in labels
        }
        for label, button in self._buttons.items():
            button.on_click(partial(self._choose, label))
        row = Layout(flex_flow="row wrap", align_items="center", width="100%")
        super().__init__([Label(name), *self._buttons.values()], layout=row)
        self.value = labels[0]

    def _choose(self, label: str, _button: Button) -> None:
        self.value = label

    @observe("value")
    def _mark(self, change: dict[str, Any]) -> None:
        """Change the text in place: a button made anew would lose the keyboard."""
        for label in {change["old"], change["new"]} & self._buttons.keys():
            chosen = label == change["new"]
            self._buttons[label].description = f"✓ {label}" if chosen else label
            self._buttons[label].style = self._bold if chosen else self._plain
