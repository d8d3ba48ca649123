"""What a look at 1,000,000 balances takes: 10,000 wallets, 20,000 tokens, long tails.

Every figure is a median of some runs. What has a limit is asserted against it, in the processor's
time, so that a busy machine fails nobody; the rest is printed.
"""

import time
from statistics import median

import numpy as np
import pandas as pd
import pytest

from walletframe.amounts import AmountArray
from walletframe.analysis import concentration, overlap, pivot, share, token_labels, totals, value
from walletframe.frames.identity import token_identities

ROWS, WALLETS, TOKENS, REPEATS, LIMIT_S = 1_000_000, 10_000, 20_000, 3, 2
CHAINS = np.array(["ETH", "BSC", "POLYGON", "SOLANA", "ARBITRUM"], dtype=object)

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]


def addresses(random, count):
    """Make hex addresses."""
    return np.array([f"0x{random.bytes(20).hex()}" for _ in range(count)], dtype=object)


@pytest.fixture(scope="module")
def details():
    """Give holdings with amounts of up to 27 digits; some wallets failed, some have no owner."""
    random = np.random.default_rng(0)
    contracts, owners = addresses(random, TOKENS), addresses(random, WALLETS)
    contracts[: len(CHAINS)] = None
    chain_of_token, chain_of_wallet = (random.choice(CHAINS, n) for n in (TOKENS, WALLETS))
    places = random.choice([6, 8, 9, 18], TOKENS)
    symbols = np.array([f"TK{number % 9_000}" for number in range(TOKENS)], dtype=object)
    token = np.minimum((TOKENS ** random.random(ROWS)).astype(int), TOKENS - 1)
    failed = random.random(WALLETS) < 0.1
    wallet = np.sort(random.choice(np.flatnonzero(~failed), ROWS))
    digits = random.integers(1, 10**9, ROWS).astype(object) * 10**18 + random.integers(
        0, 10**18, ROWS
    )
    raw = digits // 10 ** random.integers(0, 20, ROWS).astype(object)
    texts = {
        "blockchain": chain_of_wallet[wallet],
        "address": owners[wallet],
        "symbol": symbols[token],
        "token_address": contracts[token],
        "token_blockchain": chain_of_token[token],
    }
    holdings = pd.DataFrame({name: pd.array(text, dtype="str") for name, text in texts.items()})
    holdings["amount"] = AmountArray.from_raw(raw, places[token])
    wallets = pd.DataFrame({"blockchain": chain_of_wallet, "address": owners})
    wallets["status"], wallets["source"] = np.where(failed, "failed", "ok"), "service"
    people = [f"owner {number}" if number else None for number in range(50)]
    wallets["owner"] = pd.array(random.choice(people, WALLETS), dtype="str")
    wallets["tokens"] = pd.array(np.where(failed, None, 1), dtype="Int64")
    return wallets, holdings


@pytest.fixture(scope="module")
def prices(details):
    """Give a price of each token, by contract."""
    random = np.random.default_rng(1)
    keys = token_identities(details[1]).keys
    return dict(zip(keys, random.random(len(keys)).tolist(), strict=True))


def seconds(what, run, limit=None):
    """Print the median seconds of some runs, and compare those of the processor with a limit."""
    passed, worked = [], []
    for _ in range(REPEATS):
        clock, processor = time.perf_counter(), time.process_time()
        run()
        passed.append(time.perf_counter() - clock)
        worked.append(time.process_time() - processor)
    wanted = "" if limit is None else f" (at most {limit})"
    print(f"{what}: {median(passed):.2f} s, of the processor's {median(worked):.2f} s{wanted}")
    assert limit is None or median(worked) <= limit


BY = ["token", "asset", "wallet", "blockchain", "owner"]
BOTH = [["wallet", "token"], ["owner", "token"], ["owner", "asset"]]


@pytest.mark.parametrize("by", BY + BOTH, ids=str)
def test_totals(details, by):
    """Exact sums, counts and completeness."""
    wallets, holdings = details
    seconds(f"totals by {by}", lambda: totals(holdings, by, wallets=wallets), LIMIT_S)


def test_values_and_their_totals(details, prices):
    """A price for each row, and correctly rounded sums of values."""
    holdings = details[1]
    seconds("value", lambda: value(holdings, prices, currency="USD"), LIMIT_S)
    valued = value(holdings, prices, currency="USD")
    seconds("totals of values", lambda: totals(valued), LIMIT_S)


@pytest.mark.parametrize("by", ["wallet", "owner"])
def test_share(details, by):
    """Of the token that most wallets hold."""
    wallets, holdings = details
    foremost = token_identities(holdings).keys[totals(holdings)["holders"].argmax()]
    seconds(f"share by {by}", lambda: share(holdings, foremost, by=by, wallets=wallets), LIMIT_S)


@pytest.mark.parametrize("by", ["wallet", "owner"])
def test_pivot(details, by):
    """10,000 wallets, or 50 owners, beside the foremost 200 tokens."""
    wallets, holdings = details
    seconds(f"pivot by {by}", lambda: pivot(holdings, 200, by=by, wallets=wallets), LIMIT_S)


def test_what_has_no_limit(details):
    """Concentration and labels of all tokens; the most alike of 50 million pairs of wallets."""
    holdings = details[1]
    seconds("concentration of all tokens", lambda: concentration(holdings))
    seconds("labels", lambda: token_labels(holdings))
    seconds("overlap", lambda: overlap(holdings))


def test_totals_where_every_row_is_a_token_of_its_own(details):
    """The worst that spam can do to grouping."""
    holdings = details[1].copy()
    holdings["token_address"] = pd.array([f"0x{n:040x}" for n in range(ROWS)], dtype="str")
    seconds("totals of 1,000,000 tokens", lambda: totals(holdings))
    seconds("pivot of 1,000,000 tokens to 200", lambda: pivot(holdings, 200))
