"""HTTP sessions with the service or with a node, without redirects, retries or a cache."""

from __future__ import annotations

import math
import time
import weakref
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from http import HTTPStatus
from io import BytesIO
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import requests
from urllib3.exceptions import HTTPError

from walletframe.settings.key import RpcUrl, require_rpc_url
from walletframe.settings.values import Settings, endpoint_and_key
from walletframe.text import safe_line
from walletframe.tracebacks import strip_tracebacks
from walletframe.transport import faults
from walletframe.transport.keyed import ENCODING, MASKED_HOST, node_adapter, service_adapter
from walletframe.wire.answer import find_duplicate_name
from walletframe.wire.outcome import Outcome, Status
from walletframe.wire.schemas import DETAILS_PATH

if TYPE_CHECKING:
    from walletframe.transport.attempt import Attempt, InFlightRequests
    from walletframe.transport.faults import Server
    from walletframe.transport.keyed import SecretAdapter

_MAX_BODY_BYTES = 256 * 1024 * 1024
_SMALL_BODY_BYTES = 8 * 1024 * 1024
_TICK_S = 0.05
_MIN_TIMEOUT_S = 0.001


class Reply(NamedTuple):
    """The result of one request."""

    fetched_at: datetime  # the end of the request, in UTC
    answer: bytes | Outcome  # the scrubbed body of a response with status 200, or the failure
    key_rejected: bool = False  # whether the server rejected the API key
    retryable: bool = False  # whether a retry may succeed
    retry_after_s: float | None = None  # the pause that the server requested
    sequence: int | None = None  # the sequence number, or None if requests are not numbered

    @property
    def failure(self) -> Status | None:
        """The status of a failure, or None if there is an answer."""
        return self.answer.status if isinstance(self.answer, Outcome) else None


