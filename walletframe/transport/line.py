"""One address over HTTP: requests out, replies in, over one pool of connections.

Knows the limits of one attempt, which it never exceeds as a whole, and follows no redirect. Does
not know what is asked, nor caches and retries.
"""

from __future__ import annotations

import math
import time
import weakref
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from http.cookiejar import DefaultCookiePolicy
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import requests
from urllib3.exceptions import HTTPError

from walletframe.transport.body import Bodies
from walletframe.transport.faults import fault_outcome, is_passing, reason_of, status_outcome
from walletframe.transport.retry_after import seconds_to_wait
from walletframe.wire import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from walletframe.transport.attempt import Attempt, UnderWay
    from walletframe.transport.faults import Server
    from walletframe.transport.keyed import KeyedAdapter

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
    """What came of one request.

    Attributes
    ----------
    fetched_at : datetime
        When it ended, in UTC.
    answer : bytes or Outcome
        The body of an answer with status 200, without echoes of the key; else what went wrong.
    key_refused : bool
        Whether the service refused the key: asking on makes no sense.
    passing : bool
        Whether asking again may well succeed.
    retry_after_s : float or None
        How long the service asks to wait before that, in seconds.
    turn : int or None
        When it was asked for, as a place in the order of all requests, where there is one.
    """

    fetched_at: datetime
    answer: bytes | Outcome
    key_refused: bool = False
    passing: bool = False
    retry_after_s: float | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Place:
    """Where a line leads.

    Attributes
    ----------
    url : str
        The address itself.
    shown_url : str
        What requests, its exceptions and its logs see of it.
    scrub : callable
        Takes what is not to be seen out of what the server says.
    server : {"service", "node"}
        What to call it where something goes wrong.
    """

    url: str
    shown_url: str
    scrub: Callable[[bytes], bytes]
    server: Server


class Line:
    """Asks one address, over connections that are kept open.

    Parameters
    ----------
    place : Place
        The address.
    adapter : KeyedAdapter
        What puts the secret into each request.
    timeout_s : float
        How long one request may take as a whole, in seconds.
    longest_s : float
        The longest pause that the server may ask for, in seconds.
    """

    def __init__(
        self, place: Place, adapter: KeyedAdapter, *, timeout_s: float, longest_s: float
    ) -> None:
        self._place = place
        self._timeout_s = timeout_s
        self._longest_s = longest_s
        self._under_way = adapter.under_way
        self._bodies = Bodies(place.scrub)
        self._session = _session(place, adapter)
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
        """Cut off the requests of some threads, which hear of it at once.

        Parameters
        ----------
        threads : collection of int
            The threads, by ``threading.get_ident()``.
        """
        self._under_way.cut_of(threads)

    def send(self, method: str, *, most_s: float = math.inf, **content: Any) -> Reply:
        """Send one request and read its answer.

        Parameters
        ----------
        method : str
            Such as ``GET``.
        most_s : float, optional
            How long this one may take as a whole, where that is less than for any, in seconds.
        **content
            ``params``, ``data`` and ``headers``, as requests takes them.

        Returns
        -------
        Reply
            The body, or what went wrong; nothing on the way raises, but an interrupt.
        """
        limit_s, server = max(min(self._timeout_s, most_s), _LEAST_S), self._place.server
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
            self._place.shown_url,
            **content,
            timeout=limit_s,
            stream=True,
            allow_redirects=False,
        ) as response:
            self._reached.set()
            body = self._bodies.read(response, attempt)
            fetched_at = datetime.now(UTC)
            if body is None:
                return Reply(fetched_at, Outcome(Status.INVALID, "the answer is far too large"))
            status = response.status_code
            if status == HTTPStatus.OK:
                return Reply(fetched_at, body)
            said = self._place.scrub(reason_of(body))
            return Reply(
                fetched_at,
                status_outcome(status, said, self._place.server),
                key_refused=status in _REFUSED_KEY,
                passing=status in _PASSING,
                retry_after_s=seconds_to_wait(response.headers.get("Retry-After"), self._longest_s),
            )


def _watch(under_way: UnderWay, closed: Event) -> None:
    """Cut off what takes too long as a whole, however steadily it dribbles."""
    while not closed.wait(_WATCH_S):
        under_way.cut_overdue()


class _Session(requests.Session):
    """A session that does not even look where a redirect leads; it would read all of it first."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """Name no target."""


def _session(place: Place, adapter: KeyedAdapter) -> requests.Session:
    session = _Session()
    from_environment = session.merge_environment_settings(place.url, {}, None, None, None)
    session.verify = from_environment["verify"]
    if place.url.startswith("https:"):  # http is for this machine, where a proxy would read the key
        session.proxies = from_environment["proxies"]
    session.trust_env = False  # else the password of a .netrc goes out with every request
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.headers.update({"Accept": "application/json", "User-Agent": "walletframe"})
    session.adapters.clear()
    session.mount(place.shown_url.partition("//")[0] + "//", adapter)
    return session
