"""What never shows its text, the API key and the URL of a blockchain's node; and what a URL may be.

A node's URL is as secret as the key, since it often carries one.
"""

from __future__ import annotations

import ipaddress
import os
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from walletframe.errors import SettingsError
from walletframe.text import is_unseen

if TYPE_CHECKING:
    from collections.abc import Callable

RPC_URL_VARIABLE = "WALLETFRAME_RPC_URL"


class Secret:
    """A text that repr, members and copies mask, and that a pickle leaves out."""

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
    def of(cls, given: object) -> NodeUrl:
        """Hide what was given; None stands for the environment's ``WALLETFRAME_RPC_URL``."""
        if isinstance(given, NodeUrl):
            return given
        if given is None:
            given = os.environ.get(RPC_URL_VARIABLE, "")
        return cls(given.strip() if isinstance(given, str) else "no text")


def url_parts(value: Any) -> SplitResult | None:
    """Return the parts of an http or https address of a host, None for all else."""
    if not isinstance(value, str) or any(is_unseen(char) or char == "…" for char in value.strip()):
        return None
    try:
        parts = urlsplit(value.strip())
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable and parts.scheme in ("http", "https") else None


def is_this_machine(place: str) -> bool:
    """Return whether a header ``Host`` names this machine, on whatever port."""
    parts = url_parts(f"http://{place}/")
    return parts is not None and parts.netloc == place and is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_node(url: NodeUrl) -> SplitResult:
    """Return where a node is, or say what is wrong with its URL, without quoting it."""
    if not url:
        raise SettingsError(
            "rpc_url: no node is named",
            hint=(
                f"set {RPC_URL_VARIABLE} in the environment, or give rpc_url=…: the address of a "
                "node's JSON-RPC over https"
            ),
        )
    parts, wrong = url_parts(url.reveal()), "not an http or https address"
    if parts is not None and parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        wrong = "http would show the URL to everyone on the way; http is only for this machine"
        parts = None
    if parts is None:
        raise SettingsError(f"rpc_url: {wrong}", hint="such as https://node.example/v2/<key>")
    return parts


def secret_pieces(parts: SplitResult) -> tuple[Secret, ...]:
    """Return what of a node's URL must not be seen in what the node says: host, login, pieces."""
    values = [value for _, value in parse_qsl(parts.query)]
    found = [parts.hostname, parts.username, parts.password, *parts.path.split("/"), *values]
    login = login_of(parts).reveal().rstrip("=")
    return tuple(Secret(unquote(piece)) for piece in [*found, login] if piece)


def login_of(parts: SplitResult) -> Secret:
    """Return the name and the password as a header sends them, empty where there are none."""
    if not parts.username:
        return Secret("")
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Secret(b64encode(login.encode()).decode())
