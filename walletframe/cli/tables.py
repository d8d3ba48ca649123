"""Both frames as tables for people: exact amounts, harmless text, addresses shortened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from walletframe.frames.display.tables import unread_amount
from walletframe.text import shortened, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

_NUMBERS = frozenset(
    {"tokens", "amount", "block", "holders", "balances", "unknown", "value", "unpriced", "complete"}
    | {"wallets", "ok", "before", "after", "difference"}
)


def wallets_table(wallets: pd.DataFrame) -> str:
    """Return the wallets, one a line.

    Parameters
    ----------
    wallets : DataFrame
        The ``wallets`` of a fetch.

    Returns
    -------
    str
        Lines for a terminal.
    """
    return _table(
        wallet=_wallet_names(wallets),
        status=wallets["status"].astype("str"),
        tokens=_or_dash(wallets["tokens"]),
        source=_or_dash(wallets["source"]),
        error=[shown(text, 90) for text in wallets["error"].fillna("")],
    )


def holdings_table(holdings: pd.DataFrame, rows: int | None = None) -> str:
    """Return the holdings, one a line.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch.
    rows : int, optional
        The most lines; a last line says how many were left out.

    Returns
    -------
    str
        Lines for a terminal.
    """
    head = holdings if rows is None else holdings.head(rows)
    return _with_rest(_table(**_holding_cells(head)), holdings, head)


def balances_table(balances: pd.DataFrame) -> str:
    """Return the balances that a node was asked for, one a line.

    Parameters
    ----------
    balances : DataFrame
        What `token_balance` returned.

    Returns
    -------
    str
        Lines for a terminal.
    """
    return _table(
        **_holding_cells(balances),
        block=_or_dash(balances["block"]),
        status=balances["status"].astype("str"),
        error=[shown(text, 120) for text in balances["error"].fillna("")],
    )


def _holding_cells(holdings: pd.DataFrame) -> dict[str, Iterable[str]]:
    return {
        "wallet": _wallet_names(holdings),
        "token": [shown(symbol, 24) for symbol in holdings["symbol"].fillna("")],
        "contract": _contracts(holdings),
        "amount": [
            _amount_text(amount, raw_amount)
            for amount, raw_amount in zip(holdings["amount"], holdings["raw_amount"], strict=True)
        ],
    }


def _amount_text(amount: Any, raw_amount: Any) -> str:
    if not pd.isna(amount):
        return str(amount)
    return shown(unread_amount(raw_amount))


def totals_table(totals: pd.DataFrame, rows: int | None = None) -> str:
    """Return totals, one group a line.

    Parameters
    ----------
    totals : DataFrame
        As `walletframe.analysis.totals` gives them, in any order.
    rows : int, optional
        The most lines; a last line says how many were left out.

    Returns
    -------
    str
        Lines for a terminal: ``unknown`` are balances of unknown amount, ``complete`` the wallets
        known of those asked, and how many of those as of an answer that is out of date.
    """
    head = totals if rows is None else totals.head(rows)
    return _with_rest(_table(**_group_cells(head), **_count_cells(head)), totals, head)


def snapshots_table(snapshots: pd.DataFrame) -> str:
    """Return the snapshots that were kept, one a line.

    Parameters
    ----------
    snapshots : DataFrame
        As `walletframe.history.snapshots` lists them.

    Returns
    -------
    str
        Lines for a terminal.
    """
    return _table(
        snapshot=_moments(snapshots),
        wallets=_or_dash(snapshots["wallets"]),
        ok=_or_dash(snapshots["wallets_ok"]),
        balances=_or_dash(snapshots["balances"]),
    )


def timeline_table(timeline: pd.DataFrame, rows: int | None = None) -> str:
    """Return amounts over time, one a line.

    Parameters
    ----------
    timeline : DataFrame
        As `walletframe.history.timeline` lays it out.
    rows : int, optional
        The most lines; a last line says how many were left out.

    Returns
    -------
    str
        Lines for a terminal.
    """
    head = timeline if rows is None else timeline.head(rows)
    table = _table(
        **_token_cells(head),
        snapshot=_moments(head),
        amount=_amounts(head["amount"]),
        status=head["status"].astype("str"),
    )
    return _with_rest(table, timeline, head)


def changes_table(changes: pd.DataFrame, rows: int | None = None) -> str:
    """Return changes, one a line.

    Parameters
    ----------
    changes : DataFrame
        As `walletframe.history.compare` gives them.
    rows : int, optional
        The most lines; a last line says how many were left out.

    Returns
    -------
    str
        Lines for a terminal; for what is unknown, why each side is.
    """
    head = changes if rows is None else changes.head(rows)
    sides = zip(head["status_before"], head["status_after"], strict=True)
    table = _table(
        **_token_cells(head),
        before=_amounts(head["before"]),
        after=_amounts(head["after"]),
        difference=_amounts(head["difference"]),
        change=head["change"].astype("str"),
        why=["" if pair == ("ok", "ok") else " → ".join(pair) for pair in sides],
    )
    return _with_rest(table, changes, head)


def _group_cells(totals: pd.DataFrame) -> dict[str, Iterable[str]]:
    cells: dict[str, Iterable[str]] = {}
    if "address" in totals:
        cells["wallet"] = _wallet_names(totals)
    elif "blockchain" in totals:
        cells["blockchain"] = [shown(chain, 20) for chain in totals["blockchain"]]
    if "symbol" in totals:
        cells |= _tokens(totals)
        cells["amount"] = _amounts(totals["amount"])
    return cells


def _token_cells(frame: pd.DataFrame) -> dict[str, Iterable[str]]:
    return {"wallet": _wallet_names(frame), **_tokens(frame)}


def _tokens(frame: pd.DataFrame) -> dict[str, Iterable[str]]:
    return {
        "token": [shown(symbol, 24) for symbol in frame["symbol"].fillna("-")],
        "on": [shown(chain, 20) for chain in frame["token_blockchain"].fillna("-")],
        "contract": _contracts(frame),
    }


def _amounts(column: pd.Series) -> list[str]:
    return ["unknown" if pd.isna(each) else str(each) for each in column]


def _moments(frame: pd.DataFrame) -> list[str]:
    return [f"{moment:%Y-%m-%d %H:%M:%S}" for moment in frame["snapshot"]]


def _count_cells(totals: pd.DataFrame) -> dict[str, Iterable[str]]:
    names = ("tokens", "holders", "balances", "amount_na", "unpriced")
    cells: dict[str, Iterable[str]] = {
        "unknown" if name == "amount_na" else name: _or_dash(totals[name])
        for name in names
        if name in totals
    }
    if "value" in totals:
        cells["value"] = ["-" if pd.isna(each) else f"{each:,.2f}" for each in totals["value"]]
    if "wallets_ok" in totals:
        counts = (totals[f"wallets_{name}"] for name in ("ok", "asked", "stale"))
        cells["complete"] = [
            f"{known}/{asked}" + (f" ({stale} out of date)" if stale else "")
            for known, asked, stale in zip(*counts, strict=True)
        ]
    return cells


def _with_rest(table: str, whole: pd.DataFrame, head: pd.DataFrame) -> str:
    left_out = len(whole) - len(head)
    return f"{table}\n… and {left_out:,} more" if left_out else table


def _table(**columns: Iterable[str]) -> str:
    padded = [_padded(name, list(texts)) for name, texts in columns.items()]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*padded, strict=True))


def _padded(name: str, texts: list[str]) -> list[str]:
    width = max(map(len, [name, *texts]))
    side = ">" if name in _NUMBERS else "<"
    return [f"{text:{side}{width}}" for text in [name, "-" * width, *texts]]


def _contracts(frame: pd.DataFrame) -> list[str]:
    pairs = zip(frame["token_blockchain"].isna(), frame["token_address"], strict=True)
    return [
        ("-" if pd.isna(address) else f"{shortened(address)} (unknown token)")
        if nothing
        else "native coin"
        if pd.isna(address)
        else shortened(address)
        for nothing, address in pairs
    ]


def _wallet_names(frame: pd.DataFrame) -> list[str]:
    pairs = zip(frame["blockchain"], frame["address"], strict=True)
    return [f"{shown(chain, 20)}.{shortened(address)}" for chain, address in pairs]


def _or_dash(column: pd.Series) -> list[str]:
    return ["-" if pd.isna(value) else str(value) for value in column]
