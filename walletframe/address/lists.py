"""Wallets as people have them: in lists and tables, or pasted from a chat; and what is asked for.

With empty rows, repeats, rows that can't be read, and the columns that a table's user keeps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from walletframe.address import forms
from walletframe.address.forms import WalletAddress, WalletLike, canonical_key
from walletframe.chains import doubt, known_blockchains
from walletframe.errors import (
    AddressError,
    ArgumentError,
    ColumnsError,
    InputWarning,
    SettingsError,
)
from walletframe.notice import notify
from walletframe.numerals import many
from walletframe.pandas_versions import TEXT, factorized
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    Places = npt.NDArray[np.intp]

WalletsLike: TypeAlias = "WalletLike | Iterable[WalletLike] | pd.Series | pd.DataFrame"
OnUnreadable: TypeAlias = Literal["raise", "drop"]
Problem: TypeAlias = tuple[int, str, str]
T = TypeVar("T")

FROM_0 = "by position, from 0"
_NAMED = 3
_BETWEEN = re.compile(r"[\s,;|]+")
_NUMBERING = re.compile(r"^\s*[(\[]?\d{1,4}[.)\]](?:\s+(?=\S)|(?=[A-Z][A-Z0-9_]*\.))")
_MARK = re.compile(r"[-–—*•‣▪·+:=]+")  # noqa: RUF001 - of lists and tables; an ellipsis is none
_ADDRESSES = ("address", "walletaddress", "wallet", "wallets")
_HEADINGS = (*([name] for name in _ADDRESSES), *(["blockchain", name] for name in _ADDRESSES[:2]))
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
        if forms.is_blank(item):
            empty += 1
            continue
        wallet = forms.read_wallet(item)
        if isinstance(wallet, str):
            problems.append((place, forms.shorten(item), wallet))
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
    # A dotted string can't begin a pair, because an identifier has no dot: no list is misread.
    is_pair = (
        isinstance(wallets, tuple)
        and len(wallets) == len(forms.COLUMNS)
        and all(isinstance(part, str) for part in wallets)
        and "." not in wallets[0]
    )
    is_one = is_pair or isinstance(wallets, str | bytes | Mapping | WalletAddress)
    if isinstance(wallets, Iterable) and not is_one:
        return read_rows(enumerate(wallets))
    wallet = forms.read_wallet(wallets)
    if isinstance(wallet, str):
        return Reading([], [], 1, 0, [(0, forms.shorten(wallets), wallet)])
    return Reading([wallet], [0], 1, 0, [])


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
        name = first.setdefault(forms.canonical_blockchain(wallet.blockchain), wallet.blockchain)
        yield wallet if name == wallet.blockchain else WalletAddress(name, wallet.address)


def in_our_names(frame: T) -> T:
    """Return a frame, of pandas or Dask, in which the columns of wallets have our names."""
    table: Any = frame
    names = zip(table.columns, forms.our_names(table.columns), strict=True)
    renamed: T = table.rename(columns=dict(names))
    return renamed


def frame_rows(frame: pd.DataFrame) -> Iterable[object]:
    """Hand out what stands in each row of a DataFrame; ColumnsError where that is no wallet."""
    frame = in_our_names(frame)
    missing = [name for name in forms.COLUMNS if name not in frame.columns]
    if len(frame.columns) == 1 and len(missing) == len(forms.COLUMNS):
        return frame.iloc[:, 0]
    if missing:
        raise ColumnsError(
            missing,
            [str(name) for name in frame.columns],
            hint=(
                "rename the columns, add .assign(blockchain=…) where all wallets are on one "
                'blockchain, or give a single column of "<BLOCKCHAIN>.<ADDRESS>"'
            ),
        )
    for name in forms.COLUMNS:
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


def doubts_about(wallets: Iterable[WalletAddress]) -> str:
    """Return a line with the blockchains that may be mistaken and what was meant; else nothing."""
    names = dict.fromkeys(wallet.blockchain for wallet in wallets)
    doubts = [each for each in map(doubt, names) if each]
    if not doubts:
        return ""
    said = " ".join(each if each.endswith("?") else f"{each};" for each in doubts[:_NAMED])
    more = f" and {len(doubts) - _NAMED:,} more;" if len(doubts) > _NAMED else ""
    known = f"{said}{more} {many(len(known_blockchains()), 'blockchain')} are known"
    return f"{known}, see wf.blockchains()"


def warn_of_doubts(wallets: Iterable[WalletAddress]) -> None:
    """Warn of blockchains that are not known."""
    if doubts := doubts_about(wallets):
        notify(doubts, InputWarning)


def check_unreadable(choice: str | None) -> None:
    """Refuse another word than ``raise`` and ``drop``."""
    if choice not in ("raise", "drop"):
        raise SettingsError(f"on_unreadable: {choice!r}", hint="raise or drop")


def _refuse_unreadable(reading: Reading, on_unreadable: OnUnreadable) -> None:
    check_unreadable(on_unreadable)
    if reading.problems and on_unreadable == "raise":
        raise AddressError(reading.problems, reading.where)


def _summed_up(reading: Reading, distinct: int, place: Callable[[int], str]) -> str:
    counts = {
        "repeated": len(reading.wallets) - distinct,
        "empty": reading.empty,
        "unreadable and left out": len(reading.problems),
    }
    counted = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    listed = "; ".join(
        f"{place(number)}: {shown(value)!r}: {reason}"
        for number, value, reason in reading.problems[:_NAMED]
    )
    where = f"; {reading.where}: {listed}" if listed else ""
    return f"{many(reading.rows, 'row')}, {many(distinct, 'wallet')} ({counted}{where})"


def read_table(table: object, keep: Sequence[str]) -> Reading:
    """Read a DataFrame, with the columns to keep."""
    if not isinstance(table, pd.DataFrame):
        raise ArgumentError(
            f"wallets of type {type(table).__name__} have no columns to keep",
            hint="give a DataFrame, or the path of a CSV file",
        )
    if missing := [name for name in keep if name not in table.columns]:
        raise ColumnsError(missing, [str(name) for name in table.columns])
    labels = table[[*keep]]
    if labels.shape[1] > len(keep):
        raise SettingsError(f"keep: {list(keep)!r}", hint="one of these is there twice")
    reading = read_rows(enumerate(frame_rows(table.drop(columns=[*keep]))))
    return labelled(reading, labels.iloc[reading.places].reset_index(drop=True))


def labelled(reading: Reading, labels: pd.DataFrame) -> Reading:
    """Add a user's own columns to the wallets, by row; blank texts are missing."""
    trimmed = {name: _trimmed(column) for name, column in labels.items()}
    return replace(reading, labels=pd.DataFrame(trimmed))


