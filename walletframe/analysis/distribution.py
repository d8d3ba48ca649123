"""How tokens are distributed over wallets: the largest amounts, shares, pivot tables, and pairs."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from walletframe.amounts import AmountArray, AmountDtype
from walletframe.amounts.integers import Exact, ratios
from walletframe.amounts.sums import Segments, sums
from walletframe.analysis.sums import distinct, distinct_pairs, spread, totals_of
from walletframe.errors import SettingsError
from walletframe.frames.asset_list import held_names, held_place
from walletframe.frames.contract import amounts_of, count_array, require_columns, text_array
from walletframe.frames.coverage import completeness_alike, completeness_among, of_one_token
from walletframe.frames.groups import group, named_token, read_names
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

OF_ONE: Final = "the shares are of one token or asset"  # why tokens make no groups
IN_ROWS: Final = "each has a row already"
MEASURES: Final = ("gini", "herfindahl", "top_share")
_AT_ONCE = 200_000  # rows
IN_COLUMNS = "each token is a column"  # why tokens make no rows
_BLOCK = 4_000_000  # pairs of wallets counted at once: some 100 MB
_STEPS, _STEPS_OF_ALL = 10**10, 5 * 10**7  # a minute; where all pairs are listed, some 5 GB


def top(amounts: pd.Series, n: int = 10) -> pd.Series:
    """Return the largest amounts, exactly.

    Parameters
    ----------
    n : int, default 10
        How many.

    Returns
    -------
    Series
        At most `n` amounts, the largest first, equal ones in their order; no NA.

    Raises
    ------
    AmountError
        If the values are no amounts.

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
        At most `n` rows on their own index: the largest first, equal ones in their order, none
        where `by` is NA.

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


