"""What became of one wallet: its status, and its balances where it has any."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.wire.shapes import AssetAndAmount


@dataclass(frozen=True, slots=True)
class Balances:
    """The balances of one wallet as columns, each of n values in the order of the answer.

    Attributes
    ----------
    symbols : list of str
        As sent.
    token_addresses : list of (str or None)
        Contract addresses; None for the native coin.
    token_blockchains : list of str
        The tokens' own blockchain identifiers.
    raw_amounts : list of str
        Quantities in base units, as sent.
    decimals : list of (int or None)
        As sent, however odd.
    prices : list of (float or None)
        The service's own prices, where it sends any.
    """

    symbols: list[str]
    token_addresses: list[str | None]
    token_blockchains: list[str]
    raw_amounts: list[str]
    decimals: list[int | None]
    prices: list[float | None]

    @classmethod
    def of(cls, sent: Sequence[AssetAndAmount]) -> Balances:
        """Turn what was decoded into columns.

        Parameters
        ----------
        sent : sequence of AssetAndAmount
            In any number.

        Returns
        -------
        Balances
            In the same order.
        """
        assets = [balance.asset for balance in sent]
        amounts = [balance.amount for balance in sent]
        return cls(
            [asset.symbol for asset in assets],
            [asset.address for asset in assets],
            [asset.blockchain for asset in assets],
            [amount.amount for amount in amounts],
            [amount.decimals for amount in amounts],
            [balance.price for balance in sent],
        )

    def __len__(self) -> int:
        return len(self.symbols)


class Status(StrEnum):
    """What became of a wallet that was asked for; the categories of the column ``status``."""

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one wallet.

    Attributes
    ----------
    status : Status
        Whether it can be relied on, and if not, why.
    error : str or None
        One line for a person; None where the status is ok.
    explorer_url : str or None
        As sent.
    balances : Balances or None
        None where they are unknown, and always where the status is not ok.
    """

    status: Status
    error: str | None = None
    explorer_url: str | None = None
    balances: Balances | None = None


def unforeseen(fault: BaseException) -> Outcome:
    """Return the outcome of a wallet at which something failed that nobody has thought of.

    Parameters
    ----------
    fault : BaseException
        What was raised; its text is not shown, since it may quote anything.

    Returns
    -------
    Outcome
        With the status ``invalid``.

    Examples
    --------
    >>> unforeseen(ZeroDivisionError()).error
    'an unforeseen error: ZeroDivisionError'
    """
    return Outcome(Status.INVALID, f"an unforeseen error: {type(fault).__name__}")
