"""The tables of a report: exact amounts, whole addresses, and no more rows than can be read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from walletframe.analysis import totals
from walletframe.frames import known_wallets, token_identities
from walletframe.frames.display import Cell, worth
from walletframe.reports.content import Listing
from walletframe.text import as_link, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

_ROWS = 50
_NUMBERS = frozenset(
    {"amount", "value", "holders", "balances", "tokens", "before", "after", "difference"}
)
_LONGEST_SYMBOL, _LONGEST_REASON, _LONGEST_ADDRESS = 24, 160, 120
_UNKNOWN = "unknown"


def totals_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List what all wallets hold together of each token.

    Parameters
    ----------
    holdings : DataFrame
        Those to be added up.
    wallets : DataFrame
        All that were asked.

    Returns
    -------
    Listing
        The most valuable first, else those with the most holders.
    """
    frame = totals(holdings, wallets=wallets)
    ranks = [name for name in ("value", "holders") if name in frame]
    head = frame.sort_values(ranks, ascending=False, kind="stable").head(_ROWS)
    columns = _symbol(head) | {"amount": _amounts(head["amount"])}
    if "value" in head:
        columns["value"] = _values(head["value"])
    columns["holders"] = _texts(head["holders"], missing=_UNKNOWN)
    columns["wallets known"] = _known(head)
    note = (
        "Exact sums, by contract: symbols are not unique. “Wallets known” says of how many of the "
        "wallets that could hold the token the balances are known; an amount is of these alone."
    )
    if head["amount_na"].gt(0).any():
        columns["amounts unknown"] = _texts(head["amount_na"])
    columns |= _contract(head)
    return _listing("totals", "Totals by token", note, columns, len(frame))


def wallets_listing(holdings: pd.DataFrame, wallets: pd.DataFrame) -> Listing:
    """List the wallets that were asked.

    Parameters
    ----------
    holdings : DataFrame
        What they hold.
    wallets : DataFrame
        All that were asked.

    Returns
    -------
    Listing
        Those that are not ok first, else as they were asked.
    """
    added = totals(holdings, by="wallet", wallets=wallets)
    worth = added["value"].set_axis(wallets.index) if "value" in added else None
    known = known_wallets(wallets, stale=True)
    head = wallets.iloc[known.argsort(kind="stable")].head(_ROWS)
    columns = {
        "blockchain": _texts(head["blockchain"]),
        "wallet": [
            Cell(address, _LONGEST_ADDRESS, link=as_link(link) if isinstance(link, str) else None)
            for address, link in zip(head["address"], head["explorer_url"], strict=True)
        ],
        "status": _texts(head["status"].astype("str").str.replace("_", " ")),
    }
    if head["error"].notna().any():
        columns["reason"] = _texts(head["error"], limit=_LONGEST_REASON)
    columns["balances"] = _texts(head["tokens"], missing=_UNKNOWN)
    if worth is not None:
        columns["value"] = _values(worth.loc[head.index])
    columns["answered (UTC)"] = _texts(head["fetched_at"].dt.strftime("%Y-%m-%d %H:%M"))
    columns["source"] = _texts(head["source"])
    note = "Wallets of which nothing is known stand first: unknown is not empty."
    return _listing("wallets", "Wallets", note, columns, len(wallets))


def holdings_listing(holdings: pd.DataFrame) -> Listing:
    """List the single balances.

    Parameters
    ----------
    holdings : DataFrame
        What wallets hold.

    Returns
    -------
    Listing
        The most valuable first, else as they were answered.
    """
    valued = "value" in holdings
    head = (
        holdings.sort_values("value", ascending=False, kind="stable") if valued else holdings
    ).head(_ROWS)
    columns = _wallet(head) | _symbol(head) | {"amount": _amounts(head["amount"])}
    if valued:
        columns["value"] = _values(head["value"])
    columns |= _contract(head)
    return _listing(
        "holdings",
        "Balances",
        "The most valuable first." if valued else "In the order of the answers.",
        columns,
        len(holdings),
    )


