"""The files of a snapshot: the two frames of a fetch, as Parquet that other programs open."""
# Beside the columns of the contract, and the decimals beside the amounts, each row has its
# `snapshot`, its `position` in the frame that was saved, and a `wallet_key`, which is the same in
# every snapshot whatever the spelling. Rows are sorted by it, in small groups with statistics, so
# that those of one wallet are found without reading the others.

from __future__ import annotations

from bisect import bisect_left, bisect_right
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from walletframe.amounts import AmountDtype
from walletframe.amounts.arrow import SUFFIX, to_portable_table
from walletframe.errors import AmountError, HistoryError, SnapshotError
from walletframe.frames import (
    HOLDING_DTYPES,
    WALLET_DTYPES,
    WalletDetails,
    as_failed,
    kept_columns,
    kept_frame,
    kept_table,
    require_columns,
    respelled,
    wallet_identities,
    with_kept,
)
from walletframe.history.folder import HOLDINGS, WALLETS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from walletframe.history.folder import SnapshotFolder

FORMAT: Final = 1
SNAPSHOT: Final = "snapshot"
_FORMAT_KEY = b"walletframe_history"
KEY, POSITION = "wallet_key", "position"
GROUP_ROWS = 2048  # fewer make the footers dear, more the rows that are read for one wallet
_PARTS = 16  # tasks in which files are read
_ALL_DIFFERENT = {"amount", "raw_amount", "explorer_url", "error"}
_MOMENT = pd.DatetimeTZDtype("us", "UTC")
_INSTANT = pa.timestamp("us", "UTC")
_INTEGERS = {pa.int16(): pd.Int16Dtype(), pa.int64(): pd.Int64Dtype()}
_DTYPES: dict[str, Mapping[str, object]] = {WALLETS: WALLET_DTYPES, HOLDINGS: HOLDING_DTYPES}


def _schema(name: str) -> pa.Schema:
    kinds = {"Int64": pa.int64(), "Int16": pa.int16(), "float64": pa.float64()}
    kinds[str(_MOMENT)] = _INSTANT
    fields = [(SNAPSHOT, kinds[str(_MOMENT)])]
    for column, dtype in _DTYPES[name].items():
        fields.append((column, kinds.get(str(dtype), pa.large_string())))
        if isinstance(dtype, AmountDtype):
            fields.append((f"{column}{SUFFIX}", pa.decimal128(38, 18)))
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
        KEY: pd.array(keys[identities.codes], dtype="str"),
    }
    schema = _SCHEMAS[name]
    rows = frame[[*_DTYPES[name]]].assign(**added)
    table = to_portable_table(rows).select(schema.names).cast(schema)
    if name == WALLETS:
        own = kept_table(kept_columns(frame))
        for column in own.column_names:
            table = table.append_column(column, own[column])
    with writer(file, table.schema) as parquet:
        parquet.write_table(table.sort_by(KEY), row_group_size=GROUP_ROWS)


