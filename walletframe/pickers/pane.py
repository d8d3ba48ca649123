"""A box of widgets with a lock for handlers, a line for errors, and a `close` that ends it all."""

from __future__ import annotations

from threading import Lock, Timer
from typing import TYPE_CHECKING

from ipywidgets import HTML, Layout, VBox, Widget

from walletframe.pickers.widget import LOCK, PageWidget, error_text, guarded
from walletframe.text import as_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["LOCK", "PATIENCE_S", "Debounce", "Pane", "alert_html", "error_text", "guarded"]

PATIENCE_S = 5.0  # how long `close` waits for a thread
_LONGEST, _MARK = 400, "var(--jp-error-color1, currentColor)"


class Pane(VBox):
    """A box with a line for errors; its handlers are `guarded`, since nobody else sees theirs."""

    def __init__(self) -> None:
        self._closed = False
        self._endings: list[Callable[[], None]] = []  # each stops a thread, and waits for it
        self._alert = HTML(layout=Layout(display="none"))
        super().__init__(layout=Layout(width="100%"))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: run its cell again where it is not to be seen>"

    def close(self) -> None:
        """Close this and all that is in it, so that no widget and no thread is left behind."""
        with LOCK:
            if getattr(self, "_closed", True):
                return
            self._closed = True
        for end in self._endings:
            end()
        self.unobserve_all()
        for model in list(dict.fromkeys(_models(self))):
            if isinstance(model, Pane | PageWidget) and model is not self:
                model.close()
            else:
                Widget.close(model)

    def is_closed(self) -> bool:
        """Return whether `close` was called.

        Returns
        -------
        bool
            True from the beginning of `close` on.

        Examples
        --------
        >>> from walletframe.pickers import BlockchainPicker
        >>> picker = BlockchainPicker(["ETH"])
        >>> picker.close()
        >>> picker.is_closed()
        True
        """
        return self._closed

    def _show_error(self, text: str) -> None:
        """Show what went wrong; an empty text takes the line away."""
        value = alert_html(text) if text else ""
        if value != self._alert.value:
            self._alert.value = value
            self._alert.layout.display = None if text else "none"


def alert_html(text: str) -> str:
    """Draw text, such as strangers may have written, as an alert that a screen reader reads."""
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


class Debounce:
    """Does a piece of work, on a thread of its own, when no call has come for a while."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work, self._lock = work, Lock()
        self._timer: Timer | None = None
        self._stopped = False

    def call(self, wait_s: float = 0) -> None:
        """Do the work after a while, counted from now, unless another call comes before."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if not self._stopped:
                self._timer = Timer(wait_s, self._work)
                self._timer.daemon = True
                self._timer.start()

    def stop(self) -> None:
        """Do nothing more; work that has begun is waited for."""
        with self._lock:
            self._stopped = True
            timer = self._timer
        if timer is not None:
            timer.cancel()
            timer.join(PATIENCE_S)
