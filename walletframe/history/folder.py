"""Snapshots on the disk: folders that are written and removed atomically, of two Parquet files."""
# <folder>/date=2026-01-31/20260131T060000.000000Z/wallets.parquet
#                                                  holdings.parquet
#
# A snapshot is a folder of its own, named by its time. It is written under another name and then
# renamed, and renamed again before it is removed: nobody sees half of one, two writers never write
# to the same one, and a crash leaves nothing but a folder `.saving-…` or `.removed-…`, which a
# later call clears away. Renaming is done under a lock that all processes share.
# Beside the columns of the contract, and the decimals beside the amounts, each row has its
# `snapshot`, its `position` in the frame that was saved, and a `wallet_key`, which is the same in
# every snapshot whatever the spelling. Rows are sorted by it, in small groups with statistics, so
# that those of one wallet are found without reading the others.

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from bisect import bisect_left, bisect_right
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b, file_digest
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from platformdirs import user_data_path

from walletframe.amounts import AmountDtype
from walletframe.amounts.arrow import AMOUNT_TEXT, DECIMALS, to_portable_table, with_amounts
from walletframe.disk import (
    FORGOTTEN_AFTER_S,
    local_folder,
    locked,
    private_file,
    private_folder,
    publish,
    settle,
)
from walletframe.errors import AmountError, HistoryError, SnapshotError, UnknownSnapshotError
from walletframe.frames.contract import HOLDING_DTYPES, WALLET_DTYPES, require_columns, respelled
from walletframe.frames.details import WalletDetails
from walletframe.frames.identity import wallet_identities
from walletframe.frames.kept import DISTINCT, kept_frame, kept_names, kept_table, with_kept
from walletframe.pandas_versions import TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path


WALLETS, HOLDINGS = "wallets.parquet", "holdings.parquet"
_FILES: Final = (WALLETS, HOLDINGS)
_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")
_PART, _LOCK = ".part", ".lock"
_SAVING, _REMOVED = "saving", "removed"
_LEFTOVER = re.compile(rf"\.({_SAVING}|{_REMOVED})-[0-9a-f]{{16}}")
LISTED, SAVE = "history.snapshots()", "history.save(details)"
FORMAT: Final = 1
SNAPSHOT: Final = "snapshot"
_FORMAT_KEY = b"walletframe_history"
KEY, POSITION = "wallet_key", "position"
GROUP_ROWS = 2048  # fewer make the footers dear, more the rows that are read for one wallet
_PARTS = 16  # tasks in which files are read
_MOMENT = pd.DatetimeTZDtype("us", "UTC")
_INSTANT = pa.timestamp("us", "UTC")
_INTEGERS = {pa.int16(): pd.Int16Dtype(), pa.int64(): pd.Int64Dtype()}
_DTYPES: dict[str, Mapping[str, object]] = {WALLETS: WALLET_DTYPES, HOLDINGS: HOLDING_DTYPES}


@dataclass(frozen=True, slots=True, order=True)
class SnapshotFolder:
    """One snapshot on the disk: its time, in UTC, and the folder that has it."""

    moment: datetime
    path: Path


def history_folder(given: str | Path | None) -> Path:
    """Return the folder in which snapshots are kept: the user's own unless another is named."""
    return user_data_path("walletframe") / "history" if given is None else local_folder(given)


def snapshot_folders(folder: Path) -> list[SnapshotFolder]:
    """Find the snapshots of a folder."""
    found = (path for path in folder.glob("date=*/*") if _NAME.fullmatch(path.name))
    # strptime takes ten times as long
    return sorted(SnapshotFolder(datetime.fromisoformat(path.name), path) for path in found)


def required_folders(folder: Path) -> list[SnapshotFolder]:
    """Find the snapshots of a folder that should have some."""
    found = snapshot_folders(folder)
    if not found:
        hint = f"{SAVE} keeps one; folder=… names another place"
        raise UnknownSnapshotError(f"there are no snapshots in {folder}", hint)
    return found


