"""The URL of a Redis or Valkey, in which several machines share a cache or a pace."""

from __future__ import annotations

import os
import re
from typing import Any, Self
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from walletframe.errors import SettingsError
from walletframe.settings.key import Secret
from walletframe.text import is_unseen

_SCHEMES = ("redis", "rediss", "unix")
_VARIABLES = ("WALLETFRAME_CACHE", "WALLETFRAME_PACE")
_URL = re.compile(r"\s*[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_DATABASE = re.compile(r"/?|/[0-9]+", re.ASCII)
_TLS = ("ca_certs", "certfile", "keyfile", "cert_reqs", "check_hostname")
_OPTIONS = frozenset({"db", *(f"ssl_{name}" for name in _TLS)})


class ServerUrl(Secret):
    """A URL whose login is hidden: `place`, which is shown and pickled, goes without it.

    Where it is unpickled the login is that of the same place in the environment.
    """

    __slots__ = ("place",)

    def __init__(self, text: str) -> None:
        super().__init__(text)
        parts = urlsplit(text)
        query = f"?{parts.query}" if parts.query else ""
        host = parts.netloc.rpartition("@")[2]
        self.place: str = f"{parts.scheme}://{host}{parts.path}{query}"

    def login(self) -> tuple[str] | tuple[str, str] | None:
        """Return the password, behind the user's name if there is one; None without a password."""
        parts = urlsplit(self.reveal())
        if not parts.password:
            return None
        password = unquote(parts.password)
        return (unquote(parts.username), password) if parts.username else (password,)

    def __repr__(self) -> str:
        return f"<{self.place}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self.at, (self.place,)

    @classmethod
    def at(cls, place: str) -> Self:
        """Return the URL of a place, with the login that the environment has for it."""
        texts = (os.environ.get(name, "") for name in _VARIABLES)
        known = [cls(text.strip()) for text in texts if _is_usable(text)]
        return next((url for url in known if url.place == place), cls(place))


def is_url(value: object) -> bool:
    """Tell whether a text is a URL of any kind, and so no path."""
    return isinstance(value, ServerUrl) or (isinstance(value, str) and bool(_URL.match(value)))


def read_server(source: str, value: Any) -> ServerUrl:
    """Read the URL of a server; it is not quoted where it can't be."""
    if isinstance(value, ServerUrl):
        return value
    if not _is_usable(value):
        raise SettingsError(
            f"{source}: not the URL of a Redis or Valkey",
            hint="redis://:password@host:6379/0, rediss:// with TLS, or unix:// and a path; "
            "signs in the password are percent-encoded",
        )
    return ServerUrl(value.strip())


def _is_usable(value: Any) -> bool:
    """Tell whether it is all understood, so that no piece of a password is taken for a host."""
    if not isinstance(value, str) or any(map(is_unseen, value.strip())):
        return False
    try:
        parts = urlsplit(value.strip())
        is_sound = parts.port != 0 and not parts.fragment and _is_place(parts)
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True))
    except ValueError:
        return False
    return is_sound and options.keys() <= _OPTIONS and parts.query.count("=") == len(options)


def _is_place(parts: SplitResult) -> bool:
    """Tell whether there is a host and a number, or the path of a socket."""
    if parts.scheme == "unix":
        return not parts.hostname and len(parts.path) > 1 and "@" not in parts.path
    return (
        parts.scheme in _SCHEMES and bool(parts.hostname) and bool(_DATABASE.fullmatch(parts.path))
    )
