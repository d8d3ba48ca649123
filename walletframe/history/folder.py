"""Snapshots on disk: folders of two Parquet files, which are saved and removed atomically."""
# <folder>/date=2026-01-31/20260131T060000.000000Z/wallets.parquet
#                                                  holdings.parquet
#
# The name of a snapshot's folder is its time. A folder is written under another name, then renamed,
# and renamed again before its removal. So readers never see an incomplete snapshot, and two writers
# never write to the same folder. A crash leaves only a folder `.saving-…` or `.removed-…`, which a
# later call removes. All processes share a lock for renaming.
#
# The files have the columns of `wallets` and `holdings`, with amounts both as decimals and as text.
# Each row also has its `snapshot`, its `position` in the saved frame, and a `wallet_key`. All
# spellings of a wallet have the same key. Rows are sorted by key, in small row groups with
# statistics, so that the rows of one wallet can be read alone.

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from bisect import bisect_left, bisect_right
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from hashlib import blake2b, file_digest
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from platformdirs import user_data_path

from walletframe.amounts import AmountDtype
from walletframe.amounts.arrow import AMOUNT_TEXT, DECIMALS, merge_amount_columns, to_portable_table
from walletframe.disk import (
    ABANDONED_AFTER_S,
    create_private_file,
    create_private_folder,
    file_lock,
    fsync_directory,
    local_path,
    sync_and_rename,
)
from walletframe.errors import AmountError, HistoryError, SnapshotError, UnknownSnapshotError
from walletframe.frames.details import WalletDetails
from walletframe.frames.extra_columns import (
    DISTINCT_COLUMNS,
    append_columns,
    extra_from_arrow,
    extra_names,
    extra_to_arrow,
)
from walletframe.frames.identity import encode_wallets
from walletframe.frames.schema import (
    HOLDING_DTYPES,
    SNAPSHOT,
    WALLET_DTYPES,
    normalize_blockchains,
    require_columns,
)
from walletframe.pandas_versions import TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path


WALLETS, HOLDINGS = "wallets.parquet", "holdings.parquet"
_NAME = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")
_UNFINISHED, _LOCK = ".part", ".lock"
_SAVING, _REMOVED = "saving", "removed"
_LEFTOVER = re.compile(rf"\.({_SAVING}|{_REMOVED})-[0-9a-f]{{16}}")
LIST_CALL, SAVE_CALL = "history.snapshots()", "history.save(details)"
FORMAT: Final = 1
_FORMAT_KEY = b"walletframe_history"
KEY, POSITION = "wallet_key", "position"
GROUP_ROWS = 2048  # small groups enlarge footers; large groups slow down reading one wallet
_MAX_TASKS = 16  # maximum number of tasks that read files
_PANDAS_TIME = pd.DatetimeTZDtype("us", "UTC")
_ARROW_TIME = pa.timestamp("us", "UTC")
_INTEGERS = {pa.int16(): pd.Int16Dtype(), pa.int64(): pd.Int64Dtype()}
_DTYPES: dict[str, Mapping[str, object]] = {WALLETS: WALLET_DTYPES, HOLDINGS: HOLDING_DTYPES}


class SnapshotFolder(NamedTuple):
    """The time and the path of a snapshot's folder."""

    moment: datetime  # in UTC
    path: Path


def history_folder(folder: str | Path | None) -> Path:
    """Return the path of the snapshots' folder, by default in the user's data folder."""
    return user_data_path("walletframe") / "history" if folder is None else local_path(folder)


def snapshot_folders(folder: Path) -> list[SnapshotFolder]:
    """Return the snapshots in a folder, sorted by time."""
    paths = (path for path in folder.glob("date=*/*") if _NAME.fullmatch(path.name))
    # strptime is ten times slower than fromisoformat
    return sorted(SnapshotFolder(datetime.fromisoformat(path.name), path) for path in paths)


def require_snapshot_folders(folder: Path) -> list[SnapshotFolder]:
    """Return the snapshots in a folder, or raise an error if there are none."""
    folders = snapshot_folders(folder)
    if not folders:
        hint = f"save a snapshot with {SAVE_CALL}, or pass another folder with folder=…"
        raise UnknownSnapshotError(f"there are no snapshots in {folder}", hint)
    return folders


