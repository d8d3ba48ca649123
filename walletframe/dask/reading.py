"""A folder of one bulk run as workers read it: as it was when it was opened, or not at all."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from dask.base import compute
from dask.delayed import delayed

from walletframe.bulk import open_holdings, read_wallets
from walletframe.bulk.files import Layout, dataset_errors
from walletframe.bulk.journal import segments
from walletframe.dask.passes import pieces
from walletframe.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import dask.dataframe as dd
    import pandas as pd

    from walletframe.bulk import StoredHoldings


class Opened(NamedTuple):
    """A folder of one bulk run, and its files at one moment."""

    root: Path
    files: tuple[tuple[str, int], ...]  # names and sizes; parts never change


def files_of(root: Path) -> tuple[tuple[str, int], ...]:
    """List the files that change when a folder does."""
    layout = Layout(root)
    parts = [path for folder in (layout.wallets, layout.failed) for path in folder.glob("*")]
    kept = [layout.kept] if layout.kept.exists() else []
    files = parts + segments(layout.inner) + kept
    return tuple(sorted((path.as_posix(), path.stat().st_size) for path in files))


def _require_unchanged(folder: Opened) -> None:
    if files_of(folder.root) != folder.files:
        raise DatasetError(
            f"{folder.root} has changed since it was opened", hint="open the folder anew"
        )


def stored(folder: Opened, like: pd.DataFrame) -> StoredHoldings:
    """Open it on a worker; its wallets have the columns of a frame, those that others keep, too."""
    with dataset_errors(folder.root):
        _require_unchanged(folder)
        found = open_holdings(folder.root)
        wallets = found.wallets.reindex(columns=like.columns)
        wallets = wallets.astype(like.dtypes[wallets.dtypes != like.dtypes].to_dict())
        return replace(found, whole=replace(found.whole, given=wallets))


def wallets_of(folder: Opened, like: pd.DataFrame) -> pd.DataFrame:
    """Read the wallets, with the columns of a frame."""
    return stored(folder, like).wallets


def wallet_tables(
    folders: Sequence[Opened], like: pd.DataFrame, columns: list[str]
) -> list[pd.DataFrame]:
    """Read some columns of the wallets of each folder; several folders are one task."""
    on_folders = delayed(_wallet_tables, pure=False)
    tasks = [on_folders(some, like, columns) for some in pieces(folders, [1] * len(folders))]
    return [*chain.from_iterable(compute(*tasks))]


def _wallet_tables(
    folders: Sequence[Opened], like: pd.DataFrame, columns: list[str]
) -> list[pd.DataFrame]:
    return [wallets_of(folder, like)[columns] for folder in folders]


def balances_of(folder: Opened, columns: list[str] | None = None) -> pd.DataFrame:
    """Read the balances, or some columns of them."""
    with dataset_errors(folder.root):
        _require_unchanged(folder)
        return read_wallets(folder.root, columns=columns).holdings


def folders_of(wallets: dd.DataFrame, holdings: dd.DataFrame) -> list[Opened] | None:
    """Give the folders of two frames that were read as they are in the same ones; else None.

    A partition of such holdings need not be made a frame to be added up.
    """
    owners, balances = (_read_with(frame.expr) for frame in (wallets, holdings))
    alike = owners[0] is wallets_of and balances[0] is balances_of and owners[1] == balances[1]
    return owners[1] if alike else None


def _read_with(expr: Any) -> tuple[Any, list[Opened] | None]:
    return getattr(expr, "func", None), [*getattr(expr, "iterables", [[]])[0]]
