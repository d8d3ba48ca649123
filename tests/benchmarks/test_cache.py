"""What a warm cache costs: 10,000 kept answers of 20 KB become frames, beside a CachedSession.

Each figure is the median of paired runs in one process; nothing here asserts a time.
"""

import gc
import json
import random
import statistics
import time
from datetime import UTC, datetime

import pytest
from requests import Request
from requests_cache import CachedRequest, CachedResponse, CachedSession, SQLiteCache

from walletframe.address.forms import WalletAddress
from walletframe.client import Client
from walletframe.transport import AnswerStore, Kept

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]

WALLETS, TOKENS, PAIRS = 10_000, 112, 3
BASE_URL = "https://api.example"


def hexadecimal(rng, digits):
    """Return a hex address."""
    return "0x" + "".join(rng.choices("0123456789abcdef", k=digits))


def answer(rng, wallet, tokens):
    """Return one wallet's answer, about 20 KB of it."""
    balances = [
        {"asset": asset, "amount": {"amount": str(rng.randrange(10**24)), "decimals": 18}}
        for asset in rng.choices(tokens, k=TOKENS)
    ]
    entry = {
        "failed": False,
        "blockChain": wallet.blockchain,
        "address": wallet.address,
        "balances": balances,
        "explorerUrl": f"https://etherscan.io/address/{wallet.address}",
    }
    return json.dumps({"wallets": [entry]}, separators=(",", ":")).encode()


@pytest.fixture(scope="module")
def answers():
    """Make the answers from a fixed seed."""
    rng = random.Random(20_260_102)
    tokens = [
        {"blockchain": "ETH", "address": hexadecimal(rng, 40), "symbol": f"TK{number}"}
        for number in range(5_000)
    ]
    wallets = [WalletAddress("ETH", hexadecimal(rng, 40)) for _ in range(WALLETS)]
    return {wallet: answer(rng, wallet, tokens) for wallet in wallets}


def url(wallet):
    """Return where a wallet's answer would come from."""
    return f"{BASE_URL}/wallets/details?address={wallet}"


def keep_plainly(answers, path):
    """Fill a cache as requests-cache has it by default."""
    cache = SQLiteCache(path)
    with cache.responses.bulk_commit():
        for wallet, body in answers.items():
            request = Request("GET", url(wallet)).prepare()
            cache.responses[cache.create_key(request)] = CachedResponse(
                content=body,
                status_code=200,
                url=request.url,
                request=CachedRequest.from_request(request),
            )
    cache.close()


def looped(session, wallets):
    """Do what a notebook would: get each from the cache, as JSON."""
    return [session.get(url(wallet), only_if_cached=True).json() for wallet in wallets]


def seconds(work, *given, **named):
    """Return how long a piece of work takes."""
    gc.collect()
    start = time.perf_counter()
    work(*given, **named)
    return time.perf_counter() - start


def test_warm_frames_beside_a_cached_session(answers, tmp_path):
    """Print how much faster frames come out of the cache, and what the look itself costs."""
    now = datetime.now(UTC)
    keep_plainly(answers, tmp_path / "plain.sqlite")
    with AnswerStore(tmp_path / "ours.sqlite", BASE_URL) as store:
        written = seconds(store.write_many, [(w, Kept(body, now)) for w, body in answers.items()])
        looks = [seconds(store.read, answers) for _ in range(PAIRS)]
    wallets, pairs = list(answers), []
    with (
        Client(base_url=BASE_URL, cache=tmp_path / "ours.sqlite") as client,
        CachedSession(backend=SQLiteCache(tmp_path / "plain.sqlite")) as session,
    ):
        details = client.fetch(wallets, offline=True)
        assert (details.wallets.status == "ok").all()
        assert len(details.holdings) == WALLETS * TOKENS
        assert "wallets" in looped(session, wallets[:1])[0]
        for _ in range(PAIRS):
            ours = seconds(client.fetch, wallets, offline=True)
            pairs.append((ours, seconds(looped, session, wallets)))
    ratios = sorted(plain / ours for ours, plain in pairs)
    megabytes = sum(map(len, answers.values())) / 1e6
    print(f"\n{WALLETS:,} kept answers of {TOKENS} tokens, {megabytes:.0f} MB, {PAIRS} pairs")
    print(f"written in one transaction: {written:.2f} s")
    print(f"one look, bytes and times: {statistics.median(looks):.3f} s")
    print(f"both frames: {statistics.median(ours for ours, _ in pairs):.2f} s")
    print(f"CachedSession.get().json(): {statistics.median(plain for _, plain in pairs):.2f} s")
    print(
        f"ratio: median {statistics.median(ratios):.1f}, {ratios[0]:.1f} to {ratios[-1]:.1f} "
        "(wanted: at least 4)"
    )
