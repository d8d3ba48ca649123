"""Text search in the rows of holdings."""

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
_LABEL, _EXTRA_LABEL, _SEARCHED, _FULL = 64, 80, 100, 500  # lengths of texts


@dataclass(eq=False)
class TextColumn:
    """A column of texts, stored as codes. The code -1 means that a row has no text."""

    codes: Codes  # the code of each row
    count: int  # number of different codes
    label: Callable[[int], str]  # returns a safe line for tables
    full_text: Callable[[int], str]  # returns a longer safe line
    extra_search_text: Callable[[int], str] = lambda _code: ""  # returns text that is never shown

    @cached_property
    def _search_texts(self) -> list[str]:
        functions = self.label, self.full_text, self.extra_search_text
        parts = (map(function, range(self.count)) for function in functions)
        return [" ".join(dict.fromkeys(texts)).casefold() for texts in zip(*parts, strict=True)]

    def mask_containing(self, substring: str) -> Mask:
        """Return a mask of the rows whose text contains the lower-case `substring`."""
        matches = [*(substring in text for text in self._search_texts), False]
        return np.array(matches, dtype=bool)[self.codes]


def split_search_words(search: str) -> tuple[str, ...]:
    """Return the distinct words of a search in lower case."""
    return tuple(dict.fromkeys(search.casefold().split()))


def rows_with_words_mask(words: Iterable[str], columns: Iterable[TextColumn], count: int) -> Mask:
    """Return a mask of the rows whose columns together contain all words."""
    mask, columns = np.ones(count, dtype=bool), [*columns]
    for word in words:
        mask &= np.any([column.mask_containing(word) for column in columns], axis=0)
    return mask


def searchable_columns(
    positions: Positions, names: Mapping[TokenKey, str] | None = None
) -> dict[str, TextColumn]:
    """Return the text columns to search. `names` replaces the default names of tokens."""
    holdings, frame = positions.holdings, positions.wallet_frame
    user_names = user_wallet_names(positions.wallets, frame if positions.has_wallets else None)
    chains = factorize_token_blockchains(holdings, positions.tokens)
    texts = {
        "wallet": wallet_text_column(positions.wallets, positions.wallet_codes, user_names),
        **token_text_columns(holdings, positions.tokens, names),
        "blockchain": text_column_from_codes(*chains),
    }
    if "currency" in holdings and len(holdings["currency"].dropna().unique()) > 1:
        texts["currency"] = text_column_from_codes(*factorize_any(holdings["currency"]))
    for number, column in enumerate(extra_by_balance(positions)):
        if is_non_numeric(column):
            texts[f"extra {number}"] = text_column_from_codes(*factorize_any(column))
    return texts


def wallet_text_column(wallets: pd.DataFrame, codes: Codes, names: Sequence[str]) -> TextColumn:
    """Return a text column with the wallet of each row."""
    labels = wallet_names(wallets, np.arange(len(wallets)), names)
    pairs = chain_address_pairs(wallets)
    return TextColumn(
        codes, len(pairs), labels.__getitem__, lambda code: full_wallet_name(*pairs[code])
    )


def chain_address_pairs(wallets: pd.DataFrame) -> list[tuple[str, str]]:
    """Return each wallet's blockchain and address."""
    columns = (np.asarray(wallets[name], dtype=object) for name in ("blockchain", "address"))
    return [*zip(*(map(cell_text, column) for column in columns), strict=True)]


def token_text_columns(
    frame: pd.DataFrame, tokens: KeyCodes, names: Mapping[TokenKey, str] | None = None
) -> dict[str, TextColumn]:
    """Return two text columns: the name and the contract of each row's token."""
    symbols, chains, contracts = (
        np.asarray(frame[name].array.take(tokens.first), dtype=object)
        for name in ("symbol", "token_blockchain", "token_address")
    )
    unique = token_names(frame, tokens, np.arange(len(tokens.keys)))
    if names is not None:
        unique = [names.get(key, name) for key, name in zip(tokens.keys, unique, strict=True)]

    def cut_name(code: int) -> str:
        name = unique[code]
        return name if len(name) <= _LABEL else f"{name[: _LABEL - 1]}…"

    def name_or_symbol(code: int) -> str:
        symbol = safe_line(cell_text(symbols[code]), _FULL)
        return unique[code] if symbol in unique[code] else symbol

    def short_contract_text(code: int) -> str:
        return short_contract(chains[code], contracts[code])

    def full_contract_text(code: int) -> str:
        address = contracts[code]
        return safe_line(address, _FULL) if isinstance(address, str) else short_contract_text(code)

    def raw_symbol(code: int) -> str:
        return cell_text(symbols[code])[:_SEARCHED]

    codes, count = tokens.codes, len(tokens.keys)
    return {
        "token": TextColumn(codes, count, cut_name, name_or_symbol, raw_symbol),
        "contract": TextColumn(codes, count, short_contract_text, full_contract_text),
    }


def factorize_token_blockchains(frame: pd.DataFrame, tokens: KeyCodes) -> tuple[Codes, list[Any]]:
    """Factorize the blockchain of each row's token. The spelling is from the token's first row."""
    codes, chains = factorize_any(frame["token_blockchain"].iloc[tokens.first])
    return codes[tokens.codes], chains


def text_column_from_codes(codes: Codes, values: list[Any]) -> TextColumn:
    """Convert factorized values to a text column."""

    def value_text(code: int) -> str:
        value = values[code]
        text = f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)
        return safe_line(text, _EXTRA_LABEL)

    return TextColumn(
        codes, len(values), value_text, lambda code: safe_line(str(values[code]), _FULL)
    )


def factorize_any(values: pd.Series) -> tuple[Codes, list[Any]]:
    """Factorize values with `pandas.factorize`. Unhashable values are compared as text."""
    try:
        codes, uniques = pd.factorize(values)
    except TypeError:
        codes, uniques = pd.factorize(values.astype(TEXT))
    return codes, [*uniques]


def is_non_numeric(values: pd.Series) -> bool:
    """Return whether a column has neither amounts nor numbers. Bools are not numbers."""
    dtype = values.dtype
    is_number = is_integer_dtype(dtype) or is_float_dtype(dtype) or isinstance(dtype, AmountDtype)
    return is_bool_dtype(dtype) or not is_number


def extra_by_balance(positions: Positions) -> list[pd.Series]:
    """Return the user's own columns of holdings and wallets, with one value for each balance."""
    holdings = positions.holdings
    columns = [holdings.iloc[:, index] for index in _extra_column_indices(holdings, HOLDING_DTYPES)]
    if positions.has_wallets:
        wallets, rows = positions.wallet_frame, positions.first[positions.wallet_codes]
        indices = _extra_column_indices(wallets, [*WALLET_DTYPES, "name"])
        kept = (wallets.iloc[:, index] for index in indices)
        columns += [pd.Series(each.array.take(rows), name=each.name) for each in kept]
    return columns


def _extra_column_indices(frame: pd.DataFrame, schema: Iterable[str]) -> list[int]:
    standard = {*schema, *_VALUE_COLUMNS}
    return [index for index, name in enumerate(frame.columns) if name not in standard]
