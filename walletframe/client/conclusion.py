"""What a caller is told of the wallets that are not ok."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from walletframe.errors import FetchError, FetchWarning, SettingsError
from walletframe.frames import known_wallets, stood_in_for
from walletframe.notice import notify
from walletframe.numerals import many, part

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from walletframe.frames import WalletDetails

_NAMED = 3


def conclude(details: WalletDetails, on_failure: str) -> None:
    """Warn or raise where wallets are not ok, as the caller wishes.

    Parameters
    ----------
    details : WalletDetails
        What was fetched.
    on_failure : {"warn", "raise", "ignore"}
        The caller's wish. An answer that is ok but out of date is warned of, never raised for.

    Raises
    ------
    FetchError
        With ``"raise"``, where a wallet is not ok.
    """
    wallets = details.wallets
    failed = wallets[~known_wallets(wallets, stale=True)]
    outdated = wallets[stood_in_for(wallets)]
    if on_failure == "ignore":
        return
    if len(failed):
        lead = f"{part(len(failed), len(wallets), 'wallet')} not ok"
        text = with_reasons(lead, _reasons(failed))
        if on_failure == "raise":
            raise FetchError(text, details)
        notify(f"{text}; .wallets says why", FetchWarning)
    if len(outdated):
        lead = f"{part(len(outdated), len(wallets), 'wallet')} out of date"
        notify(with_reasons(lead, _reasons(outdated)), FetchWarning)


def with_reasons(lead: str, reasons: Mapping[str, int]) -> str:
    """Name the most frequent reasons.

    Parameters
    ----------
    lead : str
        What they are the reasons of.
    reasons : mapping of str to int
        How often each was given, the most frequent first.

    Returns
    -------
    str
        One line.

    Examples
    --------
    >>> with_reasons("3 of 4 wallets are not ok", {"timed out": 2, "no such page": 1})
    '3 of 4 wallets are not ok (2 x timed out; 1 x no such page)'
    """
    named = [f"{count} x {reason}" for reason, count in islice(reasons.items(), _NAMED)]
    rest = len(reasons) - _NAMED
    more = [many(rest, "other reason")] if rest > 0 else []
    return f"{lead} ({'; '.join(named + more)})"


def check_wish(on_failure: str) -> None:
    """Refuse a wish that nobody knows, before anything is asked.

    Parameters
    ----------
    on_failure : str
        The caller's wish.

    Raises
    ------
    SettingsError
        For another word than ``warn``, ``raise`` and ``ignore``.
    """
    if on_failure not in ("warn", "raise", "ignore"):
        raise SettingsError(f"on_failure: {on_failure!r}", hint="warn, raise or ignore")


def _reasons(rows: pd.DataFrame) -> dict[str, int]:
    return {str(reason): int(count) for reason, count in rows["error"].value_counts().items()}
