"""What all our widgets are: a page of ours, a line for errors, and messages between the two.

By kind, what a page asks with `Kernel` of ``page/widget.js``, and what is told to it unasked:

===============  =====================  ===========================================================
kind             asked by               answered, or told, by
===============  =====================  ===========================================================
options          modelpicker.js         `Picker`: all there is to choose from, and what remains
narrowed         told                   `Picker`: what remains
paste            modelpicker.js         `WalletPicker`: takes what stands in the field
fetch            fetching.js            `FetchPanel`, `HoldingsExplorer`: begins to fetch
cancel           fetching.js            `Fetches`: ends that
again            fetching.js            `Fetches`: asks again for what is not ok
status           explorer.js, panel.js  `FetchPanel`, `HoldingsExplorer`: how complete a fetch is
chart            chart.js               `View`: takes what a person did, gives what there is to see
plotly           plotly.js              `HoldingsExplorer`: plotly.js, before anything is drawn
rows             rows.js                `View`: a window of the table
options wallets  filters.js             `View`: as a `Picker`; so of tokens, blockchains and labels
remaining        filters.js             `View`: what the filters leave each other
code             takeaway.js            `HoldingsExplorer`: the lines that make what is shown
file             takeaway.js            `HoldingsExplorer`: a file of it; told by `save`, too
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

# JupyterLab runs handlers on another thread while a cell runs, and a fetch has one of its own. One
# lock for all widgets: two whose handlers set each other's traits can't deadlock.
LOCK = RLock()
_LONGEST = 400


def handler(
    method: Callable[Concatenate[WidgetT, P], None],
) -> Callable[Concatenate[WidgetT, P], None]:
    """Run a widget's method under the lock, and show its error; a closed one does nothing."""

    @wraps(method)
    def run(widget: WidgetT, /, *args: P.args, **kwargs: P.kwargs) -> None:
        with LOCK:
            if widget.is_closed():
                return
            try:
                method(widget, *args, **kwargs)
            except Exception as error:  # noqa: BLE001 - nobody else would see it
                widget._show_error(error_text(error))  # noqa: SLF001 - it is one of ours

    return run


def error_text(error: Exception) -> str:
    """Return what went wrong, not yet escaped; one of our errors needs no name of its class."""
    if not isinstance(error, WalletframeError):
        return f"{type(error).__name__}: {error}"
    said, gap, hint = f"{error}".partition("\n\nHint: ")
    return f"{said.rstrip('.')}. Hint: {hint}" if gap else said  # it is shown as one line


class PageWidget(AnyWidget):
    """A widget with a page of ours, which sends ``{"kind": …}`` and numbers what it asks.

    A subclass has `_esm` and `_css`, and adds to `_handlers`, which take a message by its kind, and
    return what is said beside kind and number, perhaps with binary buffers.
    """

    _alert = Unicode().tag(sync=True)  # what went wrong, as text
    _closing: Lock | None = None  # is taken once; None before there is anything to close

    def __init__(self, **traits: Any) -> None:
        self._closed, self._closing = False, Lock()
        self._handlers: dict[str, Callable[[dict[str, Any]], Any]] = {}
        super().__init__(**traits)
        self.on_msg(self._take_message)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: run this cell again to see it>"

    def close(self) -> None:
        """Close this, so that no model is left behind; again is no error."""
        if self._closing is None or not self._closing.acquire(blocking=False):
            return  # without a wait: the collector calls it, too, on any thread
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

    @handler
    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the page set; what can't be taken is told, and taken back in the page."""
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
        """Show what went wrong; an empty text takes the line away."""
        self._alert = one_line(text, _LONGEST)
