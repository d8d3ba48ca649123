"""Holdings whose tokens and wallets are known, for who reads the same rows many times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, Union

import numpy as np

from walletframe.frames.identity import token_identities, wallet_identities

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames.identity import Identities


@dataclass(frozen=True, slots=True)
class Identified:
    """Holdings, and of which tokens and wallets their rows are; not to be changed."""

    frame: pd.DataFrame
    tokens: Identities
    wallets: Identities

    def where(self, marks: np.ndarray | None) -> Identified:
        """Return some of the rows."""
        if marks is None or marks.all():
            return self
        rows = np.flatnonzero(marks)
        return Identified(self.frame[marks], self.tokens.take(rows), self.wallets.take(rows))


HoldingsLike: TypeAlias = Union["pd.DataFrame", Identified]


def identified(holdings: HoldingsLike) -> Identified:
    """Identify the tokens and wallets of holdings, unless they are known."""
    if isinstance(holdings, Identified):
        return holdings
    return Identified(holdings, token_identities(holdings), wallet_identities(holdings))
