"""Fetch wallets without Python code."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from traitlets import Bool, Int, default, observe

from walletframe.client import default_client, require_client
from walletframe.errors import WalletframeError
from walletframe.frames import WalletDetails, assemble, details_given, is_details
from walletframe.pickers.fetching import Fetches
from walletframe.pickers.page import script, styles
from walletframe.pickers.summary import wallet_status
from walletframe.pickers.wallets import WalletPicker
from walletframe.pickers.widget import handler

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from walletframe.client import Client
    from walletframe.pickers.wallets import KnownWallets


class FetchPanel(Fetches, WalletPicker):
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
        What was fetched last; before that the fetch given as `wallets`, or an empty one. Can be
        observed and linked. After a cancelled fetch the rest has the status ``cancelled``; what was
        known of a wallet that can't be asked anew is kept, with the source ``stale``.

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

    _esm, _css = script("panel"), styles("picker", "fetch")
    _refresh = Bool().tag(sync=True)  # whether what is kept on this machine is asked anew
    _edition = Int().tag(sync=True)  # of what was fetched; 0 before anything was

    def __init__(self, wallets: KnownWallets = (), *, client: Client | None = None) -> None:
        require_client(client)
        self._client = client
        super().__init__(wallets)
        self.choose_all()
        self._handlers["fetch"] = lambda _: self.fetch()
        self._handlers["status"] = lambda _: wallet_status(*self.details)
        if is_details(wallets):
            self.details = details_given(wallets)

    @default("details")
    def _nothing(self) -> WalletDetails:
        return assemble([])

    @handler
    def fetch(self) -> None:
        """Fetch what is pasted and what is chosen; where a line can't be read, ask for none.

        It returns at once; `details` changes when the answers are there. It shows its errors.
        """
        if not self.take_pasted():
            hint = "mend or delete what is left in the field, and fetch again"
            raise WalletframeError("nothing was asked for: not all lines can be read", hint=hint)
        hint = "paste some, or choose from the list"
        self._fetch(self.value, hint=hint, refresh=self._refresh)

    def retry(self) -> None:
        """Ask again for what is not ok; what is ok is taken from the cache."""
        self._ask_again()

    def _client_of_now(self) -> AbstractContextManager[Client]:
        return nullcontext(self._client or default_client())

    @observe("details")
    def _show(self, _change: object) -> None:
        self._edition += 1
