"""Settings: how to reach the service, and how to treat it."""

from walletframe.settings.key import ApiKey, Secret
from walletframe.settings.needs import require_endpoint, require_service, settings_fault
from walletframe.settings.node_url import NodeUrl, require_node, secret_pieces
from walletframe.settings.readers import CacheChoice, KeyKind, conceal
from walletframe.settings.values import PREFIX, Settings

__all__ = [
    "PREFIX",
    "ApiKey",
    "CacheChoice",
    "KeyKind",
    "NodeUrl",
    "Secret",
    "Settings",
    "conceal",
    "require_endpoint",
    "require_node",
    "require_service",
    "secret_pieces",
    "settings_fault",
]
