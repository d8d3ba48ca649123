"""`read_wallets`: the files of a bulk run as the frames of a fetch."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from walletframe.address import canonical_key, distinct_wallets, parse_wallets
from walletframe.bulk.files import (
    POSITION,
    Layout,
    apart,
    as_frame,
    as_tables,
    dataset_errors,
    kept_of,
    key_of,
    keys_of,
    no_tables,
    part_name,
    part_numbers,
    part_tables,
    read_kept,
    read_table,
    still_failed,
)
from walletframe.bulk.journal import left_in, segments
from walletframe.errors import DatasetError
from walletframe.frameless import at_the_boundary
from walletframe.frames import (
    HOLDING_DTYPES,
    WALLET_DTYPES,
    WalletDetails,
    WalletRecord,
    assemble,
    respelled,
    with_kept,
)
from walletframe.wire import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from walletframe.address import WalletAddress, WalletsLike

_Integers: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"
_Pair: TypeAlias = tuple[pa.Table, pa.Table]  # wallets and holdings
_TRIES = 5
_ABSENT = Outcome(Status.NOT_CACHED, "not in the folder")


@at_the_boundary
def read_wallets(folder: str | Path, *, wallets: WalletsLike | None = None) -> WalletDetails:
    """Read what `fetch_to_parquet` has written.

    Parameters
    ----------
    folder : str or Path
        The folder. A run may still be writing to it, or have been killed: answers that are in no
        Parquet file yet are read from the journal.
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of them, optional
        Read these wallets alone, for a folder larger than memory. The files of wallets are read as
        a whole, those of holdings one at a time.

    Returns
    -------
    WalletDetails
        As from `fetch_wallets`, in the order asked then, with the columns that were kept. With
        `wallets` in their order and spelling; what is not in the folder has the status
        ``not_cached``. Empty frames, with all columns, where nothing has been written yet.

    Raises
    ------
    DatasetError
        If the folder holds no such files, or one of them is missing or broken.
    AddressError
        Lists every one of `wallets` that can't be read.

    See Also
    --------
    fetch_to_parquet : Writes the folder.

    Notes
    -----
    Other programs read the files as they are, and sum what memory does not hold, such as DuckDB:
    ``SELECT token_address, sum(amount_decimal) FROM 'folder/holdings/*.parquet' GROUP BY ALL``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from walletframe.bulk import fetch_to_parquet
    >>> from walletframe.service import sandbox
    >>> with (
    ...     TemporaryDirectory() as folder,
    ...     sandbox() as service,
    ...     service.client(cache=False) as client,
    ... ):
    ...     summary = fetch_to_parquet(["NEAR.alice.near", "ETH.0x1"], folder, client=client)
    ...     wallets, holdings = read_wallets(folder, wallets="eth.0X1")
    >>> wallets.address.item()
    '0X1'
    """
    asked = None if wallets is None else distinct_wallets(parse_wallets(wallets))
    layout = Layout(Path(folder))
    with dataset_errors(layout.root):
        service = layout.service()
        if service is None:
            raise DatasetError(
                f"{layout.root} has no files of fetch_to_parquet",
                hint="give the folder that was passed to fetch_to_parquet",
            )
        read = _all_of(layout, service) if asked is None else _some_of(layout, service, asked)
        wallets, holdings = respelled(*read)
        if (told := read_kept(layout)) is not None:
            pairs = zip(wallets["blockchain"], wallets["address"], strict=True)
            keys = [".".join(canonical_key(*pair)) for pair in pairs]
            wallets = with_kept(wallets, kept_of(told, keys))
        return WalletDetails(wallets, holdings)


def _all_of(layout: Layout, service: str) -> WalletDetails:
    found, holdings = _tables(layout, service, None)
    order = np.argsort(found[POSITION].to_numpy(), kind="stable")
    wallets = as_frame(found, WALLET_DTYPES).take(order).reset_index(drop=True)
    held = _ordered(holdings, _counts(found), order)
    return WalletDetails(wallets, as_frame(held, HOLDING_DTYPES))


def _some_of(layout: Layout, service: str, asked: list[WalletAddress]) -> WalletDetails:
    keys = [key_of(wallet) for wallet in asked]
    found, holdings = _tables(layout, service, set(keys))
    rows = {key: row for row, key in enumerate(keys_of(found))}
    absent = assemble(WalletRecord(wallet, _ABSENT, service) for wallet in asked).wallets
    order = np.array([rows.get(key, len(rows) + n) for n, key in enumerate(keys)], dtype=np.int64)
    counts = np.append(_counts(found), np.zeros(len(absent), dtype=np.int64))
    wallets = pd.concat([as_frame(found, WALLET_DTYPES), absent]).take(order).reset_index(drop=True)
    held = as_frame(_ordered(holdings, counts, order), HOLDING_DTYPES)
    of_wallet = np.repeat(np.arange(len(asked)), counts[order])
    for name in ("blockchain", "address"):
        wallets[name] = absent[name]
        held[name] = absent[name].array.take(of_wallet)
    return WalletDetails(wallets, held)


def _tables(layout: Layout, service: str, keys: Container[str] | None) -> _Pair:
    """Return wallets, and their holdings in the same order."""
    unwritten = left_in(segments(layout.inner), service)  # what leaves it meanwhile is in a part
    failed = _failed(layout)  # before the others: what comes right meanwhile is found there
    numbers = part_numbers(layout.wallets)
    parts = [no_tables(), *(_part(layout, part_name(number), keys) for number in numbers)]
    found, holdings = zip(*parts, strict=True)
    wallets, unlisted = zip(*map(apart, found), strict=True)
    for table in wallets if unwritten else ():
        for key in keys_of(table):
            unwritten.pop(key, None)
    ok, not_ok = _as_part(unwritten.values(), is_ok=True), _as_part(unwritten.values(), is_ok=False)
    more, held = _chosen(*ok, keys)
    left = still_failed([*unlisted, *failed, not_ok[0]], [*wallets, more])
    chosen = pa.array([keys is None or key in keys for key in keys_of(left)], pa.bool_())
    everyone = pa.concat_tables([*wallets, more, left.filter(chosen)])
    return everyone, pa.concat_tables([*holdings, held])


def _failed(layout: Layout) -> list[pa.Table]:
    """Read what failed, once more where a run has just brought it up to date."""
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):
            return list(part_tables(layout.failed))
    raise DatasetError(f"{layout.failed} keeps changing", hint="read it again")


def _part(layout: Layout, name: str, keys: Container[str] | None) -> _Pair:
    wallets = read_table(layout.wallets / name)
    if keys is not None and not any(key in keys for key in keys_of(wallets)):
        return no_tables()
    holdings = read_table(layout.holdings / name)
    if _counts(wallets).sum() != holdings.num_rows:
        raise DatasetError(
            f"{layout.root}: the two files {name} don't belong together",
            hint=f"remove both; the same fetch_to_parquet again asks for what was in {name}",
        )
    return _chosen(wallets, holdings, keys)


def _as_part(found: Iterable[tuple[WalletRecord, int]], *, is_ok: bool) -> _Pair:
    """Return what is in the journal alone as the tables of a part."""
    of_kind = [each for each in found if (each[0].outcome.status is Status.OK) == is_ok]
    return as_tables(assemble(record for record, _ in of_kind), [place for _, place in of_kind])


def _chosen(wallets: pa.Table, holdings: pa.Table, keys: Container[str] | None) -> _Pair:
    if keys is None:
        return wallets, holdings
    chosen = np.array([key in keys for key in keys_of(wallets)], dtype=bool)
    held = _ordered(holdings, _counts(wallets), np.flatnonzero(chosen))
    return wallets.filter(pa.array(chosen)), held


def _counts(wallets: pa.Table) -> _Integers:
    """Return how many holdings belong to each wallet."""
    counts: _Integers = wallets["tokens"].fill_null(0).to_numpy()
    return counts


def _ordered(holdings: pa.Table, counts: _Integers, order: _Integers) -> pa.Table:
    """Return the holdings of some wallets, one wallet after the other."""
    if np.array_equal(order, np.arange(len(counts))):
        return holdings
    taken = counts[order]
    starts = np.cumsum(counts)[order] - taken
    within = np.arange(taken.sum()) - np.repeat(np.cumsum(taken) - taken, taken)
    return holdings.take(pa.array(np.repeat(starts, taken) + within))
