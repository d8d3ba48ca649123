"""Flags for each row of holdings: a token under one of its symbols is a case, judged once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.amounts.segments import Segments, sums
from walletframe.analysis.spam.directory import make_directory
from walletframe.analysis.spam.evidence import evidence_of
from walletframe.analysis.spam.reasons import BAIT, Finding, in_order, score, words
from walletframe.analysis.spam.symbols import HEAD, read_symbol
from walletframe.errors import SettingsError, SpamWarning
from walletframe.frames import find_token, token_identities
from walletframe.notice import mention
from walletframe.numerals import many

if TYPE_CHECKING:
    import numpy.typing as npt

    from walletframe.analysis.spam.directory import Directory
    from walletframe.analysis.spam.evidence import Evidence
    from walletframe.analysis.token_lists import TokensLike
    from walletframe.frames import Codes, TokenKey, TokenLike

THRESHOLD = 0.5
_WHOSE = ["symbol", "token_blockchain", "token_address"]

_CROWD = 3
_CHANCE = 500  # so many tokens have one more under the same symbol by chance
_EXTREME = 10**15
_ABSURD_BALANCE, _EXTREME_SUPPLY = Finding("absurd_balance"), Finding("extreme_supply")
_PRICED, _UNPRICED = Finding("priced"), Finding("unpriced")


def flag_spam(
    holdings: pd.DataFrame,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float = THRESHOLD,
) -> pd.DataFrame:
    """Add ``spam_score``, ``spam_reasons`` and ``is_spam`` to n rows: see ``.wf.flag_spam``."""
    directory = read_lists(allow, deny, threshold)
    cases = _find_cases(directory, evidence_of(holdings))
    scores = np.zeros(len(cases.tokens))
    reasons = np.full(len(cases.tokens), "", dtype=object)
    for case, findings in cases.judged().items():
        scores[case], reasons[case] = score(findings), words(findings)
    return holdings.assign(
        spam_score=scores[cases.codes],
        spam_reasons=pd.array(reasons, dtype="str").take(cases.codes),
        is_spam=scores[cases.codes] >= threshold,
    )


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
    say_left_out(int(suspect.sum()), len(token_identities(holdings[suspect]).keys))
    return holdings[~suspect]


def say_left_out(rows: int, tokens: int) -> None:
    """Say how much was left out, if anything was."""
    if rows:
        mention(
            f"{many(rows, 'row')} of {many(tokens, 'token')} that look like spam left out; "
            "explain_spam() says why",
            SpamWarning,
        )


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
    directory = read_lists(allow, deny, threshold)
    return explained(directory, evidence_of(holdings), token, threshold, everything=everything)


def explained(
    directory: Directory,
    evidence: Evidence,
    token: TokenLike | None,
    threshold: float,
    *,
    everything: bool,
) -> pd.DataFrame:
    """Do the same of rows that were read."""
    cases, holdings = _find_cases(directory, evidence), evidence.holdings
    asked = np.ones(len(holdings), dtype=bool) if token is None else find_token(holdings, token)
    places, rows = np.unique(cases.codes[asked], return_index=True)
    whose = holdings.loc[asked, _WHOSE].iloc[rows]
    judged = cases.judged()
    found = [judged.get(int(case)) or cases.findings(int(case)) for case in places]
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


@dataclass(frozen=True, slots=True)
class _Cases:
    """The cases of a frame, in the order of their first rows."""

    directory: Directory
    codes: Codes  # of each row, its case
    tokens: Codes  # of each case, the place of its token among `keys`
    symbols: Codes  # of each case, the place of its symbol among `names`
    keys: list[TokenKey]
    names: list[str]  # not whole: at most `HEAD` characters
    by_symbol: list[tuple[Finding, ...]]  # what each symbol gives away
    by_amount: dict[int, tuple[Finding, ...]]  # what their amounts give away of some tokens
    by_price: npt.NDArray[np.object_]  # what the service's prices say of each token, or None

    def judged(self) -> dict[int, tuple[Finding, ...]]:
        """Return the findings, by case, of all cases that anything may speak against."""
        symbols = [
            bool(reading) or self.directory.is_borrowed(name)
            for name, reading in zip(self.names, self.by_symbol, strict=True)
        ]
        tokens = [
            place in self.by_amount or key in self.directory.denied
            for place, key in enumerate(self.keys)
        ]
        suspects = np.array(symbols)[self.symbols] | np.array(tokens, dtype=bool)[self.tokens]
        found = {case: self.findings(case) for case in np.flatnonzero(suspects).tolist()}
        borrowers = defaultdict(list)
        for case, findings in found.items():
            for finding in findings:
                if finding.reason == "borrowed":
                    borrowers[finding.details].append(case)
        for details, cases in borrowers.items():
            count = len(np.unique(self.tokens[cases]))
            if count >= max(_CROWD, len(self.keys) // _CHANCE):
                crowd = Finding("crowd", (many(count, "contract"), *details))
                found |= {case: in_order([*found[case], crowd]) for case in cases}
        return found

    def findings(self, case: int) -> tuple[Finding, ...]:
        """Return what is found about a case, in order, whatever the others are."""
        token, symbol = int(self.tokens[case]), int(self.symbols[case])
        standing = self.directory.standing(self.keys[token])
        if standing:
            return (standing,)
        found = [
            *self.by_symbol[symbol],
            *self.by_amount.get(token, ()),
            *self.directory.imitations(self.keys[token], self.names[symbol]),
        ]
        # What a price says counts beside other findings alone.
        price, reasons = self.by_price[token], {each.reason for each in found if each.weight}
        if price and reasons and (price is _UNPRICED or BAIT.isdisjoint(reasons)):
            found.append(price)
        return in_order(found)


def read_lists(allow: TokensLike | None, deny: TokensLike | None, threshold: float) -> Directory:
    """Read what a caller knows of tokens, and refuse a threshold that is none."""
    if not 0 < threshold <= 1:
        hint = "it is a score: above 0 and at most 1"
        raise SettingsError(f"threshold is {threshold!r}", hint=hint)
    return make_directory(allow, deny)


def verdicts(
    directory: Directory, evidence: Evidence
) -> tuple[Codes, dict[int, tuple[float, str]]]:
    """Give of each row its case, and of cases that are not clean their scores and reasons."""
    cases = _find_cases(directory, evidence)
    judged = cases.judged().items()
    return cases.codes, {case: (score(found), words(found)) for case, found in judged}


def _find_cases(directory: Directory, evidence: Evidence) -> _Cases:
    holdings, tokens = evidence.holdings, evidence.tokens
    symbol_codes, symbols = pd.factorize(holdings["symbol"].array)
    names = [*map(str, symbols.tolist()), ""]  # the code of a missing symbol is -1
    codes, pairs = pd.factorize(tokens.codes * len(names) + symbol_codes % len(names))
    token_places, symbol_places = np.divmod(pairs, len(names))
    return _Cases(
        directory,
        codes,
        token_places,
        symbol_places,
        tokens.keys,
        [name[:HEAD] for name in names],
        [read_symbol(name) for name in names],
        _amount_findings(evidence),
        _price_findings(evidence),
    )


def _amount_findings(evidence: Evidence) -> dict[int, tuple[Finding, ...]]:
    """Find tokens with balances that nobody has, and supplies that no honest token needs."""
    exact, codes = evidence.amounts, evidence.tokens.codes
    one, count = 10**exact.scale, len(evidence.tokens.keys)
    absurd = np.unique(codes[evidence.absurd])
    found: dict[int, tuple[Finding, ...]] = dict.fromkeys(absurd.tolist(), (_ABSURD_BALANCE,))
    # Added up is only what can be extreme: of n terms then not all are below an n-th of it.
    most_rows = max(int(np.bincount(codes, minlength=1).max()), 1)
    large = np.zeros(count, dtype=bool)
    large[codes[exact.integers >= _EXTREME * one // most_rows]] = True
    supplies = sums(Segments(exact, np.where(large[codes], codes, -1), count))
    for code in np.flatnonzero(supplies >= _EXTREME * one).tolist():
        found[code] = (*found.get(code, ()), _EXTREME_SUPPLY)
    return found


def _price_findings(evidence: Evidence) -> npt.NDArray[np.object_]:
    """Return for each token `_PRICED`, `_UNPRICED` where others on its blockchain are, or None."""
    tokens = evidence.tokens
    found = np.full(len(tokens.keys), None, dtype=object)
    priced = np.zeros(len(found), dtype=bool)
    priced[tokens.codes[evidence.priced]] = True
    chains, _ = pd.factorize(np.array([key[0] for key in tokens.keys], dtype=object))
    covered = np.bincount(chains[priced], minlength=len(found) + 1)[chains] > 0
    found[covered] = _UNPRICED
    found[priced] = _PRICED
    return found
