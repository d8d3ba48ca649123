"""The fast server in a separate process, and commands to the server."""

import json
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from urllib.request import urlopen

import fast_server
from canned_service import KEY

from walletframe.client import Client


def wallet_address(number, *, failing=False):
    """Return a wallet, written as in a request."""
    return f"ETH.0x{number:036x}{'dead' if failing else 'cafe'}"


class FastService:
    """A connection to the server for tests."""

    def __init__(self, port):
        self.base_url = f"http://127.0.0.1:{port}"

    def request_counts(self):
        """Return how often each address was requested."""
        with urlopen(f"{self.base_url}/asked") as answer:  # noqa: S310 - the server's own address
            return Counter(json.load(answer))

    def times(self):
        """Return the time of each request, by ``time.time()``."""
        with urlopen(f"{self.base_url}/times") as answer:  # noqa: S310 - the server's own address
            return json.load(answer)

    def heal(self):
        """Stop the failures of wallets."""
        self._send("heal")

    def forget(self):
        """Reset the counts and times, and fail again."""
        self._send("forget")

    def client(self, **settings):
        """Return a client of this server without a rate limit."""
        own = {"api_key": KEY, "key_kind": "private", "base_url": self.base_url, "cache": False}
        return Client(**own | {"requests_per_second": 100_000, "workers": 4} | settings)

    def _send(self, word):
        with urlopen(f"{self.base_url}/{word}") as answer:  # noqa: S310 - the server's own address
            answer.read()


@contextmanager
def fast_service(*, tokens=100, latency_s=0.0):
    """Run the server."""
    words = [sys.executable, fast_server.__file__, str(tokens), str(latency_s)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield FastService(int(process.stdout.readline()))
        finally:
            process.kill()
