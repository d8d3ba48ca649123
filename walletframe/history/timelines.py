"""The exact amount of each token of each wallet over time, or why the amount is unknown.

The functions return long frames for charts. Unknown amounts have rows with NA, never 0.
"""
# If an answer lacks a token, its amount is 0. Balances are added if an answer has a token twice.
# Amounts are unknown if the wallet failed or was not requested, or if the answer is out of date. An
# unknown token can't be identified in other snapshots: there, its amount is unknown.

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.sums import AmountsWithGroups, group_totals
from walletframe.errors import InputWarning, SettingsError, SnapshotError
from walletframe.frames.asset_list import (
    BRIDGED,
    count_and_sum_omitted_bridged,
    count_bridged_versions,
    find_token_or_asset,
    reject_assets,
    token_or_asset_names,
    tokens_to_assets,
    warn_about_omitted_bridged,
)
from walletframe.frames.coverage import (
    SELECTED,
    count_unknown_token_balances,
    dropped_and_selected_arguments,
    snapshot_count,
    sum_possible_holders,
)
from walletframe.frames.details import WalletDetails, as_details
from walletframe.frames.extra_columns import changed_labels_note, extra_names, last_labels
from walletframe.frames.groups import KINDS, by_as_list, group_holdings, make_groups, reject_both
from walletframe.frames.identity import KeyCodes, encode_tokens, encode_wallets
from walletframe.frames.known import known_and_fresh_mask
from walletframe.frames.positions import (
    HOLDERS,
    encode_holdings,
    mark_unable_to_hold_ok,
    possible_blockchains_mask,
    snapshot_column,
    unlisted_mask,
)
from walletframe.frames.results import Coverage, with_coverage
from walletframe.frames.schema import (
    SNAPSHOT,
    amounts_of,
    concat_frames,
    missing_wallets_text,
    require_columns,
)
from walletframe.notice import notify
from walletframe.pandas_versions import TEXT, factorize
from walletframe.text import safe_line
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy.typing as npt

    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import DetailsLike
    from walletframe.frames.groups import By
    from walletframe.frames.identity import Codes, Mask, TokenKey
    from walletframe.frames.names import TokenLike

    Statuses = npt.NDArray[np.int8]
    Integers = npt.NDArray[np.object_]

_WALLET = ["blockchain", "address"]
_TOKEN = ["symbol", "token_address", "token_blockchain"]
_STATUSES = [status.value for status in Status]
_STATUS_NAMES = [*_STATUSES, "stale", "no_amount", "unknown_token", "not_asked"]
STATUS: Final = pd.CategoricalDtype(pd.Index(_STATUS_NAMES, dtype=TEXT))
OK = _STATUS_NAMES.index("ok")
STALE, NO_AMOUNT, UNKNOWN_TOKEN, NOT_ASKED = range(len(_STATUSES), len(_STATUS_NAMES))


