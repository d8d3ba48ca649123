"""Files of wallets, read a line at a time, each wallet with the number of its line."""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pandas as pd

from walletframe.address import labelled, read_list, read_rows, read_table
from walletframe.errors import AddressError, ArgumentError, ColumnsError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from walletframe.address import Reading, WalletLike, WalletsLike

Labels: TypeAlias = "tuple[str | None, ...]"
Row: TypeAlias = "tuple[int, WalletLike, Labels]"  # with what is kept


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


def rows_of_file(path: Path, keep: Sequence[str]) -> Iterator[Row]:
    """Hand out line number, wallet and the columns to keep of a file, all None where no CSV."""
    number = 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        if path.suffix.lower() == ".csv":
            rows = _csv_rows(file, path, keep)
        else:
            rows = rows_of_lines(file, keep)
        try:
            for row in rows:
                number = row[0]
                yield row
        except (UnicodeDecodeError, csv.Error) as fault:
            reason = f"what follows can't be read: {fault}"
        else:
            return
    raise AddressError([(number, path.name, reason)], _lines_of(path))


def rows_of_lines(lines: Iterable[str], keep: Sequence[str]) -> Iterator[Row]:
    """Hand out line number, from 1, and wallet; # begins a comment, empty lines are left out."""
    for number, line in enumerate(lines, 1):
        wallet = line.partition("#")[0].strip()
        if wallet:
            yield number, wallet, (None,) * len(keep)


def _csv_rows(lines: Iterable[str], path: Path, keep: Sequence[str]) -> Iterator[Row]:
    reader = csv.DictReader(lines)
    columns = [_wanted(name.strip(), keep) for name in reader.fieldnames or []]
    reader.fieldnames = columns
    if missing := [name for name in keep if name not in columns]:
        raise ColumnsError(missing, columns, hint=f"columns of the file {path.name}")
    others = [name for name in columns if name not in keep]
    if len(columns) - len(others) > len(keep):
        raise SettingsError(f"keep: {list(keep)!r}", hint=f"{path.name} has one of these twice")
    if {"blockchain", "address"} <= set(columns):
        names = ["blockchain", "address"]
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


def _wanted(name: str, keep: Sequence[str]) -> str:
    """Return the name that is asked for in place of one in other capitals."""
    wanted = {each.casefold(): each for each in ("blockchain", "address", *keep)}
    return wanted.get(name.casefold(), name)


def _lines_of(path: Path) -> str:
    return f"by line of {path}"
