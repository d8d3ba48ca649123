"""How complete an answer is: of the wallets that could have held something, how many are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.frames import candidates

if TYPE_CHECKING:
    import numpy.typing as npt

    from walletframe.analysis.partition import Partition
    from walletframe.analysis.positions import Codes, Positions

    Counts = npt.NDArray[np.intp]

_COLUMNS = ("wallets_ok", "wallets_stale", "wallets_asked")


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
        ``wallets_ok``, ``wallets_stale`` and ``wallets_asked``; nothing where the wallets asked are
        not known.
    """
    if not positions.asked:
        return {}
    if "wallet" in groups.kinds:
        counted = _each(positions)[:, groups.owners]
    elif "blockchain" in groups.kinds:
        counted = _by_chain(positions)[:, groups.owners]
    else:
        counted = _of_tokens(positions)[:, groups.tokens]
    return dict(zip(_COLUMNS, map(integers, counted), strict=True))


def completeness_of(positions: Positions, token: int, count: int) -> dict[str, Any]:
    """Count the wallets that could hold one token, and those known.

    Parameters
    ----------
    positions : Positions
        Holdings, and who was asked.
    token : int
        Its place.
    count : int
        How many rows say the same.

    Returns
    -------
    dict of str to Int64 array
        As from `completeness`.
    """
    if not positions.asked:
        return {}
    counted = _of_tokens(positions)[:, np.full(count, token)]
    return dict(zip(_COLUMNS, map(integers, counted), strict=True))


def completeness_of_all(positions: Positions, count: int) -> dict[str, Any]:
    """Count all wallets, and those known.

    Parameters
    ----------
    positions : Positions
        Holdings, and who was asked.
    count : int
        How many rows say the same.

    Returns
    -------
    dict of str to Int64 array
        As from `completeness`.
    """
    if not positions.asked:
        return {}
    counted = (np.full(count, total) for total in _each(positions).sum(axis=1))
    return dict(zip(_COLUMNS, map(integers, counted), strict=True))


def could_hold(positions: Positions) -> tuple[Codes, Codes]:
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
    row_chains = positions.chain_codes[positions.wallet_codes]
    return candidates(positions.tokens, row_chains, positions.chain_places)


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


def _each(positions: Positions) -> Counts:
    """Give, of each wallet, whether it is known, known as of long ago, and asked: all are."""
    asked = np.ones(len(positions.known), dtype=np.intp)
    return np.stack([positions.known, positions.stale, asked]).astype(np.intp)


def _by_chain(positions: Positions) -> Counts:
    wide, chains = len(positions.chains), positions.chain_codes
    rows = [np.bincount(chains, weights=row, minlength=wide) for row in _each(positions)]
    return np.stack(rows).astype(np.intp)


def _of_tokens(positions: Positions) -> Counts:
    """Count over the token's own blockchain, and all where a wallet holds it."""
    tokens, chains = could_hold(positions)
    count = len(positions.tokens.keys)
    rows = [
        np.bincount(tokens, weights=row[chains], minlength=count) for row in _by_chain(positions)
    ]
    return np.stack(rows).astype(np.intp)
