"""The one place that knows the key: it joins the request below requests, on its way to the socket.

requests, its exceptions, its logs and the cache see a URL without the key. The adapter is mounted
for one base address alone, so the key can go nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlencode

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from walletframe.wire import KEY_PARAMETER

if TYPE_CHECKING:
    from collections.abc import Callable

    from urllib3 import PoolManager

    from walletframe.settings import ApiKey

_SCRUB_FROM = 8
_MASK = b"*"


class KeyedAdapter(HTTPAdapter):
    """An adapter whose connections append the key to each request's query.

    Parameters
    ----------
    key : ApiKey
        The key.
    connections : int
        How many connections to keep open.
    """

    def __init__(self, key: ApiKey, connections: int) -> None:
        self._pool_classes = _pool_classes(lambda url: _with_key(url, key))
        super().__init__(pool_maxsize=connections)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Make the pools of direct connections keyed ones."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._pool_classes

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> PoolManager:
        """Make the pools of connections through a proxy keyed ones."""
        manager: PoolManager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = self._pool_classes
        return manager


def scrubbed(body: bytes, key: ApiKey) -> bytes:
    """Return a body without the key that a server may echo.

    Parameters
    ----------
    body : bytes
        What the service sent.
    key : ApiKey
        The key; one of fewer than 8 characters is too common a text to be looked for.

    Returns
    -------
    bytes
        The same length, with asterisks for the key, raw or percent-encoded.

    Examples
    --------
    >>> from walletframe.settings import ApiKey
    >>> scrubbed(b"no such key: secret-1", ApiKey("secret-1"))
    b'no such key: ********'
    """
    plain = key.reveal()
    if len(plain) >= _SCRUB_FROM:
        for form in {plain, quote_plus(plain)}:
            echo = form.encode()
            body = body.replace(echo, _MASK * len(echo))
    return body


def _with_key(url: str, key: ApiKey) -> str:
    joint = "&" if "?" in url else "?"
    return f"{url}{joint}{urlencode({KEY_PARAMETER: key.reveal()})}"


def _pool_classes(attach: Callable[[str], str]) -> dict[str, type[HTTPConnectionPool]]:
    class Plain(HTTPConnection):
        def putrequest(self, method: str, url: str, *args: Any, **kwargs: Any) -> None:
            super().putrequest(method, attach(url), *args, **kwargs)

    class Encrypted(HTTPSConnection):
        def putrequest(self, method: str, url: str, *args: Any, **kwargs: Any) -> None:
            super().putrequest(method, attach(url), *args, **kwargs)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class EncryptedPool(HTTPSConnectionPool):
        ConnectionCls = Encrypted

    return {"http": PlainPool, "https": EncryptedPool}
