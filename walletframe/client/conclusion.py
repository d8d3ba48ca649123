"""What a caller is told of the wallets that are not ok."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.errors import FetchError, FetchWarning
from walletframe.notice import notify

if TYPE_CHECKING:
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
    failed = wallets[wallets["status"] != "ok"]
    outdated = wallets[(wallets["status"] == "ok") & wallets["error"].notna()]
    if on_failure == "ignore":
        return
    if len(failed) and on_failure == "raise":
        raise FetchError(
            _said(failed, f"{len(failed)} of {len(wallets)} wallets are not ok"), details
        )
    if len(failed):
        text = _said(failed, f"{len(failed)} of {len(wallets)} wallets are not ok")
        notify(f"{text}; .wallets says why", FetchWarning)
    if len(outdated):
        text = _said(outdated, f"{len(outdated)} of {len(wallets)} wallets are out of date")
        notify(text, FetchWarning)


def _said(rows: pd.DataFrame, lead: str) -> str:
    """Name the most frequent reasons."""
    reasons = rows["error"].value_counts()
    named = [f"{count} x {reason}" for reason, count in reasons.head(_NAMED).items()]
    more = [f"{len(reasons) - _NAMED} other reasons"] if len(reasons) > _NAMED else []
    return f"{lead} ({'; '.join(named + more)})"
