"""Holdings over time: each wallet's exact amount of each token, or why it is unknown.

As long frames for charts, in which unknown amounts are NA, never 0 or left out.
"""
# A token that an answer does not list is a known zero; a token that it lists twice is added up.
# Nothing is known of a wallet that failed or was not asked, nor from an answer that is out of date.
# A balance of an unknown token may be of any: of the wallet's other tokens nothing is known at that
# time. It is the same as no other: at any other time nothing is known of it.

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.errors import SettingsError, SnapshotError
from walletframe.frames.asset_list import held_place, refuse_assets, with_assets
from walletframe.frames.contract import amounts_of, require_columns, stacked
from walletframe.frames.details import WalletDetails, details_given
from walletframe.frames.identity import Identities, token_identities, wallet_identities
from walletframe.frames.known import known_when_asked
from walletframe.frames.positions import candidates, cell_sums, read_positions, snapshot_times
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

    Kinds = npt.NDArray[np.int8]
    Integers = npt.NDArray[np.object_]

_WALLET = ["blockchain", "address"]
_TOKEN = ["symbol", "token_address", "token_blockchain"]
_STATUSES = [status.value for status in Status]
_NAMES = [*_STATUSES, "stale", "no_amount", "unknown_token", "not_asked"]
STATUS: Final = pd.CategoricalDtype(pd.Index(_NAMES, dtype=TEXT))
OK = _NAMES.index("ok")
STALE, NO_AMOUNT, UNKNOWN_TOKEN, NOT_ASKED = range(len(_STATUSES), len(_NAMES))


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of p pairs of a wallet and a token, by their first mentions, at s times; w wallets."""

    details: WalletDetails
    who: Identities  # w wallets: of the rows of wallets, then of those of holdings
    what: Identities  # the tokens of the rows of holdings
    wallet_rows: Codes  # (p,): where each pair is last written
    holding_rows: Codes  # (p,): the same; -1 for the one pair of a wallet without a known token
    held: Mask  # (p,): the wallet was told to have some, if only 0, at some time
    tokens: Codes  # (p,): -1 for none
    followed: Mask  # (p,): there is a token, and it can be told from others
    integers: Integers  # (p, s): amounts times 10**scale; 0 where none is known
    scale: int
    status: Kinds  # (p, s): codes of STATUS, OK where the amount is known
    wallet_status: Kinds  # (w, s): the same for any other token of each wallet
    choice: Choice | None  # the one token or asset, if one was asked for

    def names(self, pairs: Codes) -> pd.DataFrame:
        """Name some pairs: as `labels` does, or their wallet and the one asset."""
        labels = self.labels(pairs)
        if self.choice is None or self.choice.asset is None:
            return labels
        named = pd.Series(self.choice.asset, index=labels.index, dtype=TEXT)
        return labels.drop(columns=_TOKEN).assign(asset=named)

    def labels(self, pairs: Codes) -> pd.DataFrame:
        """Name some pairs: their wallet, and their token or NA."""
        wallets, holdings = self.details
        whose, which = self.wallet_rows[pairs], self.holding_rows[pairs]
        columns = {name: wallets[name].array.take(whose) for name in _WALLET}
        columns |= {name: holdings[name].array.take(which, allow_fill=True) for name in _TOKEN}
        return pd.DataFrame(columns).astype(TEXT)

    def amounts(self, integers: Integers, known: Mask) -> AmountArray:
        """Return integers of this scale as amounts, NA where they are not known."""
        return AmountArray(np.where(known, integers, 0), ~known, self.scale)


def narrowed(details: WalletDetails, *more: str) -> WalletDetails:
    """Return the columns that the cells need, and `more` of both frames."""
    needed = [*_WALLET, "status", "tokens", "source", *more], [*_WALLET, *_TOKEN, "amount", *more]
    for frame, names in zip(details, needed, strict=True):
        require_columns(frame, names)
    wallets, holdings = (frame[names] for frame, names in zip(details, needed, strict=True))
    amounts_of(holdings["amount"])
    return WalletDetails(wallets, holdings)


def grid(
    details: WalletDetails, asked_times: Codes, times: Codes, count: int, choice: Choice | None
) -> Grid:
    """Lay out the cells of `narrowed` frames, whose rows are of times below `count`."""
    wallets, holdings = details
    one = choice is not None and not choice.apart
    if choice is None:
        what = token_identities(holdings)
        hides = what.unknown_rows()
    else:
        hides = choice.hides
    hiding = pd.DataFrame({name: holdings[name].array[hides] for name in _WALLET})
    hidden_times = times[hides]
    if choice:
        holdings, times = holdings[choice.rows], times[choice.rows]
        details = WalletDetails(wallets, holdings)
        what = choice.one(len(holdings)) if one else token_identities(holdings)
    frames = [wallets[_WALLET], holdings[_WALLET], hiding]
    who = wallet_identities(stacked(frames))
    asked, holders, hiders = np.split(who.codes, np.cumsum([*map(len, frames[:-1])]))
    who = replace(who, codes=who.codes[: len(who.codes) - len(hiders)])
    wallet_status = _wallet_status(wallets, asked * count + asked_times, (len(who.keys), count))
    for rows in ((holdings, holders, times), (hiding, hiders, hidden_times)):
        _check_holders(*rows, wallet_status)
    said = wallet_status[hiders, hidden_times]
    wallet_status[hiders, hidden_times] = np.where(said == OK, UNKNOWN_TOKEN, said)
    pairs, distinct = pd.factorize(holders * len(what.keys) + what.codes)
    owner, token = np.divmod(distinct, max(len(what.keys), 1))
    able = asked
    if choice:  # which wallets could hold it, by their blockchains and those of its holders
        _, homes, chains = could_hold(choice.one(len(holders)), who, holders, choice.homes)
        able = asked[np.isin(chains, homes)[asked]]
    idle = np.setdiff1d(able, owner)  # they stand among the pairs, in the order of the wallets
    token = np.append(token, np.full(len(idle), 0 if one else -1))
    order = np.argsort(owner := np.append(owner, idle), kind="stable")
    owner, token = owner[order], token[order]
    shape, place = (len(order), count), np.argsort(order)[pairs]
    sums = cell_sums(holdings["amount"].array, place * count + times, len(order) * count).exact()
    integers, unread = sums.integers.reshape(shape), sums.missing.reshape(shape)
    strange = np.append(what.unknown, False)[token]
    listed = np.zeros(shape, dtype=bool)
    listed[place, times] = True
    status = _cell_status(wallet_status[owner], strange, listed, unread)
    integers[status != OK] = 0
    holding_rows = _last(place, len(order))
    return Grid(
        details,
        who,
        what,
        wallet_rows=_last(asked, len(who.keys))[owner],
        holding_rows=np.where((holding_rows < 0) & one, len(holdings) - 1, holding_rows),
        held=holding_rows >= 0,
        tokens=token,
        followed=(token >= 0) & ~strange,
        integers=integers,
        scale=sums.scale,
        status=status,
        wallet_status=wallet_status,
        choice=choice,
    )


def _cell_status(wallets: Kinds, strange: Mask, listed: Mask, unread: Mask) -> Kinds:
    """Return what is known of each cell: what its wallet says, but for what can't be read."""
    found, rows = wallets.copy(), np.flatnonzero(strange)
    some, there = found[rows], listed[rows]
    some[(some == UNKNOWN_TOKEN) & there] = OK
    some[(some == OK) & ~there] = UNKNOWN_TOKEN
    found[rows] = some
    odd = np.nonzero(unread)
    said = found[odd]
    found[odd] = np.where((said == OK) | (said == UNKNOWN_TOKEN), NO_AMOUNT, said)
    return found


