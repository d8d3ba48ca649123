"""A fetch, valued and judged once for all views of it, and the part of it that is selected.

What is said of that: how much it is, how complete, what is left out and why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.analysis import value
from walletframe.analysis.selection import Selectable
from walletframe.charts import token_colors
from walletframe.errors import ArgumentError, PricesError
from walletframe.frames.contract import HOLDING_DTYPES, WALLET_DTYPES, require_columns
from walletframe.frames.identity import is_unknown
from walletframe.frames.known import (
    failure_lines,
    is_simulated,
    known_wallets,
    stale_wallets,
    summary_lines,
    worth,
)
from walletframe.frames.tables import wallets_table
from walletframe.numerals import many, money
from walletframe.pickers.picker import facts
from walletframe.pickers.table import HoldingsTable
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from walletframe.analysis.selection import Selection
    from walletframe.frames.details import WalletDetails
    from walletframe.frames.identity import Mask, TokenKey
    from walletframe.frames.positions import Positions
    from walletframe.pickers.picker import Fact

    Prepare: TypeAlias = Callable[[pd.DataFrame], pd.DataFrame]

VALUED = ["unit_price", "value", "currency"]
DUST = 1.0  # a balance of less value is dust
_THEIRS, _OWN = "the service's prices", "prices of your own"
_FAILURES, _WORDS, _REASON = 50, 500, 300


class Portfolio(Selectable):
    """A fetch, with values and spam flags: those of `prepare` where it gives some, else our own."""

    def __init__(self, details: WalletDetails, prepare: Prepare | None = None) -> None:
        require_columns(details.wallets, WALLET_DTYPES)
        holdings = details.holdings
        self.fetched: WalletDetails = details
        self.is_prepared: bool = prepare is not None
        if prepare is not None:
            hint = "give a function such as lambda holdings: holdings.wf.without_spam()"
            given: object = prepare
            if not callable(given):
                said = f"prepare is of type {type(prepare).__name__}, not a function"
                raise ArgumentError(said, hint)
            made: object = given(holdings.copy(deep=False))  # what is written into it stays there
            if not isinstance(made, pd.DataFrame):
                said = f"prepare returned a {type(made).__name__}, not a DataFrame of holdings"
                raise ArgumentError(said, hint)
            holdings = made
        require_columns(holdings, HOLDING_DTYPES)
        self.priced_by: str = "own" if "value" in holdings else ""
        self.problem: str = ""
        if not self.priced_by and holdings["price"].notna().any():
            try:
                holdings, self.priced_by = value(holdings), "service"
            except PricesError as error:
                self.problem = str(error)
        super().__init__(holdings, details.wallets)
        self.details: WalletDetails = details._replace(holdings=holdings)
        self.groups: list[str] = [name for name in self.groups if name != "name"]
        self._table: HoldingsTable | None = None
        if not self.priced_by:
            self.row_values = None
        # Whoever prepares holdings decides what is in them.
        self.judges_spam: bool = not self.is_prepared or "is_spam" in holdings
        if not self.judges_spam:
            self.spam = np.zeros(len(holdings), dtype=bool)

    @cached_property
    def colors(self) -> dict[TokenKey, str]:
        """The colour of each token, whatever is selected."""
        return token_colors(self.held)

    def select(self, selection: Selection) -> Selected:
        """Return the wallets and the rows that are selected, and count what is left out."""
        named, values = self.marks(selection), self.row_values
        spam = np.unique(self.held.tokens.codes[named & self.spam])
        dust, dust_value = np.zeros_like(named), 0.0
        if values is not None:  # what has no value is not known to be small
            dust = self.left(named, replace(selection, small=None)) & (values < DUST)
            dust_value = math.fsum(values[dust])
        marks = self.left(named, selection)
        asked, wallets = self.asked_marks(selection), self.details.wallets
        return Selected(
            portfolio=self,
            selection=selection,
            wallets=wallets if asked.all() else wallets[asked],
            held=self.held.where(marks),
            marks=marks,
            spam_tokens=len(spam),
            dust_balances=int(dust.sum()),
            dust_value=dust_value,
        )

    def facts(self, selection: Selection, kind: str) -> dict[Any, Fact]:
        """Return of what is held of a kind how many balances there are, and of what value."""
        held, values, keys = self.held, self.row_values, list[Any]()
        marks = self.left(self.marks(selection), replace(selection, small=None))
        if kind == "tokens":
            keys, codes = held.tokens.keys, held.tokens.codes
        elif kind == "wallets":
            keys = [f"{chain}.{address}" for chain, address in held.wallet_keys]
            codes = held.wallet_codes
        else:
            keys, codes = [*held.chain_places], held.chain_codes[held.wallet_codes]
        found = facts(keys, codes[marks], None if values is None else values[marks])
        return {key: fact for key, fact in found.items() if fact.balances and not is_unknown(key)}

    def table(self, selected: Selected) -> HoldingsTable:
        """Return a table of what is selected, with the names, columns and order of all."""
        if self._table is None:
            self._table = HoldingsTable(self.held, self.wallets if self.is_complete else None)
        return self._table.where(selected.marks, selected.wallets if self.is_complete else None)


@dataclass(frozen=True, slots=True)
class Selected:
    """The part of a portfolio that is selected, and how much of it is, or would be, left out."""

    portfolio: Portfolio
    selection: Selection
    wallets: pd.DataFrame
    held: Positions
    marks: Mask  # of all rows
    spam_tokens: int
    dust_balances: int
    dust_value: float


def summarize(selected: Selected) -> dict[str, Any]:
    """Return the line above everything, in parts: how much there is, how complete and of when."""
    wallets, portfolio = selected.wallets, selected.portfolio
    known, stale = known_wallets(wallets), stale_wallets(wallets)
    text = f"{int(known.sum()):,} of {many(len(wallets), 'wallet')} known"
    if count := int(stale.sum()):
        reasons = wallets["error"][stale].dropna().unique()
        why = f" ({shown(str(reasons[0]), _REASON)})" if len(reasons) == 1 else ""
        text += f", {count:,} out of date{why}"
    times = wallets["fetched_at"][known].dropna()
    found = worth(selected.held.holdings)
    unpriced = found.unpriced if found else 0
    return {
        "known": text,  # of how many wallets
        "value": found.total if found else "",
        "prices": _whose(portfolio),
        "as_of": f"as of {times.min():%Y-%m-%d %H:%M} UTC" if len(times) else "",
        "simulated": is_simulated(wallets),
        "unpriced": f"{many(unpriced, 'balance')} without a price"
        if unpriced
        else shown(portfolio.problem, _REASON),  # why nothing is valued
    }


def _whose(portfolio: Portfolio) -> str:
    """Return whose the prices are; empty where nothing is valued."""
    holdings = portfolio.details.holdings
    if portfolio.priced_by == "service":
        return f"{_THEIRS}, currency not named"
    if not portfolio.priced_by or not {"unit_price", "price"} <= {*holdings}:
        return _OWN if portfolio.priced_by else ""
    used = holdings["unit_price"].notna()
    is_theirs = used.any() and (holdings["unit_price"] == holdings["price"])[used].all()
    return _THEIRS if is_theirs else _OWN


def spam_words(selected: Selected) -> str:
    """Return how much looks like spam, such as ``12 spam tokens hidden``; empty for none."""
    how = "hidden" if selected.selection.spam is False else "shown"
    return f"{many(selected.spam_tokens, 'spam token')} {how}" if selected.spam_tokens else ""


def dust_words(selected: Selected) -> str:
    """Return how much is of little value, and whether it is folded; empty for none."""
    if not selected.dust_balances:
        return ""
    small = f"{many(selected.dust_balances, 'balance')} below {money(DUST)}"
    how = "" if selected.selection.small is None else " folded"
    return f"{small}{how} ({money(selected.dust_value)} in all)"


def absence(selected: Selected) -> str:
    """Return why there is no balance: what is left out or picked, or how the wallets are."""
    wallets, selection = selected.wallets, selected.selection
    picked = selection.blockchains or selection.wallets or selection.tokens or selection.labels
    known, tokens = known_wallets(wallets), wallets["tokens"]
    others = "other tokens than are picked" if selection.tokens else "balances that were left out"
    counts = {
        "not ok": (~known).sum(),
        "without any balance": (known & (tokens == 0)).sum(),
        f"with {others}": (known & (tokens > 0)).sum(),
    }
    parts = [f"{many(int(count), 'wallet')} {what}" for what, count in counts.items() if count]
    none = "no wallet is on what is picked" if picked else "no wallet was asked for"
    advice = " Take away some of what is picked." if picked else ""
    if selected.spam_tokens and selection.spam is False:
        advice = f" {many(selected.spam_tokens, 'token')} that look like spam are hidden."
    if selected.dust_balances and selection.small is not None:
        advice += f" {many(selected.dust_balances, 'balance')} below {money(DUST)} are folded."
    return f"No balance to show: {', '.join(parts) or none}.{advice}"


def wallet_status(wallets: pd.DataFrame, holdings: pd.DataFrame | None = None) -> dict[str, Any]:
    """Return for a page how complete a fetch is, and a table of the wallets with a remark."""
    lines = [*summary_lines(wallets, holdings), *failure_lines(wallets)]
    table = wallets_table(wallets[wallets["error"].notna()], _FAILURES)
    return {
        "lines": [shown(line, _REASON) for line in lines],
        "heads": [*table.columns],
        "rows": [  # the text, and where it was shortened what it stands for
            [
                [shown(cell.text, max(cell.limit, _REASON)), shown(cell.whole or "", _WORDS)]
                for cell in row
            ]
            for row in table.rows
        ],
        "more": table.left_out,
    }