def snapshot_path(folder: Path, taken_at: datetime) -> Path:
    """Return the path of an existing or new snapshot of exactly this time."""
    return folder / f"date={taken_at:%Y-%m-%d}" / f"{taken_at:%Y%m%dT%H%M%S.%fZ}"


def digest_files(snapshot: SnapshotFolder) -> list[bytes]:
    """Return the digests of a snapshot's files, up to the first unreadable file."""
    digests = []
    with suppress(OSError):
        for name in _DTYPES:
            with (snapshot.path / name).open("rb") as file:
                digests.append(file_digest(file, blake2b).digest())
    return digests


def add_snapshot(
    folder: Path, taken_at: datetime, write_frame: Callable[[str, BinaryIO], None]
) -> bool:
    """Save a snapshot atomically. Return False if a snapshot of this time exists."""
    final = snapshot_path(folder, taken_at)
    if final.exists():
        return False
    create_private_folder(folder)
    remove_leftovers(folder)
    unfinished = _new_hidden_path(folder, _SAVING)
    create_private_folder(unfinished)
    try:
        for name in _DTYPES:
            with create_private_file(unfinished / f"{name}{_UNFINISHED}") as file:
                write_frame(name, file)
        for name in _DTYPES:
            sync_and_rename(unfinished / f"{name}{_UNFINISHED}", unfinished / name)
        with file_lock(folder / _LOCK):
            if final.exists():
                return False
            create_private_folder(final.parent)
            unfinished.rename(final)
            fsync_directory(final.parent)
            fsync_directory(folder)
            return True
    finally:
        _remove_snapshot_files(unfinished)


def remove_snapshots(
    folder: Path,
    redundant: Sequence[SnapshotFolder],
    expected_digests: Mapping[SnapshotFolder, list[bytes]],
) -> bool:
    """Remove snapshots atomically. If a digest has changed, remove none, and return False."""
    with file_lock(folder / _LOCK):
        if any(digest_files(each) != expected for each, expected in expected_digests.items()):
            return False
        for each in redundant:
            hidden_path = _new_hidden_path(folder, _REMOVED)
            each.path.rename(hidden_path)
            _remove_snapshot_files(hidden_path)
            with suppress(OSError):  # the folder of the day may contain other snapshots
                each.path.parent.rmdir()
    return True


def remove_leftovers(folder: Path) -> None:
    """Remove this user's leftover folders. Keep unfinished snapshots for a day."""
    deadline = time.time() - ABANDONED_AFTER_S
    for path in folder.iterdir():
        if match := _LEFTOVER.fullmatch(path.name):
            with suppress(OSError):
                info = path.lstat()
                is_abandoned = match[1] == _REMOVED or info.st_mtime < deadline
                if is_abandoned and stat.S_ISDIR(info.st_mode) and _is_owned_by_user(info):
                    _remove_snapshot_files(path)


def _new_hidden_path(folder: Path, kind: str) -> Path:
    # Names that begin with a dot are no snapshots.
    return folder / f".{kind}-{secrets.token_hex(8)}"


def _remove_snapshot_files(leftover: Path) -> None:
    for path in (leftover / f"{name}{end}" for name in _DTYPES for end in ("", _UNFINISHED)):
        with suppress(OSError):
            info = path.lstat()
            if stat.S_ISREG(info.st_mode) and _is_owned_by_user(info):
                path.unlink()
    with suppress(OSError):  # a folder with other files is kept
        leftover.rmdir()


def _is_owned_by_user(info: os.stat_result) -> bool:
    return info.st_uid == (os.getuid() if hasattr(os, "getuid") else 0)  # on Windows, st_uid is 0


def _make_schema(name: str) -> pa.Schema:
    types = {"Int64": pa.int64(), "Int16": pa.int16(), "float64": pa.float64()}
    types[str(_PANDAS_TIME)] = _ARROW_TIME
    fields = [(SNAPSHOT, _ARROW_TIME)]
    for column, dtype in _DTYPES[name].items():
        if isinstance(dtype, AmountDtype):
            fields += [(column, DECIMALS), (AMOUNT_TEXT, pa.large_string())]
        else:
            fields.append((column, types.get(str(dtype), pa.large_string())))
    fields += [(POSITION, pa.int64()), (KEY, pa.large_string())]
    return pa.schema(fields, metadata={_FORMAT_KEY: str(FORMAT)})


