"""Of which wallets it is known what they hold: the one place where that is decided.

A wallet is known where its status is ok. An answer that is past its time (``stale``) is known as of
its ``fetched_at``: who looks at one fetch counts it, and says so; who compares times does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.frames.contract import Source
from walletframe.wire import FLAWS, NO_LIST, Status

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    Mask = npt.NDArray[np.bool_]


def known_wallets(wallets: pd.DataFrame, *, stale: bool) -> Mask:
    """Tell of which wallets it is known what they hold.

    Parameters
    ----------
    wallets : DataFrame
        The ``wallets`` of a fetch, with ``status`` and ``tokens``; and ``source`` where `stale` is
        false.
    stale : bool
        Whether an answer that is past its time counts.

    Returns
    -------
    ndarray of bool
        One for each row. Frames that an earlier release pickled say ok of answers without a list
        of balances, too; these are not known.

    Examples
    --------
    >>> from walletframe.frames import assemble
    >>> known_wallets(assemble([]).wallets, stale=True).tolist()
    []
    """
    answered = ((wallets["status"] == Status.OK.value) & wallets["tokens"].notna()).to_numpy(bool)
    return answered if stale else answered & ~_is_stale(wallets)


def stale_wallets(wallets: pd.DataFrame) -> Mask:
    """Tell of which wallets only an answer that is past its time is known.

    Parameters
    ----------
    wallets : DataFrame
        With ``status``, ``tokens`` and ``source``.

    Returns
    -------
    ndarray of bool
        One for each row.
    """
    return known_wallets(wallets, stale=True) & _is_stale(wallets)


def stood_in_for(wallets: pd.DataFrame) -> Mask:
    """Tell of which wallets an older answer had to stand in, be it past its time or not.

    Parameters
    ----------
    wallets : DataFrame
        With ``status``, ``tokens`` and ``error``.

    Returns
    -------
    ndarray of bool
        One for each row: true where the reason is in ``error``, which says more than what could
        not be read.
    """
    said = wallets["error"].astype("str")
    reasons = said.notna() & ~said.str.fullmatch(FLAWS, na=False)
    return known_wallets(wallets, stale=True) & reasons.to_numpy(bool)


def as_failed(wallets: pd.DataFrame) -> pd.DataFrame:
    """Correct wallets that an earlier release wrote: ok, though their answers had no list.

    Parameters
    ----------
    wallets : DataFrame
        With ``status``, ``tokens`` and perhaps ``error``.

    Returns
    -------
    DataFrame
        The same, these with the status ``failed`` and its reason.
    """
    unlisted = (wallets["status"] == Status.OK.value) & wallets["tokens"].isna()
    if not unlisted.any():
        return wallets
    said = {"status": Status.FAILED.value, "error": NO_LIST}
    return wallets.assign(
        **{name: wallets[name].mask(unlisted, said[name]) for name in said if name in wallets}
    )


def unreadable(holdings: pd.DataFrame) -> Mask:
    """Tell which balances could not be read: their amount or their token is unknown.

    Parameters
    ----------
    holdings : DataFrame
        With ``amount`` and ``token_blockchain``.

    Returns
    -------
    ndarray of bool
        One for each row.
    """
    return (holdings["amount"].isna() | holdings["token_blockchain"].isna()).to_numpy(bool)


def _is_stale(wallets: pd.DataFrame) -> Mask:
    return (wallets["source"] == Source.STALE.value).to_numpy(bool)
