"""Distribution of tokens over wallets: largest amounts, shares, pivot tables, overlaps."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from walletframe.amounts import AmountArray, AmountDtype
from walletframe.amounts.arithmetic import quotient
from walletframe.amounts.integers import ExactAmounts, ratios
from walletframe.amounts.sums import AmountsWithGroups, group_sums_scale_and_counts, group_totals
from walletframe.analysis.sums import (
    compute_totals,
    count_contracts_by_group,
    distinct_pairs,
    sorted_unique,
)
from walletframe.errors import SettingsError
from walletframe.frames.asset_list import find_token_or_asset, token_or_asset_names
from walletframe.frames.coverage import (
    completeness_columns,
    count_wallets_by_state,
    coverage_of_token,
    repeat_completeness,
    table_coverage,
)
from walletframe.frames.groups import (
    encode_by_holder,
    group_holdings,
    split_by_token,
    token_or_asset_and_by,
)
from walletframe.frames.identity import encode_tokens
from walletframe.frames.names import token_names
from walletframe.frames.positions import read_positions, reject_mixed_snapshots
from walletframe.frames.results import CHANGE_COLUMNS, COVERAGE, coverage_from_attrs, with_coverage
from walletframe.frames.schema import amounts_of, count_array, require_columns, text_array
from walletframe.numerals import counted_noun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from walletframe.amounts.integers import Floats, Integers
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By, Groups
    from walletframe.frames.identity import Codes
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions, PositionsLike
    from walletframe.frames.results import Coverage

MEASURES: Final = ("gini", "herfindahl", "top_share")
_BATCH_ROWS = 200_000  # fits into a processor's cache
_BLOCK_PAIRS = 4_000_000  # pairs of wallets per block of about 100 MB
_MAX_STEPS = 10**10  # about a minute
_MAX_STEPS_ALL_PAIRS = 5 * 10**7  # a result of about 5 GB


def top(amounts: pd.Series, n: int = 10) -> pd.Series:
    """Return the largest amounts, compared exactly.

    Parameters
    ----------
    n : int, default 10
        The maximum number of amounts to return.

    Returns
    -------
    Series
        The `n` largest amounts in descending order, with the original index. Equal amounts keep
        their order. NA is left out.

    Raises
    ------
    AmountError
        If the values are not amounts.

    Examples
    --------
    >>> import walletframe
    >>> pd.Series(["2", "7", None], dtype="amount").wf.top(1).tolist()
    [Amount('7')]
    """
    array = amounts_of(amounts)
    present = len(array) - int(array.isna().sum())
    return amounts.iloc[array.argsort(ascending=False)[: min(max(n, 0), present)]]


def top_rows(frame: pd.DataFrame, n: int = 10, *, by: str = "amount") -> pd.DataFrame:
    """Return the rows with the largest amounts, numbers or changes. Amounts are compared exactly.

    Parameters
    ----------
    n : int, default 10
        The maximum number of rows to return.
    by : str, default "amount"
        The column to rank by, with amounts or numbers. The columns ``"difference"``,
        ``"from_prices"`` and ``"from_amounts"`` are ranked by absolute value, so the largest losses
        are included.

    Returns
    -------
    DataFrame
        The `n` rows with the largest values in `by`, in descending order, with the original index.
        Rows with equal values keep their order. Rows with NA are left out. The line below the
        result counts the omitted rows. For a table of `totals`, the line counts omitted balances.

    Raises
    ------
    ColumnsError, AmountError
        If the column is missing, or contains neither amounts nor numbers. The column ``amount``
        must not contain floats, which have lost digits.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"amount": pd.array(["2", "7", None], dtype="amount")})
    >>> frame.wf.top(1)
      amount
    1      7
    """
    require_columns(frame, [by])
    column = frame[by].reset_index(drop=True)
    column = column.abs() if by in CHANGE_COLUMNS else column
    if by == "amount" or isinstance(column.dtype, AmountDtype) or not is_numeric_dtype(column):
        positions = top(column, n).index
    else:
        positions = column.dropna().sort_values(ascending=False, kind="stable").index[: max(n, 0)]
    rows = frame.iloc[positions]
    if frame.attrs.get(COVERAGE, {}).get("rows") != len(frame):
        return rows
    if "balances" in frame:
        within = np.append(positions, np.flatnonzero(column.isna()))  # don't count NA as omitted
        return with_coverage(rows, coverage_of_chosen_totals(frame, within))
    omitted = len(frame) - len(rows)
    return with_coverage(rows, replace(coverage_from_attrs(frame), omitted_rows=omitted))


def top_rows_with_coverage(
    holdings: pd.DataFrame, wallets: FetchLike, n: int = 10, *, by: str = "amount"
) -> pd.DataFrame:
    """Return the result of `top_rows`, with the coverage of the fetch."""
    rows = top_rows(holdings, n, by=by)
    coverage = table_coverage(read_positions(holdings, wallets))
    omitted = int(holdings[by].notna().sum()) - len(rows)
    return with_coverage(rows, replace(coverage, balances=len(rows), beyond_limit=omitted))


def share(  # noqa: PLR0913 - users pass each option by name
    holdings: PositionsLike,
    asset: TokenLike | None = None,
    *,
    token: TokenLike | None = None,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return each wallet's amount and share of one asset or token.

    Parameters
    ----------
    asset : str or (str, str or None), optional
        The asset: a name from `walletframe.assets`, the unambiguous symbol of an unlisted token, or
        a pair (blockchain, contract). The contract of a native coin is None. The amounts of all
        contracts of the asset are added up.
    token : str or (str, str or None), optional
        A token instead of an asset: an unambiguous symbol, or a pair (blockchain, contract).
    by : str or list of str, default "wallet"
        One or more columns to group by, as in `totals`, but not ``"token"`` or ``"asset"``. For
        example, ``"owner"`` adds up each owner's amounts. Wallets without an owner are one group.
    wallets : DataFrame or WalletDetails, optional
        The table ``wallets`` of the same fetch, to add a row for each wallet that could hold the
        token. Methods of ``details.wf`` pass it automatically.
    assets, bridged : optional
        Options for assets, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each wallet or group, in descending order of the amounts. Equal amounts stay in
        the order of the wallets. Unknown amounts come last. The columns are:

        - ``blockchain`` and ``address`` (str), or the columns of `by`;
        - ``amount`` (amount): the exact sum of the known amounts; 0 if the wallet does not hold the
          token; NA if no amount is known;
        - ``amount_na`` (Int64): the number of balances whose amount is unknown;
        - ``share`` (float64, from 0 to 1): the amount divided by the sum of all known amounts,
          rounded to the nearest float64; NaN if the amount is NA, or if the sum is 0;
        - ``contracts`` and ``blockchains`` (Int64), only for an asset: the number of contracts with
          an amount above 0, and the number of their blockchains;
        - ``wallets_ok``, ``wallets_stale`` and ``wallets_asked`` (Int64), if `wallets` is given:
          the counts of the group's wallets that could hold the token, as in `totals`.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError, TokenListError, OSError
        If an argument is not valid, if `wallets` lacks a wallet of these holdings, or if both or
        neither of `asset` and `token` are given.
    UnknownTokenError, AmbiguousTokenError
        If no row has the token or asset, or if several tokens share the symbol.
    ColumnsError, AmountError
        If a column is missing, or if ``amount`` does not contain amounts.
    SnapshotError
        If the rows are of several snapshots.

    Warns
    -----
    InputWarning
        Once per session if `wallets` is not given, since holdings don't show which wallets failed.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "NEAR", "address": ["ada.near", "ben.near"],
    ... "symbol": "ETH", "token_blockchain": "ETH", "token_address": None,
    ... "amount": pd.array([1, 3], "amount")})
    >>> frame.wf.share("ETH")[["address", "amount", "share"]]
        address amount  share
    0  ben.near      3   0.75
    1  ada.near      1   0.25
    """
    named, by = token_or_asset_and_by(token, asset, by)
    if named is None:
        raise SettingsError("a share needs one asset or one token", "pass asset=… or token=…")
    all_positions, names = encode_by_holder(holdings, by, wallets, assets=assets, bridged=bridged)
    reject_mixed_snapshots(all_positions.holdings)
    index = find_token_or_asset(all_positions, named)
    positions = all_positions.select_rows(all_positions.tokens.codes == index)
    groups = group_holdings(positions, names)
    exact, count = positions.amounts.exact(), len(groups)
    of_token = split_by_token(groups, positions, np.zeros(1, dtype=np.intp))
    known = {name: each[:count] for name, each in completeness_columns(positions, of_token).items()}
    segments = AmountsWithGroups(exact, groups.codes, count)
    balances = np.bincount(groups.codes, minlength=count)
    none_known = np.asarray(known["wallets_ok"] == 0, bool) if known else np.zeros(count, bool)
    units = group_totals(segments)
    missing = np.where(balances > 0, segments.known_counts == 0, none_known)
    shares = ratios(units, units.sum() or 1)
    shares[missing | (units.sum() == 0)] = np.nan
    columns = groups.columns | {
        "amount": AmountArray(units, missing, exact.scale),
        "amount_na": count_array(balances - segments.known_counts, (balances == 0) & missing),
        "share": shares,
    }
    if positions.assets:
        held = exact.integers > 0
        pairs = distinct_pairs(groups.codes[held], positions.contracts.codes[held])
        contracts = count_contracts_by_group(positions, pairs, count).items()
        columns |= {name: count_array(each, missing) for name, each in contracts}
    columns |= known
    could_hold = np.asarray(known["wallets_asked"] > 0) if known else False
    kept = np.flatnonzero((balances > 0) | could_hold)
    order = kept[columns["amount"][kept].argsort(ascending=False)]
    table = {name: column.take(order) for name, column in columns.items()}
    return with_coverage(table, coverage_of_token(all_positions, index), all_positions)


