"""The summary of a bulk run, and the counts it is made of."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from walletframe.client import with_reasons
from walletframe.errors import FetchError, FetchWarning
from walletframe.frames.contract import SIMULATED
from walletframe.notice import notify
from walletframe.numerals import many, part
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from pathlib import Path

    from walletframe.frames.assembly import WalletRecord

GOES_ON = "what was finished is in the folder; the same call again asks only for the rest"
Problem: TypeAlias = tuple[int, str, str]  # position, value and reason

_REASONS_KEPT = _PROBLEMS_KEPT = 1_000
_SHOWN = 5


@dataclass(frozen=True, slots=True, repr=False)
class FetchSummary:
    """The result of a fetch into a folder.

    Parameters
    ----------
    folder : Path
        Where the dataset is.
    service : str
        The service's name; ``sandbox`` for simulated data.
    wallets : int
        Distinct wallets that were requested; of an iterator, those read so far.
    resumed : int
        How many of them were ok in the folder before.
    statuses : dict of str to int
        Counts of the others by status; wallets that were never requested are ``cancelled``.
    reasons : dict of str to int
        Why those are not ok, the most frequent first.
    balances : int
        Rows of holdings that were written.
    parts : int
        Parts that were written.
    unreadable : tuple of (int, str, str)
        Position from 0, value and reason of the iterator's items that are not wallets; the first
        thousand.
    unreadable_count : int
        How many there were.
    key_refused : bool
        Whether the run ended because the service refused the key.
    duration_s : float
        How long it took, in seconds.
    """

    folder: Path
    service: str
    wallets: int
    resumed: int
    statuses: dict[str, int]
    reasons: dict[str, int]
    balances: int
    parts: int
    unreadable: tuple[Problem, ...]
    unreadable_count: int
    key_refused: bool
    duration_s: float

    @property
    def ok(self) -> int:
        """Wallets that are ok in the folder now.

        Returns
        -------
        int
            Those of before included.
        """
        return self.resumed + self.statuses.get(Status.OK.value, 0)

    def __repr__(self) -> str:
        before = f" ({self.resumed:,} of them before)" if self.resumed else ""
        others = {name: count for name, count in self.statuses.items() if name != Status.OK}
        counts = [f"{self.ok:,} ok{before}", *(f"{n:,} {name}" for name, n in others.items())]
        lines = [f"{many(self.wallets, 'wallet')}: {', '.join(counts)}"]
        lines += [f"  {n:,} x {reason}" for reason, n in islice(self.reasons.items(), _SHOWN)]
        if len(self.reasons) > _SHOWN:
            lines.append(f"  and {many(len(self.reasons) - _SHOWN, 'other reason')}")
        lines += _left_out(self.unreadable_count)
        written = f"{many(self.balances, 'balance')} in {many(self.parts, 'new part')}"
        lines.append(f"{written} of {self.folder}, {self.duration_s:,.1f} s")
        if self.service == SIMULATED:
            lines.append("Simulated data: the sandbox made it up.")
        return "\n".join(lines)


class Tally:
    """Counts of a run as it goes on, by the names that they have in its summary."""

    def __init__(self) -> None:
        self.parts: int = 0
        self.balances: int = 0
        self.resumed: int = 0
        self.unreadable: list[Problem] = []  # the first
        self.unreadable_count: int = 0
        self.key_refused: bool = False
        self.statuses: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.duration_s: float = -time.monotonic()

    def leave_out(self, place: int, value: str, reason: str) -> None:
        """Count an item of a stream that is no wallet, and warn of the first."""
        # To raise hours after the start would help nobody.
        self.unreadable_count += 1
        if self.unreadable_count <= _PROBLEMS_KEPT:
            self.unreadable.append((place, value, reason))
        if self.unreadable_count == 1:
            notify(
                f"item {place} (from 0) is not a wallet and is left out: {value!r}: {reason}; "
                "further ones are counted in the summary",
                FetchWarning,
            )

    def add(self, record: WalletRecord) -> None:
        """Count a wallet."""
        status, reason = record.outcome.status, record.outcome.error
        self.statuses[status.value] += 1
        if status is not Status.OK and reason is not None:
            is_room = len(self.reasons) < _REASONS_KEPT or reason in self.reasons
            self.reasons[reason if is_room else "other reasons"] += 1

    def take_in(self, other: FetchSummary) -> None:
        """Count what another run of the same list has counted."""
        self.parts += other.parts
        self.balances += other.balances
        self.resumed += other.resumed
        self.key_refused |= other.key_refused
        self.statuses.update(other.statuses)
        self.reasons.update(other.reasons)

    def summary(self, folder: Path, service: str, wallets: int) -> FetchSummary:
        """Sum up; wallets without a record, because the run ended before, count as cancelled."""
        if left := wallets - self.resumed - self.statuses.total():
            self.statuses[Status.CANCELLED.value] += left
            self.reasons["not asked for, since the run ended before"] += left
        self.duration_s += time.monotonic()
        counts = vars(self) | {
            "statuses": dict(self.statuses),
            "reasons": dict(self.reasons.most_common()),
            "unreadable": tuple(self.unreadable),
        }
        return FetchSummary(folder, service, wallets, **counts)


def conclude(summary: FetchSummary, on_failure: str) -> None:
    """Warn or raise where wallets are not ok, as the caller wishes."""
    said = _left_out(summary.unreadable_count)
    if failed := summary.wallets - summary.ok:
        lead = f"{part(failed, summary.wallets, 'wallet')} not ok"
        said.insert(0, with_reasons(lead, summary.reasons))
    if said and on_failure == "raise":
        raise FetchError("; ".join(said), summary, GOES_ON)
    if said and on_failure == "warn":
        notify(f"{'; '.join(said)}; {GOES_ON}", FetchWarning)


def _left_out(count: int) -> list[str]:
    return [f"{many(count, 'item')} of the iterator left out: not a wallet"] if count else []