_SCHEMAS = {name: _make_schema(name) for name in _DTYPES}


def write_frame(details: WalletDetails, taken_at: datetime, name: str, file: BinaryIO) -> None:
    """Write the frame `name` (WALLETS or HOLDINGS) of a snapshot to a file."""
    frame = details.wallets if name == WALLETS else details.holdings
    identities = encode_wallets(frame)
    keys = np.array([f"{chain}.{address}" for chain, address in identities.keys], dtype=object)
    added: dict[str, Any] = {
        SNAPSHOT: pd.Series(pd.Timestamp(taken_at), index=frame.index, dtype=_PANDAS_TIME),
        POSITION: np.arange(len(frame)),
        KEY: pd.array(keys[identities.codes], dtype=TEXT),
    }
    schema = _SCHEMAS[name]
    rows = frame[[*_DTYPES[name]]].assign(**added)
    table = to_portable_table(rows).select(schema.names).cast(schema)
    if name == WALLETS:
        extra = extra_to_arrow(frame[extra_names(frame)])
        for column in extra.column_names:
            table = table.append_column(column, extra[column])
    with open_parquet_writer(file, table.schema) as parquet:
        parquet.write_table(table.sort_by(KEY), row_group_size=GROUP_ROWS)


def open_parquet_writer(file: BinaryIO, schema: pa.Schema) -> pq.ParquetWriter:
    """Return a Parquet writer for a file of a snapshot."""
    text_columns = [field.name for field in schema if pa.types.is_large_string(field.type)]
    return pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        use_dictionary=[name for name in text_columns if name not in DISTINCT_COLUMNS],
        write_statistics=[SNAPSHOT, KEY],  # searches by these columns skip row groups
    )


def read_snapshots(
    folders: Sequence[SnapshotFolder], keys: Collection[tuple[str, str]] | None
) -> WalletDetails:
    """Read the wallets `keys`, or all wallets for None. Sort rows by time, then position."""
    frames = (_read_frame(folders, name, keys) for name in (WALLETS, HOLDINGS))
    return WalletDetails(*normalize_blockchains(*frames))


def read_snapshot_wallets(folders: Sequence[SnapshotFolder]) -> pd.DataFrame:
    """Read the wallets of snapshots. Rows are sorted by time, then position."""
    [wallets] = normalize_blockchains(_read_frame(folders, WALLETS, None))
    return wallets


