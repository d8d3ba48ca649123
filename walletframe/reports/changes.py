"""Changes of value between two fetches, with the parts of prices and of amounts.

The part of prices is the earlier amount times the change of the price. The part of amounts is the
rest, which includes tokens that only one of the two answers lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.analysis.sums import totals_of
from walletframe.frames.contract import concat_frames
from walletframe.frames.groups import SNAPSHOT, read_groups
from walletframe.frames.identity import token_identities, wallet_identities
from walletframe.frames.known import known_and_fresh_mask
from walletframe.numerals import counted_noun, money
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.amounts.integers import Floats
    from walletframe.frames.details import WalletDetails
    from walletframe.frames.identity import Mask

_WALLET = ["blockchain", "address"]
_DIGITS = 6  # of sums of floats, whose last bits may differ
_MAX_NAMED, _NAME_LENGTH, _MIN_WHOLE = 3, 40, 100


class ValueChanges(NamedTuple):
    """The balances whose values are known at both times, and texts about the other balances."""

    balances: pd.DataFrame  # of both times, with the columns earlier, later and prices
    wallets: pd.DataFrame  # the wallets that are known at both times
    wallet_count: int  # the number of wallets that either fetch requested
    unvalued: int  # balances without a value at one of the two times
    left_out: str  # the counts and values of the other wallets and of unvalued balances
    at_later_prices: str  # the count and value of balances that lack an earlier value
    earlier_total: float  # of all balances of the earlier fetch

    def by(self, names: Sequence[str], options: dict[str, Any]) -> pd.DataFrame:
        """Return the labels and the changes of groups, the largest change first."""
        positions, groups = read_groups(self.balances, names, self.wallets, **options)
        frame = totals_of(positions, groups)[[*groups.columns, "wallets_asked"]]
        for name in ("earlier", "later", "prices"):
            sums = np.bincount(groups.codes, self.balances[name], len(groups))
            frame = frame.assign(**{name: sums.round(_DIGITS)})
        frame["change"] = (frame["later"] - frame["earlier"]).round(_DIGITS)
        frame["amounts"] = (frame["change"] - frame["prices"]).round(_DIGITS)
        return frame.iloc[(-frame["change"].abs()).argsort(kind="stable")]

    def scope(self) -> str:
        """Return how many wallets and balances the change covers, or an empty text if all."""
        wallets = f" in {len(self.wallets):,} of {counted_noun(self.wallet_count, 'wallet')}"
        balances = f", without {counted_noun(self.unvalued, 'unvalued balance')}"
        return wallets * (len(self.wallets) < self.wallet_count) + balances * bool(self.unvalued)

    def note(self, currency: str) -> str:
        """Return sentences about what is left out, the prices, and the earlier total."""
        left_out = f"The change leaves out {self.left_out} without a known value at both times."
        prices = f"At today's prices, for lack of earlier values: {self.at_later_prices}."
        total = f"The earlier total is {money(self.earlier_total)}{currency}."
        parts = [left_out] * bool(self.left_out) + [prices] * bool(self.at_later_prices)
        return " ".join(parts + [total] * bool(parts and not np.isnan(self.earlier_total)))


def value_changes(before: WalletDetails, after: WalletDetails) -> ValueChanges | None:
    """Return the changes of value, or None if the later fetch has no values.

    Earlier balances without values are valued at the later prices.
    """
    earlier, later = before.holdings, after.holdings
    if "value" not in later:
        return None
    requested = [before.wallets, after.wallets]
    fresh = [wallets[known_and_fresh_mask(wallets)] for wallets in requested]
    frames = [frame[_WALLET] for frame in (*fresh, earlier, later, *requested)]
    wallet_keys = wallet_identities(concat_frames(frames))
    codes = np.split(wallet_keys.codes, np.cumsum([*map(len, frames[:-1])]))
    compared = np.intersect1d(codes[0], codes[1])
    rows = concat_frames([earlier, later]).drop(columns=SNAPSHOT, errors="ignore")
    holders = np.append(codes[2], codes[3])
    is_compared, is_later = np.isin(holders, compared), np.arange(len(rows)) >= len(earlier)
    tokens, amounts = token_identities(rows), rows["amount"].to_numpy("float64", na_value=np.nan)
    values, count = rows["value"].to_numpy("float64", na_value=np.nan), len(tokens.keys)
    priced = is_later & ~np.isnan(values) & (amounts > 0)
    sums = [np.bincount(tokens.codes[priced], each[priced], count) for each in (values, amounts)]
    with np.errstate(invalid="ignore"):  # a token that is no longer held has no price
        at_later_prices = amounts * (sums[0] / sums[1])[tokens.codes]
    if not all("currency" in each and each["currency"].notna().any() for each in (earlier, later)):
        rows = rows.drop(columns="currency", errors="ignore")  # one of them states none
    earlier_total = pd.Series(values[~is_later]).sum(min_count=1)
    is_revalued = is_compared & ~is_later & np.isnan(values) & ~np.isnan(at_later_prices)
    values = np.where(is_revalued, at_later_prices, values)
    values[is_compared & (amounts == 0)] = 0  # at any price
    pairs = holders * count + tokens.codes
    is_unvalued = is_compared & np.isin(pairs, pairs[np.isnan(values)])
    by_prices = np.where(is_later | np.isnan(at_later_prices), 0, at_later_prices - values)
    sides = {"earlier": np.where(is_later, 0, values), "later": np.where(is_later, values, 0)}
    balances = rows.assign(**sides, prices=by_prices)[is_compared & ~is_unvalued]
    counts = len(wallet_keys.keys), len(np.unique(pairs[is_unvalued]))
    texts = [
        _count_and_values(counts[0] - len(compared), "wallet", ~is_compared, values, is_later),
        _count_and_values(counts[1], "balance", is_unvalued, values, is_later),
    ]
    revalued = _count_and_values(is_revalued.sum(), "balance", is_revalued, values, is_later)
    left_out, wallets = " and ".join(filter(None, texts)), fresh[1][np.isin(codes[1], compared)]
    return ValueChanges(balances, wallets, *counts, left_out, revalued, earlier_total)


def _count_and_values(count: int, noun: str, mask: Mask, values: Floats, is_later: Mask) -> str:
    """Return a count and its known values, such as ``1 wallet (9.00 now)``, or "" if it is 0."""
    sides = {"before": values[mask & ~is_later], "now": values[mask & is_later]}
    known = {when: side[~np.isnan(side)] for when, side in sides.items()}
    sums = [f"{_whole(side.sum())} {when}" for when, side in known.items() if len(side)]
    text = counted_noun(count, noun) + (f" ({', '.join(sums)})" if sums else "")
    return text * bool(count)


def change_sentence(by_asset: pd.DataFrame, currency: str, since: str) -> str:
    """Return a sentence about the change of the total value, and the assets that made it."""
    changed = by_asset[by_asset["change"] != 0]
    if not len(changed):
        return f"Unchanged since {since}."
    total, earlier = changed["change"].sum(), by_asset["earlier"].sum()
    named, rest = changed.head(_MAX_NAMED), changed["change"].iloc[_MAX_NAMED:]
    columns = (named[name] for name in ("asset", "change", "prices", "amounts"))
    parts = []
    for asset, change, prices, amounts in zip(*columns, strict=True):
        origin = f", of which price {_whole(prices)} and amount {_whole(amounts)}"
        if not (prices and amounts):
            origin = " (price)" if prices else " (amount)"
        parts.append(f"{safe_line(asset, _NAME_LENGTH)} {_whole(change, '+')}{origin}")
    if len(rest):
        parts.append(f"{counted_noun(len(rest), 'other asset')} {_whole(rest.sum(), '+')}")
    direction = "Up" if total >= 0 else "Down"
    share = f" ({total / earlier:+.1%})" if earlier else ""
    head = f"{direction} {_whole(abs(total))}{currency}{share} since {since}"
    return f"{head}: {'; '.join(parts)}."


def signed(value: float) -> str:
    """Return a value as money, with a sign if it is above 0."""
    return f"{'+' if value > 0 else ''}{money(value)}"


def _whole(value: float, sign: str = "") -> str:
    """Return a value without cents, unless it is small, with a sign if `sign` is ``+``."""
    if abs(value) >= _MIN_WHOLE:
        return f"{value:{sign},.0f}"
    return f"{sign if value > 0 else ''}{money(value)}"
