"""Totals of holdings: exact sums of groups, and the completeness of each group.

A group is complete if all wallets that could hold some of it are known. Aggregates of disjoint sets
of wallets can be merged, if all rows of a wallet are in the same one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.integers import rescale
from walletframe.amounts.sums import (
    FloatTotals,
    float_totals,
    group_sums,
    is_positive,
    joined_totals,
)
from walletframe.errors import PricesError
from walletframe.frames.contract import count_array, text_array
from walletframe.frames.coverage import completeness, count_unreadable_wallets
from walletframe.frames.groups import ADDED, read_groups
from walletframe.pandas_versions import factorized

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from walletframe.amounts.integers import Integers
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By, Groups
    from walletframe.frames.identity import Codes
    from walletframe.frames.positions import Positions, PositionsLike

_SHORT = 2**31

Pairs: TypeAlias = "tuple[Codes, Codes]"
"""Pairs of a code and a member, each pair once, ascending."""


def totals(
    holdings: PositionsLike,
    by: By = "token",
    *,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Add up by token, asset, wallet, owner or any other label, and count the known wallets.

    Amounts of different tokens are never added, except contracts of the same asset: without
    ``"token"`` or ``"asset"`` in `by` there are only counts and, after `value`, values.

    Parameters
    ----------
    by : str or list of str, default "token"
        ``"token"``, ``"asset"``, ``"wallet"``, ``"blockchain"`` (that of the wallet),
        ``"snapshot"``, a column of yours that `wallets` kept, such as ``"owner"``, or any
        column of these holdings. A token is identified by blockchain and contract;
        ``"symbol"`` does the same, but raises if tokens share a symbol. ``"asset"`` combines
        the contracts that `walletframe.assets` lists as the same asset; any other token is an
        asset of its own. Rows without a label are a group of their own.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch: then failed wallets are counted. ``details.wf`` has
        them.
    assets : DataFrame, str or Path, optional
        By asset: contracts of your own, as `walletframe.assets` takes them.
    bridged : bool, default False
        By asset: whether bridged versions count, such as USDC.e and WETH.

    Returns
    -------
    DataFrame
        One row for each group, in the order of `wallets` if grouped by a property of wallets,
        then in the order of the first row. Its columns, in this order:

        - ``token_blockchain``, ``token_address`` (NA for a native coin), ``symbol`` (as the
          first row has it), str; by token;
        - ``asset``, str; by asset: its name; for an unlisted token its name as in
          `token_labels`, with the contract if its symbol is the name of an asset;
        - ``blockchain``, ``address``, str; by wallet; ``blockchain``; by blockchain;
        - any other column of `by`, with its dtype (int and bool become nullable dtypes);
        - ``amount``, amount; by token or asset: the exact sum of the known amounts, NA if
          none is known;
        - ``contracts``, ``blockchains``, Int64; by asset: the number of its contracts held
          with more than 0, and of their blockchains;
        - ``tokens``, Int64; by neither: distinct tokens held with more than 0;
        - ``holders``, Int64; not by wallet: distinct wallets that hold more than 0 of anything
          in the group; both NA if there are balances and all amounts are unknown;
        - ``balances``, ``amount_na``, Int64: rows, and rows whose amount is unknown;
        - ``value``, float64; after `value`: the float64 nearest to the sum of the known
          values, NaN if none is known;
        - ``currency``, str, and ``unpriced``, Int64; with ``value``: its currency, and the
          number of balances with a known amount and no value;
        - ``wallets_ok``, ``wallets_stale``, ``wallets_asked``, Int64; with `wallets`: the known
          wallets of the group, those of them whose answer is out of date, and all its requested
          wallets. By token only wallets on its blockchain, or on one where a wallet holds it,
          are counted; by asset those on the blockchains of its contracts. By token or asset, a
          wallet is not known if it has an unreadable amount of it, or a balance of an unknown
          token, which may be this one.

        With `wallets`, each requested wallet (blockchain, owner) has a row. If none of its
        balances are known, all but these three columns are NA. If it holds nothing, counts and
        value are 0, and the token is NA if grouped by token, too. No rows give no groups.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `wallets` or `by` is not one of these, `wallets` lacks the wallet of a row, or `assets`
        or `bridged` is given without ``"asset"``.
    TokenListError, OSError
        If `assets` can't be used.
    ColumnsError, AmountError, PricesError
        If a column is missing, ``amount`` holds no amounts, or values have several currencies.
    AmbiguousTokenError
        By symbol, if several tokens share one: it names their contracts.

    Warns
    -----
    InputWarning
        Once in a session, if there are no `wallets`: completeness is unknown without them.

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
    return totals_of(*read_groups(holdings, by, wallets, assets=assets, bridged=bridged))


def totals_of(positions: Positions, groups: Groups) -> pd.DataFrame:
    """Return the table that `totals` returns; by token alone, in the order of the tokens."""
    return totals_table(positions, groups, aggregate_groups(positions, groups))


def totals_table(positions: Positions, groups: Groups, sums: GroupAggregates) -> pd.DataFrame:
    """Make the table of `totals` from aggregates."""
    known = completeness(positions, groups, sums.unreadable)
    balances, empty = sums.balances, sums.balances == 0
    unknown = empty & (np.asarray(known["wallets_ok"] == 0) if known else False)
    none_known = unknown | (~empty & (sums.sizes == 0))
    columns: dict[str, Any] = {**groups.columns}
    if sums.units is not None:
        columns["amount"] = AmountArray(sums.units, sums.sizes == 0, sums.scale)
    counts: dict[str, Codes] = {}
    if sums.contracts is not None and "asset" in groups.names:
        counts = contract_counts(positions, sums.contracts, len(groups))
    elif sums.contracts is not None:
        counts = {"tokens": np.bincount(sums.contracts[0], minlength=len(groups))}
    if sums.holders is not None:
        counts["holders"] = sums.holders
    columns |= {name: count_array(count, none_known) for name, count in counts.items()}
    columns["balances"] = count_array(balances, unknown)
    columns["amount_na"] = count_array(balances - sums.sizes, unknown)
    if sums.value_totals is not None:
        totals = sums.value_totals.totals.sums()
        totals[unknown | (~empty & (sums.value_totals.totals.sizes == 0))] = np.nan
        columns["value"] = totals
        columns["currency"] = text_array((sums.value_totals.currencies or [None]) * len(groups))
        columns["unpriced"] = count_array(sums.value_totals.unpriced, unknown)
    return pd.DataFrame({**columns, **known})


@dataclass(frozen=True, slots=True)
class ValueTotals:
    """The totals of values of groups, and the counts of balances without a value."""

    totals: FloatTotals
    unpriced: Codes  # of each group, its balances with a known amount and no value
    currencies: list[Any]  # one at most


@dataclass(frozen=True, slots=True)
class GroupAggregates:
    """The sums and counts of each group."""

    units: Integers | None  # the sums of known amounts; None if tokens differ within a group
    scale: int
    sizes: Codes  # counts of known amounts
    unreadable: Codes  # as `count_unreadable_wallets` returns
    balances: Codes  # counts of rows
    holders: Codes | None  # counts of wallets with more than 0; None by wallet, or for sums only
    contracts: Pairs | None  # a group and a contract held with more than 0; None by token
    value_totals: ValueTotals | None


def aggregate_groups(
    positions: Positions, groups: Groups, *, sums_only: bool = False
) -> GroupAggregates:
    """Aggregate the rows of each group; with `sums_only`, only sums of amounts and row counts."""
    amounts, count = positions.amounts._amounts(), len(groups)  # noqa: SLF001 - of ours
    units, scale, known = None, 0, groups.codes
    if ADDED.isdisjoint(groups.names):
        known = known[~amounts.missing] if amounts.missing.any() else known
        sizes = np.bincount(known, minlength=count)
    else:
        units, scale, sizes = group_sums(amounts, groups.codes, count)
    contracts, holders, unreadable = None, None, np.zeros((2, count), dtype=np.intp)
    if not sums_only:
        unreadable = count_unreadable_wallets(positions, groups)
        held = np.flatnonzero(is_positive(amounts))
        codes = groups.codes[held]
        if "asset" in groups.names or ADDED.isdisjoint(groups.names):
            contracts = distinct_pairs(codes, positions.contracts.codes[held])
        if "wallet" not in groups.names:
            pairs, _ = distinct_pairs(codes, positions.wallet_codes[held])
            holders = np.bincount(pairs, minlength=count)
    balances = np.bincount(groups.codes, minlength=count)
    values = None if sums_only else _value_totals(positions, groups)
    return GroupAggregates(units, scale, sizes, unreadable, balances, holders, contracts, values)


def merge_aggregates(
    parts: Sequence[GroupAggregates], ids: Sequence[Codes], contracts: Sequence[Codes], count: int
) -> GroupAggregates:
    """Merge aggregates; `ids` and `contracts` map each part's groups and contracts to all those."""
    codes = np.concatenate(ids)

    def merge_counts(counts: Sequence[Codes]) -> Codes:
        weights = np.concatenate(counts)
        return np.bincount(codes, weights=weights, minlength=count).astype(np.intp)

    scale, units, held, values = max(part.scale for part in parts), None, None, None
    if exact := [
        rescale(part.units, part.scale, scale) for part in parts if part.units is not None
    ]:
        units = np.full(count, 0, dtype=object)
        np.add.at(units, codes, np.concatenate(exact))
    if pairs := [part.contracts for part in parts if part.contracts is not None]:
        maps = zip(ids, contracts, pairs, strict=True)
        mapped = [(groups[pair[0]], members[pair[1]]) for groups, members, pair in maps]
        held = distinct_pairs(*map(np.concatenate, zip(*mapped, strict=True)))
    if valued := [part.value_totals for part in parts if part.value_totals is not None]:
        values = ValueTotals(
            joined_totals([each.totals for each in valued]).regrouped(codes, count),
            merge_counts([each.unpriced for each in valued]),
            _one_currency(name for each in valued for name in each.currencies),
        )
    known = [part.holders for part in parts if part.holders is not None]
    holders = merge_counts(known) if known else None
    unreadable = np.stack([merge_counts([part.unreadable[n] for part in parts]) for n in range(2)])
    sizes = merge_counts([part.sizes for part in parts])
    balances = merge_counts([part.balances for part in parts])
    return GroupAggregates(units, scale, sizes, unreadable, balances, holders, held, values)