def suspects_listing(suspects: pd.DataFrame) -> Listing:
    """List tokens that look like spam.

    Parameters
    ----------
    suspects : DataFrame
        Holdings with ``spam_reasons``.

    Returns
    -------
    Listing
        Those with the most holders first.
    """
    frame = totals(suspects)
    reasons = suspects["spam_reasons"].iloc[token_identities(suspects).first]
    frame = totals(suspects).assign(why=reasons.to_numpy())
    head = frame.sort_values("holders", ascending=False, kind="stable").head(_ROWS)
    columns = _symbol(head) | {
        "why": _texts(head["why"].str.replace("_", " ")),
        "holders": _texts(head["holders"], missing=_UNKNOWN),
        "amount": _amounts(head["amount"]),
    }
    columns |= _contract(head)
    note = (
        "Strangers send such tokens to be seen. Don't follow what their symbols say. They are in "
        "no chart and in no total above; nothing was dropped from the data."
    )
    return _listing("spam", "Tokens that look like spam", note, columns, len(frame))


def changes_listing(changes: pd.DataFrame) -> Listing:
    """List what changed.

    Parameters
    ----------
    changes : DataFrame
        As `compare` returns it.

    Returns
    -------
    Listing
        What is known first, in the order of the wallets.
    """
    order = (changes["change"] == "unknown").to_numpy().argsort(kind="stable")
    head = changes.iloc[order].head(_ROWS)
    columns = _wallet(head) | _symbol(head) | {"change": _kinds(head)}
    columns |= {name: _amounts(head[name]) for name in ("difference", "before", "after")}
    columns |= _contract(head)
    counts = changes["change"].value_counts(sort=False)
    told = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
    note = f"{told}. Unknown is what one of the two answers doesn't say." if told else ""
    listing = _listing("changes", "Changes", note, columns, len(changes))
    return replace(listing, stacked=True)


def _listing(
    anchor: str,
    heading: str,
    note: str,
    columns: Mapping[str, list[Cell]],
    total: int,
) -> Listing:
    return Listing(anchor, heading, note, columns, _NUMBERS & columns.keys(), total)


def _wallet(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    named = zip(frame["blockchain"], frame["address"], strict=True)
    return {
        "wallet": [
            Cell(f"{chain}.{shortened(address)}", whole=f"{chain}.{address}")
            for chain, address in named
        ]
    }


def _symbol(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    return {
        "token": _texts(frame["symbol"], limit=_LONGEST_SYMBOL),
        "on": _texts(frame["token_blockchain"]),
    }


def _contract(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    """Give contracts; a row without a token, of a wallet that is unknown, has none."""
    contracts = frame["token_address"].mask(
        frame["token_address"].isna() & frame["token_blockchain"].notna(), "native coin"
    )
    return {"contract": _texts(contracts, limit=_LONGEST_ADDRESS)}


def _kinds(changes: pd.DataFrame) -> list[Cell]:
    """Give what kind of change it is, and behind an unknown one, which side is why."""
    columns = (changes[name].astype("str") for name in ("change", "status_before", "status_after"))
    cells = []
    for kind, before, after in zip(*columns, strict=True):
        sides = (
            f"{before} before" if before != "ok" else "",
            f"{after} now" if after != "ok" else "",
        )
        why = ", ".join(side for side in sides if side).replace("_", " ")
        cells.append(Cell(f"{kind} ({why})" if why else kind))
    return cells


def _known(frame: pd.DataFrame) -> list[Cell]:
    counts = zip(frame["wallets_ok"], frame["wallets_stale"], frame["wallets_asked"], strict=True)
    return [
        Cell(f"{known:,} of {asked:,}" + (f", {stale:,} out of date" if stale else ""))
        for known, stale, asked in counts
    ]


def _amounts(column: pd.Series) -> list[Cell]:
    return _texts(column, missing=_UNKNOWN)


def _values(column: pd.Series) -> list[Cell]:
    return [Cell(_UNKNOWN if pd.isna(value) else worth(value)) for value in column]


def _texts(column: pd.Series, *, missing: str = "", limit: int = 90) -> list[Cell]:
    return [Cell(missing if pd.isna(value) else str(value), limit) for value in column]
