"""Totals of holdings: cut into groups, added up exactly, and how complete each group is.

A group is as complete as the wallets are known that could have held something of it. Tallies of
different wallets add up to that of all, if each wallet is in one with all of its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.integers import rescale
from walletframe.amounts.sums import FloatTotals, added, float_totals, joined_totals, positive
from walletframe.errors import PricesError
from walletframe.frames.contract import count_array, text_array
from walletframe.frames.coverage import completeness, unread_wallets
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
"""Codes and their members, each pair once, ascending."""


def totals(
    holdings: PositionsLike,
    by: By = "token",
    *,
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Add up by token, asset, wallet, owner or whatever you know, and say how complete that is.

    Amounts of different tokens are never added, but for contracts of the same asset: without
    ``"token"`` or ``"asset"`` in `by` there are counts and, after `value`, values.

    Parameters
    ----------
    by : str or list of str, default "token"
        ``"token"``, ``"asset"``, ``"wallet"``, ``"blockchain"`` (that of the wallet),
        ``"snapshot"``, a column of yours that `wallets` kept, such as ``"owner"``, or any
        column of these holdings. A token is identified by blockchain and contract;
        ``"symbol"`` does the same, but raises if tokens share a symbol. ``"asset"`` puts
        together the contracts that `walletframe.assets` lists as the same asset; any other
        token is an asset of its own. What has no label is a group of its own.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch: then failed wallets are counted. ``details.wf`` has
        them.
    assets : DataFrame, str or Path, optional
        By asset: contracts of your own, as `walletframe.assets` takes them.
    bridged : bool, default False
        By asset: whether twins count, such as USDC.e and WETH.

    Returns
    -------
    DataFrame
        One row for each group: by what is known of wallets in the order of `wallets`, else of
        the first row, then in the order of the first row. Its columns, in this order:

        - ``token_blockchain``, ``token_address`` (NA for a native coin), ``symbol`` (as the
          first row has it), str; by token;
        - ``asset``, str; by asset: its name, or that of a token of its own as in
          `token_labels`, with the contract where it bears the name of an asset;
        - ``blockchain``, ``address``, str; by wallet; ``blockchain``; by blockchain;
        - any other column of `by`, with its dtype (int and bool as those that can be NA);
        - ``amount``, amount; by token or asset: the exact sum of the known amounts, NA where
          none is;
        - ``contracts``, ``blockchains``, Int64; by asset: of how many contracts on how many
          blockchains more than 0 is held;
        - ``tokens``, Int64; by neither: distinct tokens of which more than 0 is held;
        - ``holders``, Int64; not by wallet: distinct wallets that hold more than 0 of anything
          in the group; both NA where there are balances and all amounts are unknown;
        - ``balances``, ``amount_na``, Int64: rows, and those whose amount is unknown;
        - ``value``, float64; behind `value`: the float64 nearest to the sum of the known
          values, NaN where none is;
        - ``currency``, str, and ``unpriced``, Int64; with ``value``: balances of a known
          amount without a value;
        - ``wallets_ok``, ``wallets_stale``, ``wallets_asked``, Int64; with `wallets`: how many
          of the group's wallets (by token: of those on its own blockchain, and on all where
          one holds it; by asset: of those on the blockchains of all its contracts) are known,
          and how many of those as of an out-of-date answer. By token or asset, a wallet is not
          known that has an unreadable amount of it, or a balance of an unknown token, which may
          be any.

        With `wallets`, each wallet (blockchain, owner) asked has a row: NA but for these three
        columns where none of its balances are known; counts and value 0 where it holds nothing,
        with NA for the token, if asked by token too. No rows give no groups.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `wallets` or `by` is something else, `wallets` lacks the wallet of a row, or `assets`
        or `bridged` is given without ``"asset"``.
    TokenListError, OSError
        If `assets` can't be used.
    ColumnsError, AmountError, PricesError
        If a column is missing, ``amount`` holds no amounts, or values have several currencies.
    AmbiguousTokenError
        By symbol, where several tokens share one: it names their contracts.

    Warns
    -----
    InputWarning
        Once in a session, if there are no `wallets`: how complete that is can't be told.

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
    """Add up as `totals` does; by token alone, in the order of ``positions.tokens``."""
    return totals_table(positions, groups, tally_of(positions, groups))


def totals_table(positions: Positions, groups: Groups, tally: Tally) -> pd.DataFrame:
    """Show what groups came to; NA where nothing is known of one."""
    known = completeness(positions, groups, tally.unread)
    balances, none = tally.balances, tally.balances == 0
    unknown = none & (np.asarray(known["wallets_ok"] == 0) if known else False)
    none_known = unknown | (~none & (tally.sizes == 0))
    columns: dict[str, Any] = {**groups.columns}
    if tally.units is not None:
        columns["amount"] = AmountArray(tally.units, tally.sizes == 0, tally.scale)
    counts: dict[str, Codes] = {}
    if tally.held is not None and "asset" in groups.names:
        counts = spread(positions, tally.held, len(groups))
    elif tally.held is not None:
        counts = {"tokens": np.bincount(tally.held[0], minlength=len(groups))}
    if tally.holders is not None:
        counts["holders"] = tally.holders
    columns |= {name: count_array(found, none_known) for name, found in counts.items()}
    columns["balances"] = count_array(balances, unknown)
    columns["amount_na"] = count_array(balances - tally.sizes, unknown)
    if tally.worth is not None:
        summed = tally.worth.totals.sums()
        summed[unknown | (~none & (tally.worth.totals.sizes == 0))] = np.nan
        columns["value"] = summed
        columns["currency"] = text_array((tally.worth.currencies or [None]) * len(groups))
        columns["unpriced"] = count_array(tally.worth.unpriced, unknown)
    return pd.DataFrame({**columns, **known})


@dataclass(frozen=True, slots=True)
class Worth:
    """The values of g groups, and how many balances of a known amount have none."""

    totals: FloatTotals
    unpriced: Codes
    currencies: list[Any]  # one at most


@dataclass(frozen=True, slots=True)
class Tally:
    """What n rows add up to in g groups."""

    units: Integers | None  # of each group the sum of its known amounts, if these add up
    scale: int
    sizes: Codes  # how many of its amounts are known
    unread: Codes  # of how many wallets, and stale ones, an amount is not, as `unread_wallets` says
    balances: Codes  # how many rows it has
    holders: Codes | None  # how many wallets hold more than 0 there; None by wallet, or not asked
    held: Pairs | None  # of a group and a contract of which it holds more than 0; None by token
    worth: Worth | None


def tally_of(positions: Positions, groups: Groups, *, owned: bool = True) -> Tally:
    """Add up the rows of each group; the sums alone, where nobody asks whose rows these are."""
    amounts, count = positions.amounts._amounts(), len(groups)  # noqa: SLF001 - of ours
    units, scale, known = None, 0, groups.codes
    if ADDED.isdisjoint(groups.names):
        known = known[~amounts.missing] if amounts.missing.any() else known
        sizes = np.bincount(known, minlength=count)
    else:
        units, scale, sizes = added(amounts, groups.codes, count)
    members, holders, unread = None, None, np.zeros((2, count), dtype=np.intp)
    if owned:
        unread = unread_wallets(positions, groups)
        held = np.flatnonzero(positive(amounts))
        codes = groups.codes[held]
        if "asset" in groups.names or ADDED.isdisjoint(groups.names):
            members = distinct_pairs(codes, positions.contracts.codes[held])
        if "wallet" not in groups.names:
            owners, _ = distinct_pairs(codes, positions.wallet_codes[held])
            holders = np.bincount(owners, minlength=count)
    balances = np.bincount(groups.codes, minlength=count)
    worth = _worth(positions, groups) if owned else None
    return Tally(units, scale, sizes, unread, balances, holders, members, worth)


def merged(
    tallies: Sequence[Tally], ids: Sequence[Codes], contracts: Sequence[Codes], count: int
) -> Tally:
    """Add up tallies, whose groups and contracts have these numbers, tally by tally, among all."""
    codes = np.concatenate(ids)

    def counted(counts: Sequence[Codes]) -> Codes:
        weights = np.concatenate(counts)
        return np.bincount(codes, weights=weights, minlength=count).astype(np.intp)

    scale, units, held, worth = max(tally.scale for tally in tallies), None, None, None
    if exact := [
        rescale(each.units, each.scale, scale) for each in tallies if each.units is not None
    ]:
        units = np.full(count, 0, dtype=object)
        np.add.at(units, codes, np.concatenate(exact))
    if pairs := [each.held for each in tallies if each.held is not None]:
        own = zip(ids, contracts, pairs, strict=True)
        numbers = [(mine[each[0]], members[each[1]]) for mine, members, each in own]
        held = distinct_pairs(*map(np.concatenate, zip(*numbers, strict=True)))
    if worths := [each.worth for each in tallies if each.worth is not None]:
        worth = Worth(
            joined_totals([each.totals for each in worths]).regrouped(codes, count),
            counted([each.unpriced for each in worths]),
            _one_currency(name for each in worths for name in each.currencies),
        )
    known = [each.holders for each in tallies if each.holders is not None]
    holders = counted(known) if known else None
    unread = np.stack([counted([tally.unread[kind] for tally in tallies]) for kind in range(2)])
    sizes = counted([tally.sizes for tally in tallies])
    balances = counted([tally.balances for tally in tallies])
    return Tally(units, scale, sizes, unread, balances, holders, held, worth)


def _worth(positions: Positions, groups: Groups) -> Worth | None:
    """Add up the values of holdings that have any, in their one currency."""
    holdings, count = positions.holdings, len(groups)
    if "value" not in holdings.columns:
        return None
    currencies = _one_currency(holdings["currency"].unique() if "currency" in holdings else [])
    values = holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan)
    unpriced = groups.codes[np.isnan(values) & ~positions.amounts.isna()]
    totals = float_totals(values, groups.codes, count)
    return Worth(totals, np.bincount(unpriced, minlength=count), currencies)


def _one_currency(named: Iterable[Any]) -> list[Any]:
    """Return the one currency that values are in, nan where it is missing, or none."""
    currencies = list(dict.fromkeys(np.nan if pd.isna(name) else name for name in named))
    if len(currencies) > 1:
        raise PricesError(
            f"the values are in {len(currencies)} currencies: {currencies}",
            hint="value all holdings in one currency, or add up each currency's rows separately",
        )
    return currencies


def spread(positions: Positions, held: Pairs, count: int) -> dict[str, Codes]:
    """Count of how many contracts, on how many blockchains, groups hold more than 0."""
    chains = np.array([key[0] for key in positions.contracts.keys], dtype=object)
    on, _ = distinct_pairs(held[0], factorized(chains)[0][held[1]])
    counted = {"contracts": held[0], "blockchains": on}
    return {name: np.bincount(codes, minlength=count) for name, codes in counted.items()}


def distinct_pairs(codes: Codes, members: Codes) -> Pairs:
    """Find each pair of a code and a member, ascending."""
    wide = int(members.max(initial=0)) + 1
    is_short = (int(codes.max(initial=0)) + 1) * wide < _SHORT  # which takes half as long to sort
    numbers: Codes = codes.astype(np.dtype(np.int32 if is_short else np.int64))
    numbers *= wide
    numbers += members
    found = distinct(numbers)
    firsts = found // wide
    return firsts, found - firsts * wide


def distinct(codes: Codes) -> Codes:
    """Return each number once, ascending: sorting takes a fourth of what hashing does."""
    ordered = np.sort(codes)
    found: Codes = ordered[np.append(True, ordered[1:] > ordered[:-1])[: len(ordered)]]
    return found
