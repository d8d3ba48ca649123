"""Which wallets could hold a token: those on blockchains where it is, or where one holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from walletframe.frames.identity import Identities

    Codes = npt.NDArray[np.intp]


def candidates(
    tokens: Identities, row_chains: Codes, chains: Mapping[str, int]
) -> tuple[Codes, Codes]:
    """Tell on which blockchains a wallet could hold a token.

    Parameters
    ----------
    tokens : Identities
        Of the rows of holdings.
    row_chains : ndarray of intp
        For each of these rows the place of its wallet's blockchain.
    chains : mapping of str to int
        These places, by canonical identifier.

    Returns
    -------
    tuple of two arrays of int
        Places of tokens, and for each of them a place of a blockchain; no pair twice.
    """
    wide = max(len(chains), 1)
    own = [
        token * wide + chains[key[0]] for token, key in enumerate(tokens.keys) if key[0] in chains
    ]
    seen = tokens.codes * wide + row_chains
    pairs = pd.unique(np.append(seen, own).astype(np.intp))
    return pairs // wide, pairs % wide
