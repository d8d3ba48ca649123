"""The result for one wallet: its status, and its balances if it has any."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeGuard, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.wire.shapes import SentBalance

MAX_DECIMALS = 77
MAX_DIGITS = 4300
_POSSIBLE = frozenset(range(MAX_DECIMALS + 1))
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Balances:
    """The balances of one wallet as columns, each of n values in the order of the answer.

    A token without address is a native coin, one without blockchain unknown. Amounts are in base
    units, as sent; where they can't be read, cut, and their places in `no_digits`.
    """

    symbols: list[str | None]
    token_addresses: list[str | None]
    token_blockchains: list[str | None]
    raw_amounts: list[str | None]
    decimals: list[int | None]
    prices: list[float | None]
    no_digits: frozenset[int] = frozenset()
    unreadable: int = 0

    @classmethod
    def of(cls, sent: Sequence[SentBalance]) -> Balances:
        """Turn what was decoded into columns."""
        assets = [balance.asset for balance in sent]
        amounts = [balance.amount for balance in sent]
        symbols = [asset.symbol for asset in assets]
        addresses = [asset.address for asset in assets]
        chains = [asset.blockchain for asset in assets]
        raw = [amount.amount for amount in amounts]
        decimals = [amount.decimals for amount in amounts]
        prices = [balance.price for balance in sent]
        if not all(symbols):
            symbols = [symbol or None for symbol in symbols]
        if not all(addresses) and "" in addresses:  # null alone means the native coin
            chains = [
                None if address == "" else chain
                for chain, address in zip(chains, addresses, strict=True)
            ]
            addresses = [address or None for address in addresses]
        most = min(MAX_DIGITS, sys.get_int_max_str_digits() or MAX_DIGITS)
        is_plain = _POSSIBLE.issuperset(decimals) and all(chains)
        if is_plain and _are_digits(raw, most):
            return cls(symbols, addresses, chains, raw, decimals, prices)
        texts = [str(each) if isinstance(each, int) else each for each in raw]
        if is_plain and _are_digits(texts, most):
            return cls(symbols, addresses, chains, texts, decimals, prices)
        chains = [chain or None for chain in chains]
        odd = frozenset(
            place
            for place, text in enumerate(texts)
            if not (text and _only_digits(text) and len(text) <= most)
        )
        unreadable = sum(
            place in odd or each not in _POSSIBLE or chain is None
            for place, (each, chain) in enumerate(zip(decimals, chains, strict=True))
        )
        for place in odd:  # a number of too many digits stays whole
            text = texts[place]
            if text and len(text) > _LONGEST and not _only_digits(text):
                texts[place] = f"{text[: _LONGEST - 1]}…"
        return cls(symbols, addresses, chains, texts, decimals, prices, odd, unreadable)

    @property
    def flaws(self) -> str | None:
        """What a person is told of the balances that can't be read, None where there are none."""
        if not self.unreadable:
            return None
        noun = "balance" if len(self) == 1 else "balances"
        return f"{self.unreadable:,} of {len(self):,} {noun} could not be read"

    def __len__(self) -> int:
        return len(self.symbols)


def _are_digits(sent: Sequence[str | int | None], most: int) -> TypeGuard[list[str | None]]:
    """Return whether all are strings of digits, so many at most; quick where they are."""
    strings = cast("list[str]", sent)
    try:
        joined = "".join(strings)
    except TypeError:  # not all of them are strings
        return False
    if "" in strings or (joined and not (joined.isascii() and joined.encode().isdigit())):
        return False
    return len(joined) <= most or max(map(len, strings)) <= most


def _only_digits(text: str) -> bool:
    return text.isascii() and text.isdecimal()


class Status(StrEnum):
    """What became of a wallet that was asked for; the categories of the column ``status``.

    OK means known: only such a wallet has a list of balances, be it empty.
    """

    OK = "ok"
    FAILED = "failed"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    REJECTED = "rejected"
    SERVICE_ERROR = "service_error"
    INVALID = "invalid"
    MISSING = "missing"
    NOT_CACHED = "not_cached"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one wallet: there are balances where it is ok, and only there.

    The error is one line for a person, also where it is ok but balances could not be read.
    """

    status: Status
    error: str | None = None
    explorer_url: str | None = None
    balances: Balances | None = None


def unforeseen(fault: BaseException) -> Outcome:
    """Return the outcome of a wallet at which something failed that nobody has thought of.

    >>> unforeseen(ZeroDivisionError()).error
    'an unforeseen error: ZeroDivisionError'
    """
    name = type(fault).__name__  # and not its text, which may quote anything
    return Outcome(Status.INVALID, f"an unforeseen error: {name}")
