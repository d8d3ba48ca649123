"""Fetch wallets with buttons: paste or pick, watch, cancel, see what failed, ask again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ipywidgets import HTML, Button, Checkbox, HBox, IntProgress, Layout
from traitlets import Instance

from walletframe.client import default_client
from walletframe.errors import WalletframeError
from walletframe.frames import WalletDetails, summary_html, table_html, wallets_table
from walletframe.pickers.fetching import Fetching
from walletframe.pickers.pane import Pane, guarded
from walletframe.pickers.wallets import WalletPicker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.client import Client
    from walletframe.pickers.wallets import KnownWallets

_FAILURES = 50


class FetchPanel(Pane):
    """Fetch wallets in the background: the notebook stays usable, and Cancel works.

    Parameters
    ----------
    wallets : WalletDetails, or whatever `fetch_wallets` takes
        What to choose from, beside what is pasted; all of them are chosen at first.
    client : Client, optional
        Whom to ask through; the default client where not given, see `configure`.

    Attributes
    ----------
    details : WalletDetails or None
        What was fetched last; None before that. Can be observed and linked. After a cancelled
        fetch it holds what was finished, and the status ``cancelled`` for the rest.

    Raises
    ------
    AddressError
        Where a wallet can't be read.

    Examples
    --------
    >>> panel = FetchPanel(["NEAR.alice.near"])
    >>> panel.details is None
    True
    >>> panel.close()
    """

    details = Instance(WalletDetails, allow_none=True, default_value=None)

    def __init__(self, wallets: KnownWallets = (), *, client: Client | None = None) -> None:
        super().__init__()
        self._client = client
        self._fetching: Fetching | None = None
        self._asked: Sequence[str] = ()
        self._picker = WalletPicker(wallets)
        self._picker.choose_all()
        self._refresh = Checkbox(
            description="Ask anew even where an answer is kept on this machine",
            indent=False,
            layout=Layout(width="auto"),
        )
        self._fetch = Button(description="Fetch", icon="download", button_style="primary")
        self._cancel = Button(description="Cancel", icon="stop", disabled=True)
        self._retry = Button(icon="repeat", layout=Layout(width="auto", display="none"))
        self._bar = IntProgress(layout=Layout(width="auto", display="none"))
        self._said, self._found = HTML(), HTML()
        buttons = HBox([self._fetch, self._cancel, self._retry], layout=Layout(flex_flow="wrap"))
        shown = (self._refresh, buttons, self._alert, self._said, self._bar, self._found)
        self.children = (self._picker, *shown)
        self._fetch.on_click(lambda _: self.fetch())
        self._cancel.on_click(lambda _: self.cancel())
        self._retry.on_click(lambda _: self.retry())

    @guarded
    def fetch(self) -> None:
        """Fetch what is pasted and what is chosen; where a line can't be read, ask for none."""
        if self._picker.take_pasted():
            self._begin(self._picker.value, refresh=self._refresh.value)

    @guarded
    def retry(self) -> None:
        """Ask again for what is not ok; what is ok is taken from the cache."""
        self._begin(self._asked, refresh=False)

    @guarded
    def cancel(self) -> None:
        """End the fetch that is under way, if any; what was finished is kept."""
        if self._fetching is not None:
            self._cancel.disabled = True
            self._say("cancelling …")
            self._fetching.cancel()

    def _stop(self) -> None:
        if self._fetching is not None:
            self._fetching.stop()

    def _begin(self, wallets: Sequence[str], *, refresh: bool) -> None:
        if self._fetching is not None:
            return
        self.tell_fault("")
        if not wallets:
            raise WalletframeError(
                "no wallets to fetch", hint="paste some, or choose from the list"
            )
        client = self._client or default_client()
        self._asked = wallets
        self._bar.value, self._bar.max, self._bar.layout.display = 0, len(wallets), None
        self._say(f"0 of {len(wallets):,} wallets")
        self._set_busy(busy=True)
        self._fetching = Fetching(
            client, wallets, refresh=refresh, tell=self._tell, finish=self._finish
        )

    @guarded
    def _tell(self, done: int, total: int, counts: Mapping[str, int], left: str) -> None:
        self._bar.max, self._bar.value = total, done
        statuses = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        self._say(", ".join(part for part in (f"{done:,} of {total:,} wallets", left) if part))
        self._said.value += f"<div>{statuses}</div>"

    @guarded
    def _finish(self, result: WalletDetails | Exception) -> None:
        self._fetching = None
        self._set_busy(busy=False)
        self._bar.layout.display = "none"
        self._said.value = ""
        if isinstance(result, Exception):
            raise result
        self._show(result)
        self.details = result

    def _show(self, details: WalletDetails) -> None:
        failed = details.wallets[details.wallets["status"] != "ok"]
        table = table_html(wallets_table(failed, _FAILURES)) if len(failed) else ""
        self._found.value = f'<div role="status">{summary_html(*details)}</div>{table}'
        self._retry.description = f"Ask again for {len(failed):,} not ok"
        self._retry.layout.display = None if len(failed) else "none"

    def _say(self, text: str) -> None:
        self._said.value = f'<div role="status">{text}</div>'

    def _set_busy(self, *, busy: bool) -> None:
        self._fetch.disabled = self._retry.disabled = busy
        self._cancel.disabled = not busy
