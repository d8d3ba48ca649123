"""The notes below a chart's title: what is drawn, as of when, how complete, whether simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from walletframe.frames import (
    as_failed,
    is_simulated,
    known_wallets,
    require_columns,
    stale_wallets,
    wallets_given,
)
from walletframe.numerals import many

if TYPE_CHECKING:
    from walletframe.frames import FetchLike


def wallets_frame(wallets: FetchLike) -> pd.DataFrame:
    """Return the DataFrame of wallets, whichever way it was given, with the columns needed here."""
    frame = wallets_given(wallets)
    require_columns(frame, ("status", "tokens", "fetched_at", "source", "service"))
    return frame


def drawn_of(*parts: tuple[int, int, str]) -> str:
    """Say of each part how many are drawn, how many are not, and what they are.

    Such as ``20 of 412 wallets, 3 tokens, the rest as Other.``
    """
    texts = [
        f"{drawn:,} of {many(drawn + rest, noun)}" if rest else many(drawn, noun)
        for drawn, rest, noun in parts
    ]
    return ", ".join([*texts, *["the rest as Other"] * any(rest for _, rest, _ in parts)]) + "."


def other(count: int, noun: str) -> str:
    """Name what is not drawn for itself, such as ``Other (3 tokens)``."""
    return f"Other ({many(count, noun)})"


def provenance(given: FetchLike) -> list[str]:
    """Say as of when, how complete and how real the answers for all wallets are."""
    wallets = wallets_frame(given)
    if not len(wallets):
        return ["No wallet was asked."]
    known, outdated = known_wallets(wallets), int(stale_wallets(wallets).sum())
    flaws = [
        f"{count} {str(status).replace('_', ' ')}"
        for status, count in as_failed(wallets)["status"][~known].value_counts().items()
        if count
    ]
    flaws += [f"{outdated} out of date"] * bool(outdated)
    text = f"{int(known.sum()):,} of {many(len(wallets), 'wallet')} known"
    text += f" ({', '.join(flaws)})" if flaws else ""
    return [f"{text}.", *_age(wallets[known], "Oldest answer {}."), *simulated(wallets)]


def answered(wallets: pd.DataFrame) -> list[str]:
    """Say how old and how real the answer for one wallet is, given its rows."""
    stale = ", out of date" if stale_wallets(wallets).any() else ""
    return [*_age(wallets, f"Answer of {{}}{stale}."), *simulated(wallets)]


def _age(wallets: pd.DataFrame, said: str) -> list[str]:
    times = pd.to_datetime(wallets["fetched_at"], utc=True).dropna()
    return [said.format(f"{times.min():%Y-%m-%d %H:%M} UTC")] if len(times) else []


def simulated(wallets: pd.DataFrame) -> list[str]:
    """Say so where answers are made up."""
    return ["Simulated data."] * is_simulated(wallets)
