"""Settings: one frozen value, from arguments, then the environment, then defaults.

The environment is read when a `Settings` is made, not before; no file is read at all.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Never, Unpack

from walletframe.errors import Argument, SettingsError, Spelled
from walletframe.frameless import frameless
from walletframe.settings.key import RPC_URL_VARIABLE
from walletframe.settings.readers import SETTINGS, CacheChoice, KeyKind, holds_key, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from walletframe.settings.key import ApiKey
    from walletframe.settings.readers import SomeSettings
    from walletframe.settings.server import ServerUrl

PREFIX = "WALLETFRAME_"


@dataclass(frozen=True, slots=True, init=False)
class Settings:
    """How to reach the service, and how fast and how long to ask it.

    Each setting is taken from the argument, else from the environment variable
    ``WALLETFRAME_<NAME>``, else from its default. Keyword-only; None means "not given".

    Parameters
    ----------
    api_key : str, optional
        The caller's key. Better set as ``WALLETFRAME_API_KEY`` than written into a notebook.
    key_kind : {"public", "private", "test"}, optional
        The kind of the key. A public key goes only to `public_base_url`, a private key only to
        `base_url`; a test key goes to `base_url`, or to `public_base_url` where only that is set.
    base_url, public_base_url : str, optional
        The private and the public base address; https unless they are on this machine.
    service : str, optional
        The service's name, under which answers are cached. Default: the base address.
    cache : path, "memory", False, URL, or a requests-cache backend, optional
        Where answers are cached; False: nowhere; a URL: in a Redis or Valkey that several machines
        share, such as ``redis://:password@host:6379/0``, ``rediss://…`` or ``unix:///path``, whose
        login is as secret as the key. Default: a file in the user's cache folder.
    cache_max_bytes : int, default 1,000,000,000
        The largest size of the file, or of all answers in the Redis, in bytes; the oldest answers
        are evicted.
    expire_after_s : float, default 3600
        How long an answer is fresh, in seconds; ``inf`` means always.
    stale_if_error : bool, default True
        Whether to use a kept answer, marked ``stale``, if no new one can be had.
    pace : URL, optional
        A Redis or Valkey in which several machines share the request rate. Default: it is shared
        by all that use the same `cache`.
    processes : int, optional
        How many processes share the rate: each keeps to its part where the Redis is gone, or where
        nothing is shared, with ``cache="memory"`` or False and no `pace`. Default: those that were
        counted there, else one.
    workers : int, default 8
        The number of concurrent requests.
    requests_per_second : float, optional
        The request rate, if you know it; otherwise it is found out.
    retry_after_max_s : float, default 60
        The longest pause that the service may ask for, in seconds.
    batch_size : int, default 1
        Wallets in one request, up to 100, as repeated ``address=`` parameters. The service's
        document shows one alone; what a batch leaves unanswered is requested one by one.
    timeout_s : float, default 60
        The total time of one request in seconds, with name lookup, connection, proxy and TLS.
    deadline_s : float, default 300
        The total time for one wallet in seconds, with retries and waits; 0 means one attempt.
    **unknown
        Any other name is an error.

    Raises
    ------
    SettingsError
        For an unknown name, as argument or variable, with the nearest known one; for a value
        that can't be read; for a key kind without its base address; for http to another machine.

    Examples
    --------
    >>> Settings(api_key="secret", key_kind="private", base_url="https://api.example").endpoint
    'https://api.example'
    """

    api_key: ApiKey | None
    key_kind: KeyKind | None
    base_url: str | None
    public_base_url: str | None
    service: str | None
    cache: CacheChoice
    cache_max_bytes: int
    expire_after_s: float
    stale_if_error: bool
    pace: ServerUrl | None
    processes: int | None
    workers: int
    requests_per_second: float | None
    retry_after_max_s: float
    batch_size: int
    timeout_s: float
    deadline_s: float

    @frameless
    def __init__(  # noqa: PLR0913 - every setting is an argument
        self,
        *,
        api_key: str | ApiKey | None = None,
        key_kind: KeyKind | None = None,
        base_url: str | None = None,
        public_base_url: str | None = None,
        service: str | None = None,
        cache: CacheChoice | None = None,
        cache_max_bytes: int | None = None,
        expire_after_s: float | None = None,
        stale_if_error: bool | None = None,
        pace: str | ServerUrl | None = None,
        processes: int | None = None,
        workers: int | None = None,
        requests_per_second: float | None = None,
        retry_after_max_s: float | None = None,
        batch_size: int | None = None,
        timeout_s: float | None = None,
        deadline_s: float | None = None,
        **unknown: Never,
    ) -> None:
        given = {name: value for name, value in locals().items() if name in SETTINGS}
        _refuse_unknown(unknown, prefix="")
        self._fill(given, _environment())

    def _fill(self, given: Mapping[str, Any], environment: dict[str, tuple[str, Any]]) -> None:
        values = environment | {k: (k, v) for k, v in given.items() if v is not None}
        for field in fields(self):
            setting = SETTINGS[field.name]
            source, value = values.get(field.name, (field.name, setting.default))
            read = value if value is None else setting.read(source, value)
            object.__setattr__(self, field.name, read)
        _check(self)
        if self.service is None:
            object.__setattr__(self, "service", self.endpoint)

    @classmethod
    @frameless
    def isolated(cls, **given: Unpack[SomeSettings]) -> Settings:
        """Return settings into which nothing of the environment goes.

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
        _refuse_unknown(given, prefix="")
        settings = object.__new__(cls)
        settings._fill(given, {})
        return settings

    @property
    def endpoint(self) -> str | None:
        """The base address that the key belongs to.

        Returns
        -------
        str or None
            None where no key kind is set and the two addresses leave it open.
        """
        if self.key_kind == "public":
            return self.public_base_url
        if self.key_kind == "private":
            return self.base_url
        if self.key_kind == "test":
            return self.base_url or self.public_base_url
        return self.base_url if self.public_base_url is None else None

    @frameless
    def replace(self, **overrides: Unpack[SomeSettings]) -> Settings:
        """Return the same settings but for some; the environment is not read again.

        Parameters
        ----------
        **overrides
            Any of the settings; a service that was only named after its address follows it.

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
        kept: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.service == self.endpoint:
            kept["service"] = None
        kept.update(overrides)
        return Settings.isolated(**kept)


def _environment() -> dict[str, tuple[str, Any]]:
    """Return field name to (variable, text) for what the environment sets."""
    found = {
        variable.removeprefix(PREFIX): text
        for variable, text in os.environ.items()
        if variable.startswith(PREFIX) and variable != RPC_URL_VARIABLE
    }
    _refuse_unknown([name.lower() for name in found], prefix=PREFIX)
    return {name.lower(): (f"{PREFIX}{name}", text) for name, text in found.items() if text}


def _refuse_unknown(names: Iterable[str], *, prefix: str) -> None:
    for name in names:
        if name not in SETTINGS:
            near = difflib.get_close_matches(name, SETTINGS, n=1, cutoff=0.5)
            written = f"{prefix}{name.upper()}" if prefix else name
            known = [f"{prefix}{known.upper()}" if prefix else known for known in near or SETTINGS]
            lead = "did you mean " if near else "known settings: "
            is_word = name.replace("_", "").isalpha()  # a key, as a rule, has digits
            shown = repr(written) if is_word else f"by a name that is {quoted(name)}"
            raise SettingsError(f"unknown setting {shown}", hint=lead + ", ".join(known))


def _check(settings: Settings) -> None:
    """Refuse a key without its base address, and the key in what is displayed."""
    needed = {"public": "public_base_url", "private": "base_url"}.get(settings.key_kind or "")
    any_base = settings.base_url or settings.public_base_url
    if needed and any_base and getattr(settings, needed) is None:
        raise SettingsError(
            f"a {settings.key_kind} key belongs to {needed}, which is not set",
            hint=Spelled("set ", Argument(needed, ""), ", or correct ", Argument("key_kind", "")),
        )
    for name in ("base_url", "public_base_url", "service", "cache", "pace"):
        if settings.api_key and holds_key(getattr(settings, name), settings.api_key):
            alone = (Argument("api_key", ""), " alone: this setting is displayed")
            raise SettingsError(f"{name}: contains the key", Spelled("the key goes into ", *alone))
