"""The base class of the widgets: the front end, the error line, and messages to and from Python.

The front end sends requests with the class `Kernel` of ``page/widget.js``. In the table, "pushed"
means that Python sends the message without a request.

===============  =====================  ===========================================================
kind             sent by                handled by: effect or reply
===============  =====================  ===========================================================
options          modelpicker.js         `Picker`: returns all options, and those left by `narrow`
narrowed         pushed                 `Picker`: sends the options left by `narrow`
paste            modelpicker.js         `WalletPicker`: reads the text in the field
fetch            fetching.js            `FetchPanel`, `HoldingsExplorer`: start a fetch
cancel           fetching.js            `FetchingWidget`: cancels the fetch
retry            fetching.js            `FetchingWidget`: retries wallets that are not ok
status           explorer.js, panel.js  `FetchPanel`, `HoldingsExplorer`: return the completeness
chart            chart.js               `ExplorerState`: applies an action; returns the new state
plotly           plotly.js              `HoldingsExplorer`: returns the script of plotly.js
rows             rows.js                `ExplorerState`: returns a range of the table's rows
options wallets  filters.js             `ExplorerState`: returns the options of the wallet filter
remaining        filters.js             `ExplorerState`: returns the options left by other filters
picture          explorer.js            `HoldingsExplorer`: adds a picture to the saved notebook
code             exports.js             `HoldingsExplorer`: returns code that reproduces the view
file             exports.js             `HoldingsExplorer`: returns a file; `save` pushes one
===============  =====================  ===========================================================

Each of the four filters has a message such as ``options wallets``.
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
    from collections.abc import Callable

P = ParamSpec("P")
WidgetT = TypeVar("WidgetT", bound="MessageHandlingWidget")

# JupyterLab runs handlers and cells on different threads, and each fetch has its own thread. With
# one lock per widget, two widgets that set each other's traits could deadlock.
LOCK = RLock()


def locked_handler(
    method: Callable[Concatenate[WidgetT, P], None],
) -> Callable[Concatenate[WidgetT, P], None]:
    """Run the method under `LOCK`, and show its errors. On a closed widget, do nothing."""

    @wraps(method)
    def run_handler(widget: WidgetT, /, *args: P.args, **kwargs: P.kwargs) -> None:
        with LOCK:
            if widget.is_closed():
                return
            try:
                method(widget, *args, **kwargs)
            except Exception as error:  # noqa: BLE001 - shown in the widget
                widget._show_error(error_text(error))  # noqa: SLF001 - this module defines the class

    return run_handler


def error_text(error: Exception) -> str:
    """Return an error as one unescaped line. Omit the class name of walletframe's errors."""
    if not isinstance(error, WalletframeError):
        return f"{type(error).__name__}: {error}"
    text, separator, hint = f"{error}".partition("\n\nHint: ")
    return f"{text.rstrip('.')}. Hint: {hint}" if separator else text


class MessageHandlingWidget(AnyWidget):
    """A widget with a handler for each ``kind`` of message from the front end.

    A handler takes a message. It returns the fields of the reply, or a tuple of the fields and
    binary buffers. Only a message with an ID ``n`` gets a reply.
    """

    _alert = Unicode().tag(sync=True)  # the error to show
    _close_lock: Lock | None = None  # the first `close` acquires it; None before `__init__`

    def __init__(self, **traits: Any) -> None:
        self._closed, self._close_lock = False, Lock()
        self._handlers: dict[str, Callable[[dict[str, Any]], Any]] = {}
        super().__init__(**traits)
        self.on_msg(self._handle_message)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: run this cell again to see it>"

    def close(self) -> None:
        """Close this widget and its models. A second call has no effect."""
        if self._close_lock is None or not self._close_lock.acquire(blocking=False):
            return  # `close` must not wait: the garbage collector calls it on any thread
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

    @locked_handler
    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Apply the state from the front end. After an error, restore the old state."""
        try:
            super().set_state(sync_data)
        except Exception:
            self.send_state([name for name in sync_data if name in self.keys])
            raise

    @locked_handler
    def _handle_message(self, _widget: object, content: dict[str, Any], _buffers: object) -> None:
        if (answer_request := self._handlers.get(content["kind"])) is None:
            return
        reply: dict[str, Any] = {name: content[name] for name in ("kind", "n") if name in content}
        try:
            answer = answer_request(content)
        except Exception:
            if "n" in reply:
                self.send({**reply, "failed": True})
            raise
        if "n" in reply:
            fields, buffers = answer if isinstance(answer, tuple) else (answer, [])
            self.send({**fields, **reply}, [*buffers])

    def _show_error(self, text: str) -> None:
        """Show an error. An empty text hides the error line."""
        self._alert = one_line(text, 400)
