"""Distribution of tokens over wallets: largest amounts, shares, pivot tables, pairs of wallets."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from walletframe.amounts import AmountArray, AmountDtype
from walletframe.amounts.integers import Exact, ratios
from walletframe.amounts.sums import Segments, sums
from walletframe.analysis.sums import contract_counts, distinct_pairs, sorted_unique, totals_of
from walletframe.errors import SettingsError
from walletframe.frames.asset_list import token_or_asset_index, token_or_asset_names
from walletframe.frames.contract import amounts_of, count_array, require_columns, text_array
from walletframe.frames.coverage import broadcast_completeness, completeness_among, known_by_token
from walletframe.frames.groups import group, read_names, resolve_token
from walletframe.frames.identity import token_identities
from walletframe.frames.names import token_names
from walletframe.frames.positions import cell_sums

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from walletframe.amounts.integers import Floats, Integers
    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import FetchLike
    from walletframe.frames.groups import By, Groups
    from walletframe.frames.identity import Codes, Mask
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions, PositionsLike

# Why a table can't be grouped by token.
OF_ONE: Final = "the shares are of one token or asset"
IN_ROWS: Final = "each token has a row already"
IN_COLUMNS: Final = "each token has a column already"
MEASURES: Final = ("gini", "herfindahl", "top_share")
_BATCH_ROWS = 200_000  # few enough for a processor's cache
_BLOCK = 4_000_000  # pairs of wallets counted at once: some 100 MB
_STEPS, _STEPS_OF_ALL = 10**10, 5 * 10**7  # a minute; with all pairs in the result, some 5 GB


def top(amounts: pd.Series, n: int = 10) -> pd.Series:
    """Return the largest amounts, exactly.

    Parameters
    ----------
    n : int, default 10
        How many.

    Returns
    -------
    Series
        At most `n` amounts, the largest first, equal ones in their order, without NA.

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
    """Return the rows with the largest amounts, exactly, or with the largest numbers.

    Parameters
    ----------
    n : int, default 10
        How many.
    by : str, default "amount"
        The column of amounts, or of numbers, such as ``"value"``.

    Returns
    -------
    DataFrame
        At most `n` rows on their own index: the largest first, equal ones in their order; rows
        with NA in `by` are left out.

    Raises
    ------
    ColumnsError, AmountError
        If the column is missing, has neither amounts nor numbers, or is ``amount`` and has
        floats, which have lost digits already.

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
    if by == "amount" or isinstance(column.dtype, AmountDtype) or not is_numeric_dtype(column):
        return frame.iloc[top(column, n).index]
    ranked = column.dropna().sort_values(ascending=False, kind="stable")
    return frame.iloc[ranked.index[: max(n, 0)]]


def share(  # noqa: PLR0913 - options
    holdings: PositionsLike,
    token: TokenLike | None = None,
    *,
    asset: TokenLike | None = None,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return each wallet's, or owner's, amount of one token or asset, and its share of the total.

    Parameters
    ----------
    token : str or (str, str or None), optional
        An unambiguous symbol, or (blockchain, contract), None for a native coin.
    asset : str or (str, str or None), optional
        Instead of a token, an asset as in `walletframe.assets`, or one of its contracts: all
        its contracts are added up.
    by : str or list of str, default "wallet"
        What to group by, as in `totals`, except tokens; by ``"owner"`` the wallets of one owner
        are added up, and wallets without an owner are one group. With ``"asset"`` in the list,
        `token` names an asset.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch: then all wallets that could hold the token have a
        row. ``details.wf`` has them.
    assets, bridged : optional
        With an asset, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each wallet, the largest amount first, equal ones in their order, unknown
        ones last: ``blockchain``, ``address``, str, or the other columns of `by`; ``amount``,
        amount, the exact sum of the known amounts, 0 if the wallet holds none, NA if it is
        unknown; ``amount_na``, Int64, balances of unknown amount; ``share``, float64 from 0 to
        1, the nearest to the amount over the sum of all, NaN if either is unknown or the sum
        is 0. The other columns, Int64, are of the group, but by wallet of all, the same in each
        row: with `asset` ``contracts`` and ``blockchains``, the number of contracts held with
        more than 0, and of their blockchains; with `wallets` ``wallets_ok``, the wallets whose
        amount is known, ``wallets_stale``, those of them whose answer is out of date, and
        ``wallets_asked``, all of them.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `wallets` or `by` is not one of these, `wallets` lacks the wallet of a row, neither a
        token nor an asset is given, or both are, or `assets` or `bridged` without an asset.
    UnknownTokenError, AmbiguousTokenError
        If no row has the token or asset, or several tokens share the symbol.
    TokenListError, OSError
        If `assets` can't be used.
    ColumnsError, AmountError
        If a column is missing, or ``amount`` holds no amounts.

    Warns
    -----
    InputWarning
        Once in a session, if there are no `wallets`: completeness is unknown without them.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
    ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
    >>> frame.wf.share("ETH")[["address", "amount", "share"]]
      address amount  share
    0     0xb      3   0.75
    1     0xa      1   0.25
    """
    named, by = resolve_token(token, asset, by)
    if named is None:
        hint = "name one: token=… or asset=…"
        raise SettingsError("a share is of one token or of one asset", hint=hint)
    every, names = read_names(holdings, by, wallets, apart=OF_ONE, assets=assets, bridged=bridged)
    positions = every.where(every.tokens.codes == token_or_asset_index(every, named))
    groups = group(positions, names)
    possible = positions.wallets_that_can_hold(0) & positions.has_wallets
    narrowed = known_by_token(positions, np.ones(len(positions.holdings), dtype=bool))
    known = completeness_among(narrowed, groups, possible)
    exact, count = positions.amounts.exact(), len(groups)
    segments = Segments(exact, groups.codes, count)
    balances = np.bincount(groups.codes, minlength=count)
    none_known = np.asarray(known["wallets_ok"] == 0, bool) if known else np.zeros(count, bool)
    units = sums(segments)
    missing = np.where(balances > 0, segments.sizes == 0, none_known)
    shares = ratios(units, units.sum() or 1)
    shares[missing | (units.sum() == 0)] = np.nan
    table = groups.labels.assign(
        amount=AmountArray(units, missing, exact.scale),
        amount_na=count_array(balances - segments.sizes, (balances == 0) & missing),
        share=shares,
        **_contract_columns(positions, groups, missing),
    )
    if groups.names == ["wallet"]:  # counts of a single wallet say no more than its status
        known = broadcast_completeness(narrowed, possible, count)
    sets = groups.wallet_set_codes[possible]
    could_hold = np.bincount(sets, minlength=groups.wallet_set_count)[groups.wallet_sets] > 0
    table = table.assign(**known)[(balances > 0) | could_hold]
    order = table["amount"].array.argsort(ascending=False)
    ranked: pd.DataFrame = table.iloc[order].reset_index(drop=True)
    return ranked