class AmountMatrix(NamedTuple):
    """The amount of each pair (wallet, token) at each time: p pairs, w wallets and s times."""

    details: WalletDetails
    wallet_ids: KeyCodes  # w keys; codes of the rows of wallets, then of holdings
    wallet_rows: Codes  # (p,): the last row of the pair's wallet
    # (p,): the pair's last row of holdings. Default: the last row of the chosen token, or -1
    holding_rows: Codes
    listed: Mask  # (p, s): whether the answer lists the token, even with 0
    readable: Mask  # (p, s): whether an amount of the token in the answer can be read
    token_codes: Codes  # (p,): the code of the token, or -1 for a wallet without tokens
    trackable: Mask  # (p,): whether the token can be identified in all snapshots
    integers: Integers  # (p, s): the sum of the readable amounts of an answer, times 10**scale
    status: Statuses  # (p, s): codes of STATUS; OK if the amount is known
    scale: int
    wallet_status: Statuses  # (w, s): codes of STATUS for the wallet as a whole
    token_filter: TokenFilter | None

    def label_columns(self, pairs: Codes) -> pd.DataFrame:
        """Return the wallet and the token of each pair. A chosen asset replaces the token."""
        columns = self.describe_pairs(pairs)
        if self.token_filter is None or self.token_filter.asset is None:
            return columns
        asset = pd.Series(self.token_filter.asset, index=columns.index, dtype=TEXT)
        return columns.drop(columns=_TOKEN).assign(asset=asset)

    def describe_pairs(self, pairs: Codes) -> pd.DataFrame:
        """Return the wallet and the token of each pair. A missing token is NA."""
        wallets, holdings = self.details
        wallet, token = self.wallet_rows[pairs], self.holding_rows[pairs]
        columns = {name: wallets[name].array.take(wallet) for name in _WALLET}
        columns |= {name: holdings[name].array.take(token, allow_fill=True) for name in _TOKEN}
        return pd.DataFrame(columns).astype(TEXT)

    def drop_pairs(self, pairs: Codes) -> AmountMatrix:
        """Return the matrix without the pairs at these indices."""
        kept = {name: np.delete(getattr(self, name), pairs, 0) for name in self._fields[2:10]}
        return self._replace(**kept)

    def to_amounts(self, integers: Integers, known: Mask) -> AmountArray:
        """Convert integers at this matrix's scale to amounts. Unknown amounts become NA."""
        return AmountArray(np.where(known, integers, 0), ~known, self.scale)

    def add_coverage(
        self, table: pd.DataFrame, results: Mapping[str, WalletDetails], **omitted: Any
    ) -> pd.DataFrame:
        """Add the coverage to a table. Only wallets that are known at all times count as known."""
        wallets = self.wallet_ids.codes[self.wallet_rows]
        status = self.status if self.token_filter else self.wallet_status[wallets]
        is_known = pd.Series((status == OK).all(axis=1)).groupby(wallets).all()
        stale = int((self.wallet_status[is_known.index] == STALE).any(axis=1).sum())
        balances = int(((self.status == OK).all(axis=1) & (self.token_codes >= 0)).sum())
        dropped = dropped_and_selected_arguments(results)
        omitted |= self.token_filter.omitted if self.token_filter else {}
        dropped["unknown_tokens"] += omitted.pop("unknown_tokens", 0)
        unread = int((self.status == NO_AMOUNT).sum())
        coverage = Coverage(
            *(len(is_known), int(is_known.sum()), 0, balances, unread, 0),
            **omitted | dropped,
            stale_unknown=stale,
            unfinished=missing_wallets_text(self.details.wallets.attrs),
            snapshots=max(snapshot_count(each.wallets) for each in results.values()),
        )
        return with_coverage(table, coverage)


def select_matrix_columns(details: WalletDetails, *extra: str) -> WalletDetails:
    """Keep only the columns for `build_matrix`, and the `extra` columns."""
    needed = [*_WALLET, "status", "tokens", "source", *extra], [*_WALLET, *_TOKEN, "amount", *extra]
    for frame, names in zip(details, needed, strict=True):
        require_columns(frame, names)
    details = mark_unable_to_hold_ok(details)
    wallets, holdings = (frame[names] for frame, names in zip(details, needed, strict=True))
    amounts_of(holdings["amount"])
    return WalletDetails(wallets, holdings)


