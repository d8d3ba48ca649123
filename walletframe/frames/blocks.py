"""Some of the rows of a fetch, or the rows of some of its wallets, where no frame holds all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.frames.contract import amounts_of
from walletframe.frames.positions import Positions, read_positions

if TYPE_CHECKING:
    from walletframe.frames.identity import Codes, Identities, Mask
    from walletframe.frames.ways import Ways


@dataclass(frozen=True, slots=True)
class Block:
    """Some of the wallets asked with all of their rows, where no frame holds those of all."""

    positions: Positions
    places: Codes  # of each wallet, its place among all
    rows: Codes  # of each row, its place among all; ascending
    ways: Ways  # those on another blockchain of wallets are others

    def where(self, marks: Mask) -> Block:
        """Return the rows that are marked; all wallets stay."""
        held, rows = self.positions.where(marks), np.flatnonzero(marks)
        held = replace(held, holdings=held.holdings.reset_index(drop=True))
        return replace(self, positions=held, rows=self.rows[rows], ways=self.ways.take(rows))


def some_positions(
    whole: Positions, places: Codes, holdings: pd.DataFrame, tokens: Identities, owners: Codes
) -> Positions:
    """Give rows to some of the wallets asked; `owners` has, of each row, its place in `places`."""
    codes, kinds = pd.factorize(whole.chain_codes[places])
    identifiers = [*whole.chain_places]
    return replace(
        whole,
        holdings=holdings,
        amounts=amounts_of(holdings["amount"]),
        tokens=tokens,
        wallets=whole.wallets.iloc[places],
        wallet_keys=[whole.wallet_keys[place] for place in places.tolist()],
        first=whole.first[places],
        wallet_codes=owners,
        chains=[whole.chains[kind] for kind in kinds.tolist()],
        chain_codes=codes,
        chain_places={identifiers[kind]: code for code, kind in enumerate(kinds.tolist())},
        known=whole.known[places],
        stale=whole.stale[places],
    )


def among(whole: Positions, rows: pd.DataFrame) -> Positions:
    """Give rows of holdings to the wallets asked, whoever of them has any."""
    held = read_positions(rows)
    places = {key: place for place, key in enumerate(whole.wallet_keys)}
    owners = np.array([places[key] for key in held.wallet_keys], dtype=np.intp)
    return replace(
        whole,
        holdings=rows,
        amounts=held.amounts,
        tokens=held.tokens,
        wallet_codes=owners[held.wallet_codes],
    )
