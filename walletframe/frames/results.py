"""Result tables, which state below their rows what they don't count."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from walletframe.numerals import counted_noun

if TYPE_CHECKING:
    from walletframe.frames.identity import Codes, Mask
    from walletframe.frames.positions import Positions

COVERAGE: Final = "coverage"
"""The key of the coverage in the ``attrs`` of a table."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The numbers of wallets and balances that a table counts and leaves out.

    ``str`` returns a sentence about what is left out.

    Parameters
    ----------
    wallets_asked : int
        The requested wallets that could be counted; 0 if it is not known which were requested.
    wallets_ok, wallets_stale : int
        The known wallets among them, and how many of these have an out-of-date answer.
    balances : int
        The balances that are counted, including those of unknown amount.
    amount_na, unpriced : int
        The balances of unknown amount, and those with a known amount but without a value.
    filtered : int
        The balances that the service listed for the known wallets, but that are not in the
        holdings, such as spam that was dropped.
    bridged : int
        For a table of one asset, the number of held bridged contracts that are left out.
    bridged_amount : str
        The exact sum of their known amounts.

    Examples
    --------
    >>> import walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = client.fetch(["NEAR.alice.near"])
    >>> print(details.wf.coverage())
    All 4 balances of 1 wallet are counted.
    """

    wallets_asked: int
    wallets_ok: int
    wallets_stale: int
    balances: int
    amount_na: int
    unpriced: int
    filtered: int
    bridged: int = 0
    bridged_amount: str = "0"

    def __str__(self) -> str:
        unknown = self.wallets_asked - self.wallets_ok
        wallets = counted_noun(self.wallets_asked, "wallet")
        left_out = {
            f"{self.bridged_amount} in {counted_noun(self.bridged, 'bridged version')} "
            "(bridged=True)": self.bridged,
            f"{unknown:,} of {wallets}, whose balances are unknown": unknown,
            f"{counted_noun(self.amount_na, 'balance')} of unknown amount": self.amount_na,
            f"the value of {counted_noun(self.unpriced, 'balance')} without a price": self.unpriced,
            f"{counted_noun(self.filtered, 'filtered balance')}": self.filtered,
            "failed wallets, if there are any (pass wallets=…)": not self.wallets_asked,
        }
        if parts := [text for text, count in left_out.items() if count]:
            return f"Not counted: {'; '.join(parts)}."
        return f"All {counted_noun(self.balances, 'balance')} of {wallets} are counted."


class ResultTable(pd.DataFrame):
    """A DataFrame with a line below its rows that says what is not counted.

    All operations return plain DataFrames. If the number of rows was changed, there is no line.
    """

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def _coverage_line(self) -> str:
        is_unchanged = self.attrs.get(COVERAGE, {}).get("rows") == len(self)
        return str(stated_coverage(self)) if is_unchanged else ""

    def __repr__(self) -> str:
        line = self._coverage_line()
        return f"{super().__repr__()}\n\n{line}" if line else super().__repr__()

    def _repr_html_(self) -> str | None:
        html: str | None = super()._repr_html_()  # type: ignore[misc]  # not in the stubs
        line = self._coverage_line()
        return f"{html}<p>{line}</p>" if html and line else html


def stated_coverage(table: pd.DataFrame) -> Coverage:
    """Return the coverage in the ``attrs`` of a table."""
    stated = table.attrs[COVERAGE]
    return Coverage(**{each.name: stated[each.name] for each in fields(Coverage)})


def with_coverage(table: pd.DataFrame, coverage: Coverage) -> ResultTable:
    """Return a result table; its ``attrs`` have the coverage as a dict of numbers and text."""
    result = ResultTable(table)
    result.attrs[COVERAGE] = asdict(coverage) | {"rows": len(table)}
    return result


def coverage_of(
    positions: Positions,
    balances: Codes | Mask,
    known_amounts: Codes | Mask,
    unpriced: int = 0,
    *,
    among: Mask | None = None,
    held: int | None = None,
) -> Coverage:
    """Return the coverage of a table with these numbers of balances and known amounts per group.

    `among` marks the wallets that could be counted, by default all. `held` is the number of all
    balances in the holdings, by default those in the table.
    """
    counted = np.ones(len(positions.known), dtype=bool) if among is None else among
    asked = ok = stale = filtered = 0
    total = int(balances.sum())
    if positions.has_wallets:
        known = positions.known & counted
        asked, ok = int(counted.sum()), int(known.sum())
        stale = int((positions.stale & counted).sum())
        listed = positions.wallet_frame["tokens"].array.take(positions.first[positions.known]).sum()
        filtered = max(int(listed) - (total if held is None else held), 0)
    return Coverage(asked, ok, stale, total, total - int(known_amounts.sum()), unpriced, filtered)