def writer(file: BinaryIO, schema: pa.Schema) -> pq.ParquetWriter:
    """Open a file of snapshots for writing."""
    repeated = [
        field.name
        for field in schema
        if pa.types.is_large_string(field.type) and field.name not in _ALL_DIFFERENT
    ]
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
    columns = [SNAPSHOT, *_DTYPES[name], POSITION, KEY]
    moments: dict[Path, list[datetime]] = {}
    for each in folders:
        moments.setdefault(each.path, []).extend([each.moment] * each.packed)

    def rows(paths: Sequence[Path]) -> list[pa.Table]:
        tables = ((path, _rows(path / name, columns, wanted)) for path in paths)
        return [of_moments(each, moments[path]) if moments[path] else each for path, each in tables]

    paths, most = [*moments], max(1, len(moments) // _PARTS)
    parts = [paths[start : start + most] for start in range(0, len(paths), most)]
    with ThreadPoolExecutor() as threads:  # few tasks: each costs as much as a tenth of a file
        tables = [table for part in threads.map(rows, parts) for table in part]
    empty = _SCHEMAS[name].empty_table().select(columns)
    table = _together([empty, *tables]).drop_columns(KEY)
    in_order = table.sort_by([(SNAPSHOT, "ascending"), (POSITION, "ascending")])
    frame = in_order.drop_columns(POSITION).to_pandas(types_mapper=_INTEGERS.get)
    found = converted(frame, {SNAPSHOT: _MOMENT, **_DTYPES[name]})
    if name != WALLETS:
        return found
    own = [each for each in in_order.column_names if each not in (*columns, POSITION)]
    return with_kept(as_failed(found), kept_frame(in_order.select(own)))


def _together(tables: Sequence[pa.Table]) -> pa.Table:
    """Put tables together, whose own columns may differ: a column of several types is text."""
    kinds: dict[str, set[pa.DataType]] = {}
    for field in (field for table in tables for field in table.schema):
        kinds.setdefault(field.name, set()).add(field.type)
    for name in (name for name, found in kinds.items() if len(found - {pa.null()}) > 1):
        for place, table in enumerate(tables):
            if name in table.column_names:
                column = table.schema.get_field_index(name)
                text = table[name].cast(pa.large_string())
                tables = [
                    *tables[:place],
                    table.set_column(column, name, text),
                    *tables[place + 1 :],
                ]
    return pa.concat_tables(tables, promote_options="default")


def _rows(path: Path, columns: list[str], wanted: list[str] | None) -> pa.Table:
    """Read a file's rows, or those of some wallets without most of the others."""
    with opened(path) as file:
        if path.name == WALLETS:  # which has a user's own, too
            others = {*_SCHEMAS[WALLETS].names, *columns}
            columns = [*columns, *(each for each in file.schema_arrow.names if each not in others)]
        if wanted is None:
            return file.read(columns=columns, use_threads=False)
        groups = _groups(file.metadata, wanted)
        table = file.read_row_groups(groups, columns=columns, use_threads=False)
        named = pa.array(wanted, pa.large_string())
        return table.filter(pc.is_in(table[KEY], value_set=named))


@contextmanager
def opened(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a file of snapshots, and tell which one can't be read."""
    try:
        with pa.OSFile(str(path)) as source, pq.ParquetFile(source) as file:
            _check_format(path, file.metadata)
            yield file
            return
    except HistoryError:
        raise
    except (OSError, pa.ArrowInvalid) as fault:
        reason = str(fault)
    raise HistoryError(
        f"{path} can't be read: {reason}",
        hint="to go on without this snapshot, move it out of the folder",
    )


def of_moments(table: pa.Table, moments: Sequence[datetime]) -> pa.Table:
    """Leave out the rows of other snapshots in the same file."""
    return table.filter(pc.is_in(table[SNAPSHOT], value_set=pa.array(moments, _INSTANT)))


def _groups(metadata: pq.FileMetaData, wanted: list[str]) -> list[int]:
    """Give the groups of rows that may hold a wanted wallet; they are in order."""
    found = []
    for group, ends in enumerate(key_ends(metadata)):
        if ends and (not wanted or ends[0] > wanted[-1]):
            break
        if ends is None or bisect_left(wanted, ends[0]) < bisect_right(wanted, ends[1]):
            found.append(group)
    return found


def key_ends(metadata: pq.FileMetaData) -> Iterator[tuple[str, str] | None]:
    """Give the first and the last wallet of each group of rows; of one without rows, None."""
    column = metadata.schema.names.index(KEY)
    for group in range(metadata.num_row_groups):
        keys = metadata.row_group(group).column(column).statistics
        yield (keys.min, keys.max) if keys is not None and keys.has_min_max else None


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


def converted(frame: pd.DataFrame, dtypes: Mapping[str, object]) -> pd.DataFrame:
    """Give a frame some columns of some dtypes, and no others."""
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
