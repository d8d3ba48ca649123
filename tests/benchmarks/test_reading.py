"""The time to read 4,000 answers of 100 tokens each, compared with json.loads and json_normalize.

Each figure is the median of paired runs in one process, and is only printed.
"""

import gc
import json
import random
import statistics
import time
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from walletframe.address.forms import WalletAddress
from walletframe.frames.assembly import WalletRecord, assemble
from walletframe.wire.answer import read_answer

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]

WALLETS, TOKENS, PAIRS = 4_000, 100, 5


def hexadecimal(rng, digits):
    """Return a hex address."""
    return "0x" + "".join(rng.choices("0123456789abcdef", k=digits))


@pytest.fixture(scope="module")
def answers():
    """Return answers and their wallets, from a fixed seed."""
    rng = random.Random(20_260_101)
    tokens = [
        (
            {"blockchain": "ETH", "address": hexadecimal(rng, 40), "symbol": f"TK{number}"},
            rng.choice([6, 8, 9, 18, 18, 18]),
        )
        for number in range(5_000)
    ]
    bodies, wallets = [], []
    for _ in range(WALLETS):
        address = hexadecimal(rng, 40)
        balances = [
            {"asset": asset, "amount": {"amount": str(rng.randrange(10**27)), "decimals": decimals}}
            for asset, decimals in rng.choices(tokens, k=TOKENS)
        ]
        entry = {
            "failed": False,
            "blockChain": "ETH",
            "address": address,
            "balances": balances,
            "explorerUrl": f"https://etherscan.io/address/{address}",
        }
        bodies.append(json.dumps({"wallets": [entry]}, separators=(",", ":")).encode())
        wallets.append(WalletAddress("ETH", address))
    return bodies, wallets


@pytest.fixture(scope="module")
def odd_answers(answers):
    """Return the answers, with a malformed balance (of four kinds) in every twentieth."""
    bodies, wallets = answers
    bodies = list(bodies)
    for number, place in enumerate(range(0, WALLETS, 20)):
        answer = json.loads(bodies[place])
        odd = answer["wallets"][0]["balances"][number % TOKENS]
        if number % 4 == 0:
            odd["amount"]["decimals"] = None
        elif number % 4 == 1:
            odd["amount"]["amount"] = "0x1f"
        elif number % 4 == 2:
            odd["amount"] = None
        else:
            odd["asset"]["address"] = 5
        bodies[place] = json.dumps(answer, separators=(",", ":")).encode()
    return bodies, wallets


def bare_loads(bodies, _wallets):
    """Parse the JSON and drop it, with the garbage collector off."""
    gc.disable()
    try:
        for body in bodies:
            json.loads(body)
    finally:
        gc.enable()


def both_frames(bodies, wallets):
    """Read the answers and build both frames, as a fetch does."""
    return assemble(
        WalletRecord(wallet, read_answer(body, [wallet]).outcomes[0], "service")
        for body, wallet in zip(bodies, wallets, strict=True)
    )


def normalized(bodies, _wallets):
    """Read the answers with json_normalize, and convert to Decimals, as a notebook would."""
    entries = [entry for body in bodies for entry in json.loads(body)["wallets"]]
    frame = pd.json_normalize(entries, "balances", ["blockChain", "address"], meta_prefix="wallet.")
    pairs = zip(frame["amount.amount"], frame["amount.decimals"], strict=True)
    frame["amount"] = [Decimal(raw).scaleb(-decimals) for raw, decimals in pairs]
    return frame


def seconds(work, *args):
    """Return the time of a piece of work."""
    gc.collect()
    start = time.perf_counter()
    result = work(*args)
    taken = time.perf_counter() - start
    assert result is None or len(result)
    return taken


def peak_extra_bytes(work, *args):
    """Return the peak of memory, minus the memory before the work."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forget the earlier peak
    before = _status_bytes("VmRSS")
    result = work(*args)
    assert result is not None
    return _status_bytes("VmHWM") - before


def _status_bytes(field):
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def test_both_frames_beside_json_loads(answers):
    """Print the time compared with a loop of json.loads, and the peak of memory."""
    megabytes = sum(map(len, answers[0])) / 1e6
    memory = peak_extra_bytes(both_frames, *answers) / 1e6
    print(f"\n{WALLETS:,} answers of {TOKENS} tokens, {megabytes:.0f} MB, {PAIRS} pairs")
    print_ratio("all as the document says", *answers)
    print(
        f"peak extra memory, frames included: {memory:.0f} MB, {memory / megabytes:.2f} of the "
        "bytes (wanted: at most 3)"
    )


def test_both_frames_of_odd_answers(odd_answers):
    """Print the same ratio if every twentieth answer has a malformed balance."""
    print()
    print_ratio("one answer in twenty odd", *odd_answers)


def print_ratio(label, *args):
    """Print the time to build the frames, compared with a loop of json.loads, in pairs."""
    pairs = [(seconds(both_frames, *args), seconds(bare_loads, *args)) for _ in range(PAIRS)]
    ratios = sorted(ours / bare for ours, bare in pairs)
    print(f"{label}: both frames {statistics.median(ours for ours, _ in pairs):.2f} s")
    print(f"json.loads, dropped: {statistics.median(bare for _, bare in pairs):.2f} s")
    print(
        f"ratio: median {statistics.median(ratios):.2f}, {ratios[0]:.2f} to {ratios[-1]:.2f} "
        "(wanted: at most 1.45)"
    )


def test_both_frames_beside_json_normalize(answers):
    """Print the speed against json_normalize with Decimals."""
    fewer = [part[: WALLETS // 5] for part in answers]
    ratios = []
    for _ in range(3):
        ours = seconds(both_frames, *fewer)
        ratios.append(seconds(normalized, *fewer) / ours)
    print(
        f"\njson_normalize with Decimals takes {statistics.median(ratios):.1f} times as long "
        f"({min(ratios):.1f} to {max(ratios):.1f}; wanted: at least 8)"
    )
