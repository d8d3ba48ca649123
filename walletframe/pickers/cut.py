"""The rows of a folder that are selected, block by block."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from walletframe.frames import is_unknown
from walletframe.pickers.portfolio import DUST

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    import pandas as pd

    from walletframe.bulk import StoredHoldings
    from walletframe.frames import Block, Mask, Positions, TokenKey
    from walletframe.pickers.portfolio import Selection

T = TypeVar("T")


class Cut:
    """The selected rows of some wallets, block by block, and what is left out of them."""

    def __init__(
        self, held: StoredHoldings, selection: Selection, seen: Callable[[], None]
    ) -> None:
        self.held: StoredHoldings = held
        self.selection: Selection = selection
        self.seen: Callable[[], None] = seen
        self.whole: Positions = held.whole
        self.tokens: Callable[[], pd.DataFrame] = held.tokens
        self.spam: set[TokenKey] = set()
        self.unknown_spam: int = 0  # tokens
        self.dust: int = 0  # balances
        self.dust_values: list[float] = []  # of each block

    def over(self, work: Callable[[Block], T], names: Collection[str] = ()) -> Iterator[T]:
        """Do something with each block of the rows, with some more columns."""
        flagged = ["is_spam"] if self.held.flags else []

        def on_marked(block: Block) -> T:
            self.seen()
            return work(block.where(self._marks(block.positions)) if flagged else block)

        yield from self.held.over(on_marked, [*names, *flagged])

    def _marks(self, held: Positions) -> Mask:
        codes, marks = held.tokens.codes, np.ones(len(held.holdings), dtype=bool)
        if chosen := {*self.selection.tokens}:
            marks &= np.array([key in chosen for key in held.tokens.keys], dtype=bool)[codes]
        spam = held.holdings["is_spam"].to_numpy()
        keys = [held.tokens.keys[code] for code in np.unique(codes[marks & spam]).tolist()]
        self.spam |= {key for key in keys if not is_unknown(key)}
        self.unknown_spam += sum(map(is_unknown, keys))
        if not self.selection.spam:
            marks &= ~spam
        if self.held.units:
            values = held.holdings["value"].to_numpy()
            dust = marks & (values < DUST)
            self.dust += int(dust.sum())
            self.dust_values.append(math.fsum(values[dust]))
            if not self.selection.dust:
                marks &= ~dust
        return marks
