"""The selected rows of a fetch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.address import canonical_key, parse_wallets
from walletframe.charts import token_colors
from walletframe.errors import ArgumentError
from walletframe.frames import (
    HOLDING_DTYPES,
    WALLET_DTYPES,
    WalletDetails,
    read_positions,
    require_columns,
    wallet_identities,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from walletframe.frames import Positions, TokenKey

    Prepare: TypeAlias = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True, slots=True)
class Selection:
    """What a person chose; where nothing is chosen, everything is meant."""

    blockchains: tuple[str, ...] = ()
    wallets: tuple[str, ...] = ()
    tokens: tuple[TokenKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Picked:
    """What is selected."""

    wallets: pd.DataFrame
    holdings: Positions

    @property
    def details(self) -> WalletDetails:
        """The two frames."""
        return WalletDetails(self.wallets, self.holdings.holdings)


class Catalog:
    """A fetch, prepared for many selections."""

    def __init__(self, details: WalletDetails, prepare: Prepare | None = None) -> None:
        require_columns(details.wallets, WALLET_DTYPES)
        if prepare is not None:
            details = details._replace(holdings=_prepared(details.holdings, prepare))
        require_columns(details.holdings, HOLDING_DTYPES)
        self.details, self.is_prepared = details, prepare is not None
        self._asked = wallet_identities(details.wallets)
        self._positions = read_positions(details.holdings)
        self.colors = token_colors(self._positions)

    def select(self, selection: Selection) -> Picked:
        """Return what is selected."""
        held = self._positions
        wallets = self.details.wallets
        asked = _chosen(self._asked.keys, selection)[self._asked.codes]
        owned = _chosen(held.wallet_keys, selection)[held.wallet_codes]
        if selection.tokens:
            owned &= _among(held.tokens.keys, selection.tokens)[held.tokens.codes]
        return Picked(wallets if asked.all() else wallets[asked], held.where(owned))


def _chosen(wallets: list[TokenKey], selection: Selection) -> np.ndarray:
    """Mark the wallets that are on the blockchains and among the wallets that are picked."""
    chosen = np.ones(len(wallets), dtype=bool)
    if selection.blockchains:
        chains = {canonical_key(name, "")[0] for name in selection.blockchains}
        chosen &= np.array([key[0] in chains for key in wallets], dtype=bool)
    if selection.wallets:
        named = parse_wallets(selection.wallets)
        keys = [canonical_key(wallet.blockchain, wallet.address) for wallet in named]
        chosen &= _among(wallets, keys)
    return chosen


def _prepared(holdings: pd.DataFrame, prepare: Prepare) -> pd.DataFrame:
    hint = "give a function such as lambda holdings: holdings.wf.without_spam()"
    if not callable(prepare):
        raise ArgumentError(f"prepare is of type {type(prepare).__name__}, not a function", hint)
    made: object = prepare(holdings.copy(deep=False))  # what is written into it stays there
    if not isinstance(made, pd.DataFrame):
        raise ArgumentError(
            f"prepare returned a {type(made).__name__}, not a DataFrame of holdings", hint
        )
    return made


def _among(keys: list[TokenKey], picked: Iterable[TokenKey]) -> np.ndarray:
    wanted = set(picked)
    return np.array([key in wanted for key in keys], dtype=bool)
