"""The client, which fetches wallets and returns `WalletDetails`.

The steps of a fetch, by module:

1. `default`: `fetch_wallets` calls `Client.fetch` of the given client or of the default client.
2. `engine`: the client parses the wallets. Unreadable wallets raise an error before any request.
   Then the client fetches on a separate thread (`job`), which an interrupt does not stop midway.
3. `stream`: for each chunk, the stream reads fresh answers from the cache, and requests the rest.
4. `workers`: threads send the requests at the permitted rate, and retry failed requests.
5. `engine`: the client caches answers that are ok, and `frames` builds the two DataFrames.
6. `problems`: a warning or an error reports wallets that are not ok.

After the status 429, `ServiceSession.send` reads the requested pause from the header. Then
`RateLimiter.note_refusal` lowers the rate, and the worker threads retry.

The package `bulk` fetches more wallets than fit in memory, and uses the same stream.
"""

from walletframe.client.default import configure, default_client, fetch_wallets, require_client
from walletframe.client.engine import Client, OnFailure
from walletframe.client.job import BulkProgress, Job, Progress, progress_display, status_counter
from walletframe.client.problems import append_reasons, check_on_failure
from walletframe.client.stream import CachePolicy, ResultStream, WalletResult
