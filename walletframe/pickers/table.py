"""The table of holdings in the explorer, which Python sorts, searches and groups.

Rows are balances, or sums of balances by group. Numbers are split at the decimal point, so that the
front end can align them. Sorting is stable in both directions. Missing cells come last.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import quote

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype, is_numeric_dtype, is_unsigned_integer_dtype

from walletframe.address.forms import canonical_blockchain
from walletframe.amounts import AmountDtype
from walletframe.amounts.integers import float_sort_keys, to_floats
from walletframe.analysis import search
from walletframe.analysis.sums import totals
from walletframe.frames.extra_columns import extra_names
from walletframe.frames.identity import cell_text, encode_tokens, is_unknown
from walletframe.frames.names import split_wallet_label, user_wallet_names
from walletframe.frames.schema import amounts_of
from walletframe.frames.tables import unreadable_amount_text
from walletframe.numerals import counted_noun, money_without_commas, plain_number
from walletframe.text import escape_csv_cell, safe_line, url_if_safe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from walletframe.amounts import AmountArray
    from walletframe.amounts.integers import Floats
    from walletframe.frames.identity import Codes, KeyCodes, Mask, TokenKey
    from walletframe.frames.positions import Positions

_TABLE_IDS = count(1)
_MAX_DIGITS, _ROUNDED_DIGITS, _SAMPLE_SIZE, _MAX_TEXT = 18, 9, 1_000, 500
_MAX_WINDOW, _CACHE_SIZE, _MAX_HEADING = 400, 12, 40
_URL_SAFE = re.compile(r"[A-Za-z0-9._-]+")
_RANKED = ("token", "amount", "value", "wallet", "price", "holders", "tokens", "balances", "known")
_COLUMN_RANKS = {name: rank for rank, name in enumerate(_RANKED)}
_USER_RANK, _LAST_RANK = 20, 90  # ranks of user columns, and of columns without a rank
_COUNT_COLUMNS = ("tokens", "holders", "balances", "amount_na", "unpriced")
_LABELS = {"amount_na": "unknown amounts", "known": "wallets known"}
_GROUP_NAMES = ("wallet", "token", "asset", "blockchain")  # groups that are not columns of the user

SELECTION_FIELDS = {name: f"{name}s" for name in ("wallet", "token", "blockchain")}
SELECTION_FIELDS["contract"] = "tokens"
"""The field of `Selection` that a click on a cell sets, by column name."""


class HoldingsTable:
    """A table of balances, or of sums by group. The front end requests some rows at a time."""

    def __init__(
        self,
        positions: Positions,
        part_of: tuple[HoldingsTable, Mask] | None = None,  # the full table, and a mask of its rows
    ) -> None:
        self.positions: Positions = positions
        self._part_of, self._table_id = part_of, next(_TABLE_IDS)
        frame = positions.holdings
        names = Counter(frame.columns)
        user_columns = [  # numbers can't group rows
            name
            for name in extra_names(frame)
            if names[name] == 1 and not is_numeric_dtype(frame[name])
        ]
        groups = ["", *_GROUP_NAMES, *self.positions.extra_column_names, *user_columns]
        self._groups = [*dict.fromkeys(groups)]
        self.grid: Callable[[str], _ColumnsAndRowCount] = lru_cache(_CACHE_SIZE)(self._make_grid)
        self.sort_rows: Callable[[str, str, bool], Codes] = lru_cache(_CACHE_SIZE)(self._sort_rows)
        self._matching_rows = lru_cache(_CACHE_SIZE)(self._find_rows)

    def answer_rows(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a range of rows, and the columns if the front end lacks them.

        Optional keys of a request are ``by`` (group), ``sort``, ``down`` (descending), ``find``
        (text), ``start``, ``count`` and ``table`` (an ID of the columns in the front end).
        """
        by, sort, descending, words = self._parse_query(request)
        grid, rows = self.grid(by), self._matching_rows(by, sort, descending, words)
        table = f"{self._table_id} {by}"
        has_one_token = not by and len(self.positions.tokens.keys) == 1
        with_bars = {"value", "amount"} if has_one_token else {"value"}
        start = min(max(int(request.get("start", 0)), 0), len(rows))
        window = rows[start : start + min(max(int(request.get("count", 100)), 0), _MAX_WINDOW)]
        noun = (by if by in _GROUP_NAMES else "group") if by else "balance"
        counted = counted_noun(len(self.sort_rows(by, sort, descending)), noun)
        if words:
            counted = f"{len(rows):,} of {counted} {'matches' if len(rows) == 1 else 'match'}"
        answer = {
            "by": by,
            "sort": sort,
            "down": descending,
            "table": table,
            "start": start,
            "count": len(window),
            "total": len(rows),
            "counted": counted,
            "cells": {
                name: column.cells.front_end_cells(window)
                | (_bar_lengths(column.cells, rows, window) if name in with_bars else {})
                for name, column in grid.columns.items()
            },
        }
        if request.get("table") != table:
            answer["columns"] = [
                {
                    "name": name,
                    "label": column.label,
                    "rank": column.rank,
                    "picks": SELECTION_FIELDS.get(name),
                    "number": not isinstance(column.cells, _TextCells),
                    "bar": name in with_bars,
                    "link": getattr(column.cells, "link", None) is not None,
                    "characters_and_decimals": column.cells.characters_and_decimals(),
                }
                for name, column in grid.columns.items()
            ]
            answer["groups"] = [
                {"name": by, "label": safe_line(by, _MAX_HEADING)} for by in self._groups
            ]
        return answer

    def selection_field_and_key(self, request: Mapping[str, Any]) -> tuple[str, Any] | None:
        """Return the field of `Selection` and the value that a click on a cell sets."""
        query, position = self._parse_query(request), int(request.get("row", -1))
        name = str(request.get("column"))
        rows, column = self._matching_rows(*query), self.grid(query[0]).columns.get(name)
        if column is None or name not in SELECTION_FIELDS or not 0 <= position < len(rows):
            return None
        cells: Any = column.cells
        code = cells.texts.codes[rows[position]] if isinstance(cells, _TextCells) else -1
        key = None if code < 0 else cells.selection_key(code)
        return None if key is None else (SELECTION_FIELDS[name], key)

    def _parse_query(self, request: Mapping[str, Any]) -> tuple[str, str, bool, tuple[str, ...]]:
        """Return the group, the sort column and direction, and the search words."""
        by = next((name for name in self._groups if name == request.get("by")), "")
        grid, sort, descending = self.grid(by), request.get("sort"), bool(request.get("down"))
        if sort not in grid.columns:
            sort = next((name for name in ("value", "balances") if name in grid.columns), "")
            descending = bool(sort)
        return by, str(sort), descending, search.split_search_words(str(request.get("find", "")))

    def _make_grid(self, by: str) -> _ColumnsAndRowCount:
        if by:
            return _groups_grid(self.positions, by, totals(self.positions, by))
        if self._part_of is None:
            return _balances_grid(self.positions)
        return self._part_of[0].grid("")

    def _sort_rows(self, by: str, sort: str, descending: bool) -> Codes:  # noqa: FBT001 - called by position, through a cache
        if self._part_of is not None and not by:
            full_table, mask = self._part_of
            order = full_table.sort_rows(by, sort, descending)
            return order[mask[order]]
        grid = self.grid(by)
        if not sort:
            return np.arange(grid.row_count)
        return grid.columns[sort].cells.argsort(descending=descending)

    def _find_rows(self, by: str, sort: str, descending: bool, words: tuple[str, ...]) -> Codes:  # noqa: FBT001 - called by position, through a cache
        order = self.sort_rows(by, sort, descending)
        if not words:
            return order
        grid = self.grid(by)
        cells = [column.cells for column in grid.columns.values()]
        texts = [each.texts for each in cells if isinstance(each, _TextCells)]
        matching: Codes = order[search.rows_with_words_mask(words, texts, grid.row_count)[order]]
        return matching


