"""One session with a blockchain's node: JSON-RPC out, replies in, the URL seen by nobody.

requests, urllib3 and their logs know every node as ``node.invalid``; the connections put the real
host, path, query and login in. Knows HTTP and nothing of what the JSON means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from requests.utils import requote_uri

from walletframe.frameless import frameless
from walletframe.settings import login_of, require_node, secret_pieces
from walletframe.transport.echoes import scrubber
from walletframe.transport.keyed import KeyedAdapter
from walletframe.transport.session import Endpoint, Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from urllib.parse import SplitResult

    from urllib3.connectionpool import HTTPConnectionPool

    from walletframe.settings import NodeUrl, Secret
    from walletframe.transport.session import Reply

_MASK = "node.invalid"  # RFC 2606: never the name of a host
_PORTS = {"http": 80, "https": 443}


class NodeSession(Session):
    """A session with a node; a SettingsError where the URL is not set or can't be used."""

    @frameless
    def __init__(self, url: NodeUrl, timeout_s: float) -> None:
        parts = require_node(url)
        scrub = scrubber(*secret_pieces(parts))
        host = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"
        endpoint = Endpoint(host, f"{parts.scheme}://{_MASK}/", scrub, "node")
        super().__init__(endpoint, _adapter(parts, scrub), timeout_s=timeout_s, longest_s=0)

    @frameless
    def post(self, body: bytes) -> Reply:
        """Send one request, JSON, and read its answer; nothing raises but an interrupt."""
        return self._send("POST", data=body, headers={"Content-Type": "application/json"})


def _adapter(parts: SplitResult, scrub: Callable[[bytes], bytes]) -> KeyedAdapter:
    """Return an adapter whose connections lead to a node that only they know."""
    query = f"?{parts.query}" if parts.query else ""
    target = requote_uri((parts.path or "/") + query)
    real = (parts.hostname or "", parts.port or _PORTS[parts.scheme])
    return KeyedAdapter(
        lambda head: _to_node(head, target, login_of(parts)),
        scrub,
        connections=1,
        pool_of=lambda pool: _hidden(pool, real),
    )


def _to_node(head: bytes, target: str, login: Secret) -> bytes:
    """Put path, query and login into the head of a request."""
    method, _, rest = head.split(b" ", 2)
    version, _, lines = rest.partition(b"\r\n")
    if login:
        lines = b"Authorization: Basic %s\r\n%s" % (login.reveal().encode(), lines)
    return b"%s %s %s\r\n%s" % (method, target.encode(), version, lines)


def _hidden(pool: Any, real: tuple[str, int]) -> type[HTTPConnectionPool]:
    """Return a pool that knows the mask alone, and whose connections know the host."""

    class Hidden(pool.ConnectionCls):  # type: ignore[misc]  # of either scheme
        def __init__(self, host: str, port: int | None = None, **options: Any) -> None:
            place = real if host == _MASK else (host, port)  # a proxy is called by its own name
            super().__init__(*place, **options)

        def set_tunnel(self, **options: Any) -> None:
            super().set_tunnel(**options | {"host": real[0], "port": real[1]})

    return type("HiddenPool", (pool,), {"ConnectionCls": Hidden})
