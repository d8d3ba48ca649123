"""The settings that a request or the cache needs, and the errors if they are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.errors import ArgumentError, Either, SettingsError, Spelled
from walletframe.settings.values import PREFIX, Settings

if TYPE_CHECKING:
    from walletframe.settings.key import ApiKey

_OTHERWISE = Spelled(
    Either(", or call walletframe.configure(…)"),
    "; try it without a key on simulated data: ",
    Either("walletframe.sandbox(), in a shell walletframe demo", "walletframe demo"),
)


def require_settings(given: object) -> None:
    """Refuse what is neither `Settings` nor None, without quoting it: it may be the key."""
    if not isinstance(given, Settings | None):
        raise ArgumentError(
            f"settings is of type {type(given).__name__}, not Settings",
            hint="give a walletframe.Settings, or settings by their names, such as key_kind=…",
        )


def require_endpoint(settings: Settings) -> tuple[str, ApiKey]:
    """Return the base address and the key that belongs to it, or say what is missing."""
    missing = [name for name in ("api_key", "key_kind") if not getattr(settings, name)]
    if settings.endpoint is None:
        missing.append("public_base_url" if settings.key_kind == "public" else "base_url")
    if missing or settings.endpoint is None or settings.api_key is None:
        names = ", ".join(f"{PREFIX}{name.upper()}" for name in missing)
        raise SettingsError(
            f"not set: {', '.join(missing)}",
            hint=Spelled(f"set {names} in the environment", _OTHERWISE),
        )
    return settings.endpoint, settings.api_key


def require_service(settings: Settings) -> str:
    """Return the name under which answers are cached, or say what is missing."""
    if settings.service is None:
        raise SettingsError(
            "not set: base_url (or service, to read the cache alone)",
            hint=Spelled(
                f"set {PREFIX}BASE_URL, {PREFIX}KEY_KIND and {PREFIX}API_KEY in the environment",
                _OTHERWISE,
            ),
        )
    return settings.service
