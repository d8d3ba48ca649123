"""HTTP sessions with the service or a node: requests out, replies in, one pool of connections.

Sessions enforce the time limit of requests and follow no redirect; callers cache and retry.
"""

from __future__ import annotations

import math
import time
import weakref
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from http import HTTPStatus
from io import BytesIO
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, ClassVar

import requests
from urllib3.exceptions import HTTPError

from walletframe.frameless import frameless
from walletframe.settings.key import require_node
from walletframe.settings.values import require_endpoint
from walletframe.text import safe_line
from walletframe.transport.faults import fault_outcome, is_passing, reason_of, status_outcome
from walletframe.transport.keyed import MASK, PACKING, node_adapter, service_adapter
from walletframe.wire.answer import duplicate_name
from walletframe.wire.outcome import Outcome, Status
from walletframe.wire.shapes import DETAILS_PATH

if TYPE_CHECKING:
    from collections.abc import Collection

    from walletframe.settings.key import NodeUrl
    from walletframe.settings.values import Settings
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
    """The result of one request, which ended at `fetched_at` (UTC).

    `answer` is the scrubbed body of a response with status 200, or the failure. `passing` is True
    if a retry may succeed; `sequence` is the request's sequence number (None: not numbered).
    """

    fetched_at: datetime
    answer: bytes | Outcome
    key_refused: bool = False
    passing: bool = False
    retry_after_s: float | None = None
    sequence: int | None = None

    @property
    def failure(self) -> Status | None:
        """The status of a failure, or None if an answer came."""
        return self.answer.status if isinstance(self.answer, Outcome) else None


