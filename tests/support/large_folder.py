"""Folders of bulk runs with millions of balances, written without a request."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from walletframe.amounts import AmountArray
from walletframe.bulk.dataset import DatasetWriter
from walletframe.frames.details import WalletDetails
from walletframe.frames.schema import HOLDING_DTYPES, WALLET_DTYPES

SERVICE = "https://balances.example"
TOKENS, DISTINCT, MAX_WALLETS_PER_PART, TOKENS_EACH = 5_000, 6, 2_000, 100
CHAINS = np.array(["ETH", "BSC", "POLYGON", "SOLANA", "ARBITRUM"], dtype=object)


def hexadecimal(random, count):
    """Return random hex addresses."""
    return np.array([f"0x{random.bytes(20).hex()}" for _ in range(count)], dtype=object)


def part(random, contracts, symbols, decimals):
    """Make 2,000 wallets of 100 tokens each. Most wallets hold the same few tokens."""
    count = MAX_WALLETS_PER_PART * TOKENS_EACH
    owners = hexadecimal(random, MAX_WALLETS_PER_PART)
    wallet = np.repeat(np.arange(MAX_WALLETS_PER_PART), TOKENS_EACH)
    token = np.minimum((TOKENS ** random.random(count)).astype(int), TOKENS - 1)
    token += wallet % len(CHAINS) - token % len(CHAINS)  # a token of the wallet's blockchain
    digits = random.integers(1, 10**9, count).astype(object) * 10**18
    digits += random.integers(0, 10**18, count)
    cut = np.maximum(random.integers(0, 20, count), 15 - decimals[token])
    raw = digits // 10 ** cut.astype(object)
    chains = CHAINS[np.arange(MAX_WALLETS_PER_PART) % len(CHAINS)]
    holdings = {
        "blockchain": chains[wallet],
        "address": owners[wallet],
        "symbol": symbols[token],
        "token_address": contracts[token],
        "amount": AmountArray.from_raw(raw, decimals[token]),
        "decimals": decimals[token],
        "raw_amount": [str(n) for n in raw],
        "token_blockchain": CHAINS[token % len(CHAINS)],
        "price": np.where(token % 3, np.nan, token / 7),
    }
    wallets = {
        "blockchain": chains,
        "address": owners,
        "status": "ok",
        "error": None,
        "tokens": TOKENS_EACH,
        "explorer_url": [f"https://explorer.example/{owner}" for owner in owners],
        "fetched_at": pd.Timestamp("2026-11-01", tz="UTC"),
        "source": "service",
        "service": SERVICE,
    }
    return WalletDetails(
        pd.DataFrame(wallets, index=range(MAX_WALLETS_PER_PART)).astype(WALLET_DTYPES),
        pd.DataFrame(holdings).astype(HOLDING_DTYPES),
    )


def answered(random, number):
    """Return the positions of a part's wallets, in an order as from 16 workers."""
    late = np.argsort(np.arange(MAX_WALLETS_PER_PART) + 16 * random.random(MAX_WALLETS_PER_PART))
    return late + number * MAX_WALLETS_PER_PART


def write_folder(folder, rows, *, seed=0):
    """Write a folder with this many balances, in parts of 200,000, and without equal wallets.

    Six parts are generated. The other parts copy their balances, under new addresses.
    """
    random = np.random.default_rng(seed)
    contracts, decimals = hexadecimal(random, TOKENS), random.choice([6, 8, 9, 18, 18], TOKENS)
    contracts[: len(CHAINS)] = None
    symbols = np.array([f"TK{number % 4_000}" for number in range(TOKENS)], dtype=object)
    parts = rows // (MAX_WALLETS_PER_PART * TOKENS_EACH)
    with DatasetWriter(folder, SERVICE) as dataset:
        for number in range(min(parts, DISTINCT)):
            dataset.write_part(part(random, contracts, symbols, decimals), answered(random, number))
        paths = dataset.paths
    for number in range(DISTINCT, parts):
        source, name = f"part-{number % DISTINCT + 1:06}.parquet", f"part-{number + 1:06}.parquet"
        owners = pa.array(hexadecimal(random, MAX_WALLETS_PER_PART), pa.large_string())
        held = owners.take(pa.array(np.repeat(np.arange(MAX_WALLETS_PER_PART), TOKENS_EACH)))
        wallets = pq.read_table(paths.wallets / source)
        positions = pa.array(answered(random, number))
        wallets = _replaced(wallets, {"address": owners, "position": positions})
        holdings = _replaced(pq.read_table(paths.holdings / source), {"address": held})
        pq.write_table(holdings, paths.holdings / name, compression="zstd")
        pq.write_table(wallets, paths.wallets / name, compression="zstd")
    return folder


def _replaced(table, columns):
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table
