"""Spam among holdings that stay on the disk: what they give away is read block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from walletframe.analysis.spam.evidence import Part, evidence_of_part, merge, part_of
from walletframe.analysis.spam.flags import (
    THRESHOLD,
    explained,
    read_lists,
    say_left_out,
    verdicts,
)

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.analysis.parted import InBlocks
    from walletframe.analysis.token_lists import TokensLike
    from walletframe.frames import Codes, TokenKey, TokenLike

_FOLDED = 400_000  # rows that are kept before parts are merged


class Found(NamedTuple):
    """The scores and reasons of what is not clean."""

    of: dict[tuple[TokenKey, str | None], tuple[float, str]]  # of known tokens under a symbol
    of_rows: dict[int, tuple[float, str]]  # of the rows of unknown tokens, by place
    unknown: Codes  # the places of all of these rows


def flags_on_disk(
    held: InBlocks,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float = THRESHOLD,
    dropped: bool = False,
) -> Found:
    """Find what `flag_spam` does; say how much that is, if it is to be dropped."""
    directory = read_lists(allow, deny, threshold)
    part = _read(held)
    evidence = evidence_of_part(part, held.whole.given)
    codes, found = verdicts(directory, evidence)
    rows = np.flatnonzero(np.isin(codes, [*found]))
    keys, symbols = part.ways.keys, evidence.holdings["symbol"].astype(object)
    unknown = part.ways.unknown
    of = {
        (keys[row], symbol if isinstance(symbol := symbols[row], str) else None): found[codes[row]]
        for row in rows[~unknown[rows]].tolist()
    }
    of_rows = {int(part.rows[row]): found[codes[row]] for row in rows[unknown[rows]].tolist()}
    if dropped:
        spam = rows[[found[code][0] >= threshold for code in codes[rows].tolist()]]
        tokens = len(np.unique(evidence.tokens.codes[spam]))
        say_left_out(int(part.counts[spam].sum()), tokens)
    return Found(of, of_rows, part.rows[unknown])


def explain_on_disk(
    held: InBlocks,
    token: TokenLike | None = None,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float = THRESHOLD,
    everything: bool = False,
) -> pd.DataFrame:
    """Return what `explain_spam` does."""
    directory = read_lists(allow, deny, threshold)
    evidence = evidence_of_part(_read(held), held.whole.given)
    return explained(directory, evidence, token, threshold, everything=everything)


def _read(held: InBlocks) -> Part:
    """Read what all rows give away."""
    parts: list[Part] = []
    for part in held.over(part_of, ["raw_amount", "price"]):
        parts.append(part)
        if sum(len(part.rows) for part in parts) > _FOLDED and len(parts) > 1:
            parts = [merge(parts)]
    return merge(parts)
