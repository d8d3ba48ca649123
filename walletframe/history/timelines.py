"""Each wallet's exact amount of each token over time, or the reason why it is unknown.

Returned as long frames for charts, in which unknown amounts are NA, never 0 or left out.
"""
# A token that an answer does not list is a known zero; balances that it lists twice are summed.
# Amounts are unknown if the wallet failed or was not requested, or if its answer is out of date.
# An unknown token may be any token: at that time, all other tokens of the wallet are unknown. It
# can't be matched with tokens of other snapshots: its own amount is unknown at all other times.

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.errors import SettingsError, SnapshotError
from walletframe.frames.asset_list import refuse_assets, token_or_asset_index, with_assets
from walletframe.frames.contract import amounts_of, concat_frames, require_columns
from walletframe.frames.details import WalletDetails, as_details
from walletframe.frames.identity import KeyCodes, token_identities, wallet_identities
from walletframe.frames.known import known_and_fresh
from walletframe.frames.positions import (
    cell_sums,
    possible_token_blockchains,
    read_positions,
    snapshot_times,
)
from walletframe.history.folder import SNAPSHOT
from walletframe.pandas_versions import TEXT, factorized
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy.typing as npt

    from walletframe.frames.asset_list import AssetsLike
    from walletframe.frames.details import DetailsLike
    from walletframe.frames.identity import Codes, Mask, TokenKey
    from walletframe.frames.names import TokenLike

    Statuses = npt.NDArray[np.int8]
    Integers = npt.NDArray[np.object_]

_WALLET = ["blockchain", "address"]
_TOKEN = ["symbol", "token_address", "token_blockchain"]
_STATUSES = [status.value for status in Status]
_NAMES = [*_STATUSES, "stale", "no_amount", "unknown_token", "not_asked"]
STATUS: Final = pd.CategoricalDtype(pd.Index(_NAMES, dtype=TEXT))
OK = _NAMES.index("ok")
STALE, NO_AMOUNT, UNKNOWN_TOKEN, NOT_ASKED = range(len(_STATUSES), len(_NAMES))


@dataclass(frozen=True, slots=True)
class AmountMatrix:
    """Amounts of p (wallet, token) pairs, ordered by first mention, at s times; w wallets."""

    details: WalletDetails
    wallet_ids: KeyCodes  # w wallets: for the rows of wallets, then for the rows of holdings
    token_ids: KeyCodes  # for the rows of holdings
    wallet_rows: Codes  # (p,): the last row of each pair's wallet
    holding_rows: Codes  # (p,): the last row of each pair; -1 for a wallet without holdings
    ever_listed: Mask  # (p,): some answer lists the token, if only with 0
    tokens: Codes  # (p,): -1 for a wallet without tokens
    trackable: Mask  # (p,): the token is known, so that it can be matched over time
    integers: Integers  # (p, s): amounts times 10**scale; 0 if unknown
    scale: int
    status: Statuses  # (p, s): codes of STATUS, OK if the amount is known
    wallet_status: Statuses  # (w, s): the same for known tokens with readable amounts
    token_filter: TokenFilter | None

    def names(self, pairs: Codes) -> pd.DataFrame:
        """Return the labels of some pairs; the asset replaces the token if one was chosen."""
        labels = self.labels(pairs)
        if self.token_filter is None or self.token_filter.asset is None:
            return labels
        asset = pd.Series(self.token_filter.asset, index=labels.index, dtype=TEXT)
        return labels.drop(columns=_TOKEN).assign(asset=asset)

    def labels(self, pairs: Codes) -> pd.DataFrame:
        """Return the wallet of some pairs, and their token or NA."""
        wallets, holdings = self.details
        wallet, token = self.wallet_rows[pairs], self.holding_rows[pairs]
        columns = {name: wallets[name].array.take(wallet) for name in _WALLET}
        columns |= {name: holdings[name].array.take(token, allow_fill=True) for name in _TOKEN}
        return pd.DataFrame(columns).astype(TEXT)

    def amounts(self, integers: Integers, known: Mask) -> AmountArray:
        """Return integers of this scale as amounts, NA unless known."""
        return AmountArray(np.where(known, integers, 0), ~known, self.scale)