class Session:
    """HTTP to one address: requests and its logs see `url`; `real_url` decides about proxies.

    `timeout_s` limits one request as a whole, `longest_s` the pause that the server may ask for.
    """

    _server: ClassVar[Server] = "service"
    _method: ClassVar[str] = "GET"

    def __init__(
        self, url: str, real_url: str, adapter: KeyedAdapter, *, timeout_s: float, longest_s: float
    ) -> None:
        self._url, self._adapter = url, adapter
        self._timeout_s, self._longest_s = timeout_s, longest_s
        self._in_flight = adapter.in_flight
        self._large_body = Lock()
        self._session = requests.Session()
        from_environment = self._session.merge_environment_settings(real_url, {}, None, None, None)
        self._session.verify = from_environment["verify"]
        if url.startswith("https:"):  # http is for this machine, and a proxy would read the key
            self._session.proxies = from_environment["proxies"]
        self._session.trust_env = False  # else every request carries the password from a .netrc
        headers = {"Accept": "application/json", "Accept-Encoding": PACKING}
        self._session.headers.update(headers, **{"User-Agent": "walletframe"})
        self._session.adapters.clear()
        self._session.mount(url.partition("//")[0] + "//", adapter)
        self._closed, self._reached = Event(), Event()
        watch, closed = self._in_flight.watch, (self._closed,)
        Thread(target=watch, args=closed, name="walletframe-watch", daemon=True).start()
        weakref.finalize(self, self._closed.set).atexit = False

    def close(self) -> None:
        """Close the connections."""
        self._closed.set()
        self._session.close()

    def discard_after_fork(self) -> None:
        """Close a forked child's copies of the connections, which belong to the parent."""
        self._in_flight.discard_after_fork()

    def abort(self, threads: Collection[int | None]) -> None:
        """Abort the requests of these threads at once."""
        self._in_flight.abort_threads(threads)

    @cached_property
    def _prepared(self) -> requests.PreparedRequest:
        """The template of all requests, made with the first one, since a wrong address raises."""
        return self._session.prepare_request(requests.Request(self._method, self._url))

    @frameless
    def send(self, query: str = "", body: bytes | None = None, most_s: float = math.inf) -> Reply:
        """Send one request, of at most `most_s`, and read its answer; only an interrupt raises.

        The adapter sends it directly, so it follows no redirect and sends no cookie or password.
        """
        limit_s = max(min(self._timeout_s, most_s), _LEAST_S)
        session, scrub = self._session, self._adapter.scrub
        how: dict[str, Any] = {"verify": session.verify, "proxies": session.proxies}
        with self._in_flight.attempt(limit_s) as attempt:
            try:
                request = self._prepared.copy()
                request.url = f"{request.url}{query}"
                if body is not None:
                    request.prepare_body(body, None)
                with self._adapter.send(request, stream=True, timeout=limit_s, **how) as response:
                    for hook in session.hooks["response"]:  # as requests.Session does
                        hook(response)
                    self._reached.set()
                    content, status = self._body(response, attempt), response.status_code
                    fetched_at, wait = datetime.now(UTC), response.headers.get("Retry-After")
                if content is None:
                    reply = Reply(fetched_at, Outcome(Status.INVALID, "the answer is too large"))
                elif status == HTTPStatus.OK:
                    reply = Reply(fetched_at, content)
                else:
                    reply = Reply(
                        fetched_at,
                        status_outcome(status, scrub(reason_of(content)), self._server),
                        key_refused=status in _REFUSED_KEY,
                        passing=status in _PASSING,
                        retry_after_s=seconds_to_wait(wait, self._longest_s),
                    )
            except (OSError, HTTPError, ValueError) as fault:  # requests raises OSErrors
                outcome = fault_outcome(fault, limit_s, self._server)
                passing = is_passing(fault, reached=self._reached.is_set())
                reply = Reply(datetime.now(UTC), outcome, passing=passing)
        late = time.monotonic() >= attempt.deadline and isinstance(reply.answer, Outcome)
        if attempt.is_aborted or late:  # an aborted answer can look like a short one
            outcome = fault_outcome(requests.Timeout(), limit_s, self._server)
            return Reply(datetime.now(UTC), outcome, passing=True)
        if isinstance(reply.answer, bytes) and (flaw := self._flaw(reply.answer)):
            return replace(reply, answer=Outcome(Status.INVALID, flaw))
        return reply

    def _flaw(self, _body: bytes) -> str | None:
        """Return the reason why an answer is unusable, or None if it can be used."""
        return None

    def _body(self, response: requests.Response, attempt: Attempt) -> bytes | None:
        """Return the scrubbed body, or None if it is too large; read large ones one at a time."""
        buffer, is_large = BytesIO(), False  # its repr hides the content
        try:
            for _ in map(buffer.write, response.iter_content(_PIECE)):
                if buffer.tell() > _MAX_BODY_BYTES:
                    return None
                if buffer.tell() > _SMALL_BODY_BYTES and not is_large:
                    while not self._large_body.acquire(timeout=min(_TICK_S, attempt.remaining_s())):
                        pass
                    is_large = True
            return self._adapter.scrub(buffer.getvalue())
        finally:
            buffer.close()
            if is_large:
                self._large_body.release()


class ServiceSession(Session):
    """A session with the service; it needs the key and the base address, else a SettingsError."""

    @frameless
    def __init__(self, settings: Settings) -> None:
        base_url, key = require_endpoint(settings)
        url, adapter = base_url + DETAILS_PATH, service_adapter(key, connections=settings.workers)
        longest_s = settings.retry_after_max_s
        super().__init__(url, url, adapter, timeout_s=settings.timeout_s, longest_s=longest_s)
        self._checking = Lock()  # one answer at a time, since a check takes memory

    def _flaw(self, body: bytes) -> str | None:
        with self._checking:
            name = duplicate_name(body)
        return None if name is None else f"the answer has {safe_line(name)!r} twice in one place"


class NodeSession(Session):
    """A session with a blockchain's node; a SettingsError if its URL is missing or wrong."""

    _server, _method = "node", "POST"

    @frameless
    def __init__(self, url: NodeUrl, timeout_s: float) -> None:
        parts = require_node(url)
        shown_url = f"{parts.scheme}://{MASK}/"
        real_url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"
        super().__init__(shown_url, real_url, node_adapter(parts), timeout_s=timeout_s, longest_s=0)
        self._session.headers["Content-Type"] = "application/json"

    def reconnect(self) -> None:
        """Close the connection, so that the next request makes a new one."""
        self._session.close()


def seconds_to_wait(header: str | None, most_s: float) -> float | None:
    """Read Retry-After: seconds from 0 to `most_s`, or None if it is missing or unreadable.

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
