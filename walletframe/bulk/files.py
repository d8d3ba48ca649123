"""The paths of a bulk run's folder, and the columns of its Parquet files."""
# No path contains the name of a blockchain, since the name is free text.
# Files of wallets and holdings are never changed or removed, so other programs can read the files
# during a run. (DuckDB may combine the footer of a replaced file with the data of the new file.)
# Failed wallets may succeed later, so failed wallets have separate files. Readers ignore a failed
# wallet that is also in a file of ok wallets. `fetch_to_parquet` documents the columns.

from __future__ import annotations

import json
import re
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.address.forms import WalletAddress, canonical_key
from walletframe.address.lists import first_and_conflicting_label_rows
from walletframe.amounts.arrow import to_portable_table
from walletframe.disk import create_private_file, read_parquet, sync_and_rename
from walletframe.errors import DatasetError
from walletframe.frames.assembly import assemble
from walletframe.frames.extra_columns import extra_from_arrow
from walletframe.frames.schema import WALLET_DTYPES
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from walletframe.frames.details import WalletDetails

FORMAT = 1
POSITION = "position"
TMP_SUFFIX = ".tmp"
Tables: TypeAlias = tuple[pa.Table, pa.Table, pa.Table]  # wallets, holdings, failed wallets
_PART = re.compile(r"part-(\d{6,})\.parquet")


class Paths:
    """The paths in the folder of a dataset. The marker file stores the format and the service."""

    def __init__(self, root: Path) -> None:
        self.root: Path = root
        self.hidden: Path = root / ".walletframe"  # the marker, a lock, and the journal
        self.wallets: Path = root / "wallets"  # parts with a row for each wallet that is ok
        self.holdings: Path = root / "holdings"  # the balances of each part of wallets
        self.failed: Path = root / "failed"  # a row for each requested wallet that is not ok
        self.extra_columns: Path = root / "kept.parquet"  # blockchain, address and user's columns
        self.marker: Path = self.hidden / "dataset.json"
        self.lock_holder: Path = self.hidden / "holder"
        self.unfinished: Path = self.hidden / "unfinished"  # if it exists: the number of wallets

    def read_service(self) -> str | None:
        """Return the name of the service, or None if the folder has no dataset."""
        marker = _read_marker(self.marker, {"service": str})
        return None if marker is None else marker["service"]

    def require_service(self) -> str:
        """Return the name of the service, or raise an error if the folder has no dataset."""
        if (service := self.read_service()) is None:
            hint = "pass the folder that was passed to fetch_to_parquet"
            raise DatasetError(f"{self.root} has no files written by fetch_to_parquet", hint)
        return service

    def require_empty(self, alternative: str) -> None:
        """Raise an error if the folder is not empty. The hint mentions `alternative`."""
        others = sorted({path.name for path in self.root.iterdir()} - {self.hidden.name})
        if others or self.marker.exists():
            others = others or [self.marker.name]
            raise DatasetError(
                f"{self.root} has other files: {', '.join(map(repr, others[:3]))}",
                hint=f"pass a new or an empty folder, or {alternative}",
            )


def read_or_write_marker(path: Path, **marker: str | int) -> dict[str, Any]:
    """Read a marker file, or write a missing one. Raise an error if the service differs."""
    existing = _read_marker(path, {name: type(value) for name, value in marker.items()})
    if existing is None:
        temporary = path.with_suffix(TMP_SUFFIX)
        temporary.unlink(missing_ok=True)
        with create_private_file(temporary) as file:
            file.write(json.dumps({"format": FORMAT} | marker).encode())
        sync_and_rename(temporary, path)
        return marker
    if existing["service"] != marker["service"]:
        raise DatasetError(
            f"{path.parents[1]} contains wallets fetched from the service {existing['service']!r}, "
            f"not from {marker['service']!r}",
            hint="use a separate folder for each service",
        )
    return existing


def _read_marker(path: Path, types: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any] | None:
    try:
        marker = json.loads(path.read_text(encoding="utf-8"))
        if marker["format"] == FORMAT:
            return {name: convert(marker[name]) for name, convert in types.items()}
        problem = f"has format {marker['format']}, but this version reads only format {FORMAT}"
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError) as fault:
        problem = f"can't be used, since its file {path.name} is not valid: {fault!r}"
    raise DatasetError(f"{path.parents[1]} {problem}", hint="choose another folder")


