"""Totals of holdings: exact sums of groups, and the completeness of each group.

A group is complete if all wallets that could have balances in the group are known. Aggregates of
chunks can be merged only if no wallet has rows in two chunks.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from walletframe.amounts import AmountArray
from walletframe.amounts.integers import rescale
from walletframe.amounts.sums import (
    ExactFloatSums,
    concat_float_sums,
    group_sums_scale_and_counts,
    positive_mask,
    sum_floats_by_group,
)
from walletframe.frames.asset_list import combine_single_asset, count_bridged_versions
from walletframe.frames.coverage import (
    completeness_columns,
    count_wallets_with_unreadable_amount,
    coverage_from_counts,
    price_source_text,
    table_coverage,
)
from walletframe.frames.groups import KINDS, make_groups
from walletframe.frames.identity import factorize_values
from walletframe.frames.positions import HOLDERS, read_positions
from walletframe.frames.results import with_coverage
from walletframe.frames.schema import count_array, single_currency, text_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from walletframe.amounts.integers import Integers
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By, Groups
    from walletframe.frames.identity import Codes
    from walletframe.frames.positions import Positions, PositionsLike
    from walletframe.frames.results import Coverage

_INT32_LIMIT = 2**31
_CURRENCY_HINT = (
    "call value(…) with prices in one currency, or select the rows of one currency before adding up"
)

Pairs: TypeAlias = "tuple[Codes, Codes]"
"""Distinct pairs (code, member) in ascending order, as an array of codes and one of members."""


def totals(
    holdings: PositionsLike,
    by: By = "asset",
    *,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Add up holdings by asset, token, wallet or another column, and count known wallets.

    Amounts of different assets are never added up. So without ``"token"`` or ``"asset"`` in `by`,
    the result has amounts only for holdings of a single asset, as after ``where(asset="USDC")``.
    To add up values, first call the method `value`.

    Parameters
    ----------
    by : str or list of str, default "asset"
        One or more columns to group by:

        - ``"asset"``: the asset, with all its contracts in `walletframe.assets`. An unlisted token
          is an asset of its own;
        - ``"token"``: the token, identified by its blockchain and contract;
        - ``"symbol"``: as ``"token"``, but an error is raised if several tokens share a symbol;
        - ``"wallet"``: the wallet;
        - ``"blockchain"``: the blockchain of the wallet;
        - ``"snapshot"``: the time of the snapshot;
        - an extra column of `wallets`, such as ``"owner"``, or any column of these holdings.

        Rows with a missing value in the column are one group.
    wallets : DataFrame or WalletDetails, optional
        The table ``wallets`` of the same fetch, to count failed wallets. Methods of ``details.wf``
        pass it automatically.
    assets : DataFrame, str or Path, optional
        Your own contracts for grouping by asset, in a form that `walletframe.assets` accepts.
    bridged : bool, default False
        Whether an asset includes its bridged versions, such as USDC.e and WETH.

    Returns
    -------
    DataFrame
        One row for each group, in order of appearance. If `by` contains a column of `wallets`, the
        order of `wallets` takes precedence. The columns are, in this order:

        - ``token_blockchain``, ``token_address`` and ``symbol`` (str), if `by` contains
          ``"token"``: the blockchain, the contract (NA for a native coin) and the first symbol;
        - ``asset`` (str), if `by` contains ``"asset"``: the name of the asset. An unlisted token is
          named as in `token_labels`;
        - ``blockchain`` and ``address`` (str), if `by` contains ``"wallet"``: the wallet;
        - ``blockchain`` (str), if `by` contains ``"blockchain"``;
        - any other column of `by`, with its dtype. The dtypes int and bool become nullable;
        - ``amount`` (amount), if `by` contains ``"token"`` or ``"asset"``, or if all holdings are
          of a single asset: the exact sum of the known amounts; NA if no amount is known;
        - ``contracts`` and ``blockchains`` (Int64), if `by` contains ``"asset"``: the number of
          contracts with an amount above 0, and the number of their blockchains;
        - ``tokens`` (Int64), if `by` contains neither ``"token"`` nor ``"asset"``: the number of
          distinct tokens with an amount above 0;
        - ``holders`` (Int64), unless `by` contains ``"wallet"``: the number of distinct wallets
          with an amount above 0;
        - ``balances`` and ``amount_na`` (Int64): the number of rows, and the number of rows whose
          amount is unknown;
        - ``value`` (float64), if the holdings have values: the sum of the known values, rounded
          once to the nearest float64; NaN if no value is known;
        - ``currency`` (str) and ``unpriced`` (Int64), if the holdings have values: the currency,
          and the number of balances with a known amount but no value;
        - ``wallets_ok`` (Int64), if `wallets` is given: the number of known wallets in the group;
        - ``wallets_stale`` (Int64), if `wallets` is given: known wallets with out-of-date answers;
        - ``wallets_asked`` (Int64), if `wallets` is given: requested wallets in the group.

        ``contracts``, ``blockchains``, ``tokens`` and ``holders`` are NA if the group has balances,
        but no known amount.

        In a row of a token or asset, the last three columns count only wallets on a blockchain
        where the token or asset exists. Failed wallets on a blockchain that is not in
        `walletframe.blockchains` are also counted. A wallet with an unreadable amount of the token
        or asset is not counted as known.

        With `wallets`, each requested wallet (or blockchain or owner) has a row. In the row of an
        unknown wallet, only its labels and the last three columns are not NA. In the row of an
        empty wallet, amount, counts and value are 0, and the token is NA. Without holdings, a table
        by token or asset alone is empty.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `wallets` or `by` is not valid; if `wallets` lacks a wallet of these holdings; or if
        `assets` or `bridged` is given without ``"asset"``.
    TokenListError, OSError
        If `assets` can't be used.
    ColumnsError, AmountError, PricesError
        If a column is missing, ``amount`` has the wrong dtype, or values have several currencies.
    SnapshotError
        If the rows are of several snapshots, and `by` lacks ``"snapshot"``.
    AmbiguousTokenError
        With ``by="symbol"``, if several tokens share a symbol. The error lists the contracts.

    Warns
    -----
    InputWarning
        Once per session if `wallets` is not given, since holdings don't show which wallets failed.

    Examples
    --------
    >>> import walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = client.fetch(["NEAR.alice.near"])
    >>> details.wf.totals(by="wallet")[["address", "wallets_ok"]]
          address  wallets_ok
    0  alice.near           1
    >>> asked = details.wallets.assign(owner="Alice")
    >>> details.holdings.wf.totals(by="owner", wallets=asked).owner.item()
    'Alice'
    """
    return compute_totals(*make_groups(holdings, by, wallets, assets=assets, bridged=bridged))


