"""The service's known blockchains, their spelling, and suggestions for unknown identifiers."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources

from walletframe.text import safe_line

# The 107 identifiers in known.csv are those that the service's own Python client declares
# (rango-sdk-py 0.0.1 on PyPI, April 2026). Wallets on unknown blockchains are requested as well,
# since the service will add blockchains. Names, native coins and chain ids are from public lists:
#
# - EVM blockchains: https://github.com/ethereum-lists/chains at ded8612 (20 August 2026, MIT
#   licence), by chain id. HYPEREVM is not in this list, and xDAI is spelled as Gnosis spells it.
# - All other blockchains: https://github.com/cosmos/chain-registry at 627bbab (21 August 2026, CC
#   BY 4.0), including its folder _non-cosmos.
# - Dash, IOTA and NEAR: coin types 5, 4218 and 397 in https://github.com/satoshilabs/slips
#   (SLIP-0044, 7 August 2026).
#
# The column "also" contains the short names in the first two lists, and former names.

_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]")
_GENERIC_WORDS = re.compile(r"(chain|mainnet|network|protocol)\b")
_SIMILARITY_CUTOFF, _MAX_SUGGESTIONS, _MAX_SHOWN_CHARS = 0.75, 3, 40


@dataclass(frozen=True, slots=True)
class Blockchain:
    """A known blockchain.

    A field is None if the public lists lack it, or if the blockchain has no EVM chain id.
    """

    identifier: str
    name: str | None
    coin: str | None
    chain_id: int | None
    also: tuple[str, ...]


def read_known_csv(package: str) -> list[list[str]]:
    """Return the rows of the file known.csv in a package, without the header."""
    text = resources.files(package).joinpath("known.csv").read_text(encoding="utf-8")
    return [*csv.reader(text.splitlines())][1:]


@cache
def known_blockchains() -> dict[str, Blockchain]:
    """Return the known blockchains by identifier, in the order of known.csv."""
    return {
        key: Blockchain(key, name or None, coin or None, int(number or 0) or None, tuple(also))
        for key, name, coin, number, names in read_known_csv(__package__)
        for also in [filter(None, names.split("|"))]
    }


def find_blockchain(identifier: str) -> Blockchain | None:
    """Return the known blockchain with an identifier, in any case, or None if it is unknown."""
    return known_blockchains().get(identifier.strip().upper())


def normalize_blockchain(identifier: str) -> str:
    """Return the service's spelling of an identifier, or an unknown identifier stripped."""
    known = find_blockchain(identifier)
    return known.identifier if known else identifier.strip()


def suggest_blockchains(identifier: str) -> list[str]:
    """Return up to three known identifiers that an unknown identifier may mean."""
    wanted = _normalize_term(identifier)
    if not wanted:
        return []
    terms = _identifiers_by_term()
    by_prefix = [name for term, names in terms.items() if term.startswith(wanted) for name in names]
    close = get_close_matches(wanted, terms, n=_MAX_SUGGESTIONS, cutoff=_SIMILARITY_CUTOFF)
    by_similarity = [name for term in close for name in terms[term]]
    matches = terms.get(wanted) or by_prefix or by_similarity
    return list(dict.fromkeys(matches))[:_MAX_SUGGESTIONS]


def unknown_blockchain_message(identifier: str) -> str:
    """Return a message about an unknown identifier with suggestions, or "" for a known one."""
    if find_blockchain(identifier):
        return ""
    names = " or ".join(suggest_blockchains(identifier))
    reason = f"did you mean {names}?" if names else "this blockchain is not known"
    return f"{safe_line(identifier, _MAX_SHOWN_CHARS)}: {reason}"


@cache
def _identifiers_by_term() -> dict[str, list[str]]:
    """Return the identifiers by search term, which is a name, or a coin that is not also a name."""
    by_name: dict[str, list[str]] = {}
    by_coin: dict[str, list[str]] = {}
    for chain in known_blockchains().values():
        for term in (chain.identifier, chain.name or "", *chain.also):
            by_name.setdefault(_normalize_term(term), []).append(chain.identifier)
        by_coin.setdefault(_normalize_term(chain.coin or ""), []).append(chain.identifier)
    terms = by_coin | by_name
    del terms[""]
    return terms


def _normalize_term(text: str) -> str:
    return _NOT_ALPHANUMERIC.sub("", _GENERIC_WORDS.sub("", text.casefold()))
