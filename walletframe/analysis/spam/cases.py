"""Tokens and the symbols under which they appear: each such pair is one case, judged once.

In this order: what settles the matter (the caller's lists, the known tokens, a native coin); for
all others what the symbol gives away, what the amounts give away, and whose symbol it is; beside
any of these, whether the service gives a price.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.analysis.spam.balances import heavy_tokens
from walletframe.analysis.spam.quotes import quotes
from walletframe.analysis.spam.reasons import BAIT, Finding, in_order
from walletframe.analysis.spam.symbols import read_symbol
from walletframe.frames import require_columns, token_identities
from walletframe.numerals import many

if TYPE_CHECKING:
    from walletframe.analysis.spam.directory import Directory
    from walletframe.frames import TokenKey

_NEEDED = ("symbol", "token_blockchain", "token_address", "amount", "raw_amount")
_CROWD = 3
_CHANCE = 500  # so many tokens have one more under the same symbol by chance


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of a frame, and what was found out about their tokens and symbols.

    Attributes
    ----------
    codes : ndarray of intp
        The case of each row.
    tokens, symbols : ndarray of intp
        For each case the place of its token among `keys`, and of its symbol among `names`.
    keys : list of (str, str or None)
        The tokens, canonical.
    names : list of str
        The symbols as sent.
    readings : list of tuple of Finding
        For each symbol, what it gives away.
    heavy : dict of int to tuple of Finding
        For some tokens, what their amounts give away.
    quotes : ndarray of object
        For each token ``priced``, ``unpriced`` or None: what the service's prices say of it.
    """

    codes: np.ndarray
    tokens: np.ndarray
    symbols: np.ndarray
    keys: list[TokenKey]
    names: list[str]
    readings: list[tuple[Finding, ...]]
    heavy: dict[int, tuple[Finding, ...]]
    quotes: np.ndarray

    def judged(self, directory: Directory) -> dict[int, tuple[Finding, ...]]:
        """Return what is found out about the cases that anything may speak against.

        Parameters
        ----------
        directory : Directory
            What is known of tokens.

        Returns
        -------
        dict of int to tuple of Finding
            By case; nothing speaks against any other.
        """
        symbols = [
            bool(reading) or directory.is_borrowed(name)
            for name, reading in zip(self.names, self.readings, strict=True)
        ]
        tokens = [
            place in self.heavy or key in directory.denied for place, key in enumerate(self.keys)
        ]
        suspects = np.array(symbols)[self.symbols] | np.array(tokens, dtype=bool)[self.tokens]
        found = {case: self.findings(case, directory) for case in np.flatnonzero(suspects).tolist()}
        return found | self._crowded(found)

    def findings(self, case: int, directory: Directory) -> tuple[Finding, ...]:
        """Return what is found out about a case, whatever the others are.

        Parameters
        ----------
        case : int
            Which.
        directory : Directory
            What is known of tokens.

        Returns
        -------
        tuple of Finding
            Each reason at most once, the heaviest first.
        """
        token, symbol = int(self.tokens[case]), int(self.symbols[case])
        standing = directory.standing(self.keys[token])
        if standing:
            return (standing,)
        found = [
            *self.readings[symbol],
            *self.heavy.get(token, ()),
            *directory.imitations(self.keys[token], self.names[symbol]),
        ]
        return in_order([*found, *self._quote(token, found)])

    def _quote(self, token: int, found: list[Finding]) -> list[Finding]:
        quote: Finding | None = self.quotes[token]
        if quote is None or not any(finding.weight for finding in found):
            return []
        believed = quote.weight > 0 or BAIT.isdisjoint(finding.reason for finding in found)
        return [quote] if believed else []

    def _crowded(self, found: dict[int, tuple[Finding, ...]]) -> dict[int, tuple[Finding, ...]]:
        """Add to the findings of tokens that borrow one symbol, where that is what many do."""
        least = max(_CROWD, len(self.keys) // _CHANCE)
        crowds: dict[tuple[str, ...], list[int]] = {}
        for case, findings in found.items():
            for finding in findings:
                if finding.reason == "borrowed":
                    crowds.setdefault(finding.details, []).append(case)
        return {
            case: in_order([*found[case], Finding("crowd", (many(count, "contract"), *details))])
            for details, cases in crowds.items()
            if (count := len(np.unique(self.tokens[cases]))) >= least
            for case in cases
        }


def find_cases(holdings: pd.DataFrame) -> Cases:
    """Tell the cases of a frame.

    Parameters
    ----------
    holdings : DataFrame
        n rows of holdings.

    Returns
    -------
    Cases
        In the order of their first rows.

    Raises
    ------
    ColumnsError
        Where a column is missing.
    AmountError
        Where ``amount`` holds no amounts.
    """
    require_columns(holdings, _NEEDED)
    tokens = token_identities(holdings)
    symbol_codes, symbols = pd.factorize(holdings["symbol"].array)
    names = [*map(str, symbols.tolist()), ""]  # the code of a missing symbol is -1
    codes, pairs = pd.factorize(tokens.codes * len(names) + symbol_codes % len(names))
    token_places, symbol_places = np.divmod(pairs, len(names))
    return Cases(
        codes,
        token_places,
        symbol_places,
        tokens.keys,
        names,
        [read_symbol(name) for name in names],
        heavy_tokens(holdings, tokens.codes, len(tokens.keys)),
        quotes(holdings, tokens),
    )
