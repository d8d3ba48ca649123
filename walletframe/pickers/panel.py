"""The panel that fetches wallets without Python code: paste or pick, watch, see what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ipywidgets import HTML, Button, Checkbox, Layout
from traitlets import Instance, default, observe

from walletframe.client import require_client
from walletframe.frames import (
    WalletDetails,
    assemble,
    details_given,
    is_details,
    summary_html,
    table_html,
    wallets_table,
)
from walletframe.pickers.fetching import FetchBar, renewed
from walletframe.pickers.pane import Pane, guarded
from walletframe.pickers.wallets import WalletPicker

if TYPE_CHECKING:
    from walletframe.client import Client
    from walletframe.pickers.wallets import KnownWallets

_FAILURES = 50


class FetchPanel(Pane):
    """Fetch wallets in the background: the notebook stays usable, and Cancel works.

    Parameters
    ----------
    wallets : WalletDetails, or whatever `fetch_wallets` takes
        The wallets to choose from, besides pasted ones; all are chosen at first.
    client : Client, optional
        The client that sends the requests; the default client if not given, see `configure`.

    Attributes
    ----------
    details : WalletDetails
        What was fetched last; before that the WalletDetails given as `wallets`, or an empty one.
        Can be observed and linked. After a cancelled fetch it holds what was finished, and the
        status ``cancelled`` for the rest; a wallet that was known keeps what was known of it,
        with the source ``stale``, where it can't be asked anew.

    Raises
    ------
    ArgumentError, AddressError
        If `client` is not a `Client`, or a wallet can't be read.

    Examples
    --------
    >>> from walletframe.service import sandbox
    >>> with sandbox() as service, service.client(cache=False) as client:
    ...     panel = FetchPanel(["NEAR.alice.near"], client=client)
    ...     panel.fetch()
    ...     panel.cancel()
    ...     panel.retry()
    ...     panel.close()
    """

    details = Instance(WalletDetails)

    def __init__(self, wallets: KnownWallets = (), *, client: Client | None = None) -> None:
        require_client(client)
        self._picker = WalletPicker(wallets)
        super().__init__()
        self._picker.choose_all()
        self._refresh = Checkbox(
            description="Ask anew even where an answer is kept on this machine",
            indent=False,
            layout=Layout(width="auto"),
        )
        start = Button(description="Fetch", icon="download", button_style="primary")
        hint = "paste some, or choose from the list"
        self._bar = FetchBar(start, self.fetch, client, hint=hint)
        self._found = HTML(layout=Layout(display="none"))
        self.children = (self._picker, self._refresh, self._alert, self._bar, self._found)
        self._bar.observe(self._take, "details")
        if is_details(wallets):
            self.details = details_given(wallets)

    @default("details")
    def _nothing(self) -> WalletDetails:
        return assemble([])

    @guarded
    def fetch(self) -> None:
        """Fetch what is pasted and what is chosen; where a line can't be read, ask for none.

        It returns at once; `details` changes when the answers are there. What goes wrong is shown
        in the panel.
        """
        if self._picker.take_pasted():
            self._bar.fetch(self._picker.value, refresh=self._refresh.value)

    def cancel(self) -> None:
        """End the fetch that is under way, if any; what was finished is kept."""
        self._bar.cancel()

    def retry(self) -> None:
        """Ask again for what is not ok; what is ok is taken from the cache."""
        self._bar.retry()

    @guarded
    def _take(self, change: dict[str, Any]) -> None:
        self.details = renewed(self.details, change["new"])

    @observe("details")
    def _show(self, change: dict[str, Any]) -> None:
        details = change["new"]
        troubled = details.wallets[details.wallets["error"].notna()]
        table = table_html(wallets_table(troubled, _FAILURES)) if len(troubled) else ""
        self._found.value = f'<div role="status">{summary_html(*details)}</div>{table}'
        self._found.layout.display = None
