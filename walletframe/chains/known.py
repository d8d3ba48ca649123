"""The bundled list, read once, when it is first asked for."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Blockchain:
    """A blockchain that the service is known to know.

    Parameters
    ----------
    identifier : str
        As the service writes it, in capitals.
    name : str or None
        What people call it; None where the public lists don't have it.
    coin : str or None
        Symbol of the native coin, likewise.
    chain_id : int or None
        Its EVM chain id; None where it has none, or the lists don't have it.
    also : tuple of str
        Other names, of today and of earlier days.
    """

    identifier: str
    name: str | None
    coin: str | None
    chain_id: int | None
    also: tuple[str, ...]


@cache
def known_blockchains() -> dict[str, Blockchain]:
    """Return the bundled list.

    Returns
    -------
    dict of str to Blockchain
        By identifier, in the order of the list.

    Examples
    --------
    >>> known_blockchains()["BASE"].chain_id
    8453
    """
    text = resources.files(__package__).joinpath("known.csv").read_text(encoding="utf-8")
    return {row["identifier"]: _blockchain(row) for row in csv.DictReader(text.splitlines())}


def find_blockchain(identifier: str) -> Blockchain | None:
    """Look an identifier up.

    Parameters
    ----------
    identifier : str
        In any case, perhaps with white space around it.

    Returns
    -------
    Blockchain or None
        None where the list does not have it.

    Examples
    --------
    >>> find_blockchain(" eth").identifier
    'ETH'
    >>> find_blockchain("Ethereum")
    """
    return known_blockchains().get(identifier.strip().upper())


def _blockchain(row: dict[str, str]) -> Blockchain:
    return Blockchain(
        row["identifier"],
        row["name"] or None,
        row["coin"] or None,
        int(row["chain_id"]) if row["chain_id"] else None,
        tuple(name for name in row["also"].split("|") if name),
    )