def place_of(folder: Path, taken_at: datetime) -> Path:
    """Return where the snapshot of exactly this time is, or would be."""
    return folder / f"date={taken_at:%Y-%m-%d}" / taken_at.strftime(_STAMP)


def digest(snapshot: SnapshotFolder) -> list[bytes]:
    """Return a digest of each of a snapshot's files, up to one that can't be read."""
    found = []
    with suppress(OSError):
        for name in _FILES:
            with (snapshot.path / name).open("rb") as file:
                found.append(file_digest(file, blake2b).digest())
    return found


def add(folder: Path, taken_at: datetime, write: Callable[[str, BinaryIO], None]) -> bool:
    """Save a snapshot in a folder, wholly or not at all: not where there is one of that time."""
    final = place_of(folder, taken_at)
    if final.exists():
        return False
    private_folder(folder)
    clear(folder)
    unfinished = _hidden(folder, _SAVING)
    private_folder(unfinished)
    try:
        for name in _FILES:
            with private_file(unfinished / f"{name}{_PART}") as file:
                write(name, file)
        for name in _FILES:
            publish(unfinished / f"{name}{_PART}", unfinished / name)
        with locked(folder / _LOCK):
            if final.exists():
                return False
            private_folder(final.parent)
            unfinished.rename(final)
            settle(final.parent)
            settle(folder)
            return True
    finally:
        _discard(unfinished)


def remove(
    folder: Path, gone: Sequence[SnapshotFolder], judged: Mapping[SnapshotFolder, list[bytes]]
) -> bool:
    """Remove snapshots, each at once, unless one of those judged has another digest now."""
    with locked(folder / _LOCK):
        if any(digest(each) != seen for each, seen in judged.items()):
            return False
        for each in gone:
            hidden = _hidden(folder, _REMOVED)
            each.path.rename(hidden)
            _discard(hidden)
            with suppress(OSError):  # others are left of its day
                each.path.parent.rmdir()
    return True


def clear(folder: Path) -> None:
    """Remove what this user's calls that died have left: where they saved, after a day."""
    before = time.time() - FORGOTTEN_AFTER_S
    for path in folder.iterdir():
        if kind := _LEFTOVER.fullmatch(path.name):
            with suppress(OSError):
                found = path.lstat()
                is_over = kind[1] == _REMOVED or found.st_mtime < before
                if is_over and stat.S_ISDIR(found.st_mode) and _is_own(found):
                    _discard(path)


def _hidden(folder: Path, kind: str) -> Path:
    return folder / f".{kind}-{secrets.token_hex(8)}"


def _discard(leftover: Path) -> None:
    """Remove the files of a snapshot that history wrote, and their folder if it has no others."""
    for path in (leftover / f"{name}{end}" for name in _FILES for end in ("", _PART)):
        with suppress(OSError):
            found = path.lstat()
            if stat.S_ISREG(found.st_mode) and _is_own(found):
                path.unlink()
    with suppress(OSError):  # others are left in it
        leftover.rmdir()


def _is_own(found: os.stat_result) -> bool:
    return found.st_uid == (os.getuid() if hasattr(os, "getuid") else 0)  # Windows says 0


def _schema(name: str) -> pa.Schema:
    kinds = {"Int64": pa.int64(), "Int16": pa.int16(), "float64": pa.float64()}
    kinds[str(_MOMENT)] = _INSTANT
    fields = [(SNAPSHOT, kinds[str(_MOMENT)])]
    for column, dtype in _DTYPES[name].items():
        if isinstance(dtype, AmountDtype):
            fields += [(column, DECIMALS), (AMOUNT_TEXT, pa.large_string())]
        else:
            fields.append((column, kinds.get(str(dtype), pa.large_string())))
    fields += [(POSITION, pa.int64()), (KEY, pa.large_string())]
    return pa.schema(fields, metadata={_FORMAT_KEY: str(FORMAT)})


