"""What each setting may be, and its default: from Python values and from the environment's text."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypedDict, get_args
from urllib.parse import unquote, unquote_plus

from walletframe.errors import Argument, SettingsError, Spelled
from walletframe.settings.key import ApiKey, is_loopback, url_parts
from walletframe.settings.server import ServerUrl, is_url, read_server

if TYPE_CHECKING:
    from collections.abc import Callable

KeyKind: TypeAlias = Literal["public", "private", "test"]
CacheChoice: TypeAlias = str | Path | Literal[False] | object

_KEY_FROM = 8
_TRUE = ("true", "1", "yes", "on")
_FALSE = ("false", "0", "no", "off")


def quoted(value: Any) -> str:
    """Return what a message may show: a number, or text too short to be a key."""
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if not isinstance(value, str):
        return f"a {type(value).__name__}"
    if len(value.strip()) < _KEY_FROM:
        return repr(value)
    return f"a text of {len(value)} characters (not shown: it may be secret)"


def holds_key(value: Any, key: ApiKey) -> bool:
    """Tell whether a setting that is shown and kept holds the key, in any case or encoding.

    A short key could be any word, and is looked for as the whole value alone.
    """
    if not key or not isinstance(value, str | Path | ServerUrl):
        return False
    text = value.reveal() if isinstance(value, ServerUrl) else str(value)
    secret = key.reveal().casefold()
    texts = [each.casefold() for each in (text, unquote(text), unquote_plus(text))]
    if len(secret) < _KEY_FROM:
        return secret in texts
    return any(secret in text for text in texts)


def _read_key(source: str, value: Any) -> ApiKey:
    key = ApiKey(value.strip()) if isinstance(value, str) and value.strip() else value
    text: object = key.reveal() if isinstance(key, ApiKey) else None
    if not isinstance(text, str) or not text.isprintable():
        raise SettingsError(f"{source}: not a key", hint="a key is one line of visible text")
    return key


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
        raise SettingsError(
            f"{source}: contains a user name",
            hint=Spelled("the key goes into ", Argument("api_key", "")),
        )
    if parts.scheme == "http" and not is_loopback(host):
        raise SettingsError(
            f"{source}: http would expose the key to everyone on the network",
            hint="use https; http is only for this machine",
        )
    default_port = {"http": 80, "https": 443}[parts.scheme]
    shown_host = f"[{host}]" if ":" in host else host
    place = shown_host if port in (None, default_port) else f"{shown_host}:{port}"
    return f"{parts.scheme}://{place}{parts.path.rstrip('/')}"


def _read_name(source: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise SettingsError(f"{source}: {quoted(value)}", hint="a name, as text")
    return value.strip()


def _read_cache(source: str, value: Any) -> CacheChoice:
    word = value.lower() if isinstance(value, str) else ""
    if value is False or word in _FALSE:
        return False
    if word == "memory":
        return word
    if is_url(value):
        return read_server(source, value)
    is_path = isinstance(value, Path) or word.strip()
    if word in _TRUE or not (is_path or hasattr(value, "responses")):
        raise SettingsError(
            f"{source}: {quoted(value)}",
            hint='a path, "memory", False, a URL (redis://…), or a requests-cache backend',
        )
    return Path(value).expanduser() if is_path else value


def _read_flag(source: str, value: Any) -> bool:
    text = str(value).lower()
    if text not in _TRUE + _FALSE:
        raise SettingsError(f"{source}: {quoted(value)}", hint="true or false")
    return text in _TRUE


def _number(kind: Callable[[Any], float], low: float, high: float) -> Callable[[str, Any], float]:
    def read(source: str, value: Any) -> float:
        try:
            number = kind(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if isinstance(value, bool) or not low <= number <= high or number != float(value):
            raise SettingsError(
                f"{source}: {quoted(value)}",
                hint=f"a number from {low:g} to {high:g}, in plain digits",
            )
        return number

    return read


class OtherSettings(TypedDict, total=False):
    """The settings as keywords, but for the key's kind; None means "not given"."""

    api_key: str | ApiKey | None
    base_url: str | None
    public_base_url: str | None
    service: str | None
    cache: CacheChoice | None
    cache_max_bytes: int | None
    expire_after_s: float | None
    stale_if_error: bool | None
    pace: str | ServerUrl | None
    processes: int | None
    workers: int | None
    requests_per_second: float | None
    retry_after_max_s: float | None
    batch_size: int | None
    timeout_s: float | None
    deadline_s: float | None


class SomeSettings(OtherSettings, total=False):
    """The settings as keywords, which `configure` and `Client` take."""

    key_kind: KeyKind | None


class Setting(NamedTuple):
    """How a setting is read, of the name that it came by and its value; and its default."""

    read: Callable[[str, Any], Any]
    default: Any = None


SETTINGS = {
    "api_key": Setting(_read_key),
    "key_kind": Setting(_read_kind),
    "base_url": Setting(_read_url),
    "public_base_url": Setting(_read_url),
    "service": Setting(_read_name),
    "cache": Setting(_read_cache),
    "cache_max_bytes": Setting(_number(int, 1_000_000, 10**15), 1_000_000_000),
    "expire_after_s": Setting(_number(float, 0, math.inf), 3600.0),
    "stale_if_error": Setting(_read_flag, default=True),
    "pace": Setting(read_server),
    "processes": Setting(_number(int, 1, 100_000)),
    "workers": Setting(_number(int, 1, 64), 8),
    "requests_per_second": Setting(_number(float, 0.001, 100_000)),
    "retry_after_max_s": Setting(_number(float, 0, 86_400), 60.0),
    "batch_size": Setting(_number(int, 1, 100), 1),
    "timeout_s": Setting(_number(float, 0.001, 86_400), 60.0),
    "deadline_s": Setting(_number(float, 0, 864_000), 300.0),
}
