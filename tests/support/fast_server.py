"""A bare server, fast enough for bulk runs, that counts what it is asked.

It speaks just enough HTTP. Each wallet holds many tokens, in amounts of its own; an address that
ends in ``dead`` fails until the server is told to heal it, one in ``beef`` is refused. Run with the
number of tokens and the latency in seconds; it prints its port.
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
    """The server itself."""

    def __init__(self, tokens, latency_s):
        rng = random.Random(20_260_102)  # noqa: S311 - made-up data, no secrets
        self.bodies = [balances(rng, tokens) for _ in range(VARIETY)]
        self.latency_s = latency_s
        self.asked = Counter()
        self.times = []
        self.is_healed = False

    def answer(self, request):
        """Return the body for a request."""
        found = ADDRESS.search(request)
        if found is None:
            return self.told(request)
        chain, address = found.groups()
        self.asked[f"{chain.decode()}.{address.decode()}"] += 1
        self.times.append(time.time())
        failed = address.endswith(b"dead") and not self.is_healed
        held = b"null" if failed else self.bodies[int(address[2:-4], 16) % VARIETY]
        return (
            b'{"wallets":[{"failed":%s,"blockChain":"%s","address":"%s","balances":%s,'
            b'"explorerUrl":"https://explorer.example/%s"}]}'
        ) % (b"true" if failed else b"false", chain, address, held, address)

    def told(self, request):
        """Do what the test says, and return the counts, or the times of all requests."""
        found = json.dumps(self.times if b"/times" in request else self.asked).encode()
        if b"/forget" in request:
            self.asked.clear()
            self.times.clear()
        if b"/asked" not in request and b"/times" not in request:
            self.is_healed = b"/heal" in request
        return found

    async def serve(self, reader, writer):
        """Answer the requests of one connection."""
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                body = self.answer(request)
                if self.latency_s:
                    await asyncio.sleep(self.latency_s)
                said = b"404 Not Found" if REFUSED.search(request) else b"200 OK"
                head = b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n" % (said, len(body))
                writer.write(head + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()  # the client has gone, perhaps killed


async def main(tokens, latency_s):
    """Say where it listens, and serve."""
    server = await asyncio.start_server(Server(tokens, latency_s).serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - the test reads it
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