def _contract_columns(positions: Positions, groups: Groups, missing: Mask) -> dict[str, Any]:
    """Count an asset's contracts and their blockchains in each group; by wallet in all rows."""
    if positions.assets is None:
        return {}
    held = positions.amounts.exact().integers > 0
    codes, count = groups.codes[held], len(groups)
    if groups.names == ["wallet"]:
        codes, count, missing = np.zeros_like(codes), 1, np.zeros_like(missing)
    pairs = distinct_pairs(codes, positions.contracts.codes[held])
    counts = contract_counts(positions, pairs, count).items()
    return {name: count_array(np.resize(each, len(groups)), missing) for name, each in counts}


def concentration(  # noqa: PLR0913 - options
    holdings: PositionsLike,
    token: TokenLike | None = None,
    *,
    asset: TokenLike | None = None,
    top: int = 10,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Measure how unequally tokens, or assets, are distributed over their holders.

    Parameters
    ----------
    token : str or (str, str or None), optional
        An unambiguous symbol, or (blockchain, contract), None for a native coin. Default: all.
    asset : str or (str, str or None), optional
        Instead of a token, an asset, as in `share`. For all assets: ``by="asset"``.
    top : int, default 10
        The number of largest holders that ``top_share`` adds up.
    by : str or list of str, default "wallet"
        What counts as one holder, as in `share`; ``holders`` always counts wallets.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch. ``details.wf`` has them.
    assets, bridged : optional
        With an asset, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each token, or asset: the columns of `totals` by token, or by asset, and
        ``gini``, ``herfindahl`` and ``top_share`` (the share of the largest holders), float64
        from 0 to 1, NaN if nobody holds any. No rows give no tokens.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `wallets` or `by` is not one of these, `wallets` lacks the wallet of a row, `top` is
        below 1, both a token and an asset are given, or `assets` or `bridged` without an asset.
    UnknownTokenError, AmbiguousTokenError
        If no row has the token or asset, or several tokens share the symbol.
    TokenListError, OSError
        If `assets` can't be used.
    ColumnsError, AmountError, PricesError
        If a column is missing, ``amount`` holds no amounts, or values have several currencies.

    Warns
    -----
    InputWarning
        Once in a session, if there are no `wallets`: completeness is unknown without them.

    Notes
    -----
    With n amounts x in ascending order, and s their sum:

    - Gini is (2 Σ i xᵢ - (n + 1) s) / (n s), i from 1 to n, without the correction n / (n - 1)
      for samples: equation 1 of Damgaard and Weiner, "Describing inequality in plant size or
      fecundity", Ecology 81 (2000), 1139-1142;
    - Herfindahl is Σ xᵢ² / s², from 0 to 1 and not to 10,000: Rhoades, "The
      Herfindahl-Hirschman index", Federal Reserve Bulletin 79 (1993), 188-189.

    A wallet is not a person: one may have many, and the wallet of an exchange belongs to many.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb"], "symbol": "ETH",
    ... "token_blockchain": "ETH", "token_address": None, "amount": pd.array([1, 3], "amount")})
    >>> frame.wf.concentration("ETH", top=1)[["gini", "herfindahl", "top_share"]]
       gini  herfindahl  top_share
    0  0.25       0.625       0.75
    """
    if top < 1:
        raise SettingsError(f"top must be 1 or more, not {top!r}", hint="give a number of holders")
    named, by = resolve_token(token, asset, by)
    positions, names = read_names(
        holdings, by, wallets, apart=IN_ROWS, assets=assets, bridged=bridged
    )
    table = totals_of(positions, group(positions, [positions.kind]))
    measured = table.assign(**_inequality(positions, group(positions, names), top))
    if named is None:
        return measured
    return measured.iloc[[token_or_asset_index(positions, named)]].reset_index(drop=True)


def _inequality(positions: Positions, members: Groups, top: int) -> dict[str, Floats]:
    """Measure each token's distribution over the groups that hold more than 0 of it."""
    stride, exact, tokens = len(members), positions.amounts.exact(), positions.tokens
    by_token = np.argsort(tokens.codes, kind="stable")
    ends = np.cumsum(np.bincount(tokens.codes, minlength=len(tokens.keys)))
    edges = np.append(np.flatnonzero(np.diff(ends // _BATCH_ROWS)) + 1, len(ends))
    batches, first, start = [], 0, 0
    for after in edges.tolist():
        rows = by_token[start : ends[after - 1] if after else 0]
        amounts = Exact(exact.integers[rows], exact.missing[rows], exact.scale)
        pairs = (tokens.codes[rows] - first) * stride + members.codes[rows]
        batches.append(_measures(amounts, pairs, after - first, stride, top))
        first, start = after, start + len(rows)
    return {name: np.concatenate([batch[name] for batch in batches]) for name in MEASURES}


def _measures(amounts: Exact, pairs: Codes, count: int, stride: int, top: int) -> dict[str, Floats]:
    """Measure `count` tokens; a pair is token index * `stride` + group index."""
    codes, pairs = pd.factorize(pairs)
    balances = sums(Segments(amounts, codes, len(pairs)))
    held = np.flatnonzero(balances > 0)
    positive = Exact(balances[held], np.zeros(len(held), dtype=bool), amounts.scale)
    holders = Segments(positive, pairs[held] // max(stride, 1), count)
    ascending, sizes = holders.sorted_rows, holders.sizes
    units, ids = holders.integers[ascending], holders.row_ids[ascending]
    ranks = np.arange(1, len(ids) + 1) - holders.starts[ids]
    filled = np.flatnonzero(sizes)

    def sum_by_token(terms: Integers) -> Integers:
        result = np.full(count, 0, dtype=object)
        if len(filled):
            result[filled] = np.add.reduceat(terms, holders.starts[filled])
        return result

    largest, is_top = np.full(count, 0, dtype=object), ranks > sizes[ids] - top
    np.add.at(largest, ids[is_top], units[is_top])
    whole, weighted, counts = sum_by_token(units), sum_by_token(units * ranks), sizes.astype(object)
    gini = _ratios(2 * weighted - (counts + 1) * whole, counts * whole)
    squared = _ratios(sum_by_token(units * units), whole**2)
    return dict(zip(MEASURES, (gini, squared, _ratios(largest, whole)), strict=True))


def _ratios(numerators: Integers, denominators: Integers) -> Floats:
    empty = np.asarray(denominators == 0, dtype=bool)
    result = ratios(numerators, np.where(empty, 1, denominators))
    result[empty] = np.nan
    return result


def token_labels(holdings: pd.DataFrame) -> pd.Series:
    """Return a name for each row's token that is unique, readable and harmless.

    Returns
    -------
    Series
        str, named ``token``, on the same index; two rows have the same name if, and only if,
        they have the same token. It is the symbol, of at most 24 characters, if that is
        unambiguous, visible ASCII without a bracket: other letters may look like these.
        Otherwise blockchain and contract are added, shortened as far as they stay unique, or
        ``(unknown token)`` for an unknown token. Charts use the same names.

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
    tokens = token_identities(holdings)
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
    """Return a table of wallets, or of owners, by tokens or assets.

    Parameters
    ----------
    n : int or None, default 50
        The number of tokens: after `value` those with the largest value, then those with the
        most holders, then the first ones. None for all.
    by : str or list of str, default "wallet"
        What the rows are, as in `totals`, except tokens. With ``"asset"`` in the list, the
        columns are assets, and the rows are wallets unless `by` has other names.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch: then failed and empty wallets have rows, too.
        ``details.wf`` has them.
    assets, bridged : optional
        By asset, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each wallet, in the order of `wallets`, else of its first row; index
        ``blockchain``, ``address``, str, or the other columns of `by`. One column of exact
        amounts for each token, in the order of `n`, named as by `token_labels`, or for each
        asset, named as in `totals`. An amount is 0 if the wallet holds none, since the service
        lists all its balances. It is NA if the balances of the wallet, or one of this token,
        are unknown, or one is of an unknown token, which may be this one; in a group, if this
        is true of a wallet that could hold it. No rows and no wallets give an empty frame on
        the same index.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `wallets` or `by` is not one of these, `wallets` lacks the wallet of a row, `n` is
        below 1, or `assets` or `bridged` is given without ``"asset"``.
    TokenListError, OSError
        If `assets` can't be used.
    ColumnsError, AmountError, PricesError
        If a column is missing, ``amount`` holds no amounts, or values have several currencies.

    Warns
    -----
    InputWarning
        Once in a session, if there are no `wallets`: completeness is unknown without them.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xb", "0xb"],
    ...     "symbol": ["ETH", "ETH", "USDC"], "token_blockchain": "ETH",
    ...     "token_address": [None, None, "0xc"],
    ...     "amount": pd.array(["1", "3", "0.5"], dtype="amount")})
    >>> frame.wf.pivot()
    token              ETH USDC
    blockchain address
    ETH        0xa       1    0
               0xb       3  0.5
    """
    if n is not None and n < 1:
        raise SettingsError(f"n must be 1 or more, not {n!r}", hint="give None for all tokens")
    positions, row_names = read_names(
        holdings, by, wallets, apart=IN_COLUMNS, assets=assets, bridged=bridged
    )
    groups = group(positions, row_names)
    chosen = ranked_tokens(totals_of(positions, group(positions, [positions.kind])))[:n]
    names = pd.Index(token_or_asset_names(positions, chosen), dtype="str", name=positions.kind)
    count, columns = len(groups), np.full(len(positions.tokens.keys), -1)
    columns[chosen] = np.arange(len(chosen))
    column = columns[positions.tokens.codes]
    cell = np.where(column < 0, -1, column * count + groups.codes)
    amounts = cell_sums(positions.amounts, cell, len(chosen) * count)
    amounts[_unknown_cells(positions, groups, chosen).ravel()] = pd.NA
    cells = {name: amounts[place * count : (place + 1) * count] for place, name in enumerate(names)}
    table = pd.DataFrame(cells, columns=names)
    rows = groups.labels
    is_one = len(rows.columns) == 1
    return table.set_axis(pd.Index(rows.iloc[:, 0]) if is_one else pd.MultiIndex.from_frame(rows))


def ranked_tokens(totals: pd.DataFrame) -> Codes:
    """Return the order of tokens by their totals: by value, by holders, by first row."""
    ranks = [name for name in ("value", "holders") if name in totals.columns]
    ranked = totals.sort_values(ranks, ascending=False, kind="stable", na_position="last")
    places: Codes = ranked.index.to_numpy()
    return places


def _unknown_cells(positions: Positions, groups: Groups, chosen: Codes) -> Mask:
    """Mark (tokens, groups) if an unknown wallet of the group could hold the token.

    Unknown is a wallet that failed, or, for known tokens, has a balance of an unknown token. A
    group of failed wallets alone is marked for all tokens.
    """
    sets, set_count = groups.wallet_set_codes, groups.wallet_set_count
    failed, named = ~positions.known, ~positions.tokens.unknown[chosen]
    sizes = np.bincount(sets, minlength=set_count)
    failures = np.bincount(sets[failed], minlength=set_count)
    unknown = np.tile(failures == sizes, (len(chosen), 1))
    if ((failures > 0) & (failures < sizes)).any():
        unknown |= _could_hold(positions, groups, chosen, failed)
    if positions.has_unknown_token.any():
        owners = positions.has_unknown_token
        unknown[named] |= _could_hold(positions, groups, chosen[named], owners)
    return unknown[:, groups.wallet_sets]


def _could_hold(positions: Positions, groups: Groups, chosen: Codes, wallets: Mask) -> Mask:
    """Mark (tokens, sets of wallets) if one of the marked wallets in the set could hold it."""
    on_chains = np.zeros((len(positions.chains), groups.wallet_set_count), dtype=np.float32)
    on_chains[positions.chain_codes[wallets], groups.wallet_set_codes[wallets]] = 1
    possible = np.zeros((len(positions.tokens.keys), len(positions.chains)), dtype=np.float32)
    possible[positions.possible_blockchains()] = 1
    return np.asarray(possible[chosen] @ on_chains > 0)


def overlap(
    holdings: PositionsLike,
    n: int | None = 100,
    *,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return the pairs of wallets, or of owners, with the largest overlap of tokens.

    Leave out native coins and spam first, since nearly every wallet holds those.

    Parameters
    ----------
    n : int or None, default 100
        The number of pairs; None for all with a token in common, up to half the square of the
        number of wallets.
    by : str or list of str, default "wallet"
        What is paired, as in `share`; with ``"asset"`` in the list, their assets are compared.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch. ``details.wf`` has them.
    assets, bridged : optional
        By asset, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each pair of wallets with a token in common, the largest ``jaccard`` first,
        then the most tokens in common, then in the order of the wallets: ``blockchain``,
        ``address``, ``other_blockchain``, ``other_address``, str, or the other columns of `by`;
        ``tokens_both`` and ``tokens_either`` (by asset ``assets_both`` and ``assets_either``),
        Int64: tokens of which both, or at least one, are known to hold more than 0;
        ``jaccard``, float64, the first over the second; and with `wallets` ``wallets_ok``,
        ``wallets_stale`` and ``wallets_asked``, Int64, of all wallets.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `wallets` or `by` is not one of these, `wallets` lacks the wallet of a row, `n` is
        below 1, or `assets` or `bridged` is given without ``"asset"``; or if there are too many
        wallets to compare: the square of their number and the pairs that share each token may
        be ten billion steps together, fifty million with ``n=None``.
    TokenListError, OSError
        If `assets` can't be used.
    ColumnsError, AmountError
        If a column is missing, or ``amount`` holds no amounts.

    Warns
    -----
    InputWarning
        Once in a session, if there are no `wallets`: completeness is unknown without them.

    Notes
    -----
    Jaccard, "The distribution of the flora in the alpine zone", New Phytologist 11 (1912),
    37-50. The time grows with the sum, over all tokens, of the square of their holders: 10,000
    wallets take seconds unless most of them hold the same tokens.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"blockchain": "ETH", "address": ["0xa", "0xa", "0xb"],
    ...     "symbol": ["A", "B", "A"], "token_blockchain": "ETH",
    ...     "token_address": ["0x1", "0x2", "0x1"],
    ...     "amount": pd.array(["1", "1", "1"], dtype="amount")})
    >>> frame.wf.overlap()[["address", "other_address", "tokens_both", "jaccard"]]
      address other_address  tokens_both  jaccard
    0     0xa           0xb            1      0.5
    """
    if n is not None and n < 1:
        raise SettingsError(f"n must be 1 or more, not {n!r}", hint="give None for all pairs")
    positions, names = read_names(
        holdings, by, wallets, apart="pairs compare tokens", assets=assets, bridged=bridged
    )
    groups = group(positions, names)
    rows = np.flatnonzero(positions.amounts.exact().integers > 0)
    stride = len(positions.tokens.keys) + 1
    held = sorted_unique(groups.codes[rows] * stride + positions.tokens.codes[rows])
    members, tokens = np.divmod(held, stride)
    sizes = np.bincount(members, minlength=len(groups))
    count, holders, limit = len(sizes), np.bincount(tokens), _STEPS if n else _STEPS_OF_ALL
    steps = count**2 + int((holders * (holders - 1) // 2).sum())
    if steps > limit:
        fewer_pairs = "" if n else "give n=100 for the 100 largest overlaps, or "
        raise SettingsError(
            f"comparing each two of {count:,} takes {steps:,} steps, and the limit is {limit:,}",
            hint=f"{fewer_pairs}compare fewer wallets: leave out the rows of others, or of tokens "
            'that all have; or group wallets by a column that you kept: by="owner"',
        )
    blocks = [_largest_overlaps(pairs, sizes, n) for pairs in _common(members, tokens, count)]
    every = np.concatenate([np.empty((3, 0), dtype=np.intp), *blocks], axis=1)
    first, second, both = _largest_overlaps(every, sizes, n)
    either = sizes[first] + sizes[second] - both
    one, other = (groups.labels.iloc[side].reset_index(drop=True) for side in (first, second))
    pairs: pd.DataFrame = one.join(other.add_prefix("other_"))
    kind = positions.kind
    counts = {f"{kind}s_both": count_array(both), f"{kind}s_either": count_array(either)}
    known = broadcast_completeness(positions, np.ones(len(positions.wallets), bool), len(both))
    return pairs.assign(**counts, jaccard=both / either, **known)


def _largest_overlaps(pairs: Codes, sizes: Codes, n: int | None) -> Codes:
    """Return the n pairs with the largest Jaccard, then the most tokens in common, then first."""
    first, second, both = pairs
    jaccard = both / (sizes[first] + sizes[second] - both)
    if n is not None and n < len(jaccard):
        largest = np.flatnonzero(jaccard >= np.partition(jaccard, -n)[-n])
        pairs, jaccard = pairs[:, largest], jaccard[largest]
    return pairs[:, np.lexsort((-pairs[2], -jaccard))[:n]]


def _common(members: Codes, tokens: Codes, count: int) -> Iterator[Codes]:
    """Yield blocks of three rows: a wallet, a later one, and how many tokens they share."""
    by_token = np.argsort(tokens, kind="stable")
    holders = members[by_token]
    places = np.empty_like(by_token)
    places[by_token] = np.arange(len(by_token))
    later = np.cumsum(np.bincount(tokens))[tokens] - places - 1  # later holders of the same token
    work = np.cumsum(np.bincount(members, weights=later, minlength=count) + count)
    edges = np.flatnonzero(np.diff(work // _BLOCK, prepend=-1, append=-1))
    for start, stop in pairwise(edges):
        rows = slice(*np.searchsorted(members, [start, stop]))
        repeats = later[rows]
        after = np.repeat(places[rows] + 1 - np.cumsum(repeats) + repeats, repeats)
        others = holders[after + np.arange(len(after))]
        mine = np.repeat(members[rows] - start, repeats)
        both = np.bincount(mine * count + others, minlength=(stop - start) * count)
        pairs = np.flatnonzero(both)
        yield np.stack((pairs // count + start, pairs % count, both[pairs]))
