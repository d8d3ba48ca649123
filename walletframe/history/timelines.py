"""Holdings over time, as long frames for charts: unknown amounts are NA, never 0 or left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.frames import (
    WalletDetails,
    candidates,
    details_given,
    snapshot_times,
)
from walletframe.history.choice import chosen, refuse_needless
from walletframe.history.grid import NO_AMOUNT, NOT_ASKED, OK, STATUS, grid, narrowed
from walletframe.history.tables import SNAPSHOT

if TYPE_CHECKING:
    from walletframe.frames import AssetsLike, DetailsLike, TokenLike
    from walletframe.history.grid import Grid, Places


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
        Only this asset, such as ``"USDC"``, or that of a contract: the amounts of all its contracts
        added up, with the column ``asset`` in the place of those of a token.
    assets, bridged : optional
        Of the asset: contracts of your own, and whether twins count, as `walletframe.assets` has
        them.

    Returns
    -------
    DataFrame
        For each token that a wallet held at any time one row for each snapshot in which it was
        asked for, by wallet, then token, then time, on an index from 0. With the columns

        - ``snapshot``, datetime64[us, UTC];
        - ``blockchain``, ``address``, ``symbol``, ``token_address``, ``token_blockchain``, str: as
          last written;
        - ``amount``, amount: whole tokens; 0 where the answer does not list the token, NA where the
          amount is not known;
        - ``status``, category: ``ok`` where it is known; else why not, as in `compare`.

        A wallet that held nothing has rows without a token where nothing is known of it; of the one
        token or asset, if it could hold that. An unknown token has one row, of its own snapshot: it
        can't be followed.

    Raises
    ------
    ArgumentError, ColumnsError
        If `history` is not a fetch, or lacks a column.
    AmbiguousTokenError, UnknownTokenError
        If several tokens share the symbol, or no snapshot has the token or asset.
    SettingsError, TokenListError
        If both `token` and `asset` are given, or `assets` or `bridged` without it, or `assets`
        can't be used.
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
    moments, cells = _cells(history, token, asset, assets, bridged=bridged)
    idle, strange = ~cells.held, (cells.tokens >= 0) & ~cells.followed
    listed = (cells.status == OK) | (cells.status == NO_AMOUNT)
    left_out = (idle[:, np.newaxis] & (cells.status == OK)) | (strange[:, np.newaxis] & ~listed)
    pairs, times = np.nonzero((cells.status != NOT_ASKED) & ~left_out)
    status = cells.status[pairs, times]
    frame = cells.names(pairs)
    frame.insert(0, SNAPSHOT, moments[times])
    return frame.assign(
        amount=cells.amounts(cells.integers[pairs, times], status == OK),
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
    """Add up how much of each token all wallets together held at each snapshot.

    Parameters
    ----------
    history : WalletDetails or tuple of (DataFrame, DataFrame)
        Snapshots, as from `load`.
    token : str or (str, str or None), optional
        Only this one, as in `timeline`.
    asset, assets, bridged : optional
        Only this asset, as in `timeline`.

    Returns
    -------
    DataFrame
        One row for each token and snapshot, by token, then time, on an index from 0. With the
        columns

        - ``snapshot``, datetime64[us, UTC];
        - ``symbol``, ``token_address``, ``token_blockchain``, str: as last written;
        - ``amount``, amount: the sum of what is known; NA where nothing is;
        - ``wallets_known``, ``wallets``, int64: of how many wallets the amount is known in this
          snapshot, and how many of this history could hold the token: those on its own blockchain,
          and on all where one ever held it. Where they differ, there may have been more.

        Unknown tokens are left out: they can't be followed.

    Raises
    ------
    ArgumentError, ColumnsError
        If `history` is not a fetch, or lacks a column.
    AmbiguousTokenError, UnknownTokenError
        If several tokens share the symbol, or no snapshot has the token or asset.
    SettingsError, TokenListError
        If both `token` and `asset` are given, or `assets` or `bridged` without it, or `assets`
        can't be used.
    SnapshotError
        If a snapshot has a wallet twice, or holdings that belong to no wallet.

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
    moments, cells = _cells(history, token, asset, assets, bridged=bridged)
    held = np.flatnonzero(cells.followed)
    tokens, first = np.unique(cells.tokens[held], return_index=True)
    shape = (len(tokens), len(moments))
    places = np.searchsorted(tokens, cells.tokens[held])
    sums, unknown = np.full(shape, 0, dtype=object), np.zeros(shape, dtype=np.int64)
    np.add.at(sums, places, cells.integers[held])
    np.add.at(unknown, places, cells.status[held] == NO_AMOUNT)
    able = _able_wallets(cells)[tokens]
    known = (able[:, 1:] - unknown).ravel()
    frame = cells.names(held[first].repeat(len(moments))).drop(columns=["blockchain", "address"])
    frame.insert(0, SNAPSHOT, moments[np.tile(np.arange(len(moments)), len(tokens))])
    return frame.assign(
        amount=cells.amounts(sums.ravel(), known > 0),
        wallets_known=known,
        wallets=able[:, 0].repeat(len(moments)),
    )


def _able_wallets(cells: Grid) -> Places:
    """Count, of each token, the wallets that could hold it, then those known at each time."""
    own_chains, names = pd.factorize(np.array([key[0] for key in cells.who.keys], dtype=object))
    places = {name: place for place, name in enumerate(names)}
    holders = cells.who.codes[len(cells.details.wallets) :]
    homes = cells.choice.homes if cells.choice else None
    tokens, chains = candidates(cells.what, own_chains[holders], places, homes)
    known = cells.wallet_status == OK
    counted = np.column_stack([np.ones(len(known), dtype=np.intp), known])
    return _added(tokens, _added(own_chains, counted)[chains])


def _added(codes: Places, rows: Places) -> Places:
    found = np.zeros((int(codes.max(initial=-1)) + 1, rows.shape[1]), dtype=np.intp)
    np.add.at(found, codes, rows)
    return found


def _cells(
    history: DetailsLike,
    token: TokenLike | None,
    asset: TokenLike | None,
    assets: AssetsLike | None,
    *,
    bridged: bool,
) -> tuple[pd.DatetimeIndex, Grid]:
    """Lay out the cells of a history, or of one token or asset of it, and tell their times."""
    wallets, holdings = narrowed(details_given(history, "history"), SNAPSHOT)
    refuse_needless(asset, assets, bridged=bridged)
    choice = chosen(holdings, token, asset, assets=assets, bridged=bridged)
    asked_times, times = snapshot_times(wallets), snapshot_times(holdings)
    moments = asked_times.unique().sort_values()
    places = moments.get_indexer(asked_times), moments.get_indexer(times)
    return moments, grid(WalletDetails(wallets, holdings), *places, len(moments), choice)
