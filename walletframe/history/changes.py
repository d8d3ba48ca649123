"""`compare`: changes of holdings between two times, known and unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.errors import InputWarning, SettingsError, SnapshotError
from walletframe.frames.asset_list import refuse_assets
from walletframe.frames.contract import COMPARED, SIMULATED, Source, concat_frames, require_columns
from walletframe.frames.coverage import completeness
from walletframe.frames.details import WalletDetails, as_details
from walletframe.frames.groups import ADDED, group, list_names, read_groups
from walletframe.frames.identity import wallet_identities
from walletframe.frames.kept import kept_names
from walletframe.frames.known import is_simulated, known_wallets
from walletframe.history.folder import LISTED, SNAPSHOT
from walletframe.history.timelines import OK, STATUS, build_matrix, find_token_filter, select_needed
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
    from walletframe.history.timelines import AmountMatrix, Integers

_WALLET = ["blockchain", "address"]
_TOKEN = ("symbol", "token_address", "token_blockchain")
_OF_WALLETS = ("wallet", "blockchain")
CHANGE = pd.CategoricalDtype(
    pd.Index(["new", "gone", "increased", "decreased", "unknown"], dtype=TEXT)
)
_NEW, _GONE, _INCREASED, _DECREASED, _UNKNOWN = range(len(CHANGE.categories))


def compare(  # noqa: PLR0913 - options
    before: DetailsLike,
    after: DetailsLike,
    *,
    by: By | None = None,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Compare the holdings of each wallet at two times, exactly; unknown changes are listed, too.

    Parameters
    ----------
    before, after : WalletDetails or tuple of (DataFrame, DataFrame)
        Two fetches, or two snapshots, such as ``history.snapshot("yesterday")``.
    by : str or list of str, optional
        Sum the changes of each token by this: a column of your own that ``wallets`` keeps, such as
        ``"owner"``, ``"wallet"``, ``"blockchain"``, or ``"token"`` alone. With ``"asset"``, sum the
        changes of each asset. A wallet's label comes from `after`, else from `before`.
    token : str or (str, str or None), optional
        Only this token: (blockchain, contract), None for a native coin, or an unambiguous symbol.
        Wallets that could hold it and are unknown in `before` or `after` have a row, too.
    asset : str or (str, str or None), optional
        Only this asset, such as ``"USDC"``, or the asset of a contract: the sum over all its
        contracts, with the column ``asset`` in place of the token's columns; if `by` has
        ``"token"``, its contracts stay separate.
    assets, bridged : optional
        The definition of assets: your own contracts, and whether bridged versions count, as in
        `walletframe.assets`.

    Returns
    -------
    DataFrame
        One row for each token of a wallet that changed or may have changed, on an index from 0; no
        rows if all amounts are known and equal. In the order of the wallets of `before`, then of
        the wallets in `after` alone. With the columns

        - ``blockchain``, ``address``, str: the wallet, as last written;
        - ``symbol``, ``token_address``, ``token_blockchain``, str: the token; NA in the only row of
          a wallet that is unknown at one time, and has no tokens at the other;
        - ``before``, ``after``, amount: 0 if the answer does not list the token, NA if the amount
          is not known;
        - ``difference``, amount: ``after - before``, NA if either is;
        - ``change``, category: ``new`` (from 0 or not listed), ``gone`` (to 0 or not listed),
          ``increased``, ``decreased``, ``unknown``;
        - ``status_before``, ``status_after``, category: ``ok`` if the amount is known; else the
          wallet's status, ``stale`` (its answer was out of date, or is the very answer of the
          earlier time), ``no_amount`` (it could not be read, or is without decimals),
          ``unknown_token`` (the wallet has a balance of an unknown token, which may be this one; or
          this is the unknown token, which can't be found at the other time) or ``not_asked``.

        With `by`, one row for each group and each token in it that changed or may have changed,
        with the columns of `by`, then ``symbol`` to ``change`` (by asset, without the columns of a
        token): ``before`` and ``after`` are sums over the wallets known at both times, and
        ``change`` is ``unknown`` if these are equal. Then ``wallets_known`` and ``wallets``, int64:
        these wallets, and all that could hold some. If they differ, the change may be larger.

    Raises
    ------
    ArgumentError
        If `before` or `after` is not a fetch.
    SettingsError
        If `by` has any other name, if both `token` and `asset` are given, or `assets` or `bridged`
        without an asset.
    TokenListError
        If `assets` can't be used.
    ColumnsError, AmountError
        If a column is missing, or the amounts are of another dtype.
    UnknownTokenError, AmbiguousTokenError
        If neither has the token or asset, or several tokens share the symbol.
    SnapshotError
        If both are the same snapshot; if one of them has a wallet twice, or holdings of a wallet
        that it lacks; or if only one of them is simulated.

    Warns
    -----
    InputWarning
        If only one of them lacks holdings that were fetched, according to ``wallets.tokens``, and
        has none of a token that the other has; if two fetches of different times have the same
        answers, from the cache: such wallets seem unchanged.

    Notes
    -----
    Wallets and tokens are matched by blockchain and address or contract, hex without case; balances
    that an answer lists twice are summed. Give complete frames: a row that was dropped from one of
    them counts as not listed. If two snapshots have the same answer from the cache, it is ``stale``
    in the later one: the service was not asked in between.

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
    earlier, later = _comparable(as_details(before, "before"), as_details(after, "after"))
    names = [by] if isinstance(by, str) else list(by or [])
    holdings, by_contract = concat_frames([earlier.holdings, later.holdings]), "token" in names
    token_filter = find_token_filter(
        holdings, token, asset, assets=assets, bridged=bridged, by_contract=by_contract
    )
    sides = [select_needed(side) for side in (earlier, later)]
    both = WalletDetails(*map(concat_frames, zip(*sides, strict=True)))
    times = [np.repeat([0, 1], [*map(len, pair)]) for pair in zip(*sides, strict=True)]
    matrix = build_matrix(both, times[0], times[1], len(sides), token_filter)
    _warn_if_rows_are_missing(sides, matrix)
    if by is None:
        if asset is None:
            refuse_assets(assets, bridged=bridged)
        changes = _changes(matrix)
    else:
        if asset is not None and "asset" not in names:
            by = names if by_contract else [*names, "asset"]
            assets, bridged = (None, False) if by_contract else (assets, bridged)
        wallets = concat_frames([earlier.wallets, later.wallets])
        changes = _grouped_changes(matrix, wallets, by, assets=assets, bridged=bridged)
    changes.attrs = _chart_attributes(earlier, later)
    return changes


def _grouped_changes(
    matrix: AmountMatrix, wallets: pd.DataFrame, by: By, *, assets: AssetsLike | None, bridged: bool
) -> pd.DataFrame:
    """Sum changes by token or asset, and by columns of `wallets`, the wallets of both times."""
    ids = matrix.wallet_ids.codes[: len(wallets)]
    distinct = wallets.groupby(ids).last().astype(wallets.dtypes)
    names = _read_by(by, distinct)
    rows = np.flatnonzero(matrix.tokens >= 0)
    pairs = matrix.labels(rows).assign(amount=matrix.amounts(matrix.integers[rows, 1], rows >= 0))
    positions, groups = read_groups(pairs, names, distinct, assets=assets, bridged=bridged)
    if wallet_names := [name for name in names if name not in ADDED]:
        owners = group(positions, wallet_names)
    else:
        owners = replace(groups, names=[], wallet_sets=np.arange(1), columns={})
    pair_wallets = matrix.wallet_ids.codes[matrix.wallet_rows]  # rows in `distinct`
    codes = len(groups) + owners.wallet_set_codes[pair_wallets]  # pairs without a token come last
    codes[rows] = groups.codes
    count, known = len(groups) + len(owners), (matrix.status == OK).all(axis=1)
    group_wallets = codes * len(distinct) + pair_wallets
    partial = np.unique(group_wallets[~known])  # one unknown amount makes the wallet unknown
    known &= ~np.isin(group_wallets, partial)
    sums = np.full((count, 2), 0, dtype=object)
    np.add.at(sums, codes[known], matrix.integers[known])

    wallet_known = (matrix.wallet_status == OK).all(axis=1)
    positions = replace(positions, known=wallet_known, stale=np.zeros_like(wallet_known))
    counts = [completeness(positions, each) for each in (groups, owners)]
    wallets_able, wallets_known = (
        np.concatenate([np.asarray(each[name], dtype=np.intp) for each in counts])
        for name in ("wallets_asked", "wallets_ok")
    )
    of_groups, of_wallets = np.divmod(partial, max(len(distinct), 1))
    wallets_known -= np.bincount(of_groups[wallet_known[of_wallets]], minlength=count)
    has_partial = np.bincount(of_groups, minlength=count) > 0
    order = np.argsort(np.append(groups.wallet_sets, owners.wallet_sets), kind="stable")
    chosen = order[(has_partial | (sums[:, 0] != sums[:, 1]))[order]]
    without_token = owners.labels.reindex(range(len(owners)))
    labels = pd.concat([groups.labels, without_token], ignore_index=True)
    tokens = [name for name in _TOKEN if name in labels]
    labels = labels[[*(name for name in labels if name not in tokens), *tokens]]
    labels, wallets_known = labels.take(chosen).reset_index(drop=True), wallets_known[chosen]
    token_labels = labels["asset" if "token_blockchain" not in labels else "token_blockchain"]
    is_known = (wallets_known > 0) & token_labels.notna().to_numpy()
    return _compared(matrix, labels, sums[chosen], np.column_stack([is_known, is_known])).assign(
        wallets_known=wallets_known.astype(np.int64), wallets=wallets_able[chosen].astype(np.int64)
    )


def _changes(matrix: AmountMatrix) -> pd.DataFrame:
    known = matrix.status == OK
    rows = np.flatnonzero(~known.all(axis=1) | (matrix.integers[:, 0] != matrix.integers[:, 1]))
    before, after = matrix.status[rows].T
    return _compared(matrix, matrix.names(rows), matrix.integers[rows], known[rows]).assign(
        status_before=pd.Categorical.from_codes(before, dtype=STATUS),
        status_after=pd.Categorical.from_codes(after, dtype=STATUS),
    )


def _compared(
    matrix: AmountMatrix, labels: pd.DataFrame, integers: Integers, known: Mask
) -> pd.DataFrame:
    """Add the columns of changes to `labels`, from two columns of integers."""
    (earlier, later), both = integers.T, np.asarray(known.all(axis=1))
    difference = later - earlier
    kinds = [~both | (difference == 0), earlier == 0, later == 0, difference > 0]
    change = np.select(kinds, [_UNKNOWN, _NEW, _GONE, _INCREASED], _DECREASED)
    return labels.assign(
        before=matrix.amounts(earlier, known[:, 0]),
        after=matrix.amounts(later, known[:, 1]),
        difference=matrix.amounts(difference, both),
        change=pd.Categorical.from_codes(change, dtype=CHANGE),
    )


def _comparable(before: WalletDetails, after: WalletDetails) -> tuple[WalletDetails, WalletDetails]:
    """Mark answers that both fetches share as stale in the later one, or raise."""
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
    # An answer in both snapshots came from the cache in the later one: it is no news, so stale.
    # Two fetches only warn: users who soon fetch failed wallets again want to see what changed.
    earlier, newest = map(_newest, frames)
    if pd.isna(earlier) or pd.isna(newest) or bool(earlier == newest):
        return before, after
    names = [*_WALLET, "service", "fetched_at"]
    both = concat_frames(wallets[names] for wallets in frames)
    answers = both[["service", "fetched_at"]].assign(wallet=wallet_identities(both).codes)
    repeated = answers.duplicated(keep=False) & answers["fetched_at"].notna()
    sides = np.split(repeated.to_numpy(), [len(before.wallets)])
    later = int(newest > earlier)
    if not all(SNAPSHOT in wallets for wallets in frames):
        if count := int(sides[later].sum()):
            notify(
                f"{count:,} of {many(len(frames[later]), 'wallet')} have the same answer in both, "
                "from the cache, and seem unchanged: the service was not asked in between",
                InputWarning,
            )
        return before, after
    stale = frames[later]["source"].astype(TEXT).mask(sides[later], Source.STALE.value)
    outdated = (before, after)[later]._replace(wallets=frames[later].assign(source=stale))
    return (before, outdated) if later else (outdated, after)


def _newest(wallets: pd.DataFrame) -> Any:
    """Return the time of the snapshot, else of the newest answer."""
    name = SNAPSHOT if SNAPSHOT in wallets else "fetched_at"
    return pd.to_datetime(wallets[name], utc=True).max()


def _warn_if_rows_are_missing(sides: Sequence[WalletDetails], matrix: AmountMatrix) -> None:
    """Warn if rows are missing at one time only, since tokens then seem gone or new."""
    missing = []
    for wallets, holdings in sides:
        fetched = wallets["tokens"][known_wallets(wallets)].sum()
        missing.append(max(int(fetched) - len(holdings), 0))
    if all(missing) or not any(missing):
        return
    side = int(missing[1] > 0)
    known = (matrix.status == OK).all(axis=1)
    unlisted = known & (matrix.integers[:, side] == 0) & (matrix.integers[:, 1 - side] != 0)
    if count := int(unlisted.sum()):
        name, other, seem = ("after", "before", "gone") if side else ("before", "after", "new")
        notify(
            f"{name} has {many(missing[side], 'row')} of holdings fewer than its wallets.tokens "
            f"counts, so that {many(count, 'balance')} of {other} may seem {seem}: give complete "
            "frames, or leave the same tokens out of both",
            InputWarning,
        )


def _chart_attributes(before: WalletDetails, after: WalletDetails) -> Mapping[Hashable | None, Any]:
    """Return the attributes for charts of changes: plain texts, which any file format can hold."""
    times = {"before": _newest(before.wallets), "after": _newest(after.wallets)}
    texts = {key: f"{time:%Y-%m-%d %H:%M} UTC" for key, time in times.items() if not pd.isna(time)}
    if is_simulated(before.wallets) or is_simulated(after.wallets):
        texts["service"] = SIMULATED
    return {COMPARED: texts}


def _read_by(by: By, wallets: pd.DataFrame) -> list[str]:
    """Return the names to group by, checked: tokens, or assets, come last."""
    names = list_names(by)
    kept = kept_names(wallets)
    if not names or any(name not in {*ADDED, *_OF_WALLETS, *kept} for name in names):
        more = f" ({', '.join(map(shown, kept))})" if kept else ""
        hint = f"give by=… as token, asset, wallet, blockchain or a column of your own{more}"
        raise SettingsError(f"by can't be {by!r}", hint)
    names = names if "asset" in names else [*names, "token"]
    added = [name for name in ("asset", "token") if name in names]
    return [*(name for name in names if name not in ADDED), *added]