def select_needed(details: WalletDetails, *more: str) -> WalletDetails:
    """Return the columns that `build_matrix` needs, and `more` from both frames."""
    needed = [*_WALLET, "status", "tokens", "source", *more], [*_WALLET, *_TOKEN, "amount", *more]
    for frame, names in zip(details, needed, strict=True):
        require_columns(frame, names)
    wallets, holdings = (frame[names] for frame, names in zip(details, needed, strict=True))
    amounts_of(holdings["amount"])
    return WalletDetails(wallets, holdings)


def build_matrix(
    details: WalletDetails,
    wallet_times: Codes,
    times: Codes,
    count: int,
    token_filter: TokenFilter | None,
) -> AmountMatrix:
    """Sum the amounts of `select_needed` frames by pair and time; times are below `count`."""
    wallets, holdings = details
    is_one = token_filter is not None and not token_filter.by_contract
    if token_filter is None:
        token_ids = token_identities(holdings)
        unknown = token_ids.unknown_rows()
    else:
        unknown = token_filter.unknown
    of_unknown = pd.DataFrame({name: holdings[name].array[unknown] for name in _WALLET})
    unknown_times = times[unknown]
    if token_filter:
        holdings, times = holdings[token_filter.rows], times[token_filter.rows]
        details = WalletDetails(wallets, holdings)
        token_ids = token_filter.repeat(len(holdings)) if is_one else token_identities(holdings)
    frames = [wallets[_WALLET], holdings[_WALLET], of_unknown]
    ids = wallet_identities(concat_frames(frames))
    requested, holders, doubtful = np.split(ids.codes, np.cumsum([*map(len, frames[:-1])]))
    ids = replace(ids, codes=ids.codes[: len(ids.codes) - len(doubtful)])
    cells = requested * count + wallet_times
    wallet_status = _wallet_status(wallets, cells, (len(ids.keys), count))
    for rows in ((holdings, holders, times), (of_unknown, doubtful, unknown_times)):
        _require_requested(*rows, wallet_status)
    codes = wallet_status[doubtful, unknown_times]
    wallet_status[doubtful, unknown_times] = np.where(codes == OK, UNKNOWN_TOKEN, codes)
    pairs, distinct = pd.factorize(holders * len(token_ids.keys) + token_ids.codes)
    wallet, token = np.divmod(distinct, max(len(token_ids.keys), 1))
    able = requested
    if token_filter:  # only wallets on blockchains that have the token
        each_one = token_filter.repeat(len(holders))
        _, homes, chains = could_hold(each_one, ids, holders, token_filter.homes)
        able = requested[np.isin(chains, homes)[requested]]
    without = np.setdiff1d(able, wallet)  # wallets without holdings have a pair each, too
    token = np.append(token, np.full(len(without), 0 if is_one else -1))
    order = np.argsort(wallet := np.append(wallet, without), kind="stable")
    wallet, token = wallet[order], token[order]
    shape, pair = (len(order), count), np.argsort(order)[pairs]
    sums = cell_sums(holdings["amount"].array, pair * count + times, len(order) * count).exact()
    integers, unreadable = sums.integers.reshape(shape), sums.missing.reshape(shape)
    is_unknown = np.append(token_ids.unknown, False)[token]
    listed = np.zeros(shape, dtype=bool)
    listed[pair, times] = True
    status = _cell_status(wallet_status[wallet], is_unknown, listed, unreadable)
    integers[status != OK] = 0
    holding_rows = _last_rows(pair, len(order))
    return AmountMatrix(
        details,
        ids,
        token_ids,
        wallet_rows=_last_rows(requested, len(ids.keys))[wallet],
        holding_rows=np.where((holding_rows < 0) & is_one, len(holdings) - 1, holding_rows),
        ever_listed=holding_rows >= 0,
        tokens=token,
        trackable=(token >= 0) & ~is_unknown,
        integers=integers,
        scale=sums.scale,
        status=status,
        wallet_status=wallet_status,
        token_filter=token_filter,
    )


