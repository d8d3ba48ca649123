"""Snapshots on the disk: folders of two Parquet files, written and removed atomically."""
# <folder>/date=2026-01-31/20260131T060000.000000Z/wallets.parquet
#                                                  holdings.parquet
#
# A snapshot is a folder, named by its time. It is written under another name and then renamed, and
# renamed again before it is removed: readers never see a part of one, two writers never write to
# the same one, and a crash leaves only a folder `.saving-…` or `.removed-…`, which a later call
# removes. Renaming is done under a lock that all processes share.
# Beside the columns of the contract, and the decimals beside the amounts, each row has its
# `snapshot`, its `position` in the saved frame, and a `wallet_key`, which is the same in all
# snapshots for all spellings. Rows are sorted by the key, in small row groups with statistics, so
# that the rows of one wallet are found without reading the others.

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
    fsync_directory,
    local_folder,
    locked,
    private_file,
    private_folder,
    publish,
)
from walletframe.errors import AmountError, HistoryError, SnapshotError, UnknownSnapshotError
from walletframe.frames.contract import (
    HOLDING_DTYPES,
    WALLET_DTYPES,
    normalize_blockchains,
    require_columns,
)
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
GROUP_ROWS = 2048  # fewer make footers large; with more, one wallet costs more rows to read
_PARTS = 16  # tasks for reading files
_MOMENT = pd.DatetimeTZDtype("us", "UTC")
_INSTANT = pa.timestamp("us", "UTC")
_INTEGERS = {pa.int16(): pd.Int16Dtype(), pa.int64(): pd.Int64Dtype()}
_DTYPES: dict[str, Mapping[str, object]] = {WALLETS: WALLET_DTYPES, HOLDINGS: HOLDING_DTYPES}


@dataclass(frozen=True, slots=True, order=True)
class SnapshotFolder:
    """One snapshot on the disk."""

    moment: datetime  # in UTC
    path: Path


def history_folder(folder: str | Path | None) -> Path:
    """Return the folder of snapshots: the one given, else the one in the user's data folder."""
    return user_data_path("walletframe") / "history" if folder is None else local_folder(folder)


def snapshot_folders(folder: Path) -> list[SnapshotFolder]:
    """Return the snapshots in a folder, in order of time."""
    paths = (path for path in folder.glob("date=*/*") if _NAME.fullmatch(path.name))
    # strptime takes ten times as long
    return sorted(SnapshotFolder(datetime.fromisoformat(path.name), path) for path in paths)


def required_folders(folder: Path) -> list[SnapshotFolder]:
    """Return the snapshots in a folder, or raise if there are none."""
    folders = snapshot_folders(folder)
    if not folders:
        hint = f"save one with {SAVE}, or name another folder with folder=…"
        raise UnknownSnapshotError(f"there are no snapshots in {folder}", hint)
    return folders


def snapshot_path(folder: Path, taken_at: datetime) -> Path:
    """Return the path of the snapshot of exactly this time, whether it exists or not."""
    return folder / f"date={taken_at:%Y-%m-%d}" / taken_at.strftime(_STAMP)


def digest(snapshot: SnapshotFolder) -> list[bytes]:
    """Return the digests of a snapshot's files, up to the first that can't be read."""
    digests = []
    with suppress(OSError):
        for name in _FILES:
            with (snapshot.path / name).open("rb") as file:
                digests.append(file_digest(file, blake2b).digest())
    return digests


def add(folder: Path, taken_at: datetime, write: Callable[[str, BinaryIO], None]) -> bool:
    """Save a snapshot atomically; return False if there already is one of this time."""
    final = snapshot_path(folder, taken_at)
    if final.exists():
        return False
    private_folder(folder)
    remove_leftovers(folder)
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
            fsync_directory(final.parent)
            fsync_directory(folder)
            return True
    finally:
        _discard(unfinished)


