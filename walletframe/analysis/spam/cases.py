"""Tokens and the symbols under which they appear: each such pair is one case, judged once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from walletframe.analysis.spam.reasons import BAIT, Finding, in_order
from walletframe.analysis.spam.symbols import HEAD, read_symbol
from walletframe.frames import amounts_of, require_columns, token_identities
from walletframe.numerals import many

if TYPE_CHECKING:
    from walletframe.analysis.spam.directory import Directory
    from walletframe.frames import Identities, TokenKey

_NEEDED = ("symbol", "token_blockchain", "token_address", "amount", "raw_amount")
_CROWD = 3
_CHANCE = 500  # so many tokens have one more under the same symbol by chance
_ABSURD, _ABSURD_DIGITS = 10**18, 60  # whole tokens, and digits in base units
_EXTREME = 10**15
_ABSURD_BALANCE, _EXTREME_SUPPLY = Finding("absurd_balance"), Finding("extreme_supply")
_PRICED, _UNPRICED = Finding("priced"), Finding("unpriced")


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of a frame: `codes` has the case of each row, in the order of their first rows.

    `tokens` and `symbols` have for each case the place among `keys` and among `names`; `by_amount`
    and `by_price` are findings by the place of the token, `by_symbol` by that of the name.
    """

    codes: np.ndarray
    tokens: np.ndarray
    symbols: np.ndarray
    keys: list[TokenKey]
    names: list[str]
    by_symbol: list[tuple[Finding, ...]]
    by_amount: dict[int, tuple[Finding, ...]]
    by_price: np.ndarray

    def judged(self, directory: Directory) -> dict[int, tuple[Finding, ...]]:
        """Return the findings, by case, of all cases that anything may speak against."""
        symbols = [
            bool(reading) or directory.is_borrowed(name)
            for name, reading in zip(self.names, self.by_symbol, strict=True)
        ]
        tokens = [
            place in self.by_amount or key in directory.denied
            for place, key in enumerate(self.keys)
        ]
        suspects = np.array(symbols)[self.symbols] | np.array(tokens, dtype=bool)[self.tokens]
        found = {case: self.findings(case, directory) for case in np.flatnonzero(suspects).tolist()}
        return found | self._crowded(found)

    def findings(self, case: int, directory: Directory) -> tuple[Finding, ...]:
        """Return what is found about a case, in order, whatever the others are.

        A denied, allowed or known token has that finding alone. Any other has what its symbol and
        amounts give away, whose symbol it bears and, beside any of these, what its price says.
        """
        token, symbol = int(self.tokens[case]), int(self.symbols[case])
        standing = directory.standing(self.keys[token])
        if standing:
            return (standing,)
        found = [
            *self.by_symbol[symbol],
            *self.by_amount.get(token, ()),
            *directory.imitations(self.keys[token], self.names[symbol]),
        ]
        return in_order([*found, *self._price_finding(token, found)])

    def _price_finding(self, token: int, found: list[Finding]) -> list[Finding]:
        price: Finding | None = self.by_price[token]
        if price is None or not any(finding.weight for finding in found):
            return []
        believed = price is _UNPRICED or BAIT.isdisjoint(finding.reason for finding in found)
        return [price] if believed else []

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
    """Find the cases of a frame; `ColumnsError` or `AmountError` where it holds no holdings."""
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
        [name[:HEAD] for name in names],
        [read_symbol(name) for name in names],
        _amount_findings(holdings, tokens.codes, len(tokens.keys)),
        _price_findings(holdings, tokens),
    )


def _amount_findings(
    holdings: pd.DataFrame, codes: np.ndarray, count: int
) -> dict[int, tuple[Finding, ...]]:
    """Find tokens with balances that nobody has, and supplies that no honest token needs."""
    amounts = pd.Series(amounts_of(holdings["amount"]))
    digits = holdings["raw_amount"].astype("str").str.len().to_numpy(dtype=float, na_value=0)
    absurd = codes[_true(amounts >= _ABSURD) | (digits >= _ABSURD_DIGITS)]
    found: dict[int, tuple[Finding, ...]] = dict.fromkeys(absurd.tolist(), (_ABSURD_BALANCE,))
    for code in _extreme_tokens(amounts, codes, count):
        found[code] = (*found.get(code, ()), _EXTREME_SUPPLY)
    return found


def _extreme_tokens(amounts: pd.Series, codes: np.ndarray, count: int) -> list[int]:
    """Add up only where a sum can be extreme: not all of its n terms are below an n-th of it."""
    most_rows = max(int(np.bincount(codes, minlength=1).max()), 1)
    large = np.bincount(codes[_true(amounts >= _EXTREME // most_rows)], minlength=count) > 0
    rows = large[codes]
    held = amounts[rows].groupby(codes[rows]).sum()
    extreme: list[int] = held.index[_true(held >= _EXTREME)].tolist()
    return extreme


def _true(found: pd.Series) -> np.ndarray:
    return found.to_numpy(dtype=bool, na_value=False)


def _price_findings(holdings: pd.DataFrame, tokens: Identities) -> np.ndarray:
    """Return for each token `_PRICED`, or `_UNPRICED` where others on its blockchain are, or None.

    A frame without the service's ``price`` says nothing.
    """
    found = np.full(len(tokens.keys), None, dtype=object)
    if "price" not in holdings.columns or not len(holdings):
        return found
    prices = pd.to_numeric(holdings["price"], errors="coerce").to_numpy(float, na_value=np.nan)
    priced = np.zeros(len(found), dtype=bool)
    priced[tokens.codes[prices > 0]] = True
    chains, _ = pd.factorize(np.array([key[0] for key in tokens.keys], dtype=object))
    covered = np.bincount(chains[priced], minlength=len(found) + 1)[chains] > 0
    found[covered] = _UNPRICED
    found[priced] = _PRICED
    return found
