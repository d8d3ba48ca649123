"""`compare_values`: changes of value between two fetches, due to prices and due to amounts.

The change due to prices is the earlier amount times the change of the price. The rest is due to
amounts, such as the whole value of a new token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.errors import InputWarning, PricesWarning
from walletframe.frames.asset_list import BRIDGED, count_bridged_versions
from walletframe.frames.coverage import (
    completeness_columns,
    dropped_and_selected_arguments,
    price_source_text,
)
from walletframe.frames.extra_columns import changed_labels_note, last_labels
from walletframe.frames.groups import by_as_list, encode_and_parse_by, make_groups
from walletframe.frames.identity import encode_tokens, encode_wallets
from walletframe.frames.known import known_and_fresh_mask
from walletframe.frames.positions import (
    HOLDERS,
    mark_na_unknown_if_single,
    mark_unable_to_hold_ok,
    read_positions,
)
from walletframe.frames.results import Coverage, with_coverage
from walletframe.frames.schema import (
    SNAPSHOT,
    concat_frames,
    missing_wallets_text,
    require_columns,
    single_currency,
    text_array,
)
from walletframe.history.changes import COMPLETE_HINT, filtered_side_note, mark_same_answers_stale
from walletframe.notice import notify
from walletframe.numerals import counted_noun, money, rounded_money
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.amounts.integers import Floats
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import DetailsLike, WalletDetails
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Mask

_DIGITS = 6  # sums of floats are not exact
_SUMMED = ["earlier", "earlier_held", "earlier_gaps", "later", "later_held", "later_gaps", "prices"]
_REASONS = (
    " only in the earlier list",
    " only in the later list",
    ", whose value is unknown at one time or both",
)
_NUMBERS = ["before", "after", "difference", "from_prices", "from_amounts"]


def compare_values(
    before: DetailsLike,
    after: DetailsLike,
    *,
    by: By = "asset",
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Split changes of value between two times into effects of prices and of amounts.

    Only balances with values at both times are compared. If a balance of `before` has no value, the
    token's price in `after` is used. Drop spam with `without_spam`.

    Parameters
    ----------
    before, after : WalletDetails or tuple of (DataFrame, DataFrame)
        The results of two fetches, or two snapshots, with values from the method `value`.
    by : str or list of str, default "asset"
        The column or columns to group by, as in `totals`.
    assets, bridged : optional
        The definition of assets, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each group. Rows are sorted by descending size of the change; unknown changes
        are last. The index is a RangeIndex. The columns are

        - the columns of `by`, as in `totals`;
        - ``before``, ``after`` (float64): the values of the compared balances. NaN if no wallet of
          the group is known at both times, or if all balances before (or after) lack a value;
        - ``difference`` (float64): the change of the value. NaN if no wallet of the group is known
          at both times, or if all balances at both times lack a value;
        - ``from_prices`` (float64): the earlier amount times the change of the price;
        - ``from_amounts`` (float64): the rest of the difference;
        - ``currency`` (str): the currency of the values; NA if none is stated;
        - ``wallets_known`` (Int64): the number of wallets that are known at both times. For groups
          by token or asset, wallets with an unknown amount are not counted;
        - ``wallets`` (Int64): the number of requested wallets of the group.

        A line below the table counts dropped and uncompared balances, and bridged versions.

    Raises
    ------
    ArgumentError
        If `before` or `after` is not the result of a fetch.
    ColumnsError
        If `after` has no values.
    PricesError
        If the values have several currencies.
    SettingsError, TokenListError, OSError
        If `by` or `assets` can't be used.
    SnapshotError
        In the same cases as `compare`.

    Warns
    -----
    InputWarning
        - If two fetches at different times returned the same cached answers.
        - If a wallet's label in a column of `by` changed. The last label is used.
    PricesWarning
        If balances of `before` are valued at the prices of `after`.

    Examples
    --------
    >>> import walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = walletframe.fetch_wallets("NEAR.alice.near", client=client)
    >>> days = [details.wf.value({("NEAR", None): price}) for price in (2, 3)]
    >>> changes = compare_values(*days, by="wallet")
    >>> (changes["difference"] == changes["from_prices"]).item()
    True
    """
    results = mark_same_answers_stale(before, after)
    require_columns(results[1].holdings, ["value"], "call after.wf.value(…) first")
    changes = diff_values(*results, by_as_list(by))
    incomplete = f"{changes.incomplete} {COMPLETE_HINT}" * bool(changes.incomplete)
    for note in filter(None, (incomplete, changes.relabelled)):
        notify(note, InputWarning)
    bridged = bridged or (BRIDGED in results[1].holdings.attrs and "asset" in by_as_list(by))
    options: dict[str, Any] = {"assets": assets, "bridged": bridged}
    if later := changes.at_later_prices:
        text = f"balances of `before` without values are valued at the prices of `after`: {later}"
        notify(f"{text}; to compare prices, call value(…) on both", PricesWarning)
    table = changes.changes_by_group(by_as_list(by), options)
    currencies = text_array([changes.currency]).repeat(len(table))
    table.insert([*table].index("wallets_known"), "currency", currencies)
    table = table.sort_values("difference", key=lambda each: -each.abs(), kind="stable")
    positions, _ = encode_and_parse_by(changes.balances, by, changes.requested, **options)
    (known, wallets), balances = changes.known_and_all_possible, len(changes.balances)
    balances -= int(np.isnan(changes.balances[["earlier_gaps", "later_gaps"]].to_numpy()).sum())
    coverage = Coverage(
        *(wallets, known, 0, balances, 0, changes.unvalued),
        **dropped_and_selected_arguments({"before": results[0], "after": results[1]}),
        bridged_separate=count_bridged_versions(positions, positions.contracts.codes),
        not_compared=changes.left_out,
        unfinished=missing_wallets_text(changes.requested.attrs),
        prices=price_source_text(changes.balances, positions.contracts),
    )
    return with_coverage(table.reset_index(drop=True), coverage)


