"""What changed between two times, and what is unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.errors import InputWarning, SettingsError, SnapshotError
from walletframe.frames.asset_list import refuse_assets
from walletframe.frames.contract import COMPARED, SIMULATED, Source, require_columns, stacked
from walletframe.frames.coverage import completeness
from walletframe.frames.details import WalletDetails, details_given
from walletframe.frames.groups import ADDED, group, names_of, read_groups
from walletframe.frames.identity import wallet_identities
from walletframe.frames.kept import kept_names
from walletframe.frames.known import is_simulated, known_wallets
from walletframe.history.folder import LISTED, SNAPSHOT
from walletframe.history.timelines import OK, STATUS, chosen, grid, narrowed
from walletframe.notice import notify
from walletframe.numerals import many
from walletframe.pandas_versions import TEXT
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import DetailsLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Mask
    from walletframe.frames.names import TokenLike
    from walletframe.history.timelines import Grid, Integers

_WALLET = ["blockchain", "address"]
_TOKEN = ("symbol", "token_address", "token_blockchain")
_OF_WALLETS = ("wallet", "blockchain")
CHANGE = pd.CategoricalDtype(
    pd.Index(["new", "gone", "increased", "decreased", "unknown"], dtype=TEXT)
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
) -> pd.DataFrame:
    """Compare the holdings of each wallet, exactly, with what is unknown.

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
          ``unknown_token`` (the wallet has a balance of an unknown token, which may be this one; or
          this is the unknown one, of which nothing can be said at the other time) or ``not_asked``.

        With `by`, one row for each of these and each token that changed or may have, with the
        columns of `by`, then ``symbol`` to ``change`` (by asset, without those of a token), where
        ``before`` and ``after`` add up the wallets that are known in both, and ``change`` is
        ``unknown`` where these don't differ; then ``wallets_known`` and ``wallets``, int64: how
        many that is, of how many that could hold some. Where they differ, there may have been more.

    Raises
    ------
    ArgumentError
        If one of the two is no fetch.
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
    earlier, later = _comparable(details_given(before, "before"), details_given(after, "after"))
    names = [by] if isinstance(by, str) else list(by or [])
    held, apart = stacked([earlier.holdings, later.holdings]), "token" in names
    choice = chosen(held, token, asset, assets=assets, bridged=bridged, apart=apart)
    sides = [narrowed(side) for side in (earlier, later)]
    both = WalletDetails(*map(stacked, zip(*sides, strict=True)))
    asked_times, times = (np.repeat([0, 1], [*map(len, pair)]) for pair in zip(*sides, strict=True))
    cells = grid(both, asked_times, times, len(sides), choice)
    _warn_of_rows_left_out(sides, cells)
    if by is None:
        if asset is None:
            refuse_assets(assets, bridged=bridged)
        changes = _changes(cells)
    else:
        if asset is not None and "asset" not in names:
            by = names if apart else [*names, "asset"]
            assets, bridged = (None, False) if apart else (assets, bridged)
        every = stacked([earlier.wallets, later.wallets])
        changes = _added_up(cells, every, by, assets=assets, bridged=bridged)
    changes.attrs = _told_of(earlier, later)
    return changes


