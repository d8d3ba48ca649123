"""What the service's prices say of a token: it has one, or others have one and it has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.analysis.spam.reasons import Finding

if TYPE_CHECKING:
    from walletframe.frames import Identities

_PRICED = Finding("priced")
_UNPRICED = Finding("unpriced")


def quotes(holdings: pd.DataFrame, tokens: Identities) -> np.ndarray:
    """Tell of each token what its price, or the lack of one, says.

    Parameters
    ----------
    holdings : DataFrame
        n rows, with the service's ``price`` or without such a column.
    tokens : Identities
        Of these rows.

    Returns
    -------
    ndarray of object
        For each token the finding ``priced``; ``unpriced`` where the service gives prices for
        others on its blockchain; or None.
    """
    found = np.full(len(tokens.keys), None, dtype=object)
    if "price" not in holdings.columns or not len(holdings):
        return found
    prices = pd.to_numeric(holdings["price"], errors="coerce").to_numpy(float, na_value=np.nan)
    priced = np.zeros(len(found), dtype=bool)
    priced[tokens.codes[prices > 0]] = True
    chains, _ = pd.factorize(np.array([key[0] for key in tokens.keys], dtype=object))
    covered = np.bincount(chains[priced], minlength=len(found) + 1)[chains] > 0
    found[covered] = _UNPRICED
    found[priced] = _PRICED
    return found
