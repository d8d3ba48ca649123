"""Which wallets' balances are known: the one place that decides this.

A wallet is known where its status is ok. An answer that is past its time (``stale``) is known as of
its ``fetched_at``: who looks at one fetch counts it, and says so; who compares times does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.frames.contract import Source
from walletframe.wire import FLAWS, NO_LIST, Status

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames.identity import Mask


def known_wallets(wallets: pd.DataFrame, *, stale: bool) -> Mask:
    """Tell of which wallets it is known what they hold."""
    answered = ((wallets["status"] == Status.OK.value) & wallets["tokens"].notna()).to_numpy(bool)
    return answered if stale else answered & ~_is_stale(wallets)


def stale_wallets(wallets: pd.DataFrame) -> Mask:
    """Tell of which wallets only an answer that is past its time is known."""
    return known_wallets(wallets, stale=True) & _is_stale(wallets)


def stood_in_for(wallets: pd.DataFrame) -> Mask:
    """Tell of which wallets an older answer had to stand in, be it past its time or not."""
    said = wallets["error"].astype("str")
    reasons = said.notna() & ~said.str.fullmatch(FLAWS, na=False)
    return known_wallets(wallets, stale=True) & reasons.to_numpy(bool)


def as_failed(wallets: pd.DataFrame) -> pd.DataFrame:
    """Correct wallets that an earlier release wrote: ok, though their answers had no list."""
    unlisted = (wallets["status"] == Status.OK.value) & wallets["tokens"].isna()
    if not unlisted.any():
        return wallets
    said = {"status": Status.FAILED.value, "error": NO_LIST}
    return wallets.assign(
        **{name: wallets[name].mask(unlisted, said[name]) for name in said if name in wallets}
    )


def unreadable(holdings: pd.DataFrame) -> Mask:
    """Tell which balances could not be read: their amount or their token is unknown."""
    return (holdings["amount"].isna() | holdings["token_blockchain"].isna()).to_numpy(bool)


def _is_stale(wallets: pd.DataFrame) -> Mask:
    return (wallets["source"] == Source.STALE.value).to_numpy(bool)
