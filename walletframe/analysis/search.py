"""Text search in holdings: the searchable texts of rows, and masks of the rows with all words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from walletframe.amounts import AmountDtype
from walletframe.frames.identity import cell_text
from walletframe.frames.names import (
    full_wallet_name,
    short_contract,
    token_names,
    user_wallet_names,
    wallet_names,
)
from walletframe.frames.schema import HOLDING_DTYPES, WALLET_DTYPES
from walletframe.pandas_versions import TEXT
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from walletframe.frames.identity import Codes, KeyCodes, Mask, TokenKey
    from walletframe.frames.positions import Positions

_VALUE_COLUMNS = ("unit_price", "value", "currency", "price_source")
_LABEL, _EXTRA_LABEL, _SEARCHED, _FULL = 64, 80, 100, 500


@dataclass(eq=False)
class TextColumn:
    """A column of texts. Each row has a code (-1: no text), and each text is made when needed."""

    codes: Codes  # of each row
    count: int  # number of different codes
    label: Callable[[int], str]  # returns the text for a code, as a safe line for tables
    full_text: Callable[[int], str]  # returns a longer safe line
    words: Callable[[int], str] = lambda _code: ""  # returns further text to search

    @cached_property
    def _searched(self) -> list[str]:
        parts = (map(each, range(self.count)) for each in (self.label, self.full_text, self.words))
        return [" ".join(dict.fromkeys(each)).casefold() for each in zip(*parts, strict=True)]

    def contains(self, substring: str) -> Mask:
        """Return a mask of the rows whose text contains `substring`, which must be case-folded."""
        marks = [*(substring in text for text in self._searched), False]
        return np.array(marks, dtype=bool)[self.codes]


def search_words(search: str) -> tuple[str, ...]:
    """Split a search text into case-folded words."""
    return tuple(dict.fromkeys(search.casefold().split()))


def rows_with_words(words: Iterable[str], columns: Iterable[TextColumn], count: int) -> Mask:
    """Return a mask of the rows that contain all words. Each word may be in any column."""
    marks, columns = np.ones(count, dtype=bool), [*columns]
    for word in words:
        marks &= np.any([column.contains(word) for column in columns], axis=0)
    return marks


def row_texts(
    positions: Positions, names: Mapping[TokenKey, str] | None = None
) -> dict[str, TextColumn]:
    """Return a dict that maps each searchable column of holdings to the texts in the column.

    `names` replaces the names of some tokens.
    """
    holdings, frame = positions.holdings, positions.wallet_frame
    user_names = user_wallet_names(positions.wallets, frame if positions.has_wallets else None)
    texts = {
        "wallet": wallet_texts(positions.wallets, positions.wallet_codes, user_names),
        **token_texts(holdings, positions.tokens, names),
        "blockchain": texts_by_code(*row_token_blockchains(holdings, positions.tokens)),
    }
    if "currency" in holdings and len(holdings["currency"].dropna().unique()) > 1:
        texts["currency"] = column_texts(holdings["currency"])
    for place, column in enumerate(extra_columns(positions)):
        if is_non_numeric(column):
            texts[f"extra {place}"] = column_texts(column)
    return texts


def wallet_texts(wallets: pd.DataFrame, codes: Codes, names: Sequence[str]) -> TextColumn:
    """Return the name of each row's wallet; `names` are the names that the user gave wallets."""
    labels = wallet_names(wallets, np.arange(len(wallets)), names)
    pairs = wallet_pairs(wallets)
    return TextColumn(
        codes, len(pairs), labels.__getitem__, lambda code: full_wallet_name(*pairs[code])
    )


def wallet_pairs(wallets: pd.DataFrame) -> list[tuple[str, str]]:
    """Return a pair of texts for each wallet: the blockchain and the address."""
    columns = (wallets[name].fillna("").tolist() for name in ("blockchain", "address"))
    return [*zip(*columns, strict=True)]


