"""The API key and a node's URL, whose text is never shown; and the check of URLs.

A node's URL is as secret as the key, since it often contains one.
"""

from __future__ import annotations

import ipaddress
import os
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from walletframe.errors import SettingsError
from walletframe.text import is_visible

if TYPE_CHECKING:
    from collections.abc import Callable

RPC_URL_VARIABLE = "WALLETFRAME_RPC_URL"


class Secret:
    """A text that is hidden in its repr and members, and left out of pickles."""

    __slots__ = ("_reveal",)
    _name = "secret"
    _reveal: Callable[[], str]

    def __init__(self, text: str) -> None:
        self._reveal = lambda: text  # a debugger lists members, but does not call them

    def reveal(self) -> str:
        """Return the text itself, empty after unpickling."""
        return self._reveal()

    def __repr__(self) -> str:
        return f"<{self._name}, hidden>" if self else f"<{self._name}, left out>"

    def __bool__(self) -> bool:
        return bool(self.reveal())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and other.reveal() == self.reveal()

    def __hash__(self) -> int:
        return hash((type(self), self.reveal()))

    def __deepcopy__(self, memo: object = None) -> Self:
        return self

    __copy__ = __deepcopy__

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ("",)


class ApiKey(Secret):
    """An API key, hidden."""

    __slots__ = ()
    _name = "API key"


class NodeUrl(Secret):
    """The URL of a node, hidden."""

    __slots__ = ()
    _name = "node URL"

    @classmethod
    def of(cls, url: object) -> NodeUrl:
        """Return a URL as hidden text; None stands for ``WALLETFRAME_RPC_URL``."""
        if isinstance(url, NodeUrl):
            return url
        if url is None:
            url = os.environ.get(RPC_URL_VARIABLE, "")
        return cls(url.strip() if isinstance(url, str) else "no text")


def url_parts(value: Any) -> SplitResult | None:
    """Return the parts of an http or https URL with a host, or None."""
    if not isinstance(value, str) or not is_visible(value.strip()) or "…" in value:
        return None
    try:
        parts = urlsplit(value.strip())
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable and parts.scheme in ("http", "https") else None


def is_this_machine(host_header: str) -> bool:
    """Return whether a ``Host`` header names this machine, on any port."""
    parts = url_parts(f"http://{host_header}/")
    return parts is not None and parts.netloc == host_header and is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Return whether a host is ``localhost`` or a loopback address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_node(url: NodeUrl) -> SplitResult:
    """Return the parts of a node's URL, or raise an error that does not quote it."""
    if not url:
        raise SettingsError(
            "rpc_url is not set",
            hint=f"set {RPC_URL_VARIABLE} in the environment, or give rpc_url=…: the address of a "
            "node's JSON-RPC over https",
        )
    parts, fault = url_parts(url.reveal()), "is not an http or https address"
    if parts is not None and parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        fault = "uses http, which everyone on the way can read; http is only for this machine"
        parts = None
    if parts is None:
        hint = "use an address such as https://node.example/v2/<key>"
        raise SettingsError(f"rpc_url {fault}", hint=hint)
    return parts


def secret_pieces(parts: SplitResult) -> tuple[Secret, ...]:
    """Return the parts of a node's URL to mask: host, credentials, path segments, query values."""
    values = [value for _, value in parse_qsl(parts.query)]
    pieces = [parts.hostname, parts.username, parts.password, *parts.path.split("/"), *values]
    pieces.append(basic_credentials(parts).reveal().rstrip("="))
    return tuple(Secret(unquote(piece)) for piece in pieces if piece)


def basic_credentials(parts: SplitResult) -> Secret:
    """Return the credentials of an HTTP Basic ``Authorization`` header, or an empty secret."""
    if not parts.username:
        return Secret("")
    credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Secret(b64encode(credentials.encode()).decode())
