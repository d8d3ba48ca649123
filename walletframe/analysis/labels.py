"""Symbols that several tokens share, and names of tokens that are unique, readable and harmless."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.analysis.positions import text_array
from walletframe.frames import is_unknown, require_columns, token_identities
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from walletframe.analysis.positions import Codes
    from walletframe.frames import Identities, TokenKey

_SYMBOL = 32
_HEAD, _TAIL = 6, 4


def token_labels(holdings: pd.DataFrame) -> pd.Series:
    """Name each row's token by text that is unique, readable and harmless.

    Parameters
    ----------
    holdings : DataFrame, n rows
        With the columns ``symbol``, ``token_blockchain`` and ``token_address``.

    Returns
    -------
    Series, n rows
        str, on the same index, equal for rows of one token and for no others: the symbol where
        no other token has it; else, and where it has a bracket or nothing to see, with the
        blockchain and the contract, shortened as long as that is unique.

    Raises
    ------
    ColumnsError
        Where a column is missing.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {
    ...         "symbol": ["ETH", "USDC", "USDC"],
    ...         "token_blockchain": "ETH",
    ...         "token_address": [None, "0xa0b86991c6218b36c1d1", "0xbad0000000000000beef"],
    ...     }
    ... )
    >>> token_labels(frame).tolist()
    ['ETH', 'USDC (ETH 0xa0b8…c1d1)', 'USDC (ETH 0xbad0…beef)']
    """
    require_columns(holdings, ["symbol"])
    tokens = token_identities(holdings)
    labels = np.array(labels_of(holdings, tokens, np.arange(len(tokens.keys))), dtype=object)
    return pd.Series(text_array(labels[tokens.codes]), index=holdings.index, name="token")


def labels_of(holdings: pd.DataFrame, tokens: Identities, places: Codes) -> list[str]:
    """Name some tokens as `token_labels` does.

    Parameters
    ----------
    holdings : DataFrame
        With the column ``symbol``.
    tokens : Identities
        Of its rows.
    places : ndarray of intp, shape (m,)
        The places of the tokens to name.

    Returns
    -------
    list of m str
        Their names.
    """
    symbols = holdings["symbol"].array.take(tokens.first)
    codes, distinct = pd.factorize(symbols, use_na_sentinel=False)
    shown_as = [shown(each, _SYMBOL) if isinstance(each, str) else "" for each in distinct]
    name_codes, names = pd.factorize(np.array(shown_as, dtype=object))
    names_of = name_codes[codes]
    alone = np.bincount(names_of, minlength=1) == 1
    namesakes = np.flatnonzero(np.isin(names_of, names_of[places]))
    parts = [(names[code], code) for code in names_of[namesakes]]
    keys = [tokens.keys[place] for place in namesakes]
    labels = [
        name if alone[code] and name and "(" not in name else _qualified(name, key, whole=False)
        for (name, code), key in zip(parts, keys, strict=True)
    ]
    counts = Counter(labels)
    unique = _distinct(
        label if counts[label] == 1 else _qualified(name, key, whole=True)
        for label, (name, _), key in zip(labels, parts, keys, strict=True)
    )
    found = dict(zip(namesakes, unique, strict=True))
    return [found[place] for place in places]


def _qualified(name: str, key: TokenKey, *, whole: bool) -> str:
    chain, contract = key
    if is_unknown(key):
        return f"{name} (unknown token)".lstrip()
    if contract is None:
        return f"{name} ({shown(chain)} native coin)".lstrip()
    text = shown(contract, 600)
    if not whole and len(text) > _HEAD + _TAIL + 3:
        text = f"{text[:_HEAD]}…{text[-_TAIL:]}"
    return f"{name} ({shown(chain)} {text})".lstrip()


def _distinct(labels: Iterable[str]) -> list[str]:
    """Tell apart by numbers what hostile text has made equal all the same."""
    taken: dict[str, None] = {}
    for label in labels:
        free, number = label, 2
        while free in taken:
            free, number = f"{label} #{number}", number + 1
        taken[free] = None
    return list(taken)


def shared_symbols(holdings: pd.DataFrame, tokens: Identities) -> dict[str, list[TokenKey]]:
    """Find the symbols that several tokens share.

    Parameters
    ----------
    holdings : DataFrame
        With the column ``symbol``.
    tokens : Identities
        Of its rows.

    Returns
    -------
    dict of str to list of (str, str or None)
        For each such symbol its tokens, in the order of the first row; unknown ones don't count.
    """
    codes, symbols = pd.factorize(holdings["symbol"].array)
    wide = len(tokens.keys) + 1
    nameless = np.array([is_unknown(key) for key in tokens.keys], dtype=bool)
    rows = (codes >= 0) & ~nameless[tokens.codes]
    pairs = pd.unique(codes[rows] * wide + tokens.codes[rows])
    named, bearers = np.divmod(pairs, wide)
    shared = (np.bincount(named, minlength=len(symbols)) > 1)[named]
    found: dict[str, list[TokenKey]] = {}
    for name, bearer in zip(named[shared], bearers[shared], strict=True):
        found.setdefault(str(symbols[name]), []).append(tokens.keys[bearer])
    return found
