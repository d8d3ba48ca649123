"""The outcome for one wallet: its status, and its balances if the status is ok."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from walletframe.wire.schemas import Balances


class Status(StrEnum):
    """The status of a requested wallet: a category of the column ``status``."""

    OK = "ok"
    FAILED = "failed"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    REJECTED = "rejected"
    SERVICE_ERROR = "service_error"
    INVALID = "invalid"
    MISSING = "missing"
    NOT_CACHED = "not_cached"
    CANCELLED = "cancelled"


class Outcome(NamedTuple):
    """The outcome of a request for one wallet."""

    status: Status
    error: str | None = None  # one line; for the status OK, a message about unreadable balances
    explorer_url: str | None = None
    balances: Balances | None = None  # None unless the status is OK


def outcome_of_exception(fault: BaseException) -> Outcome:
    """Return the outcome for a wallet after an unexpected exception."""
    name = type(fault).__name__  # the exception's text could contain a secret
    return Outcome(Status.INVALID, f"an unexpected error: {name}")
