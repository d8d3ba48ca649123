"""Sentences on a chart: what it draws, what it leaves out, and how far it can be trusted."""

from __future__ import annotations

from textwrap import shorten
from typing import TYPE_CHECKING, NamedTuple

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
    from collections.abc import Sequence

    from walletframe.frames import FetchLike

_LINES, _CHARS = 2, 96


class Notes(NamedTuple):
    """Sentences on a chart, in the order they are read in, of each group the foremost first."""

    real: Sequence[str] = ()  # that it is not
    drawn: Sequence[str] = ()  # what is drawn
    left_out: Sequence[str] = ()  # what is not
    trust: Sequence[str] = ()  # how complete, and as of when

    def every(self) -> list[str]:
        """Return all sentences."""
        return [note for group in self for note in group]

    def line(self) -> str:
        """Put into one line what is drawn and left out, for a page that says the rest itself."""
        return _packed([*self.drawn[:1], *self.left_out, *self.drawn[1:]] or self.trust or [""])[0]

    def lines(self) -> list[str]:
        """Put into lines what fits on a figure: how far to trust it goes before what it is of."""
        first, rest = self.drawn[:1], self.drawn[1:]
        kept: set[str] = set()
        for note in (*self.real, *self.trust, *first, *self.left_out, *rest):
            tried = [each for each in self.every() if each in kept or each == note]
            if len(_packed(tried)) <= _LINES:
                kept.add(note)
        return _packed([note for note in self.every() if note in kept])


def _packed(sentences: Sequence[str]) -> list[str]:
    """Put sentences into lines; one that is longer than a line is cut between two words."""
    lines: list[str] = []
    for sentence in sentences:
        whole = shorten(sentence, _CHARS, placeholder=" …")
        if lines and len(lines[-1]) + 1 + len(whole) <= _CHARS:
            lines[-1] += f" {whole}"
        else:
            lines.append(whole)
    return lines


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
    """Say how complete the answers for all wallets are, and as of when."""
    wallets = wallets_frame(given)
    if not len(wallets):
        return ["No wallet was asked."]
    known, outdated = known_wallets(wallets), int(stale_wallets(wallets).sum())
    flaws = [f"{outdated} out of date"] * bool(outdated)
    flaws += [
        f"{count} {str(status).replace('_', ' ')}"
        for status, count in as_failed(wallets)["status"][~known].value_counts().items()
        if count
    ]
    text = f"{int(known.sum()):,} of {many(len(wallets), 'wallet')} known"
    text += f" ({', '.join(flaws)})" if flaws else ""
    return [f"{text}.", *_age(wallets[known], "Oldest answer {}.")]


def answered(wallets: pd.DataFrame) -> list[str]:
    """Say how old the answer for one wallet is, given its rows."""
    stale = ", out of date" if stale_wallets(wallets).any() else ""
    return _age(wallets, f"Answer of {{}}{stale}.")


def _age(wallets: pd.DataFrame, said: str) -> list[str]:
    times = pd.to_datetime(wallets["fetched_at"], utc=True).dropna()
    return [said.format(f"{times.min():%Y-%m-%d %H:%M} UTC")] if len(times) else []


def simulated(wallets: pd.DataFrame) -> list[str]:
    """Say so where answers are made up."""
    return ["Simulated data."] * is_simulated(wallets)