def build_matrix(
    details: WalletDetails,
    wallet_times: Codes,
    holding_times: Codes,
    time_count: int,
    token_filter: TokenFilter | None,
) -> AmountMatrix:
    """Add up amounts by pair (wallet, token) and time."""
    wallets, holdings = details
    is_single = token_filter is not None and not token_filter.by_contract
    if token_filter:
        holdings, holding_times = holdings[token_filter.rows], holding_times[token_filter.rows]
        details = WalletDetails(wallets, holdings)
    token_ids = (
        token_filter.repeat_chosen_token(len(holdings))
        if token_filter and is_single
        else encode_tokens(holdings)
    )
    ids = encode_wallets(concat_frames([wallets[_WALLET], holdings[_WALLET]]))
    requested, holders = np.split(ids.codes, [len(wallets)])
    cells = requested * time_count + wallet_times
    wallet_status = _wallet_statuses(wallets, cells, (len(ids.keys), time_count))
    _require_holders_requested(holdings, holders, holding_times, wallet_status)
    pairs, distinct = pd.factorize(holders * len(token_ids.keys) + token_ids.codes)
    wallet, token = np.divmod(distinct, max(len(token_ids.keys), 1))
    possible = requested
    if token_filter:  # keep only wallets on blockchains that have the token
        wallet_chains, names = factorize(np.array([key[0] for key in ids.keys], dtype=object))
        mask = possible_blockchains_mask(
            token_filter.repeat_chosen_token(len(holders)),
            wallet_chains[holders],
            {name: code for code, name in enumerate(names)},
            token_filter.asset_blockchains,
        )
        is_possible = np.any(mask[:-1], axis=0)[wallet_chains]
        is_possible |= (wallet_status != OK).any(axis=1) & unlisted_mask(names)[wallet_chains]
        possible = requested[is_possible[requested]]
    # A wallet without holdings also has a pair.
    without_holdings = np.setdiff1d(possible, wallet)
    token = np.append(token, np.full(len(without_holdings), 0 if is_single else -1))
    order = np.argsort(wallet := np.append(wallet, without_holdings), kind="stable")
    wallet, token = wallet[order], token[order]
    shape, pair = (len(order), time_count), np.argsort(order)[pairs]
    exact, cells = holdings["amount"].array.exact(), pair * time_count + holding_times
    grouped = AmountsWithGroups(exact, cells, len(order) * time_count)
    readable = grouped.known_counts.reshape(shape) > 0
    unreadable = grouped.groups_with_missing.reshape(shape)
    listed, is_unknown = readable | unreadable, np.append(token_ids.unknown, False)[token]
    if_unlisted = np.where(is_unknown, UNKNOWN_TOKEN, OK)[:, np.newaxis]
    if_ok = np.where(listed, np.where(unreadable, NO_AMOUNT, OK), if_unlisted)
    status = wallet_status[wallet]
    status = np.where(status == OK, if_ok, status).astype(np.int8)
    integers = group_totals(grouped).reshape(shape)
    integers[(status != OK) & (status != NO_AMOUNT)] = 0
    holding_rows = _last_row_by_code(pair, len(order))
    return AmountMatrix(
        details,
        ids,
        wallet_rows=_last_row_by_code(requested, len(ids.keys))[wallet],
        holding_rows=np.where((holding_rows < 0) & is_single, len(holdings) - 1, holding_rows),
        listed=listed,
        readable=readable,
        token_codes=token,
        trackable=(token >= 0) & ~is_unknown,
        integers=integers,
        scale=exact.scale,
        status=status,
        wallet_status=wallet_status,
        token_filter=token_filter,
    )


def _wallet_statuses(wallets: pd.DataFrame, cells: Codes, shape: tuple[int, int]) -> Statuses:
    codes = pd.Index(_STATUSES).get_indexer(pd.Index(wallets["status"], dtype=TEXT))
    if (codes < 0).any():
        raise SnapshotError(f"{wallets['status'][codes < 0].iloc[0]!r} is not a wallet status")
    if len(repeated := np.flatnonzero(np.bincount(cells)[cells] > 1)):
        first = wallets.iloc[repeated[0]]
        raise SnapshotError(
            f"the wallet {'.'.join(map(str, first[_WALLET]))!a} has more than one row",
            hint='select one snapshot, such as history.snapshot("2026-01-31")',
        )
    codes[(codes == OK) & ~known_and_fresh_mask(wallets)] = STALE
    status = np.full(shape, NOT_ASKED, dtype=np.int8)
    status.ravel()[cells] = codes
    return status


def _require_holders_requested(
    holdings: pd.DataFrame, holders: Codes, times: Codes, wallet_status: Statuses
) -> None:
    requested = times >= 0
    requested[requested] = wallet_status[holders[requested], times[requested]] != NOT_ASKED
    if not requested.all():
        first = holdings.iloc[requested.argmin()]
        raise SnapshotError(
            f"the wallet {'.'.join(map(str, first[_WALLET]))!a} has holdings but no row in wallets",
            hint="pass wallets and holdings of the same fetch",
        )


def _last_row_by_code(codes: Codes, count: int) -> Codes:
    last = np.full(count, -1, dtype=np.intp)  # -1 for a code without rows
    last[codes] = np.arange(len(codes))  # NumPy stores the last of several assignments
    return last


class TokenFilter(NamedTuple):
    """A filter for one chosen token or asset."""

    rows: Mask  # whether each row of holdings has this token or asset
    key: TokenKey
    asset_blockchains: Mapping[TokenKey, Collection[str]]  # by asset
    asset: str | None  # the name of the asset, or None for a token
    omitted: dict[str, Any]  # arguments of `Coverage` about bridged versions and unknown tokens
    by_contract: bool = False  # whether the asset's contracts stay separate

    def repeat_chosen_token(self, row_count: int) -> KeyCodes:
        """Return the codes of `row_count` rows that all have the chosen token or asset."""
        return KeyCodes(np.zeros(row_count, dtype=np.intp), [self.key])


