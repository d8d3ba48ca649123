"""Wallets as people have them: in lists and tables, or pasted from a chat; and what is asked for.

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
    A_FILE,
    A_FILE_IN_SHELL,
    WalletAddress,
    WalletLike,
    canonical_blockchain,
    canonical_key,
    is_blank,
    read_wallet,
    shorten,
)
from walletframe.chains import doubt, known_blockchains
from walletframe.errors import (
    AddressError,
    ColumnsError,
    Either,
    InputWarning,
    SettingsError,
    Spelled,
)
from walletframe.notice import notify
from walletframe.numerals import many
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from walletframe.errors import Piece, Text

WalletsLike: TypeAlias = "WalletLike | Iterable[WalletLike] | pd.Series | pd.DataFrame"
OnUnreadable: TypeAlias = Literal["raise", "drop"]
Problem: TypeAlias = tuple[int, str, str]

COLUMNS = ("blockchain", "address")
FROM_0 = "by position, from 0"
_NAMED = 3
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
    where: str = FROM_0  # what the positions count
    labels: pd.DataFrame | None = None  # what else is kept of each of the wallets


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
    if isinstance(wallets, pd.DataFrame):
        return read_rows(enumerate(frame_rows(wallets)))
    if isinstance(wallets, np.ndarray):
        return read_rows(enumerate(wallets.tolist()))
    is_one = isinstance(wallets, str | bytes | Mapping | WalletAddress) or _is_pair(wallets)
    if isinstance(wallets, Iterable) and not is_one:
        return read_rows(enumerate(wallets))
    wallet = read_wallet(wallets)
    if isinstance(wallet, str):
        return Reading([], [], 1, 0, [(0, shorten(wallets), wallet)])
    return Reading([wallet], [0], 1, 0, [])


def _is_pair(item: object) -> bool:
    # A dotted string can't begin a pair, because an identifier has no dot: no list is misread.
    return (
        isinstance(item, tuple)
        and len(item) == len(COLUMNS)
        and all(isinstance(part, str) for part in item)
        and "." not in item[0]
    )


def parse_wallets(wallets: WalletsLike) -> list[WalletAddress]:
    """Read wallets in any form, repeats included; or refuse all that can't be read at once."""
    reading = read_list(wallets)
    if reading.problems:
        raise AddressError(reading.problems)
    return reading.wallets


def distinct_wallets(wallets: Iterable[WalletAddress]) -> list[WalletAddress]:
    """Return each wallet once, as it was first written, in the order of the first mention."""
    first: dict[tuple[str, str], WalletAddress] = {}
    for wallet in wallets:
        first.setdefault(canonical_key(wallet.blockchain, wallet.address), wallet)
    return list(first.values())


def in_one_spelling(wallets: Iterable[WalletAddress]) -> Iterator[WalletAddress]:
    """Spell a blockchain that is not known as it was first written."""
    first: dict[str, str] = {}
    for wallet in wallets:
        name = first.setdefault(canonical_blockchain(wallet.blockchain), wallet.blockchain)
        yield wallet if name == wallet.blockchain else WalletAddress(name, wallet.address)


def frame_rows(frame: pd.DataFrame) -> Iterable[object]:
    """Hand out what stands in each row of a DataFrame; ColumnsError where that is no wallet."""
    missing = [name for name in COLUMNS if name not in frame.columns]
    if len(frame.columns) == 1 and len(missing) == len(COLUMNS):
        return frame.iloc[:, 0]
    if missing:
        raise ColumnsError(
            missing,
            [str(name) for name in frame.columns],
            hint=Spelled(
                "rename the columns",
                Either(", add .assign(blockchain=…) where all wallets are on one blockchain"),
                ', or give a single column of "<BLOCKCHAIN>.<ADDRESS>"',
            ),
        )
    for name in COLUMNS:
        if frame[name].ndim > 1:
            raise AddressError([(0, name, "the DataFrame has this column twice")])
    return zip(frame["blockchain"], frame["address"], strict=True)


def asked_wallets(
    reading: Reading, on_unreadable: OnUnreadable, *, place: Callable[[int], str] = str
) -> list[WalletAddress]:
    """Return the distinct wallets in the order of the first mention; warn of repeats and gaps."""
    _refuse_unreadable(reading, on_unreadable)
    wallets = distinct_wallets(reading.wallets)
    if len(wallets) < len(reading.wallets) or reading.problems:
        notify(_summed_up(reading, len(wallets), place), InputWarning)
    return wallets


def wallets_to_ask(reading: Reading, on_unreadable: OnUnreadable) -> list[WalletAddress]:
    """Return what `asked_wallets` does, and warn of blockchains that are not known."""
    wallets = asked_wallets(reading, on_unreadable)
    warn_of_doubts(wallets)
    return wallets


def accepted_wallets(reading: Reading, on_unreadable: OnUnreadable) -> list[WalletAddress]:
    """Return the wallets at `Reading.places`, repeats included; warn of what was left out."""
    _refuse_unreadable(reading, on_unreadable)
    if reading.problems:
        notify(_summed_up(reading, len(distinct_wallets(reading.wallets)), str), InputWarning)
    return reading.wallets


def doubts_about(wallets: Iterable[WalletAddress]) -> Text:
    """Say on one line which blockchains may be mistaken, and which were meant; else nothing."""
    names = dict.fromkeys(wallet.blockchain for wallet in wallets)
    doubts = [each for each in map(doubt, names) if each]
    if not doubts:
        return ""
    said = " ".join(each if each.endswith("?") else f"{each};" for each in doubts[:_NAMED])
    more = f" and {len(doubts) - _NAMED:,} more;" if len(doubts) > _NAMED else ""
    known = f"{said}{more} {many(len(known_blockchains()), 'blockchain')} are known"
    return Spelled(known, Either(", see wf.blockchains()"))


def warn_of_doubts(wallets: Iterable[WalletAddress]) -> None:
    """Warn of blockchains that are not known."""
    doubts = doubts_about(wallets)
    if doubts:
        notify(doubts, InputWarning)


def check_unreadable(choice: str | None) -> None:
    """Refuse another word than ``raise`` and ``drop``."""
    if choice not in ("raise", "drop"):
        raise SettingsError(f"on_unreadable: {choice!r}", hint="raise or drop")


def _refuse_unreadable(reading: Reading, on_unreadable: OnUnreadable) -> None:
    check_unreadable(on_unreadable)
    if reading.problems and on_unreadable == "raise":
        raise AddressError(reading.problems, reading.where)


def _summed_up(reading: Reading, distinct: int, place: Callable[[int], str]) -> Text:
    counts = {
        "repeated": len(reading.wallets) - distinct,
        "empty": reading.empty,
        "unreadable and left out": len(reading.problems),
    }
    counted = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    pieces: list[Piece] = [f"{many(reading.rows, 'row')}, {many(distinct, 'wallet')} ({counted}"]
    between = f"; {reading.where}: "
    for number, value, reason in reading.problems[:_NAMED]:
        why = Either(reason, A_FILE_IN_SHELL) if reason == A_FILE else reason
        pieces += [f"{between}{place(number)}: {shown(value)!r}: ", why]
        between = "; "
    return Spelled(*pieces, ")")


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
    match pieces:  # a blockchain and an address: neither two wallets nor words between wallets
        case (first, second) if _IDENTIFIER.fullmatch(first) and _ADDRESS.fullmatch(second):
            return parse_wallets([(first.rstrip(":"), second)])
    if wrong := [(0, piece, _A_COLON) for piece in pieces if _COLON.match(piece)]:
        raise AddressError(wrong)
    return parse_wallets(pieces)
