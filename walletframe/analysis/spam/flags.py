"""Spam flags of holdings. Each distinct pair of a token and a symbol is scored once."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.amounts.integers import ExactAmounts
from walletframe.amounts.sums import AmountsWithGroups, group_totals, positive_mask
from walletframe.analysis.chunked import GroupSpec, aggregate_chunks
from walletframe.analysis.spam.directory import make_token_directory
from walletframe.analysis.spam.reasons import BAIT, Finding, join_reasons, last_per_reason, score
from walletframe.analysis.spam.symbols import MAX_SYMBOL_LENGTH, symbol_findings
from walletframe.errors import SettingsError, SpamWarning
from walletframe.frames.coverage import (
    applied_filters,
    count_and_value_text,
    drop_rows,
    with_filters,
)
from walletframe.frames.identity import TOKEN, KeyCodes, encode_tokens, first_rows
from walletframe.frames.lookups import SpamFlags
from walletframe.frames.names import mask_of_token
from walletframe.frames.schema import amounts_of, require_columns
from walletframe.notice import warn_never_raise
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import TEXT, factorize
from walletframe.settings.tables import table_defaults

if TYPE_CHECKING:
    from walletframe.amounts import AmountArray
    from walletframe.amounts.integers import Floats
    from walletframe.analysis.chunked import ChunkedHoldings
    from walletframe.analysis.spam.directory import TokenDirectory
    from walletframe.analysis.token_lists import TokensLike
    from walletframe.frames.identity import Codes, Mask
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions

THRESHOLD = 0.5
_TOKEN_COLUMNS = ["symbol", "token_blockchain", "token_address"]

_MIN_CROWD = 3
_TOKENS_PER_COINCIDENCE = 500  # one token in this many may share a symbol by chance
_EXTREME_AMOUNT = 10**15
_COLUMNS = ("symbol", "token_blockchain", "token_address", "amount", "raw_amount")
_ABSURD, _ABSURD_DIGITS = 10**18, 60  # limits of the amount, and of the raw amount's digits
_ABSURD_BALANCE, _EXTREME_SUPPLY = Finding("absurd_balance"), Finding("extreme_supply")
_PRICED, _UNPRICED = Finding("priced"), Finding("unpriced")


def flag_spam(
    holdings: pd.DataFrame,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float = THRESHOLD,
) -> pd.DataFrame:
    """Add a spam score and its reasons to each row. No row is dropped.

    Parameters
    ----------
    allow : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        Tokens that are never spam, in one of these forms:

        - the path of a file in the Uniswap token-list format, or its parsed content;
        - a DataFrame with ``token_blockchain``, ``token_address`` and optionally ``symbol``, such
          as a table of `explain_spam`, or the path of a CSV file with these columns;
        - an iterable of pairs (blockchain, contract).

        Another contract with the symbol of an allowed token on its blockchain is an imitation.
    deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        Tokens that are always spam, in the same forms.
    threshold : float, default 0.5
        The lowest score that counts as spam.

    Returns
    -------
    DataFrame, or WalletDetails of a fetch
        The same rows with three more columns. Rows with the same token and symbol have the same
        values in these columns:

        - ``spam_score`` (float64): the score, from 0 to 1;
        - ``spam_reasons`` (str): the names of the reasons in descending order of weight, separated
          by ``", "``; empty without reasons. Names don't change between versions;
        - ``is_spam`` (bool): whether the score is at least the threshold.

    Raises
    ------
    TokenListError, OSError
        If a list or its file can't be read, or if a token is on both lists.
    ColumnsError, AmountError, SettingsError
        If a column is missing, ``amount`` has the wrong dtype, or `threshold` is not in (0, 1].

    Notes
    -----
    The score is the sum of the reasons' weights, clipped to the range from 0 to 1. `explain_spam`
    lists reasons and weights. The score of known tokens, allowed tokens and native coins is 0. The
    score of denied tokens is 1. No requests are sent. Worthless tokens with ordinary names score 0.

    A price only changes the score of a token with other reasons. It lowers this score, unless the
    symbol contains a link, a claim or misleading characters. A missing price slightly raises this
    score if the service has prices for the blockchain. Pass all rows, since scores depend on them.

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
    suspects, scores, codes = _score_pairs(holdings, _read_token_directory(allow, deny, threshold))
    reasons = np.full(len(scores), "", dtype=object)
    reasons[[*suspects]] = [*map(join_reasons, suspects.values())]
    texts, scores = pd.array(reasons, dtype=TEXT).take(codes), scores[codes]
    return holdings.assign(spam_score=scores, spam_reasons=texts, is_spam=scores >= threshold)