def _cell_status(wallets: Statuses, is_unknown: Mask, listed: Mask, unreadable: Mask) -> Statuses:
    """Return the status of each cell: its wallet's, corrected for unknown tokens and amounts."""
    status, rows = wallets.copy(), np.flatnonzero(is_unknown)
    codes, is_listed = status[rows], listed[rows]
    codes[(codes == UNKNOWN_TOKEN) & is_listed] = OK
    codes[(codes == OK) & ~is_listed] = UNKNOWN_TOKEN
    status[rows] = codes
    cells = np.nonzero(unreadable)
    codes = status[cells]
    status[cells] = np.where((codes == OK) | (codes == UNKNOWN_TOKEN), NO_AMOUNT, codes)
    return status


def _wallet_status(wallets: pd.DataFrame, cells: Codes, shape: tuple[int, int]) -> Statuses:
    codes = pd.Index(_STATUSES).get_indexer(pd.Index(wallets["status"], dtype=TEXT))
    if (codes < 0).any():
        raise SnapshotError(f"{wallets['status'][codes < 0].iloc[0]!r} is not a wallet status")
    if len(repeated := np.flatnonzero(np.bincount(cells)[cells] > 1)):
        first = wallets.iloc[repeated[0]]
        raise SnapshotError(
            f"the wallet {first['blockchain']}.{first['address']!a} has more than one row",
            hint="compare one snapshot with one other: history.snapshot(…) returns a single one",
        )
    codes[(codes == OK) & ~known_and_fresh(wallets)] = STALE
    status = np.full(shape, NOT_ASKED, dtype=np.int8)
    status.ravel()[cells] = codes
    return status


def _require_requested(
    holdings: pd.DataFrame, holders: Codes, times: Codes, wallet_status: Statuses
) -> None:
    requested = times >= 0
    requested[requested] = wallet_status[holders[requested], times[requested]] != NOT_ASKED
    if not requested.all():
        first = holdings.iloc[requested.argmin()]
        raise SnapshotError(
            f"there are holdings of {first['blockchain']}.{first['address']!a}, which is not "
            "among the wallets",
            hint="give wallets and holdings of the same fetch",
        )


def _last_rows(codes: Codes, count: int) -> Codes:
    """Return the position of each code's last row, or -1."""
    last = np.full(count, -1, dtype=np.intp)
    last[codes] = np.arange(len(codes))  # NumPy keeps the last of several assignments
    return last


@dataclass(frozen=True, slots=True)
class TokenFilter:
    """The one token or asset that a caller chose."""

    rows: Mask  # the holdings that are of it
    unknown: Codes  # the holdings of unknown tokens, which may be it
    key: TokenKey
    homes: Mapping[TokenKey, Collection[str]] | None  # the blockchains of an asset's contracts
    asset: str | None  # the asset's name; None for a token
    by_contract: bool = False  # whether the asset's contracts are not added up

    def repeat(self, rows: int) -> KeyCodes:
        """Return the key as the token of each of `rows` rows."""
        return KeyCodes(np.zeros(rows, dtype=np.intp), [self.key], np.zeros(1, dtype=np.intp))


def find_token_filter(
    holdings: pd.DataFrame,
    token: TokenLike | None,
    asset: TokenLike | None,
    *,
    assets: AssetsLike | None,
    bridged: bool,
    by_contract: bool = False,
) -> TokenFilter | None:
    """Return the filter for the chosen token or asset; None for all tokens."""
    if token is not None and asset is not None:
        raise SettingsError("token=… and asset=… contradict each other", hint="give only one")
    if (chosen := token if asset is None else asset) is None:
        return None
    positions = read_positions(holdings)
    if asset is not None:
        positions = with_assets(positions, assets, bridged=bridged)
    index, tokens = token_or_asset_index(positions, chosen), positions.tokens
    key, known = tokens.keys[index], positions.assets
    return TokenFilter(
        rows=tokens.codes == index,
        unknown=tokens.unknown_rows(),
        key=key,
        homes=known.blockchains if known else None,
        asset=known.names[key] if known else None,
        by_contract=by_contract and asset is not None,
    )


