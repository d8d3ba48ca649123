"""The tables that only the shell shows; `frames.display` draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.frames.tables import (
    Cell,
    Table,
    amount_cells,
    balance_columns,
    contract_cells,
    text_cells,
    value_cells,
    wallet_cells,
)

if TYPE_CHECKING:
    import pandas as pd

_COUNTS = {name: name for name in ("tokens", "holders", "balances")}
_COUNTS |= {"amount_na": "unknown", "unpriced": "unpriced"}


def balances_table(balances: pd.DataFrame) -> Table:
    """Show the balances that a node was asked for."""
    columns = balance_columns(balances) | {
        "block": text_cells(balances["block"]),
        "status": text_cells(balances["status"]),
        "error": text_cells(balances["error"], missing="", limit=120),
    }
    return Table("balances", columns, len(balances))


def totals_table(totals: pd.DataFrame, rows: int | None) -> Table:
    """Show totals: ``unknown`` counts unknown amounts, ``complete`` the wallets known of asked."""
    head = _head(totals, rows)
    columns: dict[str, list[Cell]] = {}
    if "address" in totals:
        columns["wallet"] = wallet_cells(head)
    elif "blockchain" in totals:
        columns["blockchain"] = text_cells(head["blockchain"], limit=20)
    if "symbol" in totals:
        columns |= _tokens(head) | {"amount": amount_cells(head["amount"])}
    columns |= {shown: text_cells(head[name]) for name, shown in _COUNTS.items() if name in totals}
    if "value" in totals:
        columns["value"] = value_cells(head["value"])
    if "wallets_ok" in totals:
        counts = (head[f"wallets_{name}"] for name in ("ok", "asked", "stale"))
        columns["complete"] = [
            Cell(f"{known}/{asked}" + (f" ({stale} out of date)" if stale else ""))
            for known, asked, stale in zip(*counts, strict=True)
        ]
    return Table("totals", columns, len(totals))


def snapshots_table(snapshots: pd.DataFrame) -> Table:
    """Show the snapshots that were kept."""
    columns = {
        "snapshot": _moments(snapshots),
        "wallets": text_cells(snapshots["wallets"]),
        "ok": text_cells(snapshots["wallets_ok"]),
        "balances": text_cells(snapshots["balances"]),
    }
    return Table("snapshots", columns, len(snapshots))


def timeline_table(timeline: pd.DataFrame, rows: int | None) -> Table:
    """Show amounts over time."""
    head = _head(timeline, rows)
    columns = {"wallet": wallet_cells(head)} | _tokens(head)
    columns["snapshot"] = _moments(head)
    columns["amount"] = amount_cells(head["amount"])
    columns["status"] = text_cells(head["status"])
    return Table("amounts", columns, len(timeline))


def changes_table(changes: pd.DataFrame, rows: int | None) -> Table:
    """Show changes, and why each side is unknown where one is."""
    head = _head(changes, rows)
    columns = {"wallet": wallet_cells(head)} | _tokens(head)
    for name in ("before", "after", "difference"):
        columns[name] = amount_cells(head[name])
    columns["change"] = text_cells(head["change"])
    sides = zip(head["status_before"], head["status_after"], strict=True)
    columns["why"] = [Cell("" if pair == ("ok", "ok") else " → ".join(pair)) for pair in sides]
    return Table("changes", columns, len(changes))


def _head(frame: pd.DataFrame, rows: int | None) -> pd.DataFrame:
    return frame if rows is None else frame.head(rows)


def _tokens(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    return {
        "token": text_cells(frame["symbol"], limit=24),
        "on": text_cells(frame["token_blockchain"], limit=20),
        "contract": contract_cells(frame, none="-"),
    }


def _moments(frame: pd.DataFrame) -> list[Cell]:
    return text_cells(frame["snapshot"].dt.strftime("%Y-%m-%d %H:%M:%S"))
