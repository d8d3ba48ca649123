"""The service, or a node, over HTTP: requests out, replies in, over one pool of connections.

Never exceeds the time of one attempt, and follows no redirect; knows no cache, retry or plan.
"""

from __future__ import annotations

import math
import time
import weakref
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.cookiejar import DefaultCookiePolicy
from io import BytesIO
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, ClassVar

import requests
from urllib3.exceptions import HTTPError

from walletframe.frameless import frameless
from walletframe.settings import require_endpoint, require_node
from walletframe.transport.faults import fault_outcome, is_passing, reason_of, status_outcome
from walletframe.transport.keyed import MASK, node_adapter, service_adapter
from walletframe.wire import DETAILS_PATH, Outcome, Status, details_query

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from walletframe.address import WalletAddress
    from walletframe.settings import NodeUrl, Settings
    from walletframe.transport.attempt import Attempt
    from walletframe.transport.faults import Server
    from walletframe.transport.keyed import KeyedAdapter

_MAX_BODY_BYTES = 256 * 1024 * 1024
_SMALL_BODY_BYTES = 8 * 1024 * 1024
_PIECE = 256 * 1024
_TICK_S = 0.05
_LEAST_S = 0.001
_REFUSED_KEY = frozenset({401, 403})
_PASSING = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one request, which ended at `fetched_at` (UTC).

    The answer is the body that came with status 200, scrubbed, or what went wrong. `passing` says
    whether asking again may well succeed, `turn` which of all requests it was (None: not counted).
    """

    fetched_at: datetime
    answer: bytes | Outcome
    key_refused: bool = False
    passing: bool = False
    retry_after_s: float | None = None
    turn: int | None = None


class _NoRedirects(requests.Session):
    """Does not even look where a redirect leads; requests would read all of its body first."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Name no target."""


class Session:
    """Asks one address; `url` is what requests and its logs see, `real_url` decides about proxies.

    Times: for one request as a whole, and the longest pause that the server may ask for.
    """

    _server: ClassVar[Server] = "service"

    def __init__(
        self, url: str, real_url: str, adapter: KeyedAdapter, *, timeout_s: float, longest_s: float
    ) -> None:
        self._url, self._scrub = url, adapter.scrub
        self._timeout_s, self._longest_s = timeout_s, longest_s
        self._under_way = adapter.under_way
        self._large_body = Lock()
        self._session = _NoRedirects()
        from_environment = self._session.merge_environment_settings(real_url, {}, None, None, None)
        self._session.verify = from_environment["verify"]
        if url.startswith("https:"):  # http is for this machine: a proxy would read the key
            self._session.proxies = from_environment["proxies"]
        self._session.trust_env = False  # else a .netrc's password goes out with every request
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self._session.headers.update({"Accept": "application/json", "User-Agent": "walletframe"})
        self._session.adapters.clear()
        self._session.mount(url.partition("//")[0] + "//", adapter)
        self._closed, self._reached = Event(), Event()
        watch, closed = self._under_way.watch, (self._closed,)
        Thread(target=watch, args=closed, name="walletframe-watch", daemon=True).start()
        weakref.finalize(self, self._closed.set).atexit = False

    def close(self) -> None:
        """Close the connections."""
        self._closed.set()
        self._session.close()

    def leave(self) -> None:
        """Let go of the connections in a forked child, where they are the parent's."""
        self._under_way.leave()

    def abort(self, threads: Collection[int]) -> None:
        """Cut off the requests of some threads, which hear of it at once."""
        self._under_way.cut_of(threads)

    def _send(self, method: str, *, most_s: float = math.inf, **content: Any) -> Reply:
        """Send one request, given as requests takes it; nothing on the way raises."""
        limit_s = max(min(self._timeout_s, most_s), _LEAST_S)
        with self._under_way.begun(limit_s) as attempt:
            try:
                reply = self._exchange(method, content, attempt, limit_s)
            except (OSError, HTTPError, ValueError) as fault:  # those of requests are OSErrors
                outcome = fault_outcome(fault, limit_s, self._server)
                passing = is_passing(fault, reached=self._reached.is_set())
                reply = Reply(datetime.now(UTC), outcome, passing=passing)
        late = time.monotonic() >= attempt.until and isinstance(reply.answer, Outcome)
        if attempt.is_cut or late:  # what was cut off can look like a short answer
            outcome = fault_outcome(requests.Timeout(), limit_s, self._server)
            return Reply(datetime.now(UTC), outcome, passing=True)
        return reply

    def _exchange(
        self, method: str, content: dict[str, Any], attempt: Attempt, limit_s: float
    ) -> Reply:
        how: dict[str, Any] = {"timeout": limit_s, "stream": True, "allow_redirects": False}
        with self._session.request(method, self._url, **content, **how) as response:
            self._reached.set()
            body = self._body(response, attempt)
            fetched_at = datetime.now(UTC)
            if body is None:
                return Reply(fetched_at, Outcome(Status.INVALID, "the answer is too large"))
            status = response.status_code
            if status == HTTPStatus.OK:
                return Reply(fetched_at, body)
            said = self._scrub(reason_of(body))
            return Reply(
                fetched_at,
                status_outcome(status, said, self._server),
                key_refused=status in _REFUSED_KEY,
                passing=status in _PASSING,
                retry_after_s=seconds_to_wait(response.headers.get("Retry-After"), self._longest_s),
            )

    def _body(self, response: requests.Response, attempt: Attempt) -> bytes | None:
        """Return a body, scrubbed, None where it is too large; large ones come one at a time."""
        read, is_large = BytesIO(), False  # shows nobody what it holds, and is of one piece
        try:
            for _ in map(read.write, response.iter_content(_PIECE)):
                if read.tell() > _MAX_BODY_BYTES:
                    return None
                if read.tell() > _SMALL_BODY_BYTES and not is_large:
                    while not self._large_body.acquire(timeout=min(_TICK_S, attempt.left_s())):
                        pass
                    is_large = True
            return self._scrub(read.getvalue())
        finally:
            read.close()
            if is_large:
                self._large_body.release()


