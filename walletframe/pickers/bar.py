"""A row of buttons that fetches in the background, and tells how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipywidgets import HTML, Button, HBox, IntProgress, Layout
from traitlets import Instance

from walletframe.client import default_client
from walletframe.errors import WalletframeError
from walletframe.frames import WalletDetails, known_wallets
from walletframe.numerals import many
from walletframe.pickers.fetching import Fetching
from walletframe.pickers.pane import Pane, guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from walletframe.client import Client

_AUTO = "auto"


class FetchBar(Pane):
    """Buttons to fetch, to cancel and to ask again, with progress and time left."""

    details = Instance(WalletDetails, allow_none=True, default_value=None)

    def __init__(
        self, start: Button, begin: Callable[[], None], client: Client | None = None, *, hint: str
    ) -> None:
        super().__init__()
        self._start, self._client, self._hint = start, client, hint
        self._fetching: Fetching | None = None
        self.ends_with(self._end)
        self._asked: Sequence[str] = ()
        self._cancel = Button(
            description="Cancel", icon="stop", disabled=True, layout={"width": _AUTO}
        )
        self._retry = Button(icon="repeat", layout={"width": _AUTO, "display": "none"})
        self._bar = IntProgress(layout=Layout(width=_AUTO, display="none"))
        self._said = HTML(layout=Layout(display="none"))
        buttons = HBox([self._start, self._cancel, self._retry], layout={"flex_flow": "wrap"})
        self.children = (buttons, self._alert, self._said, self._bar)
        self._start.on_click(lambda _: begin())
        self._cancel.on_click(lambda _: self.cancel())
        self._retry.on_click(lambda _: self.retry())

    @guarded
    def fetch(self, wallets: Sequence[str], *, refresh: bool = False) -> None:
        """Fetch in the background; nothing is begun while a fetch is under way."""
        if self._fetching is not None:
            return
        self.tell_fault("")
        if not wallets:
            raise WalletframeError("no wallets to fetch", hint=self._hint)
        client = self._client or default_client()
        self._asked = wallets
        self._bar.value, self._bar.max = 0, len(wallets)
        self._say(f"0 of {many(len(wallets), 'wallet')}")
        self._show_busy(busy=True)
        self._fetching = Fetching(
            client, wallets, refresh=refresh, tell=self._tell, finish=self._finish
        )

    def retry(self) -> None:
        """Ask again for what is not ok; what is ok is taken from the cache."""
        self.fetch(self._asked)

    @guarded
    def cancel(self) -> None:
        """End the fetch that is under way, if any; what was finished is kept."""
        if self._fetching is not None:
            self._cancel.disabled = True
            self._say("cancelling …")
            self._fetching.cancel()

    def _end(self) -> None:
        if self._fetching is not None:
            self._fetching.stop()

    @guarded
    def _tell(self, done: int, total: int, counts: Mapping[str, int], left: str) -> None:
        self._bar.max, self._bar.value = total, done
        if not self._cancel.disabled:
            statuses = ", ".join(f"{count:,} {status}" for status, count in counts.items())
            self._say(
                ", ".join(part for part in (f"{done:,} of {many(total, 'wallet')}", left) if part),
                statuses,
            )

    @guarded
    def _finish(self, result: WalletDetails | Exception) -> None:
        self._fetching = None
        self._show_busy(busy=False)
        if isinstance(result, Exception):
            raise result
        failed = int((~known_wallets(result.wallets, stale=True)).sum())
        self._retry.description = f"Ask again for {failed:,} not ok"
        self._retry.layout.display = None if failed else "none"
        self.details = result

    def _say(self, text: str, more: str = "") -> None:
        self._said.value = f'<div role="status">{text}</div><div>{more}</div>'

    def _show_busy(self, *, busy: bool) -> None:
        self._start.disabled = self._retry.disabled = busy
        self._cancel.disabled = not busy
        self._bar.layout.display = self._said.layout.display = None if busy else "none"
