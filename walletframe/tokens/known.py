"""The bundled list, read once, when it is first asked for."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class KnownToken:
    """A token on one blockchain.

    Parameters
    ----------
    blockchain : str
        Identifier of the blockchain.
    symbol : str
        How it calls itself.
    contract : str or None
        Its contract; None for a native coin.
    decimals : int
        Its decimals.
    """

    blockchain: str
    symbol: str
    contract: str | None
    decimals: int


@cache
def known_tokens() -> tuple[KnownToken, ...]:
    """Return the bundled list.

    Returns
    -------
    tuple of KnownToken
        The native coins first; a symbol stands at most once on a blockchain.

    Examples
    --------
    >>> known_tokens()[0]
    KnownToken(blockchain='ETH', symbol='ETH', contract=None, decimals=18)
    """
    text = resources.files(__package__).joinpath("known.csv").read_text(encoding="utf-8")
    return tuple(
        KnownToken(row["blockchain"], row["symbol"], row["contract"] or None, int(row["decimals"]))
        for row in csv.DictReader(text.splitlines())
    )


def native_coin(blockchain: str) -> KnownToken:
    """Return the coin of a blockchain.

    Parameters
    ----------
    blockchain : str
        Its identifier, in upper case; one of the bundled list.

    Returns
    -------
    KnownToken
        Without a contract.

    Examples
    --------
    >>> native_coin("NEAR").decimals
    24
    """
    return next(
        token
        for token in known_tokens()
        if token.blockchain == blockchain and token.contract is None
    )