def concentration(  # noqa: PLR0913 - users pass each option by name
    holdings: PositionsLike,
    asset: TokenLike | None = None,
    *,
    token: TokenLike | None = None,
    top: float = 10,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Measure how unequally assets or tokens are distributed over holders.

    Parameters
    ----------
    asset : str or (str, str or None), optional
        The asset, as in `share`. By default, all assets.
    token : str or (str, str or None), optional
        A token instead of an asset, as in `share`. For all tokens, add ``"token"`` to `by`.
    top : int or float, default 10
        The number of largest holders in ``top_share``. A number below 1 is a fraction of the
        holders: 0.01 means the richest 1 %. The resulting number of holders is rounded down, but is
        at least 1.
    by : str or list of str, default "wallet"
        One or more columns that define a holder, as in `share`. Balances that agree in these
        columns belong to one holder. If `by` has ``"token"``, the result has a row per token, not
        per asset. The column ``holders`` always counts wallets.
    wallets : DataFrame or WalletDetails, optional
        The table ``wallets`` of the same fetch. Methods of ``details.wf`` pass it automatically.
    assets, bridged : optional
        Options for assets, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each token or asset; no rows without holdings. The first columns are the same as
        in `totals`. The last three columns are float64, from 0 to 1, and NaN if no wallet holds the
        token:

        - ``gini`` and ``herfindahl``: the indices defined in the notes;
        - ``top_share``: the sum of the shares of the `top` largest holders; NaN if there are fewer
          than `top` holders.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError, TokenListError, OSError
        If an argument is not valid, if `wallets` lacks a wallet of these holdings, or if both an
        asset and a token are given.
    UnknownTokenError, AmbiguousTokenError
        If no row has the token or asset, or if several tokens share the symbol.
    ColumnsError, AmountError, PricesError
        If a column is missing, ``amount`` has the wrong dtype, or values have several currencies.
    SnapshotError
        If the rows are of several snapshots.

    Warns
    -----
    InputWarning
        Once per session if `wallets` is not given, since holdings don't show which wallets failed.

    Notes
    -----
    Let x be the n amounts in ascending order, and s their sum.

    - The Gini index is (2 Σ i xᵢ - (n + 1) s) / (n s), with the sum over i from 1 to n. The
      small-sample correction n / (n - 1) is not applied. The formula is equation 1 of Damgaard and
      Weiner, "Describing inequality in plant size or fecundity", Ecology 81 (2000), 1139-1142.
    - The Herfindahl index is Σ xᵢ² / s². Its maximum is 1, not 10,000. See Rhoades, "The
      Herfindahl-Hirschman index", Federal Reserve Bulletin 79 (1993), 188-189.

    Wallets are not people. A person may have many wallets, and one wallet may hold the tokens of an
    exchange's many customers.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "NEAR", "address": ["ada.near", "ben.near"],
    ... "symbol": "ETH", "token_blockchain": "ETH", "token_address": None,
    ... "amount": pd.array([1, 3], "amount")})
    >>> frame.wf.concentration("ETH", top=1)[["gini", "herfindahl", "top_share"]]
       gini  herfindahl  top_share
    0  0.25       0.625       0.75
    """
    if not (0 < top < 1 or (top >= 1 and top % 1 == 0)):
        raise SettingsError(
            f"top={top!r} is neither a number of holders nor a fraction of the holders",
            hint="pass an integer, such as top=10, or a fraction between 0 and 1, such as top=0.01",
        )
    named, by = token_or_asset_and_by(token, asset, by)
    positions, names = encode_by_holder(holdings, by, wallets, assets=assets, bridged=bridged)
    reject_mixed_snapshots(positions.holdings)
    table = compute_totals(positions, group_holdings(positions, [positions.kind]))
    measured = table.assign(**_values_by_measure(positions, group_holdings(positions, names), top))
    coverage = coverage_from_attrs(table)
    if named is not None:
        index = find_token_or_asset(positions, named)
        measured = measured.iloc[[index]].reset_index(drop=True)
        coverage = coverage_of_token(positions, index)
    return with_coverage(measured, coverage)


def _values_by_measure(positions: Positions, holders: Groups, top: float) -> dict[str, Floats]:
    stride, exact, tokens = len(holders), positions.amounts.exact(), positions.tokens
    by_token = np.argsort(tokens.codes, kind="stable")
    ends = np.cumsum(np.bincount(tokens.codes, minlength=len(tokens.keys)))
    edges = np.append(np.flatnonzero(np.diff(ends // _BATCH_ROWS)) + 1, len(ends))
    batches, first, start = [], 0, 0
    for after in edges.tolist():
        rows = by_token[start : ends[after - 1] if after else 0]
        amounts = ExactAmounts(exact.integers[rows], exact.missing[rows], exact.scale)
        pairs = (tokens.codes[rows] - first) * stride + holders.codes[rows]
        batches.append(_token_values_by_measure(amounts, pairs, after - first, stride, top))
        first, start = after, start + len(rows)
    return {name: np.concatenate([batch[name] for batch in batches]) for name in MEASURES}


def _token_values_by_measure(
    amounts: ExactAmounts, pair_codes: Codes, count: int, holder_count: int, top: float
) -> dict[str, Floats]:
    codes, pair_codes = pd.factorize(pair_codes)
    balances = group_totals(AmountsWithGroups(amounts, codes, len(pair_codes)))
    held = np.flatnonzero(balances > 0)
    positive = ExactAmounts(balances[held], np.zeros(len(held), dtype=bool), amounts.scale)
    holders = AmountsWithGroups(positive, pair_codes[held] // max(holder_count, 1), count)
    ascending, sizes = holders.sorted_known_positions, holders.known_counts
    units, ids = holders.known_integers[ascending], holders.ids_of_known_rows[ascending]
    ranks = np.arange(1, len(ids) + 1) - holders.group_starts[ids]
    filled = np.flatnonzero(sizes)

    def sum_by_token(terms: Integers) -> Integers:
        result = np.full(count, 0, dtype=object)
        if len(filled):
            result[filled] = np.add.reduceat(terms, holders.group_starts[filled])
        return result

    # The product is rounded first, since the float 0.29 * 100 is slightly below 29.
    tops = np.maximum(np.floor(np.round(top * sizes, 9)), 1) if top < 1 else np.full(count, top)
    largest, is_top = np.full(count, 0, dtype=object), ranks > (sizes - tops)[ids]
    np.add.at(largest, ids[is_top], units[is_top])
    total, weighted, counts = sum_by_token(units), sum_by_token(units * ranks), sizes.astype(object)
    gini = _ratios_or_nan(2 * weighted - (counts + 1) * total, counts * total)
    herfindahl = _ratios_or_nan(sum_by_token(units * units), total**2)
    top_share = np.where(sizes < tops, np.nan, _ratios_or_nan(largest, total))
    return dict(zip(MEASURES, (gini, herfindahl, top_share), strict=True))


def _ratios_or_nan(numerators: Integers, denominators: Integers) -> Floats:
    no_mask = np.zeros(len(numerators), dtype=bool)
    return quotient(ExactAmounts(numerators, no_mask, 0), ExactAmounts(denominators, no_mask, 0))


def token_labels(holdings: pd.DataFrame) -> pd.Series:
    """Return a unique, readable and safe name for the token of each row.

    Returns
    -------
    Series
        A Series of str with the name ``token`` and the index of these holdings. Each token has one
        name, and no two tokens have the same name.

        A name is the token's symbol, cut to 24 characters. If several tokens have the same symbol,
        their names also contain the blockchain and the shortened contract. The same is true for a
        symbol with brackets or non-ASCII characters, which could imitate a name. Names of unknown
        tokens end with ``(unknown token)``. Charts use the same names.

    Raises
    ------
    ColumnsError
        If a column is missing.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"symbol": ["ETH", "USDC", "USDC"], "token_blockchain": "ETH",
    ...     "token_address": [None, "0xa0b86991c6218b36c1d1", "0xbad0000000000000beef"]})
    >>> frame.wf.token_labels().tolist()
    ['ETH', 'USDC (ETH 0xa0b8…c1d1)', 'USDC (ETH 0xbad0…beef)']
    """
    require_columns(holdings, ["symbol"])
    tokens = encode_tokens(holdings)
    names = token_names(holdings, tokens, np.arange(len(tokens.keys)))
    labels = np.array(names, dtype=object)[tokens.codes]
    return pd.Series(text_array(labels), index=holdings.index, name="token")


def pivot(
    holdings: PositionsLike,
    n: int | None = 50,
    *,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return a pivot table of exact amounts, with a row per wallet and a column per asset.

    Parameters
    ----------
    n : int or None, default 50
        The maximum number of assets, or None for all. Assets are in descending order of value, then
        of the number of holders.
    by : str or list of str, default "wallet"
        One or more columns to group by, as in `totals`. If `by` has ``"token"``, the table's
        columns are tokens, not assets. If `by` is just ``"token"``, the rows are wallets.
    wallets : DataFrame or WalletDetails, optional
        The table ``wallets`` of the same fetch, to add rows for failed and empty wallets. Methods
        of ``details.wf`` pass it automatically.
    assets, bridged : optional
        Options for assets, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each wallet, in the order of `wallets`. Without `wallets`, rows are in the order
        of the holdings. The index is ``blockchain`` and ``address`` (str), or the columns of `by`.

        One column of exact amounts for each asset or token, in the order described at `n`. Assets
        are named as in `totals`, and tokens as in `token_labels`.

        - An amount is the sum of the known amounts in the row.
        - The amount is NA if all balances of the asset in the row are unreadable.
        - The amount is 0 if the row has no balance of the asset: the service lists all balances.
        - Instead of 0, the amount is NA if all wallets of the row failed, or if some wallets of the
          row could hold the asset and all of these failed.

        Without holdings and wallets, the result is empty, with the same index columns. The line
        below the table counts the sums that may be too low, since a wallet or balance is unknown.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError, TokenListError, OSError
        If an argument is not valid, or if `wallets` lacks a wallet of these holdings.
    ColumnsError, AmountError, PricesError
        If a column is missing, ``amount`` has the wrong dtype, or values have several currencies.
    SnapshotError
        If the rows are of several snapshots, and `by` lacks ``"snapshot"``.

    Warns
    -----
    InputWarning
        Once per session if `wallets` is not given, since holdings don't show which wallets failed.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "NEAR", "address": ["ada.near", "ben.near", "ben.near"],
    ...     "symbol": ["ETH", "ETH", "USDC"], "token_blockchain": "ETH",
    ...     "token_address": [None, None, "0xc"],
    ...     "amount": pd.array(["1", "3", "0.5"], dtype="amount")})
    >>> frame.wf.pivot()
    asset              ETH USDC (ETH 0xc)
    blockchain address
    NEAR       ada.near  1              0
               ben.near  3            0.5
    <BLANKLINE>
    Not counted: failed wallets, if any (pass wallets=…).
    Amounts are rounded for display.
    """
    if n is not None and n < 1:
        raise SettingsError(f"n must be 1 or more, not {n!r}", hint="pass n=None for all columns")
    positions, row_names = encode_by_holder(holdings, by, wallets, assets=assets, bridged=bridged)
    totals = compute_totals(positions, group_holdings(positions, [positions.kind]))
    chosen = argsort_totals(totals)[:n]
    names = totals["asset"].iloc[chosen].tolist() if positions.assets else None
    names = names or token_or_asset_names(positions, chosen)
    coverage = coverage_of_chosen_totals(totals, chosen)
    return build_pivot_table(positions, row_names, chosen, names, coverage)


