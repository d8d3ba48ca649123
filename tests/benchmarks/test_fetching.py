"""The time of a fetch, compared with the ideal, and under a hidden rate limit. It is only printed.

The service runs in a separate process, so that it does not share the GIL with the client. If the
ideal is three milliseconds per answer, a bare server replaces the sandbox, which would be slower.
"""

import re
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pandas as pd
import pytest

from walletframe.client import Client
from walletframe.transport import ServiceSession

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]

WALLETS, TOKENS, LATENCY_S, WORKERS, LIMIT = 1_000, 130, 0.05, 16, 40
ADDRESSES = [f"ETH.0x{number:040x}" for number in range(WALLETS)]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    """Write holdings that make answers of about 20 KB."""
    rows = [
        {
            "blockchain": "ETH",
            "address": f"0x{wallet:040x}",
            "token_address": f"0x{token:040x}",
            "symbol": f"TK{token}",
            "raw_amount": str(10**18 + wallet * token),
            "decimals": 18,
        }
        for wallet in range(WALLETS)
        for token in range(TOKENS)
    ]
    path = tmp_path_factory.mktemp("ledger") / "ledger.parquet"
    pd.DataFrame(rows).to_parquet(path)
    return path


@contextmanager
def served(ledger, *options):
    """Run the sandbox as a command, and yield its private base URL and API key."""
    words = [sys.executable, "-u", "-m", "walletframe", "sandbox", "--ledger", str(ledger)]
    words += ["--latency-s", str(LATENCY_S), *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        output = ""
        while "Ctrl-C" not in output:
            output += process.stdout.readline()
        try:
            yield [
                re.search(rf"WALLETFRAME_{name}=(\S+)", output).group(1)
                for name in ("BASE_URL", "API_KEY")
            ]
        finally:
            process.terminate()


BARE_SERVER = """
import asyncio, re, sys
latency_s, tokens = float(sys.argv[1]), int(sys.argv[2])
asset = '{"blockchain":"ETH","address":"0x%040x","symbol":"TK"}'
token = '{"asset":' + asset + ',"amount":{"amount":"%d","decimals":18}}'
balances = ",".join(token % (number, 10**18 + number) for number in range(tokens))
entry = '{"wallets":[{"failed":false,"blockChain":"ETH","address":"%s","balances":[%s],'
entry += '"explorerUrl":"https://explorer.example/%s"}]}'
async def serve(reader, writer):
    while request := await reader.readuntil(b"\\r\\n\\r\\n"):
        address = re.search(rb"address=ETH\\.(\\w+)", request).group(1).decode()
        await asyncio.sleep(latency_s)
        body = (entry % (address, balances, address)).encode()
        writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
        await writer.drain()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@contextmanager
def bare():
    """Run a server that only waits and answers, and yield its base URL."""
    words = [sys.executable, "-c", BARE_SERVER, str(LATENCY_S), str(TOKENS)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


def settings(base_url, cache, key="any-will-do", **more):
    """Return the settings of a client."""
    key = {"api_key": key, "key_kind": "private"}
    own = {"base_url": base_url, "cache": cache, "service": "benchmark", "workers": WORKERS}
    return key | own | more


def seconds(client):
    """Return the time of a fetch of all wallets, and the statuses."""
    begun = time.monotonic()
    details = client.fetch(ADDRESSES, refresh=True, progress=False, on_failure="ignore")
    return time.monotonic() - begun, details.wallets["status"].value_counts()["ok"]


def test_rate_known_beside_the_ideal(tmp_path):
    """Print the time for wallets of 20 KB, compared with wallets x latency / workers."""
    ideal = WALLETS * LATENCY_S / WORKERS
    known = {"requests_per_second": 2_000}
    with bare() as base_url, Client(**settings(base_url, tmp_path / "a", **known)) as client:
        runs = [seconds(client)[0] / ideal for _ in range(3)]
    print(
        f"\n{WALLETS:,} wallets, {TOKENS} tokens, {LATENCY_S * 1000:.0f} ms, {WORKERS} workers: "
        f"{statistics.median(runs):.2f} of the ideal {ideal:.2f} s, {min(runs):.2f} to "
        f"{max(runs):.2f} (wanted: at most 1.25)"
    )


def test_rate_discovered_and_remembered(tmp_path):
    """Print the times of a first and a second fetch from a service without a rate limit."""
    ideal = WALLETS * LATENCY_S / WORKERS
    with bare() as base_url, Client(**settings(base_url, tmp_path / "a")) as client:
        first, second = seconds(client)[0], seconds(client)[0]
    print(f"\nrate not known: {first / ideal:.2f} of the ideal, then {second / ideal:.2f}")


@pytest.mark.together
def test_hidden_limit(ledger, tmp_path, monkeypatch):
    """Print the time under a hidden limit, compared with the shortest time that it allows."""
    refusals = []
    send = ServiceSession.send

    def counted(session, wallets, **limits):
        reply = send(session, wallets, **limits)
        refusals.append("429" in str(reply.answer)[:200])
        return reply

    monkeypatch.setattr(ServiceSession, "send", counted)
    limit = ["--requests-per-second", str(LIMIT)]
    with (
        served(ledger, *limit) as (base_url, key),
        Client(**settings(base_url, tmp_path / "a.sqlite", key, retry_after_max_s=0)) as client,
    ):
        taken, ok = seconds(client)
    print(
        f"\nhidden limit of {LIMIT}/s: {taken:.1f} s, {taken * LIMIT / WALLETS:.2f} of what it "
        f"allows (wanted: at most 1.3), {sum(refusals)} answers of 429 (wanted: at most 10), "
        f"{ok} of {WALLETS} ok (wanted: all)"
    )


@pytest.mark.together
def test_two_processes_under_a_limit(ledger, tmp_path):
    """Print the rate of two processes with one cache and one key under a limit."""
    code = (
        "import sys; from walletframe.client import Client\n"
        "client = Client(base_url=sys.argv[1], cache=sys.argv[2], service='benchmark',"
        "key_kind='private', requests_per_second=36)\n"
        "wallets = [f'ETH.0x{n:040x}' for n in range(int(sys.argv[3]), int(sys.argv[3]) + 200)]\n"
        "found = client.fetch(wallets, progress=False, on_failure='ignore').wallets\n"
        "print((found.status == 'ok').sum()); client.close()"
    )
    limit = ["--requests-per-second", str(LIMIT)]
    with served(ledger, *limit) as (base_url, key):
        begun = time.monotonic()
        running = [
            subprocess.Popen(
                [sys.executable, "-c", code, base_url, str(tmp_path / "a.sqlite"), str(first)],
                stdout=subprocess.PIPE,
                text=True,
                env={"WALLETFRAME_API_KEY": key},
            )
            for first in (0, 200)
        ]
        ok = sum(int(each.communicate(timeout=120)[0]) for each in running)
        taken = time.monotonic() - begun
    print(
        f"\ntwo processes, one key, 36/s given under a limit of {LIMIT}/s: {400 / taken:.1f} "
        f"wallets/s together (wanted: at most 40), {ok} of 400 ok (wanted: all)"
    )


REFUSING_SERVER = """
import asyncio, re, sys
from pathlib import Path
body = b'{"wallets":[{"failed":false,"blockChain":"ETH","address":"%s","balances":[]}]}'
async def serve(reader, writer):
    while request := await reader.readuntil(b"\\r\\n\\r\\n"):
        address = re.search(rb"address=ETH\\.(\\w+)", request).group(1)
        status, said = b"429 Too Many Requests", b"slow down"
        if Path(sys.argv[1]).exists():
            status, said = b"200 OK", body % address
        head = b"HTTP/1.1 %s\\r\\nContent-Length: %d\\r\\n\\r\\n" % (status, len(said))
        writer.write(head + said)
        await writer.drain()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


def refused(folder, deadline_s):
    """Return the times of three fetches: a refused one, a later one, and one with a new cache."""
    folder.mkdir()
    recovered = folder / "recovered"
    words = [sys.executable, "-c", REFUSING_SERVER, str(recovered)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        base_url = f"http://127.0.0.1:{process.stdout.readline().strip()}"
        taken = []
        for name, count in (("a", 1_000), ("a", 60), ("fresh", 60)):
            own = settings(base_url, folder / name, deadline_s=deadline_s)
            with Client(**own) as client:
                begun = time.monotonic()
                client.fetch(ADDRESSES[:count], progress=False, on_failure="ignore")
                taken.append(time.monotonic() - begun)
            recovered.touch()
        process.terminate()
    return taken


@pytest.mark.together
def test_a_service_that_always_refuses(tmp_path):
    """Print when a fetch gives up, and how long the next fetch takes after the service recovers.

    Fetches with different deadlines run at the same time, since they spend nearly all time waiting.
    """
    deadlines_s = (5, 15, 60)
    with ThreadPoolExecutor() as threads:
        runs = threads.map(lambda each: refused(tmp_path / f"{each}", each), deadlines_s)
    print()
    for deadline_s, taken in zip(deadlines_s, runs, strict=True):
        print(
            f"always 429, deadline {deadline_s} s: {WALLETS:,} wallets given up after "
            f"{taken[0]:.1f} s; well again, 60 wallets take {taken[1]:.1f} s, beside "
            f"{taken[2]:.1f} s for a service that is new"
        )
