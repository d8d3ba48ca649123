"""Settings: how to reach the service, and how to treat it."""

from walletframe.settings.key import ApiKey
from walletframe.settings.needs import require_endpoint, require_service
from walletframe.settings.readers import CacheChoice, KeyKind
from walletframe.settings.values import PREFIX, Settings

__all__ = [
    "PREFIX",
    "ApiKey",
    "CacheChoice",
    "KeyKind",
    "Settings",
    "require_endpoint",
    "require_service",
]
