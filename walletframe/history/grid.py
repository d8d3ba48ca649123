"""Each wallet's exact amount of each token at each time, or the reason why it is unknown."""
# A token that an answer does not list is a known zero; a token that it lists twice is added up.
# Nothing is known of a wallet that failed or was not asked, nor from an answer that is out of date.
# An unknown token is the same as no other: there is an amount of it at one time, and at any other
# nothing is known.

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.errors import Either, SnapshotError, Spelled
from walletframe.frames import (
    WalletDetails,
    amounts_of,
    as_failed,
    cell_sums,
    is_unknown,
    known_when_asked,
    require_columns,
    token_identities,
    wallet_identities,
)
from walletframe.wire import Status

if TYPE_CHECKING:
    import numpy.typing as npt

    from walletframe.frames import Identities
    from walletframe.history.choice import Choice

    Places = npt.NDArray[np.intp]
    Mask = npt.NDArray[np.bool_]
    Kinds = npt.NDArray[np.int8]

_WALLET = ["blockchain", "address"]
_TOKEN = ["symbol", "token_address", "token_blockchain"]
_STATUSES = [status.value for status in Status]
_NAMES = [*_STATUSES, "stale", "no_amount", "unknown_token", "not_asked"]
STATUS: Final = pd.CategoricalDtype(pd.Index(_NAMES, dtype="str"))
OK = _NAMES.index("ok")
STALE, NO_AMOUNT, UNKNOWN_TOKEN, NOT_ASKED = range(len(_STATUSES), len(_NAMES))


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells of p pairs of a wallet and a token, by their first mentions, at s times; w wallets."""

    details: WalletDetails
    who: Identities  # w wallets: of the rows of wallets, then of those of holdings
    what: Identities  # the tokens of the rows of holdings
    wallet_rows: Places  # (p,): where each pair is last written
    holding_rows: Places  # (p,): the same; -1 for the one pair of a wallet without a known token
    held: npt.NDArray[np.bool_]  # (p,): the wallet was told to have some, if only 0, at some time
    tokens: Places  # (p,): -1 for none
    followed: npt.NDArray[np.bool_]  # (p,): there is a token, and it can be told from others
    integers: npt.NDArray[np.object_]  # (p, s): amounts times 10**scale; 0 where none is known
    scale: int
    status: npt.NDArray[np.int8]  # (p, s): codes of STATUS, OK where the amount is known
    wallet_status: npt.NDArray[np.int8]  # (w, s): the same for each wallet as a whole
    choice: Choice | None  # the one token or asset, if one was asked for

    def names(self, pairs: Places) -> pd.DataFrame:
        """Name some pairs: as `labels` does, or their wallet and the one asset."""
        labels = self.labels(pairs)
        if self.choice is None or self.choice.asset is None:
            return labels
        named = pd.Series(self.choice.asset, index=labels.index, dtype="str")
        return labels.drop(columns=_TOKEN).assign(asset=named)

    def labels(self, pairs: Places) -> pd.DataFrame:
        """Name some pairs: their wallet, and their token or NA."""
        wallets, holdings = self.details
        whose, which = wallets[_WALLET].take(self.wallet_rows[pairs]), self.holding_rows[pairs]
        columns = {name: column.array for name, column in whose.items()}
        for name in _TOKEN:
            columns[name] = holdings[name].array.take(which, allow_fill=True)
        return pd.DataFrame(columns).astype("str")

    def amounts(
        self, integers: npt.NDArray[np.object_], known: npt.NDArray[np.bool_]
    ) -> AmountArray:
        """Give integers of this scale as amounts, NA where they are not known."""
        return AmountArray(np.where(known, integers, 0), ~known, self.scale)


def narrowed(details: WalletDetails, *more: str) -> WalletDetails:
    """Return the columns that the cells need, and `more` of both frames."""
    needed = [*_WALLET, "status", "tokens", "source", *more], [*_WALLET, *_TOKEN, "amount", *more]
    for frame, names in zip(details, needed, strict=True):
        require_columns(frame, names)
    wallets, holdings = (frame[names] for frame, names in zip(details, needed, strict=True))
    amounts_of(holdings["amount"])
    return WalletDetails(as_failed(wallets), holdings)


def grid(
    details: WalletDetails,
    asked_times: Places,
    times: Places,
    count: int,
    choice: Choice | None = None,
) -> Grid:
    """Lay out all cells of frames that are `narrowed`, whose rows are of times below `count`.

    With a choice these are cells of one token or asset, of the wallets that could hold it.
    """
    wallets, holdings = details
    if choice:
        holdings, times = holdings[choice.rows], times[choice.rows]
        details = WalletDetails(wallets, holdings)
    who = wallet_identities(pd.concat([wallets[_WALLET], holdings[_WALLET]], ignore_index=True))
    asked, holders = np.split(who.codes, [len(wallets)])
    wallet_status = _wallet_status(wallets, asked * count + asked_times, (len(who.keys), count))
    _check_holders(holdings, holders, times, wallet_status)
    one = choice is not None and not choice.apart
    what = choice.one(len(holdings)) if choice and one else token_identities(holdings)
    pairs, distinct = pd.factorize(holders * len(what.keys) + what.codes)
    owner, token = np.divmod(distinct, max(len(what.keys), 1))
    able = asked[choice.possible(who, holders)[asked]] if choice else asked
    order, owner, token = _with_idle(owner, token, np.setdiff1d(able, owner), 0 if one else -1)
    shape, place = (len(order), count), np.argsort(order)[pairs]
    sums = cell_sums(holdings["amount"].array, place * count + times, len(order) * count).exact()
    integers, unread = sums.integers.reshape(shape), sums.missing.reshape(shape)
    strange = np.array([*map(is_unknown, what.keys), False], dtype=bool)[token]
    unnamed = np.repeat(strange[:, np.newaxis], count, axis=1)
    unnamed[place, times] = False
    status = _cell_status(wallet_status[owner], unread, unnamed)
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


def _with_idle(
    owner: Places, token: Places, idle: Places, nothing: int
) -> tuple[Places, Places, Places]:
    """Put wallets without rows among the pairs of wallet and token, in the order of the wallets."""
    owners = np.concatenate([owner, idle])
    order = np.argsort(owners, kind="stable")
    return order, owners[order], np.concatenate([token, np.full(len(idle), nothing)])[order]


def _cell_status(wallets: Kinds, unread: Mask, unnamed: Mask) -> Kinds:
    """Tell what is known of each cell: what its wallet says, but for what can't be read."""
    found = wallets.copy()
    found[(found == OK) & unread] = NO_AMOUNT
    found[(found == OK) & unnamed] = UNKNOWN_TOKEN
    return found


