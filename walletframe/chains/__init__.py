"""The known blockchains of the service, and suggestions for misspelled identifiers."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

from walletframe.text import safe_line

# The 107 identifiers in known.csv are from the service's Python client (rango-sdk-py 0.0.1 on PyPI,
# April 2026). Unknown identifiers are also requested, since the service will add blockchains.
# Names, native coins and chain ids are from public lists:
# - EVM blockchains: https://github.com/ethereum-lists/chains at ded8612 (20 August 2026, MIT
#   licence), matched by chain id. The list lacks HYPEREVM, and spells Gnosis's coin xDAI as XDAI.
# - Other blockchains: https://github.com/cosmos/chain-registry at 627bbab (21 August 2026,
#   CC BY 4.0), including its folder _non-cosmos.
# - Dash, IOTA and NEAR: the coin types 5, 4218 and 397 of https://github.com/satoshilabs/slips
#   (SLIP-0044, 7 August 2026).
#
# The column "aliases" contains the short names in the first two lists, and other usual names. It
# lacks "cro", which is also the coin of CRYPTO_ORG. The column "addresses" contains the formats of
# walletframe.address.formats, with the bech32 prefixes of the second list.

_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]")
_GENERIC_WORDS = re.compile(r"(chain|mainnet|network|protocol)\b")
_SIMILARITY_CUTOFF, _MAX_SUGGESTIONS, _MAX_SHOWN_CHARS = 0.75, 3, 40


class Blockchain(NamedTuple):
    """A known blockchain. A field is None if the public lists lack the value."""

    identifier: str
    name: str | None
    coin: str | None
    chain_id: int | None  # None if the blockchain is not an EVM blockchain
    aliases: tuple[str, ...]
    address_formats: tuple[str, ...]  # empty if addresses are not checked


def read_known_csv(package: str) -> list[list[str]]:
    """Return the rows of a package's file known.csv, without the header. No cell has a comma."""
    text = resources.files(package).joinpath("known.csv").read_text(encoding="utf-8")
    return [line.split(",") for line in text.splitlines()[1:]]


@cache
def known_blockchains() -> dict[str, Blockchain]:
    """Return the known blockchains by identifier, in the order of known.csv."""
    return {
        key: Blockchain(key, name or None, coin or None, int(number or 0) or None, *lists)
        for key, name, coin, number, *texts in read_known_csv(__package__)
        for lists in [(tuple(filter(None, text.split("|"))) for text in texts)]
    }


def find_blockchain(identifier: str) -> Blockchain | None:
    """Find a blockchain by its identifier, in upper or lower case."""
    return known_blockchains().get(identifier.strip().upper())


def normalize_blockchain(identifier: str) -> str:
    """Return a known identifier in the service's spelling. Strip an unknown identifier."""
    known = find_blockchain(identifier)
    return known.identifier if known else identifier.strip()


@lru_cache
def identifier_of_alias(alias: str) -> str | None:
    """Return the identifier for an unambiguous name, coin or chain id, or None."""
    if find_blockchain(alias) or not (alias.isascii() and alias.isprintable()):
        return None
    text, exact = alias.strip().casefold(), _identifier_by_chain_id_or_name()
    identifier = (
        exact.get(f"eip155:{text}") or exact.get(text) or exact.get(_keep_alphanumeric(text))
    )
    names = _identifiers_by_name_or_coin().get(_simplify_name(text), [])
    is_sure = len(names) == 1 and len(text) > 1  # S is Sonic's coin, but may abbreviate Solana
    return identifier or (names[0] if is_sure else None)


@cache
def _identifier_by_chain_id_or_name() -> dict[str, str]:
    known = known_blockchains().values()
    numbered = {f"eip155:{each.chain_id}": each.identifier for each in known if each.chain_id}
    names = {name: each.identifier for each in known for name in (each.name, *each.aliases) if name}
    return numbered | {_keep_alphanumeric(name): identifier for name, identifier in names.items()}


def suggest_blockchains(identifier: str) -> list[str]:
    """Return at most three identifiers similar to a misspelled identifier."""
    from difflib import get_close_matches  # noqa: PLC0415 - slow to load, only for errors

    wanted = _simplify_name(identifier)
    if not wanted:
        return []
    terms = _identifiers_by_name_or_coin()
    by_prefix = [name for term, names in terms.items() if term.startswith(wanted) for name in names]
    close = get_close_matches(wanted, terms, n=_MAX_SUGGESTIONS, cutoff=_SIMILARITY_CUTOFF)
    by_similarity = [name for term in close for name in terms[term]]
    matches = terms.get(wanted) or by_prefix or by_similarity
    return list(dict.fromkeys(matches))[:_MAX_SUGGESTIONS]


def unknown_blockchain_message(identifier: str) -> str:
    """Return a message with suggestions. The text is empty for a known identifier."""
    if find_blockchain(identifier):
        return ""
    names = " or ".join(suggest_blockchains(identifier))
    reason = f"did you mean {names}?" if names else "this blockchain is not known"
    return f"{safe_line(identifier, _MAX_SHOWN_CHARS)}: {reason}"


@cache
def _identifiers_by_name_or_coin() -> dict[str, list[str]]:
    by_name: dict[str, list[str]] = {}
    by_coin: dict[str, list[str]] = {}
    for chain in known_blockchains().values():
        for term in (chain.identifier, chain.name or "", *chain.aliases):
            by_name.setdefault(_simplify_name(term), []).append(chain.identifier)
        by_coin.setdefault(_simplify_name(chain.coin or ""), []).append(chain.identifier)
    terms = by_coin | by_name  # names take precedence
    del terms[""]
    return terms


def _simplify_name(text: str) -> str:
    return _keep_alphanumeric(_GENERIC_WORDS.sub("", text.casefold()))


def _keep_alphanumeric(text: str) -> str:
    return _NOT_ALPHANUMERIC.sub("", text.casefold())
