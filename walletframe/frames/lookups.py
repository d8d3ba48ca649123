"""Columns of prices and spam flags, which are looked up by token and symbol.

Rows with the same token and symbol have the same price and flags. The flags of an unknown token are
looked up by row number, since two such rows may have different tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from walletframe.frames import schema
from walletframe.frames.identity import UNKNOWN
from walletframe.pandas_versions import TEXT, factorize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from walletframe.amounts import AmountArray
    from walletframe.amounts.integers import Floats
    from walletframe.frames.identity import Codes, KeyCodes, TokenKey

PRICE_DTYPES: dict[str, object] = {"unit_price": "float64", "value": "float64", "currency": TEXT}
SPAM_DTYPES: dict[str, object] = {"spam_score": "float64", "spam_reasons": TEXT, "is_spam": "bool"}
_NO_FINDING = (0.0, "")


class TokenSymbolPairCodes(NamedTuple):
    """The distinct (token, symbol) pairs of rows, and the code of each row's pair."""

    codes: Codes  # the code of each row's pair
    keys: list[TokenKey]  # the token of each pair (`UNKNOWN` for all unknown tokens)
    symbols: list[str | None]  # the symbol of each pair
    row_numbers: Codes  # in the complete holdings; used only for unknown tokens
    rows: pd.DataFrame


def encode_token_symbol_pairs(
    rows: pd.DataFrame, tokens: KeyCodes, row_numbers: Codes
) -> TokenSymbolPairCodes:
    """Encode the (token, symbol) pair of each row."""
    numbers, symbols = factorize(rows["symbol"], use_na_sentinel=False)
    codes, pairs = pd.factorize(tokens.codes * max(len(symbols), 1) + numbers)
    token_codes, symbol_codes = np.divmod(pairs, max(len(symbols), 1))
    texts = [text if isinstance(text, str) else None for text in symbols]
    keys = tokens.keys_or_unknown
    pair_keys = [keys[code] for code in token_codes.tolist()]
    pair_texts = [texts[code] for code in symbol_codes.tolist()]
    return TokenSymbolPairCodes(codes, pair_keys, pair_texts, row_numbers, rows)


def price_columns(
    prices: Sequence[Floats], amounts: AmountArray, currency: str | None, sources: Sequence[str]
) -> dict[str, Any]:
    """Return the columns that `value` adds. The first source with a price for the row is used."""
    units, indices = prices[0], np.where(np.isnan(prices[0]), -1, 0)
    for source, candidates in enumerate(prices[1:], 1):
        missing = np.isnan(units)
        indices[missing & ~np.isnan(candidates)] = source
        units = np.where(missing, candidates, units)
    currencies = schema.text_array([currency]).repeat(len(units))
    columns = dict(zip(PRICE_DTYPES, (units, amounts * units, currencies), strict=True))
    if sources:
        columns["price_source"] = schema.text_array(sources).take(indices, allow_fill=True)
    return columns


class PriceLookup(NamedTuple):
    """The sources of prices, in order of precedence."""

    prices: Sequence[Mapping[Any, float] | None]  # None for the service's prices
    by_symbol: bool
    currency: str | None
    sources: Sequence[str] = ()  # the values of ``price_source``; empty to omit this column

    @property
    def dtypes(self) -> dict[str, object]:
        """The dtypes of the added columns."""
        return PRICE_DTYPES | ({"price_source": TEXT} if self.sources else {})

    def computed_columns(self, codes: TokenSymbolPairCodes) -> dict[str, Any]:
        """Return the columns that `walletframe.analysis.value` adds."""
        keys: list[Any] = codes.symbols if self.by_symbol else codes.keys
        known = []
        for prices in self.prices:
            if prices is None:
                units = codes.rows["price"].to_numpy(np.float64).copy()
            else:
                by_code = np.array([*(prices.get(key, np.nan) for key in keys), np.nan])
                units = by_code[codes.codes]
            units[codes.rows["token_blockchain"].isna()] = np.nan
            known.append(units)
        return price_columns(known, codes.rows["amount"].array, self.currency, self.sources)


class SpamFlags(NamedTuple):
    """The spam score and the reasons of each token that may be spam."""

    by_token: Mapping[tuple[TokenKey, str | None], tuple[float, str]]  # by known token and symbol
    by_row: Mapping[int, tuple[float, str]]  # rows of unknown tokens, by row number
    threshold: float
    dropped: Mapping[str, Any]  # arguments of `with_filters` for holdings without spam
    by_column: bool = False  # whether to use an existing column `is_spam` instead

    def computed_columns(self, codes: TokenSymbolPairCodes) -> dict[str, Any]:
        """Return the columns that `walletframe.analysis.flag_spam` adds."""
        pairs = zip(codes.keys, codes.symbols, strict=True)
        findings = [*(self.by_token.get(pair, _NO_FINDING) for pair in pairs), _NO_FINDING]
        unknown = np.array([key == UNKNOWN for key in codes.keys], dtype=bool)
        index, rows = codes.codes.copy(), np.flatnonzero(unknown[codes.codes])
        index[rows] = len(findings) + np.arange(len(rows))
        findings += [self.by_row.get(row, _NO_FINDING) for row in codes.row_numbers[rows].tolist()]
        scores = np.array([score for score, _ in findings])[index]
        reasons = schema.text_array(np.array([reason for _, reason in findings], dtype=object))
        columns = (scores, reasons.take(index), scores >= self.threshold)
        return dict(zip(SPAM_DTYPES, columns, strict=True))
