"""A fetch with values and spam flags, computed once for all views, and the selected part of it.

Texts on the selection describe its size, its completeness, and the rows that are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.analysis.selection import Selectable
from walletframe.analysis.valuation import value
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
    value_summary,
)
from walletframe.frames.tables import wallets_table
from walletframe.numerals import counted_noun, money
from walletframe.pickers.picker import stats_of
from walletframe.pickers.table import HoldingsTable
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from walletframe.analysis.selection import Selection
    from walletframe.frames.details import WalletDetails
    from walletframe.frames.identity import KeyCodes, Mask, TokenKey
    from walletframe.frames.positions import Positions
    from walletframe.pickers.picker import OptionStats

    Prepare: TypeAlias = Callable[[pd.DataFrame], pd.DataFrame]

VALUED = ["unit_price", "value", "currency"]
DUST = 1.0  # balances of less value are small
_SERVICE_PRICES, _OWN_PRICES = "the service's prices", "prices of your own"
_FAILURES, _WORDS, _REASON = 50, 500, 300


class Portfolio(Selectable):
    """A fetch with values and spam flags: those from `prepare`, if it adds some, else computed."""

    def __init__(self, details: WalletDetails, prepare: Prepare | None = None) -> None:
        require_columns(details.wallets, WALLET_DTYPES)
        holdings = details.holdings
        self.fetched: WalletDetails = details
        self.is_prepared: bool = prepare is not None
        if prepare is not None:
            hint = "pass a function such as lambda holdings: holdings.wf.without_spam()"
            function: object = prepare
            if not callable(function):
                message = f"prepare is of type {type(prepare).__name__}, not a function"
                raise ArgumentError(message, hint)
            result: object = function(holdings.copy(deep=False))  # its changes stay in the copy
            if not isinstance(result, pd.DataFrame):
                message = f"prepare returned a {type(result).__name__}, not a DataFrame of holdings"
                raise ArgumentError(message, hint)
            holdings = result
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
        # `prepare` decides what is spam, or that nothing is.
        self.judges_spam: bool = not self.is_prepared or "is_spam" in holdings
        if not self.judges_spam:
            self.spam = np.zeros(len(holdings), dtype=bool)

    @cached_property
    def colors(self) -> dict[TokenKey, str]:
        """The colour of each token, whatever is selected."""
        return token_colors(self.held)

    def select(self, selection: Selection) -> Selected:
        """Return the selected wallets and rows, with counts of spam and small balances."""
        named, values = self.marks(selection), self.row_values
        spam = np.unique(self.held.tokens.codes[named & self.spam])
        dust, dust_value = np.zeros_like(named), 0.0
        if values is not None:  # rows without a value are not small
            dust = self.drop_spam_and_small(named, replace(selection, small=None)) & (values < DUST)
            dust_value = math.fsum(values[dust])
        marks = self.drop_spam_and_small(named, selection)
        asked, wallets = self.wallet_marks(selection), self.details.wallets
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

    def stats(self, selection: Selection, kind: str) -> dict[Any, OptionStats]:
        """Return the number and value of balances for each option of a kind that is held."""
        held, values, keys = self.held, self.row_values, list[Any]()
        marks = self.drop_spam_and_small(self.marks(selection), replace(selection, small=None))
        if kind == "tokens":
            keys, codes = held.tokens.keys, held.tokens.codes
        elif kind == "wallets":
            keys = [f"{chain}.{address}" for chain, address in held.wallet_keys]
            codes = held.wallet_codes
        else:
            keys, codes = [*held.chain_places], held.chain_codes[held.wallet_codes]
        stats = stats_of(keys, codes[marks], None if values is None else values[marks])
        return {key: one for key, one in stats.items() if one.balances and not is_unknown(key)}

    def table(self, selected: Selected) -> HoldingsTable:
        """Return a table of the selected rows, with the names, columns and order of all rows."""
        if self._table is None:
            self._table = HoldingsTable(self.held, self.wallets if self.is_complete else None)
        if selected.marks.all() and selected.wallets is self.wallets:
            return self._table
        return self._table.where(selected.marks, selected.wallets if self.is_complete else None)


@dataclass(frozen=True, slots=True)
class Selected:
    """The selected part of a portfolio, with counts of spam and small balances in it."""

    portfolio: Portfolio
    selection: Selection
    wallets: pd.DataFrame
    held: Positions
    marks: Mask  # of all rows
    spam_tokens: int
    dust_balances: int
    dust_value: float


def summarize(selected: Selected) -> dict[str, Any]:
    """Return the parts of the top line: the value of the data, its completeness and its date."""
    wallets, portfolio = selected.wallets, selected.portfolio
    known, stale = known_wallets(wallets), stale_wallets(wallets)
    text = f"{int(known.sum()):,} of {counted_noun(len(wallets), 'wallet')} known"
    if count := int(stale.sum()):
        reasons = wallets["error"][stale].dropna().unique()
        why = f" ({safe_line(str(reasons[0]), _REASON)})" if len(reasons) == 1 else ""
        text += f", {count:,} out of date{why}"
    times = wallets["fetched_at"][known].dropna()
    worth = value_summary(selected.held.holdings)
    unpriced = worth.unpriced if worth else 0
    return {
        "known": text,  # how many wallets
        "value": worth.total if worth else "",
        "prices": _price_source(portfolio),
        "as_of": f"as of {times.min():%Y-%m-%d %H:%M} UTC" if len(times) else "",
        "simulated": is_simulated(wallets),
        "unpriced": f"{counted_noun(unpriced, 'balance')} without a price"
        if unpriced
        else safe_line(portfolio.problem, _REASON),  # why there are no values
    }


def _price_source(portfolio: Portfolio) -> str:
    """Return the source of the prices; empty if there are no values."""
    holdings = portfolio.details.holdings
    if portfolio.priced_by == "service":
        return f"{_SERVICE_PRICES}, currency not named"
    if not portfolio.priced_by or not {"unit_price", "price"} <= {*holdings}:
        return _OWN_PRICES if portfolio.priced_by else ""
    used = holdings["unit_price"].notna()
    is_theirs = used.any() and (holdings["unit_price"] == holdings["price"])[used].all()
    return _SERVICE_PRICES if is_theirs else _OWN_PRICES


def spam_words(selected: Selected) -> str:
    """Return the number of spam tokens, such as ``12 spam tokens hidden``; empty for none."""
    how = "hidden" if selected.selection.spam is False else "shown"
    return (
        f"{counted_noun(selected.spam_tokens, 'spam token')} {how}" if selected.spam_tokens else ""
    )


def dust_words(selected: Selected) -> str:
    """Return the number and value of small balances, and if they are hidden; empty for none."""
    if not selected.dust_balances:
        return ""
    small = f"{counted_noun(selected.dust_balances, 'balance')} below {money(DUST)}"
    how = "" if selected.selection.small is None else " hidden"
    return f"{small}{how} ({money(selected.dust_value)} in all)"


def empty_reason(selected: Selected) -> str:
    """Return why there is no balance to show: the status of wallets, filters, or hidden rows."""
    wallets, selection = selected.wallets, selected.selection
    picked = selection.blockchains or selection.wallets or selection.tokens or selection.labels
    known, tokens = known_wallets(wallets), wallets["tokens"]
    others = "other tokens than selected" if selection.tokens else "balances that are left out"
    counts = {
        "not ok": (~known).sum(),
        "without any balance": (known & (tokens == 0)).sum(),
        f"with {others}": (known & (tokens > 0)).sum(),
    }
    parts = [
        f"{counted_noun(int(count), 'wallet')} {what}" for what, count in counts.items() if count
    ]
    none = "no wallet matches the selection" if picked else "no wallet was requested"
    advice = " Remove a part of the selection." if picked else ""
    if selected.spam_tokens and selection.spam is False:
        advice = f" Spam is hidden ({counted_noun(selected.spam_tokens, 'token')})."
    if selected.dust_balances and selection.small is not None:
        count = counted_noun(selected.dust_balances, "balance")
        advice += f" Small balances are hidden ({count} below {money(DUST)})."
    return f"No balance to show: {', '.join(parts) or none}.{advice}"


def wallet_status(
    wallets: pd.DataFrame, holdings: pd.DataFrame, tokens: KeyCodes | None = None
) -> dict[str, Any]:
    """Return the completeness of a fetch for a page, and a table of the wallets with an error."""
    lines = [*summary_lines(wallets, holdings, tokens), *failure_lines(wallets)]
    table = wallets_table(wallets[wallets["error"].notna()], _FAILURES)
    return {
        "lines": [safe_line(line, _REASON) for line in lines],
        "heads": [*table.columns],
        "rows": [  # the text, and if it was shortened, the whole text
            [
                [
                    safe_line(cell.text, max(cell.limit, _REASON)),
                    safe_line(cell.whole or "", _WORDS),
                ]
                for cell in row
            ]
            for row in table.rows
        ],
        "more": table.left_out,
    }