class ServiceSession(Session):
    """A session with the service; a SettingsError where the key or the base address is not set."""

    @frameless
    def __init__(self, settings: Settings) -> None:
        base_url, key = require_endpoint(settings)
        url, adapter = base_url + DETAILS_PATH, service_adapter(key, connections=settings.workers)
        longest_s = settings.retry_after_max_s
        super().__init__(url, url, adapter, timeout_s=settings.timeout_s, longest_s=longest_s)

    @frameless
    def ask(self, wallets: Sequence[WalletAddress], *, most_s: float = math.inf) -> Reply:
        """Ask for wallets in one request, which may take `most_s` where the settings say more."""
        return self._send("GET", most_s=most_s, params=details_query(wallets))


class NodeSession(Session):
    """A session with a blockchain's node; a SettingsError where its URL is missing or wrong."""

    _server = "node"

    @frameless
    def __init__(self, url: NodeUrl, timeout_s: float) -> None:
        parts = require_node(url)
        seen_url = f"{parts.scheme}://{MASK}/"
        real_url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"
        super().__init__(seen_url, real_url, node_adapter(parts), timeout_s=timeout_s, longest_s=0)

    @frameless
    def post(self, body: bytes) -> Reply:
        """Send one request, JSON, and read its answer; nothing raises but an interrupt."""
        return self._send("POST", data=body, headers={"Content-Type": "application/json"})


def seconds_to_wait(header: str | None, most_s: float) -> float | None:
    """Read Retry-After: seconds from 0 to `most_s`, None where it says nothing.

    >>> seconds_to_wait("1.5", 60), seconds_to_wait("86400", 60), seconds_to_wait("soon", 60)
    (1.5, 60, None)
    """
    if header is None:
        return None
    try:
        wait = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except (ValueError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        wait = (moment - datetime.now(UTC)).total_seconds()
    return None if math.isnan(wait) else min(max(wait, 0.0), most_s)