def could_hold(
    token_ids: KeyCodes,
    wallet_ids: KeyCodes,
    holders: Codes,
    homes: Mapping[TokenKey, Collection[str]] | None,
) -> tuple[Codes, Codes, Codes]:
    """Return pairs of tokens and blockchains that may have them, and each wallet's blockchain."""
    chains, names = factorized(np.array([key[0] for key in wallet_ids.keys], dtype=object))
    codes = {name: code for code, name in enumerate(names)}
    return *possible_token_blockchains(token_ids, chains[holders], codes, homes), chains


def timeline(
    history: DetailsLike,
    *,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Return each wallet's amount of each token at each snapshot.

    Parameters
    ----------
    history : WalletDetails or tuple of (DataFrame, DataFrame)
        Snapshots, as from `load`.
    token : str or (str, str or None), optional
        Only this token: (blockchain, contract), None for a native coin, or an unambiguous symbol.
    asset : str or (str, str or None), optional
        Only this asset, such as ``"USDC"``, or the asset of a contract: the sum over all its
        contracts, with the column ``asset`` in place of the token's columns.
    assets, bridged : optional
        The asset's definition: your own contracts, and whether bridged versions count, as in
        `walletframe.assets`.

    Returns
    -------
    DataFrame
        For each token that a wallet held at any time, one row for each snapshot in which the wallet
        was requested, by wallet, then token, then time, on an index from 0. With the columns

        - ``snapshot``, datetime64[us, UTC];
        - ``blockchain``, ``address``, ``symbol``, ``token_address``, ``token_blockchain``, str: as
          last written;
        - ``amount``, amount: whole tokens; 0 if the answer does not list the token, NA if the
          amount is not known;
        - ``status``, category: ``ok`` if the amount is known; else why not, as in `compare`.

        A wallet without holdings has rows, without a token, for the snapshots in which it is
        unknown; with `token` or `asset`, rows of that, if it could hold it. An unknown token has
        one row, in its own snapshot: it can't be matched with other snapshots.

    Raises
    ------
    ArgumentError, ColumnsError
        If `history` is not a fetch, or lacks a column.
    AmbiguousTokenError, UnknownTokenError
        If several tokens share the symbol, or no snapshot has the token or asset.
    SettingsError, TokenListError
        If both `token` and `asset` are given, or `assets` or `bridged` without `asset`, or
        `assets` can't be used.
    SnapshotError
        If a snapshot has a wallet twice, or holdings that belong to no wallet.

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
    moments, matrix = _matrix_of(history, token, asset, assets, bridged=bridged)
    is_unknown, is_ok = (matrix.tokens >= 0) & ~matrix.trackable, matrix.status == OK
    left_out = ~matrix.ever_listed[:, np.newaxis] & is_ok
    left_out |= is_unknown[:, np.newaxis] & ~(is_ok | (matrix.status == NO_AMOUNT))
    pairs, times = np.nonzero((matrix.status != NOT_ASKED) & ~left_out)
    status = matrix.status[pairs, times]
    frame = matrix.names(pairs)
    frame.insert(0, SNAPSHOT, moments[times])
    return frame.assign(
        amount=matrix.amounts(matrix.integers[pairs, times], status == OK),
        status=pd.Categorical.from_codes(status, dtype=STATUS),
    )


def total_timeline(
    history: DetailsLike,
    *,
    token: TokenLike | None = None,
    asset: TokenLike | None = None,
    assets: AssetsLike | None = None,
    bridged: bool = False,
) -> pd.DataFrame:
    """Sum the amounts of each token over all wallets at each snapshot.

    Parameters
    ----------
    history : WalletDetails or tuple of (DataFrame, DataFrame)
        Snapshots, as from `load`.
    token, asset, assets, bridged : optional
        Only this token or asset, as in `timeline`.

    Returns
    -------
    DataFrame
        One row for each token and snapshot, by token, then time, on an index from 0. With the
        columns

        - ``snapshot``, datetime64[us, UTC];
        - ``symbol``, ``token_address``, ``token_blockchain``, str: as last written;
        - ``amount``, amount: the sum of the known amounts; NA if none is known;
        - ``wallets_known``, ``wallets``, int64: the wallets whose amount is known in this snapshot,
          and the wallets of this history that could hold the token: those on its own blockchain,
          and on all on which one ever held it. If they differ, the total may be higher.

        Unknown tokens are left out: they can't be matched between snapshots.

    Raises
    ------
    ArgumentError, ColumnsError, AmbiguousTokenError, UnknownTokenError
        As `timeline`.
    SettingsError, TokenListError, SnapshotError
        As `timeline`.

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
    moments, matrix = _matrix_of(history, token, asset, assets, bridged=bridged)
    pairs = np.flatnonzero(matrix.trackable)
    tokens, first = np.unique(matrix.tokens[pairs], return_index=True)
    shape = len(tokens), len(moments)
    codes = np.searchsorted(tokens, matrix.tokens[pairs])
    sums, unknown = np.full(shape, 0, dtype=object), np.zeros(shape, dtype=np.int64)
    np.add.at(sums, codes, matrix.integers[pairs])
    is_known = matrix.wallet_status == OK
    certain = is_known[matrix.wallet_ids.codes[matrix.wallet_rows[pairs]]]
    np.add.at(unknown, codes, certain & (matrix.status[pairs] != OK))
    # Count the wallets that could hold each token, then the known ones at each time.
    holders = matrix.wallet_ids.codes[len(matrix.details.wallets) :]
    homes = matrix.token_filter.homes if matrix.token_filter else None
    candidates, chains, own_chains = could_hold(matrix.token_ids, matrix.wallet_ids, holders, homes)
    counted = np.column_stack([np.ones(len(is_known), dtype=np.intp), is_known])
    able = _sum_by_code(candidates, _sum_by_code(own_chains, counted)[chains])[tokens]
    known = (able[:, 1:] - unknown).ravel()
    frame = matrix.names(pairs[first].repeat(len(moments))).drop(columns=["blockchain", "address"])
    frame.insert(0, SNAPSHOT, moments[np.tile(np.arange(len(moments)), len(tokens))])
    return frame.assign(
        amount=matrix.amounts(sums.ravel(), known > 0),
        wallets_known=known,
        wallets=able[:, 0].repeat(len(moments)),
    )


def _sum_by_code(codes: Codes, rows: Codes) -> Codes:
    sums = np.zeros((int(codes.max(initial=-1)) + 1, rows.shape[1]), dtype=np.intp)
    np.add.at(sums, codes, rows)
    return sums


def _matrix_of(
    history: DetailsLike,
    token: TokenLike | None,
    asset: TokenLike | None,
    assets: AssetsLike | None,
    *,
    bridged: bool,
) -> tuple[pd.DatetimeIndex, AmountMatrix]:
    """Return the times of a history, and the amounts of all tokens, or of the chosen one."""
    wallets, holdings = select_needed(as_details(history, "history"), SNAPSHOT)
    if asset is None:
        refuse_assets(assets, bridged=bridged)
    token_filter = find_token_filter(holdings, token, asset, assets=assets, bridged=bridged)
    wallet_times, times = snapshot_times(wallets), snapshot_times(holdings)
    moments = wallet_times.unique().sort_values()
    places = moments.get_indexer(wallet_times), moments.get_indexer(times)
    details = WalletDetails(wallets, holdings)
    return moments, build_matrix(details, *places, len(moments), token_filter)
