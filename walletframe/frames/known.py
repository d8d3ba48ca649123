"""Which wallets' balances are known, decided here alone, and what a fetch comes to in a few lines.

A wallet is known where its status is ok. An answer that is past its time (``stale``) is known as of
its ``fetched_at``: who looks at one fetch counts it, and says so; who compares times does not. How
much it has of one token is known unless it has an unreadable amount of it, or a balance of an
unknown token, which may be any: see `coverage`, and `Positions.hides`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pandas as pd

from walletframe.frames.contract import SIMULATED, Source
from walletframe.frames.identity import token_identities
from walletframe.numerals import many, money, part
from walletframe.text import shown
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.frames.identity import Mask

_SOURCES: Final = {
    "service": "by the service",
    "cache": "from the local cache",
    "stale": "earlier (out of date)",
}
_REASONS, _CURRENCY = 3, 12
SIMULATED_NOTE = "Simulated data: the sandbox made it up."


def known_wallets(wallets: pd.DataFrame) -> Mask:
    """Mark the wallets whose balances are known."""
    return ((wallets["status"] == Status.OK.value) & wallets["tokens"].notna()).to_numpy(bool)


def stale_wallets(wallets: pd.DataFrame) -> Mask:
    """Mark the wallets of which only an answer is known that is past its time."""
    return known_wallets(wallets) & (wallets["source"] == Source.STALE.value).to_numpy(bool)


def known_when_asked(wallets: pd.DataFrame) -> Mask:
    """Mark the wallets whose balances are known as of when they were asked, as snapshots need."""
    return known_wallets(wallets) & ~stale_wallets(wallets)


def unreadable(holdings: pd.DataFrame) -> Mask:
    """Mark the balances that could not be read: their amount or their token is unknown."""
    return (holdings["amount"].isna() | holdings["token_blockchain"].isna()).to_numpy(bool)


def is_simulated(wallets: pd.DataFrame) -> bool:
    """Return whether any of it was made up by the sandbox."""
    return bool((wallets["service"] == SIMULATED).any())


def summary_lines(wallets: pd.DataFrame, holdings: pd.DataFrame | None = None) -> list[str]:
    """Return a few lines: how complete a fetch is and where its answers came from."""
    chains = wallets["blockchain"].str.upper().nunique()
    statuses = ", ".join(f"{count:,} {name}" for name, count in _counted(wallets["status"]))
    lines = [f"{many(len(wallets), 'wallet')} on {many(chains, 'blockchain')}"]
    lines[0] += f": {statuses}" if statuses else ""
    if holdings is None:
        balances, odd = many(int(wallets["tokens"].sum()), "balance"), ""
    else:
        tokens, unread = len(token_identities(holdings).keys), int(unreadable(holdings).sum())
        balances = f"{many(len(holdings), 'balance')} of {many(tokens, 'token')}"
        odd = part(unread, len(holdings), "balance") if unread else ""
    lines.append(f"{balances}; {_sources(wallets)}")
    if odd:
        lines.append(f"{odd} not readable, in amount or token.")
    if older := int(stale_wallets(wallets).sum()):
        lines.append(f"{many(older, 'older answer')} stood in where no newer one was to be had.")
    return [*lines, SIMULATED_NOTE] if is_simulated(wallets) else lines


def _sources(wallets: pd.DataFrame) -> str:
    """Return where answers came from, and how old the oldest is."""
    named = [f"{count:,} {_SOURCES[name]}" for name, count in _counted(wallets["source"])]
    if not named:
        return "no answer to use"
    told = " and ".join(named).replace(" ", " answered ", 1)
    oldest = wallets["fetched_at"].min()
    return told if pd.isna(oldest) else f"{told}, the oldest of {oldest:%Y-%m-%d %H:%M} UTC"


def _counted(column: pd.Series) -> list[tuple[str, int]]:
    counts = column.value_counts(sort=False)
    return [(str(name), int(count)) for name, count in counts.items() if count]


def failure_lines(wallets: pd.DataFrame) -> list[str]:
    """Return why wallets are not ok, the most frequent reasons first."""
    failed = wallets[~known_wallets(wallets)]
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
    currency = currencies.iloc[0] if len(currencies) else None
    unpriced = int((holdings["value"].isna() & ~unread).sum())
    return worth_of(known, currency, len(known), unpriced, int(unread.sum()))


def worth_of(
    values: Iterable[float], currency: object, known: int, unpriced: int, unread: int
) -> Worth:
    """Return a sum of values in words, of so many balances."""
    named = f" {shown(currency, _CURRENCY)}" if isinstance(currency, str) else ""
    empty = known + unpriced + unread == 0
    total = f"{money(math.fsum(values))}{named}" if known or empty else "unknown"
    return Worth(total, known, unpriced, unread)
