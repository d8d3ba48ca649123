"""The frozen `Settings`: from arguments, else the environment, else defaults.

The environment is read when a `Settings` is made, not before; no file is read.
"""

from __future__ import annotations

import difflib
import inspect
import math
import os
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, get_args
from urllib.parse import unquote, unquote_plus

from platformdirs import user_cache_path

from walletframe.errors import ArgumentError, SettingsError
from walletframe.frameless import frameless
from walletframe.settings.key import RPC_URL_VARIABLE, ApiKey, is_loopback, url_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

KeyKind: TypeAlias = Literal["public", "private", "test"]
CacheChoice: TypeAlias = str | Path | Literal[False] | object

PREFIX = "WALLETFRAME_"
_MIN_KEY_LENGTH = 8  # shorter text is shown in messages
_TRUE = ("true", "1", "yes", "on")
_FALSE = ("false", "0", "no", "off")
_OR_CONFIGURE = (
    ", or call walletframe.configure(…); try it without a key on simulated data: "
    "walletframe.sandbox(), in a shell walletframe demo"
)


def quoted(value: Any) -> str:
    """Return the repr of a value for a message, or a description if it may be a key."""
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if not isinstance(value, str):
        return f"a {type(value).__name__}"
    if len(value.strip()) < _MIN_KEY_LENGTH:
        return repr(value)
    return f"a text of {len(value)} characters (not shown: it may be secret)"


def _contains_key(value: Any, key: ApiKey | None) -> bool:
    """Return whether a text or path contains the key, in any case or URL encoding.

    A short key can be part of an ordinary word, so that it has to be the whole value.
    """
    if not key or not isinstance(value, str | Path):
        return False
    secret, text = key.reveal().casefold(), str(value)
    texts = [each.casefold() for each in (text, unquote(text), unquote_plus(text))]
    return secret in (texts if len(secret) < _MIN_KEY_LENGTH else "\n".join(texts))


def _read_key(source: str, value: Any) -> ApiKey:
    key = ApiKey(value.strip()) if isinstance(value, str) and value.strip() else value
    text: object = key.reveal() if isinstance(key, ApiKey) else None
    if not isinstance(text, str) or not text.isprintable():
        raise SettingsError(f"{source} is not a key", hint="a key is one line of visible text")
    return key


def _read_kind(source: str, value: Any) -> str:
    known = get_args(KeyKind)
    if value not in known:  # not quoted: it may be the key, in the wrong setting
        raise SettingsError(f"{source} is not a kind of key", hint=f"use one of {', '.join(known)}")
    return str(value)


def _read_url(source: str, value: Any) -> str:
    parts = url_parts(value)
    if parts is None or parts.query or parts.fragment:
        hint = "use an address such as https://api.example/v1, without a query"
        raise SettingsError(f"{source} is not a base address", hint=hint)
    host, port = parts.hostname or "", parts.port
    if parts.username is not None or parts.password is not None:
        hint = "remove it; the key goes into api_key"
        raise SettingsError(f"{source} contains a user name", hint=hint)
    if parts.scheme == "http" and not is_loopback(host):
        raise SettingsError(
            f"{source} uses http, which exposes the key to everyone on the network",
            hint="use https; http is only for this machine",
        )
    default_port = {"http": 80, "https": 443}[parts.scheme]
    shown_host = f"[{host}]" if ":" in host else host
    netloc = shown_host if port in (None, default_port) else f"{shown_host}:{port}"
    return f"{parts.scheme}://{netloc}{parts.path.rstrip('/')}"