def share(  # noqa: PLR0913 - what a caller may wish
    holdings: PositionsLike,
    token: TokenLike | None = None,
    *,
    asset: TokenLike | None = None,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return each wallet's, or owner's, amount of one token or asset, and its share of all.

    Parameters
    ----------
    token : str or (str, str or None), optional
        An unambiguous symbol, or (blockchain, contract), None for a native coin.
    asset : str or (str, str or None), optional
        In its place an asset as in `walletframe.assets`, or a contract of it: all its contracts
        are added up.
    by : str or list of str, default "wallet"
        Whose share: as in `totals`, but for tokens; by ``"owner"`` the wallets of one owner
        are added up, and those without an owner are one group. With ``"asset"`` among them,
        `token` names an asset.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch: then all that could hold the token have a row.
        ``details.wf`` has them.
    assets, bridged : optional
        With an asset, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each wallet, the largest amount first, equal ones in their order, unknown
        ones last: ``blockchain``, ``address``, str, or what else `by` names; ``amount``,
        amount, the exact sum of what is known, 0 where the wallet holds none, NA where it is
        unknown; ``amount_na``, Int64, balances of unknown amount; ``share``, float64 from 0 to
        1, the nearest to the amount over the sum of all, NaN where either is unknown or the sum
        is 0. By wallet the same in each row, else those of the group, Int64: with `asset`
        ``contracts`` and ``blockchains``, of how many contracts on how many blockchains more
        than 0 is held; with `wallets` ``wallets_ok``, ``wallets_stale`` and ``wallets_asked``,
        of how many of these wallets the amount is known, and of how many of those as of an
        answer that is out of date.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `wallets` or `by` is something else, `wallets` lacks the wallet of a row, neither a
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
        Once in a session, if there are no `wallets`: how complete that is can't be told.

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
    named, by = named_token(token, asset, by)
    if named is None:
        hint = "name one: token=… or asset=…"
        raise SettingsError("a share is of one token or of one asset", hint=hint)
    everything, names = read_names(
        holdings, by, wallets, apart=OF_ONE, assets=assets, bridged=bridged
    )
    positions = everything.where(everything.tokens.codes == held_place(everything, named))
    groups = group(positions, names)
    possible = positions.able(0) & positions.asked
    told = of_one_token(positions, np.ones(len(positions.holdings), dtype=bool))
    known = completeness_among(told, groups, possible)
    exact, count = positions.amounts.exact(), len(groups)
    added = Segments(exact, groups.codes, count)
    balances = np.bincount(groups.codes, minlength=count)
    nobody = np.asarray(known["wallets_ok"] == 0, bool) if known else np.zeros(count, bool)
    units = sums(added)
    missing = np.where(balances > 0, added.sizes == 0, nobody)
    shares = ratios(units, units.sum() or 1)
    shares[missing | (units.sum() == 0)] = np.nan
    everyone = groups.labels.assign(
        amount=AmountArray(units, missing, exact.scale),
        amount_na=count_array(balances - added.sizes, (balances == 0) & missing),
        share=shares,
        **_spread(positions, groups, missing),
    )
    if groups.names == ["wallet"]:  # which alone says only its own status
        known = completeness_alike(told, possible, count)
    able = np.bincount(groups.owner_codes[possible], minlength=groups.owned)[groups.owners] > 0
    found = everyone.assign(**known)[(balances > 0) | able]
    order = found["amount"].array.argsort(ascending=False)
    ranked: pd.DataFrame = found.iloc[order].reset_index(drop=True)
    return ranked


def _spread(positions: Positions, groups: Groups, missing: Mask) -> dict[str, Any]:
    """Count the contracts of an asset and their blockchains: of each group, of all by wallet."""
    if positions.assets is None:
        return {}
    held = positions.amounts.exact().integers > 0
    codes, count = groups.codes[held], len(groups)
    if groups.names == ["wallet"]:
        codes, count, missing = np.zeros_like(codes), 1, np.zeros_like(missing)
    found = spread(positions, distinct_pairs(codes, positions.contracts.codes[held]), count)
    return {name: count_array(np.resize(one, len(groups)), missing) for name, one in found.items()}


def concentration(  # noqa: PLR0913 - what a caller may wish
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
        In its place an asset, as in `share`. All of them: ``by="asset"``.
    top : int, default 10
        The number of largest holders that ``top_share`` adds up.
    by : str or list of str, default "wallet"
        What counts as one holder, as in `share`; ``holders`` counts wallets all the same.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch. ``details.wf`` has them.
    assets, bridged : optional
        With an asset, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each token, or asset: the columns of `totals` by it, and ``gini``,
        ``herfindahl`` and ``top_share`` (the share of the largest holders), float64 from 0 to
        1, NaN where nobody holds any. No rows give no tokens.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `wallets` or `by` is something else, `wallets` lacks the wallet of a row, `top` is
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
        Once in a session, if there are no `wallets`: how complete that is can't be told.

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
        raise SettingsError(f"top: {top!r}", hint="1 or more of the largest holders")
    named, by = named_token(token, asset, by)
    positions, names = read_names(
        holdings, by, wallets, apart=IN_ROWS, assets=assets, bridged=bridged
    )
    found = totals_of(positions, group(positions, [positions.kind]))
    measured = found.assign(**_inequality(positions, group(positions, names), top))
    if named is None:
        return measured
    return measured.iloc[[held_place(positions, named)]].reset_index(drop=True)


def _inequality(positions: Positions, members: Groups, top: int) -> dict[str, Floats]:
    """Measure, for each token, what the groups that hold more than 0 of it hold."""
    wide, exact, tokens = len(members), positions.amounts.exact(), positions.tokens
    by_token = np.argsort(tokens.codes, kind="stable")
    ends = np.cumsum(np.bincount(tokens.codes, minlength=len(tokens.keys)))
    edges = np.append(np.flatnonzero(np.diff(ends // _AT_ONCE)) + 1, len(ends))
    found, first, start = [], 0, 0
    for after in edges.tolist():  # some tokens at a time, whose amounts the processor can hold
        rows = by_token[start : ends[after - 1] if after else 0]
        some = Exact(exact.integers[rows], exact.missing[rows], exact.scale)
        pairs = (tokens.codes[rows] - first) * wide + members.codes[rows]
        found.append(_measured(some, pairs, after - first, wide, top))
        first, start = after, start + len(rows)
    return {name: np.concatenate([part[name] for part in found]) for name in MEASURES}


def _measured(amounts: Exact, pairs: Codes, count: int, wide: int, top: int) -> dict[str, Floats]:
    """Measure so many tokens; a pair is a token times `wide` and a group."""
    codes, pairs = pd.factorize(pairs)
    balances = sums(Segments(amounts, codes, len(pairs)))
    held = np.flatnonzero(balances > 0)
    positive = Exact(balances[held], np.zeros(len(held), dtype=bool), amounts.scale)
    holders = Segments(positive, pairs[held] // max(wide, 1), count)
    ascending, sizes = holders.sorted_rows, holders.sizes
    units, ids = holders.integers[ascending], holders.row_ids[ascending]
    ranks = np.arange(1, len(ids) + 1) - holders.starts[ids]
    filled = np.flatnonzero(sizes)

    def added(terms: Integers) -> Integers:
        found = np.full(count, 0, dtype=object)
        if len(filled):
            found[filled] = np.add.reduceat(terms, holders.starts[filled])
        return found

    largest, foremost = np.full(count, 0, dtype=object), ranks > sizes[ids] - top
    np.add.at(largest, ids[foremost], units[foremost])
    whole, weighted, counts = added(units), added(units * ranks), sizes.astype(object)
    gini = _ratios(2 * weighted - (counts + 1) * whole, counts * whole)
    squared = _ratios(added(units * units), whole**2)
    return dict(zip(MEASURES, (gini, squared, _ratios(largest, whole)), strict=True))


def _ratios(numerators: Integers, denominators: Integers) -> Floats:
    nobody = np.asarray(denominators == 0, dtype=bool)
    found = ratios(numerators, np.where(nobody, 1, denominators))
    found[nobody] = np.nan
    return found


def token_labels(holdings: pd.DataFrame) -> pd.Series:
    """Return a name for each row's token that is unique, readable and harmless.

    Returns
    -------
    Series
        str, named ``token``, on the same index; two rows have the same name if, and only if,
        they have the same token. It is the symbol, of at most 24 characters, if that is
        unambiguous, visible ASCII without a bracket: other letters may look like these.
        Otherwise blockchain and contract are added, shortened as far as they stay unique; of an
        unknown token ``(unknown token)``. Charts use the same names.

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
        What the rows stand for: as in `totals`, but for tokens. With ``"asset"`` among them,
        the columns are assets, of wallets unless `by` has more.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch: then failed and empty wallets have rows, too.
        ``details.wf`` has them.
    assets, bridged : optional
        By asset, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each wallet, in the order of `wallets`, else of its first row; index
        ``blockchain``, ``address``, str, or what else `by` names. One column of exact amounts
        for each token, in the order that `n` says, named as by `token_labels`, or for each
        asset, named as in `totals`: 0 where the wallet holds none, since the service lists all
        that it holds; NA where its balances, or one of this token, are unknown, or one is of an
        unknown token, which may be this one; of several wallets, where that is so of one that
        could hold it. No rows and no wallets give an empty frame on the same index.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `wallets` or `by` is something else, `wallets` lacks the wallet of a row, `n` is
        below 1, or `assets` or `bridged` is given without ``"asset"``.
    TokenListError, OSError
        If `assets` can't be used.
    ColumnsError, AmountError, PricesError
        If a column is missing, ``amount`` holds no amounts, or values have several currencies.

    Warns
    -----
    InputWarning
        Once in a session, if there are no `wallets`: how complete that is can't be told.

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
        raise SettingsError(f"n: {n!r}", hint="a number of tokens, or None for all")
    positions, asked = read_names(
        holdings, by, wallets, apart=IN_COLUMNS, assets=assets, bridged=bridged
    )
    groups = group(positions, asked)
    found = totals_of(positions, group(positions, [positions.kind]))
    chosen = ranked_tokens(found)[:n]
    names = pd.Index(held_names(positions, chosen), dtype="str", name=positions.kind)
    count, columns = len(groups), np.full(len(positions.tokens.keys), -1)
    columns[chosen] = np.arange(len(chosen))
    column = columns[positions.tokens.codes]
    cell = np.where(column < 0, -1, column * count + groups.codes)
    added = cell_sums(positions.amounts, cell, len(chosen) * count)
    added[_unknown(positions, groups, chosen).ravel()] = pd.NA
    cells = {name: added[place * count : (place + 1) * count] for place, name in enumerate(names)}
    table = pd.DataFrame(cells, columns=names)
    rows = groups.labels
    is_one = len(rows.columns) == 1
    return table.set_axis(pd.Index(rows.iloc[:, 0]) if is_one else pd.MultiIndex.from_frame(rows))


def ranked_tokens(found: pd.DataFrame) -> Codes:
    """Rank tokens by their totals, the foremost first: by value, by holders, by first row."""
    ranks = [name for name in ("value", "holders") if name in found.columns]
    ranked = found.sort_values(ranks, ascending=False, kind="stable", na_position="last")
    places: Codes = ranked.index.to_numpy()
    return places


def _unknown(positions: Positions, groups: Groups, chosen: Codes) -> Mask:
    """Return, token by token, the groups with an unknown wallet that could hold it.

    That is so where the wallet is not known, or hides a token; and where none of a group is known.
    """
    lost, named = ~positions.known, ~positions.tokens.unknown[chosen]
    whole = np.bincount(groups.owner_codes, minlength=groups.owned)
    left = np.bincount(groups.owner_codes[lost], minlength=groups.owned)
    found = np.tile(left == whole, (len(chosen), 1))
    if ((left > 0) & (left < whole)).any():
        found |= _held_by(positions, groups, chosen, lost)
    if positions.hides.any():
        found[named] |= _held_by(positions, groups, chosen[named], positions.hides)
    return found[:, groups.owners]


def _held_by(positions: Positions, groups: Groups, chosen: Codes, wallets: Mask) -> Mask:
    """Return, token by token, the sets of wallets in which one of some could hold it."""
    there = np.zeros((len(positions.chains), groups.owned), dtype=np.float32)
    there[positions.chain_codes[wallets], groups.owner_codes[wallets]] = 1
    able = np.zeros((len(positions.tokens.keys), len(positions.chains)), dtype=np.float32)
    able[positions.could_hold()] = 1
    return np.asarray(able[chosen] @ there > 0)


def overlap(
    holdings: PositionsLike,
    n: int | None = 100,
    *,
    by: By = "wallet",
    wallets: FetchLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Find the pairs of wallets, or of owners, that hold the most of the same tokens.

    Leave out native coins and spam first, since nearly every wallet holds those.

    Parameters
    ----------
    n : int or None, default 100
        The number of pairs; None for all with a token in common, up to half the square of the
        number of wallets.
    by : str or list of str, default "wallet"
        What is paired, as in `share`; with ``"asset"`` among them, by what assets they hold.
    wallets : DataFrame or WalletDetails, optional
        The ``wallets`` of the same fetch. ``details.wf`` has them.
    assets, bridged : optional
        By asset, as in `totals`.

    Returns
    -------
    DataFrame
        One row for each pair of wallets that have a token in common, the most alike first,
        then those with the most tokens in common, then in the order of the wallets:
        ``blockchain``, ``address``, ``other_blockchain``, ``other_address``, str, or what else
        `by` names; ``tokens_both`` and ``tokens_either`` (by asset ``assets_both`` and
        ``assets_either``), Int64: tokens of which both, or at least one, are known to hold more
        than 0; ``jaccard``, float64, the one over the other; and with `wallets` ``wallets_ok``,
        ``wallets_stale`` and ``wallets_asked``, Int64, of all wallets.

    Raises
    ------
    ArgumentError, UnknownWalletError, SettingsError
        If `wallets` or `by` is something else, `wallets` lacks the wallet of a row, `n` is
        below 1, or `assets` or `bridged` is given without ``"asset"``; or if there are too many
        to compare: the square of their number and the pairs that share each token are together
        at most ten billion steps, fifty million where all pairs are listed.
    TokenListError, OSError
        If `assets` can't be used.
    ColumnsError, AmountError
        If a column is missing, or ``amount`` holds no amounts.

    Warns
    -----
    InputWarning
        Once in a session, if there are no `wallets`: how complete that is can't be told.

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
        raise SettingsError(f"n: {n!r}", hint="a number of pairs, or None for all")
    positions, names = read_names(
        holdings, by, wallets, apart="tokens are what is compared", assets=assets, bridged=bridged
    )
    groups = group(positions, names)
    rows = np.flatnonzero(positions.amounts.exact().integers > 0)
    wide = len(positions.tokens.keys) + 1
    held = distinct(groups.codes[rows] * wide + positions.tokens.codes[rows])
    members, tokens = np.divmod(held, wide)
    sizes = np.bincount(members, minlength=len(groups))
    count, holders, most = len(sizes), np.bincount(tokens), _STEPS if n else _STEPS_OF_ALL
    steps = count**2 + int((holders * (holders - 1) // 2).sum())
    if steps > most:
        some = "n=100 lists the foremost pairs alone; or "
        raise SettingsError(
            f"{count:,} by {count:,} to compare: {steps:,} steps, and {most:,} are the most",
            hint=f"{'' if n else some}compare fewer: leave out the rows of other wallets, or of "
            'tokens that all have; or put wallets together by what you keep of them: by="owner"',
        )
    blocks = [_most_alike(block, sizes, n) for block in _common(members, tokens, count)]
    whole = np.concatenate([np.empty((3, 0), dtype=np.intp), *blocks], axis=1)
    left, right, both = _most_alike(whole, sizes, n)
    either = sizes[left] + sizes[right] - both
    one, other = (groups.labels.iloc[side].reset_index(drop=True) for side in (left, right))
    pairs: pd.DataFrame = one.join(other.add_prefix("other_"))
    kind = positions.kind
    counts = {f"{kind}s_both": count_array(both), f"{kind}s_either": count_array(either)}
    alike = completeness_alike(positions, np.ones(len(positions.wallets), bool), len(both))
    return pairs.assign(**counts, jaccard=both / either, **alike)


def _most_alike(pairs: Codes, sizes: Codes, n: int | None) -> Codes:
    """Return the n most alike pairs, then those with the most in common, equal ones in order."""
    left, right, both = pairs
    alike = both / (sizes[left] + sizes[right] - both)
    if n is not None and n < len(alike):
        foremost = np.flatnonzero(alike >= np.partition(alike, -n)[-n])
        pairs, alike = pairs[:, foremost], alike[foremost]
    return pairs[:, np.lexsort((-pairs[2], -alike))[:n]]


def _common(members: Codes, tokens: Codes, count: int) -> Iterator[Codes]:
    """Yield blocks of pairs of wallets with a token in common: one, a later one, the tokens."""
    by_token = np.argsort(tokens, kind="stable")
    holders = members[by_token]
    places = np.empty_like(by_token)
    places[by_token] = np.arange(len(by_token))
    later = np.cumsum(np.bincount(tokens))[tokens] - places - 1  # holders behind, of the same token
    work = np.cumsum(np.bincount(members, weights=later, minlength=count) + count)
    edges = np.flatnonzero(np.diff(work // _BLOCK, prepend=-1, append=-1))
    for start, stop in pairwise(edges):
        rows = slice(*np.searchsorted(members, [start, stop]))
        reach = later[rows]
        behind = np.repeat(places[rows] + 1 - np.cumsum(reach) + reach, reach)
        others = holders[behind + np.arange(len(behind))]
        mine = np.repeat(members[rows] - start, reach)
        both = np.bincount(mine * count + others, minlength=(stop - start) * count)
        found = np.flatnonzero(both)
        yield np.stack((found // count + start, found % count, both[found]))