_SCHEMAS = {name: _schema(name) for name in _DTYPES}


def write(details: WalletDetails, taken_at: datetime, name: str, file: BinaryIO) -> None:
    """Write one frame of a snapshot."""
    frame = details.wallets if name == WALLETS else details.holdings
    identities = wallet_identities(frame)
    keys = np.array([f"{chain}.{address}" for chain, address in identities.keys], dtype=object)
    added: dict[str, Any] = {
        SNAPSHOT: pd.Series(pd.Timestamp(taken_at), index=frame.index, dtype=_MOMENT),
        POSITION: np.arange(len(frame)),
        KEY: pd.array(keys[identities.codes], dtype=TEXT),
    }
    schema = _SCHEMAS[name]
    rows = frame[[*_DTYPES[name]]].assign(**added)
    table = to_portable_table(rows).select(schema.names).cast(schema)
    if name == WALLETS:
        own = kept_table(frame[kept_names(frame)])
        for column in own.column_names:
            table = table.append_column(column, own[column])
    with writer(file, table.schema) as parquet:
        parquet.write_table(table.sort_by(KEY), row_group_size=GROUP_ROWS)


def writer(file: BinaryIO, schema: pa.Schema) -> pq.ParquetWriter:
    """Open a file of snapshots for writing."""
    texts = [field.name for field in schema if pa.types.is_large_string(field.type)]
    repeated = [name for name in texts if name not in DISTINCT]
    return pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        use_dictionary=repeated,
        write_statistics=[SNAPSHOT, KEY],  # the others are in no order: they would find nothing
    )


def read(
    folders: Sequence[SnapshotFolder], keys: Collection[tuple[str, str]] | None
) -> WalletDetails:
    """Read snapshots, or some wallets of them by canonical key; by time, then as saved."""
    return WalletDetails(*respelled(*(_read(folders, name, keys) for name in (WALLETS, HOLDINGS))))


def read_wallets(folders: Sequence[SnapshotFolder]) -> pd.DataFrame:
    """Read the wallets of snapshots, by time, then as saved."""
    [wallets] = respelled(_read(folders, WALLETS, None))
    return wallets


