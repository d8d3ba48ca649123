"""What each setting may be, and its default: from Python values and from the environment's text."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from walletframe.errors import SettingsError
from walletframe.settings.key import ApiKey
from walletframe.settings.urls import is_loopback, url_parts

if TYPE_CHECKING:
    from collections.abc import Callable

KeyKind: TypeAlias = Literal["public", "private", "test"]
CacheChoice: TypeAlias = str | Path | Literal[False] | object


def conceal(given: dict[str, Any]) -> None:
    """Mask in place what is the key, or may be it under a wrong name.

    Done before anything can raise: some tracebacks show the locals of every frame.

    Parameters
    ----------
    given : dict of str to Any
        Settings by name, as given.

    Examples
    --------
    >>> given = {"apikey": "secret", "workers": 2}
    >>> conceal(given)
    >>> given
    {'apikey': <API key, hidden>, 'workers': 2}
    """
    for name, value in given.items():
        given[name] = concealed(name, value)


def concealed(name: str, value: Any) -> Any:
    """Return a setting's value, masked where it is the key, or may be it under a wrong name.

    Parameters
    ----------
    name : str
        The setting's name, as given.
    value : object
        Its value, as given.

    Returns
    -------
    object
        An `ApiKey`, or the value.
    """
    text = value.strip() if isinstance(value, str) else value
    if value is None or isinstance(value, ApiKey) or _is_something_else(name, text):
        return value
    return ApiKey(text)


def _is_something_else(name: str, value: Any) -> bool:
    """Tell whether a value can't be the key."""
    if name == "key_kind":
        return isinstance(value, str) and value in get_args(KeyKind)
    return (name in READERS and name != "api_key") or (isinstance(value, str) and not value)


def _read_key(source: str, value: Any) -> ApiKey:
    if not isinstance(value, ApiKey) or (value and not value.is_one_line):
        raise SettingsError(f"{source}: not a key", hint="a key is one line of visible text")
    return value


def _read_kind(source: str, value: Any) -> str:
    known = get_args(KeyKind)
    if value not in known:  # not quoted: it may be the key, in the wrong place
        raise SettingsError(f"{source}: not a known kind of key", hint=f"one of {', '.join(known)}")
    return str(value)


def _read_url(source: str, value: Any) -> str:
    parts = url_parts(value)
    if parts is None or parts.query or parts.fragment:
        raise SettingsError(
            f"{source}: not a base address", hint="such as https://api.example/v1, without a query"
        )
    host, port = parts.hostname or "", parts.port
    if parts.username is not None or parts.password is not None:
        raise SettingsError(f"{source}: holds a user name", hint="the key goes into api_key")
    if parts.scheme == "http" and not is_loopback(host):
        raise SettingsError(
            f"{source}: http would show the key to everyone on the way to {host}",
            hint="use https; http is only for this machine",
        )
    default_port = {"http": 80, "https": 443}[parts.scheme]
    shown_host = f"[{host}]" if ":" in host else host
    place = shown_host if port in (None, default_port) else f"{shown_host}:{port}"
    return f"{parts.scheme}://{place}{parts.path.rstrip('/')}"


def _read_name(source: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise SettingsError(f"{source}: {value!r}", hint="a name, as text")
    return value.strip()


def _read_cache(source: str, value: Any) -> CacheChoice:
    if value is False or (isinstance(value, str) and value.lower() in _FALSE):
        return False
    if value is True or (isinstance(value, str) and value.lower() in _TRUE):
        raise SettingsError(f"{source}: {value!r}", hint='a path, "memory", False or a backend')
    if isinstance(value, str) and value.lower() == "memory":
        return "memory"
    if isinstance(value, str) and not value.strip():
        raise SettingsError(f"{source}: empty", hint='a path, "memory", False or a backend')
    return Path(value).expanduser() if isinstance(value, str | Path) else value


def _read_flag(source: str, value: Any) -> bool:
    text = str(value).lower()
    if text not in _TRUE + _FALSE:
        raise SettingsError(f"{source}: {value!r}", hint="true or false")
    return text in _TRUE


def _number(kind: Callable[[Any], float], low: float, high: float) -> Callable[[str, Any], float]:
    def read(source: str, value: Any) -> float:
        try:
            number = kind(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if isinstance(value, bool) or not low <= number <= high or number != float(value):
            raise SettingsError(
                f"{source}: {value!r}", hint=f"a number from {low:g} to {high:g}, in plain digits"
            )
        return number

    return read


_TRUE = ("true", "1", "yes", "on")
_FALSE = ("false", "0", "no", "off")
READERS: dict[str, Callable[[str, Any], Any]] = {
    "api_key": _read_key,
    "key_kind": _read_kind,
    "base_url": _read_url,
    "public_base_url": _read_url,
    "service": _read_name,
    "cache": _read_cache,
    "cache_max_bytes": _number(int, 1_000_000, 10**15),
    "expire_after_s": _number(float, 0, math.inf),
    "stale_if_error": _read_flag,
    "workers": _number(int, 1, 64),
    "requests_per_second": _number(float, 0.001, 100_000),
    "retry_after_max_s": _number(float, 0, 86_400),
    "batch_size": _number(int, 1, 100),
    "timeout_s": _number(float, 0.001, 86_400),
    "deadline_s": _number(float, 0, 864_000),
}
DEFAULTS: dict[str, Any] = {
    "cache_max_bytes": 1_000_000_000,
    "expire_after_s": 3600.0,
    "stale_if_error": True,
    "workers": 8,
    "retry_after_max_s": 60.0,
    "batch_size": 1,
    "timeout_s": 60.0,
    "deadline_s": 300.0,
}
