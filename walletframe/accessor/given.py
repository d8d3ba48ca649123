"""What is asked: holdings alone, or both frames of a fetch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, TypeVar

from walletframe.accessor.plot import PlotAccessor
from walletframe.errors import InputWarning
from walletframe.notice import mention_once

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames import FetchLike

RowsT = TypeVar("RowsT")
_ALONE = (
    "a table of holdings alone can't tell how complete it is, since wallets that failed have no "
    "rows there: ask the whole fetch, as in details.wf.totals(), or pass its wallets= (said once)"
)


class Given(ABC, Generic[RowsT]):
    """Holdings, with the wallets of the same fetch where that was given."""

    _data: pd.DataFrame
    _wallets: pd.DataFrame | None = None

    @abstractmethod
    def _again(self, holdings: pd.DataFrame) -> RowsT:
        """Return other holdings in the form of what was given."""

    def _asked(self, wallets: FetchLike | None) -> FetchLike | None:
        """Return the wallets that a table is of: those the caller names, else of the fetch."""
        if wallets is None and self._wallets is None:
            mention_once(_ALONE, InputWarning)
        return self._wallets if wallets is None else wallets

    @property
    def plot(self) -> PlotAccessor:
        """Charts of holdings.

        Returns
        -------
        PlotAccessor
            With a method for each chart, each of which returns a plotly figure.
        """
        return PlotAccessor(self._data, self._wallets)
