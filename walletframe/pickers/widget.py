"""The base class of the widgets: a page, a line for errors, and messages between page and Python.

The kinds of messages: requests of a page by `Kernel` of ``page/widget.js``, and pushed ones:

===============  =====================  ===========================================================
kind             sent by                answered, or pushed, by
===============  =====================  ===========================================================
options          modelpicker.js         `Picker`: all options, and the remaining ones
narrowed         pushed                 `Picker`: the remaining options
paste            modelpicker.js         `WalletPicker`: reads the text in the field
fetch            fetching.js            `FetchPanel`, `HoldingsExplorer`: starts a fetch
cancel           fetching.js            `FetchingWidget`: cancels the fetch
again            fetching.js            `FetchingWidget`: retries wallets that are not ok
status           explorer.js, panel.js  `FetchPanel`, `HoldingsExplorer`: completeness of a fetch
chart            chart.js               `View`: applies a user action, returns chart and selection
plotly           plotly.js              `HoldingsExplorer`: the script of plotly.js
rows             rows.js                `View`: a window of the table
options wallets  filters.js             `View`: as a `Picker`; also for tokens, blockchains, labels
remaining        filters.js             `View`: the options that other filters leave
code             takeaway.js            `HoldingsExplorer`: Python code that reproduces the view
file             takeaway.js            `HoldingsExplorer`: a file to download; pushed by `save`
===============  =====================  ===========================================================
"""

from __future__ import annotations

from functools import wraps
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from traitlets import Unicode

from walletframe.errors import WalletframeError
from walletframe.pickers.base import AnyWidget
from walletframe.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Answer = Mapping[str, Any] | tuple[Mapping[str, Any], Sequence[bytes]]

P = ParamSpec("P")
WidgetT = TypeVar("WidgetT", bound="PageWidget")

# JupyterLab runs handlers on another thread while a cell runs, and a fetch has its own thread. All
# widgets share one lock, so that widgets whose handlers set each other's traits can't deadlock.
LOCK = RLock()
_LONGEST = 400


def handler(
    method: Callable[Concatenate[WidgetT, P], None],
) -> Callable[Concatenate[WidgetT, P], None]:
    """Run a widget's method under the lock, and show its error; do nothing if it is closed."""

    @wraps(method)
    def run(widget: WidgetT, /, *args: P.args, **kwargs: P.kwargs) -> None:
        with LOCK:
            if widget.is_closed():
                return
            try:
                method(widget, *args, **kwargs)
            except Exception as error:  # noqa: BLE001 - shown in the widget
                widget._show_error(error_text(error))  # noqa: SLF001 - of this module

    return run


def error_text(error: Exception) -> str:
    """Return an error's text, not yet escaped; only foreign errors get their class name."""
    if not isinstance(error, WalletframeError):
        return f"{type(error).__name__}: {error}"
    text, gap, hint = f"{error}".partition("\n\nHint: ")
    return f"{text.rstrip('.')}. Hint: {hint}" if gap else text  # it is shown as one line


class PageWidget(AnyWidget):
    """A widget whose page sends messages ``{"kind": …}``, with a number if it expects an answer.

    A subclass defines `_esm` and `_css`, and adds to `_handlers`: functions that take a message of
    one kind and return the fields of the answer, optionally with binary buffers.
    """

    _alert = Unicode().tag(sync=True)  # the error to show
    _closing: Lock | None = None  # acquired once; None before there is anything to close

    def __init__(self, **traits: Any) -> None:
        self._closed, self._closing = False, Lock()
        self._handlers: dict[str, Callable[[dict[str, Any]], Any]] = {}
        super().__init__(**traits)
        self.on_msg(self._take_message)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: run this cell again to see it>"

    def close(self) -> None:
        """Close this widget and its models; calling it again has no effect."""
        if self._closing is None or not self._closing.acquire(blocking=False):
            return  # it must not wait: the garbage collector calls it, too, on any thread
        with LOCK:
            self._closed = True
        self.unobserve_all()
        self.layout.close()
        super().close()

    def is_closed(self) -> bool:
        """Return whether `close` was called.

        Returns
        -------
        bool
            True as soon as `close` has started.

        Examples
        --------
        >>> from walletframe.pickers import BlockchainPicker
        >>> picker = BlockchainPicker(["ETH"])
        >>> picker.close()
        >>> picker.is_closed()
        True
        """
        return self._closed

    @handler
    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Apply state from the page; if that fails, show the error and reset the page's state."""
        try:
            super().set_state(sync_data)
        except Exception:
            self.send_state([name for name in sync_data if name in self.keys])
            raise

    @handler
    def _take_message(self, _widget: object, content: dict[str, Any], _buffers: object) -> None:
        """Handle a message, and answer it if the page numbered it."""
        if (handle := self._handlers.get(content["kind"])) is None:
            return
        reply: dict[str, Any] = {name: content[name] for name in ("kind", "n") if name in content}
        try:
            answer: Answer = handle(content)
        except Exception:
            if "n" in reply:
                self.send({**reply, "failed": True})
            raise
        if "n" in reply:
            body, buffers = answer if isinstance(answer, tuple) else (answer, [])
            self.send({**body, **reply}, [*buffers])

    def _show_error(self, text: str) -> None:
        """Show an error; an empty text hides the line."""
        self._alert = one_line(text, _LONGEST)
