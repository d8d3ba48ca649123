"""The reasons for and against spam: their names, weights and explanations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterable

_QUOTED = 60

# The score of a token is the sum of the weights of its reasons, clipped to [0, 1]. At the default
# threshold of 0.5, a single reason of a large weight flags a token as spam, such as a link. Reasons
# of smaller weights, such as a claim, need other reasons.
REASONS = {
    "deny_list": (1.0, "it is on your deny list"),
    "link": (0.7, 'the symbol contains a link: "{}"'),
    "impersonation": (0.6, 'it has the symbol "{}", which belongs to {}'),
    "lookalike": (0.6, 'look-alike letters make the symbol read as "{}"'),
    "hidden": (0.6, "the symbol contains invisible characters: {}"),
    "markup": (0.6, 'a web page or a spreadsheet could execute the symbol: "{}"'),
    "domain": (0.5, 'the symbol contains a domain: "{}"'),
    "address": (0.5, "the symbol is an address"),
    "long_text": (0.5, "the symbol is {} characters long"),
    "absurd_balance": (0.5, "a wallet holds an impossibly large amount of it"),
    "claim": (0.3, 'the symbol promises or demands something: "{}"'),
    "prize": (0.3, 'the symbol contains a sum of money: "{}"'),
    "foremost": (0.3, 'the symbol begins with punctuation, which puts it on top of lists: "{}"'),
    "cut_off": (0.3, "the symbol is cut off with dots at its end"),
    "dotted_name": (0.3, 'the symbol contains a domain-like name: "{}"'),
    "coin": (0.3, 'it has the same symbol "{}" as {}'),
    "borrowed": (0.25, 'it has the known symbol "{}", which is not listed on {}'),
    "recased": (
        0.25,
        'its symbol is written "{}" instead of "{}", which is rare for bridged tokens',
    ),
    "crowd": (0.25, '{} in these holdings have the symbol "{}" on {}, and none of them is known'),
    "phrase": (0.2, "the symbol has more than one word"),
    "extreme_supply": (0.2, "all wallets together hold a quadrillion units of it or more"),
    "unpriced": (0.2, "the service has prices for other tokens on its blockchain, but not for it"),
    "allow_list": (0.0, "it is on your allow list"),
    "known_token": (0.0, "it is a known token"),
    "same_contract": (0.0, "a known token has the same contract address on another blockchain"),
    "native_coin": (0.0, "it is the blockchain's own coin"),
    "priced": (-0.3, "the service has a price for it"),
}
# A price does not reduce the score of these reasons, since anybody can create a market.
BAIT = frozenset(
    {"link", "domain", "claim", "prize", "lookalike", "hidden", "markup", "absurd_balance"}
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A key of `REASONS`, and the texts (maybe untrusted) for the gaps in its explanation."""

    reason: str
    details: tuple[str, ...] = ()
    weight: float = field(init=False)  # added to the score

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", REASONS[self.reason][0])

    @property
    def text(self) -> str:
        """The explanation, as a single escaped line."""
        return REASONS[self.reason][1].format(
            *(safe_line(detail, _QUOTED) for detail in self.details)
        )


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the last finding of each reason, in descending order of the weights."""
    once = {finding.reason: finding for finding in findings}
    return tuple(sorted(once.values(), key=lambda finding: -finding.weight))


def score(findings: tuple[Finding, ...]) -> float:
    """Return the sum of the weights, clipped to [0, 1] and rounded to two decimals."""
    return min(1.0, max(0.0, round(sum(finding.weight for finding in findings), 2)))


def join_reasons(findings: tuple[Finding, ...]) -> str:
    """Return the names of the reasons as one text. Reasons of the weight 0 are left out."""
    return ", ".join(finding.reason for finding in findings if finding.weight)
