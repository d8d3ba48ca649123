"""Warnings and errors about wallets that are not ok, and about unexpected answers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from walletframe.errors import AnswerWarning, FetchError, FetchWarning, SettingsError
from walletframe.frames.known import known_mask, stale_mask
from walletframe.notice import notify
from walletframe.numerals import count_with_verb, counted_noun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.frames.assembly import WalletRecord
    from walletframe.frames.details import WalletDetails

_MAX_NAMED = 3


def warn_or_raise(details: WalletDetails, on_failure: str) -> None:
    """Warn or raise an error if wallets are not ok, and warn if answers are out of date."""
    wallets = details.wallets
    masks = {"not ok": ~known_mask(wallets), "out of date": stale_mask(wallets)}
    for state, mask in masks.items():
        if on_failure == "ignore" or not mask.any():
            continue
        errors = wallets.loc[mask, "error"]
        lead = f"{count_with_verb(len(errors), len(wallets), 'wallet')} {state}"
        text = append_reasons(lead, Counter(errors))
        if state == "not ok":
            if on_failure == "raise":
                raise FetchError(text, details)
            text = f"{text}; the column 'error' of .wallets has all reasons"
        notify(text, FetchWarning)


def append_reasons(lead: str, reasons: Mapping[str, int]) -> str:
    """Append the most frequent reasons with counts. Drop the hint after "; " in a reason."""
    counts: Counter[str] = Counter()
    for reason, count in reasons.items():
        counts[reason.partition("; ")[0]] += count
    named = [f"{count:,} x {reason}" for reason, count in counts.most_common(_MAX_NAMED)]
    rest = len(counts) - _MAX_NAMED
    more = [counted_noun(rest, "other reason")] if rest > 0 else []
    return f"{lead} ({'; '.join(named + more)})"


def check_on_failure(on_failure: str) -> None:
    """Raise a SettingsError unless `on_failure` is "warn", "raise" or "ignore"."""
    if on_failure not in ("warn", "raise", "ignore"):
        hint = 'use on_failure="warn", "raise" or "ignore"'
        raise SettingsError(f"on_failure={on_failure!r} is not supported", hint)


class AnswerProblemCounts:
    """Counts of unrequested wallets and unreadable balances in the answers of one fetch."""

    def __init__(self) -> None:
        self._unrequested: list[str] = []
        self._unrequested_count = 0
        self._unreadable = self._balances = self._wallets = 0

    def count_problems(self, record: WalletRecord | None, unrequested: list[str]) -> None:
        """Count the unreadable balances in a record, and the unrequested wallets."""
        self._unrequested_count += len(unrequested)
        self._unrequested = (self._unrequested + unrequested)[:_MAX_NAMED]
        if balances := record and record.outcome.balances:
            self._unreadable += balances.unreadable_count
            self._balances += len(balances)
            self._wallets += bool(balances.unreadable_count)

    def warn(self) -> None:
        """Issue one warning about all problems, if there are any."""
        problems = []
        if self._unrequested_count:
            lead = counted_noun(self._unrequested_count, "unrequested wallet")
            problems.append(f"the service sent {lead} (left out): {', '.join(self._unrequested)}")
        if self._unreadable:
            problems.append(
                f"{self._unreadable:,} of {counted_noun(self._balances, 'balance')}, in "
                f"{counted_noun(self._wallets, 'wallet')}, could not be read: the amount or the "
                "token is NA, and the column raw_amount contains the text that was sent"
            )
        if problems:
            notify("; ".join(problems), AnswerWarning)