def ensure_spam_columns(holdings: pd.DataFrame) -> pd.DataFrame:
    """Return holdings with the columns `is_spam` and `spam_reasons`."""
    stated = _stated_spam_mask(holdings)
    if stated is None:
        return flag_spam(holdings)
    return holdings.assign(is_spam=stated, spam_reasons=holdings.get("spam_reasons", ""))


def spam_mask(holdings: pd.DataFrame, tokens: KeyCodes | None = None, **options: Any) -> Mask:
    """Return a mask of spam. If options are given or no spam is marked or dropped, detect it."""
    stated = _stated_spam_mask(holdings, *options.values())
    if stated is None:
        _, scores, codes = _score_pairs(holdings, _read_token_directory(**options), tokens)
        stated = (scores >= (options.get("threshold") or THRESHOLD))[codes]
    return stated


def _stated_spam_mask(holdings: pd.DataFrame, *options: object) -> Mask | None:
    if any(option is not None for option in options):
        return None
    if "is_spam" in holdings:
        return holdings["is_spam"].astype("boolean").to_numpy(dtype=bool, na_value=False)
    was_dropped = any(kind == "spam" for kind, *_ in applied_filters(holdings, len(holdings)))
    return np.zeros(len(holdings), dtype=bool) if was_dropped else None


def _score_pairs(
    holdings: pd.DataFrame, directory: TokenDirectory, tokens: KeyCodes | None = None
) -> tuple[dict[int, tuple[Finding, ...]], Floats, Codes]:
    pairs = _TokenSymbolPairs(directory, _collect_evidence(holdings, tokens))
    suspects, scores = pairs.findings_by_suspect_pair(), np.zeros(len(pairs.tokens))
    scores[[*suspects]] = [*map(score, suspects.values())]
    return suspects, scores, pairs.codes


