"""One session with the service: wallets out, replies in.

Knows which request asks for wallets. Does not know caches, retries, plans or DataFrames.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from walletframe.frameless import frameless
from walletframe.settings import require_endpoint
from walletframe.transport.echoes import scrubber
from walletframe.transport.keyed import keyed_adapter
from walletframe.transport.line import Line, Place
from walletframe.wire import DETAILS_PATH, details_query

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from walletframe.address import WalletAddress
    from walletframe.settings import Settings
    from walletframe.transport.line import Reply


class ServiceSession:
    """Asks the service, over connections that are kept open.

    Parameters
    ----------
    settings : Settings
        Where to ask, with which key, and how long to wait.

    Raises
    ------
    SettingsError
        Where the key, its kind or its base address is not set.
    """

    @frameless
    def __init__(self, settings: Settings) -> None:
        endpoint, key = require_endpoint(settings)
        url, scrub = endpoint + DETAILS_PATH, scrubber(key)
        self._line = Line(
            Place(url, url, scrub, "service"),
            keyed_adapter(key, scrub, settings.workers),
            timeout_s=settings.timeout_s,
            longest_s=settings.retry_after_max_s,
        )

    def close(self) -> None:
        """Close the connections."""
        self._line.close()

    def leave(self) -> None:
        """Let go of the connections in a forked child, where they are the parent's."""
        self._line.leave()

    def abort(self, threads: Collection[int]) -> None:
        """Cut off the requests of some threads, which hear of it at once.

        Parameters
        ----------
        threads : collection of int
            The threads, by ``threading.get_ident()``.
        """
        self._line.abort(threads)

    @frameless
    def ask(self, wallets: Sequence[WalletAddress], *, most_s: float = math.inf) -> Reply:
        """Send one request and read its answer.

        Parameters
        ----------
        wallets : sequence of WalletAddress
            What to ask for.
        most_s : float, optional
            How long this may take where that is less than the settings say, in seconds.

        Returns
        -------
        Reply
            The body, or what went wrong; nothing on the way raises.
        """
        return self._line.send("GET", most_s=most_s, params=details_query(wallets))
