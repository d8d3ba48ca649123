"""The summary of a fetch in a few lines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from walletframe.frames.contract import SIMULATED
from walletframe.frames.identity import token_identities
from walletframe.frames.known import as_failed, known_wallets, stood_in_for, unreadable
from walletframe.numerals import many, money, part
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

_SOURCES: Mapping[str, str] = {
    "service": "by the service",
    "cache": "from the local cache",
    "stale": "earlier (out of date)",
}
_REASONS, _CURRENCY = 3, 12
SIMULATED_NOTE = "Simulated data: the sandbox made it up."


def summary_lines(wallets: pd.DataFrame, holdings: pd.DataFrame | None = None) -> list[str]:
    """Say in a few lines how complete a fetch is and where its answers came from."""
    chains = wallets["blockchain"].str.upper().nunique()
    statuses = ", ".join(f"{count:,} {name}" for name, count in _pairs(wallets["status"]))
    lines = [f"{many(len(wallets), 'wallet')} on {many(chains, 'blockchain')}"]
    if statuses:
        lines[0] += f": {statuses}"
    lines.append(f"{_balances(wallets, holdings)}; {_sources(wallets)}")
    odd = 0 if holdings is None else int(unreadable(holdings).sum())
    if odd and holdings is not None:
        lines.append(f"{part(odd, len(holdings), 'balance')} not readable, in amount or token.")
    older = int(stood_in_for(wallets).sum())
    if older:
        lines.append(f"{many(older, 'older answer')} stood in where no newer one was to be had.")
    if is_simulated(wallets):
        lines.append(SIMULATED_NOTE)
    return lines


def failure_lines(wallets: pd.DataFrame) -> list[str]:
    """Say why wallets are not ok, the most frequent reasons first."""
    failed = as_failed(wallets[~known_wallets(wallets, stale=True)])
    counted = failed.groupby(["status", "error"], observed=True, dropna=False).size()
    reasons = counted.sort_values(ascending=False, kind="stable").reset_index(name="wallets")
    lines = [
        f"{count:,} {status}: {'no reason given' if pd.isna(error) else error}"
        for status, error, count in reasons.head(_REASONS).itertuples(index=False)
    ]
    rest = int(reasons["wallets"].iloc[_REASONS:].sum())
    return [*lines, f"{many(rest, 'wallet')} for other reasons"] if rest else lines


@dataclass(frozen=True, slots=True)
class Worth:
    """What holdings are worth in all, in words, and of how many balances that is known and not."""

    total: str
    known: int
    unpriced: int
    unread: int


def worth(holdings: pd.DataFrame) -> Worth | None:
    """Add up values, exactly rounded; None where holdings were not valued."""
    if "value" not in holdings:
        return None
    known, unread = holdings["value"].dropna(), holdings["amount"].isna()
    currencies = holdings["currency"].dropna() if "currency" in holdings else known.iloc[:0]
    currency = f" {shown(currencies.iloc[0], _CURRENCY)}" if len(currencies) else ""
    told = len(known) or holdings.empty
    return Worth(
        total=f"{money(math.fsum(known))}{currency}" if told else "unknown",
        known=len(known),
        unpriced=int((holdings["value"].isna() & ~unread).sum()),
        unread=int(unread.sum()),
    )


def is_simulated(wallets: pd.DataFrame) -> bool:
    """Tell whether any of it was made up by the sandbox."""
    return bool((wallets["service"] == SIMULATED).any())


def _balances(wallets: pd.DataFrame, holdings: pd.DataFrame | None) -> str:
    if holdings is None:
        return many(int(wallets["tokens"].sum()), "balance")
    tokens = len(token_identities(holdings).keys)
    return f"{many(len(holdings), 'balance')} of {many(tokens, 'token')}"


def _sources(wallets: pd.DataFrame) -> str:
    named = [f"{count:,} {_SOURCES[name]}" for name, count in _pairs(wallets["source"])]
    if not named:
        return "no answer to use"
    told = " and ".join(named).replace(" ", " answered ", 1)
    oldest = wallets["fetched_at"].min()
    age = "" if pd.isna(oldest) else f", the oldest of {oldest:%Y-%m-%d %H:%M} UTC"
    return told + age


def _pairs(column: pd.Series) -> list[tuple[str, int]]:
    counts = column.value_counts(sort=False)
    return [(str(name), int(count)) for name, count in counts.items() if count]