def _trimmed(column: pd.Series) -> pd.Series:
    """Return a column whose texts have no white space around them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        labels = [label for label in column.cat.categories if isinstance(label, str)]
        if all(label and label == label.strip() for label in labels):
            return column
    elif column.dtype.kind not in "OU":
        return column
    cells = [cell.strip() or None if isinstance(cell, str) else cell for cell in column]
    is_text = all(isinstance(cell, str) for cell in cells if not forms.is_empty(cell))
    if is_text:  # a lone surrogate is in no column of text; what is no text is missing
        texts = (cell if isinstance(cell, str) else None for cell in cells)
        cells = [text and text.encode("utf-8", "replace").decode() for text in texts]
    return pd.Series(cells, index=column.index, dtype=TEXT if is_text else object)


def distinct_labels(reading: Reading, *, place: Callable[[int], str] = str) -> pd.DataFrame | None:
    """Return a row for each distinct wallet: the first that is told of it; warn where more is."""
    if reading.labels is None:
        return None
    keys: dict[tuple[str, str], int] = {}
    named = (canonical_key(wallet.blockchain, wallet.address) for wallet in reading.wallets)
    codes = np.array([keys.setdefault(key, len(keys)) for key in named], dtype=np.intp)
    columns = {}
    for name, column in reading.labels.items():
        rows, others = telling_rows(str(name), codes, column)
        if len(others):
            pairs = [(int(rows[codes[row]]), row) for row in others]
            _warn_of(str(name), reading, column, pairs, place)
        columns[name] = column.array.take(rows, allow_fill=bool((rows < 0).any()))
    return pd.DataFrame(columns, index=range(len(keys)))


def telling_rows(name: str, codes: Places, column: Any) -> tuple[Places, list[int]]:
    """Return the first labelled row of each code, -1 for none, and the rows that contradict it."""
    try:
        labels, _ = factorized(column)
    except TypeError:
        raise unnameable(name) from None
    told = np.flatnonzero(labels >= 0)
    rows = np.full(int(codes.max(initial=-1)) + 1, -1)
    rows[codes[told[::-1]]] = told[::-1]
    others = told[labels[told] != labels[rows[codes[told]]]]
    return rows, others.tolist()


def unnameable(name: str) -> SettingsError:
    """Make the error for a column whose values can't be compared."""
    return SettingsError(
        f"the column {shown(name)!r} holds lists or the like, which name no group",
        hint="make text of them: .astype('str')",
    )


def _warn_of(
    name: str,
    reading: Reading,
    column: pd.Series,
    pairs: list[tuple[int, int]],
    place: Callable[[int], str],
) -> None:
    """Warn of wallets with several labels, and name the rows."""

    def label(row: int) -> str:
        return f"{shown(str(column.iloc[row]))!r} at {place(reading.places[row])}"

    cells = [
        f"{shown(str(reading.wallets[first]))}: {label(first)}, {label(other)}"
        for first, other in pairs[:_NAMED]
    ]
    more = f"; and {len(pairs) - _NAMED:,} more" if len(pairs) > _NAMED else ""
    said = f"{many(len(pairs), 'row')} with another {shown(name)!r} than before for one wallet"
    text = f"{said}; the first is kept ({reading.where}: {'; '.join(cells)}{more})"
    notify(text, InputWarning)


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
