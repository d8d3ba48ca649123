"""The layout of a bulk run's folder, and the columns of its Parquet files."""
# FOLDER/wallets/part-000001.parquet      a row for each wallet that is ok
# FOLDER/holdings/part-000001.parquet     a row for each of its balances
# FOLDER/failed/part-000001.parquet       a row for each wallet that was asked for and is not ok
# FOLDER/.walletframe/                    nothing for readers: the service's name, a lock, and
#                                         during a run the answers that are in no part yet
# FOLDER/kept.parquet                     blockchain, address, and the columns that the user keeps
#
# Parts are cut by number and not by blockchain: identifiers are whatever people write, no safe name
# of a folder, and would make many small files. A part counts from the moment at which its file of
# wallets is there, which comes last.
#
# Files of wallets and holdings never change and never go: a program that reads them during a run
# finds no wallet twice, and none by half. (Replacing a file is no way to take a row out: DuckDB
# reads the old one's end with the new one's data.) What failed may come right later; so those rows
# are apart, and a row in failed counts only while its wallet is in no part of wallets.
#
# The files are for everyone: amounts as decimals to compute with, and exact text beside them;
# categories as text; `position`, the place in the order asked, beside the columns of the wallets.

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.address.forms import canonical_key
from walletframe.address.lists import telling_rows
from walletframe.amounts.arrow import to_portable_table
from walletframe.disk import private_file, publish, read_parquet
from walletframe.errors import DatasetError
from walletframe.frames.assembly import assemble
from walletframe.frames.contract import WALLET_DTYPES
from walletframe.frames.kept import ARROW_DTYPES, kept_frame
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from walletframe.address.forms import WalletAddress
    from walletframe.frames.details import WalletDetails

FORMAT = 1
POSITION = "position"
UNFINISHED = ".tmp"
Tables: TypeAlias = tuple[pa.Table, pa.Table, pa.Table]  # of wallets, holdings, what failed
_PART = re.compile(r"part-(\d{6,})\.parquet")


class Layout:
    """The paths in a dataset's folder; the marker names the format and the service."""

    def __init__(self, root: Path) -> None:
        self.root: Path = root
        self.inner: Path = root / ".walletframe"
        self.wallets: Path = root / "wallets"
        self.holdings: Path = root / "holdings"
        self.failed: Path = root / "failed"
        self.kept: Path = root / "kept.parquet"
        self.marker: Path = self.inner / "dataset.json"
        self.holder: Path = self.inner / "holder"

    def service(self) -> str | None:
        """Return the name of the service that was asked; None where there is no dataset."""
        marker = _read_marker(self.marker, {"service": str})
        return None if marker is None else marker["service"]

    def require_empty(self, earlier: str) -> None:
        """Raise if a folder holds anything else, or what `fetch_to_parquet` has begun there."""
        others = sorted({path.name for path in self.root.iterdir()} - {self.inner.name})
        if others or self.marker.exists():
            others = others or [self.marker.name]
            raise DatasetError(
                f"{self.root} holds other files: {', '.join(map(repr, others[:3]))}",
                hint=f"give a new or an empty folder, or {earlier}",
            )


def mark(path: Path, **marker: str | int) -> dict[str, Any]:
    """Mark a folder where it has no marker; return its marker, which is of the same service."""
    found = _read_marker(path, {name: type(value) for name, value in marker.items()})
    if found is None:
        unfinished = path.with_suffix(UNFINISHED)
        unfinished.unlink(missing_ok=True)
        with private_file(unfinished) as file:
            file.write(json.dumps({"format": FORMAT} | marker).encode())
        publish(unfinished, path)
        return marker
    if found["service"] != marker["service"]:
        raise DatasetError(
            f"{path.parents[1]} holds wallets of the service {found['service']!r}, "
            f"not of {marker['service']!r}",
            hint="choose another folder for each service",
        )
    return found


def _read_marker(path: Path, kinds: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any] | None:
    try:
        marker = json.loads(path.read_text(encoding="utf-8"))
        if marker["format"] == FORMAT:
            return {name: kind(marker[name]) for name, kind in kinds.items()}
        made = f"is of format {marker['format']}, and this walletframe knows {FORMAT}"
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError) as fault:
        made = f"has a marker that can't be read: {fault!r}"
    raise DatasetError(f"{path.parents[1]} {made}", hint="choose another folder")