class _TableColumn(NamedTuple):
    label: str  # the heading, as one escaped line
    rank: int  # narrow pages hide columns with a high rank first
    cells: Cells


class _ColumnsAndRowCount(NamedTuple):
    columns: dict[str, _TableColumn]  # by name, as in requests
    row_count: int


def _balances_grid(positions: Positions) -> _ColumnsAndRowCount:
    holdings, tokens = positions.holdings, positions.tokens
    texts = {
        "wallet": _wallet_cells(positions, positions.wallets, positions.wallet_codes),
        **_token_cells(positions, holdings, tokens),
    }
    amounts = _AmountCells(positions.amounts, holdings.get("raw_amount"))
    numbers: dict[str, Cells] = {"amount": amounts}
    price = next((name for name in ("unit_price", "price") if name in holdings), None)
    if price is not None and holdings[price].notna().any():
        numbers["price"] = _make_cells(holdings[price])
    columns = _make_columns(texts | numbers) | _make_value_columns(holdings)
    for position, each in enumerate(search.extra_by_balance(positions)):
        columns[f"own {position}"] = _user_column(each, _USER_RANK)
    return _ColumnsAndRowCount(columns, len(holdings))


def _groups_grid(positions: Positions, by: str, sums: pd.DataFrame) -> _ColumnsAndRowCount:
    texts: dict[str, Cells] = {}
    if by == "token":
        texts = _token_cells(positions, sums, encode_tokens(sums))
    elif by == "wallet":
        texts = {"wallet": _wallet_cells(positions, sums, np.arange(len(sums)))}
    columns = _make_columns(texts)
    if not texts:
        columns[by if by in SELECTION_FIELDS else "group"] = _user_column(sums[by], 0)
    if "amount" in sums:
        columns |= _make_columns({"amount": _make_cells(sums["amount"])})
    columns |= _make_value_columns(sums)
    counted = {
        name: _make_cells(sums[name])
        for name in _COUNT_COLUMNS
        if name in sums and (name not in {"amount_na", "unpriced"} or (sums[name] > 0).any())
    }
    if "wallets_asked" in sums:  # a column with the numbers of known and requested wallets
        names = ["wallets_ok", "wallets_stale", "wallets_asked"]
        kinds, codes = np.unique(sums[names].to_numpy(np.int64), axis=0, return_inverse=True)
        each = kinds.tolist()
        labels = [f"{ok:,} of {of:,}{f', {stale:,} stale' * bool(stale)}" for ok, stale, of in each]
        ranks = [(ok / max(asked, 1), ok - stale, asked) for ok, stale, asked in each]
        texts_of_counts = search.text_column_from_codes(codes.ravel(), labels)
        counted["known"] = _TextCells(texts_of_counts, sort_key=ranks.__getitem__)
    return _ColumnsAndRowCount(columns | _make_columns(counted), len(sums))


