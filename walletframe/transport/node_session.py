"""One session with a blockchain's node: JSON-RPC out, replies in, the URL seen by nobody.

requests, urllib3 and their logs know every node as ``node.invalid``; the connections put the real
host, path, query and login in. Knows HTTP and nothing of what the JSON means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from requests.utils import requote_uri

from walletframe.frameless import frameless
from walletframe.settings import login_of, require_node, secret_pieces
from walletframe.transport.attempt import UnderWay
from walletframe.transport.echoes import scrubber
from walletframe.transport.keyed import KeyedAdapter, pool_classes
from walletframe.transport.line import Line, Place

if TYPE_CHECKING:
    from collections.abc import Callable
    from urllib.parse import SplitResult

    from urllib3.connectionpool import HTTPConnectionPool

    from walletframe.settings import NodeUrl, Secret
    from walletframe.transport.line import Reply

_MASK = "node.invalid"  # RFC 2606: never the name of a host
_PORTS = {"http": 80, "https": 443}


class NodeSession:
    """Asks a node, over a connection that is kept open.

    Parameters
    ----------
    url : NodeUrl
        Where to ask.
    timeout_s : float
        How long one request may take as a whole, in seconds.

    Raises
    ------
    SettingsError
        Where the URL is not set, no http or https address, or http to another machine.
    """

    @frameless
    def __init__(self, url: NodeUrl, timeout_s: float) -> None:
        parts = require_node(url)
        scrub = scrubber(*secret_pieces(parts))
        host = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"
        place = Place(host, f"{parts.scheme}://{_MASK}/", scrub, "node")
        self._line = Line(place, _hidden_adapter(parts, scrub), timeout_s=timeout_s, longest_s=0)

    def close(self) -> None:
        """Close the connection."""
        self._line.close()

    @frameless
    def post(self, body: bytes) -> Reply:
        """Send one request and read its answer.

        Parameters
        ----------
        body : bytes
            JSON.

        Returns
        -------
        Reply
            The body, or what went wrong; nothing on the way raises, but an interrupt.
        """
        headers = {"Content-Type": "application/json"}
        return self._line.send("POST", data=body, headers=headers)


def _hidden_adapter(parts: SplitResult, scrub: Callable[[bytes], bytes]) -> KeyedAdapter:
    """Return an adapter whose connections lead to a node that only they know."""
    query = f"?{parts.query}" if parts.query else ""
    target = requote_uri((parts.path or "/") + query)
    real = (parts.hostname or "", parts.port or _PORTS[parts.scheme])
    under_way = UnderWay()
    pools = pool_classes(lambda head: _to_node(head, target, login_of(parts)), scrub, under_way)
    hidden = {scheme: _hidden(pool, real) for scheme, pool in pools.items()}
    return KeyedAdapter(hidden, under_way, connections=1)


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
