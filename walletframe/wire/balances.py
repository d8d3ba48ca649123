"""The balances of one wallet, as columns."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard, cast

from walletframe.amounts.integers import MAX_DECIMALS, MAX_DIGITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.wire.schemas import SentBalance

_VALID_DECIMALS = frozenset(range(MAX_DECIMALS + 1))
_MAX_KEPT_CHARS = 200  # maximum length of an unreadable amount


@dataclass(frozen=True, slots=True)
class Balances:
    """The balances of one wallet, as columns of equal length in the order of the answer.

    A token without blockchain is unknown. A token with only a blockchain is the native coin.
    Amounts are in base units. Unreadable amounts may be truncated.
    """

    symbols: list[str | None]
    token_addresses: list[str | None]
    token_blockchains: list[str | None]
    raw_amounts: list[str | None]
    decimals: list[int | None]
    prices: list[float | None]
    unreadable_positions: frozenset[int] = frozenset()  # of unreadable amounts
    unreadable_count: int = 0  # of balances with an unreadable amount, decimals or token

    @classmethod
    def from_sent_balances(cls, sent: Sequence[SentBalance]) -> Balances:
        """Convert decoded balances to columns."""
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
        # Only null means the native coin: "" is an unknown token.
        if not all(addresses) and "" in addresses:
            chains = [
                None if address == "" else chain
                for chain, address in zip(chains, addresses, strict=True)
            ]
            addresses = [address or None for address in addresses]
        max_digits = min(MAX_DIGITS, sys.get_int_max_str_digits() or MAX_DIGITS)
        is_plain = _VALID_DECIMALS.issuperset(decimals) and all(chains)
        if is_plain and _all_digits(raw, max_digits):
            return cls(symbols, addresses, chains, raw, decimals, prices)
        texts = [str(each) if isinstance(each, int) else each for each in raw]
        if is_plain and _all_digits(texts, max_digits):
            return cls(symbols, addresses, chains, texts, decimals, prices)
        chains = [chain or None for chain in chains]
        invalid = frozenset(
            n
            for n, text in enumerate(texts)
            if not (text and _has_only_digits(text) and len(text) <= max_digits)
        )
        unreadable = sum(
            n in invalid or each not in _VALID_DECIMALS or chain is None
            for n, (each, chain) in enumerate(zip(decimals, chains, strict=True))
        )
        for n in invalid:  # an amount of only digits is not truncated
            text = texts[n]
            if text and len(text) > _MAX_KEPT_CHARS and not _has_only_digits(text):
                texts[n] = f"{text[: _MAX_KEPT_CHARS - 1]}…"
        return cls(symbols, addresses, chains, texts, decimals, prices, invalid, unreadable)

    @property
    def unreadable_message(self) -> str | None:
        """A message about unreadable balances, or None if there are none."""
        if not self.unreadable_count:
            return None
        noun = "balance" if len(self) == 1 else "balances"
        return f"{self.unreadable_count:,} of {len(self):,} {noun} could not be read"

    def __len__(self) -> int:
        return len(self.symbols)


def _all_digits(values: Sequence[str | int | None], max_digits: int) -> TypeGuard[list[str | None]]:
    strings = cast("list[str]", values)
    try:
        joined = "".join(strings)
    except TypeError:  # not all values are strings
        return False
    if "" in strings or (joined and not (joined.isascii() and joined.encode().isdigit())):
        return False
    return len(joined) <= max_digits or max(map(len, strings)) <= max_digits


def _has_only_digits(text: str) -> bool:
    return text.isascii() and text.isdecimal()