def _value_totals(positions: Positions, groups: Groups) -> ValueTotals | None:
    """Sum the values of holdings, which have one currency; None without values."""
    holdings, count = positions.holdings, len(groups)
    if "value" not in holdings.columns:
        return None
    currencies = _one_currency(holdings["currency"].unique() if "currency" in holdings else [])
    values = holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan)
    unpriced = groups.codes[np.isnan(values) & ~positions.amounts.isna()]
    totals = float_totals(values, groups.codes, count)
    return ValueTotals(totals, np.bincount(unpriced, minlength=count), currencies)


def _one_currency(named: Iterable[Any]) -> list[Any]:
    """Return a list of the one currency, nan if it is missing; an empty list without values."""
    currencies = list(dict.fromkeys(np.nan if pd.isna(name) else name for name in named))
    if len(currencies) > 1:
        raise PricesError(
            f"the values are in {len(currencies)} currencies: {currencies}",
            hint="value all holdings in one currency, or add up each currency's rows separately",
        )
    return currencies


def contract_counts(positions: Positions, held: Pairs, count: int) -> dict[str, Codes]:
    """Count the contracts that each group holds with more than 0, and their blockchains."""
    chains = np.array([key[0] for key in positions.contracts.keys], dtype=object)
    of_chains, _ = distinct_pairs(held[0], factorized(chains)[0][held[1]])
    groups = {"contracts": held[0], "blockchains": of_chains}
    return {name: np.bincount(codes, minlength=count) for name, codes in groups.items()}


def distinct_pairs(codes: Codes, members: Codes) -> Pairs:
    """Return each pair of a code and a member once, ascending."""
    stride = int(members.max(initial=0)) + 1
    is_short = (int(codes.max(initial=0)) + 1) * stride < _SHORT  # int32 sorts twice as fast
    numbers: Codes = codes.astype(np.dtype(np.int32 if is_short else np.int64))
    numbers *= stride
    numbers += members
    pairs = sorted_unique(numbers)
    firsts = pairs // stride
    return firsts, pairs - firsts * stride


def sorted_unique(codes: Codes) -> Codes:
    """Return each number once, ascending; sorting is four times as fast as hashing."""
    ordered = np.sort(codes)
    unique: Codes = ordered[np.append(True, ordered[1:] > ordered[:-1])[: len(ordered)]]
    return unique
