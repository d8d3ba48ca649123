"""What the amounts give away: balances that nobody has, supplies that no honest token needs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from walletframe.analysis.spam.reasons import Finding
from walletframe.frames import amounts_of

_ABSURD = 10**18
_ABSURD_DIGITS = 60
_EXTREME = 10**15
_ABSURD_BALANCE = Finding("absurd_balance")
_EXTREME_SUPPLY = Finding("extreme_supply")


def heavy_tokens(
    holdings: pd.DataFrame, codes: np.ndarray, count: int
) -> dict[int, tuple[Finding, ...]]:
    """Find the tokens whose amounts speak against them.

    Parameters
    ----------
    holdings : DataFrame
        With the columns ``amount`` and ``raw_amount``, n rows.
    codes : ndarray of intp
        The token of each row.
    count : int
        How many tokens there are.

    Returns
    -------
    dict of int to tuple of Finding
        By code. ``absurd_balance``: a row has 10**18 whole tokens or more, or, whatever the
        decimals, 60 digits or more in base units. ``extreme_supply``: the rows together have
        10**15 whole tokens or more, and the supply is at least what wallets hold.

    Raises
    ------
    AmountError
        Where ``amount`` holds no amounts.
    """
    amounts = pd.Series(amounts_of(holdings["amount"]))
    absurd = _among(codes[_absurd_rows(amounts, holdings["raw_amount"])], count)
    extreme = _among(_extreme_tokens(amounts, codes, count), count)
    return {
        int(code): (_ABSURD_BALANCE,) * bool(absurd[code])
        + (_EXTREME_SUPPLY,) * bool(extreme[code])
        for code in np.flatnonzero(absurd | extreme)
    }


def _absurd_rows(amounts: pd.Series, raw_amounts: pd.Series) -> np.ndarray:
    digits = raw_amounts.astype("str").str.len().to_numpy(dtype=float, na_value=0)
    return _true(amounts >= _ABSURD) | (digits >= _ABSURD_DIGITS)


def _extreme_tokens(amounts: pd.Series, codes: np.ndarray, count: int) -> np.ndarray:
    """Add up only where a sum can be extreme: not all of its n terms are below an n-th of it."""
    most_rows = max(int(np.bincount(codes, minlength=1).max()), 1)
    large = _among(codes[_true(amounts >= _EXTREME // most_rows)], count)[codes]
    held = amounts[large].groupby(codes[large]).sum()
    return np.asarray(held.index[_true(held >= _EXTREME)], dtype=np.intp)


def _among(codes: np.ndarray, count: int) -> np.ndarray:
    return np.bincount(codes, minlength=count) > 0


def _true(found: pd.Series) -> np.ndarray:
    return found.to_numpy(dtype=bool, na_value=False)
