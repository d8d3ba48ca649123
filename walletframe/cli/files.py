"""Read and write files with exact amounts, and explain why a file is not supported."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from walletframe import exports
from walletframe.accessor.delegation import LazyPackage
from walletframe.address.forms import standard_column_names
from walletframe.cli.screen import echo
from walletframe.errors import SettingsError, SnapshotError
from walletframe.frames.details import WalletDetails
from walletframe.frames.positions import HOLDING_COLUMNS
from walletframe.frames.schema import normalize_blockchains, text_array

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pandas as pd

    from walletframe import bulk, history
    from walletframe.bulk import files as bulk_files
else:
    bulk, bulk_files, history = map(LazyPackage, ("bulk", "bulk.files", "history"))

_HOLDINGS, _WALLETS, _LIST = "saved holdings", "saved wallets", "a list of wallets"
_PRICES = "prices"
_COLUMNS_BY_KIND = {  # the first kind whose columns all exist is used
    _HOLDINGS: {*HOLDING_COLUMNS, "raw_amount"},
    _WALLETS: {"blockchain", "address", "status", "fetched_at"},
    "changes between two snapshots": {"before", "after", "change"},
    "amounts over time": {"snapshot", "amount", "status"},
    "totals": {"balances", "amount_na"},
    _PRICES: {"price"},
    _LIST: {"blockchain", "address"},
}


def write_details(details: WalletDetails, path: Path) -> None:
    """Write wallets and holdings to one JSON file, or to two files of another format."""
    if path.suffix.lower() == ".json":
        write_frames_if_path(path, **details._asdict())
    else:
        write_frames_if_path(path, holdings=details.holdings)
        write_frames_if_path(path.with_suffix(f".wallets{path.suffix}"), wallets=details.wallets)


def write_frames_if_path(path: Path | None, **frames: pd.DataFrame) -> None:
    """Write one frame to a file, or several to a JSON file. If `path` is None, write nothing."""
    if path is None:
        return
    if (suffix := path.suffix.lower()) == ".json":
        exports.to_json(frames, path)
    else:
        [frame] = frames.values()
        (exports.to_csv if suffix == ".csv" else exports.to_parquet)(frame, path)
    if context := click.get_current_context(silent=True):
        context.call_on_close(partial(echo, f"written: {path}"))


def is_holdings_path(argument: str) -> bool:
    """Return whether an argument is a file or a folder of holdings or snapshots."""
    if argument.lower().endswith(exports.SUFFIXES) or is_bulk_folder(argument):
        return True
    with suppress(OSError):  # a wallet can be longer than file names may be
        return any(Path(argument).glob("date=*"))
    return False


def is_bulk_folder(argument: str) -> bool:
    """Return whether an argument is a folder written by fetch-to-parquet."""
    with suppress(OSError):
        folder = Path(argument)
        return folder.is_dir() and bulk_files.Paths(folder).marker.is_file()
    return False


def holdings_path(arguments: Sequence[str], wallet_files: Sequence[str]) -> str | None:
    """Return the named file or folder of holdings, or None if the arguments are wallets."""
    if not any(map(is_holdings_path, arguments)):
        return None
    if len(arguments) > 1 or wallet_files:
        hint = "use wallets, or one file or folder of holdings"
        raise click.UsageError(f"{hint}, not {' '.join(arguments)}")
    return arguments[0]


def read_saved_details(name: str, consequence: str) -> WalletDetails:
    """Read saved holdings and wallets. If wallets are missing, the error states `consequence`."""
    if is_bulk_folder(name):
        return bulk.read_wallets(name)
    holdings, wallets = read_saved_frames(name)
    if wallets is None:
        missing = f"{name}: the file of wallets from the same fetch is missing"
        raise click.UsageError(f"{missing}; without this file, {consequence}")
    return WalletDetails(wallets, holdings)


def read_file_or_snapshot(argument: str, folder: Path | None, consequence: str) -> WalletDetails:
    """Read a file or folder of holdings, or the newest snapshot that is not later than a time."""
    if is_holdings_path(argument):
        return read_saved_details(argument, consequence)
    try:
        return history.snapshot(argument, folder=folder)
    except SnapshotError as error:
        message = f"{error.message}, nor a file or folder of holdings or snapshots"
        raise SnapshotError(message, error.hint) from None


def read_saved_frames(name: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Read holdings and, if saved, wallets, from files or a folder's newest snapshot."""
    if Path(name).is_dir():
        return history.snapshot(folder=name)[::-1]
    try:
        holdings, wallets = exports.read_with_wallets(Path(name))
        _require_holdings_columns(name, [*holdings])
        frames = [exports.restore_dtypes(each) for each in (wallets, holdings) if each is not None]
        *restored_wallets, holdings = normalize_blockchains(*frames)
        if "raw_amount" not in holdings:  # spam detection needs this column
            holdings = holdings.assign(raw_amount=text_array([None] * len(holdings)))
        return holdings, restored_wallets[0] if restored_wallets else None
    except (OSError, SettingsError) as error:
        raise click.UsageError(f"{name} can't be read as {_HOLDINGS}: {error}") from None


def _require_holdings_columns(name: str, columns: Collection[str]) -> None:
    missing = ", ".join(repr(each) for each in HOLDING_COLUMNS if each not in columns)
    if not missing:
        return
    if (kind := _table_kind(columns)) is None:
        present = ", ".join(map(repr, columns)) or "none"
        raise SettingsError(f"it lacks {missing}; its columns are: {present}")
    path = Path(name)
    holdings_file = path.with_name(path.name.replace(f".wallets{path.suffix}", path.suffix))
    hints = {
        _LIST: f"to fetch these wallets, run: walletframe fetch --file {name}",
        _WALLETS: "use the file of holdings from the same fetch"
        + ("" if holdings_file == path else f": {holdings_file}"),
        _PRICES: f"to value holdings at these prices, run: walletframe totals FILE --prices {name}",
    }
    default = "use a file that fetch --output wrote"
    raise _wrong_kind_error(name, _HOLDINGS, kind, hints.get(kind, default))


def require_wallet_list(name: str, columns: Collection[str] = ()) -> None:
    """Raise a usage error unless a file has the name and columns of a wallet list."""
    path = Path(name)
    suffix = path.suffix.lower()
    hint = f"to read the output of fetch, leave out --file: walletframe totals {name}"
    if suffix in (".parquet", ".json"):
        raise _wrong_kind_error(name, f"{_LIST} (text or .csv)", f"{suffix} data", hint)
    if (kind := _table_kind(columns)) == _HOLDINGS:
        wallets_file = path.with_suffix(f".wallets{path.suffix}")
        complete = f"all wallets, including failed and empty ones, are in {wallets_file}"
        raise _wrong_kind_error(name, _LIST, kind, f"{complete}; {hint}")
    if kind is not None and len(columns) > 1 and not _COLUMNS_BY_KIND[_LIST] <= {*columns}:
        hint = "use a .csv with the columns blockchain and address"
        raise _wrong_kind_error(name, _LIST, kind, hint)


def _table_kind(columns: Collection[str]) -> str | None:
    names = {*standard_column_names(columns)}
    known = (kind for kind, needed in _COLUMNS_BY_KIND.items() if needed <= names)
    is_list = len(columns) == 1 and all(isinstance(name, str) for name in columns)
    return next(known, _LIST if is_list else None)


def _wrong_kind_error(name: str, needed: str, kind: str, hint: str) -> click.UsageError:
    return click.UsageError(f"{name} contains {kind}, not {needed}\n\nHint: {hint}")
