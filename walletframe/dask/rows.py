"""Rows of holdings with more columns, or fewer rows: made when a partition is computed.

What they need of all partitions, such as which tokens there are, is computed at once.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.base import is_dask_collection
from dask.delayed import delayed

from walletframe.address import canonical_key
from walletframe.bulk import Flags, Units, cases_of_frame
from walletframe.dask.holdings import APART
from walletframe.errors import ColumnsError
from walletframe.frames import merge, read_wallets, wallet_identities

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from walletframe.frames import How, TokenKey

_KEY = "_walletframe_key"


def valued(frame: dd.DataFrame, units: Units) -> dd.DataFrame:
    """Add prices and values."""
    return _mapped(_valued, frame, units)


def _valued(rows: pd.DataFrame, units: Units) -> pd.DataFrame:
    return rows.assign(**units.columns(cases_of_frame(rows, None), rows))


def flagged(frame: dd.DataFrame, flags: Flags) -> dd.DataFrame:
    """Add what was found about spam; a row of an unknown token is known by its place."""
    return _mapped(_flagged, frame, flags, _numbers(frame))


def without(frame: dd.DataFrame, flags: Flags) -> dd.DataFrame:
    """Leave out what is flagged."""
    return _mapped(_without, frame, flags, _numbers(frame))


def _columns(rows: pd.DataFrame, flags: Flags, number: pd.Series) -> dict[str, Any]:
    places = number.iloc[0] * APART + np.arange(len(rows))
    return flags.columns(replace(cases_of_frame(rows, None), places=places))


def _flagged(rows: pd.DataFrame, flags: Flags, number: pd.Series) -> pd.DataFrame:
    return rows.assign(**_columns(rows, flags, number))


def _without(rows: pd.DataFrame, flags: Flags, number: pd.Series) -> pd.DataFrame:
    return rows[~_columns(rows, flags, number)["is_spam"]]


def _number(number: int) -> pd.Series:
    return pd.Series([number])


def _numbers(frame: dd.DataFrame) -> dd.Series:
    """Give each partition its number, which it keeps where some are chosen later."""
    return dd.from_map(_number, range(frame.npartitions), meta=_number(0))


def _mapped(
    work: Callable[..., pd.DataFrame], frame: dd.DataFrame, found: Units | Flags, *numbers: Any
) -> dd.DataFrame:
    """Work on each partition, with what was found, which is sent to a worker once."""
    meta = work(frame._meta, found, *map(_number, range(len(numbers))))  # noqa: SLF001 - Dask's
    shared = delayed(found, pure=True, traverse=False)
    return frame.map_partitions(work, shared, *numbers, meta=meta, align_dataframes=False)


def joined(
    table: dd.DataFrame, frame: Any, how: How, *, on: str | None, suffixes: tuple[str, str]
) -> dd.DataFrame:
    """Merge a table of wallets with a frame of a fetch, wallet by wallet."""
    mine, theirs = table._meta, getattr(frame, "_meta", frame)  # noqa: SLF001 - Dask's
    if on is None and not {"blockchain", "address"} <= {*mine.columns}:
        hint = 'name the column of "<BLOCKCHAIN>.<ADDRESS>" strings: on="wallet"'
        raise ColumnsError(["blockchain", "address"], [*map(str, mine.columns)], hint=hint)
    work = partial(_merged, how=how, on=on, suffixes=suffixes)
    meta = work(mine, theirs if not isinstance(theirs, pd.DataFrame) else theirs[:0])
    if not is_dask_collection(frame):
        if how in ("left", "inner"):
            shared = delayed(frame, pure=True, traverse=False)
            return table.map_partitions(work, shared, meta=meta)
        with dask.config.set({"dataframe.convert-string": False}):
            frame = dd.from_pandas(frame, npartitions=1)
    count = max(table.npartitions, frame.npartitions)
    ours = _together(table, partial(_of_table, on=on), count)
    others = _together(frame, _of_fetch, count)
    return ours.map_partitions(_joined, others, work, meta=meta, align_dataframes=False)


def _merged(table: pd.DataFrame, frame: object, **given: Any) -> pd.DataFrame:
    """Merge without a word of rows that match nothing: they may in another partition."""
    return merge(table, frame, **given)[0]


def _together(
    frame: dd.DataFrame, keyed: Callable[[pd.DataFrame], pd.DataFrame], count: int
) -> dd.DataFrame:
    """Bring the rows of a wallet into one partition, which is the same for any frame."""
    meta = keyed(frame._meta)  # noqa: SLF001 - Dask's
    return frame.map_partitions(keyed, meta=meta).shuffle(_KEY, npartitions=count)


def _of_table(rows: pd.DataFrame, on: str | None) -> pd.DataFrame:
    found = read_wallets(rows, on)
    keys = [canonical_key(each.blockchain, each.address) if each else None for each in found]
    return _keyed(rows, keys)


def _of_fetch(rows: pd.DataFrame) -> pd.DataFrame:
    found = wallet_identities(rows)
    return _keyed(rows, [found.keys[code] for code in found.codes])


def _keyed(rows: pd.DataFrame, keys: Sequence[TokenKey | None]) -> pd.DataFrame:
    return rows.assign(**{_KEY: pd.array([str(key) for key in keys], dtype="str")})


def _joined(
    table: pd.DataFrame, frame: pd.DataFrame, work: Callable[..., pd.DataFrame]
) -> pd.DataFrame:
    return work(*(rows.drop(columns=_KEY) for rows in (table, frame)))
