"""What speaks against a token: stable words, what each weighs, and how to say it to a person.

The score of a token is the sum of the weights of all that was found, at most 1. The weights are
set so that at the usual threshold of a half some reasons flag a token alone (a link, a stolen
symbol), while others only do together (a claim in a phrase, a name with a dot and a claim).
"""

from __future__ import annotations

from dataclasses import dataclass

from walletframe.text import shown

_QUOTED = 60

WEIGHTS = {
    "deny_list": 1.0,
    "link": 0.7,
    "impersonation": 0.6,
    "lookalike": 0.6,
    "hidden": 0.6,
    "markup": 0.6,
    "domain": 0.5,
    "long_text": 0.5,
    "absurd_balance": 0.5,
    "claim": 0.3,
    "dotted_name": 0.25,
    "phrase": 0.2,
    "extreme_supply": 0.2,
    "allow_list": 0.0,
    "known_token": 0.0,
    "native_coin": 0.0,
}
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
    "dotted_name": 'the symbol holds a name that is like a domain: "{}"',
    "phrase": "the symbol is several words, not one",
    "extreme_supply": "the wallets hold a quadrillion of it, or more",
    "allow_list": "it is on the list given as allow",
    "known_token": "its contract is that of a known token",
    "native_coin": "it is the blockchain's own coin",
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
            From 0 to 1.
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
    >>> score((Finding("claim"), Finding("phrase")))
    0.5
    """
    return min(1.0, round(sum(finding.weight for finding in findings), 2))


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