def _read(
    folders: Sequence[SnapshotFolder], name: str, keys: Collection[tuple[str, str]] | None
) -> pd.DataFrame:
    wanted = None if keys is None else sorted(".".join(key) for key in keys)
    kept = (AMOUNT_TEXT if column == "amount" else column for column in _DTYPES[name])
    columns = [SNAPSHOT, *kept, POSITION, KEY]

    def rows(some: Sequence[SnapshotFolder]) -> list[pa.Table]:
        return [_rows(each.path / name, columns, wanted) for each in some]

    most = max(1, len(folders) // _PARTS)
    parts = [folders[start : start + most] for start in range(0, len(folders), most)]
    with ThreadPoolExecutor() as threads:  # few tasks: each costs as much as a tenth of a file
        tables = [table for part in threads.map(rows, parts) for table in part]
    empty = _SCHEMAS[name].empty_table().select(columns)
    table = _together([empty, *tables]).drop_columns(KEY)
    in_order = table.sort_by([(SNAPSHOT, "ascending"), (POSITION, "ascending")])
    frame = in_order.drop_columns(POSITION).to_pandas(types_mapper=_INTEGERS.get)
    exact = frame.rename(columns={AMOUNT_TEXT: "amount"})
    found = converted(exact, {SNAPSHOT: _MOMENT, **_DTYPES[name]})
    if name != WALLETS:
        return found
    own = [each for each in in_order.column_names if each not in (*columns, POSITION)]
    return with_kept(found, kept_frame(in_order.select(own)))


def _together(tables: list[pa.Table]) -> pa.Table:
    """Concatenate tables, whose own columns may differ: a column of several types is text."""
    kinds: dict[str, set[pa.DataType]] = {}
    for field in (field for table in tables for field in table.schema):
        kinds.setdefault(field.name, set()).add(field.type)
    mixed = {name for name, found in kinds.items() if len(found - {pa.null()}) > 1}
    if mixed:
        text = dict.fromkeys(mixed, pa.large_string())
        schemas = [
            pa.schema([(each.name, text.get(each.name, each.type)) for each in table.schema])
            for table in tables
        ]
        tables = [table.cast(schema) for table, schema in zip(tables, schemas, strict=True)]
    return pa.concat_tables(tables, promote_options="default")


def _rows(path: Path, columns: list[str], wanted: list[str] | None) -> pa.Table:
    """Read a file's rows, or those of some wallets without most of the others."""
    with opened(path) as file:
        if path.name == WALLETS:  # which has a user's own, too
            others = {*_SCHEMAS[WALLETS].names, *columns}
            columns = [*columns, *(each for each in file.schema_arrow.names if each not in others)]
        if wanted is None:
            return with_amounts(file.read(columns=columns, use_threads=False))
        table = file.schema_arrow.empty_table().select(columns)
        if groups := _groups(file.metadata, wanted):  # of none, older versions of Arrow would raise
            table = file.read_row_groups(groups, columns=columns, use_threads=False)
        named = pa.array(wanted, pa.large_string())
        return with_amounts(table.filter(pc.is_in(table[KEY], value_set=named)))


@contextmanager
def opened(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a file of snapshots, or raise which one can't be read."""
    try:
        with pa.OSFile(str(path)) as source, pq.ParquetFile(source) as file:
            _check_format(path, file.metadata)
            yield file
            return
    except HistoryError:
        raise
    except (OSError, pa.ArrowInvalid) as fault:
        reason = str(fault)
    hint = "to go on without this snapshot, move it out of the folder"
    raise HistoryError(f"{path} can't be read: {reason}", hint)


def _check_format(path: Path, metadata: pq.FileMetaData) -> None:
    written = (metadata.metadata or {}).get(_FORMAT_KEY, b"")
    if not written.isdigit():
        raise HistoryError(f"{path} is not part of a snapshot", hint="move it out of the folder")
    if int(written) > FORMAT:
        raise HistoryError(
            f"{path}: a later release of walletframe wrote it (format {int(written)}; this one "
            f"reads up to {FORMAT})",
            hint="update walletframe: pip install --upgrade walletframe",
        )


def _groups(metadata: pq.FileMetaData, wanted: list[str]) -> list[int]:
    """Return the groups of rows that may hold a wanted wallet; they are in order."""
    column, found = metadata.schema.names.index(KEY), []
    for group in range(metadata.num_row_groups):
        keys = metadata.row_group(group).column(column).statistics
        has_ends = keys is not None and keys.has_min_max  # one without rows has none
        if has_ends and (not wanted or keys.min > wanted[-1]):
            break
        if not has_ends or bisect_left(wanted, keys.min) < bisect_right(wanted, keys.max):
            found.append(group)
    return found


def converted(frame: pd.DataFrame, dtypes: Mapping[str, object]) -> pd.DataFrame:
    """Convert a frame to some columns of some dtypes, and no others."""
    require_columns(frame, dtypes)
    columns = {name: _as(frame[name], dtype) for name, dtype in dtypes.items()}
    return pd.DataFrame(columns).reset_index(drop=True)


def _as(column: pd.Series, dtype: object) -> pd.Series:
    try:
        if not isinstance(dtype, pd.CategoricalDtype):
            return column.astype(dtype)  # type: ignore[call-overload,no-any-return]  # any dtype
        strange = column[column.notna() & ~column.isin(dtype.categories)]
        if strange.empty:
            return column.astype(dtype)
        reason = f"{strange.iloc[0]!r} is not known"
    except AmountError:
        raise
    except (TypeError, ValueError) as fault:
        reason = str(fault)
    raise SnapshotError(
        f"the column {column.name!r} is not as a fetch gives it: {reason}",
        hint="keep the frames as they were fetched",
    )
