"""What all our widgets are: a page of ours, a line for errors, and messages between the two."""

from __future__ import annotations

from functools import wraps
from threading import RLock
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from anywidget import AnyWidget
from traitlets import Unicode

from walletframe.errors import WalletframeError
from walletframe.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Answer = Mapping[str, Any] | tuple[Mapping[str, Any], Sequence[bytes]] | None
    Handler = Callable[[dict[str, Any]], Answer]

P = ParamSpec("P")

# JupyterLab runs handlers on another thread while a cell runs. One lock for all widgets: two whose
# handlers set each other's traits can't deadlock.
LOCK = RLock()
_LONGEST = 400


class _Told(Protocol):
    """Whatever can be closed, and has a line for errors."""

    def is_closed(self) -> bool: ...

    def _show_error(self, text: str) -> None: ...


ToldT = TypeVar("ToldT", bound=_Told)


def guarded(
    handler: Callable[Concatenate[ToldT, P], None],
) -> Callable[Concatenate[ToldT, P], None]:
    """Run a widget's method under the lock, and show its error; a closed one does nothing."""

    @wraps(handler)
    def run(widget: ToldT, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if widget.is_closed():  # who closes it may hold the lock, and wait for a thread to end
            return
        with LOCK:
            if widget.is_closed():
                return
            try:
                handler(widget, *args, **kwargs)
            except Exception as error:  # noqa: BLE001 - nobody else would see it
                widget._show_error(error_text(error))  # noqa: SLF001 - it is one of ours

    return run


def error_text(error: Exception) -> str:
    """Say what went wrong; one of our errors needs no name of its class. Not yet escaped."""
    return f"{error}" if isinstance(error, WalletframeError) else f"{type(error).__name__}: {error}"


class PageWidget(AnyWidget):
    """A widget with a page of ours, which sends ``{"kind": …}`` and numbers what it asks.

    A subclass has `_esm` and `_css`, and gives `_answer` what answers which kind.
    """

    _alert = Unicode().tag(sync=True)  # what went wrong, as text

    def __init__(self, **traits: Any) -> None:
        self._closed = False
        self._handlers: dict[str, Handler] = {}
        super().__init__(**traits)
        self.on_msg(self._take_message)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: run its cell again where it is not to be seen>"

    def close(self) -> None:
        """Close this, so that no model is left behind; again is no error."""
        with LOCK:
            if getattr(self, "_closed", True):
                return
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

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Take what the page set; what can't be taken is told, and taken back in the page."""
        self._set_state(sync_data, super().set_state)

    @guarded
    def _set_state(self, state: dict[str, Any], setter: Callable[[dict[str, Any]], None]) -> None:
        try:
            setter(state)
        except Exception:
            self.send_state([name for name in state if name in self.keys])
            raise

    def _answer(self, kind: str, handler: Handler) -> None:
        """Let a handler take the messages of a kind, and answer those that the page numbered.

        It returns what is said beside kind and number, perhaps with binary buffers.
        """
        self._handlers[kind] = handler

    @guarded
    def _take_message(self, _widget: object, content: dict[str, Any], _buffers: object) -> None:
        kind = content.get("kind")
        if (handler := self._handlers.get(str(kind))) is None:
            return
        said = {"kind": kind, **({"n": content["n"]} if "n" in content else {})}
        try:
            answer = handler(content)
        except Exception:
            if "n" in said:
                self.send({**said, "failed": True})
            raise
        if answer is not None:
            body, buffers = answer if isinstance(answer, tuple) else (answer, [])
            self.send({**body, **said}, buffers)

    def _tell(self, kind: str, said: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> None:
        """Tell the page something unasked."""
        self.send({**said, "kind": kind}, list(buffers))

    def _show_error(self, text: str) -> None:
        """Show what went wrong; an empty text takes the line away."""
        self._alert = one_line(text, _LONGEST)