def make_token_filter(
    holdings: pd.DataFrame,
    token: TokenLike | None,
    asset: TokenLike | None,
    *,
    by_contract: bool = False,
    rows_before: int | None = None,  # in a comparison, the number of rows of `before`
    **options: Any,
) -> TokenFilter | None:
    """Return the filter for the chosen token or asset, or None if neither is chosen."""
    reject_both(token, asset)
    if (chosen := token if asset is None else asset) is None:
        return None
    positions = encode_holdings(holdings)
    if asset is not None:
        positions = tokens_to_assets(positions, **options)
    index, tokens = find_token_or_asset(positions, chosen), positions.tokens
    (versions, amount), before = count_and_sum_omitted_bridged(positions, index), ""
    if rows_before is not None:
        is_later = np.arange(len(holdings)) >= rows_before
        _, before = count_and_sum_omitted_bridged(positions, index, ~is_later)
        _, amount = count_and_sum_omitted_bridged(positions, index, is_later)
    warn_about_omitted_bridged(versions, amount, before)
    listed = positions.assets
    [name] = token_or_asset_names(positions, np.array([index]))
    return TokenFilter(
        rows=tokens.codes == index,
        key=tokens.keys[index],
        asset_blockchains=listed.blockchains if listed else {},
        asset=name if listed else None,
        omitted={
            "bridged": versions,
            "bridged_amount": amount,
            "bridged_before": before,
            "unknown_tokens": count_unknown_token_balances(positions, index),
        },
        by_contract=by_contract and asset is not None,
    )


def token_or_asset_of_selection(
    holdings: pd.DataFrame, names: Sequence[str], *, assets: AssetsLike | None, bridged: bool
) -> tuple[TokenLike | None, TokenLike | None]:
    """Return (token, None) or (None, asset) if `where` selected only one, else (None, None)."""
    attrs = holdings.attrs
    if not attrs.get(HOLDERS, {}).get("is_single"):
        return None, None
    encoded = encode_holdings(holdings)
    by_asset = tokens_to_assets(encoded, assets, bridged=bridged or BRIDGED in attrs)
    chosen = by_asset.contracts.keys[0] if len(by_asset.tokens.keys) == 1 else None
    of_token = any(each.startswith("token=") for each in attrs[SELECTED])
    return (chosen, None) if of_token and "asset" not in names else (None, chosen)


class GroupTotals(NamedTuple):
    """For each group and time: the sum of the amounts, and the numbers of wallets."""

    labels: pd.DataFrame  # one row for each of g groups
    sums: Integers  # (g, s): the sums of the amounts
    is_partial: Mask  # (g,): whether an amount is unknown
    is_known: Mask  # (g, s): whether an amount can be read, or a wallet is known to hold none
    is_listed: Mask  # (g,): whether the group has a pair with a token
    wallets_known: Codes  # (g, s): the number of known wallets that could hold the token
    wallets: Codes  # (g,): the number of wallets that could hold the token
    bridged_separate: int  # the number of bridged versions in separate groups

    def take_groups(self, groups: Codes) -> GroupTotals:
        """Return the groups with these indices."""
        columns = {name: getattr(self, name)[groups] for name in self._fields[1:-1]}
        return self._replace(labels=self.labels.take(groups).reset_index(drop=True), **columns)