def _read_name(source: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise SettingsError(f"{source} can't be {quoted(value)}", hint="use a name, as text")
    return value.strip()


def _read_cache(source: str, value: Any) -> CacheChoice:
    word = value.lower() if isinstance(value, str) else ""
    if value is False or word in _FALSE:
        return False
    if word == "memory":
        return word
    is_path = isinstance(value, Path) or word.strip()
    if word in _TRUE or "://" in word or not (is_path or hasattr(value, "responses")):
        raise SettingsError(
            f"{source} can't be {quoted(value)}",
            hint='use a path, "memory", False, or a requests-cache backend, such as RedisCache',
        )
    return Path(value).expanduser() if is_path else value


def _read_flag(source: str, value: Any) -> bool:
    text = str(value).lower()
    if text not in _TRUE + _FALSE:
        raise SettingsError(f"{source} can't be {quoted(value)}", hint="use true or false")
    return text in _TRUE


def _read_number(
    kind: Callable[[Any], float], low: float, high: float, source: str, value: Any
) -> float:
    try:
        number = kind(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not low <= number <= high or number != float(value):
        raise SettingsError(
            f"{source} can't be {quoted(value)}",
            hint=f"use a number from {low:g} to {high:g}, in plain digits",
        )
    return number


class SettingsKwargsWithoutKind(TypedDict, total=False):
    """The settings as keyword arguments, without `key_kind`; None means "not given"."""

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


class SettingsKwargs(SettingsKwargsWithoutKind, total=False):
    """The settings as keyword arguments of `configure` and `Client`."""

    key_kind: KeyKind | None


def _setting(read: Callable[[str, Any], Any], default: Any = None) -> Any:
    """Return a field with a default, and a function that checks (source, value)."""
    return field(default=default, metadata={"read": read})


@dataclass(frozen=True, slots=True, init=False)
class Settings:
    """The service, the key, the cache, the request rate and the time limits.

    Each setting is taken from the argument, else from the environment variable
    ``WALLETFRAME_<NAME>``, else from its default. Keyword-only; None means "not given".

    Parameters
    ----------
    api_key : str, optional
        Your key. Set it as ``WALLETFRAME_API_KEY`` rather than in a notebook.
    key_kind : {"public", "private", "test"}, optional
        The kind of the key. A public key goes only to `public_base_url`, a private key only to
        `base_url`; a test key goes to `base_url`, or to `public_base_url` if only that is set.
    base_url, public_base_url : str, optional
        The private and the public base address; https unless they are on this machine.
    service : str, optional
        The service's name, under which answers are cached. Default: the base address.
    cache : path, "memory", False, or a requests-cache backend, optional
        The place where answers are cached; False disables the cache. Several machines can share a
        ``RedisCache`` with ``serializer="json"``. Default: a file in the user's cache folder.
    cache_max_bytes : int, default 1,000,000,000
        The largest size of the file in bytes; the oldest answers are evicted.
    expire_after_s : float, default 3600
        The time in seconds for which an answer is fresh; ``inf`` means always.
    stale_if_error : bool, default True
        Whether to use an expired answer, marked ``stale``, if the service can't give a new one.
    workers : int, default 8
        The number of concurrent requests.
    requests_per_second : float, optional
        The request rate, if you know it. Otherwise walletframe discovers the rate limit, and stays
        below 2 with a test key.
    retry_after_max_s : float, default 60
        The longest pause that the service may ask for, in seconds.
    batch_size : int, default 1
        Wallets in one request, up to 100, as repeated ``address=`` parameters. The service's
        document shows only single ones; wallets that a batch leaves out are requested one by one.
    timeout_s : float, default 60
        The total time of one request in seconds, with name lookup, connection, proxy and TLS.
    deadline_s : float, default 300
        The total time for one wallet in seconds, with retries and waits; 0 means one attempt.
    **unknown
        Any other name is an error.

    Raises
    ------
    SettingsError
        If an argument or a variable has an unknown name (the nearest one is suggested), a value
        can't be used, a key kind has no base address, or http would go to another machine.

    Examples
    --------
    >>> Settings(api_key="secret", key_kind="private", base_url="https://api.example").endpoint
    'https://api.example'
    """

    api_key: ApiKey | None = _setting(_read_key)
    key_kind: KeyKind | None = _setting(_read_kind)
    base_url: str | None = _setting(_read_url)
    public_base_url: str | None = _setting(_read_url)
    service: str | None = _setting(_read_name)
    cache: CacheChoice = _setting(_read_cache)
    cache_max_bytes: int = _setting(partial(_read_number, int, 1_000_000, 10**15), 1_000_000_000)
    expire_after_s: float = _setting(partial(_read_number, float, 0, math.inf), 3600.0)
    stale_if_error: bool = _setting(_read_flag, default=True)
    workers: int = _setting(partial(_read_number, int, 1, 64), 8)
    requests_per_second: float | None = _setting(partial(_read_number, float, 0.001, 100_000))
    retry_after_max_s: float = _setting(partial(_read_number, float, 0, 86_400), 60.0)
    batch_size: int = _setting(partial(_read_number, int, 1, 100), 1)
    timeout_s: float = _setting(partial(_read_number, float, 0.001, 86_400), 60.0)
    deadline_s: float = _setting(partial(_read_number, float, 0, 864_000), 300.0)

    @frameless
    def __init__(self, **given: Unpack[SettingsKwargs]) -> None:
        variables = {
            variable.removeprefix(PREFIX): text
            for variable, text in os.environ.items()
            if variable.startswith(PREFIX) and variable != RPC_URL_VARIABLE
        }
        _refuse_unknown([name.lower() for name in variables], prefix=PREFIX)
        self._fill(given, {k.lower(): (PREFIX + k, text) for k, text in variables.items() if text})

    def _fill(self, given: Mapping[str, Any], environment: dict[str, tuple[str, Any]]) -> None:
        """Read all settings; refuse a key without base address, or in a displayed setting."""
        _refuse_unknown(given, prefix="")
        values = environment | {k: (k, v) for k, v in given.items() if v is not None}
        for each in fields(self):
            source, value = values.get(each.name, (each.name, each.default))
            checked = value if value is None else each.metadata["read"](source, value)
            object.__setattr__(self, each.name, checked)
        needed = {"public": "public_base_url", "private": "base_url"}.get(self.key_kind or "")
        any_base = self.base_url or self.public_base_url
        if needed and any_base and getattr(self, needed) is None:
            raise SettingsError(
                f"a {self.key_kind} key belongs to {needed}, which is not set",
                hint=f"set {needed}, or correct key_kind",
            )
        for name in ("base_url", "public_base_url", "service", "cache"):
            if _contains_key(getattr(self, name), self.api_key):
                hint = "the key goes only into api_key: this setting is displayed"
                raise SettingsError(f"{name} contains the key", hint)
        if self.service is None:
            object.__setattr__(self, "service", self.endpoint)

    @classmethod
    @frameless
    def isolated(cls, **given: Unpack[SettingsKwargs]) -> Settings:
        """Return settings that ignore the environment.

        Parameters
        ----------
        **given
            Any of the settings; the others have their defaults.

        Returns
        -------
        Settings
            A new value.

        Raises
        ------
        SettingsError
            As for `Settings`.

        Examples
        --------
        >>> Settings.isolated(workers=4).workers
        4
        """
        settings = object.__new__(cls)
        settings._fill(given, {})
        return settings

    @property
    def endpoint(self) -> str | None:
        """The base address for the kind of the key.

        Returns
        -------
        str or None
            None if it is not set, or if `public_base_url` is set and `key_kind` is not.
        """
        if self.key_kind == "public":
            return self.public_base_url
        if self.key_kind == "private":
            return self.base_url
        if self.key_kind == "test":
            return self.base_url or self.public_base_url
        return self.base_url if self.public_base_url is None else None

    @frameless
    def replace(self, **overrides: Unpack[SettingsKwargs]) -> Settings:
        """Return a copy with some settings changed; the environment is not read again.

        Parameters
        ----------
        **overrides
            Any of the settings. A service that is named after the base address is renamed with it.

        Returns
        -------
        Settings
            A new value.

        Raises
        ------
        SettingsError
            As for `Settings`.

        Examples
        --------
        >>> Settings(workers=2).replace(workers=4).workers
        4
        """
        values: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        if self.service == self.endpoint:
            values["service"] = None
        values.update(overrides)
        return Settings.isolated(**values)


# The signature for `Settings?` and completion; type checkers read SettingsKwargs.
Settings.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        *(
            inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=None)
            for each in fields(Settings)
        ),
        inspect.Parameter("unknown", inspect.Parameter.VAR_KEYWORD),
    ]
)