def coverage(holdings: PositionsLike, *, wallets: FetchLike | None = None) -> Coverage:
    """Count the wallets and balances that tables of these holdings include or omit.

    Parameters
    ----------
    wallets : DataFrame or WalletDetails, optional
        The table ``wallets`` of the same fetch. Methods of ``details.wf`` pass it automatically.

    Returns
    -------
    Coverage
        The counts, as attributes. ``str`` returns the line that is shown below tables. The coverage
        of a single table is the dict ``table.attrs["coverage"]``.

    Raises
    ------
    ArgumentError, UnknownWalletError, ColumnsError, AmountError, SnapshotError
        As `totals`.

    Examples
    --------
    >>> import walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = client.fetch(["NEAR.alice.near"])
    >>> details.wf.coverage().wallets_ok
    1
    """
    return table_coverage(read_positions(holdings, wallets))


def compute_totals(positions: Positions, groups: Groups) -> pd.DataFrame:
    """Return the table of `totals`. Its rows are in the order of `groups`."""
    return build_totals_table(positions, groups, aggregate_groups(positions, groups))


def build_totals_table(positions: Positions, groups: Groups, sums: GroupAggregates) -> pd.DataFrame:
    """Build the table of `totals` from aggregates."""
    known = completeness_columns(positions, groups, sums.unreadable)
    balances, empty = sums.balances, sums.balances == 0
    unknown = empty & bool(known)
    if unknown.any():  # wallets that can't hold the selected tokens have a known 0
        unknown &= np.asarray((known["wallets_ok"] == 0) & (known["wallets_asked"] > 0))
    none_known = unknown | (~empty & (sums.known_counts == 0))
    columns, holdings = {**groups.columns}, positions.holdings
    is_single = empty.all() and holdings.attrs.get(HOLDERS, {}).get("is_single")
    is_single = is_single or KINDS & {*groups.names} or combine_single_asset(positions)
    if sums.units is not None and is_single:
        columns["amount"] = AmountArray(sums.units, none_known, sums.scale)
    counts: dict[str, Codes] = {}
    bridged_separate = 0
    if sums.contracts is not None and "asset" in groups.names:
        counts = count_contracts_by_group(positions, sums.contracts, len(groups))
        bridged_separate = count_bridged_versions(positions, positions.contracts.codes)
    elif sums.contracts is not None:
        counts = {"tokens": np.bincount(sums.contracts[0], minlength=len(groups))}
    if sums.holders is not None:
        counts["holders"] = sums.holders
    columns |= {name: count_array(count, none_known) for name, count in counts.items()}
    columns["balances"] = count_array(balances, unknown)
    columns["amount_na"] = count_array(balances - sums.known_counts, unknown)
    if sums.value_totals is not None:
        totals = sums.value_totals.totals.sums()
        totals[unknown | (~empty & (sums.value_totals.totals.sizes == 0))] = np.nan
        columns["value"] = totals
        columns["currency"] = text_array((sums.value_totals.currencies or [None]) * len(groups))
        columns["unpriced"] = count_array(sums.value_totals.unpriced, unknown)
    unpriced = 0 if sums.value_totals is None else int(sums.value_totals.unpriced.sum())
    rows, prices = int(balances.sum()), price_source_text(holdings, positions.contracts)
    unread = rows - int(sums.known_counts.sum())
    coverage = coverage_from_counts(
        positions, rows, unread, unpriced, bridged_separate=bridged_separate, prices=prices
    )
    return with_coverage(columns | known, coverage, positions)