def part_name(number: int) -> str:
    """Return the file name of a part, counted from 1; the same in each of the three folders."""
    return f"part-{number:06}.parquet"


def part_numbers(folder: Path) -> list[int]:
    """Return the numbers of the parts in a folder, in order; other files are left alone."""
    found = [_PART.fullmatch(path.name) for path in folder.glob("part-*")]
    return sorted(int(match[1]) for match in found if match)


def part_tables(folder: Path) -> Iterator[pa.Table]:
    """Read the parts of a folder, one after the other."""
    return (read_parquet(folder / part_name(number)) for number in part_numbers(folder))


@contextmanager
def dataset_errors(root: Path) -> Iterator[None]:
    """Raise a full disk, a read-only folder, a broken file and the like as DatasetError."""
    try:
        yield
    except DatasetError:
        raise
    except (OSError, pa.ArrowException, OverflowError) as fault:
        raise DatasetError(
            f"{root}: {fault}",
            hint="what was written before is intact: fix this, and repeat the call to continue",
        ) from None


def key_of(wallet: WalletAddress) -> str:
    """Return what is equal for two spellings of one wallet."""
    return ".".join(canonical_key(wallet.blockchain, wallet.address))


def keys_of(wallets: pa.Table | pd.DataFrame) -> list[str]:
    """Return the same for the rows of a table or a frame."""
    columns: Any = wallets["blockchain"], wallets["address"]
    pairs = zip(*(each.to_numpy().tolist() for each in columns), strict=True)
    return [".".join(canonical_key(blockchain, address)) for blockchain, address in pairs]


def as_tables(details: WalletDetails, positions: Sequence[int]) -> Tables:
    """Return wallets that are ok, what they hold, and the other wallets, as they are written."""
    text = dict.fromkeys(("status", "source"), WALLET_DTYPES["address"])
    wallets = to_portable_table(details.wallets.astype(text))
    wallets = wallets.append_column(POSITION, pa.array(positions, pa.int64()))
    is_ok = pc.equal(wallets["status"], Status.OK.value)
    holdings = to_portable_table(details.holdings)
    return wallets.filter(is_ok), holdings, wallets.filter(pc.invert(is_ok))


@cache  # a part without rows is read of each folder
def no_tables() -> Tables:
    """Return such tables without any rows."""
    return as_tables(assemble([]), [])


def read_kept(layout: Layout) -> pd.DataFrame | None:
    """Read what users keep of wallets, with blockchain and address; None where there is nothing."""
    try:
        return kept_frame(read_parquet(layout.kept))
    except FileNotFoundError:
        return None


def kept_of(told: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return what is kept of distinct wallets, by their keys; the first that is told."""
    known = {key: code for code, key in enumerate(keys)}
    codes = np.array([known.get(key, -1) for key in keys_of(told)], np.intp)
    rows = np.flatnonzero(codes >= 0)
    columns = {}
    for name, column in told.drop(columns=["blockchain", "address"]).items():
        some = column.array.take(rows)
        first, _ = telling_rows(str(name), codes[rows], some)
        first = np.append(first, np.full(len(keys) - len(first), -1))
        columns[name] = some.take(first, allow_fill=True)
    return pd.DataFrame(columns, index=range(len(keys)))


def still_failed(failed: Iterable[pa.Table], wallets: Iterable[pa.Table]) -> pa.Table:
    """Return the latest row of each wallet that is not ok, and is not among those that are."""
    table = pa.concat_tables([no_tables()[2], *failed])
    latest = {key: row for row, key in enumerate(keys_of(table))}
    for part in wallets if latest else ():
        for key in keys_of(part):
            latest.pop(key, None)
    return table.take(pa.array(sorted(latest.values()), pa.int64()))


def as_frame(wallets: pa.Table) -> pd.DataFrame:
    """Return a table of wallets as a frame with the columns and dtypes of the contract."""
    columns = wallets.select(list(WALLET_DTYPES))
    frame: pd.DataFrame = columns.to_pandas(types_mapper=ARROW_DTYPES.get)
    others = {name: of for name, of in WALLET_DTYPES.items() if frame[name].dtype != of}
    return frame.astype(others)
