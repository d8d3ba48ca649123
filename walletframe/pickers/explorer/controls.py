"""The explorer's row of buttons, and the style by which its charts follow a dark page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ipywidgets import Button, ButtonStyle, HBox, Label, Layout, ValueWidget
from traitlets import Unicode, observe

if TYPE_CHECKING:
    from collections.abc import Sequence

# JupyterLab doesn't tell the kernel which theme it has, and a person may change it at any time: so
# the page itself decides, by a style sheet. Pages without this attribute of the body know no theme.
FOLLOWS = "walletframe-follows-page"
_TEXT, _LINE = "var(--jp-ui-font-color1)", "var(--jp-border-color2)"
_RULES = (
    (".main-svg", "background: transparent"),
    (".bglayer .bg, .legend .bg", "fill: transparent"),
    (":is(.infolayer, .cartesianlayer) text", f"fill: {_TEXT}"),
    (".gridlayer path", f"stroke: {_LINE}"),
    (":is(.zerolinelayer, .xtick, .ytick) path", f"stroke: {_LINE}"),
    (".modebar-group", "background: transparent"),
    (".modebar-btn path", f"fill: {_TEXT}"),
)
STYLE = "\n".join(
    f'body[data-jp-theme-light="false"] .{FOLLOWS} .js-plotly-plot :is({parts}) '
    f"{{ {rule} !important }}"
    for parts, rule in _RULES
)


class ToggleRow(HBox, ValueWidget):
    """Buttons of which one is on, to be chosen by one click, or by Tab and Space."""

    # That which is on has a check mark in its text, so that those who don't see a shade know it,
    # too. The toggle buttons of ipywidgets show it by a shade alone, and its radio buttons need the
    # arrow keys, which JupyterLab keeps for itself.

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
