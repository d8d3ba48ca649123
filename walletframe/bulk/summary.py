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
from walletframe.numerals import count_of, many
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from pathlib import Path

    from walletframe.frames.assembly import WalletRecord

RESUME_HINT = "finished wallets are in the folder; repeat the call to fetch the others"
Problem: TypeAlias = tuple[int, str, str]  # position, value and reason

_REASONS_KEPT = _PROBLEMS_KEPT = 1_000
_SHOWN = 5


@dataclass(frozen=True, slots=True, repr=False)
class FetchSummary:
    """The result of a fetch into a folder.

    Parameters
    ----------
    folder : Path
        The folder of the dataset.
    service : str
        The service's name; ``sandbox`` for simulated data.
    wallets : int
        Distinct wallets of the input; of an iterator, those read so far.
    resumed : int
        The number of wallets that were ok in the folder before.
    statuses : dict of str to int
        Counts of the other wallets by status; wallets that were never requested are ``cancelled``.
    reasons : dict of str to int
        Counts of the reasons why wallets are not ok, the most frequent first.
    balances : int
        Rows of holdings that were written.
    parts : int
        Parts that were written.
    unreadable : tuple of (int, str, str)
        Position from 0, value and reason of the iterator's items that are not wallets; the first
        thousand.
    unreadable_count : int
        The number of items that are not wallets.
    key_refused : bool
        Whether the run ended because the service refused the key.
    duration_s : float
        The duration of the run, in seconds.
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
            Their number, with those that were ok before.
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


class RunCounters:
    """The counters of a run, named as in its summary."""

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

    def count_unreadable(self, position: int, value: str, reason: str) -> None:
        """Count an item of an iterator that is not a wallet, and warn of the first."""
        # An error, hours after the start, would stop a long run.
        self.unreadable_count += 1
        if self.unreadable_count <= _PROBLEMS_KEPT:
            self.unreadable.append((position, value, reason))
        if self.unreadable_count == 1:
            notify(
                f"item {position} (from 0) is not a wallet and is left out: {value!r}: {reason}; "
                "the summary counts all such items",
                FetchWarning,
            )

    def add(self, record: WalletRecord) -> None:
        """Count a wallet."""
        status, reason = record.outcome.status, record.outcome.error
        self.statuses[status.value] += 1
        if status is not Status.OK and reason is not None:
            is_room = len(self.reasons) < _REASONS_KEPT or reason in self.reasons
            self.reasons[reason if is_room else "other reasons"] += 1

    def merge(self, other: FetchSummary) -> None:
        """Add the counts of another run of the same list."""
        self.parts += other.parts
        self.balances += other.balances
        self.resumed += other.resumed
        self.key_refused |= other.key_refused
        self.statuses.update(other.statuses)
        self.reasons.update(other.reasons)

    def summary(self, folder: Path, service: str, wallets: int) -> FetchSummary:
        """Return the summary; wallets that the run did not get to count as cancelled."""
        if remaining := wallets - self.resumed - self.statuses.total():
            self.statuses[Status.CANCELLED.value] += remaining
            self.reasons["not requested, since the run ended before"] += remaining
        self.duration_s += time.monotonic()
        counts = vars(self) | {
            "statuses": dict(self.statuses),
            "reasons": dict(self.reasons.most_common()),
            "unreadable": tuple(self.unreadable),
        }
        return FetchSummary(folder, service, wallets, **counts)


def conclude(summary: FetchSummary, on_failure: str) -> None:
    """Warn or raise if wallets are not ok, according to `on_failure`."""
    messages = _left_out(summary.unreadable_count)
    if failed := summary.wallets - summary.ok:
        lead = f"{count_of(failed, summary.wallets, 'wallet')} not ok"
        messages.insert(0, with_reasons(lead, summary.reasons))
    if messages and on_failure == "raise":
        raise FetchError("; ".join(messages), summary, RESUME_HINT)
    if messages and on_failure == "warn":
        notify(f"{'; '.join(messages)}; {RESUME_HINT}", FetchWarning)


def _left_out(count: int) -> list[str]:
    verb = "is not a wallet" if count == 1 else "are not wallets"
    return [f"{many(count, 'item')} of the iterator {verb}, and left out"] if count else []
