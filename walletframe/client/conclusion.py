"""Warnings and errors at the end of a fetch: wallets that are not ok, and odd answers."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from walletframe.errors import AnswerWarning, FetchError, FetchWarning, SettingsError
from walletframe.frames.known import known_wallets, stale_wallets
from walletframe.notice import notify
from walletframe.numerals import many, part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.frames.assembly import WalletRecord
    from walletframe.frames.details import WalletDetails

_NAMED = 3


def conclude(details: WalletDetails, on_failure: str) -> None:
    """Warn or raise where wallets are not ok; answers out of date are only warned of."""
    wallets = details.wallets
    marked = {"not ok": ~known_wallets(wallets), "out of date": stale_wallets(wallets)}
    for what, marks in marked.items():
        errors = wallets.loc[marks, "error"]
        if on_failure == "ignore" or not len(errors):
            continue
        reasons = {str(reason): int(count) for reason, count in errors.value_counts().items()}
        lead = f"{part(len(errors), len(wallets), 'wallet')} {what}"
        text = with_reasons(lead, reasons)
        if what == "not ok":
            if on_failure == "raise":
                raise FetchError(text, details)
            text = f"{text}; .wallets says why"
        notify(text, FetchWarning)


def with_reasons(lead: str, reasons: Mapping[str, int]) -> str:
    """Append the first of the reasons, which are given with their counts, the most frequent first.

    >>> with_reasons("3 of 4 wallets are not ok", {"timed out": 2, "no such page": 1})
    '3 of 4 wallets are not ok (2 x timed out; 1 x no such page)'
    """
    named = [f"{count} x {reason}" for reason, count in islice(reasons.items(), _NAMED)]
    rest = len(reasons) - _NAMED
    more = [many(rest, "other reason")] if rest > 0 else []
    return f"{lead} ({'; '.join(named + more)})"


def check_on_failure(on_failure: str) -> None:
    """Refuse another word than warn, raise and ignore, before anything is asked."""
    if on_failure not in ("warn", "raise", "ignore"):
        raise SettingsError(f"on_failure: {on_failure!r}", hint="warn, raise or ignore")


class Oddities:
    """What is odd in the answers of one fetch: wallets that nobody asked for, unread balances."""

    def __init__(self) -> None:
        self._strangers: list[str] = []
        self._stranger_count = 0
        self._unreadable = self._balances = self._wallets = 0

    def note(self, record: WalletRecord | None, strangers: list[str]) -> None:
        """Count what could not be read, and wallets that nobody asked for; some will be named."""
        self._stranger_count += len(strangers)
        self._strangers = (self._strangers + strangers)[:_NAMED]
        balances = record and record.outcome.balances
        if balances:
            self._unreadable += balances.unreadable
            self._balances += len(balances)
            self._wallets += bool(balances.unreadable)

    def warn(self) -> None:
        """Warn once of all that was odd."""
        said = []
        if self._stranger_count:
            said.append(
                f"the service sent {many(self._stranger_count, 'wallet')} that were not "
                f"requested; left out: {', '.join(self._strangers)}"
            )
        if self._unreadable:
            said.append(
                f"{self._unreadable:,} of {many(self._balances, 'balance')}, in "
                f"{many(self._wallets, 'wallet')}, could not be read: their amount or their token "
                "is NA, .raw_amount has what was sent"
            )
        if said:
            notify("; ".join(said), AnswerWarning)