def _user_column(series: pd.Series, rank: int) -> _TableColumn:
    return _TableColumn(safe_line(str(series.name), _MAX_HEADING), rank, _make_cells(series))


def _make_columns(cells: Mapping[str, Cells]) -> dict[str, _TableColumn]:
    return {
        name: _TableColumn(_LABELS.get(name, name), _COLUMN_RANKS.get(name, _LAST_RANK), each)
        for name, each in cells.items()
    }


def _make_value_columns(frame: pd.DataFrame) -> dict[str, _TableColumn]:
    if "value" not in frame:
        return {}
    currencies: Any = frame["currency"].dropna().unique() if "currency" in frame else []
    unit = f" ({safe_line(str(currencies[0]), 12)})" if len(currencies) == 1 else ""
    rank = _COLUMN_RANKS["value"]
    columns = {"value": _TableColumn(f"value{unit}", rank, _make_cells(frame["value"], money=True))}
    if len(currencies) > 1:
        texts = text_cells(*search.factorize_any(frame["currency"]))
        columns["currency"] = _TableColumn("currency", rank, texts)
    return columns


def _wallet_cells(positions: Positions, wallets: pd.DataFrame, codes: Codes) -> _TextCells:
    names = user_wallet_names(wallets, positions.wallet_frame if positions.has_wallets else None)
    texts = search.wallet_text_column(wallets, codes, names)
    pairs = search.chain_address_pairs(wallets)
    urls, own_pairs = _wallet_page_urls(positions), search.chain_address_pairs(positions.wallets)
    row_by_pair = dict(zip(own_pairs, positions.first, strict=True))

    def lines(code: int) -> list[str]:
        label = split_wallet_label(texts.label(code), names[code])
        return [safe_line(names[code]), label[-1]] if names[code] else label  # the whole name

    return _TextCells(
        texts,
        sort_key=lambda code: f"{names[code]}{texts.full_text(code)}",
        selection_key=lambda code: ".".join(pairs[code]),
        link=(lambda code: url_if_safe(urls[row_by_pair[pairs[code]]])) if urls else None,
        lines=lines,
    )


