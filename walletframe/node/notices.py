"""What a caller is told of balances that are not known, and of a missing extra."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from walletframe.errors import FetchWarning, MissingExtraError
from walletframe.notice import notify
from walletframe.numerals import many, part

if TYPE_CHECKING:
    import pandas as pd

_NAMED = 3


def require_extra() -> None:
    """Say how to install what asking a node needs.

    Raises
    ------
    MissingExtraError
        Where the extra ``node`` is not installed.
    """
    if find_spec("eth_abi") is None:
        raise MissingExtraError("node", "asking a node")


def tell_unknown(errors: pd.Series) -> None:
    """Warn where balances are not known.

    Parameters
    ----------
    errors : Series of str
        The reason for each balance; NA where it is known.
    """
    reasons = errors.value_counts()
    if reasons.empty:
        return
    named = [f"{count} x {reason}" for reason, count in reasons.head(_NAMED).items()]
    rest = len(reasons) - _NAMED
    more = [many(rest, "other reason")] if rest > 0 else []
    unknown = f"{part(int(reasons.sum()), len(errors), 'balance')} not known"
    notify(f"{unknown} ({'; '.join(named + more)}); the column error says why", FetchWarning)
