"""A bare server, fast enough for bulk runs, that counts its requests.

It supports only a small part of HTTP. Each wallet holds many tokens. A wallet whose address ends in
``dead`` fails until the server is healed. A request for an address that ends in ``beef`` gets a
404. The arguments are the number of tokens and the latency in seconds. The server prints its port.
"""

import asyncio
import json
import random
import re
import sys
import time
from collections import Counter

VARIETY = 2_000
ADDRESS = re.compile(rb"address=(\w+)\.(\w+)")
REFUSED = re.compile(rb"address=\w+\.\w+beef\b")


def balances(rng, tokens):
    """Return the balances of one wallet, as JSON."""
    sent = [
        {
            "asset": {"blockchain": "ETH", "address": f"0x{number:040x}", "symbol": f"TK{number}"},
            "amount": {"amount": str(rng.randrange(10**24)), "decimals": 18},
        }
        for number in rng.sample(range(50 * tokens), tokens)
    ]
    return json.dumps(sent).encode()


class Server:
    """A server of made-up wallets."""

    def __init__(self, tokens, latency_s):
        rng = random.Random(20_260_102)  # noqa: S311 - made-up data, no secrets
        self.bodies = [balances(rng, tokens) for _ in range(VARIETY)]
        self.latency_s = latency_s
        self.counts = Counter()
        self.times = []
        self.is_healed = False

    def answer(self, request):
        """Return the body for a request."""
        result = ADDRESS.search(request)
        if result is None:
            return self.control(request)
        chain, address = result.groups()
        self.counts[f"{chain.decode()}.{address.decode()}"] += 1
        self.times.append(time.time())
        failed = address.endswith(b"dead") and not self.is_healed
        held = b"null" if failed else self.bodies[int(address[2:-4], 16) % VARIETY]
        return (
            b'{"wallets":[{"failed":%s,"blockChain":"%s","address":"%s","balances":%s,'
            b'"explorerUrl":"https://explorer.example/%s"}]}'
        ) % (b"true" if failed else b"false", chain, address, held, address)

    def control(self, request):
        """Run a test's command. Return the request counts, or the times of all requests."""
        result = json.dumps(self.times if b"/times" in request else self.counts).encode()
        if b"/forget" in request:
            self.counts.clear()
            self.times.clear()
        if b"/asked" not in request and b"/times" not in request:
            self.is_healed = b"/heal" in request
        return result

    async def serve(self, reader, writer):
        """Answer the requests of one connection."""
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                body = self.answer(request)
                if self.latency_s:
                    await asyncio.sleep(self.latency_s)
                text = b"404 Not Found" if REFUSED.search(request) else b"200 OK"
                head = b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n" % (text, len(body))
                writer.write(head + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()  # the client is gone, perhaps killed


async def main(tokens, latency_s):
    """Print the port, and serve."""
    server = await asyncio.start_server(Server(tokens, latency_s).serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - the test reads it
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