def _token_cells(positions: Positions, frame: pd.DataFrame, tokens: KeyCodes) -> dict[str, Cells]:
    url_prefixes = _block_explorer_prefix_by_chain(positions)
    texts = search.token_text_columns(frame, tokens)
    token, contract = texts["token"], texts["contract"]

    def known_token_key(code: int) -> TokenKey | None:
        return None if is_unknown(tokens.keys[code]) else tokens.keys[code]

    columns = [frame[name].array for name in ("token_blockchain", "token_address")]

    def contract_url(code: int) -> str | None:
        chain, address = (column[tokens.first[code]] for column in columns)
        is_plain = isinstance(address, str) and _URL_SAFE.fullmatch(address)
        prefix = url_prefixes.get(canonical_blockchain(chain)) if isinstance(chain, str) else None
        return url_if_safe(f"{prefix}{address}") if prefix and is_plain else None

    return {
        "token": _TextCells(token, sort_key=token.label, selection_key=known_token_key),
        "blockchain": text_cells(*search.factorize_token_blockchains(frame, tokens)),
        "contract": _TextCells(
            contract, sort_key=contract.full_text, selection_key=known_token_key, link=contract_url
        ),
    }


def _wallet_page_urls(positions: Positions) -> list[str]:
    urls = positions.wallet_frame["explorer_url"] if positions.has_wallets else pd.Series()
    return [*map(cell_text, np.asarray(urls, dtype=object))]


def _block_explorer_prefix_by_chain(positions: Positions) -> dict[str, str]:
    prefix_by_chain: dict[str, str] = {}
    urls = _wallet_page_urls(positions)
    pairs = search.chain_address_pairs(positions.wallet_frame) if urls else []
    for (chain, address), url in zip(pairs, urls, strict=True):
        key = canonical_blockchain(chain)
        if key not in prefix_by_chain and address and url_if_safe(url):
            before, _, after = url.lower().rpartition(quote(address, safe="").lower())
            if before and not after:
                prefix_by_chain[key] = url[: len(before)]
    return prefix_by_chain


def _argsort_missing_last(keys: Any, missing: Mask, *, descending: bool) -> Codes:
    step = -1 if descending else 1
    present = np.flatnonzero(~missing)[::step]
    order = present[np.argsort(keys[present], kind="stable")][::step]
    return np.concatenate((order, np.flatnonzero(missing)))


