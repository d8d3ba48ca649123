"""The files that commands write, with exact amounts, and read back, and what others look like."""

from __future__ import annotations

import csv
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from walletframe.bulk import read_wallets
from walletframe.bulk.files import Layout
from walletframe.cli.screen import say
from walletframe.errors import SettingsError
from walletframe.exports import NEEDED, SUFFIXES, saved_tables, to_csv, to_json, to_parquet, typed
from walletframe.frames import WalletDetails, as_failed, respelled
from walletframe.history import snapshot

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pandas as pd

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


def write_details(details: WalletDetails, path: Path) -> list[Path]:
    """Write both frames, into one JSON or the wallets beside the holdings; return the files."""
    if path.suffix.lower() == ".json":
        to_json(details._asdict(), path)
        return [path]
    beside = path.with_suffix(f".wallets{path.suffix}")
    _write(details.holdings, path, "holdings")
    _write(details.wallets, beside, "wallets")
    return [path, beside]


def write_frame(frame: pd.DataFrame, path: Path | None, *, name: str) -> None:
    """Write a frame to the file of ``--output``, if one was given; in JSON under ``name``."""
    if path is not None:
        _write(frame, path, name)
        say(f"written: {path}")


def _write(frame: pd.DataFrame, path: Path, name: str) -> None:
    match path.suffix.lower():
        case ".json":
            to_json({name: frame}, path)
        case ".csv":
            to_csv(frame, path)
        case _:
            to_parquet(frame, path)


def is_saved(word: str) -> bool:
    """Tell whether an argument is a file of holdings, or a folder, and no wallet."""
    return word.lower().endswith(SUFFIXES) or is_folder(word)


def is_folder(word: str) -> bool:
    """Tell whether an argument is a folder that fetch-to-parquet wrote, no wallet and no time."""
    with suppress(OSError):  # a wallet may be too long for a name
        return Layout(Path(word)).marker.is_file()
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
        return read_wallets(name)
    holdings, wallets = read_saved(name)
    if wallets is None:
        lacking = f"{name}: the file of wallets beside it is missing"
        raise click.UsageError(f"{lacking}; without it, {without}")
    return WalletDetails(wallets, holdings)


def file_or_snapshot(given: str, folder: Path | None, without: str) -> WalletDetails:
    """Read what was fetched before: a file of it, or the snapshot of a time."""
    if is_saved(given):
        return saved_details(given, without)
    return snapshot(given, folder=folder)


def read_saved(name: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Read holdings, and the wallets beside them or in the same JSON, if they are there."""
    try:
        holdings, wallets = saved_tables(Path(name))
        _require_holdings(name, [*holdings])
        named = [] if wallets is None else [as_failed(typed(wallets))]
        *asked, held = respelled(*named, typed(holdings))
        return held, asked[0] if asked else None
    except (OSError, SettingsError) as fault:
        reason = str(fault)
    raise click.UsageError(f"{name} can't be read as holdings of a fetch: {reason}")


def _require_holdings(name: str, columns: Collection[str]) -> None:
    """Refuse a file that holds no holdings, say what it looks like, and what to do."""
    missing = [each for each in NEEDED if each not in columns]
    if not missing:
        return
    kind = _kind_of(columns)
    if kind is None:
        raise click.UsageError(
            f"{name} can't be read as holdings of a fetch: it lacks "
            f"{', '.join(map(repr, missing))}; its columns: "
            f"{', '.join(map(repr, columns)) or 'none'}"
        )
    path = Path(name)
    # The holdings beside wallets, where these have the name that fetch gives them.
    beside = path.with_name(path.name.replace(f".wallets{path.suffix}", path.suffix))
    ways = {
        _LIST: f"to fetch these wallets: walletframe fetch --file {name}",
        _WALLETS: "give the file of holdings that fetch wrote with it"
        + ("" if beside == path else f": {beside}"),
        _PRICES: f"to value holdings at them: walletframe value FILE --prices {name}",
    }
    raise _another(name, _HOLDINGS, kind, ways.get(kind, "give a file that fetch --output wrote"))


def require_wallets(name: str) -> None:
    """Refuse a file that holds no list of wallets, before its lines are taken for some."""
    path = Path(name)
    suffix = path.suffix.lower()
    look = f"to read the output of a fetch, give it without --file: walletframe totals {name}"
    if suffix in (".parquet", ".json"):
        raise _another(name, f"{_LIST} (text, or .csv)", f"a {suffix} file", look)
    columns: list[str] = []
    if suffix == ".csv":
        readable = suppress(OSError, ValueError, csv.Error)  # else its reader reports it
        with readable, path.open(encoding="utf-8-sig", newline="") as file:
            columns = next(csv.reader(file), [])
    kind = _kind_of(columns)
    if kind == _HOLDINGS:
        beside = path.with_suffix(f".wallets{path.suffix}")
        failed = f"all wallets, also those that failed or are empty, are in {beside}"
        raise _another(name, _LIST, kind, f"{failed}; {look}")
    if kind is not None and len(columns) > 1 and not _KINDS[_LIST] <= {*columns}:
        raise _another(name, _LIST, kind, "give a .csv with the columns blockchain and address")


def _kind_of(columns: Collection[str]) -> str | None:
    """Say what a table looks like, by its columns; None where it is nothing that is known."""
    known = (kind for kind, needed in _KINDS.items() if needed <= {*columns})
    one = len(columns) == 1 and all(isinstance(name, str) for name in columns)
    return next(known, _LIST if one else None)


def _another(name: str, needed: str, kind: str, way: str) -> click.UsageError:
    return click.UsageError(f"{name} looks like {kind}; this needs {needed}\n\nHint: {way}")
