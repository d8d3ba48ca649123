"""Counts of known and requested wallets, for each group and for a whole table.

A wallet with an unreadable amount of a token is unknown in the counts for this token.
"""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from walletframe.amounts import AmountDtype
from walletframe.frames.asset_list import count_and_sum_omitted_bridged
from walletframe.frames.groups import KINDS
from walletframe.frames.identity import encode_wallets
from walletframe.frames.known import known_mask
from walletframe.frames.positions import (
    HOLDERS,
    mark_na_unknown_if_single,
    mark_na_wallets_unknown,
)
from walletframe.frames.results import Coverage, bridged_text
from walletframe.frames.schema import SNAPSHOT, WALLET_DTYPES, count_array, missing_wallets_text
from walletframe.numerals import counted_noun, money
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping, Sequence

    from walletframe.frames.details import WalletDetails
    from walletframe.frames.groups import Groups
    from walletframe.frames.identity import Codes, KeyCodes, Mask
    from walletframe.frames.positions import Positions

_COUNT_COLUMNS = ("wallets_ok", "wallets_stale", "wallets_asked")
SELECTED: Final = "selected"  # key in the ``attrs`` of holdings: the conditions of `where`
DROPPED: Final = "dropped"  # key in the ``attrs`` of holdings: the filters that dropped balances
SELECT_HINT: Final = "pass the same where(…) to both"
_COUNTED = ("small=", "spam=")  # conditions whose dropped balances are counted

# The kind, the number of dropped balances (None if not counted), and the description.
Filter: TypeAlias = "tuple[str, int | None, str]"


def completeness_columns(
    positions: Positions, groups: Groups, unreadable: Codes | None = None
) -> dict[str, Any]:
    """Return wallet counts of each group as columns, or {} if there is no `wallets` frame."""
    if not positions.has_wallets:
        return {}
    return _columns_of_counts(positions, count_wallets_by_state(positions, groups, unreadable))


def count_wallets_by_state(
    positions: Positions, groups: Groups, unreadable: Codes | None = None
) -> Codes:
    """Return three rows: the numbers of known, stale and requested wallets of each group."""
    if KINDS.isdisjoint(groups.names):
        return _sum_wallet_sets(_wallet_state_masks(mark_na_unknown_if_single(positions)), groups)
    states = _wallet_state_masks(positions)
    if unreadable is None:
        unreadable = count_wallets_with_unreadable_amount(positions, groups)
    counts = sum_possible_holders(positions, groups, states)
    counts[:2] -= unreadable
    return counts


def count_wallets_with_unreadable_amount(positions: Positions, groups: Groups) -> Codes:
    """Count known (row 0) and stale (row 1) wallets with an unreadable amount in each group."""
    rows = np.flatnonzero(positions.amounts._amounts().missing)  # noqa: SLF001 - our own class
    if not len(rows):
        return np.zeros((2, len(groups)), dtype=np.intp)
    stride = len(positions.wallet_keys)
    pairs = pd.unique(groups.codes[rows] * stride + positions.wallet_codes[rows])
    codes, wallets = np.divmod(pairs, stride)
    return _sum_by_code(_wallet_state_masks(positions)[:2, wallets], codes, len(groups))


def sum_possible_holders(positions: Positions, groups: Groups, counts_by_wallet: Codes) -> Codes:
    """Add up the counts of the wallets in each group that can hold the token of the group."""
    if KINDS.isdisjoint(groups.names) or not {"wallet", "blockchain"}.isdisjoint(groups.names):
        return _sum_wallet_sets(counts_by_wallet, groups)
    possible, chain_codes = positions.possible_blockchains_mask(), positions.wallet_chains_or_any
    sums = np.zeros((len(counts_by_wallet), len(groups)), dtype=np.intp)
    for code in {*chain_codes.tolist()}:
        wallets, chosen = chain_codes == code, possible[groups.tokens, code]
        sets = groups.wallet_set_codes[wallets]
        by_set = _sum_by_code(counts_by_wallet[:, wallets], sets, groups.wallet_set_count)
        sums[:, chosen] += by_set[:, groups.wallet_sets[chosen]]
    return sums


def repeat_completeness(positions: Positions, row_count: int) -> dict[str, Any]:
    """Return the counts of all wallets as columns with `row_count` equal rows."""
    counts = _wallet_state_masks(mark_na_unknown_if_single(positions)).sum(axis=1, keepdims=True)
    return _columns_of_counts(positions, counts.repeat(row_count, axis=1))


def _sum_wallet_sets(counts: Codes, groups: Groups) -> Codes:
    sums = _sum_by_code(counts, groups.wallet_set_codes, groups.wallet_set_count)
    return sums[:, groups.wallet_sets]


