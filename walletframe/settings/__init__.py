"""The settings: how to reach the service, and how fast and how long to ask it."""

from walletframe.settings.key import (
    ApiKey,
    NodeUrl,
    Secret,
    is_this_machine,
    login_of,
    require_node,
    secret_pieces,
)
from walletframe.settings.needs import (
    require_endpoint,
    require_service,
    require_settings,
    with_own_key,
)
from walletframe.settings.readers import CacheChoice, KeyKind, OtherSettings, SomeSettings, quoted
from walletframe.settings.server import ServerUrl
from walletframe.settings.values import PREFIX, Settings

__all__ = [
    "PREFIX",
    "ApiKey",
    "CacheChoice",
    "KeyKind",
    "NodeUrl",
    "OtherSettings",
    "Secret",
    "ServerUrl",
    "Settings",
    "SomeSettings",
    "is_this_machine",
    "login_of",
    "quoted",
    "require_endpoint",
    "require_node",
    "require_service",
    "require_settings",
    "secret_pieces",
    "with_own_key",
]
