"""What is known of wallets at one time, worked out with dicts and Fractions; and cases to draw."""

from fractions import Fraction

import pandas as pd
from hypothesis import strategies as st

from walletframe.address.forms import canonical_key

WALLETS = [["ETH.0xA", "eth.0XA"], ["ETH.0xB"], ["BSC.0xA"], ["SOLANA.aB"], ["SOLANA.Ab"]]
TOKENS = [
    ("ETH", "0xToken", "USDC"),
    ("eth", "0XTOKEN", "USDC"),
    ("BSC", "0xToken", "USDC"),
    ("ETH", None, "ETH"),
    ("ETH", "0xSpam", "USDC"),
    ("SOLANA", "mInt", "claim \u202e at x.example"),
    ("SOLANA", "MiNT", "=cmd"),
    (None, None, "?"),
]
UNKNOWN = "?"  # stands for all unknown tokens of a wallet


@st.composite
def answers(draw):
    """Draw what wallets answered: collisions, repeats, zeros, extremes, failures, gaps."""
    held = st.tuples(
        st.sampled_from(TOKENS),
        st.one_of(st.integers(0, 3), st.integers(0, 2**256 - 1)),
        st.sampled_from([0, 6, 18, 77, None]),
    ).map(lambda drawn: (*drawn[0], *drawn[1:]))
    lists = st.lists(held, max_size=5)
    told = st.one_of(lists, lists, lists, st.sampled_from(["failed", "timeout", None]))
    asked = draw(st.lists(st.sampled_from(WALLETS), unique_by=tuple))
    return {draw(st.sampled_from(spellings)): draw(told) for spellings in asked}


def sums(told):
    """Add up a wallet's list: token to Fraction, or to None where an amount is unknown."""
    totals = {}
    for blockchain, contract, _, raw, decimals in told:
        key = canonical_key(blockchain, contract or "") if blockchain else UNKNOWN
        known = decimals is not None and totals.get(key, 0) is not None
        totals[key] = totals.get(key, 0) + Fraction(raw, 10**decimals) if known else None
    return totals


def side(told_by, key, stale):
    """Return a wallet's tokens at one time, and its status."""
    if key not in told_by:
        return {}, "not_asked"
    told = told_by[key]
    if not isinstance(told, list):
        return {}, told or "failed"
    held = sums(told)
    return held, "stale" if stale else "unknown_token" if UNKNOWN in held else "ok"


def by_wallet(told_by):
    """Return answers by the form in which two spellings of a wallet are equal."""
    return {canonical_key(*wallet.split(".", 1)): told for wallet, told in told_by.items()}


def row_key(row):
    """Return wallet and token of a frame's row in that form; None for no token."""
    wallet = canonical_key(row.blockchain, row.address)
    if pd.isna(row.token_blockchain):
        return wallet, None if pd.isna(row.symbol) else UNKNOWN
    contract = "" if pd.isna(row.token_address) else row.token_address
    return wallet, canonical_key(row.token_blockchain, contract)


def amount(held, key, status):
    """Return the amount of a token, and its status, at one time."""
    found = held.get(key, 0)
    if found is None and status in ("ok", "unknown_token"):
        return None, "no_amount"
    return (Fraction(found), "ok") if status == "ok" else (None, status)


def fraction(value):
    """Return an amount as an exact Fraction."""
    return None if pd.isna(value) else Fraction(str(value))
