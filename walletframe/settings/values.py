"""The immutable `Settings`, and the validation of each setting."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, get_args

from platformdirs import user_cache_path

from walletframe.errors import ArgumentError, SettingsError
from walletframe.settings.key import ApiKey, contains_key, is_loopback, parse_http_url, safe_repr
from walletframe.settings.sources import PREFIX, Entry, read_sources, require_known_settings
from walletframe.tracebacks import strip_tracebacks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KeyKind: TypeAlias = Literal["public", "private", "test"]
CacheChoice: TypeAlias = str | Path | Literal[False] | object

_TRUE = ("true", "1", "yes", "on")
_FALSE = ("false", "0", "no", "off")
_OR_CONFIGURE = (
    ", or call walletframe.configure(…). To try walletframe without a key, use simulated data: "
    "walletframe.sandbox(), or the shell command `walletframe demo`"
)


def _parse_key(source: str, value: Any) -> ApiKey:
    key = ApiKey(value.strip()) if isinstance(value, str) and value.strip() else value
    text: object = key.reveal() if isinstance(key, ApiKey) else None
    if not isinstance(text, str) or not text.isprintable():
        hint = "set it to the API key: one non-empty line of printable characters"
        raise SettingsError(f"{source} is not a valid API key", hint)
    return key


def _parse_key_kind(source: str, value: Any) -> str:
    known = get_args(KeyKind)
    if value not in known:  # not quoted, since the value may be a misplaced key
        raise SettingsError(f"{source} is not valid", hint=f"use one of {', '.join(known)}")
    return str(value)


def _parse_base_url(source: str, value: Any) -> str:
    parts = parse_http_url(value)
    if parts is None or parts.query or parts.fragment:
        hint = "use a URL such as https://api.example/v1, without a query"
        raise SettingsError(f"{source} is not a valid base URL", hint=hint)
    host, port = parts.hostname or "", parts.port
    if parts.username is not None or parts.password is not None:
        hint = "remove the user name, and set api_key to the API key"
        raise SettingsError(f"{source} contains a user name", hint=hint)
    if parts.scheme == "http" and not is_loopback(host):
        hint = "use https; http is allowed only for localhost"
        raise SettingsError(f"{source} uses http, which exposes the key on the network", hint)
    default_port = {"http": 80, "https": 443}[parts.scheme]
    shown_host = f"[{host}]" if ":" in host else host
    netloc = shown_host if port in (None, default_port) else f"{shown_host}:{port}"
    return f"{parts.scheme}://{netloc}{parts.path.rstrip('/')}"


def _parse_service_name(source: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise SettingsError(f"{source} is not valid: {safe_repr(value)}", "use a non-empty string")
    return value.strip()


def _parse_cache(source: str, value: Any) -> CacheChoice:
    word = value.lower() if isinstance(value, str) else ""
    if value is False or word in _FALSE:
        return False
    if word == "memory":
        return word
    is_path = isinstance(value, Path) or word.strip()
    if word in _TRUE or "://" in word or not (is_path or hasattr(value, "responses")):
        hint = 'use a path, "memory", False, or a requests-cache backend, such as RedisCache'
        raise SettingsError(f"{source} is not valid: {safe_repr(value)}", hint)
    return Path(value).expanduser() if is_path else value


def _parse_flag(source: str, value: Any) -> bool:
    if (text := str(value).lower()) not in _TRUE + _FALSE:
        raise SettingsError(f"{source} is not valid: {safe_repr(value)}", hint="use true or false")
    return text in _TRUE


def _parse_number(
    convert: type[int | float], minimum: float, maximum: float, source: str, value: Any
) -> float:
    try:
        number = convert(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not minimum <= number <= maximum or number != float(value):
        noun = "a whole number" if convert is int else "a number"
        hint = f"use {noun} from {minimum:.16g} to {maximum:.16g}"
        raise SettingsError(f"{source} is not valid: {safe_repr(value)}", hint)
    return number


class SettingsKwargsWithoutKeyKind(TypedDict, total=False):
    """The keyword arguments for all settings except `key_kind`. None means "not passed"."""

    api_key: str | ApiKey | None
    base_url: str | None
    public_base_url: str | None
    service: str | None
    cache: CacheChoice | None
    cache_max_bytes: int | None
    expire_after_s: float | None
    stale_if_error: bool | None
    workers: int | None
    requests_per_second: float | None
    retry_after_max_s: float | None
    batch_size: int | None
    timeout_s: float | None
    deadline_s: float | None


class SettingsKwargs(SettingsKwargsWithoutKeyKind, total=False):
    """The keyword arguments of `configure` and `Client`."""

    key_kind: KeyKind | None
    file: str | Path | None


def _field(parse: Callable[[str, Any], Any], default: Any = None) -> Any:
    return field(default=default, metadata={"parse": parse})


@dataclass(frozen=True, slots=True, init=False)
class Settings:
    """Settings for the service, the API key, the cache, the request rate and the time limits.

    All parameters are keyword-only. None means the value of the environment variable
    ``WALLETFRAME_<NAME>``. If it is not set, a settings file or the default value is used.

    Parameters
    ----------
    api_key : str, optional
        The API key. In a notebook, set the variable ``WALLETFRAME_API_KEY`` instead.
    key_kind : {"public", "private", "test"}, optional
        The kind of the API key. A ``"public"`` key is sent only to `public_base_url`, and a
        ``"private"`` key only to `base_url`. A ``"test"`` key is sent to `base_url` if this URL is
        set, and otherwise to `public_base_url`.
    base_url, public_base_url : str, optional
        The base URLs of the private and the public endpoint. Only localhost may use http.
    service : str, optional
        The name of the service in the cache and in ``wallets.service``, by default the base URL.
    cache : path, "memory", False, or a requests-cache backend, optional
        The storage of answers, by default a file in the user's cache folder. False disables the
        cache. Several machines can share a ``RedisCache`` with ``serializer="json"``.
    cache_max_bytes : int, default 1,000,000,000
        The maximum size of the cache file in bytes. Above it, the oldest answers are deleted.
    expire_after_s : float, default 3600
        The time in seconds after which a cached answer expires. With ``inf``, no answer expires.
    stale_if_error : bool, default True
        Whether to use an expired answer if a request fails. Then, ``source`` is ``stale``.
    workers : int, default 8
        The maximum number of concurrent requests.
    requests_per_second : float, optional
        The service's rate limit, if you know it. By default, walletframe discovers the rate limit,
        and keeps the rate of a test key below 2 requests per second.
    retry_after_max_s : float, default 60
        The longest pause in seconds that the service may request with a Retry-After header.
    batch_size : int, default 1
        The number of wallets in one request, up to 100. The service's documentation describes only
        requests for one wallet. If an answer lacks wallets, these are requested one by one.
    timeout_s : float, default 60
        The maximum total time of one request in seconds, including DNS lookup and connection.
    deadline_s : float, default 300
        The maximum time for one wallet in seconds, including retries. With 0, there are no retries.
    file : str or Path, optional
        The settings file to read, instead of ``walletframe.toml`` in the working folder and in the
        user's configuration folder. The environment variable ``WALLETFRAME_FILE`` has the same
        effect. A file in the working folder can only contain settings of tables and charts.
    **unknown
        Any other argument raises an error.

    Raises
    ------
    SettingsError
        If a name is unknown, a value is not valid, or the base URL for the key kind is not set.
        Also if a settings file can't be read or contains an API key, or if a file in the working
        folder contains other settings than those of tables and charts.

    Examples
    --------
    >>> Settings(api_key="secret", key_kind="private", base_url="https://api.example").endpoint
    'https://api.example'
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "team.toml")
    ...     _ = file.write_text("workers = 4")
    ...     Settings(file=file).workers
    4
    """

    api_key: ApiKey | None = _field(_parse_key)
    key_kind: KeyKind | None = _field(_parse_key_kind)
    base_url: str | None = _field(_parse_base_url)
    public_base_url: str | None = _field(_parse_base_url)
    service: str | None = _field(_parse_service_name)
    cache: CacheChoice = _field(_parse_cache)
    cache_max_bytes: int = _field(partial(_parse_number, int, 1_000_000, 10**15), 1_000_000_000)
    expire_after_s: float = _field(partial(_parse_number, float, 0, math.inf), 3600.0)
    stale_if_error: bool = _field(_parse_flag, default=True)
    workers: int = _field(partial(_parse_number, int, 1, 64), 8)
    requests_per_second: float | None = _field(partial(_parse_number, float, 0.001, 100_000))
    retry_after_max_s: float = _field(partial(_parse_number, float, 0, 86_400), 60.0)
    batch_size: int = _field(partial(_parse_number, int, 1, 100), 1)
    timeout_s: float = _field(partial(_parse_number, float, 0.001, 86_400), 60.0)
    deadline_s: float = _field(partial(_parse_number, float, 0, 864_000), 300.0)

    @strip_tracebacks
    def __init__(self, **arguments: Unpack[SettingsKwargs]) -> None:
        self._validate_and_set(arguments, read_files_and_environment(arguments.pop("file", None)))

    def _validate_and_set(self, arguments: Mapping[str, Any], entries: dict[str, Entry]) -> None:
        require_known_settings(arguments, self.__slots__)
        values = entries | {k: Entry(k, v) for k, v in arguments.items() if v is not None}
        for each in fields(self):
            entry = values.get(each.name, Entry(each.name, each.default))
            value = entry.value
            checked = value if value is None else each.metadata["parse"](entry.source, value)
            object.__setattr__(self, each.name, checked)
        needed = {"public": "public_base_url", "private": "base_url"}.get(self.key_kind or "")
        if needed and (self.base_url or self.public_base_url) and getattr(self, needed) is None:
            hint = f"set {needed}, or correct key_kind"
            raise SettingsError(f"key_kind is {self.key_kind!r}, but {needed} is not set", hint)
        for name in ("base_url", "public_base_url", "service", "cache"):
            if contains_key(getattr(self, name), self.api_key):
                hint = "set only api_key to the API key, since the other settings are shown"
                raise SettingsError(f"{name} contains the API key", hint)
        if self.service is None:
            object.__setattr__(self, "service", self.endpoint)

    @classmethod
    @strip_tracebacks
    def isolated(cls, **arguments: Unpack[SettingsKwargs]) -> Settings:
        """Return settings from arguments only, without the environment and the settings files.

        Parameters
        ----------
        **arguments
            The settings to set. All other settings have the default value.

        Returns
        -------
        Settings
            The new settings.

        Raises
        ------
        SettingsError
            In the same cases as `Settings`.

        Examples
        --------
        >>> Settings.isolated(workers=4).workers
        4
        """
        settings = object.__new__(cls)
        settings._validate_and_set(arguments, {})
        return settings

    @property
    def endpoint(self) -> str | None:
        """The base URL of all requests, or None if the settings don't determine the URL."""
        if self.key_kind == "public":
            return self.public_base_url
        if self.key_kind == "private":
            return self.base_url
        if self.key_kind == "test":
            return self.base_url or self.public_base_url
        return self.base_url if self.public_base_url is None else None

    @strip_tracebacks
    def replace(self, **overrides: Unpack[SettingsKwargs]) -> Settings:
        """Return a copy with some settings changed, without reading the environment again.

        Parameters
        ----------
        **overrides
            The settings to change. If `service` equals the base URL, it becomes the new base URL.

        Returns
        -------
        Settings
            The new settings.

        Raises
        ------
        SettingsError
            In the same cases as `Settings`.

        Examples
        --------
        >>> Settings(workers=2).replace(workers=4).workers
        4
        """
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        if self.service == self.endpoint:
            values["service"] = None
        values.update(overrides)
        return Settings.isolated(**values)


