"""The tables of a report: exact amounts, whole addresses, and no more rows than can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from walletframe.analysis import totals
from walletframe.frames import kept_names, known_wallets, token_identities
from walletframe.frames.tables import (
    UNKNOWN,
    Cell,
    Table,
    minute_cells,
    text_cells,
    value_cells,
    wallet_cells,
)
from walletframe.text import as_link, shown

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

_OF_ROWS = {"token_blockchain", "token_address", "symbol", "asset"}  # missing where none is held
_ROWS, _NAME, _SYMBOL, _REASON, _ADDRESS = 50, 60, 24, 160, 120


@dataclass(frozen=True, slots=True)
class Listing:
    """A table, what its rows are, and how it is to be read."""

    heading: str
    note: str
    table: Table
    stacked: bool = False  # where a row is too wide for a line of any page


def totals_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List what all wallets hold together of each token, the most valuable or most held first."""
    frame = totals(holdings, wallets=wallets)
    ranks = [name for name in ("value", "holders") if name in frame]
    head = frame.sort_values(ranks, ascending=False, kind="stable").head(_ROWS)
    columns = _symbol(head) | {"amount": text_cells(head["amount"], UNKNOWN)}
    if "value" in head:
        columns["value"] = value_cells(head["value"], UNKNOWN)
    columns["holders"] = text_cells(head["holders"], UNKNOWN)
    columns["wallets known"] = _known(head)
    if head["amount_na"].gt(0).any():
        columns["amounts unknown"] = text_cells(head["amount_na"])
    note = (
        "Exact sums, by contract: symbols are not unique. “Wallets known” says of how many of the "
        "wallets that could hold the token the balances are known; an amount is of these alone."
    )
    table = Table("totals", columns | _contract(head), len(frame))
    return Listing("Totals by token", note, table)


def grouped_listing(totals_by: pd.DataFrame, labels: Sequence[str], title: str) -> Listing:
    """List totals by what they were asked by, the most valuable ones, those of a group together."""
    frame = totals_by
    if "value" in frame:
        frame = frame.sort_values("value", ascending=False, kind="stable", na_position="first")
    head = frame.head(_ROWS)
    head = head.iloc[pd.factorize(head[labels[0]], use_na_sentinel=False)[0].argsort(kind="stable")]
    columns: dict[str, list[Cell]] = {}
    for label in labels:
        of_rows = label in _OF_ROWS
        missing = "" if of_rows else f"no {label}"
        limit = _ADDRESS if label == "address" else _NAME
        columns[_heading(label, columns)] = text_cells(head[label], missing, limit)
    if "token_address" in labels:
        columns = {name: cells for name, cells in columns.items() if not name.startswith("token_")}
        columns |= _contract(head)
    for name in ("amount", "contracts", "blockchains", "tokens", "value", "holders"):
        if name in head:
            write = value_cells if name == "value" else text_cells
            columns[_heading(name, columns)] = write(head[name], UNKNOWN)
    columns["wallets known"] = _known(head)
    note = (
        "Exact sums of the known wallets of each group; “wallets known” says how many these are. "
        "What has no label is a group of its own."
    )
    return Listing(title, note, Table("groups", columns, len(frame)))


def wallets_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List the wallets that were asked, unknown ones first, else as they were asked."""
    known = known_wallets(wallets)
    head = wallets.iloc[known.argsort(kind="stable")].head(_ROWS)
    kept = [name for name in kept_names(wallets) if name != "name"]
    columns = {"name": text_cells(head["name"], missing="", limit=_NAME)} if "name" in head else {}
    columns |= {
        "blockchain": text_cells(head["blockchain"]),
        "wallet": [
            Cell(address, _ADDRESS, link=as_link(link) if isinstance(link, str) else None)
            for address, link in zip(head["address"], head["explorer_url"], strict=True)
        ],
        "status": text_cells(head["status"].astype("str").str.replace("_", " ")),
    }
    if head["error"].notna().any():
        columns["reason"] = text_cells(head["error"], missing="", limit=_REASON)
    columns["balances"] = text_cells(head["tokens"], UNKNOWN)
    if "value" in holdings:
        worth = totals(holdings, by="wallet", wallets=wallets)["value"].set_axis(wallets.index)
        columns["value"] = value_cells(worth.loc[head.index], UNKNOWN)
    columns["answered (UTC)"] = minute_cells(head["fetched_at"], missing="")
    columns["source"] = text_cells(head["source"], missing="")
    for name in kept:
        columns[_heading(name, columns)] = text_cells(head[name], missing="", limit=_NAME)
    note = "Wallets of which nothing is known stand first: unknown is not empty."
    return Listing("Wallets", note, Table("wallets", columns, len(wallets)))


def holdings_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List the single balances, the most valuable first, else as they were answered."""
    note, head = "In the order of the answers.", holdings
    if "value" in holdings:
        note = "The most valuable first."
        head = holdings.sort_values("value", ascending=False, kind="stable")
    head = head.head(_ROWS)
    columns = {"wallet": wallet_cells(head, wallets)} | _symbol(head)
    columns["amount"] = text_cells(head["amount"], UNKNOWN)
    if "value" in head:
        columns["value"] = value_cells(head["value"], UNKNOWN)
    table = Table("holdings", columns | _contract(head), len(holdings))
    return Listing("Balances", note, table)


