"""The files that commands write, with exact amounts, and read back, and what others look like."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from walletframe.accessor.delegation import LazyPackage
from walletframe.address.forms import our_names
from walletframe.cli.screen import say
from walletframe.errors import SettingsError
from walletframe.exports import NEEDED, SUFFIXES, saved_tables, to_csv, to_json, to_parquet, typed
from walletframe.frames.contract import respelled
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
_KINDS = {  # what a table looks like, by its columns: the first that fits
    _HOLDINGS: {*NEEDED, "raw_amount"},
    _WALLETS: {"blockchain", "address", "status", "fetched_at"},
    "changes between two fetches": {"before", "after", "change"},
    "amounts over time": {"snapshot", "amount", "status"},
    "totals": {"balances", "amount_na"},
    _PRICES: {"price"},
    _LIST: {"blockchain", "address"},
}


def write_details(details: WalletDetails, path: Path) -> None:
    """Write both frames, into one JSON, or the wallets beside the holdings."""
    if path.suffix.lower() == ".json":
        _write(path, **details._asdict())
    else:
        _write(path, holdings=details.holdings)
        _write(path.with_suffix(f".wallets{path.suffix}"), wallets=details.wallets)


def write_frame(frame: pd.DataFrame, path: Path | None, *, name: str) -> None:
    """Write a frame to the file of ``--output``, if one was given; in JSON under ``name``."""
    if path is not None:
        _write(path, **{name: frame})


def _write(path: Path, **frames: pd.DataFrame) -> None:
    suffix = path.suffix.lower()
    if suffix == ".json":
        to_json(frames, path)
    else:
        [frame] = frames.values()
        (to_csv if suffix == ".csv" else to_parquet)(frame, path)
    say(f"written: {path}")


def is_saved(word: str) -> bool:
    """Return whether an argument is a file of holdings, or a folder, and no wallet."""
    return word.lower().endswith(SUFFIXES) or is_folder(word)


def is_folder(word: str) -> bool:
    """Return whether an argument is a folder of fetch-to-parquet, and no wallet and no time."""
    with suppress(OSError):  # a wallet may be too long for a name
        folder = Path(word)
        return folder.is_dir() and bulk_files.Layout(folder).marker.is_file()
    return False


def saved_file(given: Sequence[str], files: Sequence[str]) -> str | None:
    """Return the file of holdings that was given instead of wallets, None where there is none."""
    if not any(map(is_saved, given)):
        return None
    if len(given) > 1 or files:
        words = " ".join(given)
        raise click.UsageError(f"either wallets or one file (or folder) of holdings, not {words}")
    return given[0]


def saved_details(name: str, without: str) -> WalletDetails:
    """Read a whole fetch; ``without`` says what would go wrong without its file of wallets."""
    if is_folder(name):
        return bulk.read_wallets(name)
    holdings, wallets = read_saved(name)
    if wallets is None:
        lacking = f"{name}: the file of wallets beside it is missing"
        raise click.UsageError(f"{lacking}; without it, {without}")
    return WalletDetails(wallets, holdings)


def file_or_snapshot(given: str, folder: Path | None, without: str) -> WalletDetails:
    """Read what was fetched before: a file of it, or the snapshot of a time."""
    if is_saved(given):
        return saved_details(given, without)
    return history.snapshot(given, folder=folder)


def read_saved(name: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Read holdings, and the wallets beside them or in the same JSON, if they are there."""
    try:
        holdings, wallets = saved_tables(Path(name))
        _require_holdings(name, [*holdings])
        named = [] if wallets is None else [typed(wallets)]
        *asked, held = respelled(*named, typed(holdings))
        return held, asked[0] if asked else None
    except (OSError, SettingsError) as fault:
        said = f"{name} can't be read as holdings of a fetch: {fault}"
        raise click.UsageError(said) from None


def _require_holdings(name: str, columns: Collection[str]) -> None:
    """Refuse a file that holds no holdings, say what it looks like, and what to do."""
    missing = ", ".join(repr(each) for each in NEEDED if each not in columns)
    if not missing:
        return
    kind = _kind_of(columns)
    if kind is None:
        there = ", ".join(map(repr, columns)) or "none"
        lacks = f"it lacks {missing}; its columns: {there}"
        raise click.UsageError(f"{name} can't be read as holdings of a fetch: {lacks}")
    path = Path(name)
    # The holdings beside wallets, where these have the name that fetch gives them.
    beside = path.with_name(path.name.replace(f".wallets{path.suffix}", path.suffix))
    ways = {
        _LIST: f"to fetch these wallets: walletframe fetch --file {name}",
        _WALLETS: "give the file of holdings that fetch wrote with it"
        + ("" if beside == path else f": {beside}"),
        _PRICES: f"to value holdings at them: walletframe totals FILE --prices {name}",
    }
    raise _another(name, _HOLDINGS, kind, ways.get(kind, "give a file that fetch --output wrote"))


def require_wallets(name: str, columns: Collection[str] = ()) -> None:
    """Refuse a file that holds no list of wallets, by its name and by the columns of a .csv."""
    path = Path(name)
    suffix = path.suffix.lower()
    look = f"to read the output of a fetch, give it without --file: walletframe totals {name}"
    if suffix in (".parquet", ".json"):
        raise _another(name, f"{_LIST} (text, or .csv)", f"a {suffix} file", look)
    kind = _kind_of(columns)
    if kind == _HOLDINGS:
        beside = path.with_suffix(f".wallets{path.suffix}")
        failed = f"all wallets, also those that failed or are empty, are in {beside}"
        raise _another(name, _LIST, kind, f"{failed}; {look}")
    if kind is not None and len(columns) > 1 and not _KINDS[_LIST] <= {*columns}:
        raise _another(name, _LIST, kind, "give a .csv with the columns blockchain and address")


def _kind_of(columns: Collection[str]) -> str | None:
    """Return what kind of table it is, by its columns; None where it is of no known kind."""
    known = (kind for kind, needed in _KINDS.items() if needed <= {*our_names(columns)})
    one = len(columns) == 1 and all(isinstance(name, str) for name in columns)
    return next(known, _LIST if one else None)


def _another(name: str, needed: str, kind: str, way: str) -> click.UsageError:
    return click.UsageError(f"{name} looks like {kind}; this needs {needed}\n\nHint: {way}")
