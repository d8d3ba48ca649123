"""What a chart of 1,000,000 rows costs in Python, and how large its figure is."""

import time

import numpy as np
import pandas as pd
import pytest

from walletframe import charts
from walletframe.amounts import AmountArray

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]

WALLETS, BALANCES, TOKENS, DAYS = 10_000, 100, 5_000, 365
ROWS = WALLETS * BALANCES
SECONDS, KILOBYTES, SECONDS_OF_MORE_USUAL = 2.0, 300, 0.3
CHAINS = np.array(["ETH", "BSC", "POLYGON", "BASE"], dtype=object)


@pytest.fixture(scope="module")
def holdings():
    """Make rows from a fixed seed: few tokens are common, few values large, a fifth unpriced."""
    rng = np.random.default_rng(20_260_101)
    wallets = np.repeat(np.arange(WALLETS), BALANCES)
    tokens = (TOKENS * rng.random(ROWS) ** 3).astype(np.intp)
    numbers = np.array([f"{number:040x}" for number in range(WALLETS)], dtype=object)
    chains = pd.array(CHAINS[wallets % len(CHAINS)], dtype="str")
    return pd.DataFrame(
        {
            "blockchain": chains,
            "address": pd.array("0x" + numbers[wallets], dtype="str"),
            "symbol": pd.array(np.array([f"TK{n}" for n in range(TOKENS)])[tokens], dtype="str"),
            "token_address": pd.array("0x" + numbers[tokens], dtype="str"),
            "amount": AmountArray.from_raw(rng.integers(1, 10**18, ROWS).tolist(), 18),
            "token_blockchain": chains,
            "value": np.where(rng.random(ROWS) < 0.2, np.nan, rng.lognormal(3, 3, ROWS)),
            "snapshot": pd.Timestamp("2026-01-01", tz="UTC")
            + pd.to_timedelta(rng.integers(DAYS, size=ROWS), unit="D"),
        }
    )


def drawings(holdings):
    """Return every chart, of values and without them, as functions of a frame."""
    first = holdings.iloc[0]
    token = (first.token_blockchain, first.token_address)
    wallet = (first.blockchain, first.address)
    of_any = {
        "treemap": charts.treemap,
        "sunburst": charts.sunburst,
        "bar of wallets": charts.bar,
        "bar of blockchains": lambda frame: charts.bar(frame, by="blockchain"),
        "heatmap": charts.heatmap,
        "pie": lambda frame: charts.pie(frame, wallet),
        "timeline": charts.timeline,
    }
    of_a_token = {
        "treemap of a token": lambda frame: charts.treemap(frame, token=token),
        "bar of a token": lambda frame: charts.bar(frame, token=token),
        "lorenz": lambda frame: charts.lorenz(frame, token),
        "timeline of a token": lambda frame: charts.timeline(frame, token=token),
    }
    without = {f"{name}, no values": draw for name, draw in of_any.items()}
    bare = holdings.drop(columns="value")
    return [(name, draw, holdings) for name, draw in {**of_any, **of_a_token}.items()] + [
        (name, draw, bare) for name, draw in without.items()
    ]


def measured(draw, frame):
    """Return the processor's seconds for a figure and its JSON, the best of three, and its KB."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        size = len(draw(frame).to_json().encode())
        taken.append(time.process_time() - start)
    return min(taken), size / 1000


def shown(holdings, rows, seconds):
    """Print what each chart costs, and return those beyond the limits."""
    print(f"\n{rows:,} rows: at most {seconds} s and {KILOBYTES} KB")
    beyond = []
    for name, draw, frame in drawings(holdings):
        taken, kilobytes = measured(draw, frame.iloc[:rows])
        print(f"  {name:32} {taken:5.2f} s {kilobytes:5.0f} KB")
        if taken > seconds or kilobytes > KILOBYTES:
            beyond.append(name)
    return beyond


def test_a_million_rows(holdings):
    """Within two seconds and 300 KB."""
    assert shown(holdings, ROWS, SECONDS) == []


def test_a_hundred_thousand_rows(holdings):
    """Within what a click may take."""
    assert shown(holdings, ROWS // 10, SECONDS_OF_MORE_USUAL) == []
