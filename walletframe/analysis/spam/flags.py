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
    """Add what speaks for each row's token being spam; no row is dropped.

    Parameters
    ----------
    holdings : DataFrame
        n rows of holdings.
    allow : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        Tokens that are no spam, whatever they look like: a file in the Uniswap token-list format
        or what was parsed from one, a frame with ``token_blockchain`` and ``token_address``, or
        (blockchain, contract) pairs. Where the list has symbols, another contract that bears one
        of them on the same blockchain counts as an imitation.
    deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        Tokens that are spam, in the same forms.
    threshold : float, default 0.5
        From which score on a token counts as spam.

    Returns
    -------
    DataFrame
        The same rows and columns, and ``spam_score`` (float64, from 0 to 1), ``spam_reasons``
        (str: stable words, the heaviest first, joined by ``", "``; empty where nothing was
        found) and ``is_spam`` (bool). All rows of one token under one symbol have the same.
        Where there is a column ``price``, the service's prices count, too.

    Raises
    ------
    TokenListError
        Where a list can't be read, or a token is on both.
    ColumnsError
        Where the holdings lack a column.
    AmountError
        Where ``amount`` holds no amounts.
    SettingsError
        Where the threshold is not above 0 and at most 1.

    Notes
    -----
    The score is the sum of the weights in `walletframe.analysis.spam.reasons`, at most 1. Known
    tokens and native coins have 0, and so have allowed ones; denied ones have 1. Nothing is
    fetched. What a symbol can't show is not found: a token without value under a plain name.

    A price that the service gives weighs against other findings, but never against a link, a
    claim or a disguise. That it gives none, where it gives one for another token of the
    blockchain, weighs a little beside other findings. Give the frame whole: prices, amounts and
    crowds of equal symbols in all its rows count.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {
    ...         "symbol": ["$ usdcgift.com - Visit to claim", "FOO"],
    ...         "token_blockchain": "ETH",
    ...         "token_address": ["0xab", "0xcd"],
    ...         "amount": pd.array(["1000", "5"], dtype="amount"),
    ...         "raw_amount": ["1000", "5"],
    ...     }
    ... )
    >>> flag_spam(frame)[["spam_score", "spam_reasons", "is_spam"]]
       spam_score                     spam_reasons  is_spam
    0         1.0  domain, claim, foremost, phrase     True
    1         0.0                                     False
    """
    _check_threshold(threshold)
    directory, cases = make_directory(allow, deny), find_cases(holdings)
    scores = np.zeros(len(cases.tokens))
    reasons = np.full(len(cases.tokens), "", dtype=object)
    for case, findings in cases.judged(directory).items():
        scores[case], reasons[case] = score(findings), words(findings)
    return holdings.assign(
        spam_score=scores[cases.codes],
        spam_reasons=pd.array(reasons, dtype="str").take(cases.codes),
        is_spam=scores[cases.codes] >= threshold,
    )


def _check_threshold(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise SettingsError(
            f"threshold is {threshold!r}", hint="it is a score: above 0 and at most 1"
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
    holdings : DataFrame
        n rows of holdings.
    allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        As in `flag_spam`.
    threshold : float, default 0.5
        As in `flag_spam`.

    Returns
    -------
    DataFrame
        At most n rows in their order, with the columns they had.

    Raises
    ------
    TokenListError, ColumnsError, AmountError, SettingsError
        As in `flag_spam`.

    Warns
    -----
    SpamWarning
        Saying how many rows of how many tokens were left out, if any. It never becomes an error,
        whatever the filters of warnings: what was asked for was done.
    """
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
    """Say token by token what `flag_spam` found, in words for a person.

    Parameters
    ----------
    holdings : DataFrame
        n rows of holdings, the same as given to `flag_spam`: the amounts of all wallets count.
    token : str or (str, str or None), optional
        One token only, flagged or not: (blockchain, contract), or an unambiguous symbol.
    allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        As in `flag_spam`.
    threshold : float, default 0.5
        As in `flag_spam`.
    everything : bool, default False
        Tell of tokens that are not flagged, too, where anything was found of them.

    Returns
    -------
    DataFrame
        One row for each finding: ``symbol``, ``token_blockchain`` and ``token_address`` as in the
        holdings, ``spam_score`` (float64) and ``is_spam`` (bool) of the token, ``reason`` (str),
        ``weight`` (float64; 0 or less for what speaks for a token) and ``text`` (str). The tokens
        with the highest score first, of each the heaviest reason first.

    Raises
    ------
    UnknownTokenError, AmbiguousTokenError
        Where the token is not one of the holdings.
    TokenListError, ColumnsError, AmountError, SettingsError
        As in `flag_spam`.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {
    ...         "symbol": ["USDC"],
    ...         "token_blockchain": "ETH",
    ...         "token_address": ["0xab"],
    ...         "amount": pd.array(["1000"], dtype="amount"),
    ...         "raw_amount": ["1000"],
    ...     }
    ... )
    >>> explain_spam(frame)["text"].item()
    'it bears the symbol "USDC", which belongs to 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48 on ETH'
    """
    _check_threshold(threshold)
    directory, cases = make_directory(allow, deny), find_cases(holdings)
    asked = np.ones(len(holdings), dtype=bool) if token is None else find_token(holdings, token)
    places, rows = np.unique(cases.codes[asked], return_index=True)
    whose = holdings.loc[asked, _WHOSE].iloc[rows]
    judged = cases.judged(directory)
    found = [judged.get(int(case)) or cases.findings(int(case), directory) for case in places]
    scores = np.array([score(findings) for findings in found], dtype=float)
    told = np.argsort(-scores, kind="stable")
    if token is None and not everything:
        told = told[scores[told] >= threshold]
    pairs = [(place, finding) for place in told.tolist() for finding in found[place]]
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
