"""A real HTTP server that sends a test's replies, and answers in the service's format."""

import json
import time
from collections import deque
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from addresses import A

from walletframe.client import Client

KEY = "a-key-of-nobody-1"


def balance(amount="1500000", decimals=6, **asset):
    """Return one balance as the service sends it."""
    token = {"blockchain": "ETH", "address": "0xToken", "symbol": "TKN"} | asset
    return {"asset": token, "amount": {"amount": amount, "decimals": decimals}}


def wallet(address=A, blockchain="ETH", **fields):
    """Return one wallet of an answer as the service sends it."""
    return {
        "failed": False,
        "blockChain": blockchain,
        "address": address,
        "balances": [balance()],
        "explorerUrl": f"https://explorer.example/{address}",
    } | fields


def answer(*wallets):
    """Return the whole answer, as bytes."""
    return json.dumps({"wallets": list(wallets)}).encode()


class Canned(ThreadingHTTPServer):
    """A real server that sends a test's replies, and records its requests."""

    daemon_threads = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), _Handler)
        self.replies = deque()
        self.paths = []
        self.headers_seen = []
        self.default = (200, {}, answer())

    @property
    def base_url(self):
        """The base URL of the server."""
        return f"http://127.0.0.1:{self.server_port}"

    def add_reply(self, body, status=200, **headers):
        """Queue the reply to a later request. A body that is a list of pieces is sent slowly."""
        self.replies.append((status, headers, body))

    def client(self, **settings):
        """Return a client of this server."""
        own = {
            "api_key": KEY,
            "key_kind": "private",
            "base_url": self.base_url,
            "cache": "memory",
            "deadline_s": 0,
        }
        return Client(**own | settings)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        """Send the next canned reply."""
        server = self.server
        server.paths.append(self.path)
        server.headers_seen.append(dict(self.headers))
        status, headers, body = server.replies.popleft() if server.replies else server.default
        self.send_response(status)
        pieces = [body] if isinstance(body, bytes) else body
        for name, value in ({"Content-Length": str(sum(map(len, pieces)))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        with suppress(ConnectionError):  # clients close connections that they no longer need
            self.end_headers()
            for number, piece in enumerate(pieces):
                time.sleep(0.1 if number else 0)
                self.wfile.write(piece)
            return
        self.close_connection = True

    def log_message(self, *args):
        """Log nothing."""
