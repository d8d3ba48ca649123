"""What is said of what is selected: how much it is, how complete, what is left out and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from walletframe.frames import (
    failure_lines,
    is_simulated,
    known_wallets,
    stale_wallets,
    summary_lines,
    wallets_table,
)
from walletframe.numerals import many, money
from walletframe.pickers.portfolio import DUST, MOST_ROWS
from walletframe.text import shown

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames.tables import Cell
    from walletframe.pickers.portfolio import Portfolio, Selected, Summed

_THEIRS, _OWN = "the service's prices", "prices of your own"
ONE_BY_ONE = f"pick wallets or tokens to see single ones, up to {MOST_ROWS:,}"
_FAILURES, _WORDS, _REASON = 50, 500, 300


@dataclass(frozen=True, slots=True)
class Summary:
    """The line above everything, in words: what matters, and sentences behind it."""

    known: str  # of how many wallets
    value: str  # empty where there is none
    prices: str  # whose they are; empty where nothing is valued
    as_of: str
    simulated: bool
    unpriced: str  # what is in no value, or why nothing is; empty where all is


def summarize(selected: Selected) -> Summary:
    """Say in one line how much there is, how complete and as of when."""
    wallets, portfolio = selected.wallets, selected.portfolio
    known, stale = known_wallets(wallets), int(stale_wallets(wallets).sum())
    text = f"{int(known.sum()):,} of {many(len(wallets), 'wallet')} known"
    times = wallets["fetched_at"][known].dropna()
    found = selected.worth
    unpriced = found.unpriced if found else 0
    return Summary(
        known=text + (f", {stale:,} out of date{_why(wallets)}" if stale else ""),
        value=found.total if found else "",
        prices=_whose(portfolio),
        as_of=f"as of {times.min():%Y-%m-%d %H:%M} UTC" if len(times) else "",
        simulated=is_simulated(wallets),
        unpriced=f"{many(unpriced, 'balance')} without a price"
        if unpriced
        else shown(portfolio.problem, _REASON),
    )


def _why(wallets: pd.DataFrame) -> str:
    """Say why answers are out of date, where it is the same for all."""
    reasons = wallets["error"][stale_wallets(wallets)].dropna().unique()
    return f" ({shown(str(reasons[0]), _REASON)})" if len(reasons) == 1 else ""


def _whose(portfolio: Portfolio) -> str:
    """Say whose the prices are; empty where nothing is valued."""
    holdings = portfolio.details.holdings
    if portfolio.priced_by == "service":
        return f"{_THEIRS}, currency not named"
    if not portfolio.priced_by or not {"unit_price", "price"} <= {*holdings}:
        return _OWN if portfolio.priced_by else ""
    used = holdings["unit_price"].notna()
    is_theirs = used.any() and (holdings["unit_price"] == holdings["price"])[used].all()
    return _THEIRS if is_theirs else _OWN


def spam_words(selected: Selected) -> str:
    """Say how much looks like spam, such as ``12 spam tokens hidden``; empty for none."""
    how = "shown" if selected.selection.spam else "hidden"
    return f"{many(selected.spam_tokens, 'spam token')} {how}" if selected.spam_tokens else ""


def dust_words(selected: Selected) -> str:
    """Say how much is of little value, and whether it is folded; empty for none."""
    if not selected.dust_balances:
        return ""
    small = f"{many(selected.dust_balances, 'balance')} below {money(DUST)}"
    how = "" if selected.selection.dust else " folded"
    return f"{small}{how} ({money(selected.dust_value)} in all)"


def absence(selected: Selected) -> str:
    """Say why there is no balance: by what is left out, picked, or by what the wallets are like."""
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
    if selected.spam_tokens and not selection.spam:
        advice = f" {many(selected.spam_tokens, 'token')} that look like spam are hidden."
    if selected.dust_balances and not selection.dust:
        advice += f" {many(selected.dust_balances, 'balance')} below {money(DUST)} are folded."
    return f"No balance to show: {', '.join(parts) or none}.{advice}"


def too_many(summed: Summed) -> str:
    """Say that balances are too many for a chart, and what is to be done."""
    unvalued = "" if summed.worth else ", of which no values are known"
    return (
        f"No such chart of {many(summed.balances, 'balance')}{unvalued}; {ONE_BY_ONE}. A treemap "
        "and bars by blockchain need none, and the table has the sum of each wallet and token."
    )


def wallet_status(wallets: pd.DataFrame, holdings: pd.DataFrame | None = None) -> dict[str, Any]:
    """Return for a page how complete a fetch is, and a table of the wallets with a remark."""
    lines = [*summary_lines(wallets, holdings), *failure_lines(wallets)]
    table = wallets_table(wallets[wallets["error"].notna()], _FAILURES)
    return {
        "lines": [shown(line, _REASON) for line in lines],
        "heads": [*table.columns],
        "rows": [[_cell(cell) for cell in row] for row in table.rows],
        "more": table.left_out,
    }


def _cell(cell: Cell) -> list[str]:
    """Return the text, and where it was shortened what it stands for."""
    return [shown(cell.text, max(cell.limit, _REASON)), shown(cell.whole or "", _WORDS)]