def _wallet_state_masks(positions: Positions) -> Codes:
    can_hold = positions.wallets_able_to_hold_selection
    return np.array([positions.known & can_hold, positions.stale & can_hold, can_hold], np.intp)


def _sum_by_code(counts: Codes, codes: Codes, size: int) -> Codes:
    rows = [np.bincount(codes, weights=row, minlength=size) for row in counts]
    return np.array(rows).astype(np.intp)


def _columns_of_counts(positions: Positions, counts: Codes) -> dict[str, Any]:
    if not positions.has_wallets:
        return {}
    return dict(zip(_COUNT_COLUMNS, map(count_array, counts), strict=True))


def coverage_from_counts(
    positions: Positions,
    balances: int,
    amount_na: int,
    unpriced: int,
    *,
    among: Mask | None = None,
    kept: int | None = None,
    **others: Any,
) -> Coverage:
    """Return the coverage: these counts of balances, and counts of the wallets in `among`."""
    counts = balances, amount_na, unpriced
    kept = balances if kept is None else kept
    filtered = count_filtered(positions, kept)
    others["selected"] = _conditions_text(positions.holdings)
    others["unknown_tokens"] = _count_omitted_unknown_tokens(positions.holdings)
    others["snapshots"] = snapshot_count(positions.wallet_frame)
    if not positions.has_wallets:
        return Coverage(0, 0, 0, *counts, *filtered, **others)
    positions, codes = mark_na_unknown_if_single(positions), positions.first
    mask = positions.wallets_able_to_hold_selection & (True if among is None else among)
    if positions.by_snapshot:  # count each wallet once
        codes = encode_wallets(positions.wallet_frame).codes[positions.first]
    requested, unknown, stale = (
        int(np.count_nonzero(np.bincount(codes[mask & each])))
        for each in (True, ~positions.known, positions.stale)
    )
    has_rows = np.bincount(positions.wallet_codes, minlength=len(mask)) > 0
    answers = positions.first[mask & (positions.known | has_rows)]
    others["as_of"] = _oldest_time(positions.wallet_frame, answers)
    others["unfinished"] = missing_wallets_text(positions.wallet_frame.attrs)
    return Coverage(requested, requested - unknown, stale, *counts, *filtered, **others)


def snapshot_count(frame: pd.DataFrame) -> int:
    """Count the distinct values of the column ``snapshot``. If it is missing, return 1."""
    return max(int(frame[SNAPSHOT].nunique()), 1) if SNAPSHOT in frame else 1


def count_filtered(positions: Positions, kept: int) -> tuple[int, str]:
    """Count the dropped balances, and list the reasons."""
    listed = int(positions.listed.sum()) if positions.has_wallets else None
    return _count_dropped(positions.holdings, kept, listed)[:2]


def dropped_count_reasons_and_kinds(details: WalletDetails) -> tuple[int, str, set[str]]:
    """Return the number of dropped balances, the reasons, and the kinds of filters.

    The kind "" means that rows were dropped without a record, for example with pandas.
    """
    wallets, holdings = details
    listed = int(wallets["tokens"][known_mask(wallets)].sum())
    count, text, kinds = _count_dropped(holdings, len(holdings), listed)
    return count, text or counted_noun(count, "dropped balance") * bool(count), kinds


def _count_dropped(
    holdings: pd.DataFrame, kept: int, listed: int | None
) -> tuple[int, str, set[str]]:
    filters, conditions = applied_filters(holdings, kept), holdings.attrs.get(SELECTED, [])
    bridged = [row for row in omitted_rows(holdings) if row.asset and filters]
    if bridged and (text := count_and_sum_bridged(bridged))[0]:
        filters.append(("bridged", sum(row.balances for row in bridged), bridged_text(*text)))
    selected = [each for each in conditions if not each.startswith(_COUNTED)]
    counted = [(n, text) for _, n, text in filters if n]
    dropped, reasons = sum(n for n, _ in counted), [text for _, text in counted]
    kinds = {kind for kind, *_ in filters}
    uncounted = sorted({kind for kind, n, _ in filters if n is None} - {SELECTED})
    kept += _count_omitted_unknown_tokens(holdings)
    filtered = dropped if listed is None else max(listed - kept, 0)
    others = {""} if filtered > dropped and not uncounted else set[str]()
    if dropped > filtered:  # the user also changed rows with pandas
        dropped, reasons = 0, []
    if filtered > dropped and (selected or dropped or uncounted):
        noun = "other " * bool(dropped and not selected) + "balance"
        causes = [f"dropped as {' or '.join(uncounted)}"] * bool(uncounted)
        causes += ["not selected"] * bool(selected and (SELECTED in kinds or not uncounted))
        rest = counted_noun(filtered - dropped, noun)
        reasons.append(" ".join([rest, ", or ".join(causes)]).strip())
    return filtered, "; ".join(reasons), kinds | others