class ComparedValues(NamedTuple):
    """The compared balances, and texts about balances that are not compared."""

    # of both times; the columns earlier, later and prices have 0 for unknown values
    balances: pd.DataFrame
    requested: pd.DataFrame  # all wallets; the status "missing" means: in one list only
    unvalued: int  # the number of balances without a value at one of the times
    left_out: str  # counts and values of wallets and balances that are not compared, and why
    at_later_prices: str  # the count and value of balances without an earlier value
    incomplete: str  # a sentence if only one result was filtered, otherwise ""
    relabelled: str  # a sentence on wallets with changed labels, or ""
    earlier_total: float  # the value of all balances of the earlier fetch
    currency: str | None

    def changes_by_group(
        self, names: Sequence[str], options: dict[str, Any], *, known_part: bool = False
    ) -> pd.DataFrame:
        """Return the labels and the change of each group. The largest change is first.

        With `known_part`, balances without values count as 0. By default, unknown changes are NaN.
        """
        positions, groups = make_groups(self.balances, names, self.requested, **options)
        counts = completeness_columns(positions, groups)
        known, asked = counts["wallets_ok"], counts["wallets_asked"]
        is_unknown = np.bincount(groups.codes, minlength=len(groups)) + np.asarray(known, int) == 0
        count, balances = len(groups), self.balances
        sums = {name: np.bincount(groups.codes, balances[name], count) for name in _SUMMED}
        sides = [
            np.where(known_part | (sums[f"{name}_held"] > 0), sums[name], sums[f"{name}_gaps"])
            for name in ("earlier", "later")
        ]
        is_compared = sums["earlier_held"] + sums["later_held"] > 0
        change = np.where(is_compared, sums["later"] - sums["earlier"], sides[1] - sides[0])
        # An unknown token can't be identified at the other time.
        is_unknown |= np.isnan(change) & np.append(positions.tokens.unknown, False)[groups.tokens]
        prices = np.where(np.isnan(change), np.nan, sums["prices"])
        numbers = zip(_NUMBERS, [*sides, change, prices, change - prices], strict=True)
        table = pd.DataFrame(dict(numbers)).round(_DIGITS).mask(pd.Series(is_unknown))
        frame = groups.labels.assign(**table, wallets_known=known, wallets=asked)
        return frame.iloc[np.argsort(-np.abs(table["difference"].to_numpy()), kind="stable")]

    @property
    def change(self) -> float:
        """The change of the compared value. NaN if no wallet is known, or if no value is known."""
        balances = self.balances
        is_known = balances[["earlier_held", "later_held"]].any(axis=None) or not self.unvalued
        change = balances["later"].sum() - balances["earlier"].sum()
        return round(change, _DIGITS) if self.known_and_all_possible[0] and is_known else np.nan

    @property
    def known_and_all_possible(self) -> tuple[int, int]:
        """How many wallets could hold a selected token: of these, the known ones, and all."""
        positions = mark_na_unknown_if_single(read_positions(self.balances, self.requested))
        can_hold = positions.wallets_able_to_hold_selection
        return int((positions.known & can_hold).sum()), int(can_hold.sum())

    def notes_text(self, currency: str) -> str:
        """Return sentences on filters, prices, the earlier total and changed labels."""
        prices = f"Valued at the later prices, for lack of earlier ones: {self.at_later_prices}."
        total, compared = map(money, (self.earlier_total, self.balances["earlier"].sum()))
        is_part = total != compared and not self.at_later_prices
        total = f"The earlier total is {total}{currency}"
        total += f"{f', of which {compared} is compared' * is_part}."
        parts = [prices] * bool(self.at_later_prices)
        parts += [total] * bool((parts or self.left_out) and not np.isnan(self.earlier_total))
        if self.unvalued and np.isnan(self.earlier_total):
            parts.append("To count unvalued balances, value `before` with the same prices.")
        return " ".join(filter(None, [self.incomplete, *parts, self.relabelled]))


