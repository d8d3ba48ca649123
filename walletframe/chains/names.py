"""How an identifier is written, and which ones somebody may have meant."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache

from walletframe.chains.known import find_blockchain, known_blockchains
from walletframe.text import shown

_ODD = re.compile(r"[^a-z0-9]")
_OF_MANY = re.compile(r"(chain|mainnet|network|protocol)\b")
_CLOSE = 0.75
_NEAREST = 3
_SHOWN = 40


def spelled(identifier: str) -> str:
    """Write an identifier as the service does.

    Parameters
    ----------
    identifier : str
        As somebody wrote it.

    Returns
    -------
    str
        In capitals where the list has it, else as written; without white space around it.

    Examples
    --------
    >>> spelled("eth "), spelled(" Newchain")
    ('ETH', 'Newchain')
    """
    known = find_blockchain(identifier)
    return known.identifier if known else identifier.strip()


def near(identifier: str) -> list[str]:
    """Guess which blockchains somebody may have meant.

    Parameters
    ----------
    identifier : str
        One that is not in the list.

    Returns
    -------
    list of str
        At most three identifiers of the list, the likeliest first; none where nothing is near.

    Examples
    --------
    >>> near("Ethereum"), near("matic"), near("Avalanche"), near("nonsense")
    (['ETH'], ['POLYGON'], ['AVAX_CCHAIN'], [])
    """
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
    """Say that an identifier may be mistaken.

    Parameters
    ----------
    identifier : str
        As somebody wrote it.

    Returns
    -------
    str
        Nothing where the list has it.

    Examples
    --------
    >>> doubt("eth"), doubt("Ethereum"), doubt("nonsense")
    ('', 'Ethereum: did you mean ETH?', 'nonsense: no such blockchain is known')
    """
    if find_blockchain(identifier):
        return ""
    names = " or ".join(near(identifier))
    said = f"did you mean {names}?" if names else "no such blockchain is known"
    return f"{shown(identifier, _SHOWN)}: {said}"


@cache
def _terms() -> dict[str, list[str]]:
    """Give the identifiers by what people call them: by native coins where nothing else fits."""
    chains = known_blockchains().values()
    by_name: dict[str, list[str]] = {}
    by_coin: dict[str, list[str]] = {}
    for chain in chains:
        for term in (chain.identifier, chain.name or "", *chain.also):
            by_name.setdefault(_folded(term), []).append(chain.identifier)
        by_coin.setdefault(_folded(chain.coin or ""), []).append(chain.identifier)
    terms = by_coin | by_name
    del terms[""]
    return terms


def _folded(text: str) -> str:
    return _ODD.sub("", _OF_MANY.sub("", text.casefold()))
