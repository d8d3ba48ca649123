"""The files that commands write and read, with exact amounts, and hints on other files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from walletframe.accessor.delegation import LazyPackage
from walletframe.address.forms import standard_names
from walletframe.cli.screen import echo
from walletframe.errors import SettingsError
from walletframe.exports import NEEDED, SUFFIXES, saved_tables, to_csv, to_json, to_parquet, typed
from walletframe.frames.contract import normalize_blockchains
from walletframe.frames.details import WalletDetails

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pandas as pd

    from walletframe import bulk, history
    from walletframe.bulk import files as bulk_files
else:
    bulk, bulk_files, history = map(LazyPackage, ("bulk", "bulk.files", "history"))

_HOLDINGS, _WALLETS, _LIST = "holdings of a fetch", "wallets of a fetch", "a list of wallets"
_PRICES = "prices"
_KINDS = {  # kinds of tables, by the columns that they need: the first match counts
    _HOLDINGS: {*NEEDED, "raw_amount"},
    _WALLETS: {"blockchain", "address", "status", "fetched_at"},
    "changes between two fetches": {"before", "after", "change"},
    "amounts over time": {"snapshot", "amount", "status"},
    "totals": {"balances", "amount_na"},
    _PRICES: {"price"},
    _LIST: {"blockchain", "address"},
}


def write_details(details: WalletDetails, path: Path) -> None:
    """Write both frames into one JSON file, or into two files beside each other."""
    if path.suffix.lower() == ".json":
        _write(path, **details._asdict())
    else:
        _write(path, holdings=details.holdings)
        _write(path.with_suffix(f".wallets{path.suffix}"), wallets=details.wallets)


def write_frame(frame: pd.DataFrame, path: Path | None, *, name: str) -> None:
    """Write a frame to the file of ``--output``, if there is one; in JSON under ``name``."""
    if path is not None:
        _write(path, **{name: frame})


def _write(path: Path, **frames: pd.DataFrame) -> None:
    suffix = path.suffix.lower()
    if suffix == ".json":
        to_json(frames, path)
    else:
        [frame] = frames.values()
        (to_csv if suffix == ".csv" else to_parquet)(frame, path)
    echo(f"written: {path}")


def is_saved(word: str) -> bool:
    """Return whether an argument is a file or folder of holdings instead of a wallet."""
    return word.lower().endswith(SUFFIXES) or is_folder(word)


def is_folder(word: str) -> bool:
    """Return whether an argument is a folder of fetch-to-parquet."""
    with suppress(OSError):  # a wallet may be too long for a file name
        folder = Path(word)
        return folder.is_dir() and bulk_files.Layout(folder).marker.is_file()
    return False


def saved_file(words: Sequence[str], files: Sequence[str]) -> str | None:
    """Return the file or folder of holdings in the arguments, or None if there is none."""
    if not any(map(is_saved, words)):
        return None
    if len(words) > 1 or files:
        needed = "give either wallets or one file (or folder) of holdings"
        raise click.UsageError(f"{needed}, not {' '.join(words)}")
    return words[0]


def saved_details(name: str, without: str) -> WalletDetails:
    """Read a whole fetch; ``without`` is the consequence of a missing file of wallets."""
    if is_folder(name):
        return bulk.read_wallets(name)
    holdings, wallets = read_saved(name)
    if wallets is None:
        lacking = f"{name}: the file of wallets beside it is missing"
        raise click.UsageError(f"{lacking}; without it, {without}")
    return WalletDetails(wallets, holdings)


def file_or_snapshot(word: str, folder: Path | None, without: str) -> WalletDetails:
    """Read an earlier fetch: a file or folder, or the snapshot of a time."""
    if is_saved(word):
        return saved_details(word, without)
    return history.snapshot(word, folder=folder)


def read_saved(name: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Read holdings, and the wallets from the file beside them or the same JSON, if any."""
    try:
        holdings, wallets = saved_tables(Path(name))
        _require_holdings(name, [*holdings])
        frames = [typed(holdings)] if wallets is None else [typed(wallets), typed(holdings)]
        *wallets_read, holdings = normalize_blockchains(*frames)
        return holdings, wallets_read[0] if wallets_read else None
    except (OSError, SettingsError) as fault:
        message = f"{name} can't be read as holdings of a fetch: {fault}"
        raise click.UsageError(message) from None


def _require_holdings(name: str, columns: Collection[str]) -> None:
    """Raise a usage error for a file without holdings, which names its kind and what to do."""
    missing = ", ".join(repr(each) for each in NEEDED if each not in columns)
    if not missing:
        return
    kind = _kind_of(columns)
    if kind is None:
        present = ", ".join(map(repr, columns)) or "none"
        lacks = f"it lacks {missing}; its columns: {present}"
        raise click.UsageError(f"{name} can't be read as holdings of a fetch: {lacks}")
    path = Path(name)
    # The file of holdings beside wallets, if the wallets have the name that fetch gives them.
    beside = path.with_name(path.name.replace(f".wallets{path.suffix}", path.suffix))
    hints = {
        _LIST: f"to fetch these wallets: walletframe fetch --file {name}",
        _WALLETS: "give the file of holdings that fetch wrote with it"
        + ("" if beside == path else f": {beside}"),
        _PRICES: f"to value holdings at them: walletframe totals FILE --prices {name}",
    }
    usual = "give a file that fetch --output wrote"
    raise _wrong_kind(name, _HOLDINGS, kind, hints.get(kind, usual))


def require_wallets(name: str, columns: Collection[str] = ()) -> None:
    """Raise a usage error unless a file's name, and the columns of a .csv, suit a wallet list."""
    path = Path(name)
    suffix = path.suffix.lower()
    hint = f"to read the output of a fetch, give it without --file: walletframe totals {name}"
    if suffix in (".parquet", ".json"):
        raise _wrong_kind(name, f"{_LIST} (text, or .csv)", f"a {suffix} file", hint)
    kind = _kind_of(columns)
    if kind == _HOLDINGS:
        beside = path.with_suffix(f".wallets{path.suffix}")
        complete = f"all wallets, failed and empty ones included, are in {beside}"
        raise _wrong_kind(name, _LIST, kind, f"{complete}; {hint}")
    if kind is not None and len(columns) > 1 and not _KINDS[_LIST] <= {*columns}:
        raise _wrong_kind(name, _LIST, kind, "give a .csv with the columns blockchain and address")


def _kind_of(columns: Collection[str]) -> str | None:
    """Return the kind of a table with these columns, or None if it is unknown."""
    known = (kind for kind, needed in _KINDS.items() if needed <= {*standard_names(columns)})
    one = len(columns) == 1 and all(isinstance(name, str) for name in columns)
    return next(known, _LIST if one else None)


def _wrong_kind(name: str, needed: str, kind: str, hint: str) -> click.UsageError:
    return click.UsageError(f"{name} looks like {kind}; this needs {needed}\n\nHint: {hint}")