def _added_up(
    cells: Grid, wallets: pd.DataFrame, by: By, *, assets: AssetsLike | None, bridged: bool
) -> pd.DataFrame:
    """Add up changes by token or asset, and by what `wallets`, all rows of both, have of theirs."""
    who = wallets.groupby(cells.who.codes[: len(wallets)]).last().astype(wallets.dtypes)
    names = _checked(by, who)
    rows = np.flatnonzero(cells.tokens >= 0)
    pairs = cells.labels(rows).assign(amount=cells.amounts(cells.integers[rows, 1], rows >= 0))
    positions, groups = read_groups(pairs, names, who, assets=assets, bridged=bridged)
    if of_wallets := [name for name in names if name not in ADDED]:
        owners = group(positions, of_wallets)
    else:
        owners = replace(groups, names=[], owners=np.arange(1), columns={})
    whose = cells.who.codes[cells.wallet_rows]  # of each pair its wallet, by its row in `who`
    codes = len(groups) + owners.owner_codes[whose]  # what has no token is a group of its owners
    codes[rows] = groups.codes
    count, known = len(groups) + len(owners), (cells.status == OK).all(axis=1)
    partial = np.unique(codes[~known] * len(who) + whose[~known])  # a wallet counts as a whole
    known &= ~np.isin(codes * len(who) + whose, partial)
    sums = np.full((count, 2), 0, dtype=object)
    np.add.at(sums, codes[known], cells.integers[known])

    sure = (cells.wallet_status == OK).all(axis=1)
    positions = replace(positions, known=sure, stale=np.zeros_like(sure))
    counted = [completeness(positions, each) for each in (groups, owners)]
    able, some = (
        np.concatenate([np.asarray(each[name], dtype=np.intp) for each in counted])
        for name in ("wallets_asked", "wallets_ok")
    )
    unsure, lost = (partial // max(len(who), 1)), sure[partial % max(len(who), 1)]
    some -= np.bincount(unsure[lost], minlength=count)
    odd = np.bincount(unsure, minlength=count)
    order = np.argsort(np.append(groups.owners, owners.owners), kind="stable")
    told = order[((odd > 0) | (sums[:, 0] != sums[:, 1]))[order]]
    nameless = owners.labels.reindex(range(len(owners)))
    labels = pd.concat([groups.labels, nameless], ignore_index=True)
    tokens = [name for name in _TOKEN if name in labels]
    labels = labels[[*(name for name in labels if name not in tokens), *tokens]]
    labels, some = labels.take(told).reset_index(drop=True), some[told]
    named = labels["asset" if "token_blockchain" not in labels else "token_blockchain"]
    is_known = (some > 0) & named.notna().to_numpy()
    return _compared(cells, labels, sums[told], np.column_stack([is_known, is_known])).assign(
        wallets_known=some.astype(np.int64), wallets=able[told].astype(np.int64)
    )


def _changes(cells: Grid) -> pd.DataFrame:
    known = cells.status == OK
    rows = np.flatnonzero(~known.all(axis=1) | (cells.integers[:, 0] != cells.integers[:, 1]))
    before, after = cells.status[rows].T
    return _compared(cells, cells.names(rows), cells.integers[rows], known[rows]).assign(
        status_before=pd.Categorical.from_codes(before, dtype=STATUS),
        status_after=pd.Categorical.from_codes(after, dtype=STATUS),
    )


def _compared(cells: Grid, labels: pd.DataFrame, integers: Integers, known: Mask) -> pd.DataFrame:
    """Compare two columns of integers, of which some are known."""
    (earlier, later), both = integers.T, np.asarray(known.all(axis=1))
    difference = later - earlier
    kinds = [~both | (difference == 0), earlier == 0, later == 0, difference > 0]
    change = np.select(kinds, [_UNKNOWN, _NEW, _GONE, _INCREASED], _DECREASED)
    return labels.assign(
        before=cells.amounts(earlier, known[:, 0]),
        after=cells.amounts(later, known[:, 1]),
        difference=cells.amounts(difference, both),
        change=pd.Categorical.from_codes(change, dtype=CHANGE),
    )


def _comparable(before: WalletDetails, after: WalletDetails) -> tuple[WalletDetails, WalletDetails]:
    """Return two fetches in which each answer is of one time alone, or raise that they aren't."""
    frames = before.wallets, after.wallets
    kinds: set[bool] = set()
    for wallets in frames:
        require_columns(wallets, ["service", "source", "fetched_at"])
        kinds |= set(wallets["service"].isin([SIMULATED]))
    if len(kinds) > 1:
        raise SnapshotError(
            "simulated holdings can't be compared with real ones",
            hint="compare snapshots of one and the same service: see wallets.service",
        )
    times = [wallets.get(SNAPSHOT, pd.Series([])) for wallets in frames]
    same = times[0][times[0].isin(times[1])]
    if len(same):
        raise SnapshotError(
            f"before and after are the same snapshot, of {same.iloc[0]}",
            hint=f"save a newer one, or name an earlier time: {LISTED} lists them",
        )
    # An answer that two snapshots have came from the cache in the later: nobody asked in between.
    # Of fetches that is only told: who asks again soon for what failed wants to see what changed.
    earlier, newest = map(_newest, frames)
    if pd.isna(earlier) or pd.isna(newest) or bool(earlier == newest):
        return before, after
    names = [*_WALLET, "service", "fetched_at"]
    both = stacked(wallets[names] for wallets in frames)
    answers = both[["service", "fetched_at"]].assign(wallet=wallet_identities(both).codes)
    repeated = answers.duplicated(keep=False) & answers["fetched_at"].notna()
    sides = np.split(repeated.to_numpy(), [len(before.wallets)])
    later = int(newest > earlier)
    if not all(SNAPSHOT in wallets for wallets in frames):
        if count := int(sides[later].sum()):
            notify(
                f"{count:,} of {many(len(frames[later]), 'wallet')} came with the same answer in "
                "both, from the cache, and seem unchanged: nobody asked in between",
                InputWarning,
            )
        return before, after
    stale = frames[later]["source"].astype(TEXT).mask(sides[later], Source.STALE.value)
    outdated = (before, after)[later]._replace(wallets=frames[later].assign(source=stale))
    return (before, outdated) if later else (outdated, after)


def _newest(wallets: pd.DataFrame) -> Any:
    """Return the time that wallets are of: of the snapshot, else of the newest answer."""
    name = SNAPSHOT if SNAPSHOT in wallets else "fetched_at"
    return pd.to_datetime(wallets[name], utc=True).max()


def _warn_of_rows_left_out(sides: Sequence[WalletDetails], cells: Grid) -> None:
    """Warn where rows are missing from one of the two alone, so that tokens seem gone or new."""
    missing = []
    for wallets, holdings in sides:
        fetched = wallets["tokens"][known_wallets(wallets)].sum()
        missing.append(max(int(fetched) - len(holdings), 0))
    if all(missing) or not any(missing):
        return
    short = int(missing[1] > 0)
    known = (cells.status == OK).all(axis=1)
    lone = known & (cells.integers[:, short] == 0) & (cells.integers[:, 1 - short] != 0)
    if count := int(lone.sum()):
        name, other, seem = ("after", "before", "gone") if short else ("before", "after", "new")
        notify(
            f"{name} has {many(missing[short], 'row')} of holdings fewer than its wallets.tokens "
            f"says were fetched, and {many(count, 'balance')} of {other} may seem {seem} for that: "
            "give both whole, or leave the same tokens out of both",
            InputWarning,
        )


def _told_of(before: WalletDetails, after: WalletDetails) -> Mapping[Hashable | None, Any]:
    """Set the attributes that charts of changes read, which any file of a frame can hold."""
    times = {"before": _newest(before.wallets), "after": _newest(after.wallets)}
    told = {name: f"{time:%Y-%m-%d %H:%M} UTC" for name, time in times.items() if not pd.isna(time)}
    if is_simulated(before.wallets) or is_simulated(after.wallets):
        told["service"] = SIMULATED
    return {COMPARED: told}


def _checked(by: By, wallets: pd.DataFrame) -> list[str]:
    """Check what to add up by; tokens come last, unless assets stand in their place."""
    names = names_of(by)
    kept = kept_names(wallets)
    if not names or any(name not in {*ADDED, *_OF_WALLETS, *kept} for name in names):
        more = f" ({', '.join(map(shown, kept))})" if kept else ""
        said = f" as token, asset, wallet, blockchain or what wallets keep{more}"
        raise SettingsError(f"by: {by!r}", hint=f"give by=…{said}")
    names = names if "asset" in names else [*names, "token"]
    added = [name for name in ("asset", "token") if name in names]
    return [*(name for name in names if name not in ADDED), *added]