def remove(
    folder: Path, redundant: Sequence[SnapshotFolder], judged: Mapping[SnapshotFolder, list[bytes]]
) -> bool:
    """Remove snapshots atomically, unless the digests of the judged ones have changed."""
    with locked(folder / _LOCK):
        if any(digest(each) != before for each, before in judged.items()):
            return False
        for each in redundant:
            hidden = _hidden(folder, _REMOVED)
            each.path.rename(hidden)
            _discard(hidden)
            with suppress(OSError):  # its day has other snapshots
                each.path.parent.rmdir()
    return True


def remove_leftovers(folder: Path) -> None:
    """Remove what this user's killed calls left: removals at once, unfinished saves after a day."""
    before = time.time() - FORGOTTEN_AFTER_S
    for path in folder.iterdir():
        if kind := _LEFTOVER.fullmatch(path.name):
            with suppress(OSError):
                info = path.lstat()
                is_over = kind[1] == _REMOVED or info.st_mtime < before
                if is_over and stat.S_ISDIR(info.st_mode) and _is_own(info):
                    _discard(path)


def _hidden(folder: Path, kind: str) -> Path:
    return folder / f".{kind}-{secrets.token_hex(8)}"


def _discard(leftover: Path) -> None:
    """Remove the two files of a snapshot, and their folder if it has no other files."""
    for path in (leftover / f"{name}{end}" for name in _FILES for end in ("", _PART)):
        with suppress(OSError):
            info = path.lstat()
            if stat.S_ISREG(info.st_mode) and _is_own(info):
                path.unlink()
    with suppress(OSError):  # it has other files
        leftover.rmdir()


def _is_own(info: os.stat_result) -> bool:
    return info.st_uid == (os.getuid() if hasattr(os, "getuid") else 0)  # Windows says 0


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
        write_statistics=[SNAPSHOT, KEY],  # other columns are not sorted: no use in a search
    )


def read(
    folders: Sequence[SnapshotFolder], keys: Collection[tuple[str, str]] | None
) -> WalletDetails:
    """Read snapshots, or only the wallets with these canonical keys, by time, then as saved."""
    frames = (_read(folders, name, keys) for name in (WALLETS, HOLDINGS))
    return WalletDetails(*normalize_blockchains(*frames))


def read_wallets(folders: Sequence[SnapshotFolder]) -> pd.DataFrame:
    """Read the wallets of snapshots, by time, then as saved."""
    [wallets] = normalize_blockchains(_read(folders, WALLETS, None))
    return wallets


