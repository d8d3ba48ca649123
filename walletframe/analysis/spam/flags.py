"""Flags for every row of holdings, and what they are based on, token by token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.analysis.spam.cases import find_cases
from walletframe.analysis.spam.directory import make_directory
from walletframe.analysis.spam.reasons import score, words
from walletframe.errors import SettingsError, SpamWarning
from walletframe.frames import find_token, token_identities
from walletframe.notice import mention
from walletframe.numerals import many

if TYPE_CHECKING:
    from walletframe.analysis.spam.cases import Cases
    from walletframe.analysis.spam.directory import Directory
    from walletframe.analysis.token_lists import TokensLike
    from walletframe.frames import TokenLike

THRESHOLD = 0.5
_WHOSE = ["symbol", "token_blockchain", "token_address"]


def flag_spam(
    holdings: pd.DataFrame,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float = THRESHOLD,
) -> pd.DataFrame:
    """Add ``spam_score``, ``spam_reasons`` and ``is_spam`` to n rows: see ``.wf.flag_spam``."""
    directory, cases = _read(holdings, allow, deny, threshold)
    scores = np.zeros(len(cases.tokens))
    reasons = np.full(len(cases.tokens), "", dtype=object)
    for case, findings in cases.judged(directory).items():
        scores[case], reasons[case] = score(findings), words(findings)
    return holdings.assign(
        spam_score=scores[cases.codes],
        spam_reasons=pd.array(reasons, dtype="str").take(cases.codes),
        is_spam=scores[cases.codes] >= threshold,
    )


def _read(
    holdings: pd.DataFrame, allow: TokensLike | None, deny: TokensLike | None, threshold: float
) -> tuple[Directory, Cases]:
    if not 0 < threshold <= 1:
        raise SettingsError(
            f"threshold is {threshold!r}", hint="it is a score: above 0 and at most 1"
        )
    return make_directory(allow, deny), find_cases(holdings)


def without_spam(
    holdings: pd.DataFrame,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float = THRESHOLD,
) -> pd.DataFrame:
    """Return the rows that `flag_spam` does not flag, with the columns they had."""
    flagged = flag_spam(holdings, allow=allow, deny=deny, threshold=threshold)
    suspect = flagged["is_spam"].to_numpy()
    if suspect.any():
        tokens = len(token_identities(holdings[suspect]).keys)
        mention(
            f"{many(int(suspect.sum()), 'row')} of {many(tokens, 'token')} that look like spam "
            "left out; explain_spam() says why",
            SpamWarning,
        )
    return holdings[~suspect]


def explain_spam(
    holdings: pd.DataFrame,
    token: TokenLike | None = None,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float = THRESHOLD,
    everything: bool = False,
) -> pd.DataFrame:
    """Return a row for each finding of `flag_spam`, in words: see ``.wf.explain_spam``."""
    directory, cases = _read(holdings, allow, deny, threshold)
    asked = np.ones(len(holdings), dtype=bool) if token is None else find_token(holdings, token)
    places, rows = np.unique(cases.codes[asked], return_index=True)
    whose = holdings.loc[asked, _WHOSE].iloc[rows]
    judged = cases.judged(directory)
    found = [judged.get(int(case)) or cases.findings(int(case), directory) for case in places]
    scores = np.array([score(findings) for findings in found], dtype=float)
    ranked = np.argsort(-scores, kind="stable")
    if token is None and not everything:
        ranked = ranked[scores[ranked] >= threshold]
    pairs = [(place, finding) for place in ranked.tolist() for finding in found[place]]
    owners = np.array([place for place, _ in pairs], dtype=np.intp)
    return (
        whose.iloc[owners]
        .assign(
            spam_score=scores[owners],
            is_spam=scores[owners] >= threshold,
            reason=pd.array([finding.reason for _, finding in pairs], dtype="str"),
            weight=np.array([finding.weight for _, finding in pairs], dtype=float),
            text=pd.array([finding.text for _, finding in pairs], dtype="str"),
        )
        .reset_index(drop=True)
    )