class ValueTotals(NamedTuple):
    """The sums of values by group, and the counts of balances without a price."""

    totals: ExactFloatSums
    unpriced: Codes  # by group: the number of balances with a known amount but no value
    currencies: list[Any]  # empty, or a single currency


class GroupAggregates(NamedTuple):
    """The sums and counts of each group."""

    units: Integers | None  # the sums of known amounts; None if groups may mix assets
    scale: int
    known_counts: Codes  # the number of known amounts
    unreadable: Codes  # from `count_wallets_with_unreadable_amount`
    balances: Codes  # the number of rows
    holders: Codes | None  # the number of wallets with an amount above 0; None if not counted
    contracts: Pairs | None  # pairs (group, contract) with an amount above 0; None if not counted
    value_totals: ValueTotals | None


def aggregate_groups(
    positions: Positions, groups: Groups, *, sums_only: bool = False
) -> GroupAggregates:
    """Aggregate the rows of each group. With `sums_only`, count no wallets and no contracts."""
    amounts, count = positions.amounts._amounts(), len(groups)  # noqa: SLF001 - our own class
    units, scale, known = None, 0, groups.codes
    # Even a chunk without rows needs units, since `merge_aggregates` needs units of all chunks.
    if KINDS & {*groups.names} or not len(known) or combine_single_asset(positions):
        units, scale, sizes = group_sums_scale_and_counts(amounts, groups.codes, count)
    else:
        known = known[~amounts.missing] if amounts.missing.any() else known
        sizes = np.bincount(known, minlength=count)
    contracts, holders, unreadable = None, None, np.zeros((2, count), dtype=np.intp)
    if not sums_only:
        unreadable = count_wallets_with_unreadable_amount(positions, groups)
        held = np.flatnonzero(positive_mask(amounts))
        codes = groups.codes.take(held)
        if "asset" in groups.names or KINDS.isdisjoint(groups.names):
            contracts = distinct_pairs(codes, positions.contracts.codes.take(held))
        if "wallet" not in groups.names:
            pairs, _ = distinct_pairs(codes, positions.wallet_codes.take(held))
            holders = np.bincount(pairs, minlength=count)
    balances = np.bincount(groups.codes, minlength=count)
    values = _value_totals(positions, groups)
    return GroupAggregates(units, scale, sizes, unreadable, balances, holders, contracts, values)