def build_pivot_table(
    positions: Positions, row_names: list[str], chosen: Codes, names: list[str], coverage: Coverage
) -> pd.DataFrame:
    """Build the table of `pivot` for the chosen tokens or assets."""
    groups = group_holdings(positions, row_names)
    count, cells = len(groups), split_by_token(groups, positions, chosen)
    rows = np.flatnonzero(cells.codes < count * len(chosen))
    codes, amounts = cells.codes[rows], positions.amounts[rows]
    units, scale, sizes = group_sums_scale_and_counts(amounts._amounts(), codes, len(cells))  # noqa: SLF001 - our own class
    is_held = np.bincount(codes, minlength=len(cells)) > 0
    known, _, asked = count_wallets_by_state(positions, cells)
    known_wallets = count_wallets_by_state(positions, groups)[0]  # of each row
    no_wallet_known = (known == 0) & ((asked > 0) | np.tile(known_wallets == 0, len(chosen) + 1))
    is_unknown = np.where(is_held, sizes == 0, no_wallet_known)
    is_partial = ~is_unknown & (known < asked)
    coverage = replace(coverage, partial_cells=int(is_partial[: count * len(chosen)].sum()))
    amounts = AmountArray(units, is_unknown, scale)
    parts = {name: amounts[start * count : (start + 1) * count] for start, name in enumerate(names)}
    table = pd.DataFrame(parts, columns=pd.Index(names, dtype="str", name=positions.kind))
    index = groups.labels.set_index([*groups.columns]).index
    return with_coverage(table.set_axis(index), coverage, positions)


