"""The engine: wallets in, `WalletDetails` out.

The order of operations:

1. `default`: `fetch_wallets` calls `Client.fetch` of the given client, or of the default one;
2. `engine`: the client reads the wallets, and refuses what is none before anything is asked; then
   it works on a thread of its own (`job`), so that an interrupt finds nothing half done;
3. `plan`: the store is looked into once, and each wallet is asked for, or taken from there (pure);
4. `send`: requests go out, several at a time, by `ask`: paced, and again where that may help;
5. `collect`: what arrives becomes records (by `plan`, pure), and what is ok is kept;
6. `frames` builds the two DataFrames;
7. `conclusion`: it warns of, or raises for, what is not ok.

A `Flow`, for more wallets than memory holds, goes the same way, keeps nothing and builds no frames.
"""

from walletframe.client.collect import Flow
from walletframe.client.conclusion import check_on_failure, with_reasons
from walletframe.client.default import configure, default_client, fetch_wallets, require_client
from walletframe.client.engine import Client, OnFailure
from walletframe.client.job import Draw, Job, OpenProgress, Progress, counted, drawn

__all__ = [
    "Client",
    "Draw",
    "Flow",
    "Job",
    "OnFailure",
    "OpenProgress",
    "Progress",
    "check_on_failure",
    "configure",
    "counted",
    "default_client",
    "drawn",
    "fetch_wallets",
    "require_client",
    "with_reasons",
]
