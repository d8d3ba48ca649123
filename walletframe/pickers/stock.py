"""What a fetch is worth, and which of it is spam or dust: decided once, for many views."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from walletframe.analysis import flag_spam, value
from walletframe.charts import token_colors
from walletframe.errors import PricesError
from walletframe.frames import (
    HOLDING_DTYPES,
    WALLET_DTYPES,
    given_names,
    is_simulated,
    known_wallets,
    read_positions,
    require_columns,
    stale_wallets,
    wallet_identities,
    worth,
)
from walletframe.numerals import many, money
from walletframe.pickers.labels import grouping_columns
from walletframe.pickers.selection import Selection, among, chosen, labelled, prepared

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames import Mask, Positions, WalletDetails
    from walletframe.pickers.selection import Prepare

SERVICE_PRICES = "the service's prices, currency not named"
VALUED = ["unit_price", "value", "currency"]


class Stock:
    """A fetch, valued and judged once, prepared for many selections.

    Values and judgement are those of `prepare` where it gives some, else by prices and rules.
    """

    def __init__(self, details: WalletDetails, prepare: Prepare | None = None) -> None:
        require_columns(details.wallets, WALLET_DTYPES)
        holdings, self.fetched, self.prepare = details.holdings, details, prepare
        if prepare is not None:
            holdings = prepared(holdings, prepare)
        require_columns(holdings, HOLDING_DTYPES)
        self.priced_by = "own" if "value" in holdings else ""
        self.problem = ""
        if not self.priced_by and holdings["price"].notna().any():
            try:
                holdings, self.priced_by = value(holdings), "service"
            except PricesError as error:
                self.problem = str(error)
        self.details = details._replace(holdings=holdings)
        self.groups = grouping_columns(details.wallets)
        self.asked_keys = wallet_identities(details.wallets)
        self.held = read_positions(holdings)
        self.colors = token_colors(self.held)
        self.names = given_names(self.held.wallets, details.wallets)
        self.spam = self._judge(holdings)
        found = holdings["value"].to_numpy(np.float64, na_value=np.nan) if self.priced_by else None
        self.worth = found

    def _judge(self, holdings: pd.DataFrame) -> Mask:
        if "is_spam" not in holdings:
            if self.prepare is not None:  # whoever prepares holdings decides what is in them
                return np.zeros(len(holdings), dtype=bool)
            holdings = flag_spam(holdings)
        return np.asarray(holdings["is_spam"].fillna(value=False).to_numpy(dtype=bool))

    def asked(self, selection: Selection) -> pd.DataFrame:
        """Return the wallets that are selected."""
        asked = self.asked_marks(selection)
        wallets = self.details.wallets
        return wallets if asked.all() else wallets[asked]

    def asked_marks(self, selection: Selection) -> Mask:
        """Mark the rows of wallets that are selected."""
        asked = chosen(self.asked_keys.keys, selection)[self.asked_keys.codes]
        return np.asarray(asked & labelled(self.details.wallets, selection.labels))

    def marks(self, selection: Selection) -> Mask:
        """Mark the rows of holdings that are selected."""
        held, asked = self.held, self.asked_keys
        owned = chosen(held.wallet_keys, selection)[held.wallet_codes]
        if selection.labels:
            rows = asked.codes[labelled(self.details.wallets, selection.labels)]
            keys = [asked.keys[code] for code in rows.tolist()]
            owned &= among(held.wallet_keys, keys)[held.wallet_codes]
        if selection.tokens:
            owned &= among(held.tokens.keys, selection.tokens)[held.tokens.codes]
        return owned


@dataclass(frozen=True, slots=True)
class Sieve:
    """What is left out of what is selected."""

    spam: bool = True
    dust: bool = False  # balances whose value is below the limit
    limit: float = 1.0


@dataclass(frozen=True, slots=True)
class Sifted:
    """What is selected, and how much of it is left out, or would be."""

    wallets: pd.DataFrame
    held: Positions
    marks: Mask  # of all rows
    spam_tokens: int
    spam_balances: int
    dust_balances: int
    dust_value: float


def sift(stock: Stock, selection: Selection, sieve: Sieve) -> Sifted:
    """Choose rows of a fetch."""
    marks = stock.marks(selection)
    spam = marks & stock.spam
    if sieve.spam:
        marks = marks & ~stock.spam
    small = np.zeros_like(marks)
    if stock.worth is not None:  # what has no value is not known to be small
        small = marks & (stock.worth < sieve.limit)
    if sieve.dust:
        marks = marks & ~small
    return Sifted(
        wallets=stock.asked(selection),
        held=stock.held.where(marks),
        marks=marks,
        spam_tokens=len(np.unique(stock.held.tokens.codes[spam])),
        spam_balances=int(spam.sum()),
        dust_balances=int(small.sum()),
        dust_value=math.fsum(stock.worth[small])
        if small.any() and stock.worth is not None
        else 0.0,
    )


def without_values(held: Positions) -> Positions:
    """Return the same balances, which then are counted, or drawn by their amounts."""
    holdings = held.holdings
    return replace(held, holdings=holdings.drop(columns=VALUED, errors="ignore"))


@dataclass(frozen=True, slots=True)
class Summary:
    """The line above everything, in words: what matters, and sentences behind it."""

    known: str  # of how many wallets
    value: str  # empty where there is none
    prices: str  # whose they are; empty where nothing is valued
    as_of: str
    simulated: bool
    unpriced: str  # how many balances are in no value; empty where all are


def summarize(stock: Stock, sifted: Sifted) -> Summary:
    """Say in one line how much there is, how complete and as of when."""
    wallets, holdings = sifted.wallets, sifted.held.holdings
    known, stale = known_wallets(wallets), int(stale_wallets(wallets).sum())
    text = f"{int(known.sum()):,} of {many(len(wallets), 'wallet')} known"
    text += f", {stale:,} out of date" if stale else ""
    times = wallets["fetched_at"][known].dropna()
    found = worth(holdings)
    unpriced = found.unpriced if found else 0
    return Summary(
        known=text,
        value=found.total if found else "",
        prices={"service": SERVICE_PRICES, "own": "prices of your own"}.get(stock.priced_by, ""),
        as_of=f"as of {times.min():%Y-%m-%d %H:%M} UTC" if len(times) else "",
        simulated=is_simulated(wallets),
        unpriced=f"{many(unpriced, 'balance')} without a price" if unpriced else "",
    )


def spam_words(sifted: Sifted, sieve: Sieve) -> str:
    """Say how much looks like spam, such as ``12 spam tokens hidden``; empty for none."""
    how = "hidden" if sieve.spam else "shown"
    return f"{many(sifted.spam_tokens, 'spam token')} {how}" if sifted.spam_tokens else ""


def dust_words(sifted: Sifted, sieve: Sieve) -> str:
    """Say how much is of little value, and whether it is folded; empty for none."""
    if not sifted.dust_balances:
        return ""
    small = f"{many(sifted.dust_balances, 'balance')} below {money(sieve.limit)}"
    how = " folded" if sieve.dust else ""
    return f"{small}{how} ({money(sifted.dust_value)} in all)"
