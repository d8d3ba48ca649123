"""Compare two snapshots of 1,000,000 rows, and read one wallet from a year of snapshots.

Each figure is a median of runs in one process. It is printed beside its goal, and not checked.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from statistics import median

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from walletframe import history
from walletframe.amounts import AmountArray
from walletframe.frames.details import WalletDetails
from walletframe.frames.schema import HOLDING_DTYPES, WALLET_DTYPES
from walletframe.history.folder import (
    GROUP_ROWS,
    HOLDINGS,
    WALLETS,
    add_snapshot,
    open_parquet_writer,
    snapshot_folders,
)

pytestmark = [pytest.mark.benchmark, pytest.mark.together, pytest.mark.timeout(5400)]

COMPARED = (10_000, 100)  # wallets, and tokens of each
YEAR = (1_000, 50)
DAYS, SAVED_DAYS = 365, 12
HOURLY = (1_000, 10)  # wallets, and tokens of each: a year of it is a gigabyte
HOURLY_DAYS = int(os.environ.get("WF_TEST_HOURLY_DAYS", "45"))
SPELLINGS = 5_000
REPEATS = 3
START = datetime(2026, 1, 1, 6, tzinfo=UTC)


def hexadecimals(random, count):
    """Return hex addresses."""
    return np.array([f"0x{random.bytes(20).hex()}" for _ in range(count)], dtype=object)


def fetched(random, addresses, contracts, tokens):
    """Return the fetch of these wallets, with `tokens` distinct tokens each."""
    wallets, rows = len(addresses), len(addresses) * tokens
    start = random.integers(0, len(contracts), wallets).repeat(tokens)
    token = (start + np.tile(np.arange(tokens), wallets)) % len(contracts)
    raw = random.integers(10**6, 10**18, rows).astype(str)
    columns = {
        "blockchain": np.full(rows, "ETH"),
        "address": addresses.repeat(tokens),
        "symbol": np.char.add("TK", token.astype(str)),
        "token_address": contracts[token],
        "amount": AmountArray.from_raw(raw, 18),
        "decimals": np.full(rows, 18),
        "raw_amount": raw,
        "token_blockchain": np.full(rows, "ETH"),
        "price": random.random(rows),
    }
    wallet_columns = {
        "blockchain": "ETH",
        "address": addresses,
        "status": "ok",
        "error": None,
        "tokens": tokens,
        "explorer_url": [f"https://etherscan.io/address/{address}" for address in addresses],
        "fetched_at": START,
        "source": "service",
        "service": "https://api.example/v1",
    }
    return WalletDetails(
        pd.DataFrame(wallet_columns).astype(WALLET_DTYPES),
        pd.DataFrame(columns).astype(HOLDING_DTYPES),
    )


def changed(random, details, share):
    """Return the fetch with a share of new amounts, and with some failed wallets."""
    wallets, holdings = details
    rows = random.random(len(holdings)) < share
    raw = holdings["raw_amount"].to_numpy(dtype=object).copy()
    raw[rows] = random.integers(10**6, 10**18, int(rows.sum())).astype(str)
    failed = random.random(len(wallets)) < 0.01
    status = wallets["status"].where(~failed, "failed")
    lost = holdings["address"].isin(wallets["address"][failed])
    amount = AmountArray.from_raw(raw, 18)
    return WalletDetails(
        wallets.assign(status=status, tokens=wallets["tokens"].where(~failed)),
        holdings.assign(amount=amount, raw_amount=pd.array(raw, dtype="str"))[~lost],
    )


def save_again(folder, saved, later):
    """Write a copy of a snapshot with a later time."""
    files = {name: pq.read_table(saved.path / name) for name in (WALLETS, HOLDINGS)}

    def write(name, file):
        table = files[name]
        times = pc.add(table["snapshot"], pa.scalar(later, pa.duration("us")))
        with open_parquet_writer(file, table.schema) as parquet:
            rows = table.set_column(0, table.schema.field(0), times)
            parquet.write_table(rows, row_group_size=GROUP_ROWS)

    return add_snapshot(folder, saved.moment + later, write)


@pytest.fixture(scope="module")
def million():
    """Return a fetch with a million rows."""
    random = np.random.default_rng(0)
    addresses, contracts = hexadecimals(random, COMPARED[0]), hexadecimals(random, SPELLINGS)
    return fetched(random, addresses, contracts, COMPARED[1])


def seconds(work):
    """Return the median time of a piece of work, and its result."""
    taken = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = work()
        taken.append(time.perf_counter() - start)
    print(f"  {', '.join(f'{each:.2f}' for each in taken)} s")
    return median(taken), result


@pytest.mark.parametrize("share", [0.05, 1.0])
def test_two_snapshots_of_a_million_rows_are_compared(million, share):
    """The goal is 2 s on 2 cores, whether little or everything has changed."""
    after = changed(np.random.default_rng(3), million, share)
    taken, changes = seconds(lambda: history.compare(million, after))
    print(
        f"compare of {len(million.holdings):,} with {len(after.holdings):,} rows, {share:.0%} "
        f"changed, {len(changes):,} rows out: {taken:.2f} s (wanted: at most 2)"
    )
    assert len(changes)


def test_one_wallet_of_a_year_of_snapshots(tmp_path):
    """The goal for its timeline is 1 s on 2 cores.

    Twelve days are saved, and copied for the other days.
    """
    random = np.random.default_rng(1)
    addresses, contracts = hexadecimals(random, YEAR[0]), hexadecimals(random, SPELLINGS)
    details = fetched(random, addresses, contracts, YEAR[1])
    start = time.perf_counter()
    for day in range(SAVED_DAYS):
        details_of_day = changed(random, details, 0.3)
        history.save(details_of_day, folder=tmp_path, at=START + timedelta(days=day))
    saving = time.perf_counter() - start
    saved = snapshot_folders(tmp_path)

    def again(day):
        of_day = day % SAVED_DAYS
        return save_again(tmp_path, saved[of_day], timedelta(days=day - of_day))

    with ThreadPoolExecutor(2) as threads:
        assert all(threads.map(again, range(SAVED_DAYS, DAYS)))
    size = sum(path.stat().st_size for path in tmp_path.rglob("*.parquet"))
    wallet = f"ETH.{addresses[500]}"
    taken, timeline = seconds(
        lambda: history.timeline(history.load(wallets=wallet, folder=tmp_path))
    )
    print(
        f"{DAYS} snapshots of {YEAR[0]:,} wallets with {YEAR[1]} tokens each, {size / 1e6:.0f} MB, "
        f"made and saved in {saving / SAVED_DAYS:.2f} s each; one wallet's timeline of "
        f"{len(timeline):,} rows: {taken:.2f} s (wanted: at most 1)"
    )
    assert timeline["snapshot"].nunique() == DAYS


def test_one_wallet_of_hourly_snapshots(tmp_path):
    """The goal for its timeline is 1 s on 2 cores, after a history of 45 days has been thinned.

    One day is saved, and copied for the earlier days.
    """
    random = np.random.default_rng(2)
    addresses, contracts = hexadecimals(random, HOURLY[0]), hexadecimals(random, SPELLINGS)
    details = fetched(random, addresses, contracts, HOURLY[1])
    yesterday = datetime.now(UTC).replace(hour=0, minute=5) - timedelta(days=1)
    for hour in range(24):
        at = yesterday + timedelta(hours=hour)
        history.save(changed(random, details, 0.3), folder=tmp_path, at=at)
    saved = snapshot_folders(tmp_path)

    def again(number):
        return save_again(tmp_path, saved[number % 24], timedelta(days=-(number // 24)))

    with ThreadPoolExecutor(2) as threads:
        assert all(threads.map(again, range(24, HOURLY_DAYS * 24)))

    def timeline():
        return history.timeline(history.load(wallets=f"ETH.{addresses[500]}", folder=tmp_path))

    whole, lines = seconds(timeline)
    start = time.perf_counter()
    gone = history.thin(folder=tmp_path)
    thinning = time.perf_counter() - start
    fewer, left = seconds(timeline)
    print(
        f"{HOURLY[0]:,} wallets with {HOURLY[1]} tokens each, every hour of {HOURLY_DAYS} days, "
        f"one wallet's timeline: {whole:.2f} s for {len(lines):,} rows; thinned in {thinning:.0f} "
        f"s, {len(gone):,} of {HOURLY_DAYS * 24:,} gone: {fewer:.2f} s for {len(left):,} rows "
        "(wanted: at most 1)"
    )
    assert lines["snapshot"].nunique() == HOURLY_DAYS * 24
    assert left["snapshot"].nunique() == HOURLY_DAYS * 24 - len(gone)
