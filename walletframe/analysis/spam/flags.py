"""Flags for every row of holdings, and what they are based on, token by token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.analysis.spam.cases import find_cases
from walletframe.analysis.spam.directory import make_directory
from walletframe.analysis.spam.reasons import score, words
from walletframe.errors import SettingsError
from walletframe.frames import find_token

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
       spam_score           spam_reasons  is_spam
    0         1.0  domain, claim, phrase     True
    1         0.0                           False
    """
    if not 0 < threshold <= 1:
        raise SettingsError(
            f"threshold is {threshold!r}", hint="it is a score: above 0 and at most 1"
        )
    directory, cases = make_directory(allow, deny), find_cases(holdings)
    scores = np.zeros(len(cases.tokens))
    reasons = np.full(len(cases.tokens), "", dtype=object)
    for place in cases.suspects(directory):
        findings = cases.findings(place, directory)
        scores[place], reasons[place] = score(findings), words(findings)
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
    """
    flagged = flag_spam(holdings, allow=allow, deny=deny, threshold=threshold)
    return holdings[~flagged["is_spam"].to_numpy()]


def explain_spam(
    holdings: pd.DataFrame,
    token: TokenLike | None = None,
    *,
    allow: TokensLike | None = None,
    deny: TokensLike | None = None,
) -> pd.DataFrame:
    """Say token by token what `flag_spam` found, in words for a person.

    Parameters
    ----------
    holdings : DataFrame
        n rows of holdings, the same as given to `flag_spam`: the amounts of all wallets count.
    token : str or (str, str or None), optional
        One token only: (blockchain, contract), or an unambiguous symbol.
    allow, deny : str, Path, mapping, DataFrame or iterable of (str, str or None), optional
        As in `flag_spam`.

    Returns
    -------
    DataFrame
        One row for each finding: ``symbol``, ``token_blockchain`` and ``token_address`` as in the
        holdings, ``reason`` (str), ``weight`` (float64; 0 for what speaks for a token) and
        ``text`` (str). Tokens in the order of their first row, the heaviest reason first; no rows
        for a token of which nothing was found.

    Raises
    ------
    UnknownTokenError, AmbiguousTokenError
        Where the token is not one of the holdings.
    TokenListError, ColumnsError, AmountError
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
    >>> explain_spam(frame, "USDC")["text"].item()
    'it bears the symbol "USDC", which belongs to 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48 on ETH'
    """
    directory, cases = make_directory(allow, deny), find_cases(holdings)
    asked = np.ones(len(holdings), dtype=bool) if token is None else find_token(holdings, token)
    places, rows = np.unique(cases.codes[asked], return_index=True)
    whose = holdings.loc[asked, _WHOSE].iloc[rows]
    found = [cases.findings(int(place), directory) for place in places]
    counts = [len(findings) for findings in found]
    told = [finding for findings in found for finding in findings]
    return (
        whose.iloc[np.repeat(np.arange(len(places)), counts)]
        .assign(
            reason=pd.array([finding.reason for finding in told], dtype="str"),
            weight=np.array([finding.weight for finding in told], dtype=float),
            text=pd.array([finding.text for finding in told], dtype="str"),
        )
        .reset_index(drop=True)
    )
