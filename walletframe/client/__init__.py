"""The engine: wallets in, `WalletDetails` out: plan, send, collect."""

from walletframe.client.default import configure, default_client, fetch_wallets, require_client
from walletframe.client.engine import Client

__all__ = ["Client", "configure", "default_client", "fetch_wallets", "require_client"]
