"""Read files of wallets line by line, with the line number of each wallet."""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

import pandas as pd

from walletframe.address.forms import COLUMNS, standard_column_names
from walletframe.address.lists import add_extra_columns, read_frame, read_list, read_numbered
from walletframe.chains import find_blockchain
from walletframe.errors import AddressError, ArgumentError, ColumnsError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TextIO

    from walletframe.address.forms import WalletLike
    from walletframe.address.lists import ParsedWallets, WalletsLike

ExtraValues: TypeAlias = "tuple[str | None, ...]"
Row: TypeAlias = "tuple[int, WalletLike, ExtraValues]"  # line number, wallet, extra columns
ColumnsCheck: TypeAlias = "Callable[[Sequence[str]], None] | None"

_MAX_LINES, _MAX_CHARACTERS = 5_000_000, 256_000_000  # all wallets are kept in memory


def read_input(wallets: WalletsLike | PathLike[str], keep: Sequence[str] = ()) -> ParsedWallets:
    """Read wallets from a file or in any other form, with the extra columns `keep`.

    A text that ends in .csv or .txt is a path. But if no such file exists, a text such as
    NEAR.name.txt, which starts with a blockchain, is a wallet.
    """
    if _is_file_name(wallets):
        wallets = Path(wallets)
    if not isinstance(wallets, PathLike):
        return read_frame(wallets, keep) if keep else read_list(wallets)
    path = Path(wallets)
    if not keep:
        numbered = ((number, wallet) for number, wallet, _ in read_file_rows(path, ()))
        return read_numbered(numbered, _listed_by_line(path))
    if path.suffix.lower() != ".csv":
        raise ArgumentError(
            f"{path.name!r} has no columns to keep, since it is not a CSV file",
            hint="use a CSV file, whose name ends in .csv",
        )
    rows = {number: (wallet, labels) for number, wallet, labels in read_file_rows(path, keep)}
    parsed = read_numbered(((number, rows[number][0]) for number in rows), _listed_by_line(path))
    labels = [rows[number][1] for number in parsed.positions]
    return add_extra_columns(parsed, pd.DataFrame(labels, columns=[*keep]))


def _is_file_name(wallets: object) -> TypeGuard[str]:
    if not isinstance(wallets, str) or not wallets.lower().endswith((".csv", ".txt")):
        return False
    return Path(wallets).is_file() or not find_blockchain(wallets.partition(".")[0])


def read_file_rows(path: Path, keep: Sequence[str], check: ColumnsCheck = None) -> Iterator[Row]:
    """Yield the line number, the wallet and the extra columns of each row of a file.

    In a text file, the extra columns are None. Before reading the rows of a CSV file, the function
    calls `check` with the column names. `check` may raise an error.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from read_open_file(file, path, keep, check)


def read_open_file(
    file: TextIO, path: Path, keep: Sequence[str], check: ColumnsCheck = None
) -> Iterator[Row]:
    """Yield the rows of an open file or pipe. In a text file, ``#`` begins a comment."""
    number, lines = 0, _lines_within_limit(file)
    if path.suffix.lower() == ".csv":
        rows = _csv_rows(lines, path, keep, check)
    else:
        texts = ((number, line.partition("#")[0].strip()) for number, line in enumerate(lines, 1))
        rows = ((number, text, (None,) * len(keep)) for number, text in texts if text)
    try:
        for row in rows:
            number = row[0]
            yield row
    except (UnicodeDecodeError, csv.Error, OverflowError) as fault:
        reason = f"the rest of the file can't be read: {fault}"
    else:
        return
    raise AddressError([(number, path.name, reason)], _listed_by_line(path))


def _lines_within_limit(file: TextIO) -> Iterator[str]:
    """Yield lines. Raise an OverflowError after the limit, since a pipe may be endless."""
    lines, remaining = 0, _MAX_CHARACTERS
    while line := file.readline(remaining + 1):
        lines, remaining = lines + 1, remaining - len(line)
        if lines > _MAX_LINES or remaining < 0:
            limits = f"{_MAX_LINES:,} lines or {_MAX_CHARACTERS:,} characters"
            raise OverflowError(f"the file has more than {limits}")
        yield line


def _csv_rows(
    lines: Iterable[str], path: Path, keep: Sequence[str], check: ColumnsCheck
) -> Iterator[Row]:
    reader = csv.DictReader(lines)
    wanted = {each.casefold(): each for each in keep}
    headers = [name.strip() for name in reader.fieldnames or []]
    columns = standard_column_names([wanted.get(name.casefold(), name) for name in headers])
    if check is not None:
        check(columns)
    reader.fieldnames = columns
    if missing := [name for name in keep if name not in columns]:
        raise ColumnsError(missing, columns, hint=f"choose from the columns of {path.name}")
    remaining = [name for name in columns if name not in keep]
    if len(columns) - len(remaining) > len(keep):
        duplicate = next(name for name in keep if columns.count(name) > 1)
        raise SettingsError(f"{path.name} has two columns {duplicate!r}", "rename one of them")
    has_both = {*COLUMNS} <= {*columns}
    if not has_both and len(remaining) != 1:
        single = "a single column of wallets such as <BLOCKCHAIN>.<ADDRESS>"
        reason = f"a file needs the columns blockchain and address, or {single}"
        raise AddressError([(1, ",".join(columns), reason)], _listed_by_line(path))
    names = [*COLUMNS] if has_both else remaining
    for row in reader:
        cells = [row[each] or "" for each in names]
        if any(cell.strip() for cell in cells):
            wallet: WalletLike = cells[0] if len(cells) == 1 else (cells[0], cells[1])
            yield reader.line_num, wallet, tuple(row[each] for each in keep)


def _listed_by_line(path: Path) -> str:
    return f"listed by line number in {path}"
