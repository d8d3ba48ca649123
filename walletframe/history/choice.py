"""The one token or asset that is asked for, of several fetches or snapshots together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.errors import Argument, SettingsError, Spelled
from walletframe.frames import Identities, candidates, held_place, read_positions, refuse_assets
from walletframe.frames.asset_list import with_assets

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from walletframe.frames import AssetsLike, Mask, TokenLike
    from walletframe.frames.identity import Codes, TokenKey


@dataclass(frozen=True, slots=True)
class Choice:
    """One token or asset, which takes the place of the tokens of all rows that are left."""

    rows: Mask  # of the holdings: which are of it
    key: TokenKey
    homes: Mapping[TokenKey, Collection[str]] | None  # the blockchains that have it, of an asset
    asset: str | None  # what the asset is called; None for a token
    apart: bool = False  # whether its contracts stay apart all the same

    def one(self, rows: int) -> Identities:
        """Let so many rows be of the one thing."""
        return Identities(np.zeros(rows, dtype=np.intp), [self.key], np.zeros(1, dtype=np.intp))

    def possible(self, who: Identities, holders: Codes) -> Mask:
        """Tell which wallets could hold it, by their blockchains and those of its holders."""
        chains, names = pd.factorize(np.array([key[0] for key in who.keys], dtype=object))
        places = {name: place for place, name in enumerate(names)}
        able = candidates(self.one(len(holders)), chains[holders], places, self.homes)[1]
        return np.isin(chains, able)


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
    if asset is None:
        if token is None:
            return None
        positions = read_positions(holdings)
        place = held_place(positions, token)
        rows = positions.tokens.codes == place
        return Choice(rows, positions.tokens.keys[place], None, None)
    if token is not None:
        raise SettingsError(Spelled(Argument("token"), " and ", Argument("asset"), " contradict"))
    positions = with_assets(read_positions(holdings), assets, bridged=bridged)
    place = held_place(positions, asset)
    key, known = positions.tokens.keys[place], positions.assets
    name = known.names[key] if known else None
    rows = positions.tokens.codes == place
    return Choice(rows, key, known.homes if known else None, name, apart)


def refuse_needless(asset: TokenLike | None, assets: AssetsLike | None, *, bridged: bool) -> None:
    """Raise an error for what says how to put assets together, where none is asked for."""
    if asset is None:
        refuse_assets(assets, bridged=bridged)