class _Session:
    """An HTTP session with one server. `url` may be masked, so `real_url` selects the proxy."""

    _server: ClassVar[Server] = "service"
    _method: ClassVar[str] = "GET"

    def __init__(
        self, url: str, real_url: str, adapter: SecretAdapter, timeout_s: float, max_wait_s: float
    ) -> None:
        self._url, self._adapter = url, adapter
        self._timeout_s, self._max_wait_s = timeout_s, max_wait_s
        self.in_flight: InFlightRequests = adapter.in_flight
        self._large_lock = Lock()
        self._session = requests.Session()
        from_environment = self._session.merge_environment_settings(real_url, {}, None, None, None)
        self._session.verify = from_environment["verify"]
        if url.startswith("https:"):  # a proxy could read the key in an http request
            self._session.proxies = from_environment["proxies"]
        self._session.trust_env = False  # otherwise passwords from a .netrc file are sent
        headers = {"Accept": "application/json", "Accept-Encoding": ENCODING}
        self._session.headers.update(headers, **{"User-Agent": "walletframe"})
        self._session.adapters.clear()
        self._session.mount(url.partition("//")[0] + "//", adapter)
        self._closed, self._reached = Event(), Event()
        watch, args = self.in_flight.watch_deadlines, (self._closed,)
        Thread(target=watch, args=args, name="walletframe-watch", daemon=True).start()
        weakref.finalize(self, self._closed.set).atexit = False

    def close(self) -> None:
        self._closed.set()
        self._session.close()

    @cached_property
    def _request_template(self) -> requests.PreparedRequest:
        """The template of all requests. The first request creates it, and reports invalid URLs."""
        return self._session.prepare_request(requests.Request(self._method, self._url))

    @strip_tracebacks
    def send(self, query: str = "", body: bytes | None = None, max_s: float = math.inf) -> Reply:
        """Send a request, and return the answer or the failure. Only an interrupt raises."""
        limit_s = max(min(self._timeout_s, max_s), _MIN_TIMEOUT_S)
        session, scrub = self._session, self._adapter.scrub
        options: Any = {"verify": session.verify, "proxies": session.proxies, "stream": True}
        with self.in_flight.register_attempt(limit_s) as attempt:
            try:
                request = self._request_template.copy()
                request.url = f"{request.url}{query}"
                if body is not None:
                    request.prepare_body(body, None)
                with self._adapter.send(request, timeout=limit_s, **options) as response:
                    for hook in session.hooks["response"]:  # as requests.Session calls them
                        hook(response)
                    self._reached.set()
                    content, status = self._read_body(response, attempt), response.status_code
                    fetched_at, retry_after = datetime.now(UTC), response.headers.get("Retry-After")
                if content is None:
                    reply = Reply(fetched_at, Outcome(Status.INVALID, "the answer is too large"))
                elif status == HTTPStatus.OK:
                    reply = Reply(fetched_at, content)
                else:
                    message = scrub(faults.json_error_message_or_body(content))
                    reply = Reply(
                        fetched_at,
                        faults.status_outcome(status, message, self._server),
                        key_rejected=status in {401, 403},
                        retryable=status in {429, 502, 503, 504},
                        retry_after_s=parse_retry_after(retry_after, self._max_wait_s),
                    )
            except (OSError, HTTPError, ValueError) as fault:  # exceptions of requests are OSErrors
                outcome = faults.fault_outcome(fault, limit_s, self._server)
                retryable = faults.is_retryable(fault, server_was_reached=self._reached.is_set())
                reply = Reply(datetime.now(UTC), outcome, retryable=retryable)
        is_late = time.monotonic() >= attempt.deadline and isinstance(reply.answer, Outcome)
        if attempt.is_aborted or is_late:  # after an abort, an answer can look complete
            outcome = faults.fault_outcome(requests.Timeout(), limit_s, self._server)
            return Reply(datetime.now(UTC), outcome, retryable=True)
        if isinstance(reply.answer, bytes) and (reason := self._unusable_reason(reply.answer)):
            return reply._replace(answer=Outcome(Status.INVALID, reason))
        return reply

    def _unusable_reason(self, _body: bytes) -> str | None:
        return None

    def _read_body(self, response: requests.Response, attempt: Attempt) -> bytes | None:
        """Return the scrubbed body, or None if the body is too large."""
        buffer, is_large = BytesIO(), False  # the repr of a BytesIO hides the content
        try:
            for _ in map(buffer.write, response.iter_content(256 * 1024)):
                if buffer.tell() > _MAX_BODY_BYTES:
                    return None
                if buffer.tell() > _SMALL_BODY_BYTES and not is_large:
                    while not self._large_lock.acquire(timeout=min(_TICK_S, attempt.remaining_s())):
                        pass
                    is_large = True
            return self._adapter.scrub(buffer.getvalue())
        finally:
            buffer.close()
            if is_large:
                self._large_lock.release()


class ServiceSession(_Session):
    """A session with the service, which needs an API key and a base URL."""

    @strip_tracebacks
    def __init__(self, settings: Settings) -> None:
        base_url, key = endpoint_and_key(settings)
        url, adapter = base_url + DETAILS_PATH, service_adapter(key, connections=settings.workers)
        max_wait_s = settings.retry_after_max_s
        super().__init__(url, url, adapter, timeout_s=settings.timeout_s, max_wait_s=max_wait_s)
        self._check_lock = Lock()  # answers are checked one at a time, to save memory

    def _unusable_reason(self, body: bytes) -> str | None:
        with self._check_lock:
            name = find_duplicate_name(body)
        if name is None:
            return None
        return f"the answer has the name {safe_line(name)!r} twice in one JSON object"


class NodeSession(_Session):
    """A session with a node of a blockchain. An invalid URL raises a SettingsError."""

    _server, _method = "node", "POST"

    @strip_tracebacks
    def __init__(self, url: RpcUrl, timeout_s: float) -> None:
        parts = require_rpc_url(url)
        masked_url = f"{parts.scheme}://{MASKED_HOST}/"
        real_url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"
        adapter = node_adapter(parts)
        super().__init__(masked_url, real_url, adapter, timeout_s=timeout_s, max_wait_s=0)
        self._session.headers["Content-Type"] = "application/json"

    def disconnect(self) -> None:
        """Close the connection. The next request opens a new connection."""
        self._session.close()


def parse_retry_after(header: str | None, max_s: float) -> float | None:
    """Return the seconds in a Retry-After header, from 0 to `max_s`, or None if invalid."""
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
    return None if math.isnan(wait) else min(max(wait, 0.0), max_s)
