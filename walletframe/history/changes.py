"""What changed between two times, and what is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.errors import (
    Argument,
    ArgumentError,
    RenamedWarning,
    Spelled,
)
from walletframe.frames import (
    WalletDetails,
    details_given,
)
from walletframe.history.choice import chosen, refuse_needless
from walletframe.history.grid import OK, STATUS, grid, narrowed
from walletframe.history.sides import comparable, told_of, warn_of_rows_left_out
from walletframe.history.sums import sums_of_changes
from walletframe.notice import notify

if TYPE_CHECKING:
    from walletframe.frames import AssetsLike, By, DetailsLike, TokenLike
    from walletframe.history.grid import Grid, Places
    from walletframe.history.sums import Sums

CHANGE = pd.CategoricalDtype(
    pd.Index(["new", "gone", "increased", "decreased", "unknown"], dtype="str")
)
_NEW, _GONE, _INCREASED, _DECREASED, _UNKNOWN = range(len(CHANGE.categories))


def compare(  # noqa: PLR0913 - what a caller may wish
    before: DetailsLike,
    after: DetailsLike,
    *,
    by: By | None = None,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
    symbol: str | None = None,
) -> pd.DataFrame:
    """Say what changed in the holdings of each wallet, exactly, and what is unknown.

    Parameters
    ----------
    before, after : WalletDetails or tuple of (DataFrame, DataFrame)
        Two fetches, or two snapshots, such as ``history.snapshot("yesterday")``.
    by : str or list of str, optional
        Add up the changes of each token by this: a column of your own that ``wallets`` keeps, such
        as ``"owner"``, ``"wallet"``, ``"blockchain"``, or ``"token"`` alone. With ``"asset"``,
        those of each asset. A wallet belongs where `after` says; where that says nothing, where
        `before` does.
    token : str or (str, str or None), optional
        Only this token: (blockchain, contract), None for a native coin, or an unambiguous symbol.
        Wallets that could hold it and are unknown in one of the two have a row of it, too.
    asset : str or (str, str or None), optional
        Only this asset, such as ``"USDC"``, or that of a contract: the amounts of all its contracts
        added up, and in the columns ``asset`` in the place of those of a token. With `by`, too,
        unless that has ``"token"``.
    assets, bridged : optional
        Of assets: contracts of your own, and whether twins count, as `walletframe.assets` has them.
    symbol : str, optional
        The old name of `token`; the next release removes it.

    Returns
    -------
    DataFrame
        One row for each token of a wallet that changed or may have, on an index from 0; none where
        all is known to be as it was. In the order of the wallets of `before`, then of those in
        `after` alone. With the columns

        - ``blockchain``, ``address``, str: the wallet, as last written;
        - ``symbol``, ``token_address``, ``token_blockchain``, str: the token; NA in the one row of
          a wallet of which nothing is known in one of the two and no token in the other;
        - ``before``, ``after``, amount: 0 where the answer does not list the token, NA where the
          amount is not known;
        - ``difference``, amount: ``after - before``, NA where either is;
        - ``change``, category: ``new`` (from 0 or not listed), ``gone`` (to 0 or not listed),
          ``increased``, ``decreased``, ``unknown``;
        - ``status_before``, ``status_after``, category: ``ok`` where the amount is known; else the
          wallet's status, ``stale`` (its answer was out of date, or is the very answer of the
          earlier time), ``no_amount`` (it could not be read, or is without decimals),
          ``unknown_token`` (the token is the same as no other, so that nothing can be said of the
          other time) or ``not_asked``.

        With `by`, one row for each of these and each token that changed or may have, with the
        columns of `by`, then ``symbol`` to ``change`` (by asset, without those of a token), where
        ``before`` and ``after`` add up the wallets that are known in both, and ``change`` is
        ``unknown`` where these don't differ; then ``wallets_known`` and ``wallets``, int64: how
        many that is, of how many that could hold some. Where they differ, there may have been more.

    Raises
    ------
    ArgumentError
        If one of the two is no fetch, or both `token` and `symbol` are given.
    SettingsError
        If `by` has a name that is none of these, if both `token` and `asset` are given, or `assets`
        or `bridged` without an asset.
    TokenListError
        If `assets` can't be used.
    ColumnsError, AmountError
        If a column is missing, or the amounts are of another dtype.
    UnknownTokenError, AmbiguousTokenError
        If neither holds the token or asset, or several tokens share the symbol.
    SnapshotError
        If both are the same snapshot; if one of them has a wallet twice, or holdings of a wallet
        that it lacks; or if one of the two is simulated and the other is not.

    Warns
    -----
    RenamedWarning
        If `symbol` is given.
    InputWarning
        If one of the two alone lacks holdings that its ``wallets.tokens`` says were fetched, and
        has none of a token that the other has; if two fetches of different times have the same
        answers, from the cache: such wallets seem unchanged.

    Notes
    -----
    Wallets and tokens are matched by blockchain and address or contract, hex without case; a token
    that an answer lists twice is added up. Give both frames whole: a row that was dropped
    from one of the two counts as not listed. An answer from the cache that two snapshots
    have is ``stale`` in the later one: nobody asked in between.

    Examples
    --------
    >>> import walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     before = walletframe.fetch_wallets("NEAR.alice.near", client=client)
    >>> compare(before, before).empty
    True
    >>> failed = before._replace(wallets=before.wallets.assign(status="failed"))
    >>> compare(before, failed)["change"].unique().tolist()
    ['unknown']
    """
    earlier, later = details_given(before, "before"), details_given(after, "after")
    if symbol is not None:
        if token is not None:
            hint = Spelled("give ", Argument("token"), " alone")
            raise ArgumentError("token and symbol are both given", hint=hint)
        notify("symbol=… is now called token=…; the next release removes it", RenamedWarning)
        token = symbol
    earlier, later = comparable(earlier, later)
    names = [by] if isinstance(by, str) else list(by or [])
    choice = chosen(
        pd.concat([earlier.holdings, later.holdings], ignore_index=True),
        token,
        asset,
        assets=assets,
        bridged=bridged,
        apart="token" in names,
    )
    sides = [narrowed(side) for side in (earlier, later)]
    both = WalletDetails(*(pd.concat(pair, ignore_index=True) for pair in zip(*sides, strict=True)))
    asked_times, times = (np.repeat([0, 1], [*map(len, pair)]) for pair in zip(*sides, strict=True))
    cells = grid(both, asked_times, times, len(sides), choice)
    warn_of_rows_left_out(sides, cells)
    if by is None:
        refuse_needless(asset, assets, bridged=bridged)
        changes = _changes(cells)
        changes.attrs = told_of(earlier, later)
        return changes
    if asset is not None and "asset" not in names:
        by = names if "token" in names else [*names, "asset"]
        assets, bridged = (None, False) if "token" in names else (assets, bridged)
    every = pd.concat([earlier.wallets, later.wallets], ignore_index=True)
    sums = sums_of_changes(cells, every, by, assets=assets, bridged=bridged)
    changes = _added_up(cells, *sums)
    changes.attrs = told_of(earlier, later)
    return changes


def _added_up(
    cells: Grid, labels: pd.DataFrame, sums: Sums, known: Places, able: Places
) -> pd.DataFrame:
    earlier, later = sums.T
    difference = later - earlier
    named = labels["asset" if "token_blockchain" not in labels else "token_blockchain"]
    some = (known > 0) & named.notna().to_numpy()
    kinds = [~some | (difference == 0), earlier == 0, later == 0, difference > 0]
    change = np.select(kinds, [_UNKNOWN, _NEW, _GONE, _INCREASED], _DECREASED)
    return labels.assign(
        before=cells.amounts(earlier, some),
        after=cells.amounts(later, some),
        difference=cells.amounts(difference, some),
        change=pd.Categorical.from_codes(change, dtype=CHANGE),
        wallets_known=known.astype(np.int64),
        wallets=able.astype(np.int64),
    )


def _changes(cells: Grid) -> pd.DataFrame:
    known = cells.status == OK
    both_known = known.all(axis=1)
    earlier, later = cells.integers.T
    difference = later - earlier
    rows = np.flatnonzero(~both_known | (difference != 0))
    both_known, difference = both_known[rows], difference[rows]
    earlier, later, known = earlier[rows], later[rows], known[rows]
    kinds = [~both_known, earlier == 0, later == 0, difference > 0]
    change = np.select(kinds, [_UNKNOWN, _NEW, _GONE, _INCREASED], _DECREASED)
    status = cells.status[rows]
    return cells.names(rows).assign(
        before=cells.amounts(earlier, known[:, 0]),
        after=cells.amounts(later, known[:, 1]),
        difference=cells.amounts(difference, both_known),
        change=pd.Categorical.from_codes(change, dtype=CHANGE),
        status_before=pd.Categorical.from_codes(status[:, 0], dtype=STATUS),
        status_after=pd.Categorical.from_codes(status[:, 1], dtype=STATUS),
    )