def suspects_listing(suspects: pd.DataFrame) -> Listing:
    """List tokens that look like spam, and why, those with the most holders first."""
    reasons = suspects["spam_reasons"].iloc[token_identities(suspects).first]
    frame = totals(suspects).assign(why=reasons.to_numpy())
    head = frame.sort_values("holders", ascending=False, kind="stable").head(_ROWS)
    columns = _symbol(head) | {
        "why": text_cells(head["why"].str.replace("_", " "), missing=""),
        "holders": text_cells(head["holders"], UNKNOWN),
        "amount": text_cells(head["amount"], UNKNOWN),
    }
    note = (
        "Strangers send such tokens to be seen. Don't follow what their symbols say. They are in "
        "no chart and in no total above; nothing was dropped from the data."
    )
    table = Table("spam", columns | _contract(head), len(frame))
    return Listing("Tokens that look like spam", note, table)


def changes_listing(
    changes: pd.DataFrame, wallets: pd.DataFrame, *, without_suspects: bool = False
) -> Listing:
    """List changes as `compare` returns them, what is known first, in the order of the wallets."""
    order = (changes["change"] == "unknown").to_numpy().argsort(kind="stable")
    head = changes.iloc[order].head(_ROWS)
    columns = {"wallet": wallet_cells(head, wallets)} | _symbol(head) | {"change": _kinds(head)}
    for name in ("difference", "before", "after"):
        columns[name] = text_cells(head[name], UNKNOWN)
    counts = changes["change"].value_counts(sort=False)
    counted = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
    note = f"{counted}. Unknown is what one of the two answers doesn't say." if counted else ""
    if without_suspects:
        note = f"{note} Tokens that look like spam are left out of both.".strip()
    table = Table("changes", columns | _contract(head), len(changes))
    return Listing("Changes", note, table, stacked=True)


def _known(totals_by: pd.DataFrame) -> list[Cell]:
    """Give how many of the wallets asked are known, and of these how many as of long ago."""
    parts = (totals_by[name] for name in ("wallets_ok", "wallets_stale", "wallets_asked"))
    return [
        Cell(f"{known:,} of {asked:,}" + (f", {stale:,} out of date" if stale else ""))
        for known, stale, asked in zip(*parts, strict=True)
    ]


def _heading(name: str, taken: Container[str]) -> str:
    """Give a column of the user's, or another one, a heading that no column has."""
    heading = shown(name, _NAME)
    while heading in taken:
        heading += " (2)"
    return heading


def _symbol(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    return {
        "token": text_cells(frame["symbol"], missing="", limit=_SYMBOL),
        "on": text_cells(frame["token_blockchain"], missing=""),
    }


def _contract(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    """Give whole contracts; a row without a token, of a wallet that is unknown, has none."""
    contracts = frame["token_address"].mask(
        frame["token_address"].isna() & frame["token_blockchain"].notna(), "native coin"
    )
    return {"contract": text_cells(contracts, missing="", limit=_ADDRESS)}


def _kinds(changes: pd.DataFrame) -> list[Cell]:
    """Give what kind of change it is, and behind an unknown one, which side is why."""
    columns = (changes[name].astype("str") for name in ("change", "status_before", "status_after"))
    cells = []
    for kind, before, after in zip(*columns, strict=True):
        sides = [f"{before} before"] * (before != "ok") + [f"{after} now"] * (after != "ok")
        why = ", ".join(sides).replace("_", " ")
        cells.append(Cell(f"{kind} ({why})" if why else kind))
    return cells