def token_texts(
    frame: pd.DataFrame, tokens: KeyCodes, names: Mapping[TokenKey, str] | None = None
) -> dict[str, TextColumn]:
    """Return two columns of texts: the name of each row's token, and the token's contract."""
    symbols, chains, contracts = (
        np.asarray(frame[name].array.take(tokens.first), dtype=object)
        for name in ("symbol", "token_blockchain", "token_address")
    )
    named = token_names(frame, tokens, np.arange(len(tokens.keys)))
    if names is not None:
        named = [names.get(key, name) for key, name in zip(tokens.keys, named, strict=True)]

    def label(code: int) -> str:
        name = named[code]
        return name if len(name) <= _LABEL else f"{name[: _LABEL - 1]}…"

    def symbol(code: int) -> str:
        full = safe_line(cell_text(symbols[code]), _FULL)
        return named[code] if full in named[code] else full

    def short(code: int) -> str:
        return short_contract(chains[code], contracts[code])

    def contract(code: int) -> str:
        address = contracts[code]
        return safe_line(address, _FULL) if isinstance(address, str) else short(code)

    def searched(code: int) -> str:
        return cell_text(symbols[code])[:_SEARCHED]

    codes, count = tokens.codes, len(tokens.keys)
    return {
        "token": TextColumn(codes, count, label, symbol, searched),
        "contract": TextColumn(codes, count, short, contract),
    }


def row_token_blockchains(frame: pd.DataFrame, tokens: KeyCodes) -> tuple[Codes, list[Any]]:
    """Factorize the token blockchains of rows. All rows of a token get that of the first row."""
    codes, chains = factorized_values(frame["token_blockchain"].iloc[tokens.first])
    return codes[tokens.codes], chains


def column_texts(values: pd.Series) -> TextColumn:
    """Return the texts of a column of any type."""
    return texts_by_code(*factorized_values(values))


def texts_by_code(codes: Codes, values: list[Any]) -> TextColumn:
    """Return the texts of factorized values."""

    def label(code: int) -> str:
        value = values[code]
        return safe_line(
            f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value), _EXTRA_LABEL
        )

    return TextColumn(codes, len(values), label, lambda code: safe_line(str(values[code]), _FULL))


def factorized_values(values: pd.Series) -> tuple[Codes, list[Any]]:
    """Factorize values, as `pandas.factorize` does. Unhashable values are compared as text."""
    try:
        codes, uniques = pd.factorize(values)
    except TypeError:
        codes, uniques = pd.factorize(values.astype(TEXT))
    return codes, [*uniques]


def is_non_numeric(values: pd.Series) -> bool:
    """Return whether a column contains neither amounts nor numbers. A bool is not a number."""
    dtype = values.dtype
    is_number = is_integer_dtype(dtype) or is_float_dtype(dtype) or isinstance(dtype, AmountDtype)
    return is_bool_dtype(dtype) or not is_number


def extra_columns(positions: Positions) -> list[pd.Series]:
    """Return the extra columns of holdings, then those of wallets, aligned to the holdings rows."""
    holdings = positions.holdings
    columns = [holdings.iloc[:, place] for place in _extra_column_indices(holdings, HOLDING_DTYPES)]
    if positions.has_wallets:
        wallets, rows = positions.wallet_frame, positions.first[positions.wallet_codes]
        own = _extra_column_indices(wallets, [*WALLET_DTYPES, "name"])
        kept = (wallets.iloc[:, place] for place in own)
        columns += [pd.Series(each.array.take(rows), name=each.name) for each in kept]
    return columns


def _extra_column_indices(frame: pd.DataFrame, schema: Iterable[str]) -> list[int]:
    """Return the positions of the user's extra columns. Several columns may have the same name."""
    standard = {*schema, *_VALUE_COLUMNS}
    return [place for place, name in enumerate(frame.columns) if name not in standard]
