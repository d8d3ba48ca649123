"""The engine: wallets in, `WalletDetails` out: plan, send, collect."""

from walletframe.client.default import configure, fetch_wallets
from walletframe.client.engine import Client

__all__ = ["Client", "configure", "fetch_wallets"]
