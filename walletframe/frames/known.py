"""Masks of known wallets, and short summaries of a fetch.

A wallet is known if its status is ok. In comparisons of snapshots, a wallet with a ``stale`` answer
is unknown, since the balances are older.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pandas as pd

from walletframe.frames.identity import encode_tokens
from walletframe.frames.schema import SIMULATED, AnswerSource, missing_wallets_text
from walletframe.numerals import count_with_verb, counted_noun, money, stale_message
from walletframe.text import safe_line
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.frames.identity import KeyCodes, Mask

_SOURCES: Final = {
    "service": "by the service",
    "cache": "from the local cache",
    "stale": "earlier (out of date)",
}
_MAX_REASONS, _MAX_CURRENCY = 3, 12
SIMULATED_NOTE = "Simulated data: the sandbox generated it."


def known_mask(wallets: pd.DataFrame) -> Mask:
    """Return a mask of the wallets with the status ok and known balances."""
    return _equal_mask(wallets["status"], Status.OK.value) & ~_missing_mask(wallets["tokens"])


def stale_mask(wallets: pd.DataFrame) -> Mask:
    """Return a mask of the wallets with known, but out-of-date balances."""
    stale = _equal_mask(wallets["source"], AnswerSource.STALE.value)
    return known_mask(wallets) & stale if stale.any() else stale


def known_and_fresh_mask(wallets: pd.DataFrame) -> Mask:
    """Return a mask of the wallets with known and up-to-date balances."""
    return known_mask(wallets) & ~stale_mask(wallets)


def _equal_mask(column: pd.Series, text: str) -> Mask:
    return np.asarray(column.array == text, dtype=bool)  # faster than comparing the Series


def _missing_mask(column: pd.Series) -> Mask:
    return np.asarray(pd.isna(column.array), dtype=bool)


def is_simulated(wallets: pd.DataFrame) -> bool:
    """Return whether any wallet has simulated data from the sandbox."""
    return bool(_equal_mask(wallets["service"], SIMULATED).any())


def summary_lines(
    wallets: pd.DataFrame, holdings: pd.DataFrame | None = None, tokens: KeyCodes | None = None
) -> list[str]:
    """Return lines about the size, the completeness and the sources of a fetch."""
    chains = len({name.upper() for name in wallets["blockchain"].array.unique().dropna()})
    statuses = ", ".join(f"{count:,} {name}" for name, count in _value_counts(wallets["status"]))
    lines = [f"{counted_noun(len(wallets), 'wallet')} on {counted_noun(chains, 'blockchain')}"]
    lines[0] += f": {statuses}" if statuses else ""
    count = int(wallets["tokens"].sum()) if holdings is None else len(holdings)
    balances, flaws = counted_noun(count, "balance"), []
    if holdings is not None:
        tokens = tokens or encode_tokens(holdings)
        balances += f" of {counted_noun(len(tokens.keys), 'token')}"
        flawed = _missing_mask(holdings["amount"]) | _missing_mask(holdings["token_blockchain"])
        flaws = [count_with_verb(int(flawed.sum()), count, "balance")] if flawed.any() else []
    lines.append(f"{balances}; {_answer_sources_text(wallets)}")
    lines += [f"{text} unreadable: the amount or the token is unknown." for text in flaws]
    if missing := missing_wallets_text(wallets.attrs):
        lines.append(f"The fetch has not finished, and lacks {missing}.")
    if stale := int(stale_mask(wallets).sum()):
        lines.append(f"{stale_message(stale)}: no newer answer was available.")
    return [*lines, SIMULATED_NOTE] if is_simulated(wallets) else lines


def _answer_sources_text(wallets: pd.DataFrame) -> str:
    named = [f"{count:,} {_SOURCES[name]}" for name, count in _value_counts(wallets["source"])]
    if not named:
        return "no usable answer"
    counts = " and ".join(named).replace(" ", " answered ", 1)
    oldest = wallets["fetched_at"].min()
    return counts if pd.isna(oldest) else f"{counts}, the oldest at {oldest:%Y-%m-%d %H:%M} UTC"


def _value_counts(column: pd.Series) -> list[tuple[str, int]]:
    counts = column.value_counts(sort=False)
    return [(str(name), int(count)) for name, count in counts.items() if count]


def failure_lines(wallets: pd.DataFrame) -> list[str]:
    """Return lines with the reasons of failures, most frequent first."""
    known = known_mask(wallets)
    if known.all():
        return []
    failed = wallets[~known]
    counted = failed.groupby(["status", "error"], observed=True, dropna=False).size()
    reasons = counted.sort_values(ascending=False, kind="stable").reset_index(name="wallets")
    lines = [
        f"{count:,} {status}: {'no reason given' if pd.isna(error) else error}"
        for status, error, count in reasons.head(_MAX_REASONS).itertuples(index=False)
    ]
    rest = int(reasons["wallets"].iloc[_MAX_REASONS:].sum())
    return [*lines, f"{counted_noun(rest, 'wallet')} for other reasons"] if rest else lines


class ValueSummary(NamedTuple):
    """The total value of holdings, and counts of balances."""

    total: str
    currency: str  # with a space before it; "" if unknown
    known: int  # balances with a value
    unpriced: int  # balances with a known amount, but no value
    unread: int  # balances of unknown amount


def summarize_value(holdings: pd.DataFrame) -> ValueSummary | None:
    """Summarize the column ``value``. If it is missing, return None."""
    if "value" not in holdings:
        return None
    known, unread = holdings["value"].dropna(), holdings["amount"].isna()
    currencies = holdings["currency"].dropna() if "currency" in holdings else known.iloc[:0]
    currency = currencies.iloc[0] if len(currencies) else None
    unpriced = int((holdings["value"].isna() & ~unread).sum())
    return value_summary(known.tolist(), currency, len(known), unpriced, int(unread.sum()))


def value_summary(
    values: Iterable[float], currency: object, known: int, unpriced: int, unread: int
) -> ValueSummary:
    """Add up values, and round the sum."""
    named = f" {safe_line(currency, _MAX_CURRENCY)}" if isinstance(currency, str) else ""
    empty = known + unpriced + unread == 0
    total = f"{money(math.fsum(values))}{named}" if known or empty else "unknown"
    return ValueSummary(total, named, known, unpriced, unread)
