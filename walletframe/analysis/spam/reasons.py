"""The reasons for and against spam: stable words, weights, and explanations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterable

_QUOTED = 60

# The score of a token is the sum of the weights, from 0 to 1. At the default threshold of 0.5, some
# reasons flag a token alone (a link, a stolen symbol), others only together (a claim in a phrase).
REASONS = {
    "deny_list": (1.0, "it is on the list given as deny"),
    "link": (0.7, 'the symbol contains a link: "{}"'),
    "impersonation": (0.6, 'it has the symbol "{}", which belongs to {}'),
    "lookalike": (0.6, 'look-alike letters make the symbol read as "{}"'),
    "hidden": (0.6, "the symbol contains invisible characters: {}"),
    "markup": (0.6, 'a web page or a spreadsheet would run the symbol: "{}"'),
    "domain": (0.5, 'the symbol contains a domain: "{}"'),
    "address": (0.5, "the symbol is an address"),
    "long_text": (0.5, "the symbol is {} characters long"),
    "absurd_balance": (0.5, "a wallet holds an impossibly large amount of it"),
    "claim": (0.3, 'the symbol promises or demands something: "{}"'),
    "prize": (0.3, 'the symbol names a sum of money: "{}"'),
    "foremost": (0.3, 'leading signs sort the symbol to the top of lists: "{}"'),
    "cut_off": (0.3, "the symbol is cut off, and ends with dots"),
    "dotted_name": (0.3, 'the symbol contains a name like a domain: "{}"'),
    "coin": (0.3, 'it has the symbol "{}", like {}'),
    "borrowed": (0.25, 'it has the known symbol "{}", but no list has it on {}'),
    "recased": (0.25, 'it writes "{}" for "{}", which bridges rarely do'),
    "crowd": (0.25, 'it is one of {} here with the symbol "{}" on {}, none of them known'),
    "phrase": (0.2, "the symbol has more than one word"),
    "extreme_supply": (0.2, "the wallets together hold a quadrillion of it, or more"),
    "unpriced": (0.2, "the service has no price for it, but prices others on this blockchain"),
    "allow_list": (0.0, "it is on the list given as allow"),
    "known_token": (0.0, "its contract is that of a known token"),
    "same_contract": (0.0, "its contract is that of a known token on another blockchain"),
    "native_coin": (0.0, "it is the blockchain's own coin"),
    "priced": (-0.3, "the service has a price for it"),
}
# A price does not weigh against these reasons, since anybody can make a market.
BAIT = frozenset(
    {"link", "domain", "claim", "prize", "lookalike", "hidden", "markup", "absurd_balance"}
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One of `REASONS`, with the details of its explanation, which may be untrusted text."""

    reason: str
    details: tuple[str, ...] = ()

    @property
    def weight(self) -> float:
        """The weight that the finding adds to the score."""
        return REASONS[self.reason][0]

    @property
    def text(self) -> str:
        """The explanation, as one safe line."""
        return REASONS[self.reason][1].format(
            *(safe_line(detail, _QUOTED) for detail in self.details)
        )


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the last finding of each reason, the heaviest first."""
    once = {finding.reason: finding for finding in findings}
    return tuple(sorted(once.values(), key=lambda finding: -finding.weight))


def score(findings: tuple[Finding, ...]) -> float:
    """Add up findings `in_order`, from 0 to 1, rounded to the two decimals of the weights."""
    return min(1.0, max(0.0, round(sum(finding.weight for finding in findings), 2)))


def words(findings: tuple[Finding, ...]) -> str:
    """Return the reasons with a weight, joined by ``", "``, in their order."""
    return ", ".join(finding.reason for finding in findings if finding.weight)