def _count_omitted_unknown_tokens(
    holdings: pd.DataFrame, blockchains: Collection[str] | None = None
) -> int:
    chains = [row.blockchain for row in omitted_rows(holdings) if not row.asset]
    return len(chains) if blockchains is None else sum(chain in blockchains for chain in chains)


class OmittedBalances(NamedTuple):
    """Balances of one contract, omitted by `where`. Result tables count these balances."""

    blockchain: str  # of the wallet, in canonical form
    address: str  # of the wallet; "" if the row is for all wallets of the blockchain
    asset: str  # the asset of a bridged version; "" for an unknown token
    contract: str
    snapshot: str
    amount: str  # "" if unknown
    balances: int


def with_omitted_rows(record: dict[str, Any], rows: Sequence[OmittedBalances]) -> dict[str, Any]:
    """Return a copy of the record at ``attrs[HOLDERS]``, with these omitted rows."""
    return record | {"omitted": json.dumps(rows)}  # as text, since pandas deep-copies `attrs`


def omitted_rows(holdings: pd.DataFrame) -> list[OmittedBalances]:
    """Read the omitted rows from the ``attrs`` of holdings."""
    rows = holdings.attrs.get(HOLDERS, {}).get("omitted")
    return [OmittedBalances(*row) for row in json.loads(rows)] if rows else []


def count_and_sum_bridged(rows: Sequence[OmittedBalances]) -> tuple[int, str]:
    """Count and sum bridged versions above 0. The sum is "" for several assets or snapshots."""
    held = [row for row in rows if row.asset and row.amount and Decimal(row.amount) > 0]
    is_added = len({(row.asset, row.snapshot) for row in held}) <= 1
    amounts = pd.Series([row.amount for row in held], dtype=object).astype(AmountDtype())
    return len({row.contract for row in held}), format(amounts.sum(), "f") if is_added else ""


def dropped_and_selected_arguments(results: Mapping[str, WalletDetails]) -> dict[str, Any]:
    """Return arguments for `Coverage`: the dropped balances, and the conditions of `where`."""
    filtered, unknown, reasons, is_by_balance = 0, 0, list[str](), False
    for name, details in results.items():
        count, text, _ = dropped_count_reasons_and_kinds(details)
        is_by_balance |= "dropped balance" in text or "small" in text
        reasons += [f"{name}: {text.replace('; ', ', ')}" if name else text] * bool(text)
        filtered += count
        unknown += _count_omitted_unknown_tokens(details.holdings)
    hint = ", so 0 may be a dropped balance, and sums may be too low" * is_by_balance
    return {
        "filtered": filtered,
        "filtered_reasons": "; ".join(reasons) + hint,
        "unknown_tokens": unknown,
        "selected": _conditions_text(details.holdings),
    }


def drop_rows(
    holdings: pd.DataFrame, kept: Mask, reasons: Mapping[str, tuple[Mask, str]]
) -> pd.DataFrame:
    """Return the rows in the mask `kept`. In ``attrs``, record why rows were dropped."""
    filters = applied_filters(holdings, len(holdings))
    values = holdings.filter(["value", "currency", SNAPSHOT])
    for kind, (rows, text) in reasons.items():
        count = int(rows.sum())
        reason = text or count_and_value_text(count, f"{kind} balance", values[rows])
        filters.append((kind, count, reason))
    return with_filters(holdings[kept], filters, int(kept.sum()))


def applied_filters(holdings: pd.DataFrame, rows: int) -> list[Filter]:
    """Return the recorded filters, or [] if the number of rows has changed since the record."""
    record = holdings.attrs.get(DROPPED, {})
    return [*record["filters"]] if record.get("rows") == rows else []


def with_filters(holdings: pd.DataFrame, filters: Sequence[Filter], rows: int) -> pd.DataFrame:
    """Return a copy of holdings that records the filters and the number of remaining rows."""
    result = holdings.copy(deep=False)
    result.attrs[DROPPED] = {"rows": rows, "filters": filters}
    return result


def narrow_attrs(
    holdings: pd.DataFrame, wallets: Container[object], *, counts_bridged: bool = True
) -> pd.DataFrame:
    """Return a copy whose records of omitted rows and of filters apply only to `wallets`."""
    rows, omitted = len(holdings), omitted_rows(holdings)
    applied: list[Filter] = applied_filters(holdings, rows)
    kept = [row for row in omitted if row[:2] in wallets and (counts_bridged or not row.asset)]
    if any(row.asset and not (row.address and counts_bridged) for row in {*omitted} - {*kept}):
        applied.append(("bridged", None, ""))
    filters = [(kind, None, "") for kind, count, _ in applied if count != 0 or kind == SELECTED]
    result = with_filters(holdings, filters, rows)
    if record := holdings.attrs.get(HOLDERS):
        result.attrs[HOLDERS] = with_omitted_rows(record, kept)
    return result


