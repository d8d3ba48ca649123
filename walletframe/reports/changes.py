"""Changes of value between two fetches, with the parts of prices and of amounts.

The part of prices is the earlier amount times the change of the price. The part of amounts is the
rest, which includes tokens that only one of the two answers lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from walletframe.analysis.sums import totals_of
from walletframe.frames.contract import concat_frames
from walletframe.frames.groups import SNAPSHOT, read_groups
from walletframe.frames.identity import token_identities, wallet_identities
from walletframe.frames.known import known_and_fresh_mask
from walletframe.numerals import counted_noun, money
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from walletframe.frames.details import WalletDetails

_WALLET = ["blockchain", "address"]
_DIGITS = 6  # of sums of floats, whose last bits may differ
_MAX_NAMED, _NAME_LENGTH, _MIN_WHOLE = 3, 40, 100


class ValueChanges(NamedTuple):
    """The balances whose values are known at both times, and the numbers of those left out."""

    balances: pd.DataFrame  # of both times, with the columns earlier, later and prices
    wallets: pd.DataFrame  # the wallets that are known at both times
    unknown_wallets: int
    unvalued: int  # balances without a value at one of the two times
    at_later_prices: bool  # whether the earlier fetch has no values of its own

    def by(self, names: Sequence[str], options: dict[str, Any]) -> pd.DataFrame:
        """Return the labels and the changes of groups, the largest change first."""
        positions, groups = read_groups(self.balances, names, self.wallets, **options)
        frame = totals_of(positions, groups)[[*groups.columns]]
        for name in ("earlier", "later", "prices"):
            sums = np.bincount(groups.codes, self.balances[name], len(groups))
            frame = frame.assign(**{name: sums.round(_DIGITS)})
        frame["change"] = (frame["later"] - frame["earlier"]).round(_DIGITS)
        frame["amounts"] = (frame["change"] - frame["prices"]).round(_DIGITS)
        return frame.iloc[(-frame["change"].abs()).argsort(kind="stable")]

    def note(self) -> str:
        """Return sentences about the balances that are left out, and about the prices."""
        parts = {
            counted_noun(self.unknown_wallets, "wallet"): self.unknown_wallets,
            counted_noun(self.unvalued, "balance"): self.unvalued,
        }
        named = " and ".join(text for text, count in parts.items() if count)
        left_out = f"The change leaves out {named} without a known value at both times."
        prices = "The change is at today's prices, since the earlier balances have no values."
        return " ".join([left_out] * bool(named) + [prices] * self.at_later_prices)


def value_changes(before: WalletDetails, after: WalletDetails) -> ValueChanges | None:
    """Return the changes of value, or None if the later fetch has no values.

    An earlier fetch without values is valued at the later prices.
    """
    earlier, later = before.holdings, after.holdings
    if "value" not in later:
        return None
    fresh = [wallets[known_and_fresh_mask(wallets)] for wallets in (before.wallets, after.wallets)]
    frames = [frame[_WALLET] for frame in (*fresh, earlier, later)]
    codes = wallet_identities(concat_frames(frames)).codes
    *known, held_before, held_after = np.split(codes, np.cumsum([*map(len, frames[:-1])]))
    compared = np.intersect1d(known[0], known[1])
    wallets = fresh[1][np.isin(known[1], compared)]
    holders = np.append(held_before, held_after)
    is_compared = np.isin(holders, compared)
    both = concat_frames([earlier, later]).drop(columns=SNAPSHOT, errors="ignore")
    rows, holders = both[is_compared], holders[is_compared]
    is_later = (np.arange(len(is_compared)) >= len(earlier))[is_compared]
    tokens, amounts = token_identities(rows), rows["amount"].to_numpy("float64", na_value=np.nan)
    values, count = rows["value"].to_numpy("float64", na_value=np.nan), len(tokens.keys)
    priced = is_later & ~np.isnan(values) & (amounts > 0)
    sums = [np.bincount(tokens.codes[priced], each[priced], count) for each in (values, amounts)]
    with np.errstate(invalid="ignore"):  # a token that is no longer held has no price
        at_later_prices = amounts * (sums[0] / sums[1])[tokens.codes]
    if revalued := "value" not in earlier:
        values = np.where(is_later, values, at_later_prices)
        rows = rows.drop(columns="currency", errors="ignore")  # the earlier rows have none
    pairs = holders * count + tokens.codes
    is_valued = ~np.isin(pairs, pairs[np.isnan(values)])
    by_prices = np.where(is_later | np.isnan(at_later_prices), 0, at_later_prices - values)
    balances = rows.assign(
        earlier=np.where(is_later, 0, values),
        later=np.where(is_later, values, 0),
        prices=by_prices,
    )[is_valued]
    missing = len(after.wallets) - len(wallets)
    return ValueChanges(balances, wallets, missing, int((~is_valued).sum()), revalued)


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
