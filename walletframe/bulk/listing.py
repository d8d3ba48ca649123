"""What a bulk run is given: wallets of which all are checked first, or a stream read as it goes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from walletframe.address import distinct_wallets, parse_wallets
from walletframe.errors import AddressError, FetchWarning
from walletframe.notice import notify
from walletframe.walletfile import read_wallet_file

if TYPE_CHECKING:
    from walletframe.address import WalletAddress, WalletLike, WalletsLike

BulkInput: TypeAlias = "WalletsLike | os.PathLike[str]"
Problem: TypeAlias = tuple[int, str, str]

_FILES = (".csv", ".txt")
_PROBLEMS_KEPT = 1_000


@dataclass(slots=True)
class Unreadable:
    """What of a stream is no wallet: an error hours after the start would help nobody.

    Attributes
    ----------
    count : int
        How many items there were.
    problems : list of (int, str, str)
        Position from 0, value and reason of the first thousand.
    """

    count: int = 0
    problems: list[Problem] = field(default_factory=list)

    def add(self, problem: Problem) -> None:
        """Take note of an item, and warn of the first.

        Parameters
        ----------
        problem : tuple of (int, str, str)
            Position, value and reason.
        """
        self.count += 1
        if self.count <= _PROBLEMS_KEPT:
            self.problems.append(problem)
        if self.count == 1:
            place, value, reason = problem
            notify(
                f"item {place} (from 0) is no wallet and is left out: {value!r}: {reason}; "
                "more of the kind are counted in the summary",
                FetchWarning,
            )


@dataclass(frozen=True, slots=True)
class Listing:
    """The wallets to fetch.

    Attributes
    ----------
    whole : list of WalletAddress or None
        The distinct wallets, in the order asked; None for a stream.
    wallets : iterator of WalletAddress
        The same or the stream, which may repeat itself.
    unreadable : Unreadable
        What of a stream is no wallet.
    """

    whole: list[WalletAddress] | None
    wallets: Iterator[WalletAddress]
    unreadable: Unreadable


def list_wallets(given: BulkInput) -> Listing:
    """Tell a list from a file and from a stream, and check what can be checked.

    Parameters
    ----------
    given : str, tuple, mapping, WalletAddress, Series, DataFrame, path, iterator or iterable
        A path, or a str that ends in ``.csv`` or ``.txt``, is a file. An iterator is a stream.

    Returns
    -------
    Listing
        Of a stream, nothing is read yet.

    Raises
    ------
    AddressError
        Naming every wallet of a list or a file that can't be read.
    ColumnsError
        Where a DataFrame lacks one of the two columns.
    OSError
        Where there is no such file.

    Examples
    --------
    >>> list_wallets(["ETH.0xA", "eth.0xa"]).whole
    [WalletAddress(blockchain='ETH', address='0xA')]
    >>> list_wallets(iter(["ETH.0xA"])).whole
    """
    unreadable = Unreadable()
    if isinstance(given, Iterator):
        return Listing(None, _streamed(given, unreadable), unreadable)
    whole = distinct_wallets(_parsed(given))
    return Listing(whole, iter(whole), unreadable)


def _parsed(given: WalletsLike | os.PathLike[str]) -> list[WalletAddress]:
    if isinstance(given, os.PathLike):
        return read_wallet_file(Path(given))
    if isinstance(given, str) and given.lower().endswith(_FILES):
        return read_wallet_file(Path(given))
    return parse_wallets(given)


def _streamed(items: Iterator[WalletLike], unreadable: Unreadable) -> Iterator[WalletAddress]:
    for place, item in enumerate(items):
        try:
            wallets = parse_wallets([item])
        except AddressError as fault:
            [(_, value, reason)] = fault.problems
            unreadable.add((place, value, reason))
        else:
            yield from wallets