def diff_values(before: WalletDetails, after: WalletDetails, by: Sequence[str]) -> ComparedValues:
    """Compare values. If a balance of `before` has no value, use the token's price in `after`."""
    earlier, later = before.holdings, after.holdings
    requested = [mark_unable_to_hold_ok(each).wallets for each in (before, after)]
    fresh = [wallets[known_and_fresh_mask(wallets)] for wallets in requested]
    frames = [frame[["blockchain", "address"]] for frame in (*fresh, earlier, later, *requested)]
    wallet_keys = encode_wallets(concat_frames(frames))
    codes = np.split(wallet_keys.codes, np.cumsum([*map(len, frames[:-1])]))
    compared = np.intersect1d(codes[0], codes[1])
    rows = concat_frames([earlier, later]).drop(columns=SNAPSHOT, errors="ignore")
    rows.attrs = {HOLDERS: later.attrs[HOLDERS]} if HOLDERS in later.attrs else {}
    holders = np.append(codes[2], codes[3])
    is_compared, is_later = np.isin(holders, compared), np.arange(len(rows)) >= len(earlier)
    tokens, amounts = encode_tokens(rows), rows["amount"].to_numpy("float64", na_value=np.nan)
    values, count = rows["value"].to_numpy("float64", na_value=np.nan), len(tokens.keys)
    priced = is_later & ~np.isnan(values) & (amounts > 0)
    sums = [np.bincount(tokens.codes[priced], each[priced], count) for each in (values, amounts)]
    with np.errstate(invalid="ignore"):  # a token without later balances has no later price
        at_later_prices = amounts * (sums[0] / sums[1])[tokens.codes]
    stated: Any = rows["currency"].dropna().unique() if "currency" in rows else []
    currencies = single_currency(stated, "values", "call value(…) with prices in one currency")
    earlier_total = pd.Series(values[~is_later]).sum(min_count=1)
    is_revalued = is_compared & ~is_later & np.isnan(values) & ~np.isnan(at_later_prices)
    values = np.where(is_later | ~np.isnan(values), values, at_later_prices)
    values[is_compared & (amounts == 0)] = 0  # at any price
    pairs = holders * count + tokens.codes
    is_unvalued = is_compared & np.isin(pairs, pairs[np.isnan(values)])
    has_no_price = is_later | is_unvalued | np.isnan(at_later_prices)
    # These columns are summed by group. Without held balances, the sum of gaps (0 or NaN) is used.
    balances = rows.assign(
        amount=rows["amount"].mask(tokens.unknown[tokens.codes]),
        prices=np.where(has_no_price, 0, at_later_prices - values),
    )
    for name, is_side in (("earlier", ~is_later), ("later", is_later)):
        balances[name] = np.where(is_side & ~is_unvalued, values, 0)
        balances[f"{name}_held"] = is_side & ~is_unvalued & (amounts > 0)
        balances[f"{name}_gaps"] = np.where(is_side & is_unvalued, np.nan, 0)
    # An unknown token can't be identified at the other time, but counts only once.
    unknown = is_unvalued & tokens.unknown[tokens.codes]
    unknown_tokens = pd.crosstab(holders[unknown], is_later[unknown]).max(axis=1)
    unvalued = len(np.unique(pairs[is_unvalued & ~unknown])) + int(unknown_tokens.sum())

    held = pairs[is_compared & ~is_later], pairs[is_compared & is_later]
    lacked = len(np.setdiff1d(held[1], held[0])), len(np.setdiff1d(held[0], held[1]))
    both = concat_frames(requested).drop(columns=SNAPSHOT, errors="ignore")
    wallet_codes = np.append(codes[4], codes[5])
    wallets = last_labels(both, wallet_codes)
    [currency] = currencies or [None]
    unit = f" {safe_line(currency, 12)} " if currency else " "
    both_times = {f"{unit}before": ~is_later, f"{unit}now": is_later}
    by_time = {text: np.where(mask, values, np.nan) for text, mask in both_times.items()}
    failed = np.setdiff1d(np.intersect1d(codes[4], codes[5]), compared)
    only_earlier, only_later, unknown_wallets = (
        _count_and_values(len(each), "wallet", np.isin(holders, each), by_time)
        for each in (np.setdiff1d(codes[4], codes[5]), np.setdiff1d(codes[5], codes[4]), failed)
    )
    parts = unknown_wallets, _count_and_values(unvalued, "balance", is_unvalued, by_time)
    texts = only_earlier, only_later, " and ".join(filter(None, parts))
    counts = zip(texts, _REASONS, strict=True)
    statuses = [np.isin(wallets.index, each) for each in (compared, failed)]
    wallets["status"] = np.select(statuses, ["ok", "failed"], "missing")
    return ComparedValues(
        balances[is_compared],
        wallets,
        unvalued,
        left_out="; ".join(f"{count}{reason}" for count, reason in counts if count),
        at_later_prices=_count_and_values(is_revalued.sum(), "balance", is_revalued, by_time),
        incomplete=filtered_side_note(before, after, lacked),
        relabelled=changed_labels_note(both, wallet_codes, by),
        earlier_total=earlier_total,
        currency=currency,
    )


def _count_and_values(count: int, noun: str, mask: Mask, by_time: Mapping[str, Floats]) -> str:
    """Return a text such as ``1 wallet (9.00 USD now)``, or "" for a count of 0."""
    known = {text: each[mask & ~np.isnan(each)] for text, each in by_time.items()}
    sums = [f"{rounded_money(each.sum())}{text}" for text, each in known.items() if len(each)]
    text = counted_noun(count, noun) + (f" ({', '.join(sums)})" if sums else "")
    return text * bool(count)