def _read_frame(
    folders: Sequence[SnapshotFolder], name: str, keys: Collection[tuple[str, str]] | None
) -> pd.DataFrame:
    wallet_keys = None if keys is None else sorted(".".join(key) for key in keys)
    stored = (AMOUNT_TEXT if column == "amount" else column for column in _DTYPES[name])
    columns = [SNAPSHOT, *stored, POSITION, KEY]

    def read_batch(batch: Sequence[SnapshotFolder]) -> list[pa.Table]:
        return [_read_rows(each.path / name, columns, wallet_keys) for each in batch]

    batch_size = max(1, len(folders) // _MAX_TASKS)
    batches = [folders[start : start + batch_size] for start in range(0, len(folders), batch_size)]
    # Each task reads several files, since starting a task costs a tenth of reading a file.
    with ThreadPoolExecutor() as threads:
        tables = [table for batch in threads.map(read_batch, batches) for table in batch]
    empty = _SCHEMAS[name].empty_table().select(columns)
    table = _concat_tables([empty, *tables]).drop_columns(KEY)
    in_order = table.sort_by([(SNAPSHOT, "ascending"), (POSITION, "ascending")])
    frame = in_order.drop_columns(POSITION).to_pandas(types_mapper=_INTEGERS.get)
    renamed = frame.rename(columns={AMOUNT_TEXT: "amount"})
    typed = select_and_cast(renamed, {SNAPSHOT: _PANDAS_TIME, **_DTYPES[name]})
    if name != WALLETS:
        return typed
    extra = [each for each in in_order.column_names if each not in (*columns, POSITION)]
    return append_columns(typed, extra_from_arrow(in_order.select(extra)))


def _concat_tables(tables: list[pa.Table]) -> pa.Table:
    """Concatenate tables. Columns with different types become text."""
    types_by_name: dict[str, set[pa.DataType]] = {}
    for field in (field for table in tables for field in table.schema):
        types_by_name.setdefault(field.name, set()).add(field.type)
    mixed_columns = {name for name, types in types_by_name.items() if len(types - {pa.null()}) > 1}
    if mixed_columns:
        text = dict.fromkeys(mixed_columns, pa.large_string())
        schemas = [
            pa.schema([(each.name, text.get(each.name, each.type)) for each in table.schema])
            for table in tables
        ]
        tables = [table.cast(schema) for table, schema in zip(tables, schemas, strict=True)]
    return pa.concat_tables(tables, promote_options="default")


def _read_rows(path: Path, columns: list[str], wallet_keys: list[str] | None) -> pa.Table:
    with open_snapshot_file(path) as file:
        if path.name == WALLETS:  # this file can have extra columns
            known = {*_SCHEMAS[WALLETS].names, *columns}
            columns = [*columns, *(each for each in file.schema_arrow.names if each not in known)]
        if wallet_keys is None:
            return merge_amount_columns(file.read(columns=columns, use_threads=False))
        table = file.schema_arrow.empty_table().select(columns)
        # Older versions of Arrow raise an error for an empty list.
        if groups := _matching_row_groups(file.metadata, wallet_keys):
            table = file.read_row_groups(groups, columns=columns, use_threads=False)
        keys = pa.array(wallet_keys, pa.large_string())
        return merge_amount_columns(table.filter(pc.is_in(table[KEY], value_set=keys)))


@contextmanager
def open_snapshot_file(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a file of a snapshot. Errors become a HistoryError that names the file."""
    try:
        with pa.OSFile(str(path)) as source, pq.ParquetFile(source) as file:
            _check_format(path, file.metadata)
            yield file
    except HistoryError:
        raise
    except (OSError, pa.ArrowInvalid) as fault:
        hint = "move this snapshot to another folder to continue without it"
        raise HistoryError(f"{path} can't be read: {fault}", hint) from None


def _check_format(path: Path, metadata: pq.FileMetaData) -> None:
    file_format = (metadata.metadata or {}).get(_FORMAT_KEY, b"")
    if not file_format.isdigit():
        raise HistoryError(
            f"{path} is not part of a snapshot", hint="move the file to another folder"
        )
    if int(file_format) > FORMAT:
        raise HistoryError(
            f"{path} was written by a later version of walletframe: its format is "
            f"{int(file_format)}, and this version reads formats up to {FORMAT}",
            hint="update walletframe: pip install --upgrade walletframe",
        )


def _matching_row_groups(metadata: pq.FileMetaData, keys: list[str]) -> list[int]:
    column, matching = metadata.schema.names.index(KEY), []
    for group in range(metadata.num_row_groups):
        bounds = metadata.row_group(group).column(column).statistics
        has_bounds = bounds is not None and bounds.has_min_max  # an empty group has no statistics
        if has_bounds and (not keys or bounds.min > keys[-1]):
            break
        if not has_bounds or bisect_left(keys, bounds.min) < bisect_right(keys, bounds.max):
            matching.append(group)
    return matching


def select_and_cast(frame: pd.DataFrame, dtypes: Mapping[str, object]) -> pd.DataFrame:
    """Return the columns in `dtypes`, converted to these dtypes."""
    require_columns(frame, dtypes)
    columns = {name: _cast_for_saving(frame[name], dtype) for name, dtype in dtypes.items()}
    return pd.DataFrame(columns).reset_index(drop=True)


def _cast_for_saving(column: pd.Series, dtype: object) -> pd.Series:
    try:
        if not isinstance(dtype, pd.CategoricalDtype):
            return column.astype(dtype)  # type: ignore[call-overload,no-any-return]  # any dtype
        unknown = column[column.notna() & ~column.isin(dtype.categories)]
        if unknown.empty:
            return column.astype(dtype)
        reason = f"{unknown.iloc[0]!r} is not a known value"
    except AmountError:
        raise
    except (TypeError, ValueError) as fault:
        reason = str(fault)
    raise SnapshotError(
        f"the column {column.name!r} can't be saved: {reason}",
        hint="save the frames unchanged, as they were fetched",
    )