def merge_aggregates(
    parts: Sequence[GroupAggregates], groups: Sequence[Codes], contracts: Sequence[Codes], size: int
) -> GroupAggregates:
    """Merge into `size` groups. `groups[n]` has the new code of each group of `parts[n]`."""
    codes = np.concatenate(groups)

    def sum_counts(counts: Sequence[Codes]) -> Codes:
        return np.bincount(codes, weights=np.concatenate(counts), minlength=size).astype(np.intp)

    scale, units, held, values = max(part.scale for part in parts), None, None, None
    exact = [rescale(part.units, part.scale, scale) for part in parts if part.units is not None]
    if len(exact) == len(parts):
        units = np.full(size, 0, dtype=object)
        np.add.at(units, codes, np.concatenate(exact))
    if pairs := [part.contracts for part in parts if part.contracts is not None]:
        mapped = [
            (group_map[pair[0]], contract_map[pair[1]])
            for group_map, contract_map, pair in zip(groups, contracts, pairs, strict=True)
        ]
        held = distinct_pairs(*map(np.concatenate, zip(*mapped, strict=True)))
    if valued := [part.value_totals for part in parts if part.value_totals is not None]:
        values = ValueTotals(
            concat_float_sums([each.totals for each in valued]).regroup(codes, size),
            sum_counts([each.unpriced for each in valued]),
            single_currency(chain(*(each.currencies for each in valued)), "values", _CURRENCY_HINT),
        )
    known = [part.holders for part in parts if part.holders is not None]
    holders = sum_counts(known) if known else None
    unreadable = np.stack([sum_counts([part.unreadable[n] for part in parts]) for n in range(2)])
    sizes = sum_counts([part.known_counts for part in parts])
    balances = sum_counts([part.balances for part in parts])
    return GroupAggregates(units, scale, sizes, unreadable, balances, holders, held, values)


def _value_totals(positions: Positions, groups: Groups) -> ValueTotals | None:
    holdings, count = positions.holdings, len(groups)
    if "value" not in holdings.columns:
        return None
    names: Any = holdings["currency"].unique() if "currency" in holdings else []
    currencies = single_currency(names, "values", _CURRENCY_HINT)
    values = holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan)
    unpriced = groups.codes[np.isnan(values) & ~positions.amounts.isna()]
    totals = sum_floats_by_group(values, groups.codes, count)
    return ValueTotals(totals, np.bincount(unpriced, minlength=count), currencies)


def count_contracts_by_group(positions: Positions, pairs: Pairs, count: int) -> dict[str, Codes]:
    """Count the contracts and their blockchains in each group."""
    chain_codes, _ = factorize_values([key[0] for key in positions.contracts.keys])
    groups_by_chain, _ = distinct_pairs(pairs[0], chain_codes[pairs[1]])
    groups = {"contracts": pairs[0], "blockchains": groups_by_chain}
    return {name: np.bincount(codes, minlength=count) for name, codes in groups.items()}


def distinct_pairs(codes: Codes, members: Codes) -> Pairs:
    """Return the distinct pairs (code, member) in ascending order."""
    stride = int(members.max(initial=0)) + 1
    is_short = (int(codes.max(initial=0)) + 1) * stride < _INT32_LIMIT  # int32 sorts twice as fast
    numbers: Codes = codes.astype(np.dtype(np.int32 if is_short else np.int64))
    numbers *= stride
    numbers += members
    pairs = sorted_unique(numbers)
    firsts = pairs // stride
    return firsts, pairs - firsts * stride


def sorted_unique(codes: Codes) -> Codes:
    """Return the distinct codes in ascending order."""
    ordered = np.sort(codes)  # four times as fast as hashing
    unique: Codes = ordered[np.append(True, ordered[1:] > ordered[:-1])[: len(ordered)]]
    return unique
