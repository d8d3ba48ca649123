"""Fetches drawn by hypothesis, with failures, collisions and spam, as frames and as tuples."""

from fractions import Fraction
from typing import NamedTuple

from fetches import fetched
from hypothesis import strategies as st

LARGEST = 2**256 - 1

WALLETS = [
    ("ETH", "0xAa"),
    ("eth", "0xbB"),
    ("BSC", "0xaa"),
    ("NEAR", "alice.near"),
    ("SOLANA", "9xQe"),
    ("SOLANA", "9xqE"),
]
# Blockchain, contract, symbol: one token in three spellings, collisions, spam, native coins.
TOKENS = [
    ("ETH", "0xA0", "USDC"),
    ("eth", "0Xa0", "USDC"),
    ("ETH", "0xa0", "USDC.old"),
    ("BSC", "0xA0", "USDC"),
    ("ETH", None, "ETH"),
    ("BSC", "0xbad", "ETH"),
    ("SOLANA", "EPjF", "NA"),
    ("SOLANA", "epjf", "visit (x).io\u202e"),
    ("L2", "0x12", ""),
]

raw_amounts = st.sampled_from([0, 0, 1, 10**18, 2**53 + 1, LARGEST]) | st.integers(0, LARGEST)
decimals = st.sampled_from([0, 6, 18, 18, 77, None, 78])


def fetches_of(tokens):
    """Return a strategy for fetches of these tokens."""
    balances = st.lists(st.tuples(st.sampled_from(tokens), raw_amounts, decimals), max_size=6)
    outcomes = balances | balances | st.sampled_from(["unknown", "failed"])
    requested = st.tuples(st.sampled_from(WALLETS), outcomes)
    return st.lists(requested, max_size=6, unique_by=lambda each: each[0])


fetches = fetches_of(TOKENS)


class Balance(NamedTuple):
    """One balance: its wallet, its token, and its amount, None where unknown."""

    wallet: tuple[str, str]
    token: tuple[str, str | None]
    symbol: str
    amount: Fraction | None


def key(chain, address):
    """Return a blockchain and an address in a form that is equal for all their spellings."""
    hexadecimal = address is not None and address[:2] in ("0x", "0X")
    return chain.upper(), address.lower() if hexadecimal else address


def details_of(fetch):
    """Make the frames of a fetch."""
    return fetched({".".join(wallet): _answer(result) for wallet, result in fetch})


def rows_of(fetch):
    """List the balances of a fetch."""
    return [
        Balance(key(*wallet), key(*token[:2]), token[2], _amount(raw, places))
        for wallet, result in fetch
        if isinstance(result, list)
        for token, raw, places in result
    ]


def known_of(fetch):
    """Return for each requested wallet whether its balances are known."""
    return {key(*wallet): isinstance(result, list) for wallet, result in fetch}


def known_for(fetch, rows):
    """Return whether each wallet's amount of one token is known. `rows` have only this token."""
    unread = {row.wallet for row in rows if row.amount is None}
    return {wallet: ok and wallet not in unread for wallet, ok in known_of(fetch).items()}


def _amount(raw, places):
    return None if places in (None, 78) else Fraction(raw, 10**places)


def _answer(result):
    if isinstance(result, str):
        return {"failed": "failed", "unknown": None}[result]
    return [(*token, raw, places) for token, raw, places in result]


def fractions(column):
    """Return amounts as fractions, None where missing."""
    return [None if value is None else Fraction(value) for value in column.array.to_decimal()]


def optional(column):
    """Return nullable integers, None where missing."""
    return [
        None if value is None else int(value) for value in column.to_numpy(object, na_value=None)
    ]


def nearest(fraction):
    """Return the float64 nearest to a fraction."""
    try:
        return fraction.numerator / fraction.denominator
    except OverflowError:
        return float("inf") if fraction > 0 else float("-inf")
