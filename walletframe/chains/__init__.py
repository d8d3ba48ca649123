"""The blockchains that the service is known to use, how they are written, and misspelt."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources

from walletframe.text import shown

# The 107 identifiers in known.csv are those that the service's own Python client declares
# (rango-sdk-py 0.0.1 on PyPI, April 2026). Newer ones will come: one that is not in the list is
# none the less asked for. Names, native coins and chain ids are facts taken from public lists:
#
# - EVM blockchains: https://github.com/ethereum-lists/chains at ded8612 (20 August 2026, MIT
#   licence), by chain id; HYPEREVM is not in it, and Gnosis writes its xDAI with a small x;
# - the others: https://github.com/cosmos/chain-registry at 627bbab (21 August 2026, CC BY 4.0), its
#   folder _non-cosmos included;
# - Dash, IOTA and NEAR: the coin types 5, 4218 and 397 of https://github.com/satoshilabs/slips
#   (SLIP-0044, 7 August 2026).
#
# The column "also" has the short names of the first two lists, and names of earlier days.

_ODD = re.compile(r"[^a-z0-9]")
_OF_MANY = re.compile(r"(chain|mainnet|network|protocol)\b")
_CLOSE, _NEAREST, _SHOWN = 0.75, 3, 40


@dataclass(frozen=True, slots=True)
class Blockchain:
    """A row of the list; None where the public lists don't have it, or there is no EVM chain id."""

    identifier: str
    name: str | None
    coin: str | None
    chain_id: int | None
    also: tuple[str, ...]


def known_rows(package: str) -> list[list[str]]:
    """Read the rows of a package's known.csv, without the names of its columns."""
    text = resources.files(package).joinpath("known.csv").read_text(encoding="utf-8")
    return [*csv.reader(text.splitlines())][1:]


@cache
def known_blockchains() -> dict[str, Blockchain]:
    """Return the list by identifier, in its order."""
    return {
        key: Blockchain(key, name or None, coin or None, int(number or 0) or None, tuple(also))
        for key, name, coin, number, names in known_rows(__package__)
        for also in [filter(None, names.split("|"))]
    }


def find_blockchain(identifier: str) -> Blockchain | None:
    """Find an identifier, in any case and with white space around it."""
    return known_blockchains().get(identifier.strip().upper())


def spelled(identifier: str) -> str:
    """Write an identifier as the service does: one that is not in the list as it is, trimmed."""
    known = find_blockchain(identifier)
    return known.identifier if known else identifier.strip()


def near(identifier: str) -> list[str]:
    """Guess which blockchains, at most three, somebody meant who wrote one that is not listed."""
    wanted = _folded(identifier)
    if not wanted:
        return []
    terms = _terms()
    begun = [name for term, names in terms.items() if term.startswith(wanted) for name in names]
    close = get_close_matches(wanted, terms, n=_NEAREST, cutoff=_CLOSE)
    alike = [name for term in close for name in terms[term]]
    found = terms.get(wanted) or begun or alike
    return list(dict.fromkeys(found))[:_NEAREST]


def doubt(identifier: str) -> str:
    """Return a doubt about an identifier: nothing where the list has it."""
    if find_blockchain(identifier):
        return ""
    names = " or ".join(near(identifier))
    said = f"did you mean {names}?" if names else "no such blockchain is known"
    return f"{shown(identifier, _SHOWN)}: {said}"


@cache
def _terms() -> dict[str, list[str]]:
    """Return the identifiers by what people call them: by native coins where nothing else fits."""
    by_name: dict[str, list[str]] = {}
    by_coin: dict[str, list[str]] = {}
    for chain in known_blockchains().values():
        for term in (chain.identifier, chain.name or "", *chain.also):
            by_name.setdefault(_folded(term), []).append(chain.identifier)
        by_coin.setdefault(_folded(chain.coin or ""), []).append(chain.identifier)
    terms = by_coin | by_name
    del terms[""]
    return terms


def _folded(text: str) -> str:
    return _ODD.sub("", _OF_MANY.sub("", text.casefold()))
