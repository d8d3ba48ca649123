"""Holdings at one time, computed with dicts and Fractions, and strategies for answers."""

from fractions import Fraction

import pandas as pd
from addresses import A, B, base58
from hypothesis import strategies as st

from walletframe.address.forms import canonical_key

WALLETS = [
    [f"ETH.{A}", f"eth.{A.upper()}"],
    [f"ETH.{B}"],
    [f"BSC.{A}"],
    [f"SOLANA.{base58('aB')}"],
    [f"SOLANA.{base58('Ab')}"],
]
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
UNKNOWN = "?"  # the key of all unknown tokens of a wallet


@st.composite
def answers(draw):
    """Draw answers with collisions, repeats, zeros, extremes, failures and gaps."""
    held = st.tuples(
        st.sampled_from(TOKENS),
        st.one_of(st.integers(0, 3), st.integers(0, 2**256 - 1)),
        st.sampled_from([0, 6, 18, 77, None]),
    ).map(lambda drawn: (*drawn[0], *drawn[1:]))
    lists = st.lists(held, max_size=5)
    outcome = st.one_of(lists, lists, lists, st.sampled_from(["failed", "timeout", None]))
    requested = draw(st.lists(st.sampled_from(WALLETS), unique_by=tuple))
    return {draw(st.sampled_from(spellings)): draw(outcome) for spellings in requested}


def readable_amounts(answer, key):
    """Return the amounts of a token that can be read."""
    return [total for row in answer if (total := sums([row]).get(key)) is not None]


def sums(answer):
    """Sum a wallet's balances by token, as a Fraction, or as None if an amount is unknown."""
    totals = {}
    for blockchain, contract, _, raw, decimals in answer:
        key = canonical_key(blockchain, contract or "") if blockchain else UNKNOWN
        known = decimals is not None and totals.get(key, 0) is not None
        totals[key] = totals.get(key, 0) + Fraction(raw, 10**decimals) if known else None
    return totals


def side(answers, key, stale):
    """Return a wallet's tokens at one time, and its status."""
    if key not in answers:
        return {}, "not_asked"
    answer = answers[key]
    if not isinstance(answer, list):
        return {}, answer or "failed"
    held = sums(answer)
    return held, "stale" if stale else "ok"


def by_wallet(answers):
    """Return answers by a key that is the same for all spellings of a wallet."""
    return {canonical_key(*wallet.split(".", 1)): answer for wallet, answer in answers.items()}


def row_key(row):
    """Return these keys for the wallet and the token of a row; None for a missing token."""
    wallet = canonical_key(row.blockchain, row.address)
    if pd.isna(row.token_blockchain):
        return wallet, None if pd.isna(row.symbol) else UNKNOWN
    contract = "" if pd.isna(row.token_address) else row.token_address
    return wallet, canonical_key(row.token_blockchain, contract)


def amount(held, key, status):
    """Return the amount of a token, and its status, at one time."""
    result = held.get(key, 0)
    if result is None and status == "ok":
        return None, "no_amount"
    return (Fraction(result), "ok") if status == "ok" else (None, status)


def fraction(value):
    """Return an amount as an exact Fraction."""
    return None if pd.isna(value) else Fraction(str(value))
