"""The engine: wallets in, `WalletDetails` out.

The order of operations:

1. `address` reads the wallets, and refuses what is none before anything is asked;
2. the store is looked into once, and `plan` decides for each wallet whether to ask (pure);
3. `send` asks, several wallets at a time, by `ask`: paced, and again where that may help;
4. `collect` takes what arrives, `records` turns each into a record (pure), what is ok is kept;
   `flow` does so for more wallets than memory holds, and keeps nothing;
5. `frames` builds the two DataFrames;
6. `conclusion` warns of, or raises for, what is not ok.

`engine` has the `Client` that does this, by a thread of its own (`job`); `default` the one client
that `fetch_wallets` uses where none is given.
"""

from walletframe.client.conclusion import check_on_failure, with_reasons
from walletframe.client.default import configure, default_client, fetch_wallets, require_client
from walletframe.client.engine import Client, OnFailure
from walletframe.client.flow import Flow
from walletframe.client.job import Job, OpenProgress, Progress, counted

__all__ = [
    "Client",
    "Flow",
    "Job",
    "OnFailure",
    "OpenProgress",
    "Progress",
    "check_on_failure",
    "configure",
    "counted",
    "default_client",
    "fetch_wallets",
    "require_client",
    "with_reasons",
]
