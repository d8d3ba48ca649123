"""Errors for files of the wrong kind: what a file looks like, by its columns, and what to do."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import click

from walletframe.exports import NEEDED

if TYPE_CHECKING:
    from collections.abc import Collection

HOLDINGS, WALLETS, LIST = "holdings of a fetch", "wallets of a fetch", "a list of wallets"
PRICES = "prices"
_KINDS = {  # the first that fits
    HOLDINGS: {*NEEDED, "raw_amount"},
    WALLETS: {"blockchain", "address", "status", "fetched_at"},
    "changes between two fetches": {"before", "after", "change"},
    "amounts over time": {"snapshot", "amount", "status"},
    "totals": {"balances", "amount_na"},
    PRICES: {"price"},
    LIST: {"blockchain", "address"},
}


def kind_of(columns: Collection[str]) -> str | None:
    """Say what a table looks like, by its columns; None where it is nothing that is known."""
    known = (kind for kind, needed in _KINDS.items() if needed <= {*columns})
    one = len(columns) == 1 and all(isinstance(name, str) for name in columns)
    return next(known, LIST if one else None)


def require_holdings(name: str, columns: Collection[str]) -> None:
    """Refuse a file that holds no holdings, say what it looks like, and what to do."""
    missing = [each for each in NEEDED if each not in columns]
    if not missing:
        return
    kind = kind_of(columns)
    if kind is None:
        raise click.UsageError(
            f"{name} can't be read as holdings of a fetch: it lacks {_quoted(missing)}; its "
            f"columns: {_quoted(columns) or 'none'}"
        )
    ways = {
        LIST: f"to fetch these wallets: walletframe fetch --file {name}",
        WALLETS: f"give the file of holdings that fetch wrote with it{_beside(Path(name))}",
        PRICES: f"to value holdings at them: walletframe value FILE --prices {name}",
    }
    raise _another(name, HOLDINGS, kind, ways.get(kind, "give a file that fetch --output wrote"))


def require_wallets(name: str) -> None:
    """Refuse a file that holds no list of wallets, before its lines are taken for some."""
    path = Path(name)
    suffix = path.suffix.lower()
    look = f"to read the output of a fetch, give it without --file: walletframe totals {name}"
    if suffix in (".parquet", ".json"):
        raise _another(name, f"{LIST} (text, or .csv)", f"a {suffix} file", look)
    columns = _columns(path) if suffix == ".csv" else []
    kind = kind_of(columns)
    if kind == HOLDINGS:
        beside = path.with_suffix(f".wallets{path.suffix}")
        failed = f"all wallets, also those that failed or are empty, are in {beside}"
        raise _another(name, LIST, kind, f"{failed}; {look}")
    if kind is not None and len(columns) > 1 and not _KINDS[LIST] <= {*columns}:
        raise _another(name, LIST, kind, "give a .csv with the columns blockchain and address")


def _beside(path: Path) -> str:
    """Name the holdings beside wallets, where these have the name that fetch gives them."""
    holdings = path.with_name(path.name.replace(f".wallets{path.suffix}", path.suffix))
    return "" if holdings == path else f": {holdings}"


def _columns(path: Path) -> list[str]:
    """Read the names of the columns; none where it can't be read, which its reader reports."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file), [])
    except (OSError, ValueError, csv.Error):
        return []


def _another(name: str, needed: str, kind: str, way: str) -> click.UsageError:
    return click.UsageError(f"{name} looks like {kind}; this needs {needed}\n\nHint: {way}")


def _quoted(names: Collection[str]) -> str:
    return ", ".join(map(repr, names))