@dataclass(eq=False)
class _TextCells:
    """Cells of text. The front end shows short labels. A copied cell has the full text."""

    texts: search.TextColumn
    sort_key: Callable[[int], Any]  # upper and lower case sort together if all keys are texts
    selection_key: Callable[[int], Any] | None = None  # the value in a `Selection`
    link: Callable[[int], str | None] | None = None
    lines: Callable[[int], list[str]] | None = None  # splits the label into a name and the rest

    @cached_property
    def _ranks(self) -> Codes:
        """The sort rank of each text, by code. The last item is -1, the rank of missing texts."""
        keys = [*map(self.sort_key, range(self.texts.count))]
        if all(isinstance(key, str) for key in keys):  # case decides only between equal texts
            keys = [(key.casefold(), key) for key in keys]
        try:
            distinct = sorted({*keys})
        except TypeError:  # a user's column can contain values of several types
            keys = [str(key) for key in keys]
            distinct = sorted({*keys})
        ranks = {key: rank for rank, key in enumerate(distinct)}
        return np.array([*(ranks[key] for key in keys), -1], dtype=np.intp)

    def argsort(self, *, descending: bool) -> Codes:
        codes = self.texts.codes
        return _argsort_missing_last(self._ranks[codes], codes < 0, descending=descending)

    def characters_and_decimals(self) -> tuple[int, int]:
        """Return a width in characters that 90% of the labels fit, and 0 (text has no decimals)."""
        codes, lines = range(self.texts.count)[:_SAMPLE_SIZE], self.lines
        labels = (" ".join(lines(code)) if lines else self.texts.label(code) for code in codes)
        lengths = sorted(map(len, labels)) or [0]
        return lengths[len(lengths) * 9 // 10], 0

    def front_end_cells(self, rows: Codes) -> dict[str, list[Any]]:
        """Return labels, links, full texts and texts to copy. Omit repeated texts."""
        codes = self.texts.codes[rows].tolist()
        labels = ["" if code < 0 else self.texts.label(code) for code in codes]
        full_texts = ["" if code < 0 else self.texts.full_text(code) for code in codes]
        copies = [escape_csv_cell(text) for text in full_texts]
        fields: dict[str, list[Any]] = {"text": labels}
        if full_texts != labels:
            fields["full"] = _none_where_equal(full_texts, labels)
        if copies != full_texts:
            fields["copy"] = _none_where_equal(copies, full_texts)
        if self.lines:
            pairs = [[""] if code < 0 else self.lines(code) for code in codes]
            fields |= {"text": [pair[0] for pair in pairs], "aside": [pair[1:] for pair in pairs]}
        if self.link:
            fields["link"] = [None if code < 0 else self.link(code) for code in codes]
        return fields


def _none_where_equal(texts: list[str], defaults: list[str]) -> list[str | None]:
    pairs = zip(texts, defaults, strict=True)
    return [None if text == default else text for text, default in pairs]


def text_cells(codes: Codes, values: list[Any], dtype: object = None) -> _TextCells:
    """Return the cells of factorized values. An ordered categorical dtype sets the sort order."""
    keys = values
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        keys = [dtype.categories.get_loc(each) for each in values]
    texts = search.text_column_from_codes(codes, values)
    return _TextCells(texts, sort_key=keys.__getitem__, selection_key=values.__getitem__)


class _NumberCells:
    def __init__(self, values: Any, missing: Mask, *, money: bool = False) -> None:
        self.numbers: Any = values
        self._missing, self._is_money = missing, money

    def argsort(self, *, descending: bool) -> Codes:
        return _argsort_missing_last(self.numbers, self._missing, descending=descending)

    def characters_and_decimals(self) -> tuple[int, int]:
        present = self.numbers[~self._missing]
        integer_digits = _max_integer_digits(present.astype(np.float64))
        if self._is_money:
            return integer_digits, 2
        sample = {*present[:: len(present) // _SAMPLE_SIZE + 1].tolist()}
        decimals = (len(_exact_number_text(value).partition(".")[2]) for value in sample)
        return integer_digits, max(decimals, default=0)

    def front_end_cells(self, rows: Codes) -> dict[str, list[Any]]:
        """Return numbers as text. Money is rounded to cents. The field ``copy`` is exact."""
        pairs = [*zip(self.numbers[rows].tolist(), self._missing[rows].tolist(), strict=True)]
        exact = ["" if is_missing else _exact_number_text(value) for value, is_missing in pairs]
        if not self._is_money:
            return _split_at_decimal_point(exact)
        texts = ["" if is_missing else money_without_commas(value) for value, is_missing in pairs]
        copied = {"copy": _none_where_equal(exact, texts)} if texts != exact else {}
        return _split_at_decimal_point(texts) | copied


class _AmountCells:
    def __init__(self, amounts: AmountArray, raw: pd.Series | None = None) -> None:
        self._amounts, self._raw = amounts, raw

    def argsort(self, *, descending: bool) -> Codes:
        return self._amounts.argsort(ascending=not descending)

    @cached_property
    def numbers(self) -> Floats:
        return to_floats(self._amounts.exact())

    def characters_and_decimals(self) -> tuple[int, int]:
        integers, missing, scale = self._amounts.exact()
        divisor = str(math.gcd(10**scale, *integers.tolist()))  # ends with the common zeros
        decimals = scale - len(divisor) + len(divisor.rstrip("0"))
        return _max_integer_digits(float_sort_keys(integers[~missing]) / 10.0**scale), decimals

    def front_end_cells(self, rows: Codes) -> dict[str, list[Any]]:
        """Return exact amounts as text. An unknown amount is empty, and its note has the reason."""
        amounts = self._amounts.take(rows)
        missing = np.flatnonzero(amounts.isna()).tolist()
        texts = [*map(str, amounts)]
        notes: list[str | None] = [None] * len(rows)
        for row in missing:
            raw = None if self._raw is None else self._raw.array[rows[row]]
            texts[row], notes[row] = "", safe_line(unreadable_amount_text(raw), _MAX_TEXT)
        return _split_at_decimal_point(texts) | ({"note": notes} if missing else {})


Cells: TypeAlias = _TextCells | _NumberCells | _AmountCells


def _exact_number_text(number: float) -> str:
    return str(number) if isinstance(number, int) else plain_number(number).removesuffix(".0")


def _max_integer_digits(values: Floats) -> int:
    sizes = np.abs(values[np.isfinite(values)])
    usual = sizes[sizes < 10.0**_MAX_DIGITS]
    digits = len(f"{usual.max(initial=0):.0f}") + bool((values < 0).any())
    return digits if len(usual) == len(values) else max(digits, _ROUNDED_DIGITS)


def _bar_lengths(cells: Any, rows: Codes, visible_rows: Codes) -> dict[str, list[float]]:
    """Return the bar lengths of the visible rows, relative to the largest number in `rows`."""
    sizes = np.abs(cells.numbers[rows])
    largest = sizes[np.isfinite(sizes)].max(initial=0) or 1
    shares = np.nan_to_num(np.abs(cells.numbers[visible_rows]) / largest, posinf=1)
    return {"bar": np.round(shares, 4).clip(0, 1).tolist()}


def _split_at_decimal_point(texts: list[str]) -> dict[str, list[Any]]:
    parts = [text.partition(".") for text in texts]
    return {"integer": [part[0] for part in parts], "fraction": [part[2] for part in parts]}


def _make_cells(values: pd.Series, *, money: bool = False) -> Cells:
    dtype = values.dtype
    if isinstance(dtype, AmountDtype):
        return _AmountCells(amounts_of(values))
    if search.is_non_numeric(values):
        return text_cells(*search.factorize_any(values), dtype)
    int_type: type[Any] = np.uint64 if is_unsigned_integer_dtype(dtype) else np.int64
    number_type = np.float64 if is_float_dtype(dtype) else int_type
    missing = values.isna().to_numpy(dtype=bool)
    return _NumberCells(values.to_numpy(dtype=number_type, na_value=0), missing, money=money)
