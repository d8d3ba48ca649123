"""The summary and the counters of a bulk run."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from walletframe.client import append_reasons
from walletframe.errors import FetchError, FetchWarning
from walletframe.frames.known import SIMULATED_NOTE
from walletframe.frames.schema import SIMULATED
from walletframe.notice import notify
from walletframe.numerals import count_with_verb, counted_noun
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from pathlib import Path

    from walletframe.frames.assembly import WalletRecord

RESUME_HINT = "finished wallets are in the folder; repeat the call to fetch the rest"
Problem: TypeAlias = tuple[int, str, str]  # position, value and reason

_MAX_REASONS = _MAX_PROBLEMS = 1_000
_MAX_SHOWN = 5


@dataclass(frozen=True, slots=True, repr=False)
class FetchSummary:
    """The result of a fetch into a folder.

    Parameters
    ----------
    folder : Path
        The folder of the dataset.
    service : str
        The name of the service, or ``sandbox`` for simulated data.
    wallets : int
        The number of distinct wallets that were read from the input.
    resumed : int
        The number of wallets that were already ok in the folder before the run.
    statuses : dict of str to int
        The number of wallets by status, without resumed wallets. The status ``cancelled`` means
        that the wallet was never requested.
    reasons : dict of str to int
        The number of wallets that are not ok, by reason, in descending order.
    balances : int
        The number of rows of holdings that were written.
    parts : int
        The number of parts that were written. A part without an ok wallet has no holdings.
    unreadable : tuple of (int, str, str)
        The first thousand unreadable items of an iterator, as (position from 0, value, reason).
    unreadable_count : int
        The number of unreadable items.
    key_rejected : bool
        Whether the run ended because the service rejected the key.
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
    key_rejected: bool
    duration_s: float

    @property
    def ok_count(self) -> int:
        """The number of wallets that are ok in the folder after the run."""
        return self.resumed + self.statuses.get(Status.OK.value, 0)

    def __repr__(self) -> str:
        before = f" ({self.resumed:,} of them before the run)" if self.resumed else ""
        others = {name: count for name, count in self.statuses.items() if name != Status.OK}
        counts = [f"{self.ok_count:,} ok{before}", *(f"{n:,} {name}" for name, n in others.items())]
        lines = [f"{counted_noun(self.wallets, 'wallet')}: {', '.join(counts)}"]
        lines += [f"  {n:,} x {reason}" for reason, n in islice(self.reasons.items(), _MAX_SHOWN)]
        if len(self.reasons) > _MAX_SHOWN:
            lines.append(f"  and {counted_noun(len(self.reasons) - _MAX_SHOWN, 'other reason')}")
        lines += _dropped_item_messages(self.unreadable_count)
        balances = counted_noun(self.balances, "balance")
        parts = counted_noun(self.parts, "new part")
        lines.append(f"{balances} in {parts} of {self.folder}, {self.duration_s:,.1f} s")
        if self.service == SIMULATED:
            lines.append(SIMULATED_NOTE)
        return "\n".join(lines)


class RunCounters:
    """The counters of a run, named like the fields of `FetchSummary`."""

    def __init__(self) -> None:
        self.parts: int = 0
        self.balances: int = 0
        self.resumed: int = 0
        self.unreadable: list[Problem] = []  # the first unreadable items
        self.unreadable_count: int = 0
        self.key_rejected: bool = False
        self.statuses: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.duration_s: float = -time.monotonic()

    def count_unreadable(self, position: int, value: str, reason: str) -> None:
        """Count an unreadable item of an iterator. Warn about the first unreadable item."""
        # This is not an error, which could end a run after hours.
        self.unreadable_count += 1
        if self.unreadable_count <= _MAX_PROBLEMS:
            self.unreadable.append((position, value, reason))
        if self.unreadable_count == 1:
            notify(
                f"item {position} (counted from 0) of the iterator, {value!r}, is not a wallet and "
                f"was dropped: {reason}. The summary counts all dropped items",
                FetchWarning,
            )

    def count_record(self, record: WalletRecord) -> None:
        """Count the status of a wallet, and the reason of a failure."""
        status, reason = record.outcome.status, record.outcome.error
        self.statuses[status.value] += 1
        if status is not Status.OK and reason is not None:
            has_room = len(self.reasons) < _MAX_REASONS or reason in self.reasons
            self.reasons[reason if has_room else "other reasons"] += 1

    def add_summary(self, other: FetchSummary) -> None:
        """Add the counts of another run for the same list."""
        self.parts += other.parts
        self.balances += other.balances
        self.resumed += other.resumed
        self.key_rejected |= other.key_rejected
        self.statuses.update(other.statuses)
        self.reasons.update(other.reasons)

    def summary(self, folder: Path, service: str, wallets: int) -> FetchSummary:
        """Return the summary. Wallets that the run did not reach count as cancelled."""
        if remaining := wallets - self.resumed - self.statuses.total():
            self.statuses[Status.CANCELLED.value] += remaining
            self.reasons["not requested, since the run ended early"] += remaining
        self.duration_s += time.monotonic()
        counts = vars(self) | {
            "statuses": dict(self.statuses),
            "reasons": dict(self.reasons.most_common()),
            "unreadable": tuple(self.unreadable),
        }
        return FetchSummary(folder, service, wallets, **counts)


def warn_or_raise(summary: FetchSummary, on_failure: str) -> None:
    """Warn or raise an error if wallets are not ok, depending on `on_failure`."""
    messages = _dropped_item_messages(summary.unreadable_count)
    if failed := summary.wallets - summary.ok_count:
        lead = f"{count_with_verb(failed, summary.wallets, 'wallet')} not ok"
        messages.insert(0, append_reasons(lead, summary.reasons))
    if messages and on_failure == "raise":
        raise FetchError("; ".join(messages), summary, RESUME_HINT)
    if messages and on_failure == "warn":
        notify(f"{'; '.join(messages)}; {RESUME_HINT}", FetchWarning)


def _dropped_item_messages(count: int) -> list[str]:
    verbs = "is not a wallet and was dropped" if count == 1 else "are not wallets and were dropped"
    return [f"{counted_noun(count, 'item')} of the iterator {verbs}"] if count else []