def coverage_of_chosen_totals(totals: pd.DataFrame, row_numbers: Codes) -> Coverage:
    """Return the coverage of some rows of a table of totals."""
    coverage = coverage_from_attrs(totals)
    names = [name for name in ("balances", "amount_na", "unpriced") if name in totals]
    counts: dict[str, Any] = {
        name: int(totals[name].array.take(row_numbers).sum()) for name in names
    }
    return replace(coverage, **counts, beyond_limit=coverage.balances - counts["balances"])


def argsort_totals(totals: pd.DataFrame) -> Codes:
    """Return the row numbers in descending order of value, then of the number of holders."""
    ranks = [name for name in ("value", "holders") if name in totals.columns]
    ranked = totals.sort_values(ranks, ascending=False, kind="stable", na_position="last")
    return np.asarray(ranked.index)


def overlap(
    holdings: PositionsLike,
    n: int | None = 100,
    *,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return the pairs of wallets (or owners) with the largest overlap of assets.

    Before the call, drop native coins and spam: nearly every wallet holds some.

    Parameters
    ----------
    n : int or None, default 100
        The maximum number of pairs, or None for all (up to w² / 2 pairs of w wallets).
    by : str or list of str, default "wallet"
        One or more columns to group by, as in `share`: pairs of groups are compared. If `by`
        has ``"token"``, common tokens are counted, not common assets.
    wallets : DataFrame or WalletDetails, optional
        The table ``wallets`` of the same fetch. Methods of ``details.wf`` pass it automatically.
    assets, bridged : optional
        Options for assets, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each pair of wallets with a common asset. Pairs are in descending order of
        ``jaccard``, then of ``assets_both``, then in the order of the wallets. The columns are:

        - ``blockchain``, ``address``, ``other_blockchain`` and ``other_address`` (str), or the
          columns of `by` and the same columns with the prefix ``other_``;
        - ``assets_both`` (Int64), or ``tokens_both`` if tokens are compared: the number of assets
          that both wallets are known to hold;
        - ``assets_either`` (Int64), or ``tokens_either`` if tokens are compared: the number of
          assets that at least one of the two wallets is known to hold;
        - ``jaccard`` (float64): ``assets_both`` divided by ``assets_either``;
        - ``wallets_ok``, ``wallets_stale`` and ``wallets_asked`` (Int64), if `wallets` is
          given: the counts over all wallets, as in `totals`.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError, TokenListError, OSError
        If an argument is not valid, if `wallets` lacks a wallet of these holdings, or if the
        comparison takes too many steps. The error states the limit.
    ColumnsError, AmountError
        If a column is missing, or if ``amount`` does not contain amounts.
    SnapshotError
        If the rows are of several snapshots, and `by` lacks ``"snapshot"``.

    Warns
    -----
    InputWarning
        Once per session if `wallets` is not given, since holdings don't show which wallets failed.

    Notes
    -----
    The Jaccard index is defined in P. Jaccard, "The distribution of the flora in the alpine zone",
    New Phytologist 11 (1912), 37-50. The running time grows with the squared number of holders of
    each token. 10,000 wallets take seconds if most tokens have few holders.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "NEAR", "address": ["ada.near", "ada.near", "ben.near"],
    ...     "symbol": ["A", "B", "A"], "token_blockchain": "ETH",
    ...     "token_address": ["0x1", "0x2", "0x1"],
    ...     "amount": pd.array(["1", "1", "1"], dtype="amount")})
    >>> frame.wf.overlap()[["address", "other_address", "assets_both", "jaccard"]]
        address other_address  assets_both  jaccard
    0  ada.near      ben.near            1      0.5
    """
    if n is not None and n < 1:
        raise SettingsError(f"n must be 1 or more, not {n!r}", hint="pass n=None for all pairs")
    positions, names = encode_by_holder(holdings, by, wallets, assets=assets, bridged=bridged)
    groups = group_holdings(positions, names)
    rows = np.flatnonzero(positions.amounts.exact().integers > 0)
    stride = len(positions.tokens.keys) + 1
    held = sorted_unique(groups.codes[rows] * stride + positions.tokens.codes[rows])
    members, tokens = np.divmod(held, stride)
    sizes = np.bincount(members, minlength=len(groups))
    count, holders = len(sizes), np.bincount(tokens)
    limit = _MAX_STEPS if n else _MAX_STEPS_ALL_PAIRS
    steps = count**2 + int((holders * (holders - 1) // 2).sum())
    if steps > limit:
        by_wallet = names == ["wallet"]
        noun = "wallet" if by_wallet else "group"
        hints = [] if n else ["pass n=100 for the 100 largest overlaps"]
        hints += ['group wallets by an extra column (by="owner")'] * by_wallet
        hints += [f"select fewer {noun}s"]
        raise SettingsError(
            f"the comparison of all pairs of {counted_noun(count, noun)} takes {steps:,} steps; "
            f"the limit is {limit:,}",
            hint=f"{', '.join(hints)}, or drop tokens that every {noun} holds",
        )
    overlaps = _iterate_pairs_and_overlaps(members, tokens, count)
    blocks = [_select_largest_overlaps(pairs, sizes, n) for pairs in overlaps]
    merged = np.concatenate([np.empty((3, 0), dtype=np.intp), *blocks], axis=1)
    first, second, both = _select_largest_overlaps(merged, sizes, n)
    either = sizes[first] + sizes[second] - both
    one, other = (groups.labels.iloc[side].reset_index(drop=True) for side in (first, second))
    pairs: pd.DataFrame = one.join(other.add_prefix("other_"))
    kind = positions.kind
    counts = {f"{kind}s_both": count_array(both), f"{kind}s_either": count_array(either)}
    known = repeat_completeness(positions, len(both))
    coverage = table_coverage(positions)
    return with_coverage(pairs.assign(**counts, jaccard=both / either, **known), coverage)


def _select_largest_overlaps(pairs: Codes, sizes: Codes, n: int | None) -> Codes:
    first, second, both = pairs
    jaccard = both / (sizes[first] + sizes[second] - both)
    if n is not None and n < len(jaccard):
        largest = np.flatnonzero(jaccard >= np.partition(jaccard, -n)[-n])
        pairs, jaccard = pairs[:, largest], jaccard[largest]
    return pairs[:, np.lexsort((-pairs[2], -jaccard))[:n]]


def _iterate_pairs_and_overlaps(groups: Codes, tokens: Codes, count: int) -> Iterator[Codes]:
    by_token = np.argsort(tokens, kind="stable")
    holders = groups[by_token]
    ranks = np.empty_like(by_token)
    ranks[by_token] = np.arange(len(by_token))
    later = np.cumsum(np.bincount(tokens))[tokens] - ranks - 1  # counts of later holders
    work = np.cumsum(np.bincount(groups, weights=later, minlength=count) + count)
    edges = np.flatnonzero(np.diff(work // _BLOCK_PAIRS, prepend=-1, append=-1))
    for start, stop in pairwise(edges):
        rows = slice(*np.searchsorted(groups, [start, stop]))
        repeats = later[rows]
        after = np.repeat(ranks[rows] + 1 - np.cumsum(repeats) + repeats, repeats)
        others = holders[after + np.arange(len(after))]
        firsts = np.repeat(groups[rows] - start, repeats)
        both = np.bincount(firsts * count + others, minlength=(stop - start) * count)
        pairs = np.flatnonzero(both)
        yield np.stack((pairs // count + start, pairs % count, both[pairs]))
