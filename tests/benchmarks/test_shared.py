"""What sharing costs and keeps: one pace for 16 processes, and answers in a Valkey.

Slots are counted in whole seconds, by one clock; nothing here asserts a time.
"""

import json
import random
import statistics
import time
from datetime import UTC, datetime

import pytest
import redis
import valkeys
from requests_cache import RedisCache
from slot_takers import Takers, by_second

from walletframe.address import WalletAddress
from walletframe.settings import ServerUrl
from walletframe.transport import AnswerStore, Kept

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(300)]

LIMIT, PROCESSES, LATE, ANSWERS, PAIRS = 200, 16, 4, 1_000, 5


def begun(place, seconds, count=PROCESSES, **given):
    """Let processes begin at a moment at which all are there; return them, and when it was."""
    takers, now = Takers(place, count, **given), time.time()
    takers.go(LIMIT, now + seconds)
    return takers, now


def told(what, counts, wanted):
    """Print the slots of each second."""
    print(f"{what}: {min(counts)} to {max(counts)} slots a second ({wanted}), {counts}")


@pytest.mark.together
def test_one_pace_for_many(valkey, tmp_path):
    """Print the slots each second, and the trips for each, with clocks that differ, and a file."""
    print(f"\n{PROCESSES} processes that take all they get, at {LIMIT} a second")
    for what, place, clocks_s in (
        ("in a Valkey", valkey.url, (0,)),
        ("clocks 2 s apart", valkey.url, (0, 2)),
        ("in a file", tmp_path / "p", (0,)),
    ):
        takers, now = begun(place, 6.5, clocks_s=clocks_s)
        slots, trips = takers.slots()
        told(what, by_second(slots, now + 1, now + 6), "wanted: 190 to 204")
        each = [len(times) for times in slots]
        print(f"  of each process: {min(each)} to {max(each)}")
        if trips:
            print(f"  trips a slot: {trips / sum(each):.2f} (wanted: at most 2.5)")


@pytest.mark.together
@pytest.mark.parametrize("known", ["told", "counted"])
def test_a_server_that_goes_and_comes_back(known):
    """Print the slots before, without and after it, with processes that begin without it."""
    late_ones = LATE if known == "told" else 0  # who comes late can't be counted
    processes = PROCESSES if known == "told" else None
    with valkeys.running() as server:
        late = Takers(server.url, late_ones, processes=processes)
        early, now = begun(server.url, 12.5, PROCESSES - late_ones, processes=processes)
        time.sleep(3)
        server.kill()
        time.sleep(1)
        late.go(LIMIT, now + 12.5)
        time.sleep(4)
        server.start()
        slots = early.slots()[0] + late.slots()[0]
    print(f"\na Valkey gone from second 3 to 8, {known}, {late_ones} of {PROCESSES} begin at 4")
    told("in all", by_second(slots, now + 1, now + 12), f"wanted: at most {LIMIT * 1.05:.0f}")
    parts = [sum(now + 4.5 <= at < now + 7.5 for at in times) for times in slots]
    ratio = max(parts) / min(parts)
    print(f"without it, of each: {min(parts)} to {max(parts)}, {ratio:.2f} (wanted: at most 1.1)")


def made(rng, tokens):
    """Make an answer of about 20 kB."""
    balances = [
        {
            "asset": {"blockchain": "ETH", "address": token},
            "amount": {"amount": str(rng.randrange(10**24)), "decimals": 18},
        }
        for token in rng.choices(tokens, k=130)
    ]
    return json.dumps({"wallets": [{"failed": False, "balances": balances}]}).encode()


def micros(work, *given):
    """Return how long a piece of work takes for each answer, and how much of this process."""
    start, cpu = time.perf_counter(), time.process_time()
    work(*given)
    taken = time.perf_counter() - start, time.process_time() - cpu
    return [seconds / ANSWERS * 1e6 for seconds in taken]


def test_answers_on_a_server(valkey):
    """Print what an answer costs there, beside requests-cache's backend on the same server."""
    rng, now = random.Random(20_260_102), datetime.now(UTC)
    wallets = [WalletAddress("ETH", f"0x{number:040x}") for number in range(ANSWERS)]
    tokens = [f"0x{rng.randrange(16**40):040x}" for _ in range(5_000)]
    answers = [
        (wallet, Kept(made(rng, tokens), now, turn)) for turn, wallet in enumerate(wallets, 1)
    ]
    print(f"\n{ANSWERS:,} answers of {len(answers[0][1].body) / 1000:.0f} kB, µs for each")
    with (
        redis.Redis.from_url(valkey.url) as link,
        AnswerStore(ServerUrl(valkey.url), "s") as ours,
        AnswerStore(RedisCache("b", connection=link, serializer="json"), "s") as borrowed,
    ):
        kept = micros(ours.write_many, answers), micros(borrowed.write_many, answers)
        reads = [(micros(ours.read, wallets), micros(borrowed.read, wallets)) for _ in range(PAIRS)]
        assert ours.read(wallets) == borrowed.read(wallets) == dict(answers)
        taken = link.memory_usage("walletframe:answer:s ETH." + wallets[0].address)
    print(
        f"kept: {kept[0][0]:.0f}, borrowed {kept[1][0]:.0f}; memory there: {taken:,} bytes for each"
    )
    for place, what in enumerate(("reads", "reads, this process alone")):
        pairs = [(own[place], theirs[place]) for own, theirs in reads]
        own, theirs = (statistics.median(each) for each in zip(*pairs, strict=True))
        ratios = sorted(theirs / own for own, theirs in pairs)
        print(
            f"{what}: {own:.0f}, borrowed {theirs:.0f}, {statistics.median(ratios):.1f} times, "
            f"{ratios[0]:.1f} to {ratios[-1]:.1f} (wanted: at least 5)"
        )
