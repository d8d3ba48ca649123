"""What speaks against a token: stable words, what each weighs, and how to say it to a person.

The score of a token is the sum of the weights of all that was found, from 0 to 1. The weights are
set so that at the usual threshold of a half some reasons flag a token alone (a link, a stolen
symbol), while others only do together (a claim in a phrase, a claim of what has no price).

A price of the service speaks for a token, and none beside others that have one a little against
it; neither counts alone. A price is no word for what `BAIT` names: anybody can make a market.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

_QUOTED = 60

WEIGHTS = {
    "deny_list": 1.0,
    "link": 0.7,
    "impersonation": 0.6,
    "lookalike": 0.6,
    "hidden": 0.6,
    "markup": 0.6,
    "domain": 0.5,
    "address": 0.5,
    "long_text": 0.5,
    "absurd_balance": 0.5,
    "claim": 0.3,
    "prize": 0.3,
    "foremost": 0.3,
    "cut_off": 0.3,
    "dotted_name": 0.3,
    "coin": 0.3,
    "borrowed": 0.25,
    "recased": 0.25,
    "crowd": 0.25,
    "phrase": 0.2,
    "extreme_supply": 0.2,
    "unpriced": 0.2,
    "allow_list": 0.0,
    "known_token": 0.0,
    "same_contract": 0.0,
    "native_coin": 0.0,
    "priced": -0.3,
}
BAIT = frozenset(
    {"link", "domain", "claim", "prize", "lookalike", "hidden", "markup", "absurd_balance"}
)
_TEXTS = {
    "deny_list": "it is on the list given as deny",
    "link": 'the symbol holds a link: "{}"',
    "impersonation": 'it bears the symbol "{}", which belongs to {}',
    "lookalike": 'letters that are not what they seem make the symbol read as "{}"',
    "hidden": "the symbol holds characters that show nothing: {}",
    "markup": 'a page or a spreadsheet would run the symbol: "{}"',
    "domain": 'the symbol holds a domain: "{}"',
    "long_text": "the symbol is {} characters long",
    "absurd_balance": "a wallet holds more of it than anybody can have",
    "claim": 'the symbol promises or demands something: "{}"',
    "prize": 'the symbol names a sum of money: "{}"',
    "address": "the symbol is an address",
    "foremost": 'signs put the symbol first in lists: "{}"',
    "cut_off": "the symbol ends in the middle of something, with dots",
    "coin": 'it bears the symbol "{}", as does {}',
    "borrowed": 'it bears the symbol "{}", which is known, but not on {}',
    "recased": 'it writes "{}" for "{}", which bridges hardly do',
    "dotted_name": 'the symbol holds a name that is like a domain: "{}"',
    "crowd": 'it is one of {} here that bear the symbol "{}" on {}, none of them known',
    "phrase": "the symbol says more than one word",
    "extreme_supply": "the wallets hold a quadrillion of it, or more",
    "unpriced": "the service gives no price for it, and one for others on this blockchain",
    "allow_list": "it is on the list given as allow",
    "known_token": "its contract is that of a known token",
    "same_contract": "its contract is that of a known token on another blockchain",
    "native_coin": "it is the blockchain's own coin",
    "priced": "the service gives a price for it",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was found out about a token.

    Parameters
    ----------
    reason : str
        One of `WEIGHTS`.
    details : tuple of str
        What exactly was found, as strangers wrote it.
    """

    reason: str
    details: tuple[str, ...] = ()

    @property
    def weight(self) -> float:
        """What it adds to the score.

        Returns
        -------
        float
            From -1 to 1.
        """
        return WEIGHTS[self.reason]

    @property
    def text(self) -> str:
        """What to tell a person.

        Returns
        -------
        str
            One harmless line.
        """
        return _TEXTS[self.reason].format(*(shown(detail, _QUOTED) for detail in self.details))


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with each reason once, the heaviest first.

    Parameters
    ----------
    findings : iterable of Finding
        Of one token; of those with the same reason the last stays.

    Returns
    -------
    tuple of Finding
        In the order in which they are told.
    """
    once = {finding.reason: finding for finding in findings}
    return tuple(sorted(once.values(), key=lambda finding: -finding.weight))


def score(findings: tuple[Finding, ...]) -> float:
    """Add up what was found.

    Parameters
    ----------
    findings : tuple of Finding
        Each reason at most once.

    Returns
    -------
    float
        From 0 to 1, rounded to two decimals, which the weights have.

    Examples
    --------
    >>> score((Finding("claim"), Finding("phrase"))), score((Finding("phrase"), Finding("priced")))
    (0.5, 0.0)
    """
    return min(1.0, max(0.0, round(sum(finding.weight for finding in findings), 2)))


def words(findings: tuple[Finding, ...]) -> str:
    """Name what speaks against a token.

    Parameters
    ----------
    findings : tuple of Finding
        Each reason at most once.

    Returns
    -------
    str
        The reasons that weigh something, in their order, joined by ``", "``.

    Examples
    --------
    >>> words((Finding("link"), Finding("claim"), Finding("known_token")))
    'link, claim'
    """
    return ", ".join(finding.reason for finding in findings if finding.weight)
