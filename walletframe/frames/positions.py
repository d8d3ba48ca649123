"""Holdings in codes: which wallet, which token, how much, when, and of whom that is known.

What is asked of holdings, or drawn of them, begins here: tokens and wallets are told apart once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.amounts.segments import Segments, sums
from walletframe.errors import UnknownWalletError
from walletframe.frames.contract import amounts_of, require_columns, text_array
from walletframe.frames.given import wallets_given
from walletframe.frames.identity import Identities, token_identities, wallet_identities
from walletframe.frames.known import known_wallets, stale_wallets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.frames.given import FetchLike
    from walletframe.frames.identity import Codes, Mask, TokenKey

_HOLDINGS = ("blockchain", "address", "symbol", "token_blockchain", "token_address", "amount")
_WALLET, _ASKED = ("blockchain", "address"), ("blockchain", "address", "status", "tokens", "source")
_SNAPSHOT = "snapshot"


@dataclass(frozen=True, slots=True)
class Positions:
    """Holdings of n rows and w wallets; not to be changed."""

    holdings: pd.DataFrame
    amounts: AmountArray
    tokens: Identities
    wallets: pd.DataFrame
    wallet_keys: list[TokenKey]
    wallet_codes: Codes
    chains: list[str]
    chain_codes: Codes
    chain_places: dict[str, int]
    asked: bool
    known: Mask
    stale: Mask

    @property
    def times(self) -> pd.DatetimeIndex:
        """When each row was held, in UTC, by its column ``snapshot``."""
        return snapshot_times(self.holdings)

    def where(self, marks: Mask | None) -> Positions:
        """Return the rows that are marked, all of them for None; wallets that were asked stay."""
        if marks is None or marks.all():
            return self
        rows = np.flatnonzero(marks)
        codes, kept = pd.factorize(self.wallet_codes[rows])
        if self.asked:
            codes, kept = self.wallet_codes[rows], np.arange(len(self.wallets))
        left = Identities(codes, [self.wallet_keys[place] for place in kept.tolist()], kept)
        return replace(
            self,
            holdings=self.holdings[marks],
            amounts=self.amounts[rows],
            tokens=self.tokens.take(rows),
            wallet_codes=codes,
            **_listed(self.wallets, left),
            known=self.known[kept],
            stale=self.stale[kept],
        )

    def could_hold(self) -> tuple[Codes, Codes]:
        """Tell on which blockchains a wallet could hold a token, as `candidates` does."""
        return candidates(self.tokens, self.chain_codes[self.wallet_codes], self.chain_places)


PositionsLike: TypeAlias = Union["pd.DataFrame", Positions]


def read_positions(holdings: PositionsLike, wallets: FetchLike | None = None) -> Positions:
    """Tell wallets and tokens of holdings apart, unless that was done, and who was asked.

    It raises a `ColumnsError`, an `AmountError` where the column holds no amounts, an
    `ArgumentError` where `wallets` is no such frame, and an `UnknownWalletError` where it lacks a
    wallet that has rows.
    """
    held = holdings if isinstance(holdings, Positions) else _held(holdings)
    return held if wallets is None else _with_asked(held, wallets_given(wallets))


def _held(holdings: pd.DataFrame) -> Positions:
    require_columns(holdings, _HOLDINGS)
    owners = wallet_identities(holdings)
    certain = np.ones(len(owners.keys), dtype=bool)
    return Positions(
        holdings=holdings,
        amounts=amounts_of(holdings["amount"]),
        tokens=token_identities(holdings),
        wallet_codes=owners.codes,
        **_listed(holdings, owners),
        asked=False,
        known=certain,
        stale=~certain,
    )


def _with_asked(held: Positions, frame: pd.DataFrame) -> Positions:
    require_columns(frame, _ASKED)
    asked = wallet_identities(frame)
    return replace(
        held,
        wallet_codes=_places(held.wallet_keys, asked)[held.wallet_codes],
        **_listed(frame, asked),
        asked=True,
        known=_marked(asked, known_wallets(frame, stale=True)),
        stale=_marked(asked, stale_wallets(frame)),
    )


def _listed(frame: pd.DataFrame, wallets: Identities) -> dict[str, Any]:
    """Give the wallets that are listed in a frame, and their blockchains."""
    named = {name: text_array(frame[name].array.take(wallets.first)) for name in _WALLET}
    codes, identifiers = pd.factorize(np.array([key[0] for key in wallets.keys], dtype=object))
    starts = np.unique(codes, return_index=True)[1]
    return {
        "wallets": pd.DataFrame(named),
        "wallet_keys": wallets.keys,
        "chains": [*named["blockchain"].take(starts)],
        "chain_codes": codes,
        "chain_places": {key: place for place, key in enumerate(identifiers)},
    }


def _places(held: list[TokenKey], asked: Identities) -> Codes:
    rows = {key: place for place, key in enumerate(asked.keys)}
    strangers = [key for key in held if key not in rows]
    if strangers:
        chain, address = strangers[0]
        raise UnknownWalletError(
            f"{chain}.{address}",
            hint=f"holdings have {len(strangers)} that `wallets` lacks: give those of one fetch",
        )
    return np.array([rows[key] for key in held], dtype=np.intp)


def _marked(asked: Identities, rows: Mask) -> Mask:
    marks = np.zeros(len(asked.keys), dtype=bool)
    marks[asked.codes[rows]] = True
    return marks


def snapshot_times(frame: pd.DataFrame) -> pd.DatetimeIndex:
    """Return the column ``snapshot`` of holdings or wallets, in UTC."""
    require_columns(frame, [_SNAPSHOT])
    return pd.DatetimeIndex(pd.to_datetime(frame[_SNAPSHOT], utc=True))


def token_columns(holdings: pd.DataFrame, tokens: Identities, places: Codes) -> dict[str, Any]:
    """Give ``token_blockchain``, ``token_address`` and ``symbol`` of tokens; NA for place -1.

    They are as the first row of the token has them.
    """
    rows = np.append(tokens.first, -1)[places]
    return {
        name: text_array(holdings[name].array.take(rows, allow_fill=True))
        for name in ("token_blockchain", "token_address", "symbol")
    }


def candidates(
    tokens: Identities, row_chains: Codes, chains: Mapping[str, int]
) -> tuple[Codes, Codes]:
    """Pair each token with the blockchains on which a wallet could hold it, or does: their places.

    `row_chains` has the place of each row's blockchain, `chains` the places by canonical name.
    """
    wide = max(len(chains), 1)
    own = [
        token * wide + chains[key[0]] for token, key in enumerate(tokens.keys) if key[0] in chains
    ]
    seen = tokens.codes * wide + row_chains
    pairs = pd.unique(np.append(seen, own).astype(np.intp))
    return pairs // wide, pairs % wide


def cell_sums(amounts: AmountArray, cells: Codes, count: int) -> AmountArray:
    """Add up amounts exactly in the cells of a grid; -1 is outside of it.

    A cell is NA where one of its amounts is, and 0 where it has none.
    """
    exact = amounts.exact()
    grouped = Segments(exact, cells, count)
    holed = grouped.holed
    return AmountArray(np.where(holed, 0, sums(grouped)), holed, exact.scale)