_optional = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY, default=None)
_unknown = inspect.Parameter("unknown", inspect.Parameter.VAR_KEYWORD)
# `Settings?` and completion show this signature. Type checkers read SettingsKwargs instead.
Settings.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # inspect looks for it
    [*map(_optional, (*Settings.__slots__, "file")), _unknown]
)


def read_files_and_environment(file: str | Path | None = None) -> dict[str, Entry]:
    """Return the settings in the files and in the environment, by name."""
    return read_sources(file, Settings.__slots__)


def add_env_key(settings: Settings) -> Settings:
    """Add the API key of the environment if its endpoint and key kind match the settings."""
    current = Settings()
    is_same_endpoint = current.endpoint in (None, settings.endpoint)
    if current.api_key and is_same_endpoint and current.key_kind in (None, settings.key_kind):
        return settings.replace(api_key=current.api_key)
    return settings


def default_cache_path() -> Path:
    """Return the path of the default cache file."""
    return user_cache_path("walletframe") / "answers.sqlite"


def require_settings(argument: object) -> None:
    """Raise an ArgumentError unless the argument is a `Settings` or None."""
    if not isinstance(argument, Settings | None):
        hint = "pass a walletframe.Settings, or single settings by name, such as key_kind=…"
        raise ArgumentError(f"settings of type {type(argument).__name__} are not supported", hint)


def endpoint_and_key(settings: Settings) -> tuple[str, ApiKey]:
    """Return the base URL and the API key. Raise an error if a needed setting is missing."""
    missing = [name for name in ("api_key", "key_kind") if not getattr(settings, name)]
    if settings.endpoint is None:
        missing.append("public_base_url" if settings.key_kind == "public" else "base_url")
    if missing or settings.endpoint is None or settings.api_key is None:
        names = ", ".join(f"{PREFIX}{name.upper()}" for name in missing)
        hint = f"set {names} in the environment{_OR_CONFIGURE}"
        verb = "is" if len(missing) == 1 else "are"
        raise SettingsError(f"{', '.join(missing)} {verb} not set", hint)
    return settings.endpoint, settings.api_key


def require_service(settings: Settings) -> str:
    """Return the service's name in the cache. Raise an error if the name is not set."""
    if settings.service is None:
        names = f"{PREFIX}BASE_URL, {PREFIX}KEY_KIND and {PREFIX}API_KEY"
        hint = f"set {names} in the environment{_OR_CONFIGURE}; to read only the cache, set service"
        raise SettingsError("base_url is not set", hint)
    return settings.service