def _wallet_status(wallets: pd.DataFrame, cells: Places, shape: tuple[int, int]) -> Kinds:
    codes = pd.Index(_STATUSES).get_indexer(pd.Index(wallets["status"], dtype="str"))
    if (codes < 0).any():
        raise SnapshotError(f"{wallets['status'][codes < 0].iloc[0]!r} is not a wallet status")
    if len(twice := np.flatnonzero(np.bincount(cells)[cells] > 1)):
        first = wallets.iloc[twice[0]]
        raise SnapshotError(
            f"the wallet {first['blockchain']}.{first['address']!a} is there more than once",
            hint=Spelled(
                "compare one snapshot with one other",
                Either(": history.snapshot(…) gives a single one"),
            ),
        )
    codes[(codes == OK) & ~known_when_asked(wallets)] = STALE
    status = np.full(shape, NOT_ASKED, dtype=np.int8)
    status.ravel()[cells] = codes
    return status


def _check_holders(
    holdings: pd.DataFrame, holders: Places, times: Places, wallet_status: npt.NDArray[np.int8]
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


def _last(codes: Places, count: int) -> Places:
    """Give the position of each code's last row, -1 where there is none."""
    last = np.full(count, -1, dtype=np.intp)
    last[codes] = np.arange(len(codes))  # of several writes the last one stays
    return last
