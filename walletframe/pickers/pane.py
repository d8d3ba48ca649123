"""A box of widgets that takes turns, tells what goes wrong in it, and closes as a whole."""

from __future__ import annotations

from functools import wraps
from threading import RLock
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from ipywidgets import HTML, Layout, VBox, Widget

from walletframe.errors import WalletframeError
from walletframe.text import as_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

P = ParamSpec("P")
PaneT = TypeVar("PaneT", bound="Pane")

TURN = RLock()  # one for all panes: two that tell each other can't wait for each other
_LONGEST = 400
_MARK = "var(--jp-error-color1, currentColor)"


class Pane(VBox):
    """A box with a line for what went wrong.

    Its handlers are `guarded`: an exception in a widget's callback is seen by nobody else.
    """

    def __init__(self, **options: Any) -> None:
        self._closed = False
        self._endings: list[Callable[[], None]] = []
        self._alert = HTML(layout=Layout(display="none"))
        super().__init__(layout=Layout(width="100%"), **options)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: run its cell again where it is not to be seen>"

    def close(self) -> None:
        """Close this and all that is in it, so that no widget is left behind."""
        with TURN:
            if getattr(self, "_closed", True):
                return
            self._closed = True
        for end in self._endings:
            end()
        self.unobserve_all()
        for model in list(dict.fromkeys(_models(self))):
            if isinstance(model, Pane) and model is not self:
                model.close()
            else:
                Widget.close(model)

    def is_closed(self) -> bool:
        """Tell whether it was closed.

        Returns
        -------
        bool
            True from the beginning of `close` on.
        """
        return self._closed

    def ends_with(self, end: Callable[[], None]) -> None:
        """Let `close` end what runs beside the widgets."""
        self._endings.append(end)

    def tell_fault(self, text: str) -> None:
        """Show what went wrong."""
        value = alert_html(text) if text else ""
        if value != self._alert.value:
            self._alert.value = value
            self._alert.layout.display = None if text else "none"


def guarded(
    handler: Callable[Concatenate[PaneT, P], None],
) -> Callable[Concatenate[PaneT, P], None]:
    """Make a handler wait for its turn, and tell what goes wrong in it."""

    @wraps(handler)
    def run(pane: PaneT, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if pane.is_closed():  # who closes a pane may have the turn, and wait for a thread to end
            return
        with TURN:
            if pane.is_closed():
                return
            try:
                handler(pane, *args, **kwargs)
            except Exception as error:  # noqa: BLE001 - nobody else would see it
                pane.tell_fault(told(error))

    return run


def told(error: Exception) -> str:
    """Say what went wrong."""
    return f"{error}" if isinstance(error, WalletframeError) else f"{type(error).__name__}: {error}"


def alert_html(text: str) -> str:
    """Draw what went wrong."""
    style = f"border-left: 4px solid {_MARK}; padding-left: 0.5em; line-height: 1.4"
    return f'<div role="alert" style="{style}">{as_html(text, _LONGEST)}</div>'


def _models(widget: Widget) -> Iterator[Widget]:
    """Find a widget and all that belong to it: children, layouts and styles."""
    yield widget
    for name in widget.keys:
        value = getattr(widget, name, None)
        for part in value if isinstance(value, tuple | list) else (value,):
            if isinstance(part, Widget):
                yield from _models(part)
