"""Files of wallets, read a line at a time, each wallet with the number of its line."""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pandas as pd

from walletframe.address.forms import COLUMNS, our_names
from walletframe.address.lists import labelled, read_list, read_rows, read_table
from walletframe.errors import AddressError, ArgumentError, ColumnsError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TextIO

    from walletframe.address.forms import WalletLike
    from walletframe.address.lists import Reading, WalletsLike

Labels: TypeAlias = "tuple[str | None, ...]"
Row: TypeAlias = "tuple[int, WalletLike, Labels]"  # with what is kept
Look: TypeAlias = "Callable[[Sequence[str]], None] | None"

_LINES, _CHARACTERS = 5_000_000, 256_000_000  # of a file; its wallets are held in memory


def read_given(wallets: WalletsLike | PathLike[str], keep: Sequence[str] = ()) -> Reading:
    """Read wallets in any form, or the file at a path, with the columns to keep."""
    if not isinstance(wallets, PathLike):
        return read_table(wallets, keep) if keep else read_list(wallets)
    path = Path(wallets)
    if not keep:
        numbered = ((number, wallet) for number, wallet, _ in rows_of_file(path, ()))
        return read_rows(numbered, _lines_of(path))
    if path.suffix.lower() != ".csv":
        raise ArgumentError(
            f"{path.name!r} has no columns to keep", hint="give a CSV file, whose name ends in .csv"
        )
    rows = {number: (wallet, labels) for number, wallet, labels in rows_of_file(path, keep)}
    reading = read_rows(((number, rows[number][0]) for number in rows), _lines_of(path))
    told = [rows[number][1] for number in reading.places]
    return labelled(reading, pd.DataFrame(told, columns=[*keep]))


def rows_of_file(path: Path, keep: Sequence[str], look: Look = None) -> Iterator[Row]:
    """Hand out line number, wallet and the columns to keep of a file, all None where no CSV.

    ``look`` gets the names of a CSV's columns first, and may refuse them.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from rows_of(file, path, keep, look)


def rows_of(file: TextIO, path: Path, keep: Sequence[str], look: Look = None) -> Iterator[Row]:
    """Hand out the same of a file that is open; it is read once, so that it can be a pipe.

    But in a CSV, # begins a comment, and empty lines are left out.
    """
    number, lines = 0, _bounded(file)
    if path.suffix.lower() == ".csv":
        rows = _csv_rows(lines, path, keep, look)
    else:
        texts = ((number, line.partition("#")[0].strip()) for number, line in enumerate(lines, 1))
        rows = ((number, text, (None,) * len(keep)) for number, text in texts if text)
    try:
        for row in rows:
            number = row[0]
            yield row
    except (UnicodeDecodeError, csv.Error, OverflowError) as fault:
        reason = f"what follows can't be read: {fault}"
    else:
        return
    raise AddressError([(number, path.name, reason)], _lines_of(path))


def _bounded(file: TextIO) -> Iterator[str]:
    """Hand out lines, up to a bound: a device or a pipe may have no end."""
    lines, left = 0, _CHARACTERS
    while line := file.readline(left + 1):
        lines, left = lines + 1, left - len(line)
        if lines > _LINES or left < 0:
            most = f"{_LINES:,} lines or {_CHARACTERS:,} characters"
            raise OverflowError(f"the file has more than {most}")
        yield line


def _csv_rows(lines: Iterable[str], path: Path, keep: Sequence[str], look: Look) -> Iterator[Row]:
    reader = csv.DictReader(lines)
    wanted = {each.casefold(): each for each in (*COLUMNS, "walletAddress", *keep)}
    written = [name.strip() for name in reader.fieldnames or []]
    columns = our_names([wanted.get(name.casefold(), name) for name in written])
    if look is not None:
        look(columns)
    reader.fieldnames = columns
    if missing := [name for name in keep if name not in columns]:
        raise ColumnsError(missing, columns, hint=f"columns of the file {path.name}")
    others = [name for name in columns if name not in keep]
    if len(columns) - len(others) > len(keep):
        raise SettingsError(f"keep: {list(keep)!r}", hint=f"{path.name} has one of these twice")
    if {*COLUMNS} <= {*columns}:
        names = [*COLUMNS]
    elif len(others) == 1:
        names = others
    else:
        one = "a single column of <BLOCKCHAIN>.<ADDRESS>"
        reason = f"needs the columns blockchain and address, or {one}"
        raise AddressError([(1, ",".join(columns), reason)], _lines_of(path))
    for row in reader:
        cells = [row[each] or "" for each in names]
        if any(cell.strip() for cell in cells):
            wallet: WalletLike = cells[0] if len(cells) == 1 else (cells[0], cells[1])
            yield reader.line_num, wallet, tuple(row[each] for each in keep)


def _lines_of(path: Path) -> str:
    return f"by line of {path}"