def _refuse_unknown(names: Iterable[str], *, prefix: str) -> None:
    settings = [each.name for each in fields(Settings)]
    for name in names:
        if name not in settings:
            close = difflib.get_close_matches(name, settings, n=1, cutoff=0.5)
            written = f"{prefix}{name.upper()}" if prefix else name
            known = [f"{prefix}{known.upper()}" if prefix else known for known in close or settings]
            hint = f"did you mean {known[0]}?" if close else f"use one of {', '.join(known)}"
            is_word = name.replace("_", "").isalpha()  # a key usually has digits
            shown = repr(written) if is_word else f"with a name that is {quoted(name)}"
            raise SettingsError(f"there is no setting {shown}", hint=hint)


def with_own_key(settings: Settings) -> Settings:
    """Return another process's settings with the key from this process's environment.

    The settings stay without a key if the environment has none, or names another base address or
    key kind: a key is never sent to a foreign address.
    """
    own = Settings()
    is_same_address = own.endpoint in (None, settings.endpoint)
    if own.api_key and is_same_address and own.key_kind in (None, settings.key_kind):
        return settings.replace(api_key=own.api_key)
    return settings


def default_cache() -> Path:
    """Return the path of the default cache file."""
    return user_cache_path("walletframe") / "answers.sqlite"


def require_settings(settings: object) -> None:
    """Refuse a value other than `Settings` or None, without quoting it: it may be the key."""
    if not isinstance(settings, Settings | None):
        hint = "give a walletframe.Settings, or settings by their names, such as key_kind=…"
        raise ArgumentError(f"settings is of type {type(settings).__name__}, not Settings", hint)


def require_endpoint(settings: Settings) -> tuple[str, ApiKey]:
    """Return the base address and its key, or raise an error that names the missing settings."""
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
    """Return the name under which answers are cached, or raise an error if there is none."""
    if settings.service is None:
        names = f"{PREFIX}BASE_URL, {PREFIX}KEY_KIND and {PREFIX}API_KEY"
        hint = f"set {names} in the environment{_OR_CONFIGURE}"
        raise SettingsError("base_url is not set (to read only the cache, set service)", hint)
    return settings.service
