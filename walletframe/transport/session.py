"""One address over HTTP: requests out, replies in, over one pool of connections.

Knows the limits of one attempt, which it never exceeds as a whole, and follows no redirect. Does
not know caches, retries or plans.
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
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import requests
from urllib3.exceptions import HTTPError

from walletframe.frameless import frameless
from walletframe.settings import require_endpoint
from walletframe.transport.attempt import Bodies
from walletframe.transport.echoes import scrubber
from walletframe.transport.faults import fault_outcome, is_passing, reason_of, status_outcome
from walletframe.transport.keyed import KeyedAdapter, with_key
from walletframe.wire import DETAILS_PATH, Outcome, Status, details_query

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from walletframe.address import WalletAddress
    from walletframe.settings import Settings
    from walletframe.transport.attempt import Attempt, UnderWay
    from walletframe.transport.faults import Server

_WATCH_S = 0.05
_LEAST_S = 0.001
_REFUSED_KEY = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_PASSING = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)


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


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint:
    """The address, what requests and its logs see of it, and what takes secrets out of answers."""

    url: str
    shown_url: str
    scrub: Callable[[bytes], bytes]
    server: Server


class Session:
    """Asks one address, over connections that are kept open.

    Times are in seconds: for one request as a whole, and the longest pause that the server may
    ask for.
    """

    def __init__(
        self, endpoint: Endpoint, adapter: KeyedAdapter, *, timeout_s: float, longest_s: float
    ) -> None:
        self._endpoint = endpoint
        self._timeout_s = timeout_s
        self._longest_s = longest_s
        self._under_way = adapter.under_way
        self._bodies = Bodies(endpoint.scrub)
        self._session = _opened(endpoint, adapter)
        self._closed, self._reached = Event(), Event()
        watched = (self._under_way, self._closed)
        Thread(target=_watch, args=watched, name="walletframe-watch", daemon=True).start()
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
        limit_s, server = max(min(self._timeout_s, most_s), _LEAST_S), self._endpoint.server
        attempt = self._under_way.begin(limit_s)
        try:
            reply = self._exchange(method, content, attempt, limit_s)
        except (OSError, HTTPError, ValueError) as fault:  # those of requests are OSErrors
            outcome = fault_outcome(fault, limit_s, server)
            passing = is_passing(fault, reached=self._reached.is_set())
            reply = Reply(datetime.now(UTC), outcome, passing=passing)
        finally:
            cut = self._under_way.end()
        late = time.monotonic() >= attempt.until and isinstance(reply.answer, Outcome)
        if cut or late:  # what was cut off can look like a short answer
            outcome = fault_outcome(requests.Timeout(), limit_s, server)
            return Reply(datetime.now(UTC), outcome, passing=True)
        return reply

    def _exchange(
        self, method: str, content: dict[str, Any], attempt: Attempt, limit_s: float
    ) -> Reply:
        with self._session.request(
            method,
            self._endpoint.shown_url,
            **content,
            timeout=limit_s,
            stream=True,
            allow_redirects=False,
        ) as response:
            self._reached.set()
            body = self._bodies.read(response, attempt)
            fetched_at = datetime.now(UTC)
            if body is None:
                return Reply(fetched_at, Outcome(Status.INVALID, "the answer is too large"))
            status = response.status_code
            if status == HTTPStatus.OK:
                return Reply(fetched_at, body)
            said = self._endpoint.scrub(reason_of(body))
            return Reply(
                fetched_at,
                status_outcome(status, said, self._endpoint.server),
                key_refused=status in _REFUSED_KEY,
                passing=status in _PASSING,
                retry_after_s=seconds_to_wait(response.headers.get("Retry-After"), self._longest_s),
            )


class ServiceSession(Session):
    """A session with the service; a SettingsError where the key or the base address is not set."""

    @frameless
    def __init__(self, settings: Settings) -> None:
        base_url, key = require_endpoint(settings)
        url, scrub = base_url + DETAILS_PATH, scrubber(key)
        super().__init__(
            Endpoint(url, url, scrub, "service"),
            KeyedAdapter(lambda head: with_key(head, key), scrub, connections=settings.workers),
            timeout_s=settings.timeout_s,
            longest_s=settings.retry_after_max_s,
        )

    @frameless
    def ask(self, wallets: Sequence[WalletAddress], *, most_s: float = math.inf) -> Reply:
        """Ask for wallets in one request, which may take `most_s` where the settings say more."""
        return self._send("GET", most_s=most_s, params=details_query(wallets))


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
        wait = _seconds_until(header)
    return None if math.isnan(wait) else min(max(wait, 0.0), most_s)


def _seconds_until(date: str) -> float:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return math.nan
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime.now(UTC)).total_seconds()


def _watch(under_way: UnderWay, closed: Event) -> None:
    """Cut off what takes too long as a whole, however steadily it dribbles."""
    while not closed.wait(_WATCH_S):
        under_way.cut_overdue()


class _NoRedirects(requests.Session):
    """Does not even look where a redirect leads; requests would read all of its body first."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Name no target."""


def _opened(endpoint: Endpoint, adapter: KeyedAdapter) -> requests.Session:
    session = _NoRedirects()
    from_environment = session.merge_environment_settings(endpoint.url, {}, None, None, None)
    session.verify = from_environment["verify"]
    if endpoint.url.startswith("https:"):  # http is for this machine: a proxy would read the key
        session.proxies = from_environment["proxies"]
    session.trust_env = False  # else the password of a .netrc goes out with every request
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.headers.update({"Accept": "application/json", "User-Agent": "walletframe"})
    session.adapters.clear()
    session.mount(endpoint.shown_url.partition("//")[0] + "//", adapter)
    return session
