"""The input of a bulk run: a list that is checked first, or an iterator that is read lazily."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from walletframe.address import (
    WalletAddress,
    check_unreadable,
    doubts_about,
    in_one_spelling,
    is_blank,
    read_list,
    read_wallet,
    shorten,
    wallets_to_ask,
)
from walletframe.errors import AddressError, FetchWarning, InputWarning
from walletframe.notice import notify
from walletframe.walletfile import read_wallet_file

if TYPE_CHECKING:
    from walletframe.address import OnUnreadable, Reading, WalletLike, WalletsLike

BulkInput: TypeAlias = "WalletsLike | os.PathLike[str]"
Problem: TypeAlias = tuple[int, str, str]

_FILES = (".csv", ".txt")
_PROBLEMS_KEPT = 1_000


@dataclass(slots=True)
class Unreadable:
    """What of a stream is no wallet: an error hours after the start would help nobody."""

    count: int = 0
    problems: list[Problem] = field(default_factory=list)  # the first: position, value, reason

    def add(self, problem: Problem) -> None:
        """Take note of an item, and warn of the first."""
        self.count += 1
        if self.count <= _PROBLEMS_KEPT:
            self.problems.append(problem)
        if self.count == 1:
            place, value, reason = problem
            notify(
                f"item {place} (from 0) is not a wallet and is left out: {value!r}: {reason}; "
                "further ones are counted in the summary",
                FetchWarning,
            )


@dataclass(frozen=True, slots=True)
class Listing:
    """The wallets to fetch."""

    whole: list[WalletAddress] | None  # distinct, in the order asked; None for a stream
    wallets: Iterator[WalletAddress]  # the same, or the stream, which may repeat itself
    unreadable: Unreadable


def list_wallets(given: BulkInput, on_unreadable: OnUnreadable | None = None) -> Listing:
    """Read and check a list or a file as a whole; of an iterator, nothing is read yet.

    By default a list or a file raises for what is no wallet, and an iterator drops it.
    """
    check_unreadable(on_unreadable or "drop")
    unreadable = Unreadable()
    if isinstance(given, Iterator):
        may_drop = on_unreadable != "raise"
        stream = in_one_spelling(_streamed(given, unreadable, may_drop=may_drop))
        return Listing(None, _with_doubts(stream), unreadable)
    whole = wallets_to_ask(_read(given), on_unreadable or "raise")
    return Listing(whole, iter(whole), unreadable)


def _read(given: WalletsLike | os.PathLike[str]) -> Reading:
    if isinstance(given, os.PathLike) or (
        isinstance(given, str) and given.lower().endswith(_FILES)
    ):
        return read_wallet_file(Path(given))
    return read_list(given)


def _streamed(
    items: Iterator[WalletLike], unreadable: Unreadable, *, may_drop: bool
) -> Iterator[WalletAddress]:
    for place, item in enumerate(items):
        wallet = read_wallet(item)
        if isinstance(wallet, WalletAddress):
            yield wallet
        elif not is_blank(item):
            problem = (place, shorten(item), wallet)
            if not may_drop:
                raise AddressError([problem])
            unreadable.add(problem)


def _with_doubts(wallets: Iterator[WalletAddress]) -> Iterator[WalletAddress]:
    """Pass wallets on, and warn of the first whose blockchain is not known."""
    for wallet in wallets:
        doubts = doubts_about([wallet])
        if doubts:
            notify(doubts, InputWarning)
        yield wallet
        if doubts:
            yield from wallets