def group_amounts(
    matrix: AmountMatrix,
    wallets: pd.DataFrame,
    by: By,
    token_pairs: Codes,
    *,
    known_at_all_times: bool = False,  # leave out wallets whose amount is unknown at any time
    **options: Any,
) -> GroupTotals:
    """Add up the amounts of pairs of a wallet and a token, by columns of `wallets`.

    Pairs in `token_pairs` are also grouped by token or asset.
    """
    names, chosen = by_as_list(by), matrix.token_filter
    wallet_known = matrix.wallet_status == OK
    if chosen and chosen.by_contract:
        options = {}
    elif chosen and chosen.asset and "asset" not in names:
        names.append("asset")
    ids = matrix.wallet_ids.codes[: len(wallets)]
    if note := changed_labels_note(wallets, ids, names):
        notify(note, InputWarning)
    distinct = last_labels(wallets, ids)
    # The status is ok even if the last fetch failed, since earlier snapshots may have holdings.
    distinct = distinct.drop(columns=SNAPSHOT, errors="ignore").assign(status="ok", tokens=0)
    names = _check_names_and_add_token(names, by, distinct)
    zeros = matrix.to_amounts(np.zeros(len(token_pairs), dtype=object), token_pairs >= 0)
    columns = matrix.describe_pairs(token_pairs).assign(amount=zeros)
    positions, groups = make_groups(columns, names, distinct, **options)
    positions = replace(positions, known=(matrix.wallet_status == OK).all(axis=1))
    owners = replace(groups, names=[], wallet_sets=np.arange(1), columns={})
    if wallet_names := [name for name in names if name not in KINDS]:
        owners = group_holdings(positions, wallet_names)
    pair_wallets = matrix.wallet_ids.codes[matrix.wallet_rows]  # rows in `distinct`
    codes = len(groups) + owners.wallet_set_codes[pair_wallets]
    codes[token_pairs] = groups.codes
    count, stride = len(groups) + len(owners), max(len(distinct), 1)

    # A wallet with an unknown amount is unknown.
    cells, members = pd.factorize(codes * stride + pair_wallets)
    member_groups, member_wallets = np.divmod(members, stride)
    unknown, integers = _any_by_code(matrix.status != OK, cells, len(members)), matrix.integers
    if known_at_all_times:
        unknown = np.broadcast_to(unknown.any(axis=1, keepdims=True), unknown.shape)
        all_known = wallet_known.all(axis=1, keepdims=True)
        wallet_known = np.broadcast_to(all_known, wallet_known.shape)
        integers = np.where(unknown[cells], 0, integers)
    sums = np.full((count, integers.shape[1]), 0, dtype=object)
    np.add.at(sums, codes, integers)
    counted = (matrix.status == OK) | (matrix.status == NO_AMOUNT)
    readable, listed = (
        _any_by_code(each & counted, codes, count) for each in (matrix.readable, matrix.listed)
    )
    can_hold = np.isin(np.arange(len(distinct)), pair_wallets) | (chosen is None)
    states = np.column_stack([wallet_known, can_hold]).T.astype(np.int64) * can_hold
    possible = [sum_possible_holders(positions, each, states) for each in (groups, owners)]
    counts = np.concatenate(possible, axis=1, dtype=np.int64).T
    np.subtract.at(counts[:, :-1], member_groups, unknown & wallet_known[member_wallets])

    labels_without_token = owners.labels.reindex(range(len(owners)))
    labels = pd.concat([groups.labels, labels_without_token], ignore_index=True)
    of_token = [name for name in _TOKEN if name in labels]
    labels = labels[[*(name for name in labels if name not in of_token), *of_token]]
    return GroupTotals(
        labels,
        sums,
        is_partial=np.bincount(member_groups, unknown.any(axis=1), minlength=count) > 0,
        is_known=readable | (~listed & (counts[:, :-1] > 0)),
        is_listed=np.bincount(codes[token_pairs], minlength=count) > 0,
        wallets_known=counts[:, :-1],
        wallets=counts[:, -1],
        bridged_separate=count_bridged_versions(positions, positions.contracts.codes),
    ).take_groups(np.argsort(np.append(groups.wallet_sets, owners.wallet_sets), kind="stable"))


def _any_by_code(mask: Mask, codes: Codes, count: int) -> Mask:
    """Combine the rows of a mask that have the same code, by logical or."""
    result = np.zeros((count, mask.shape[1]), dtype=bool)
    np.logical_or.at(result, codes, mask)
    return result


def _check_names_and_add_token(names: list[str], by: By, wallets: pd.DataFrame) -> list[str]:
    extra = extra_names(wallets)
    if not names or any(name not in {*KINDS, "wallet", "blockchain", *extra} for name in names):
        hint = 'use by="token", "asset", "wallet", "blockchain" or an extra column of wallets'
        hint += f" ({', '.join(map(safe_line, extra))})" * bool(extra)
        raise SettingsError(f"by={by!r} is not supported", hint)
    names = names if "asset" in names else [*names, "token"]
    added = [name for name in ("asset", "token") if name in names]
    return [*(name for name in names if name not in KINDS), *added]


