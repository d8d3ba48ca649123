"""What a person chose of a fetch, and which frames can be explored and refreshed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.address import canonical_key, parse_wallets
from walletframe.errors import ArgumentError, WalletframeError
from walletframe.frames import HOLDING_DTYPES
from walletframe.pickers.labels import label_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from walletframe.frames import TokenKey, WalletDetails

    Prepare: TypeAlias = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True, slots=True)
class Selection:
    """What a person chose; where nothing is chosen, everything is meant."""

    blockchains: tuple[str, ...] = ()
    wallets: tuple[str, ...] = ()
    tokens: tuple[TokenKey, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()  # columns that wallets keep, and texts in these

    def wallet_keys(self) -> list[TokenKey]:
        """Return the identities of the chosen wallets, in the order chosen."""
        named = parse_wallets(self.wallets)
        return [canonical_key(wallet.blockchain, wallet.address) for wallet in named]


def chosen(wallets: list[TokenKey], selection: Selection) -> np.ndarray:
    """Mark the wallets that are on the blockchains and among the wallets that are picked."""
    marks = np.ones(len(wallets), dtype=bool)
    if selection.blockchains:
        chains = [canonical_key(name, "")[0] for name in selection.blockchains]
        marks &= among([chain for chain, _ in wallets], chains)
    if selection.wallets:
        marks &= among(wallets, selection.wallet_keys())
    return marks


def labelled(wallets: pd.DataFrame, labels: Sequence[tuple[str, str]]) -> np.ndarray:
    """Mark the wallets with any of the labels of each column that has some."""
    marks = np.ones(len(wallets), dtype=bool)
    for name in {name: None for name, _ in labels}:
        texts = [label for column, label in labels if column == name]
        marks &= label_texts(wallets[name]).isin(texts).to_numpy()
    return marks


def among(keys: Iterable[object], picked: Iterable[object]) -> np.ndarray:
    """Mark the keys that are picked."""
    wanted = set(picked)
    return np.array([key in wanted for key in keys], dtype=bool)


def prepared(holdings: pd.DataFrame, prepare: Prepare) -> pd.DataFrame:
    """Return holdings as a person wants to see them."""
    hint = "give a function such as lambda holdings: holdings.wf.without_spam()"
    if not callable(prepare):
        raise ArgumentError(f"prepare is of type {type(prepare).__name__}, not a function", hint)
    made: object = prepare(holdings.copy(deep=False))  # what is written into it stays there
    if not isinstance(made, pd.DataFrame):
        said = f"prepare returned a {type(made).__name__}, not a DataFrame of holdings"
        raise ArgumentError(said, hint)
    return made


def require_as_fetched(details: WalletDetails) -> None:
    """Refuse holdings to which something was done that a new answer would undo."""
    wallets, holdings = details
    hint = (
        "give the explorer what was fetched, and what you did to it as prepare=, such as "
        'prepare=lambda holdings: holdings.wf.without_spam().wf.value(currency="USD")'
    )
    added = [f"{name!r}" for name in holdings.columns if name not in HOLDING_DTYPES]
    if added:
        raise WalletframeError(f"Refresh would lose the columns {', '.join(added)}", hint=hint)
    if len(holdings) != wallets["tokens"].sum():
        said = "the holdings have other rows than were fetched, and Refresh would undo that"
        raise WalletframeError(said, hint=hint)
