"""The reasons for and against spam: their names, weights and explanations."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.resources import files
from operator import attrgetter
from typing import TYPE_CHECKING

from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_DETAIL_LENGTH = 60

RULES = json.loads(files(__package__).joinpath("rules.json").read_text(encoding="utf-8"))
"""The lists of words that rules use, and the weight and the explanation of each reason."""

# The score of a token is the sum of the weights of its reasons, clipped to [0, 1]. At the default
# threshold of 0.5, one reason of a large weight, such as a link, flags a token as spam.
REASONS: dict[str, tuple[float, str]] = RULES["reasons"]
# If one of these reasons applies, a price does not reduce the score: anybody can create a market.
BAIT = frozenset(RULES["bait"])
_WEIGHT: Callable[[Finding], float] = attrgetter("weight")


@dataclass(frozen=True, slots=True)
class Finding:
    """A reason in `REASONS`, and unescaped texts to insert into its explanation."""

    reason: str
    details: tuple[str, ...] = ()
    weight: float = field(init=False)  # added to the score

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", REASONS[self.reason][0])

    @property
    def text(self) -> str:
        """The explanation as one safe line."""
        return REASONS[self.reason][1].format(
            *(safe_line(detail, _DETAIL_LENGTH) for detail in self.details)
        )


def last_per_reason(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the last finding of each reason, in descending order of weight."""
    once = {finding.reason: finding for finding in findings}
    return tuple(sorted(once.values(), key=_WEIGHT, reverse=True))


def score(findings: tuple[Finding, ...]) -> float:
    """Return the sum of the weights, clipped to [0, 1] and rounded to two decimals."""
    return min(100, max(0, round(100 * sum(map(_WEIGHT, findings))))) / 100


def join_reasons(findings: tuple[Finding, ...]) -> str:
    """Join the names of reasons with a nonzero weight."""
    return ", ".join(finding.reason for finding in findings if finding.weight)
