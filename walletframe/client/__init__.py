"""The engine: wallets in, `WalletDetails` out.

The order of operations:

1. `default`: `fetch_wallets` calls `Client.fetch` of the given client, or of the default one;
2. `engine`: the client reads the wallets, and raises for unreadable ones before any request; then
   it works on a separate thread (`job`), so that an interrupt leaves nothing half done;
3. `stream`: portion by portion, fresh answers come from the cache, other wallets are requested;
4. `asking`: threads send requests, at the permitted rate, and retry those that may succeed;
5. `engine`: it caches answers that are ok, and `frames` builds the two DataFrames from the records;
6. `conclusion`: it warns or raises if wallets are not ok.

After a 429, `transport`'s `Session.send` reads how long the service wants a pause,
`RateLimiter.note_refusal` lowers the rate (`rate.slow_down`), and `Sender._request` retries.

A fetch of more wallets than fit in memory (`bulk`) reads the same stream.
"""

from walletframe.client.conclusion import check_on_failure, with_reasons
from walletframe.client.default import configure, default_client, fetch_wallets, require_client
from walletframe.client.engine import Client, OnFailure
from walletframe.client.job import Job, OpenProgress, Progress, progress_display, status_counter
from walletframe.client.stream import Policy, Stream, WalletResult