def without_spam(
    holdings: pd.DataFrame,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Return the rows that are not spam.

    The column ``is_spam`` marks spam. If this column is missing, or if you pass options, spam is
    detected as in `flag_spam`. Reports, the explorer and `where` don't detect spam in the result
    again, unless you first filter the result with pandas.

    Parameters
    ----------
    allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        Tokens that are never spam, and tokens that are always spam, as in `flag_spam`.
    threshold : float, optional
        The lowest score that counts as spam. The default is 0.5.

    Returns
    -------
    DataFrame, or WalletDetails of a fetch
        The rows that are not spam, in the same order, with the original index.

    Raises
    ------
    TokenListError, OSError
        If a list or its file can't be read, or if a token is on both lists.
    ColumnsError, AmountError, SettingsError
        If a column is missing, ``amount`` has the wrong dtype, or `threshold` is not in (0, 1].

    Warns
    -----
    SpamWarning
        If rows are dropped. The warning states the number of rows and tokens. It never becomes an
        error, even with ``warnings.simplefilter("error")``.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"symbol": ["FOO"], "token_blockchain": "ETH",
    ...     "token_address": ["0xcd"], "amount": pd.array(["5"], dtype="amount"),
    ...     "raw_amount": ["5"]})
    >>> frame.wf.without_spam().symbol.tolist()
    ['FOO']
    """
    tokens = encode_tokens(holdings)
    suspect = spam_mask(holdings, tokens, allow=allow, deny=deny, threshold=threshold)
    _warn_about_spam(int(suspect.sum()), len(np.unique(tokens.codes[suspect])))
    return drop_rows(holdings, ~suspect, {"spam": (suspect, "")})


def _warn_about_spam(rows: int, tokens: int) -> None:
    if rows:
        verbs = "looks like spam and is" if rows == 1 else "look like spam and are"
        counts = f"{counted_noun(rows, 'row')} of {counted_noun(tokens, 'token')}"
        warn_never_raise(f"{counts} {verbs} left out; explain_spam() shows why", SpamWarning)


def explain_spam(
    holdings: pd.DataFrame | ChunkedHoldings,
    token: TokenLike | None = None,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
    threshold: float | None = None,
    everything: bool = False,
) -> pd.DataFrame:
    """List and explain the reasons for each token's spam score.

    Parameters
    ----------
    token : str or (str, str or None), optional
        The only token to explain, even if it is not spam: an unambiguous symbol, or a pair
        (blockchain, contract).
    allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        Tokens that are never spam, and tokens that are always spam, as in `flag_spam`.
    threshold : float, optional
        The lowest score that counts as spam. The default is 0.5.
    everything : bool, default False
        Whether to include tokens that have reasons, but are not spam.

    Returns
    -------
    DataFrame
        One row for each reason of each token, by descending score and weight. The columns are:

        - ``symbol``, ``token_blockchain`` and ``token_address`` (str): the token;
        - ``spam_score`` (float64): the token's score in `flag_spam`;
        - ``is_spam`` (bool): whether `without_spam` drops the token;
        - ``reason`` (str): the name of the reason;
        - ``weight`` (float64): its weight; reasons against spam have 0 or less;
        - ``text`` (str): the explanation.

    Raises
    ------
    UnknownTokenError, AmbiguousTokenError
        If no row has the token, or if several tokens share the symbol.
    TokenListError, OSError
        If a list or its file can't be read, or if a token is on both lists.
    ColumnsError, AmountError, SettingsError
        If a column is missing, ``amount`` has the wrong dtype, or `threshold` is not in (0, 1].

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> frame = pd.DataFrame({"symbol": ["Visit usdcgift.com to claim"],
    ...     "token_blockchain": "ETH", "token_address": ["0xab"],
    ...     "amount": pd.array(["1000"], dtype="amount"), "raw_amount": ["1000"]})
    >>> frame.wf.explain_spam().reason.iloc[0]
    'domain'
    """
    directory = _read_token_directory(allow, deny, threshold)
    if isinstance(holdings, pd.DataFrame):
        evidence = _collect_evidence(holdings)
    else:
        evidence, *_ = _evidence_first_rows_and_counts(holdings)
    pairs, rows = _TokenSymbolPairs(directory, evidence), evidence.holdings
    chosen = np.ones(len(rows), dtype=bool) if token is None else mask_of_token(rows, token)
    codes, first = np.unique(pairs.codes[chosen], return_index=True)
    tokens = rows.loc[chosen, _TOKEN_COLUMNS].iloc[first]
    suspects = pairs.findings_by_suspect_pair()
    found = [suspects.get(pair) or pairs.findings_about(pair) for pair in codes.tolist()]
    scores = np.array([score(findings) for findings in found], dtype=float)
    stated = _stated_spam_mask(rows, allow, deny, threshold)
    is_spam = scores >= (threshold or THRESHOLD)
    if stated is not None:
        is_spam = np.isin(codes, pairs.codes[stated])
    ranked = np.argsort(-scores, kind="stable")
    if token is None and not everything:
        ranked = ranked[is_spam[ranked]]
    findings = [finding for index in ranked.tolist() for finding in found[index]]
    repeated = np.array([index for index in ranked.tolist() for _ in found[index]], dtype=np.intp)
    explained = tokens.iloc[repeated].reset_index(drop=True)
    return explained.assign(
        spam_score=scores[repeated],
        is_spam=is_spam[repeated],
        reason=pd.array([finding.reason for finding in findings], dtype=TEXT),
        weight=np.array([finding.weight for finding in findings], dtype=float),
        text=pd.array([finding.text for finding in findings], dtype=TEXT),
    )


class SpamEvidence(NamedTuple):
    """The facts about each row that spam detection needs."""

    holdings: pd.DataFrame
    tokens: KeyCodes
    amounts: ExactAmounts  # the amount of each row, or the sum if equal rows were merged
    is_absurd: Mask  # whether the balance is impossibly large
    is_priced: Mask  # whether the service has a price


def _collect_evidence(holdings: pd.DataFrame, tokens: KeyCodes | None = None) -> SpamEvidence:
    require_columns(holdings, _COLUMNS)
    tokens, amounts = tokens or encode_tokens(holdings), amounts_of(holdings["amount"])
    absurd = _absurd_amounts_mask(holdings, amounts)
    return SpamEvidence(holdings, tokens, amounts.exact(), absurd, _priced_mask(holdings))


def _evidence_first_rows_and_counts(source: ChunkedHoldings) -> tuple[SpamEvidence, Codes, Codes]:
    require_columns(source.template.holdings, _COLUMNS)
    names = ["raw_amount", "price", "is_spam"]
    [(chunk, groups, totals)] = aggregate_chunks(source, [_BY_EVIDENCE], names)
    first = first_rows(groups.codes, len(groups))
    holdings = chunk.positions.holdings.iloc[first].reset_index(drop=True)
    if totals.value_totals:
        sums, sizes = totals.value_totals.totals.sums(), totals.value_totals.totals.sizes
        holdings = holdings.assign(
            value=np.where(sizes, sums, np.nan), currency=holdings["_currency"]
        )
    known: Any = totals.units, totals.known_counts == 0, totals.scale
    bits, tokens = holdings["_bits"].to_numpy(), chunk.positions.tokens.take(first)
    if "is_spam" in source.template.holdings:
        holdings = holdings.assign(is_spam=bits & 4 > 0)
    filters = applied_filters(source.template.holdings, int(totals.balances.sum()))
    holdings = with_filters(holdings, filters, len(holdings))
    evidence = SpamEvidence(holdings, tokens, ExactAmounts(*known), bits & 1 > 0, bits & 2 > 0)
    return evidence, chunk.rows[first], totals.balances


def _evidence_columns(positions: Positions) -> pd.DataFrame:
    holdings = positions.holdings
    bits = _absurd_amounts_mask(holdings, positions.amounts) + np.int8(2) * _priced_mask(holdings)
    if "is_spam" in holdings:
        bits += np.int8(4) * spam_mask(holdings)
    columns = holdings[[*TOKEN, *holdings.columns.intersection(["value"])]]
    # A column named "currency" with several currencies would raise an error.
    columns = columns.assign(_currency=holdings.get("currency"))
    return columns.assign(_bits=pd.Categorical.from_codes(bits, pd.RangeIndex(8)))


_BY_EVIDENCE = GroupSpec(["token", "symbol", "_bits", "_currency"], key_columns=_evidence_columns)


def _absurd_amounts_mask(holdings: pd.DataFrame, amounts: AmountArray) -> Mask:
    digits = holdings["raw_amount"].astype(TEXT).str.len().to_numpy(dtype=float, na_value=0)
    large = positive_mask(amounts._amounts(), _ABSURD)  # noqa: SLF001 - our own class
    return np.asarray(large | (digits >= _ABSURD_DIGITS))


def _priced_mask(holdings: pd.DataFrame) -> Mask:
    if "price" not in holdings.columns:
        return np.zeros(len(holdings), dtype=bool)
    prices = pd.to_numeric(holdings["price"], errors="coerce").to_numpy(float, na_value=np.nan)
    return np.asarray(prices > 0)


class _TokenSymbolPairs:
    """The distinct pairs of a token and a symbol, sorted by first row."""

    def __init__(self, directory: TokenDirectory, evidence: SpamEvidence) -> None:
        symbol_codes, symbols = factorize(evidence.holdings["symbol"])
        names = [*map(str, symbols.tolist()), ""]  # the code of a missing symbol is -1
        numbers = evidence.tokens.codes * len(names) + symbol_codes % len(names)
        self.codes, pairs = pd.factorize(numbers)  # the index of each row's pair
        # For each pair, the index of its token in `keys` and the index of its symbol in `names`.
        self.tokens, self.symbols = np.divmod(pairs, len(names))
        self.directory, self.keys = directory, evidence.tokens.keys
        self.names = [name[:MAX_SYMBOL_LENGTH] for name in names]
        self.by_symbol = [symbol_findings(name) for name in names]
        self.known_skeletons = [directory.known_skeletons(name) for name in self.names]
        self.by_token = _amount_findings_by_token(evidence)
        self.by_price = _price_finding_by_token(evidence)

    def findings_by_suspect_pair(self) -> dict[int, tuple[Finding, ...]]:
        denied = self.directory.denied
        symbols = [*map(any, zip(self.by_symbol, self.known_skeletons, strict=True))]
        tokens = [code in self.by_token or key in denied for code, key in enumerate(self.keys)]
        suspects = np.array(symbols)[self.symbols] | np.array(tokens, dtype=bool)[self.tokens]
        by_pair = {pair: self.findings_about(pair) for pair in np.flatnonzero(suspects).tolist()}
        borrowers = defaultdict(list)
        for pair, findings in by_pair.items():
            for finding in findings:
                if finding.reason == "borrowed":
                    borrowers[finding.details].append(pair)
        for details, pairs in borrowers.items():
            count = len(np.unique(self.tokens[pairs]))
            if count >= max(_MIN_CROWD, len(self.keys) // _TOKENS_PER_COINCIDENCE):
                crowd = Finding("crowd", (counted_noun(count, "contract"), *details))
                by_pair |= {pair: last_per_reason([*by_pair[pair], crowd]) for pair in pairs}
        return by_pair

    def findings_about(self, pair: int) -> tuple[Finding, ...]:
        token, symbol = self.tokens.item(pair), self.symbols.item(pair)
        conclusive = self.directory.conclusive_finding(self.keys[token])
        if conclusive:
            return (conclusive,)
        findings = [
            *self.by_symbol[symbol],
            *self.by_token.get(token, ()),
            *self.directory.imitation_findings(
                self.keys[token], self.names[symbol], self.known_skeletons[symbol]
            ),
        ]
        # A price or a missing price counts only if there are other findings.
        price, reasons = self.by_price[token], {each.reason for each in findings if each.weight}
        if price and reasons and (price is _UNPRICED or BAIT.isdisjoint(reasons)):
            findings.append(price)
        return last_per_reason(findings)


def _read_token_directory(
    allow: TokensLike | None = None, deny: TokensLike | None = None, threshold: float | None = None
) -> TokenDirectory:
    if threshold is not None and not 0 < threshold <= 1:
        hint = "pass a score above 0 and up to 1, such as threshold=0.5"
        raise SettingsError(f"threshold={threshold!r} is not valid", hint=hint)
    tables = table_defaults()
    return make_token_directory(
        tables.spam_allow if allow is None else allow, tables.spam_deny if deny is None else deny
    )


def _amount_findings_by_token(evidence: SpamEvidence) -> dict[int, tuple[Finding, ...]]:
    exact, codes = evidence.amounts, evidence.tokens.codes
    limit, count = _EXTREME_AMOUNT * 10**exact.scale, len(evidence.tokens.keys)
    absurd = np.unique(codes[evidence.is_absurd]).tolist()
    findings: dict[int, tuple[Finding, ...]] = dict.fromkeys(absurd, (_ABSURD_BALANCE,))
    # A sum of n amounts reaches the limit only if one amount is at least 1/n of the limit. Only
    # tokens with such an amount are added up.
    most_rows = max(int(np.bincount(codes, minlength=1).max()), 1)
    large = np.bincount(codes[exact.integers >= limit // most_rows], minlength=count) > 0
    supplies = group_totals(AmountsWithGroups(exact, np.where(large[codes], codes, -1), count))
    for code in np.flatnonzero(supplies >= limit).tolist():
        findings[code] = (*findings.get(code, ()), _EXTREME_SUPPLY)
    return findings


def _price_finding_by_token(evidence: SpamEvidence) -> list[Finding | None]:
    tokens = evidence.tokens
    findings = np.full(len(tokens.keys), None, dtype=object)
    priced = np.bincount(tokens.codes[evidence.is_priced], minlength=len(findings)) > 0
    chains, _ = factorize(np.array([key[0] for key in tokens.keys], dtype=object))
    covered = np.bincount(chains[priced], minlength=len(findings) + 1)[chains] > 0
    findings[covered] = _UNPRICED
    findings[priced] = _PRICED
    return findings.tolist()


def flags_and_unknown_token_positions(
    source: ChunkedHoldings, *, drop_spam: bool, **options: Any
) -> tuple[SpamFlags, Codes]:
    """Return the flags of suspect tokens, and the positions of rows with an unknown token."""
    directory, threshold = _read_token_directory(**options), options["threshold"] or THRESHOLD
    evidence, positions, balances = _evidence_first_rows_and_counts(source)
    pairs = _TokenSymbolPairs(directory, evidence)
    suspects, codes = pairs.findings_by_suspect_pair().items(), pairs.codes
    flags = {pair: (score(findings), join_reasons(findings)) for pair, findings in suspects}
    stated = _stated_spam_mask(evidence.holdings, *options.values()) if drop_spam else None
    if stated is not None:
        flags = dict.fromkeys(codes[stated].tolist(), (1.0, ""))
    rows = np.flatnonzero(np.isin(codes, [*flags]))
    tokens, symbols = evidence.tokens, evidence.holdings["symbol"].astype(object)
    symbols = symbols.where(symbols.notna(), None)
    unknown = tokens.unknown[tokens.codes]
    by_token = {
        (tokens.keys[tokens.codes[row]], symbols[row]): flags[codes[row]]
        for row in rows[~unknown[rows]].tolist()
    }
    by_row = {int(positions[row]): flags[codes[row]] for row in rows[unknown[rows]].tolist()}
    spam = rows[[flags[code][0] >= threshold for code in codes[rows].tolist()]]
    spam = spam if stated is None else np.flatnonzero(stated)
    total, count = int(balances.sum()), int(balances[spam].sum())
    text = count_and_value_text(count, "spam balance", evidence.holdings.iloc[spam])
    filters = [*applied_filters(source.template.holdings, total), ("spam", count, text)]
    dropped = {"rows": total - count, "filters": filters}
    if drop_spam:
        _warn_about_spam(count, len(np.unique(tokens.codes[spam])))
    by_column = stated is not None and "is_spam" in evidence.holdings
    return SpamFlags(by_token, by_row, threshold, dropped, by_column), positions[unknown]
