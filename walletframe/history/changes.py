"""`compare`: a table of the changes of holdings between two times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.errors import InputWarning, SnapshotError
from walletframe.frames import coverage
from walletframe.frames.asset_list import BRIDGED, reject_assets
from walletframe.frames.details import WalletDetails, as_details
from walletframe.frames.identity import encode_wallets
from walletframe.frames.known import is_simulated
from walletframe.frames.names import user_wallet_names
from walletframe.frames.schema import (
    COMPARED,
    SIMULATED,
    SNAPSHOT,
    AnswerSource,
    concat_frames,
    require_columns,
    text_array,
)
from walletframe.history.folder import LIST_CALL
from walletframe.history.timelines import (
    OK,
    STATUS,
    build_matrix,
    group_amounts,
    make_token_filter,
    select_matrix_columns,
    token_or_asset_of_selection,
)
from walletframe.notice import notify
from walletframe.numerals import counted_noun, six_digit_text
from walletframe.pandas_versions import TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import DetailsLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Mask
    from walletframe.frames.names import TokenLike
    from walletframe.history.timelines import AmountMatrix, Integers

CHANGE = pd.CategoricalDtype(
    pd.Index(["new", "gone", "increased", "decreased", "unknown"], dtype=TEXT)
)
_SIDES = ("earlier", "later", "new"), ("later", "earlier", "gone")  # result, other result, change
COMPLETE_HINT = "Pass complete frames, or drop the same tokens from both."
_NEW, _GONE, _INCREASED, _DECREASED, _UNKNOWN = range(len(CHANGE.categories))


def compare(  # noqa: PLR0913 - users pass each option by name
    before: DetailsLike,
    after: DetailsLike,
    *,
    by: By | None = None,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Compare the holdings of each wallet at two times, and list known and unknown changes.

    Parameters
    ----------
    before, after : WalletDetails or tuple of (DataFrame, DataFrame)
        The results of two fetches, or two snapshots, such as ``history.snapshot("yesterday")``.
    by : str or list of str, optional
        Sum the changes of each token over groups of wallets. A name is one of

        - an extra column of ``wallets``, such as ``"owner"``;
        - ``"wallet"`` or ``"blockchain"``;
        - ``"token"``: if this is the only name, sum the changes of each token over all wallets;
        - ``"asset"``: sum the changes of each asset, not of each token.

        The label of a wallet is read from `after`. If `after` has no label, `before` is used.
    token : str or (str, str or None), optional
        Compare only this token, as in `timeline`. A wallet that is unknown at one of the times also
        has a row if the wallet could hold the token.
    asset : str or (str, str or None), optional
        Compare only this asset, as in `timeline`. If `by` has ``"token"``, each contract of the
        asset is compared. Default: the only token or asset that `where` selected, if any.
    assets, bridged : optional
        The definition of assets, as in `timeline` and `walletframe.assets`.

    Returns
    -------
    DataFrame
        One row for each wallet and token whose amount changed or may have changed. Wallets are in
        the order of `before`; wallets that only `after` contains are last. The index is a
        RangeIndex. The columns are

        - ``blockchain``, ``address``, str: the wallet, as spelled in its last row;
        - ``name``, str: the name of the wallet, if `before` or `after` has this extra column;
        - ``symbol``, ``token_address``, ``token_blockchain``, str: the token. NA if a wallet is
          unknown at one time, and has no token at the other;
        - ``before``, ``after``, amount: 0 if the answer does not list the token, NA if unknown;
        - ``difference``, amount: ``after - before``; NA if ``change`` is ``unknown``;
        - ``change``, category: ``new`` (from 0 or not listed), ``gone`` (to 0 or not listed),
          ``increased``, ``decreased`` or ``unknown``;
        - ``status_before``, ``status_after``, category: ``ok`` if the amount is known, otherwise
          the reason: the status of the wallet, or one of

          - ``stale``: the answer was out of date, or is also in the earlier snapshot;
          - ``no_amount``: the amount or the decimals could not be read;
          - ``unknown_token``: the balance at the other time is of an unknown token;
          - ``not_asked``: the wallet was not requested.

        With `by`, there is one row for each group and token whose amount changed or may have
        changed. The columns are

        - the names in `by`;
        - ``symbol`` to ``change``, as above. Changes of assets have no columns of the token.
          ``before`` and ``after`` are sums over the wallets that are known at both times. The sums
          are NA if none of these wallets holds the token;
        - ``wallets_known``, int64: the number of wallets that are known at both times;
        - ``wallets``, int64: the number of wallets of the group that could hold the token.

        If ``wallets_known`` is less than ``wallets``, the true change may be larger. So ``change``
        is never ``new`` or ``gone``, and equal sums have the change ``unknown``.

        A line below the table counts unknown wallets, balances that are known at only one time, and
        left-out bridged versions.

    Raises
    ------
    ArgumentError
        If `before` or `after` is not the result of a fetch.
    SettingsError, TokenListError, ColumnsError, AmountError, UnknownTokenError, AmbiguousTokenError
        In the same cases as `timeline`, or if `by` contains a name that is not listed above.
    SnapshotError
        - If `before` and `after` are the same snapshot, or have different selections by `where`.
        - If only one of the results is simulated.
        - If a result has two rows for a wallet, or holdings of a wallet that ``wallets`` lacks.

    Warns
    -----
    InputWarning
        - If holdings lack rows that ``wallets.tokens`` counts. A token may seem new or gone.
        - If fetches at two times returned the same cached answers. A wallet may seem unchanged.
        - If a wallet's label in a column of `by` changed. The last label is used.

    Notes
    -----
    Wallets are matched by blockchain and address, and tokens by blockchain and contract. The case
    of hex digits is ignored. If an answer lists a token twice, the balances are summed. Pass
    complete frames, since the amount of a dropped row counts as 0.

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
    earlier, later = mark_same_answers_stale(before, after)
    names = [by] if isinstance(by, str) else list(by or [])
    wallets = concat_frames([earlier.wallets, later.wallets])
    holdings = concat_frames([earlier.holdings, later.holdings])
    holdings.attrs = later.holdings.attrs
    if token is asset is None:
        token, asset = token_or_asset_of_selection(holdings, names, assets=assets, bridged=bridged)
    bridged = bridged or (BRIDGED in holdings.attrs and ("asset" in names or asset is not None))
    options: dict[str, Any] = {"assets": assets, "bridged": bridged}
    settings = options | {"by_contract": "token" in names, "rows_before": len(earlier.holdings)}
    token_filter = make_token_filter(holdings, token, asset, **settings)
    results = [select_matrix_columns(each) for each in (earlier, later)]
    both = WalletDetails(*map(concat_frames, zip(*results, strict=True)))
    times = [np.repeat([0, 1], [*map(len, pair)]) for pair in zip(*results, strict=True)]
    matrix = build_matrix(both, times[0], times[1], len(results), token_filter)

    is_zero = (matrix.integers == 0)[(matrix.status == OK).all(axis=1)]
    counts = [int((is_zero[:, side] & ~is_zero[:, 1 - side]).sum()) for side in range(2)]
    if note := filtered_side_note(earlier, later, counts):
        notify(f"{note} {COMPLETE_HINT}", InputWarning)
    if by is None:
        if asset is None:
            reject_assets(**options)
        changes, separate = _changes_by_pair(matrix), 0
    else:
        distinct = _drop_repeated_unknown_tokens(matrix, len(earlier.holdings))
        changes, separate = _group_changes_and_bridged_count(distinct, wallets, by, **options)
    both_times = {"before": earlier, "after": later}
    omitted = {"bridged_separate": separate, "unknown_once": _unknown_once_count_text(matrix)}
    changes = matrix.add_coverage(changes, both_times, **omitted)
    if "address" in changes and "name" in wallets and "name" not in changes:
        texts = [name or None for name in user_wallet_names(changes, wallets[::-1])]
        changes.insert([*changes].index("address") + 1, "name", text_array(texts))
    # Charts of changes read these attributes. All file formats can store text.
    moments = {"before": result_time(earlier.wallets), "after": result_time(later.wallets)}
    compared = {
        key: f"{time:%Y-%m-%d %H:%M} UTC" for key, time in moments.items() if not pd.isna(time)
    }
    if is_simulated(earlier.wallets) or is_simulated(later.wallets):
        compared["service"] = SIMULATED
    changes.attrs[COMPARED] = compared
    return changes


def _unknown_once_count_text(matrix: AmountMatrix) -> str:
    """Return a text such as ``2 balances of 1 wallet``, or "" if there are none."""
    is_once = (matrix.integers != 0).any(axis=1) & (matrix.status != OK).any(axis=1)
    wallets = np.unique(matrix.wallet_ids.codes[matrix.wallet_rows[is_once]])
    balances = counted_noun(int(is_once.sum()), "balance")
    text = f"{balances} of {counted_noun(len(wallets), 'wallet')}"
    if matrix.token_filter:
        sums = matrix.to_amounts(matrix.integers[is_once].sum(axis=0), np.ones(2, dtype=bool))
        sides = zip(sums, ("before", "after"), strict=True)
        amounts = (f"{six_digit_text(amount)} {side}" for amount, side in sides if amount)
        text += f" ({', '.join(amounts)})"
    return text * bool(len(wallets))


def _drop_repeated_unknown_tokens(matrix: AmountMatrix, rows_before: int) -> AmountMatrix:
    unknown = np.flatnonzero((matrix.token_codes >= 0) & ~matrix.trackable)
    tokens, is_later = matrix.describe_pairs(unknown), matrix.holding_rows[unknown] >= rows_before
    numbers = tokens.groupby([*tokens, is_later], dropna=False).cumcount()
    return matrix.drop_pairs(unknown[tokens.assign(number=numbers).duplicated()])


def _group_changes_and_bridged_count(
    matrix: AmountMatrix, wallets: pd.DataFrame, by: By, **options: Any
) -> tuple[pd.DataFrame, int]:
    pairs = np.flatnonzero(matrix.token_codes >= 0)
    grouped = group_amounts(matrix, wallets, by, pairs, known_at_all_times=True, **options)
    is_changed = grouped.is_partial | (grouped.sums[:, 0] != grouped.sums[:, 1])
    grouped = grouped.take_groups(np.flatnonzero(is_changed))
    labels, [wallets_known, _] = grouped.labels, grouped.wallets_known.T
    token_labels = labels["asset" if "token_blockchain" not in labels else "token_blockchain"]
    is_known = (wallets_known > 0) & token_labels.notna().to_numpy()
    is_known &= (grouped.sums != 0).any(axis=1)  # else only unknown wallets may hold the token
    is_complete = wallets_known == grouped.wallets
    changes = _add_change_columns(
        matrix, labels, grouped.sums, np.column_stack([is_known, is_known]), is_complete
    ).assign(wallets_known=wallets_known, wallets=grouped.wallets)
    return changes, grouped.bridged_separate


def _changes_by_pair(matrix: AmountMatrix) -> pd.DataFrame:
    known = matrix.status == OK
    pairs = np.flatnonzero(~known.all(axis=1) | (matrix.integers[:, 0] != matrix.integers[:, 1]))
    before, after = matrix.status[pairs].T
    labels, is_complete = matrix.label_columns(pairs), known[pairs].all(axis=1)
    changes = _add_change_columns(matrix, labels, matrix.integers[pairs], known[pairs], is_complete)
    return changes.assign(
        status_before=pd.Categorical.from_codes(before, dtype=STATUS),
        status_after=pd.Categorical.from_codes(after, dtype=STATUS),
    )


def _add_change_columns(
    matrix: AmountMatrix, labels: pd.DataFrame, integers: Integers, known: Mask, is_complete: Mask
) -> pd.DataFrame:
    """Add the columns of changes. `integers` and `known` have one column for each time."""
    (earlier, later), both = integers.T, np.asarray(known.all(axis=1))
    difference = later - earlier
    both &= difference != 0
    # If a wallet is unknown, it may hold the token, so the token is neither new nor gone.
    is_new, is_gone = is_complete & (earlier == 0), is_complete & (later == 0)
    conditions = [~both, is_new, is_gone, difference > 0]
    change = np.select(conditions, [_UNKNOWN, _NEW, _GONE, _INCREASED], _DECREASED)
    return labels.assign(
        before=matrix.to_amounts(earlier, known[:, 0]),
        after=matrix.to_amounts(later, known[:, 1]),
        difference=matrix.to_amounts(difference, both),
        change=pd.Categorical.from_codes(change, dtype=CHANGE),
    )


def mark_same_answers_stale(
    before: DetailsLike, after: DetailsLike
) -> tuple[WalletDetails, WalletDetails]:
    """Check that two results are comparable. In the later one, mark repeated answers as stale."""
    before, after = as_details(before, "before"), as_details(after, "after")
    frames = before.wallets, after.wallets
    for wallets in frames:
        require_columns(wallets, ["service", "source", "fetched_at"])
    if len({flag for each in frames for flag in each["service"].isin([SIMULATED])}) > 1:
        raise SnapshotError(
            "simulated holdings can't be compared with real ones",
            hint="compare only simulated or only real snapshots: see the column 'service'",
        )
    if text := coverage.differing_selections_text(before, after):
        problem = f"different selections can't be compared: {text}"
        raise SnapshotError(problem, hint=coverage.SELECT_HINT)
    times = [wallets.get(SNAPSHOT, pd.Series([])) for wallets in frames]
    same = times[0][times[0].isin(times[1])]
    if len(same):
        raise SnapshotError(
            f"before and after are the same snapshot, of {same.iloc[0]}",
            hint=f"save a newer snapshot, or choose an earlier one from {LIST_CALL}",
        )
    # The later snapshot read a repeated answer from the cache, so it is stale there. Two
    # fetches only cause a warning: the later fetch may be a retry of failed wallets.
    earlier, newest = map(result_time, frames)
    if pd.isna(earlier) or pd.isna(newest) or bool(earlier == newest):
        return before, after
    names = ["blockchain", "address", "service", "fetched_at"]
    both = concat_frames(wallets[names] for wallets in frames)
    answers = both[["service", "fetched_at"]].assign(wallet=encode_wallets(both).codes)
    is_shared = answers.duplicated(keep=False) & answers["fetched_at"].notna()
    shared_masks = np.split(is_shared.to_numpy(), [len(before.wallets)])
    later = int(newest > earlier)
    if not all(SNAPSHOT in wallets for wallets in frames):
        if count := int(shared_masks[later].sum()):
            notify(
                f"{count:,} of {counted_noun(len(frames[later]), 'wallet')} have the same cached "
                "answer in before and after, so they seem unchanged. To compare new balances, "
                "fetch `after` with refresh=True",
                InputWarning,
            )
        return before, after
    stale = frames[later]["source"].astype(TEXT).mask(shared_masks[later], AnswerSource.STALE.value)
    outdated = (before, after)[later]._replace(wallets=frames[later].assign(source=stale))
    return (before, outdated) if later else (outdated, after)


def result_time(wallets: pd.DataFrame) -> Any:
    """Return the time of the snapshot. If there is none, return the newest answer's time."""
    name = SNAPSHOT if SNAPSHOT in wallets else "fetched_at"
    return pd.to_datetime(wallets[name], utc=True).max()


def filtered_side_note(before: WalletDetails, after: WalletDetails, lacked: Sequence[int]) -> str:
    """Return a warning if only one result was filtered. Otherwise, return "".

    `lacked` has two counts: the balances that `before` lacks, and the balances that `after` lacks.
    """
    missing = [coverage.dropped_count_reasons_and_kinds(each) for each in (before, after)]
    for index, (name, other, kind) in enumerate(_SIDES):
        count, reasons, kinds = missing[index]
        if count and not kinds <= missing[1 - index][2] and lacked[index]:
            left_out = " and ".join(reasons.rsplit("; ", 1)).replace("; ", ", ")
            balances = f"{counted_noun(lacked[index], 'balance')} of the {other} fetch"
            return (
                f"The {name} fetch leaves out {left_out}, so {balances} may not really be {kind}."
            )
    return ""