def _wallet_status(wallets: pd.DataFrame, cells: Codes, shape: tuple[int, int]) -> Kinds:
    codes = pd.Index(_STATUSES).get_indexer(pd.Index(wallets["status"], dtype=TEXT))
    if (codes < 0).any():
        raise SnapshotError(f"{wallets['status'][codes < 0].iloc[0]!r} is not a wallet status")
    if len(twice := np.flatnonzero(np.bincount(cells)[cells] > 1)):
        first = wallets.iloc[twice[0]]
        raise SnapshotError(
            f"the wallet {first['blockchain']}.{first['address']!a} is there more than once",
            hint="compare one snapshot with one other: history.snapshot(…) gives a single one",
        )
    codes[(codes == OK) & ~known_when_asked(wallets)] = STALE
    status = np.full(shape, NOT_ASKED, dtype=np.int8)
    status.ravel()[cells] = codes
    return status


def _check_holders(
    holdings: pd.DataFrame, holders: Codes, times: Codes, wallet_status: Kinds
) -> None:
    asked = times >= 0
    asked[asked] = wallet_status[holders[asked], times[asked]] != NOT_ASKED
    if not asked.all():
        first = holdings.iloc[asked.argmin()]
        raise SnapshotError(
            f"there are holdings of {first['blockchain']}.{first['address']!a}, which is not "
            "among the wallets",
            hint="give wallets and holdings of the same fetch",
        )


