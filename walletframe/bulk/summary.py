"""The summary of a bulk run, and the counts it is made of."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from walletframe.client import with_reasons
from walletframe.errors import FetchError, FetchWarning
from walletframe.frames import SIMULATED
from walletframe.notice import notify
from walletframe.numerals import many, part
from walletframe.wire import Status

if TYPE_CHECKING:
    from pathlib import Path

    from walletframe.bulk.listing import Unreadable
    from walletframe.frames import WalletRecord

GOES_ON = "what was finished is in the folder; the same call again asks only for the rest"
_REASONS_KEPT = 1_000
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
    unreadable: tuple[tuple[int, str, str], ...]
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
        if self.unreadable_count:
            lines.append(
                f"{many(self.unreadable_count, 'item')} of the iterator left out: not a wallet"
            )
        written = f"{many(self.balances, 'balance')} in {many(self.parts, 'new part')}"
        lines.append(f"{written} of {self.folder}, {self.duration_s:,.1f} s")
        if self.service == SIMULATED:
            lines.append("Simulated data: the sandbox made it up.")
        return "\n".join(lines)


class Tally:
    """Counts of a run as it goes on."""

    def __init__(self) -> None:
        self.parts = self.balances = self.resumed = 0
        self.key_refused = False
        self._begun = time.monotonic()
        self._statuses: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()

    def add(self, record: WalletRecord) -> None:
        """Count a wallet."""
        status, reason = record.outcome.status, record.outcome.error
        self._statuses[status.value] += 1
        if status is not Status.OK and reason is not None:
            is_room = len(self._reasons) < _REASONS_KEPT or reason in self._reasons
            self._reasons[reason if is_room else "other reasons"] += 1

    def summary(
        self, folder: Path, service: str, wallets: int, unreadable: Unreadable
    ) -> FetchSummary:
        """Sum up; wallets without a record, because the run ended before, count as cancelled."""
        statuses, reasons = self._statuses.copy(), self._reasons.copy()
        left = wallets - self.resumed - statuses.total()
        if left:
            statuses[Status.CANCELLED.value] += left
            reasons["not asked for, since the run ended before"] += left
        return FetchSummary(
            folder=folder,
            service=service,
            wallets=wallets,
            resumed=self.resumed,
            statuses=dict(statuses),
            reasons=dict(reasons.most_common()),
            balances=self.balances,
            parts=self.parts,
            unreadable=tuple(unreadable.problems),
            unreadable_count=unreadable.count,
            key_refused=self.key_refused,
            duration_s=time.monotonic() - self._begun,
        )


def conclude(summary: FetchSummary, on_failure: str) -> None:
    """Warn or raise where wallets are not ok, as the caller wishes."""
    failed = summary.wallets - summary.ok
    said = []
    if failed:
        lead = f"{part(failed, summary.wallets, 'wallet')} not ok"
        said.append(with_reasons(lead, summary.reasons))
    if summary.unreadable_count:
        said.append(
            f"{many(summary.unreadable_count, 'item')} of the iterator left out: not a wallet"
        )
    if said and on_failure == "raise":
        raise FetchError("; ".join(said), summary, GOES_ON)
    if said and on_failure == "warn":
        notify(f"{'; '.join(said)}; {GOES_ON}", FetchWarning)
