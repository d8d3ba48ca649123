"""Files of wallets, read a line at a time, each wallet with the number of its line."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, TypeAlias

from walletframe.address import read_rows
from walletframe.errors import AddressError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from walletframe.address import Reading, WalletLike

Numbered: TypeAlias = "tuple[int, WalletLike]"


def read_wallet_file(path: Path) -> Reading:
    """Read a file of wallets whole, as `wallets_of_file` does."""
    return read_rows(wallets_of_file(path), _lines_of(path))


def wallets_of_file(path: Path) -> Iterator[Numbered]:
    """Hand out line number and wallet of a UTF-8 file: a CSV by its columns, all else by line."""
    number = 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = _csv_rows(file, path) if path.suffix.lower() == ".csv" else wallets_of_lines(file)
        try:
            for number, wallet in rows:
                yield number, wallet
        except (UnicodeDecodeError, csv.Error) as fault:
            reason = f"what follows can't be read: {fault}"
        else:
            return
    raise AddressError([(number, path.name, reason)], _lines_of(path))


def wallets_of_lines(lines: Iterable[str]) -> Iterator[Numbered]:
    """Hand out line number, from 1, and wallet; # begins a comment, empty lines are left out."""
    for number, line in enumerate(lines, 1):
        wallet = line.partition("#")[0].strip()
        if wallet:
            yield number, wallet


def _csv_rows(lines: Iterable[str], path: Path) -> Iterator[Numbered]:
    reader = csv.DictReader(lines)
    reader.fieldnames = columns = [name.strip() for name in reader.fieldnames or []]
    if {"blockchain", "address"} <= set(columns):
        names = ["blockchain", "address"]
    elif len(columns) == 1:
        names = [*columns]
    else:
        one = "a single column of <BLOCKCHAIN>.<ADDRESS>"
        reason = f"needs the columns blockchain and address, or {one}"
        raise AddressError([(1, ",".join(columns), reason)], _lines_of(path))
    for row in reader:
        cells = [row[each] or "" for each in names]
        if any(cell.strip() for cell in cells):
            wallet: WalletLike = cells[0] if len(cells) == 1 else (cells[0], cells[1])
            yield reader.line_num, wallet


def _lines_of(path: Path) -> str:
    return f"by line of {path}"