def _last(codes: Codes, count: int) -> Codes:
    """Return the position of each code's last row, -1 where there is none."""
    last = np.full(count, -1, dtype=np.intp)
    last[codes] = np.arange(len(codes))  # of several writes the last one stays
    return last


@dataclass(frozen=True, slots=True)
class Choice:
    """One token or asset, which takes the place of the tokens of all rows that are left."""

    rows: Mask  # of the holdings: which are of it
    hides: Codes  # of the holdings: the rows of unknown tokens, which may be it
    key: TokenKey
    homes: Mapping[TokenKey, Collection[str]] | None  # the blockchains that have it, of an asset
    asset: str | None  # what the asset is called; None for a token
    apart: bool = False  # whether its contracts stay apart all the same

    def one(self, rows: int) -> Identities:
        """Repeat the one thing for so many rows."""
        return Identities(np.zeros(rows, dtype=np.intp), [self.key], np.zeros(1, dtype=np.intp))


def chosen(
    holdings: pd.DataFrame,
    token: TokenLike | None,
    asset: TokenLike | None,
    *,
    assets: AssetsLike | None,
    bridged: bool,
    apart: bool = False,
) -> Choice | None:
    """Find the one token or asset that is asked for; None where all are."""
    if token is not None and asset is not None:
        raise SettingsError("token=… and asset=… contradict")
    if (named := token if asset is None else asset) is None:
        return None
    positions = read_positions(holdings)
    if asset is not None:
        positions = with_assets(positions, assets, bridged=bridged)
    place, tokens, known = held_place(positions, named), positions.tokens, positions.assets
    key = tokens.keys[place]
    return Choice(
        rows=tokens.codes == place,
        hides=tokens.unknown_rows(),
        key=key,
        homes=known.homes if known else None,
        asset=known.names[key] if known else None,
        apart=apart and asset is not None,
    )


def could_hold(
    what: Identities,
    who: Identities,
    holders: Codes,
    homes: Mapping[TokenKey, Collection[str]] | None,
) -> tuple[Codes, Codes, Codes]:
    """Return tokens beside blockchains that could have them, and the blockchain of each wallet."""
    chains, names = factorized(np.array([key[0] for key in who.keys], dtype=object))
    places = {name: place for place, name in enumerate(names)}
    return *candidates(what, chains[holders], places, homes), chains


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
    token, asset, assets, bridged : optional
        Only this token or asset, as in `timeline`.

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
    moments, cells = _cells(history, token, asset, assets, bridged=bridged)
    held = np.flatnonzero(cells.followed)
    tokens, first = np.unique(cells.tokens[held], return_index=True)
    shape = len(tokens), len(moments)
    places = np.searchsorted(tokens, cells.tokens[held])
    sums, unknown = np.full(shape, 0, dtype=object), np.zeros(shape, dtype=np.int64)
    np.add.at(sums, places, cells.integers[held])
    sure = cells.wallet_status[cells.who.codes[cells.wallet_rows[held]]] == OK
    np.add.at(unknown, places, sure & (cells.status[held] != OK))
    # The wallets that could hold each, then those of them that are known at each time.
    holders = cells.who.codes[len(cells.details.wallets) :]
    homes = cells.choice.homes if cells.choice else None
    candidates, chains, own_chains = could_hold(cells.what, cells.who, holders, homes)
    is_known = cells.wallet_status == OK
    counted = np.column_stack([np.ones(len(is_known), dtype=np.intp), is_known])
    able = _added(candidates, _added(own_chains, counted)[chains])[tokens]
    known = (able[:, 1:] - unknown).ravel()
    frame = cells.names(held[first].repeat(len(moments))).drop(columns=["blockchain", "address"])
    frame.insert(0, SNAPSHOT, moments[np.tile(np.arange(len(moments)), len(tokens))])
    return frame.assign(
        amount=cells.amounts(sums.ravel(), known > 0),
        wallets_known=known,
        wallets=able[:, 0].repeat(len(moments)),
    )


def _added(codes: Codes, rows: Codes) -> Codes:
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
    if asset is None:
        refuse_assets(assets, bridged=bridged)
    choice = chosen(holdings, token, asset, assets=assets, bridged=bridged)
    asked_times, times = snapshot_times(wallets), snapshot_times(holdings)
    moments = asked_times.unique().sort_values()
    places = moments.get_indexer(asked_times), moments.get_indexer(times)
    return moments, grid(WalletDetails(wallets, holdings), *places, len(moments), choice)
