"""Secrets, which are never displayed, and the validation of URLs.

The secrets are the API key and a node's URL, which often contains another API key.
"""

from __future__ import annotations

import ipaddress
import os
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import SplitResult, parse_qsl, unquote, unquote_plus, urlsplit

from walletframe.errors import SettingsError
from walletframe.text import is_visible_word

if TYPE_CHECKING:
    from collections.abc import Callable

RPC_URL_VARIABLE = "WALLETFRAME_RPC_URL"
_MIN_KEY_LENGTH = 8  # messages may quote shorter texts


class Secret:
    """A text that is hidden in reprs and debuggers, and missing in pickles."""

    __slots__ = ("_reveal",)
    _name = "secret"
    _reveal: Callable[[], str]

    def __init__(self, text: str) -> None:
        self._reveal = lambda: text  # debuggers list members, but don't call them

    def reveal(self) -> str:
        """Return the text. After unpickling, the text is empty."""
        return self._reveal()

    def __repr__(self) -> str:
        return f"<{self._name}, hidden>" if self else f"<{self._name}, empty>"

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
    """An API key."""

    __slots__ = ()
    _name = "API key"


def safe_repr(value: Any) -> str:
    """Return the repr of a value, or a description if the value may be a key."""
    if isinstance(value, str) and len(value.strip()) >= _MIN_KEY_LENGTH:
        return f"a string of {len(value)} characters (not shown, since it may be secret)"
    is_plain = value is None or isinstance(value, str | bool | int | float)
    return repr(value) if is_plain else f"a value of type {type(value).__name__}"


def contains_key(value: Any, key: ApiKey | None) -> bool:
    """Return whether a text contains or, for a short key, equals the key, even URL-encoded."""
    if not key or not isinstance(value, str | Path):
        return False
    secret, text = key.reveal().casefold(), str(value)
    texts = [each.casefold() for each in (text, unquote(text), unquote_plus(text))]
    return secret in (texts if len(secret) < _MIN_KEY_LENGTH else "\n".join(texts))


class RpcUrl(Secret):
    """The URL of a node's JSON-RPC interface."""

    __slots__ = ()
    _name = "node URL"

    @classmethod
    def from_argument(cls, url: object) -> RpcUrl:
        """Return a URL as a secret. None means the variable ``WALLETFRAME_RPC_URL``."""
        if isinstance(url, RpcUrl):
            return url
        if url is None:
            url = os.environ.get(RPC_URL_VARIABLE, "")
        return cls(url.strip() if isinstance(url, str) else "not a string")


def parse_http_url(value: Any) -> SplitResult | None:
    """Return the components of an http or https URL, or None for other values."""
    if not isinstance(value, str) or not is_visible_word(value.strip()) or "…" in value:
        return None
    try:
        parts = urlsplit(value.strip())
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable and parts.scheme in ("http", "https") else None


def is_local_host(host_header: str) -> bool:
    """Return whether a ``Host`` header refers to this machine. The port is ignored."""
    parts = parse_http_url(f"http://{host_header}/")
    return parts is not None and parts.netloc == host_header and is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Return whether a host is ``localhost`` or a loopback IP address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_rpc_url(url: RpcUrl) -> SplitResult:
    """Return the components of the URL, or raise an error that does not quote the URL."""
    if not url:
        hint = f"set the variable {RPC_URL_VARIABLE} to the https URL of a node, or pass rpc_url=…"
        raise SettingsError("rpc_url is not set", hint)
    parts, fault = parse_http_url(url.reveal()), "is not a valid http or https URL"
    if parts is not None and parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        fault, parts = "uses http, which exposes the URL (allowed only for localhost)", None
    if parts is None:
        hint = "use a URL such as https://node.example/v2/<key>"
        raise SettingsError(f"rpc_url {fault}", hint=hint)
    return parts


def possibly_secret_url_parts(parts: SplitResult) -> tuple[Secret, ...]:
    """Return the parts that may be secret: host, user, password, path and query values."""
    values = [value for _, value in parse_qsl(parts.query)]
    pieces = [parts.hostname, parts.username, parts.password, *parts.path.split("/"), *values]
    pieces.append(basic_credentials(parts).reveal().rstrip("="))
    return tuple(Secret(unquote(piece)) for piece in pieces if piece)


def basic_credentials(parts: SplitResult) -> Secret:
    """Return the credentials for HTTP Basic authentication, empty if there is no user name."""
    if not parts.username:
        return Secret("")
    credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Secret(b64encode(credentials.encode()).decode())
