"""How complete an answer is: of the wallets that could have held something, how many are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    import numpy.typing as npt

    from walletframe.analysis.partition import Partition
    from walletframe.analysis.positions import Codes, Positions

    Counts = npt.NDArray[np.intp]


def completeness(positions: Positions, groups: Partition) -> dict[str, Any]:
    """Count the wallets asked, and those known, of each group.

    Parameters
    ----------
    positions : Positions
        Holdings, and who was asked.
    groups : Partition
        How they are cut.

    Returns
    -------
    dict of str to Int64 array
        ``wallets_ok`` and ``wallets_asked``; nothing where the wallets asked are not known.
    """
    if not positions.asked:
        return {}
    if "wallet" in groups.kinds:
        ones = np.ones(len(groups), dtype=np.intp)
        asked, known = ones, ones * positions.known[groups.owners]
    elif "blockchain" in groups.kinds:
        asked, known = (counts[groups.owners] for counts in _by_chain(positions))
    else:
        asked, known = (counts[groups.tokens] for counts in of_tokens(positions))
    return {"wallets_ok": integers(known), "wallets_asked": integers(asked)}


def of_tokens(positions: Positions) -> tuple[Counts, Counts]:
    """Count the wallets that could hold each token.

    Parameters
    ----------
    positions : Positions
        Holdings, and who was asked.

    Returns
    -------
    tuple of two arrays of int, one entry for each token
        Wallets asked, and those known, on the token's own blockchain and on all where a wallet
        holds it.
    """
    tokens, chains = candidates(positions)
    count = len(positions.tokens.keys)
    asked, known = (
        np.bincount(tokens, weights=counts[chains], minlength=count).astype(np.intp)
        for counts in _by_chain(positions)
    )
    return asked, known


def candidates(positions: Positions) -> tuple[Codes, Codes]:
    """Tell on which blockchains a wallet could hold a token.

    Parameters
    ----------
    positions : Positions
        Holdings, and who was asked.

    Returns
    -------
    tuple of two arrays of int
        Places of tokens, and for each of them a place of a blockchain; no pair twice.
    """
    wide = len(positions.chains)
    own = [
        token * wide + positions.chain_places[key[0]]
        for token, key in enumerate(positions.tokens.keys)
        if key[0] in positions.chain_places
    ]
    seen = positions.tokens.codes * wide + positions.chain_codes[positions.wallet_codes]
    tokens, chains = np.divmod(pd.unique(np.append(seen, own).astype(np.intp)), max(wide, 1))
    return tokens, chains


def integers(values: npt.ArrayLike, missing: npt.ArrayLike | None = None) -> Any:
    """Return counts as the nullable integers of the column contract.

    Parameters
    ----------
    values : array of n int or bool
        Counts.
    missing : array of n bool, optional
        Where they are unknown.

    Returns
    -------
    Int64 array, length n
        NA where unknown.
    """
    counts = np.array(values, dtype=np.int64)
    unknown = np.zeros(len(counts), dtype=bool) if missing is None else np.array(missing)
    return pd.arrays.IntegerArray(counts, unknown)


def _by_chain(positions: Positions) -> tuple[Counts, Counts]:
    wide, chains = len(positions.chains), positions.chain_codes
    asked = np.bincount(chains, minlength=wide)
    return asked, np.bincount(chains[positions.known], minlength=wide)