def timeline(
    history: DetailsLike,
    *,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return the amount of each token of each wallet in each snapshot.

    Parameters
    ----------
    history : WalletDetails or tuple of (DataFrame, DataFrame)
        Snapshots, as returned by `load`.
    token : str or (str, str or None), optional
        Return only this token. A token is an unambiguous symbol or a pair (blockchain, contract).
        The contract of a native coin is None.
    asset : str or (str, str or None), optional
        Return only this asset. Pass a name, such as ``"USDC"``, or a contract of the asset. Amounts
        are summed over all contracts. The column ``asset`` replaces the columns of the token.
    assets, bridged : optional
        Your own contracts, and whether bridged versions count, as in `walletframe.assets`.

    Returns
    -------
    DataFrame
        One row for each wallet, token and snapshot. A wallet has rows for each token that the
        wallet ever held, and for each snapshot that requested the wallet. Rows are sorted by
        wallet, token and time. The index is a RangeIndex. The columns are

        - ``snapshot``, datetime64[us, UTC];
        - ``blockchain``, ``address``, ``symbol``, ``token_address``, ``token_blockchain``, str: as
          spelled in the last row of the wallet and of the token;
        - ``amount``, amount: in whole tokens; 0 if an answer lacks the token, NA if unknown;
        - ``status``, category: ``ok`` if the amount is known, otherwise the reason (see `compare`).

        A wallet that never held a token (or the chosen token or asset) has rows only for snapshots
        in which the wallet is unknown. The token of these rows is NA, or the chosen token or asset
        if the wallet could hold it. A balance of an unknown token has one row, since it can't be
        identified over time.

    Raises
    ------
    ArgumentError, ColumnsError, AmountError
        If `history` is not the result of a fetch, lacks a column, or has no exact amounts.
    AmbiguousTokenError, UnknownTokenError
        If several tokens share the symbol, or if no snapshot has the token or asset.
    SettingsError, TokenListError
        If both `token` and `asset` are passed, if `assets` or `bridged` is passed without `asset`,
        or if `assets` can't be used.
    SnapshotError
        If a snapshot has two rows for a wallet, or holdings of a wallet missing from ``wallets``.

    Examples
    --------
    >>> import walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = client.fetch("NEAR.alice.near")
    >>> day = pd.Timestamp("2026-01-31", tz="UTC").as_unit("us")
    >>> history = tuple(frame.assign(snapshot=day) for frame in details)
    >>> timeline(history, token=("NEAR", None))[["snapshot", "symbol", "status"]]
                       snapshot symbol status
    0 2026-01-31 00:00:00+00:00   NEAR     ok
    """
    if asset is None:
        reject_assets(assets, bridged=bridged)
    moments, matrix = _snapshot_times_and_matrix(
        history, token, asset, assets=assets, bridged=bridged
    )
    is_unknown, is_ok = (matrix.token_codes >= 0) & ~matrix.trackable, matrix.status == OK
    left_out = ~matrix.listed.any(axis=1, keepdims=True) & is_ok
    left_out |= is_unknown[:, np.newaxis] & ~(is_ok | (matrix.status == NO_AMOUNT))
    pairs, times = np.nonzero((matrix.status != NOT_ASKED) & ~left_out)
    status = matrix.status[pairs, times]
    frame = matrix.label_columns(pairs)
    frame.insert(0, SNAPSHOT, moments[times])
    return frame.assign(
        amount=matrix.to_amounts(matrix.integers[pairs, times], status == OK),
        status=pd.Categorical.from_codes(status, dtype=STATUS),
    )


def total_timeline(
    history: DetailsLike,
    *,
    by: By | None = None,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Add up the amounts of each token in all wallets or in groups of wallets, in each snapshot.

    Parameters
    ----------
    history : WalletDetails or tuple of (DataFrame, DataFrame)
        Snapshots, as returned by `load`.
    by : str or list of str, optional
        Sum the amounts of each token over groups of wallets, as in `compare`. A name is
        ``"wallet"``, ``"blockchain"``, or an extra column of ``wallets``. With ``"asset"``, sum the
        amounts of each asset, not of each token. If a wallet's label changes, its last label is
        used for all times, and a warning counts such labels. Default: all wallets are one group.
    token, asset : str or (str, str or None), optional
        Return only this token or asset, as in `timeline`. By default, if `where` selected exactly
        one token or asset, only this one is returned.
    assets, bridged : optional
        The definition of assets, as in `timeline`.

    Returns
    -------
    DataFrame
        One row for each group, token and snapshot, sorted by group, token and time. The index is a
        RangeIndex. The columns are

        - ``snapshot``, datetime64[us, UTC];
        - the names in `by`, if given;
        - ``symbol``, ``token_address``, ``token_blockchain``, str: as spelled in the last row of
          the token. For assets, ``asset`` replaces these columns;
        - ``amount``, amount: the sum of the readable amounts. Out-of-date answers are left out. NA
          if no wallet is known, or if none of the balances can be read;
        - ``wallets_known``, int64: the number of wallets whose amount is known in this snapshot;
        - ``wallets``, int64: the number of wallets in the group that could hold the token. If
          ``wallets_known`` is less, the true total may be higher.

        A wallet could hold a token if the wallet is on the token's blockchain, or if any wallet on
        the same blockchain ever held the token. Unknown tokens are left out, since they can't be
        identified over time. A chosen token or asset also has rows in groups that never held it.
        A line below the table counts wallets that are unknown in a snapshot, and bridged versions.

    Raises
    ------
    ArgumentError, ColumnsError, AmountError, AmbiguousTokenError, UnknownTokenError
        In the same cases as `timeline`.
    SettingsError, TokenListError, SnapshotError
        In the same cases as `timeline`, or if `by` can't be used.

    Examples
    --------
    >>> import walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     details = client.fetch("NEAR.alice.near")
    >>> day = pd.Timestamp("2026-01-31", tz="UTC").as_unit("us")
    >>> history = tuple(frame.assign(snapshot=day) for frame in details)
    >>> total_timeline(history, token=("NEAR", None))[["symbol", "wallets_known", "wallets"]]
      symbol  wallets_known  wallets
    0   NEAR              1        1
    """
    details = as_details(history, "history")
    if token is asset is None:
        token, asset = token_or_asset_of_selection(
            details.holdings, by_as_list(by or ()), assets=assets, bridged=bridged
        )
    by = by or ("token" if asset is None else "asset")
    by_contract = asset is not None and "token" in by_as_list(by)
    bridged = bridged or (BRIDGED in details.holdings.attrs and asset is not None)
    moments, matrix = _snapshot_times_and_matrix(
        details, token, asset, assets=assets, bridged=bridged, by_contract=by_contract
    )
    pairs = np.flatnonzero(matrix.trackable)
    pairs = pairs[np.argsort(matrix.token_codes[pairs], kind="stable")]
    grouped = group_amounts(matrix, details.wallets, by, pairs, assets=assets, bridged=bridged)
    grouped = grouped.take_groups(np.flatnonzero(grouped.is_listed))
    groups = np.arange(len(grouped.labels))
    frame = grouped.labels.take(groups.repeat(len(moments))).reset_index(drop=True)
    frame.insert(0, SNAPSHOT, moments[np.tile(np.arange(len(moments)), len(groups))])
    frame = frame.assign(
        amount=matrix.to_amounts(grouped.sums.ravel(), grouped.is_known.ravel()),
        wallets_known=grouped.wallets_known.ravel(),
        wallets=grouped.wallets.repeat(len(moments)),
    )
    unknown_tokens = int(matrix.listed[(matrix.token_codes >= 0) & ~matrix.trackable].sum())
    omitted = {"bridged_separate": grouped.bridged_separate, "unknown_tokens": unknown_tokens}
    return matrix.add_coverage(frame, {"": details}, **omitted)


def _snapshot_times_and_matrix(
    history: DetailsLike, token: TokenLike | None, asset: TokenLike | None, **options: Any
) -> tuple[pd.DatetimeIndex, AmountMatrix]:
    details = select_matrix_columns(as_details(history, "history"), SNAPSHOT)
    token_filter = make_token_filter(details.holdings, token, asset, **options)
    times = [*map(snapshot_column, details)]
    moments = times[0].unique().sort_values()
    wallet_times, holding_times = map(moments.get_indexer, times)
    return moments, build_matrix(details, wallet_times, holding_times, len(moments), token_filter)
