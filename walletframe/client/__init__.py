"""The engine: wallets in, `WalletDetails` out.

The order of operations:

1. `default`: `fetch_wallets` calls `Client.fetch` of the given client, or of the default one;
2. `engine`: the client reads the wallets, and refuses what is none before anything is asked; then
   it works on a thread of its own (`job`), so that an interrupt finds nothing half done;
3. `stream`: portion by portion, what is fresh comes from the store, the rest is asked for;
4. `asking`: requests go out, several at a time: paced, and again where that may help;
5. `engine`: what is ok is kept, and `frames` builds the two DataFrames of the records;
6. `conclusion`: it warns of, or raises for, what is not ok.

After a 429, `transport`'s `Session.ask` reads how long the service wants to be left alone,
`Pacer.note_refusal` slows the pace of the key down (`pace.refused`), and `Asking._ask` asks again.

A fetch of more wallets than memory holds (`bulk`) reads the same stream.
"""

from walletframe.client.conclusion import check_on_failure, with_reasons
from walletframe.client.default import configure, default_client, fetch_wallets, require_client
from walletframe.client.engine import Client, OnFailure
from walletframe.client.job import Job, OpenProgress, Progress, counted, shown
from walletframe.client.stream import Policy, Settled, Stream
