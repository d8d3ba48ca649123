"""One session with the service: questions out, replies in, over one pool of connections.

Knows HTTP and the limits of one attempt. Does not know caches, plans or DataFrames.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from http.cookiejar import DefaultCookiePolicy
from typing import TYPE_CHECKING

import requests
from urllib3.exceptions import HTTPError

from walletframe.settings import require_endpoint
from walletframe.transport.faults import REFUSED_KEY, fault_outcome, status_outcome
from walletframe.transport.keyed import KeyedAdapter, scrubbed
from walletframe.wire import DETAILS_PATH, Outcome, Status, details_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.address import WalletAddress
    from walletframe.settings import Settings

MAX_BODY_BYTES = 256 * 1024 * 1024
_PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one request.

    Attributes
    ----------
    fetched_at : datetime
        When it ended, in UTC.
    answer : bytes or Outcome
        The body of an answer with status 200, without echoes of the key; else what went wrong.
    key_refused : bool
        Whether the service refused the key: asking on makes no sense.
    """

    fetched_at: datetime
    answer: bytes | Outcome
    key_refused: bool = False


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

    def __init__(self, settings: Settings) -> None:
        endpoint, self._key = require_endpoint(settings)
        self._url = endpoint + DETAILS_PATH
        self._timeout_s = settings.timeout_s
        self._session = _session(endpoint, KeyedAdapter(self._key, settings.workers))

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def ask(self, wallets: Sequence[WalletAddress]) -> Reply:
        """Send one request and read its answer.

        Parameters
        ----------
        wallets : sequence of WalletAddress
            What to ask for.

        Returns
        -------
        Reply
            The body, or what went wrong; nothing on the way raises.
        """
        try:
            status, body = self._exchange(details_query(wallets))
        except (requests.RequestException, HTTPError, ValueError) as fault:
            return Reply(datetime.now(UTC), fault_outcome(fault, self._timeout_s))
        fetched_at = datetime.now(UTC)
        if body is None:
            return Reply(fetched_at, Outcome(Status.INVALID, "the answer is far too large"))
        body = scrubbed(body, self._key)
        if status == HTTPStatus.OK:
            return Reply(fetched_at, body)
        return Reply(fetched_at, status_outcome(status, body), status in REFUSED_KEY)

    def _exchange(self, query: str) -> tuple[int, bytes | None]:
        """Return the status and the body, or None for a body beyond all measure."""
        end = time.monotonic() + self._timeout_s
        with self._session.get(
            self._url, params=query, timeout=self._timeout_s, stream=True, allow_redirects=False
        ) as response:
            pieces: list[bytes] = []
            size = 0
            for piece in response.iter_content(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > MAX_BODY_BYTES:
                    return response.status_code, None
                if time.monotonic() > end:
                    raise requests.ReadTimeout
            return response.status_code, b"".join(pieces)


def _session(endpoint: str, adapter: KeyedAdapter) -> requests.Session:
    session = requests.Session()
    from_environment = session.merge_environment_settings(endpoint, {}, None, None, None)
    session.proxies, session.verify = from_environment["proxies"], from_environment["verify"]
    session.trust_env = False  # else the password of a .netrc goes out with every request
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.headers.update({"Accept": "application/json", "User-Agent": "walletframe"})
    session.adapters.clear()
    session.mount(endpoint, adapter)
    return session
