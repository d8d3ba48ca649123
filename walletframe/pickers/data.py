"""The data of an explorer, the selected rows, and texts about the selection."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.analysis.selection import SelectableHoldings
from walletframe.analysis.valuation import has_default_prices, has_only_service_prices, value
from walletframe.errors import ArgumentError, PricesError
from walletframe.frames import known
from walletframe.frames.coverage import table_coverage
from walletframe.frames.identity import is_unknown
from walletframe.frames.positions import Positions, read_positions
from walletframe.frames.schema import HOLDING_DTYPES, UNFINISHED, WALLET_DTYPES, require_columns
from walletframe.frames.tables import wallets_table
from walletframe.numerals import count_with_verb, counted_noun, money
from walletframe.pickers.picker import stats_by_key
from walletframe.pickers.table import HoldingsTable
from walletframe.settings.tables import table_defaults
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from walletframe.analysis.selection import Selection
    from walletframe.frames.details import WalletDetails
    from walletframe.frames.identity import Mask
    from walletframe.frames.positions import PositionsLike
    from walletframe.pickers.picker import OptionStats

    Prepare: TypeAlias = Callable[[pd.DataFrame], pd.DataFrame]

VALUE_COLUMNS = ["unit_price", "value", "currency", "price_source"]
SMALL_BELOW = 1.0  # balances with a lower value are small
_SERVICE_PRICES, _OWN_PRICES = "the service's prices", "your own prices"
_MAX_FAILURES, _MAX_FULL_TEXT, _MAX_REASON = 50, 500, 300


class ExplorerData(SelectableHoldings):
    """The result of a fetch, with values and spam flags."""

    def __init__(self, details: WalletDetails, prepare: Prepare | None = None) -> None:
        require_columns(details.wallets, WALLET_DTYPES)
        holdings = details.holdings
        self.fetched: WalletDetails = details
        if prepare is not None:
            hint = "pass a function, such as lambda holdings: holdings.wf.without_spam()"
            function: object = prepare
            if not callable(function):
                kind = type(prepare).__name__
                raise ArgumentError(f"`prepare` is of type {kind}, not a function", hint)
            prepared: object = function(holdings.copy(deep=False))  # `prepare` may add columns
            if not isinstance(prepared, pd.DataFrame):
                kind = type(prepared).__name__
                message = f"`prepare` returned a {kind}, not a DataFrame of holdings"
                raise ArgumentError(message, hint)
            holdings = prepared
        require_columns(holdings, HOLDING_DTYPES)
        self.priced_by: str = "own" if "value" in holdings else ""  # "own", "default" or ""
        self.price_problem: str = ""
        if not self.priced_by and has_default_prices(holdings):
            try:
                holdings, self.priced_by = value(holdings), "default"
            except PricesError as error:
                self.price_problem = str(error)
        super().__init__(holdings, details.wallets)
        self.details: WalletDetails = details._replace(holdings=holdings)
        self.label_columns: list[str] = [name for name in self.label_columns if name != "name"]
        self._table: HoldingsTable | None = None
        named: Any = holdings["currency"].dropna().head(1) if "currency" in holdings else []
        self.currency: str = "".join(f" {safe_line(str(name))}" for name in named)
        if not self.priced_by:
            self.row_values = None

    def select_holdings(self, selection: Selection) -> SelectedHoldings:
        """Return the selected holdings, with the numbers of spam tokens and small balances."""
        matches, values = self.mask_before_spam_and_value(selection), self.row_values
        spam = np.unique(self.held.tokens.codes[matches & self.spam_mask])
        small, small_value = np.zeros_like(matches), 0.0
        if values is not None:  # a row without a value is not small
            small = self.narrow_mask_by_spam_and_value(matches, selection._replace(small=None))
            small = small & (values < SMALL_BELOW)
            small_value = math.fsum(values[small].tolist())
        mask = self.narrow_mask_by_spam_and_value(matches, selection)
        requested, held = self.wallet_mask(selection), self.held.select_rows(mask)
        wallets = self.wallets if requested.all() else self.wallets[requested]
        encoded = self.with_wallets if held is self.held and wallets is self.wallets else held
        return SelectedHoldings(
            data=self,
            selection=selection,
            wallets=wallets,
            held=held,
            with_wallets=read_positions(encoded, wallets if self.is_complete else None),
            mask=mask,
            spam_tokens=len(spam),
            small_balances=int(small.sum()),
            small_value=small_value,
        )

    def option_stats(self, selection: Selection, filter_name: str) -> dict[Any, OptionStats]:
        """Return the stats of the options that have balances. The label filter has no stats."""
        held, values, keys = self.held, self.row_values, list[Any]()
        mask = self.narrow_mask_by_spam_and_value(
            self.mask_before_spam_and_value(selection), selection._replace(small=None)
        )
        if filter_name == "tokens":
            keys, codes = held.tokens.keys, held.tokens.codes
        elif filter_name == "wallets":
            keys = [f"{chain}.{address}" for chain, address in held.wallet_keys]
            codes = held.wallet_codes
        else:
            keys, codes = [*held.index_by_chain], held.wallet_chain_codes[held.wallet_codes]
        stats = stats_by_key(keys, codes[mask], None if values is None else values[mask])
        return {key: each for key, each in stats.items() if each.balances and not is_unknown(key)}

    def table(self, selected: SelectedHoldings) -> HoldingsTable:
        """Return a table of the selected rows."""
        if self._table is None:
            self._table = HoldingsTable(self.with_wallets)
        if selected.with_wallets is self.with_wallets:
            return self._table
        return HoldingsTable(selected.with_wallets, (self._table, selected.mask))


class SelectedHoldings(NamedTuple):
    """The selected rows of an explorer, and the numbers of spam tokens and small balances."""

    data: ExplorerData
    selection: Selection
    wallets: pd.DataFrame
    held: Positions
    with_wallets: Positions  # `held`, completed by the selected wallets without rows
    mask: Mask  # whether each row of `data` is selected
    spam_tokens: int
    small_balances: int
    small_value: float


def summary_parts(selected: SelectedHoldings) -> dict[str, Any]:
    """Return the texts of the summary line, by the name of the part."""
    wallets, data = selected.wallets, selected.data
    is_known, stale = known.known_mask(wallets), known.stale_mask(wallets)
    text = f"{count_with_verb(int(is_known.sum()), len(wallets), 'wallet')} known"
    if count := int(stale.sum()):
        reasons = wallets["error"][stale].dropna().unique()
        reason = f" ({safe_line(str(reasons[0]), _MAX_REASON)})" if len(reasons) == 1 else ""
        text += f", {count:,} out of date{reason}"
    text += " (the fetch has not finished)" * (UNFINISHED in wallets.attrs)
    times = wallets["fetched_at"][is_known].dropna()
    total_value = known.summarize_value(selected.held.holdings)
    unpriced = safe_line(data.price_problem, _MAX_REASON)  # why there are no values
    if total_value and total_value.unpriced:
        unpriced = f"{counted_noun(total_value.unpriced, 'balance')} without a price"
    return {
        "known": text,
        "value": total_value.total if total_value and not has_only_failures(data) else "",
        "prices": _price_source_text(data),
        "as_of": f"as of {times.min():%Y-%m-%d %H:%M} UTC" if len(times) else "",
        "simulated": known.is_simulated(wallets),
        "unpriced": unpriced,
    }


def _price_source_text(data: ExplorerData) -> str:
    if not data.priced_by:
        return ""
    tables = table_defaults()
    if data.priced_by == "default" and tables.prices is None and tables.currency is None:
        return f"{_SERVICE_PRICES}, currency not stated"
    return _SERVICE_PRICES if has_only_service_prices(data.details.holdings) else _OWN_PRICES


def spam_button_label(selected: SelectedHoldings) -> str:
    """Return a label such as ``Show 12 spam tokens``, or "" to hide the button."""
    if not selected.spam_tokens:
        return ""
    verb = "Show" if selected.selection.spam is False else "Hide"
    return f"{verb} {counted_noun(selected.spam_tokens, 'spam token')}"


def small_filter_label(selected: SelectedHoldings) -> str:
    """Return a label with the number and value of small balances, or "" to hide the button."""
    if not selected.small_balances:
        return ""
    verb = "Hide" if selected.selection.small is None else "Show"
    return f"{verb} {_small_balances_text(selected)} ({money(selected.small_value)} in total)"


def _small_balances_text(selected: SelectedHoldings) -> str:
    count = counted_noun(selected.small_balances, "balance")
    return f"{count} below {money(SMALL_BELOW)}{selected.data.currency}"


def has_only_failures(data: ExplorerData) -> bool:
    """Return whether all requested wallets failed."""
    wallets, holdings = data.details
    return len(wallets) > len(holdings) == 0 and not known.known_mask(wallets).any()


def empty_reason(selected: SelectedHoldings) -> str:
    """Return why no balance is shown, such as failed wallets or hidden spam."""
    wallets, selection = selected.wallets, selected.selection
    is_filtered = selection.blockchains or selection.wallets or selection.tokens or selection.labels
    is_known, tokens = known.known_mask(wallets), wallets["tokens"]
    hidden = "only tokens that are not selected" if selection.tokens else "only hidden balances"
    counts = {
        "whose balances are unknown": (~is_known).sum(),
        "without any balance": (is_known & (tokens == 0)).sum(),
        f"with {hidden}": (is_known & (tokens > 0)).sum(),
    }
    if has_only_failures(selected.data):
        return f"{'. '.join(known.failure_lines(wallets))}."
    parts = [
        f"{counted_noun(int(count), 'wallet')} {description}"
        for description, count in counts.items()
        if count
    ]
    none = "no wallet matches the selection" if is_filtered else "no wallet was requested"
    advice = " Remove some of the selected items." if is_filtered else ""
    if selected.spam_tokens and selection.spam is False:
        advice = f" Spam is hidden ({counted_noun(selected.spam_tokens, 'token')})."
    if selected.small_balances and selection.small is not None:
        advice += f" Small balances are hidden ({_small_balances_text(selected)})."
    return f"There are no balances to show: {', '.join(parts) or none}.{advice}"


def status_message(wallets: pd.DataFrame, holdings: PositionsLike) -> dict[str, Any]:
    """Return lines about the completeness of a result, and a table of wallets with errors."""
    held = holdings if isinstance(holdings, Positions) else read_positions(holdings, wallets)
    lines = [
        *known.summary_lines(wallets, held.holdings, held.tokens),
        str(table_coverage(held)),
        *known.failure_lines(wallets),
    ]
    table = wallets_table(wallets[wallets["error"].notna()], _MAX_FAILURES)
    return {
        "lines": [safe_line(line, _MAX_REASON) for line in lines],
        "heads": [*table.columns],
        "rows": [  # each cell is a pair: the text, and the full text or ""
            [
                [
                    safe_line(cell.text, max(cell.limit, _MAX_REASON)),
                    safe_line(cell.full_text or "", _MAX_FULL_TEXT),
                ]
                for cell in row
            ]
            for row in table.rows
        ],
        "more": table.left_out,
    }