def _read(
    folders: Sequence[SnapshotFolder], name: str, keys: Collection[tuple[str, str]] | None
) -> pd.DataFrame:
    wanted = None if keys is None else sorted(".".join(key) for key in keys)
    kept = (AMOUNT_TEXT if column == "amount" else column for column in _DTYPES[name])
    columns = [SNAPSHOT, *kept, POSITION, KEY]

    def rows(part: Sequence[SnapshotFolder]) -> list[pa.Table]:
        return [_read_rows(each.path / name, columns, wanted) for each in part]

    most = max(1, len(folders) // _PARTS)
    parts = [folders[start : start + most] for start in range(0, len(folders), most)]
    with ThreadPoolExecutor() as threads:  # few tasks: each costs as much as a tenth of a file
        tables = [table for part in threads.map(rows, parts) for table in part]
    empty = _SCHEMAS[name].empty_table().select(columns)
    table = _concat_tables([empty, *tables]).drop_columns(KEY)
    in_order = table.sort_by([(SNAPSHOT, "ascending"), (POSITION, "ascending")])
    frame = in_order.drop_columns(POSITION).to_pandas(types_mapper=_INTEGERS.get)
    exact = frame.rename(columns={AMOUNT_TEXT: "amount"})
    found = with_dtypes(exact, {SNAPSHOT: _MOMENT, **_DTYPES[name]})
    if name != WALLETS:
        return found
    own = [each for each in in_order.column_names if each not in (*columns, POSITION)]
    return with_kept(found, kept_frame(in_order.select(own)))


def _concat_tables(tables: list[pa.Table]) -> pa.Table:
    """Concatenate tables; a user's column becomes text if its types differ."""
    kinds: dict[str, set[pa.DataType]] = {}
    for field in (field for table in tables for field in table.schema):
        kinds.setdefault(field.name, set()).add(field.type)
    mixed = {name for name, types in kinds.items() if len(types - {pa.null()}) > 1}
    if mixed:
        text = dict.fromkeys(mixed, pa.large_string())
        schemas = [
            pa.schema([(each.name, text.get(each.name, each.type)) for each in table.schema])
            for table in tables
        ]
        tables = [table.cast(schema) for table, schema in zip(tables, schemas, strict=True)]
    return pa.concat_tables(tables, promote_options="default")


def _read_rows(path: Path, columns: list[str], wanted: list[str] | None) -> pa.Table:
    """Read a file's rows, or only the wanted wallets, by row groups."""
    with opened(path) as file:
        if path.name == WALLETS:  # users' own columns are in this file
            known = {*_SCHEMAS[WALLETS].names, *columns}
            columns = [*columns, *(each for each in file.schema_arrow.names if each not in known)]
        if wanted is None:
            return with_amounts(file.read(columns=columns, use_threads=False))
        table = file.schema_arrow.empty_table().select(columns)
        if groups := _matching_groups(file.metadata, wanted):  # older Arrow raises for none
            table = file.read_row_groups(groups, columns=columns, use_threads=False)
        keys = pa.array(wanted, pa.large_string())
        return with_amounts(table.filter(pc.is_in(table[KEY], value_set=keys)))


@contextmanager
def opened(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a file of snapshots, or raise a HistoryError that names it."""
    try:
        with pa.OSFile(str(path)) as source, pq.ParquetFile(source) as file:
            _check_format(path, file.metadata)
            yield file
            return
    except HistoryError:
        raise
    except (OSError, pa.ArrowInvalid) as fault:
        reason = str(fault)
    hint = "move this snapshot out of the folder to continue without it"
    raise HistoryError(f"{path} can't be read: {reason}", hint)


def _check_format(path: Path, metadata: pq.FileMetaData) -> None:
    written = (metadata.metadata or {}).get(_FORMAT_KEY, b"")
    if not written.isdigit():
        raise HistoryError(f"{path} is not part of a snapshot", hint="move it out of the folder")
    if int(written) > FORMAT:
        raise HistoryError(
            f"{path} was written by a later release of walletframe (its format is {int(written)}, "
            f"and this one reads up to {FORMAT})",
            hint="update walletframe: pip install --upgrade walletframe",
        )


def _matching_groups(metadata: pq.FileMetaData, wanted: list[str]) -> list[int]:
    """Return the row groups that may hold a wanted wallet; row groups are sorted by key."""
    column, matching = metadata.schema.names.index(KEY), []
    for group in range(metadata.num_row_groups):
        keys = metadata.row_group(group).column(column).statistics
        has_range = keys is not None and keys.has_min_max  # an empty group has none
        if has_range and (not wanted or keys.min > wanted[-1]):
            break
        if not has_range or bisect_left(wanted, keys.min) < bisect_right(wanted, keys.max):
            matching.append(group)
    return matching


def with_dtypes(frame: pd.DataFrame, dtypes: Mapping[str, object]) -> pd.DataFrame:
    """Return the columns of a frame that `dtypes` names, with these dtypes."""
    require_columns(frame, dtypes)
    columns = {name: _cast(frame[name], dtype) for name, dtype in dtypes.items()}
    return pd.DataFrame(columns).reset_index(drop=True)


def _cast(column: pd.Series, dtype: object) -> pd.Series:
    try:
        if not isinstance(dtype, pd.CategoricalDtype):
            return column.astype(dtype)  # type: ignore[call-overload,no-any-return]  # any dtype
        unknown = column[column.notna() & ~column.isin(dtype.categories)]
        if unknown.empty:
            return column.astype(dtype)
        reason = f"{unknown.iloc[0]!r} is not known"
    except AmountError:
        raise
    except (TypeError, ValueError) as fault:
        reason = str(fault)
    raise SnapshotError(
        f"the column {column.name!r} can't be saved: {reason}",
        hint="save the frames as they were fetched",
    )
