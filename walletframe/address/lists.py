"""Wallets as people have them: in lists and tables, or pasted from a chat.

With empty rows, repeats, and rows that can't be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address.forms import (
    WalletAddress,
    WalletLike,
    canonical_blockchain,
    is_blank,
    read_wallet,
    shorten,
)
from walletframe.errors import AddressError, ColumnsError

if TYPE_CHECKING:
    from collections.abc import Iterator

WalletsLike: TypeAlias = "WalletLike | Iterable[WalletLike] | pd.Series | pd.DataFrame"
OnUnreadable: TypeAlias = Literal["raise", "drop"]
Problem: TypeAlias = tuple[int, str, str]

COLUMNS = ("blockchain", "address")
FROM_0 = "by position, from 0"
_BETWEEN = re.compile(r"[\s,;|]+")
_NUMBERING = re.compile(r"^\s*[(\[]?\d{1,4}[.)\]](?:\s+(?=\S)|(?=[A-Z][A-Z0-9_]*\.))")
_MARK = re.compile(r"[-–—*•‣▪·+:=]+")  # noqa: RUF001 - of lists and tables; an ellipsis is none
_HEADINGS = (["blockchain", "address"], ["address"], ["wallet"], ["wallets"])
_IDENTIFIER = re.compile(r"(?!0x)[A-Za-z][\w-]*|[A-Z][A-Z0-9_]*:")
_ADDRESS = re.compile(r"(?![A-Z][A-Z0-9_]*\.).*[\d.].*")  # neither a wallet in full nor a word
_COLON = re.compile(r"(?!\w+://)[^.]*:[^.]*\.")
_A_COLON = 'a colon before the first dot: write it as in "ETH.0x52…"'
_AROUND = "\"'`“”‘’[](){}<>"  # noqa: RUF001 - what chats make of straight quotes


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read of a list, in its order: each wallet with its position, repeats included."""

    wallets: list[WalletAddress]
    places: list[int]
    rows: int  # empty ones included
    empty: int
    problems: list[Problem]
    where: str  # what the positions count


def read_rows(rows: Iterable[tuple[int, object]], where: str = FROM_0) -> Reading:
    """Read wallets that have numbers; what can't be read is among the problems."""
    wallets: list[WalletAddress] = []
    places: list[int] = []
    problems: list[Problem] = []
    count = empty = 0
    for place, item in rows:
        count += 1
        if is_blank(item):
            empty += 1
            continue
        wallet = read_wallet(item)
        if isinstance(wallet, str):
            problems.append((place, shorten(item), wallet))
        else:
            wallets.append(wallet)
            places.append(place)
    return Reading(list(in_one_spelling(wallets)), places, count, empty, problems, where)


def read_list(wallets: WalletsLike) -> Reading:
    """Read wallets in any form; a single empty one is a problem like those that can't be read."""
    if _is_one(wallets) or isinstance(wallets, bytes):
        return _read_one(wallets)
    if isinstance(wallets, pd.DataFrame):
        return read_rows(enumerate(frame_rows(wallets)))
    if isinstance(wallets, np.ndarray):
        return read_rows(enumerate(wallets.tolist()))
    if isinstance(wallets, Iterable):
        return read_rows(enumerate(wallets))
    return _read_one(wallets)


def parse_wallets(
    wallets: WalletsLike, *, on_unreadable: OnUnreadable = "raise"
) -> list[WalletAddress]:
    """Read wallets in any form, repeats included; or refuse all that can't be read at once."""
    reading = read_list(wallets)
    if reading.problems and on_unreadable == "raise":
        raise AddressError(reading.problems)
    return reading.wallets


def distinct_wallets(wallets: Iterable[WalletAddress]) -> list[WalletAddress]:
    """Return each wallet once, as it was first written, in the order of the first mention."""
    first: dict[WalletAddress, WalletAddress] = {}
    for wallet in in_one_spelling(wallets):
        first.setdefault(wallet.canonical, wallet)
    return list(first.values())


def in_one_spelling(wallets: Iterable[WalletAddress]) -> Iterator[WalletAddress]:
    """Spell a blockchain that is not known as it was first written."""
    first: dict[str, str] = {}
    for wallet in wallets:
        name = first.setdefault(canonical_blockchain(wallet.blockchain), wallet.blockchain)
        yield wallet if name == wallet.blockchain else WalletAddress(name, wallet.address)


def _read_one(item: object) -> Reading:
    """Read what is no list: there nothing may be empty."""
    wallet = read_wallet(item)
    if isinstance(wallet, str):
        return Reading([], [], 1, 0, [(0, shorten(item), wallet)], FROM_0)
    return Reading([wallet], [0], 1, 0, [], FROM_0)


def _is_one(wallets: object) -> bool:
    return isinstance(wallets, str | Mapping | WalletAddress) or _is_pair(wallets)


def _is_pair(item: object) -> bool:
    # A dotted string can't begin a pair, because an identifier has no dot: no list is misread.
    return (
        isinstance(item, tuple)
        and len(item) == len(COLUMNS)
        and all(isinstance(part, str) for part in item)
        and "." not in item[0]
    )


def frame_rows(frame: pd.DataFrame) -> Iterable[object]:
    """Hand out what stands in each row of a DataFrame; ColumnsError where that is no wallet."""
    missing = [name for name in COLUMNS if name not in frame.columns]
    if len(frame.columns) == 1 and len(missing) == len(COLUMNS):
        return frame.iloc[:, 0]
    if missing:
        raise ColumnsError(
            missing,
            [str(name) for name in frame.columns],
            hint="rename the columns, add .assign(blockchain=…) where all wallets are on one "
            'blockchain, or give a single column of "<BLOCKCHAIN>.<ADDRESS>"',
        )
    for name in COLUMNS:
        if frame[name].ndim > 1:
            raise AddressError([(0, name, "the DataFrame has this column twice")])
    return zip(frame["blockchain"], frame["address"], strict=True)


@dataclass(frozen=True, slots=True)
class Pasted:
    """What was found in a text, in its order."""

    wallets: list[WalletAddress]
    problems: list[Problem]  # line from 1, the piece that can't be read, the reason
    unread: str  # the lines with a problem, whole, to be mended


def read_pasted(text: str) -> Pasted:
    """Read wallets from a text, and say of each line why it can't be read.

    A comment, a list's marks and numbers, and a line of headings name nothing. A line is read as a
    whole or not at all.
    """
    wallets: list[WalletAddress] = []
    problems: list[Problem] = []
    unread: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            wallets += _read_line(line.partition("#")[0])
        except AddressError as error:
            problems += [(number, value, reason) for _, value, reason in error.problems]
            unread.append(line)
    return Pasted(wallets, problems, "\n".join(unread))


def _read_line(line: str) -> list[WalletAddress]:
    named = [piece.strip(_AROUND) for piece in _BETWEEN.split(_NUMBERING.sub("", line))]
    pieces = [piece for piece in named if piece and not _MARK.fullmatch(piece)]
    if [piece.casefold() for piece in pieces] in _HEADINGS:
        return []
    if len(pieces) == 2 and _is_row(*pieces):  # noqa: PLR2004 - two columns
        return parse_wallets([(pieces[0].rstrip(":"), pieces[1])])
    if wrong := [(0, piece, _A_COLON) for piece in pieces if _COLON.match(piece)]:
        raise AddressError(wrong)
    return parse_wallets(pieces)


def _is_row(first: str, second: str) -> bool:
    """Tell a blockchain and an address from two wallets, and from words between wallets."""
    return bool(_IDENTIFIER.fullmatch(first) and _ADDRESS.fullmatch(second))
