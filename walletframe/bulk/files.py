"""The layout of a bulk run's folder, and the columns of its Parquet files."""
# FOLDER/wallets/part-000001.parquet      a row for each wallet that is ok
# FOLDER/holdings/part-000001.parquet     a row for each of its balances
# FOLDER/failed/part-000001.parquet       a row for each wallet that was asked for and is not ok
# FOLDER/.walletframe/                    nothing for readers: the service's name, a lock, during a
#                                         run the answers that are in no part yet, and sums of an
#                                         explorer that was asked to keep them
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
# The files are for everyone: amounts as exact text, with a decimal beside it that can be summed;
# categories as text; `position`, the place in the order asked, beside the columns of the wallets.

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.address import canonical_key, telling_rows
from walletframe.amounts.arrow import to_portable_table
from walletframe.disk import read_parquet
from walletframe.errors import DatasetError
from walletframe.frames import HOLDING_DTYPES, WALLET_DTYPES, assemble, kept_frame
from walletframe.wire import NO_LIST, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from walletframe.address import WalletAddress
    from walletframe.frames import WalletDetails

FORMAT = 1
POSITION = "position"
_PART = re.compile(r"part-(\d{6,})\.parquet")
_ARROW_DTYPES = {
    pa.large_string(): WALLET_DTYPES["address"],
    pa.int16(): HOLDING_DTYPES["decimals"],
    pa.int64(): WALLET_DTYPES["tokens"],
}


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
        self.explorer: Path = self.inner / "explorer"

    def service(self) -> str | None:
        """Return the name of the service that was asked; None where there is no dataset."""
        try:
            marker = json.loads(self.marker.read_text(encoding="utf-8"))
            if marker["format"] == FORMAT:
                return str(marker["service"])
            made = f"is of format {marker['format']}, and this walletframe knows {FORMAT}"
        except FileNotFoundError:
            return None
        except (ValueError, LookupError, TypeError) as fault:
            made = f"has a marker that can't be read: {fault!r}"
        raise DatasetError(f"{self.root} {made}", hint="choose another folder")


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


def keys_of(wallets: pa.Table) -> list[str]:
    """Return the same for the rows of a table."""
    pairs = zip(wallets["blockchain"].to_pylist(), wallets["address"].to_pylist(), strict=True)
    return [".".join(canonical_key(blockchain, address)) for blockchain, address in pairs]


def as_tables(details: WalletDetails, positions: Sequence[int]) -> tuple[pa.Table, pa.Table]:
    """Return wallets, those that are not ok among them, and holdings as they are written."""
    text = dict.fromkeys(("status", "source"), WALLET_DTYPES["address"])
    wallets = to_portable_table(details.wallets.astype(text))
    return (
        wallets.append_column(POSITION, pa.array(positions, pa.int64())),
        to_portable_table(details.holdings),
    )


@cache  # a part without rows is read of each folder
def no_tables() -> tuple[pa.Table, pa.Table]:
    """Return wallets and holdings without any rows."""
    return as_tables(assemble([]), [])


def read_kept(layout: Layout) -> pd.DataFrame | None:
    """Read what users keep of wallets, with blockchain and address; None where there is nothing."""
    try:
        return kept_frame(read_parquet(layout.kept))
    except FileNotFoundError:
        return None


def kept_of(told: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return what is kept of some wallets, by their keys, row by row; the first that is told."""
    pairs = zip(told["blockchain"], told["address"], strict=True)
    known = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    codes = np.array([known.get(".".join(canonical_key(*pair)), -1) for pair in pairs], np.intp)
    rows = np.flatnonzero(codes >= 0)
    wanted = np.array([known[key] for key in keys], dtype=np.intp)
    columns = {}
    for name, column in told.drop(columns=["blockchain", "address"]).items():
        some = column.array.take(rows)
        first, _ = telling_rows(str(name), codes[rows], some)
        first = np.append(first, np.full(len(known) - len(first), -1))[wanted]
        columns[name] = some.take(first, allow_fill=True)
    return pd.DataFrame(columns, index=range(len(keys)))


def still_failed(failed: Iterable[pa.Table], wallets: Iterable[pa.Table]) -> pa.Table:
    """Return the latest row of each wallet that is not ok, and is not among those that are."""
    table = pa.concat_tables([no_tables()[0], *failed])
    latest = {key: row for row, key in enumerate(keys_of(table))}
    for part in wallets if latest else ():
        for key in keys_of(part):
            latest.pop(key, None)
    return table.take(pa.array(sorted(latest.values()), pa.int64()))


def apart(wallets: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return the wallets of a part that are ok, and those that an earlier release called so.

    Their answers came without a list of balances, which means that they failed.
    """
    unlisted = pc.is_null(wallets["tokens"])
    if not pc.any(unlisted).as_py():
        return wallets, wallets.slice(0, 0)
    failed = wallets.filter(unlisted)
    for name, text in {"status": Status.FAILED.value, "error": NO_LIST}.items():
        place, kind = failed.column_names.index(name), failed.schema.field(name).type
        failed = failed.set_column(place, name, pa.array([text] * len(failed), kind))
    return wallets.filter(pc.invert(unlisted)), failed


def as_frame(table: pa.Table, dtypes: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table as a frame with the columns and dtypes of the contract."""
    frame: pd.DataFrame = table.select(list(dtypes)).to_pandas(types_mapper=_ARROW_DTYPES.get)
    return frame.astype(
        {name: dtypes[name] for name in dtypes if frame[name].dtype != dtypes[name]}
    )
