"""A fetch of any size, made up from a fixed seed in a moment."""

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.frames import HOLDING_DTYPES, WALLET_DTYPES, WalletDetails

CHAINS = ["ETH", "BSC", "POLYGON", "BASE"]


def made_up_details(rows, *, wallets, tokens):
    """Return a fetch with so many balances; each wallet holds tokens of its own blockchain."""
    rng = np.random.default_rng(20_260_101)
    owner = np.sort(rng.integers(0, wallets, rows))
    token = rng.zipf(1.3, rows) % tokens
    chains = text(CHAINS[number % len(CHAINS)] for number in range(wallets))
    addresses = text(f"0x{number:040x}" for number in range(wallets))
    raw = rng.integers(0, 10**18, rows)
    holdings = pd.DataFrame(
        {
            "blockchain": chains.take(owner),
            "address": addresses.take(owner),
            "symbol": text(f"TK{number}" for number in range(tokens)).take(token),
            "token_address": text(f"0x{number:040x}" for number in range(tokens)).take(token),
            "amount": AmountArray.from_raw(raw.tolist(), 18),
            "decimals": 18,
            "raw_amount": raw.astype(str),
            "token_blockchain": chains.take(owner),
            "price": 1.5,
        }
    ).astype(HOLDING_DTYPES)
    asked = pd.DataFrame(
        {
            "blockchain": chains,
            "address": addresses,
            "status": "ok",
            "error": None,
            "tokens": np.bincount(owner, minlength=wallets),
            "explorer_url": None,
            "fetched_at": pd.Timestamp("2026-01-02", tz="UTC"),
            "source": "service",
            "service": "made up",
        }
    ).astype(WALLET_DTYPES)
    return WalletDetails(asked, holdings)


def text(values):
    """Return text as a column holds it."""
    return pd.array(list(values), dtype="str")