def part_file_name(number: int) -> str:
    """Return the file name of a part. Numbers start at 1."""
    return f"part-{number:06}.parquet"


def part_numbers(folder: Path) -> list[int]:
    """Return the sorted numbers of the parts in a folder. Other files are ignored."""
    matches = [_PART.fullmatch(path.name) for path in folder.glob("part-*")]
    return sorted(int(match[1]) for match in matches if match)


def read_parts(folder: Path) -> Iterator[pa.Table]:
    """Read the parts of a folder one after the other."""
    return (read_parquet(folder / part_file_name(number)) for number in part_numbers(folder))


@contextmanager
def as_dataset_errors(root: Path) -> Iterator[None]:
    """Convert disk errors, such as a full disk or a broken file, to DatasetErrors."""
    try:
        yield
    except DatasetError:
        raise
    except (OSError, pa.ArrowException, OverflowError) as fault:
        hint = "complete parts are intact: fix the cause, then repeat the call"
        raise DatasetError(f"{root} can't be read or written: {fault}", hint) from None


def wallet_key(wallet: WalletAddress) -> str:
    """Return the key of a wallet. All spellings of a wallet have the same key."""
    return ".".join(canonical_key(wallet.blockchain, wallet.address))


def wallet_keys(wallets: pa.Table | pd.DataFrame) -> list[str]:
    """Return the keys of the wallets in a table or a DataFrame."""
    columns: Any = wallets["blockchain"], wallets["address"]
    pairs = zip(*(each.to_numpy().tolist() for each in columns), strict=True)
    return [".".join(canonical_key(blockchain, address)) for blockchain, address in pairs]


def to_part_tables(details: WalletDetails, positions: Sequence[int]) -> Tables:
    """Return tables of the ok wallets, the holdings and the failed wallets."""
    text = dict.fromkeys(("status", "source"), WALLET_DTYPES["address"])
    wallets = to_portable_table(details.wallets.astype(text))
    wallets = wallets.append_column(POSITION, pa.array(positions, pa.int64()))
    is_ok = pc.equal(wallets["status"], Status.OK.value)
    holdings = to_portable_table(details.holdings)
    return wallets.filter(is_ok), holdings, wallets.filter(pc.invert(is_ok))


@cache  # needed for each folder that is read
def empty_tables() -> Tables:
    """Return the result of `to_part_tables` for no wallets."""
    return to_part_tables(assemble([]), [])


def read_extra_columns(paths: Paths) -> pd.DataFrame | None:
    """Read the file of extra columns. If the file does not exist, return None."""
    with suppress(FileNotFoundError):
        return extra_from_arrow(read_parquet(paths.extra_columns))
    return None


def first_extra_values(extra_columns: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return each wallet's first value in each extra column, in the order of distinct `keys`."""
    code_by_key = {key: code for code, key in enumerate(keys)}
    codes = np.array([code_by_key.get(key, -1) for key in wallet_keys(extra_columns)], np.intp)
    rows = np.flatnonzero(codes >= 0)
    columns = {}
    for name, column in extra_columns.drop(columns=["blockchain", "address"]).items():
        values = column.array.take(rows)
        first, _ = first_and_conflicting_label_rows(str(name), codes[rows], values)
        first = np.append(first, np.full(len(keys) - len(first), -1))
        columns[name] = values.take(first, allow_fill=True)
    return pd.DataFrame(columns, index=range(len(keys)))


def select_still_failed(failed: Iterable[pa.Table], ok_wallets: Iterable[pa.Table]) -> pa.Table:
    """Return the latest row of each failed wallet that is not in `ok_wallets`."""
    table = pa.concat_tables([empty_tables()[2], *failed])
    latest = {key: row for row, key in enumerate(wallet_keys(table))}
    for part in ok_wallets if latest else ():
        for key in wallet_keys(part):
            latest.pop(key, None)
    return table.take(pa.array(sorted(latest.values()), pa.int64()))
