"""A process and a pool of its children fetch at once, each through its default client.

Run with the way to start children, and the address of a silent server for a child to wait for; it
prints the wallets' statuses. The settings come from the environment.
"""

import json
import multiprocessing
import sys
from collections import Counter

from walletframe import Client, fetch_wallets

CHILDREN = 2
ROUNDS = 2
WALLETS = 25
OWN = range(1000, 1001 + ROUNDS)
THEIRS = range(ROUNDS * CHILDREN)
clients = {}


def wallets_of(number):
    """Return the wallets of a round, which no other round has."""
    return [f"ETH.0x{number:08x}{each:032x}" for each in range(WALLETS)]


def fetch(number):
    """Fetch the wallets of a round."""
    details = fetch_wallets(wallets_of(number), progress=False, on_failure="ignore")
    return details.wallets.status.tolist()


def wait_in_vain(url):
    """Fetch a wallet whose answer never ends, by the client that a fork copies."""
    if url not in clients:
        clients[url] = Client(base_url=url, timeout_s=0.5, deadline_s=0, cache="memory")
    return clients[url].fetch(f"ETH.0x{1:040x}", on_failure="ignore").wallets.status.tolist()


def main(method, silent_url):
    """Fetch in both, while the parent's connections are open; print the statuses."""
    first, *more = OWN
    own = fetch(first)
    wait_in_vain(silent_url)
    with multiprocessing.get_context(method).Pool(CHILDREN) as pool:
        theirs = pool.map_async(fetch, THEIRS, chunksize=1)
        for number in more:
            own += fetch(number)
        theirs = [each for statuses in theirs.get() for each in statuses]
        waited = pool.apply(wait_in_vain, [silent_url])
        pool.close()
        pool.join()  # not killed, so that their coverage is written
    print(json.dumps([Counter(own), Counter(theirs), waited]))  # noqa: T201 - the test reads it


if __name__ == "__main__":
    main(*sys.argv[1:])
