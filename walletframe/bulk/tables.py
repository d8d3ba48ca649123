"""Between the frames and the Parquet files of a part.

The files are for everyone: amounts as exact text, with a decimal beside it that can be summed;
categories as text; `position`, the place in the order asked, beside the columns of the wallets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from walletframe.address import canonical_key
from walletframe.amounts.files import to_portable_table
from walletframe.frames import HOLDING_DTYPES, WALLET_DTYPES, assemble
from walletframe.wire import NO_LIST, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    import pandas as pd

    from walletframe.address import WalletAddress
    from walletframe.frames import WalletDetails

POSITION = "position"
_ARROW_DTYPES = {
    pa.large_string(): WALLET_DTYPES["address"],
    pa.int16(): HOLDING_DTYPES["decimals"],
    pa.int64(): WALLET_DTYPES["tokens"],
}
_CATEGORIES = ("status", "source")


def key_of(wallet: WalletAddress) -> str:
    """Return what is equal for two spellings of one wallet."""
    return ".".join(canonical_key(wallet.blockchain, wallet.address))


def keys_of(wallets: pa.Table) -> list[str]:
    """Return the same for the rows of a table."""
    pairs = zip(wallets["blockchain"].to_pylist(), wallets["address"].to_pylist(), strict=True)
    return [".".join(canonical_key(blockchain, address)) for blockchain, address in pairs]


def as_tables(details: WalletDetails, positions: Sequence[int]) -> tuple[pa.Table, pa.Table]:
    """Return wallets, those that are not ok among them, and holdings as they are written."""
    text = dict.fromkeys(_CATEGORIES, WALLET_DTYPES["address"])
    wallets = to_portable_table(details.wallets.astype(text))
    return (
        wallets.append_column(POSITION, pa.array(positions, pa.int64())),
        to_portable_table(details.holdings),
    )


def still_failed(failed: Iterable[pa.Table], wallets: Iterable[pa.Table]) -> pa.Table:
    """Return the latest row of each wallet that is not ok, and is not among those that are."""
    table = pa.concat_tables([no_tables()[0], *failed])
    latest = {key: row for row, key in enumerate(keys_of(table))}
    for part in wallets:
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
    said = {"status": Status.FAILED.value, "error": NO_LIST}
    failed = wallets.filter(unlisted)
    for name, text in said.items():
        place, kind = failed.column_names.index(name), failed.schema.field(name).type
        failed = failed.set_column(place, name, pa.array([text] * len(failed), kind))
    return wallets.filter(pc.invert(unlisted)), failed


def no_tables() -> tuple[pa.Table, pa.Table]:
    """Return the same without any rows."""
    return as_tables(assemble([]), [])


def wallets_frame(table: pa.Table) -> pd.DataFrame:
    """Return wallets as the contract has them."""
    return _frame(table, WALLET_DTYPES)


def holdings_frame(table: pa.Table) -> pd.DataFrame:
    """Return holdings as the contract has them."""
    return _frame(table, HOLDING_DTYPES)


def read_table(path: Path, columns: list[str] | None = None) -> pa.Table:
    """Read a file, or some of its columns; what its folders are called adds none."""
    return pq.read_table(path, columns=columns, partitioning=None)


def _frame(table: pa.Table, dtypes: Mapping[str, Any]) -> pd.DataFrame:
    frame: pd.DataFrame = table.select(list(dtypes)).to_pandas(types_mapper=_ARROW_DTYPES.get)
    return frame.astype(
        {name: dtypes[name] for name in dtypes if frame[name].dtype != dtypes[name]}
    )
