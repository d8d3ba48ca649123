"""Flags for each row of holdings: a token under one of its symbols is a case, judged once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts.integers import Exact
from walletframe.amounts.sums import Segments, positive, sums
from walletframe.analysis.parted import Grouping, fold
from walletframe.analysis.spam.directory import make_directory
from walletframe.analysis.spam.reasons import BAIT, Finding, in_order, score, words
from walletframe.analysis.spam.symbols import HEAD, read_symbol, skeletons
from walletframe.errors import SettingsError, SpamWarning
from walletframe.frames.contract import amounts_of, require_columns
from walletframe.frames.identity import TOKEN, Identities, first_rows, token_identities
from walletframe.frames.names import find_token
from walletframe.notice import mention
from walletframe.numerals import many
from walletframe.pandas_versions import TEXT, factorized

if TYPE_CHECKING:
    import numpy.typing as npt

    from walletframe.amounts import AmountArray
    from walletframe.analysis.parted import InBlocks
    from walletframe.analysis.spam.directory import Directory
    from walletframe.analysis.token_lists import TokensLike
    from walletframe.frames.identity import Codes, Mask
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions

THRESHOLD = 0.5
_WHOSE = ["symbol", "token_blockchain", "token_address"]

_CROWD = 3
_CHANCE = 500  # so many tokens have one more under the same symbol by chance
_EXTREME = 10**15
_NEEDED = ("symbol", "token_blockchain", "token_address", "amount", "raw_amount")
_ABSURD, _ABSURD_DIGITS = 10**18, 60  # whole tokens, and digits in base units
_ABSURD_BALANCE, _EXTREME_SUPPLY = Finding("absurd_balance"), Finding("extreme_supply")
_PRICED, _UNPRICED = Finding("priced"), Finding("unpriced")


def flag_spam(
    holdings: pd.DataFrame,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float = THRESHOLD,
) -> pd.DataFrame:
    """Add a spam score and its reasons to each row; no row is dropped.

    Parameters
    ----------
    allow : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        Tokens that are never spam: a file in the Uniswap token-list format, or parsed from one,
        a frame with ``token_blockchain`` and ``token_address``, or (blockchain, contract)
        pairs. Where the list has symbols, another contract that bears one of them on the same
        blockchain counts as an imitation.
    deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        Tokens that are spam, in the same forms.
    threshold : float, default 0.5
        The lowest score that counts as spam.

    Returns
    -------
    DataFrame, or WalletDetails of a fetch
        The same rows and columns, and ``spam_score`` (float64, from 0 to 1), ``spam_reasons``
        (str: stable words, the heaviest first, joined by ``", "``; empty where nothing was
        found) and ``is_spam`` (bool). All rows of one token under one symbol have the same.

    Raises
    ------
    TokenListError, OSError
        If a list or its file can't be read, or a token is on both lists.
    ColumnsError, AmountError, SettingsError
        If a frame lacks a column, ``amount`` has no amounts, or the threshold is not in (0, 1].

    Notes
    -----
    The score is the sum of the reasons' weights, at most 1; `explain_spam` gives each. Known
    and allowed tokens and native coins have 0, denied ones 1. Nothing is fetched. A worthless
    token with a plain name is not detected.

    A price that the service gives weighs against other findings, but never against a link, a
    claim or a disguise. That it gives none, where it gives one for another token of the
    blockchain, weighs a little beside other findings. Pass the whole frame: prices, amounts and
    equal symbols in all its rows count.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"symbol": ["$ usdcgift.com - Visit to claim", "FOO"],
    ...     "token_blockchain": "ETH", "token_address": ["0xab", "0xcd"],
    ...     "amount": pd.array(["1000", "5"], dtype="amount"), "raw_amount": ["1000", "5"]})
    >>> frame.wf.flag_spam()[["spam_score", "spam_reasons", "is_spam"]]
       spam_score                     spam_reasons  is_spam
    0         1.0  domain, claim, foremost, phrase     True
    1         0.0                                     False
    """
    directory = _read_lists(allow, deny, threshold)
    cases = _Cases(directory, _evidence_of(holdings))
    scores = np.zeros(len(cases.tokens))
    reasons = np.full(len(cases.tokens), "", dtype=object)
    for case, findings in cases.judged().items():
        scores[case], reasons[case] = score(findings), words(findings)
    return holdings.assign(
        spam_score=scores[cases.codes],
        spam_reasons=pd.array(reasons, dtype=TEXT).take(cases.codes),
        is_spam=scores[cases.codes] >= threshold,
    )


def without_spam(
    holdings: pd.DataFrame,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float = THRESHOLD,
) -> pd.DataFrame:
    """Return the rows that `flag_spam` does not flag.

    Parameters
    ----------
    allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        Tokens that are no spam, and tokens that are, as in `flag_spam`.
    threshold : float, default 0.5
        The lowest score that counts as spam.

    Returns
    -------
    DataFrame, or WalletDetails of a fetch
        Those rows in their order, on their own index, with the columns they had.

    Raises
    ------
    TokenListError, OSError
        If a list or its file can't be read, or a token is on both lists.
    ColumnsError, AmountError, SettingsError
        If a frame lacks a column, ``amount`` has no amounts, or the threshold is not in (0, 1].

    Warns
    -----
    SpamWarning
        Saying how many rows of how many tokens were left out, if any; never an error, whatever
        the filters of warnings.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"symbol": ["FOO"], "token_blockchain": "ETH",
    ...     "token_address": ["0xcd"], "amount": pd.array(["5"], dtype="amount"),
    ...     "raw_amount": ["5"]})
    >>> frame.wf.without_spam().symbol.tolist()
    ['FOO']
    """
    flagged = flag_spam(holdings, allow=allow, deny=deny, threshold=threshold)
    suspect = flagged["is_spam"].to_numpy()
    _say_left_out(int(suspect.sum()), len(token_identities(holdings[suspect]).keys))
    return holdings[~suspect]


def _say_left_out(rows: int, tokens: int) -> None:
    """Mention how much was left out, if anything was."""
    if rows:
        mention(
            f"{many(rows, 'row')} of {many(tokens, 'token')} that look like spam left out; "
            "explain_spam() says why",
            SpamWarning,
        )


def explain_spam(
    holdings: pd.DataFrame | InBlocks,
    token: TokenLike | None = None,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float = THRESHOLD,
    everything: bool = False,
) -> pd.DataFrame:
    """Explain in words, token by token, what `flag_spam` found.

    Parameters
    ----------
    token : str or (str, str or None), optional
        Only this token, flagged or not: (blockchain, contract), or an unambiguous symbol.
    allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        Tokens that are no spam, and tokens that are, as in `flag_spam`.
    threshold : float, default 0.5
        The lowest score that counts as spam.
    everything : bool, default False
        Include tokens that are not flagged, if there are findings about them.

    Returns
    -------
    DataFrame
        One row for each finding, the highest score first, of each token the heaviest reason:
        ``symbol``, ``token_blockchain``, ``token_address``, ``spam_score`` (float64) and
        ``is_spam`` (bool) of the token, ``reason`` (str), ``weight`` (float64; 0 or less for
        what speaks for a token) and ``text`` (str).

    Raises
    ------
    UnknownTokenError, AmbiguousTokenError
        If no row has the token, or several tokens share the symbol.
    TokenListError, OSError
        If a list or its file can't be read, or a token is on both lists.
    ColumnsError, AmountError, SettingsError
        If a frame lacks a column, ``amount`` has no amounts, or the threshold is not in (0, 1].

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"symbol": ["Visit usdcgift.com to claim"],
    ...     "token_blockchain": "ETH", "token_address": ["0xab"],
    ...     "amount": pd.array(["1000"], dtype="amount"), "raw_amount": ["1000"]})
    >>> frame.wf.explain_spam().reason.iloc[0]
    'domain'
    """
    directory = _read_lists(allow, deny, threshold)
    if isinstance(holdings, pd.DataFrame):
        evidence = _evidence_of(holdings)
    else:
        evidence, _, _ = _evidence_of_blocks(holdings)
    cases, rows = _Cases(directory, evidence), evidence.holdings
    asked = np.ones(len(rows), dtype=bool) if token is None else find_token(rows, token)
    places, first = np.unique(cases.codes[asked], return_index=True)
    whose = rows.loc[asked, _WHOSE].iloc[first]
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
            reason=pd.array([finding.reason for _, finding in pairs], dtype=TEXT),
            weight=np.array([finding.weight for _, finding in pairs], dtype=float),
            text=pd.array([finding.text for _, finding in pairs], dtype=TEXT),
        )
        .reset_index(drop=True)
    )


@dataclass(frozen=True, slots=True)
class Evidence:
    """What n rows give away."""

    holdings: pd.DataFrame  # whose they are
    tokens: Identities
    amounts: Exact  # their sums where several rows left one
    absurd: Mask  # whether a balance is one that nobody has
    priced: Mask  # whether the service gives a price


def _evidence_of(holdings: pd.DataFrame) -> Evidence:
    """Read what holdings give away, row by row."""
    require_columns(holdings, _NEEDED)
    tokens, amounts = token_identities(holdings), amounts_of(holdings["amount"])
    absurd = _absurd(holdings, amounts)
    return Evidence(holdings, tokens, amounts.exact(), absurd, _priced(holdings))


def _evidence_of_blocks(held: InBlocks) -> tuple[Evidence, Codes, Codes]:
    """Read what holdings give away that are never in memory as a whole: a row for those alike.

    Also give of each row its place among all, and how many it stands for.
    """
    require_columns(held.whole.holdings, _NEEDED)
    [(block, groups, tally)] = fold(held, [_ALIKE], ["raw_amount", "price"])
    first = first_rows(groups.codes, len(groups))
    holdings = block.positions.holdings.iloc[first].reset_index(drop=True)
    known: Any = tally.units, tally.sizes == 0, tally.scale
    signs, tokens = holdings["signs"].to_numpy(), block.positions.tokens.take(first)
    evidence = Evidence(holdings, tokens, Exact(*known), signs % 2 > 0, signs > 1)
    return evidence, block.rows[first], tally.balances


def _signs(positions: Positions) -> pd.DataFrame:
    holdings = positions.holdings
    signs = _absurd(holdings, positions.amounts) + np.int8(2) * _priced(holdings)
    return holdings[[*TOKEN]].assign(signs=pd.Categorical.from_codes(signs, pd.RangeIndex(4)))


_ALIKE = Grouping(["token", "symbol", "signs"], seen=_signs)


def _absurd(holdings: pd.DataFrame, amounts: AmountArray) -> Mask:
    digits = holdings["raw_amount"].astype(TEXT).str.len().to_numpy(dtype=float, na_value=0)
    found = positive(amounts._amounts(), _ABSURD)  # noqa: SLF001 - of ours
    return np.asarray(found | (digits >= _ABSURD_DIGITS))


def _priced(holdings: pd.DataFrame) -> Mask:
    if "price" not in holdings.columns:
        return np.zeros(len(holdings), dtype=bool)
    prices = pd.to_numeric(holdings["price"], errors="coerce").to_numpy(float, na_value=np.nan)
    return np.asarray(prices > 0)


class _Cases:
    """The cases of a frame, in the order of their first rows."""

    def __init__(self, directory: Directory, evidence: Evidence) -> None:
        symbol_codes, symbols = factorized(evidence.holdings["symbol"])
        names = [*map(str, symbols.tolist()), ""]  # the code of a missing symbol is -1
        numbers = evidence.tokens.codes * len(names) + symbol_codes % len(names)
        self.codes, pairs = pd.factorize(numbers)  # of each row, its case
        # Of each case, the place of its token among `keys`, and of its symbol among `names`.
        self.tokens, self.symbols = np.divmod(pairs, len(names))
        self.directory, self.keys = directory, evidence.tokens.keys
        self.names = [name[:HEAD] for name in names]
        self.by_symbol = [read_symbol(name) for name in names]
        self.by_amount = _amount_findings(evidence)
        self.by_price = _price_findings(evidence)

    def judged(self) -> dict[int, tuple[Finding, ...]]:
        """Return the findings, by case, of all cases that anything may speak against."""
        known, denied = self.directory.names.keys(), self.directory.denied
        readings = zip(self.names, self.by_symbol, strict=True)
        symbols = [bool(read) or not known.isdisjoint(skeletons(name)) for name, read in readings]
        tokens = [place in self.by_amount or key in denied for place, key in enumerate(self.keys)]
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


def _read_lists(allow: TokensLike | None, deny: TokensLike | None, threshold: float) -> Directory:
    """Read what a caller knows of tokens, and refuse a threshold that is none."""
    if not 0 < threshold <= 1:
        hint = "it is a score: above 0 and at most 1"
        raise SettingsError(f"threshold is {threshold!r}", hint=hint)
    return make_directory(allow, deny)


def _amount_findings(evidence: Evidence) -> dict[int, tuple[Finding, ...]]:
    """Find tokens with balances that nobody has, and supplies that no honest token needs."""
    exact, codes = evidence.amounts, evidence.tokens.codes
    one, count = 10**exact.scale, len(evidence.tokens.keys)
    absurd = np.unique(codes[evidence.absurd]).tolist()
    found: dict[int, tuple[Finding, ...]] = dict.fromkeys(absurd, (_ABSURD_BALANCE,))
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
    chains, _ = factorized(np.array([key[0] for key in tokens.keys], dtype=object))
    covered = np.bincount(chains[priced], minlength=len(found) + 1)[chains] > 0
    found[covered] = _UNPRICED
    found[priced] = _PRICED
    return found


def flags_on_disk(
    held: InBlocks,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float = THRESHOLD,
    dropped: bool = False,
) -> tuple[dict[Any, tuple[float, str]], dict[int, tuple[float, str]], Codes]:
    """Find what `flag_spam` does; mention how much that is, if it is to be dropped.

    Scores and reasons are by known token and symbol, or by the row of an unknown token. The last
    are the places of all rows of unknown tokens.
    """
    directory = _read_lists(allow, deny, threshold)
    evidence, places, balances = _evidence_of_blocks(held)
    cases = _Cases(directory, evidence)
    judged, codes = cases.judged().items(), cases.codes
    found = {case: (score(findings), words(findings)) for case, findings in judged}
    rows = np.flatnonzero(np.isin(codes, [*found]))
    tokens, symbols = evidence.tokens, evidence.holdings["symbol"].astype(object)
    symbols = symbols.where(symbols.notna(), None)
    unknown = tokens.unknown[tokens.codes]
    of = {
        (tokens.keys[tokens.codes[row]], symbols[row]): found[codes[row]]
        for row in rows[~unknown[rows]].tolist()
    }
    of_rows = {int(places[row]): found[codes[row]] for row in rows[unknown[rows]].tolist()}
    if dropped:
        spam = rows[[found[code][0] >= threshold for code in codes[rows].tolist()]]
        _say_left_out(int(balances[spam].sum()), len(np.unique(tokens.codes[spam])))
    return of, of_rows, places[unknown]
