"""What settings need before the service is asked: an address, the key for it, a name."""

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


def with_own_key(settings: Settings) -> Settings:
    """Give settings of another process the key of this one's environment.

    The environment may name no other address, nor another kind, than theirs: a key goes nowhere
    else. Without such a key they stay as they are.
    """
    own = Settings()
    is_theirs = own.endpoint in (None, settings.endpoint)
    if own.api_key and is_theirs and own.key_kind in (None, settings.key_kind):
        return settings.replace(api_key=own.api_key)
    return settings


def require_settings(given: object) -> None:
    """Refuse what is neither `Settings` nor None, without quoting it: it may be the key."""
    if not isinstance(given, Settings | None):
        hint = "give a walletframe.Settings, or settings by their names, such as key_kind=…"
        raise ArgumentError(
            f"settings is of type {type(given).__name__}, not Settings", Spelled(Either(hint))
        )


def require_endpoint(settings: Settings) -> tuple[str, ApiKey]:
    """Return the base address and the key that belongs to it, or say what is missing."""
    missing = [name for name in ("api_key", "key_kind") if not getattr(settings, name)]
    if settings.endpoint is None:
        missing.append("public_base_url" if settings.key_kind == "public" else "base_url")
    if missing or settings.endpoint is None or settings.api_key is None:
        names = ", ".join(f"{PREFIX}{name.upper()}" for name in missing)
        hint = Spelled(f"set {names} in the environment", _OTHERWISE)
        raise SettingsError(f"not set: {', '.join(missing)}", hint)
    return settings.endpoint, settings.api_key


def require_service(settings: Settings) -> str:
    """Return the name under which answers are cached, or say what is missing."""
    if settings.service is None:
        names = f"{PREFIX}BASE_URL, {PREFIX}KEY_KIND and {PREFIX}API_KEY"
        hint = Spelled(f"set {names} in the environment", _OTHERWISE)
        raise SettingsError("not set: base_url (or service, to read the cache alone)", hint)
    return settings.service