def differing_selections_text(before: WalletDetails, after: WalletDetails) -> str:
    """Describe how the selections of two fetches differ. If equal, return an empty text."""
    conditions = [each.holdings.attrs.get(SELECTED, []) for each in (before, after)]
    if {*conditions[0]} == {*conditions[1]}:
        return ""
    texts = (", ".join(map(safe_line, each)) for each in conditions)
    states = (f"is selected by {each}" if each else "has no selection" for each in texts)
    return "the earlier fetch {}, and the later fetch {}".format(*states)


def _conditions_text(holdings: pd.DataFrame) -> str:
    return ", ".join(map(safe_line, holdings.attrs.get(SELECTED, [])))


def count_and_value_text(count: int, noun: str, rows: pd.DataFrame) -> str:
    """Return a text such as ``2 spam balances (930.00 USD)``.

    The value is left out if it is unknown, or if there are several snapshots or currencies.
    """
    is_summed = "value" in rows and snapshot_count(rows) == 1
    value: Any = rows["value"].sum(min_count=1) if is_summed else np.nan
    currencies: list[Any] = [*rows["currency"].unique()] if "currency" in rows else [""]
    text = "" if pd.isna(value) or len(currencies) > 1 else money(value)
    text += f" {currencies[0]}" if text and not pd.isna(currencies[0]) else ""
    return counted_noun(count, noun) + f" ({text.strip()})" * bool(text)


def table_coverage(
    positions: Positions, rows: Mask | None = None, among: Mask | None = None
) -> Coverage:
    """Return the coverage of a table. `rows` is a mask of rows, and `among` a mask of wallets."""
    unread, values = positions.amounts.isna(), positions.holdings.get("value")
    counted = np.ones(len(unread), dtype=bool) if rows is None else rows
    unpriced = 0 if values is None else int((values.isna().to_numpy() & ~unread & counted).sum())
    counts = int(counted.sum()), int((unread & counted).sum()), unpriced
    prices = price_source_text(positions.holdings, positions.contracts) if rows is None else ""
    return coverage_from_counts(positions, *counts, among=among, kept=len(unread), prices=prices)


def price_source_text(holdings: pd.DataFrame, tokens: KeyCodes) -> str:
    """Return a text such as ``mine.csv for 2 tokens``. If prices are not a list, return ""."""
    if "price_source" not in holdings:
        return ""
    sources = pd.Series(holdings["price_source"].array.take(tokens.first))
    counts = sources.replace("service", "the service").value_counts(sort=False)
    return ", ".join(f"{name} for {counted_noun(int(n), 'token')}" for name, n in counts.items())


def coverage_of_token(positions: Positions, index: int) -> Coverage:
    """Return the coverage of the table of one token or asset."""
    rows = positions.tokens.codes == index
    among = positions.possible_holders_mask(index)
    versions, amount = count_and_sum_omitted_bridged(positions, index)
    coverage = table_coverage(mark_na_wallets_unknown(positions, rows), rows, among)
    codes = {*positions.wallet_chain_codes[among].tolist()}
    chains = {name for name, code in positions.index_by_chain.items() if code in codes}
    unknown = count_unknown_token_balances(positions, index)
    unknown += _count_omitted_unknown_tokens(positions.holdings, chains)
    return replace(coverage, bridged=versions, bridged_amount=amount, unknown_tokens=unknown)


def count_unknown_token_balances(positions: Positions, index: int) -> int:
    """Count the balances of unknown tokens in wallets that can hold the token at `index`."""
    can_hold, rows = positions.possible_holders_mask(index), positions.tokens.unknown_rows()
    return int(can_hold[positions.wallet_codes[rows]].sum())


def _oldest_time(wallets: pd.DataFrame, rows: Codes) -> str:
    try:
        times = wallets["fetched_at"].array.take(rows)
        if times.dtype != WALLET_DTYPES["fetched_at"]:  # such as text from a file
            times = pd.to_datetime(times, utc=True, format="ISO8601")
    except (KeyError, TypeError, ValueError):
        return ""
    oldest = np.fmin.reduce(np.asarray(times, "M8[m]"), initial=np.datetime64("NaT", "m"))
    return "" if np.isnat(oldest) else f"{str(oldest).replace('T', ' ')} UTC"
