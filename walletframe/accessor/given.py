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


def note_alone(*wallets: object) -> None:
    """Say once that holdings alone are asked, where no wallets are given in any way."""
    if all(each is None for each in wallets):
        mention_once(_ALONE, InputWarning)


class Given(ABC, Generic[RowsT]):
    """Holdings, with the wallets of the same fetch where that was given."""

    _data: pd.DataFrame
    _wallets: pd.DataFrame | None = None

    @abstractmethod
    def _again(self, holdings: pd.DataFrame) -> RowsT:
        """Return other holdings in the form of what was given."""

    def _asked(self, wallets: FetchLike | None) -> FetchLike | None:
        """Return the wallets that a table is of: those the caller names, else of the fetch."""
        note_alone(wallets, self._wallets)
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
