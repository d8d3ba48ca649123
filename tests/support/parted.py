"""Folders of bulk runs that hold a given fetch in small parts."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from walletframe.bulk.dataset import DatasetWriter
from walletframe.bulk.files import Paths, to_part_tables
from walletframe.bulk.reading import FolderPart, FolderWallets
from walletframe.bulk.stored import stored_holdings
from walletframe.frames.details import WalletDetails
from walletframe.frames.identity import encode_wallets


def write_parts(folder, details, *, seed=0, wallets=2):
    """Write a fetch in parts of a few wallets, in a random order from the seed."""
    order = np.random.default_rng(seed).permutation(len(details.wallets)).tolist()
    with DatasetWriter(Path(folder), "made up") as dataset:
        for start in range(0, len(order), wallets):
            places = order[start : start + wallets]
            dataset.write_part(some_of(details, places), places)
    return folder


def in_parts(details, *, seed=0, wallets=2):
    """Return the same fetch as an opened folder whose parts were never written."""
    order = np.random.default_rng(seed).permutation(len(details.wallets)).tolist()
    parts, failed_tables = [], []
    for start in range(0, len(order) + 1, wallets):
        places = order[start : start + wallets]
        ok, holdings, failed = to_part_tables(some_of(details, places), places)
        everyone = np.ones(len(ok), dtype=bool)
        parts.append(FolderPart(ok, everyone, ok["tokens"].to_numpy(), holdings))
        failed_tables.append(failed)
    contents = FolderWallets(parts, pa.concat_tables(failed_tables))
    return stored_holdings(contents, Paths(Path("nowhere")))


def some_of(details, places):
    """Return the wallets at these positions, in this order, with their holdings."""
    chosen = details.wallets.iloc[places]
    owners = encode_wallets(details.holdings)
    rows = {key: np.flatnonzero(owners.codes == code) for code, key in enumerate(owners.keys)}
    keys = encode_wallets(chosen).keys
    held = np.concatenate([np.empty(0, dtype=int), *(rows.get(key, []) for key in keys)])
    return WalletDetails(
        chosen.reset_index(drop=True),
        details.holdings.iloc[held.astype(int)].reset_index(drop=True),
    )
