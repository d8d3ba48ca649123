"""The table of holdings in the explorer: Python sorts, searches and groups its rows.

Its rows are balances, or their sums by wallet, token and so on. Numbers are split at the decimal
point, so that the page can align them. Sorting is stable in both directions, missing cells last.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias
from urllib.parse import quote

import numpy as np
import pandas as pd
from pandas.api.types import is_float_dtype, is_numeric_dtype, is_unsigned_integer_dtype

from walletframe.address.forms import canonical_blockchain
from walletframe.amounts import AmountDtype
from walletframe.amounts.integers import float_keys, to_floats
from walletframe.analysis import search
from walletframe.analysis.sums import totals
from walletframe.frames.contract import amounts_of
from walletframe.frames.identity import cell_text, is_unknown, token_identities
from walletframe.frames.kept import kept_names
from walletframe.frames.names import user_wallet_names
from walletframe.frames.positions import read_positions
from walletframe.frames.tables import UNKNOWN, unread
from walletframe.numerals import cents, counted_noun, plain
from walletframe.text import as_cell, safe_line, safe_url

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from walletframe.amounts import AmountArray
    from walletframe.amounts.integers import Floats
    from walletframe.frames.details import FetchLike
    from walletframe.frames.identity import Codes, KeyCodes, Mask, TokenKey
    from walletframe.frames.positions import Positions, PositionsLike

_EDITIONS = count(1)
_DIGITS, _ROUGHLY, _SAMPLE, _WHOLE = 18, 9, 1_000, 500
_MOST_ROWS, _KEPT, _HEADING = 400, 12, 40
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_RANKS = ["token", "amount", "value", "wallet", "price", "holders", "tokens", "balances", "known"]
_USER, _LAST = 20, 90  # ranks of user columns, and of all others
_COUNTS = {
    "tokens": "tokens",
    "holders": "holders",
    "balances": "balances",
    "amount_na": "unknown amounts",
    "unpriced": "unpriced",
}
_NAMES = ("wallet", "token", "asset", "blockchain")  # to group by, besides user columns
_IF_ANY = {"amount_na", "unpriced"}  # shown only if not all are 0

PICKS = {"wallet": "wallets", "token": "tokens", "contract": "tokens", "blockchain": "blockchains"}
"""The field of a `Selection` that a cell can set, by the name of its column."""


class HoldingsTable:
    """A table of holdings, or of their sums by group, which a page reads in windows of rows."""

    def __init__(
        self,
        holdings: PositionsLike,
        wallets: FetchLike | None = None,
        *,
        part_of: tuple[HoldingsTable, Mask] | None = None,
    ) -> None:
        self._held = read_positions(holdings)  # without wallets, for `where`
        self.positions: Positions = read_positions(self._held, wallets)
        self._part_of, self._edition = part_of, next(_EDITIONS)
        frame = self.positions.holdings
        names = Counter(frame.columns)
        own = [  # to group by; numbers are left out
            name
            for name in kept_names(frame)
            if names[name] == 1 and not is_numeric_dtype(frame[name])
        ]
        self._groups = [*dict.fromkeys(["", *_NAMES, *self.positions.kept, *own])]
        self.grid: Callable[[str], DataGrid] = lru_cache(_KEPT)(self._make_grid)
        self.order: Callable[[str, str, bool], Codes] = lru_cache(_KEPT)(self._make_order)
        self._rows = lru_cache(_KEPT)(self._make_rows)

    def where(self, marks: Mask, wallets: FetchLike | None = None) -> HoldingsTable:
        """Return a table of some rows and wallets, with the names, columns and order of all."""
        whole = self if self._part_of is None else self._part_of[0]
        held = whole._held.where(marks)  # noqa: SLF001 - of this class
        return HoldingsTable(held, wallets, part_of=(whole, marks))

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a window of rows, and the columns if the page doesn't have them yet.

        The request has ``by`` (the group), ``sort`` and ``down``, ``find``, ``start`` and
        ``count``, and ``table``: the id of the known columns. Invalid values are replaced.
        """
        by, sort, down, words = self._query(request)
        grid, rows = self.grid(by), self._rows(by, sort, down, words)
        table = f"{self._edition} {by}"
        start = min(max(int(request.get("start", 0)), 0), len(rows))
        window = rows[start : start + min(max(int(request.get("count", 100)), 0), _MOST_ROWS)]
        noun = (by if by in _NAMES else "group") if by else "balance"
        counted = counted_noun(len(self.order(by, sort, down)), noun)
        if words:
            match = "matches" if len(rows) == 1 else "match"
            counted = f"{len(rows):,} of {counted} {match}"
        answer = {
            "by": by,
            "sort": sort,
            "down": down,
            "table": table,
            "start": start,
            "count": len(window),
            "total": len(rows),
            "counted": counted,
            "cells": {name: column.cells.written(window) for name, column in grid.columns.items()},
        }
        if request.get("table") != table:
            answer["columns"] = [
                {
                    "name": name,
                    "label": column.label,
                    "rank": column.rank,
                    "picks": PICKS.get(name),
                    "number": not isinstance(column.cells, TextCells),
                    "bar": column.cells.has_bars,
                    "room": column.cells.room(),
                }
                for name, column in grid.columns.items()
            ]
            answer["groups"] = [
                {"name": by, "label": safe_line(by, _HEADING)} for by in self._groups
            ]
        return answer

    def cell_selection(self, request: Mapping[str, Any]) -> tuple[str, Any] | None:
        """Return the field of a `Selection` and the key that a cell selects, if any."""
        query, place = self._query(request), int(request.get("place", -1))
        name = str(request.get("column"))
        rows, column = self._rows(*query), self.grid(query[0]).columns.get(name)
        if column is None or column.name not in PICKS or not 0 <= place < len(rows):
            return None
        cells, key = column.cells, None
        if isinstance(cells, TextCells) and cells.key and (code := cells.codes[rows[place]]) >= 0:
            key = cells.key(code)
        return None if key is None else (PICKS[column.name], key)

    def _query(self, request: Mapping[str, Any]) -> tuple[str, str, bool, tuple[str, ...]]:
        """Return the group, the column to sort by, whether descending, and the search words."""
        by = next((name for name in self._groups if name == request.get("by")), "")
        grid, sort, down = self.grid(by), request.get("sort"), bool(request.get("down"))
        if sort not in grid.columns:
            sort, down = grid.opens_by
        return by, str(sort), down, search.words_of(str(request.get("find", "")))

    def _make_grid(self, by: str) -> DataGrid:
        if by:
            return groups_grid(self.positions, by, totals(self.positions, by))
        if self._part_of is None:
            return balances_grid(self.positions)
        whole, marks = self._part_of
        is_one = len(self.positions.tokens.keys) == 1
        return with_bars(whole.grid(""), whole.positions, marks) if is_one else whole.grid("")

    def _make_order(self, by: str, sort: str, down: bool) -> Codes:  # noqa: FBT001 - a cache key
        if self._part_of is not None and not by:
            whole, marks = self._part_of
            order = whole.order(by, sort, down)
            return order[marks[order]]
        grid = self.grid(by)
        if not sort:
            return np.arange(grid.count)
        return grid.columns[sort].cells.order(down=down)

    def _make_rows(self, by: str, sort: str, down: bool, words: tuple[str, ...]) -> Codes:  # noqa: FBT001
        """Return the rows that contain all words in their texts, in order."""
        order = self.order(by, sort, down)
        if not words:
            return order
        grid = self.grid(by)
        cells = [column.cells for column in grid.columns.values()]
        texts = [each for each in cells if isinstance(each, TextCells)]
        matching: Codes = order[search.rows_with(words, texts, grid.count)[order]]
        return matching


class Column(NamedTuple):
    """A column of the table."""

    name: str  # in requests of the page
    label: str  # the heading, one safe line
    rank: int  # on a narrow page, columns of high rank are hidden first
    cells: Cells


@dataclass(frozen=True, slots=True)
class DataGrid:
    """The columns of a table, in order, and its number of rows."""

    columns: dict[str, Column]
    count: int

    @property
    def opens_by(self) -> tuple[str, bool]:
        """The initial column to sort by, and whether descending: value, balances or none."""
        first = next((name for name in ("value", "balances") if name in self.columns), "")
        return first, bool(first)


def balances_grid(positions: Positions) -> DataGrid:
    """Return the columns of single balances, with user columns of holdings and wallets."""
    holdings, tokens = positions.holdings, positions.tokens
    wallets = positions.wallet_frame if positions.has_wallets else None
    texts = {
        "wallet": _wallet_cells(positions, positions.wallets, positions.wallet_codes),
        **_token_cells(holdings, tokens, _explorers(wallets)),
    }
    amounts = AmountCells(positions.amounts, holdings.get("raw_amount"))
    numbers: dict[str, Cells] = {"amount": amounts}
    price = next((name for name in ("unit_price", "price") if name in holdings), None)
    if price is not None and holdings[price].notna().any():
        numbers["price"] = cells_of(holdings[price])
    columns = _columns(texts | numbers) + _value_column(holdings)
    own = search.own_columns(positions)
    columns += [_user_column(f"own {place}", each, _USER) for place, each in enumerate(own)]
    grid = DataGrid({each.name: each for each in columns}, len(holdings))
    is_one = len(tokens.keys) == 1
    return with_bars(grid, positions, np.ones(len(holdings), dtype=bool)) if is_one else grid


def with_bars(grid: DataGrid, positions: Positions, marks: Mask) -> DataGrid:
    """Add bars to the amounts of one token, in the marked rows; others can't be compared."""
    raw = positions.holdings.get("raw_amount")
    amounts = grid.columns["amount"]._replace(cells=AmountCells(positions.amounts, raw, marks))
    return replace(grid, columns=grid.columns | {"amount": amounts})


def groups_grid(positions: Positions, by: str, sums: pd.DataFrame) -> DataGrid:
    """Return the columns of sums that `totals` returns, grouped by one name."""
    wallets = positions.wallet_frame if positions.has_wallets else None
    texts: dict[str, Cells] = {}
    if by == "token":
        texts = _token_cells(sums, token_identities(sums), _explorers(wallets))
    elif by == "wallet":
        texts = {"wallet": _wallet_cells(positions, sums, np.arange(len(sums)))}
    columns = _columns(texts) or [_user_column(by if by in PICKS else "group", sums[by], 0)]
    numbers = {"amount": cells_of(sums["amount"])} if "amount" in sums else {}
    columns += _columns(numbers) + _value_column(sums)
    counted = {
        name: cells_of(sums[name])
        for name in _COUNTS
        if name in sums and (name not in _IF_ANY or (sums[name] > 0).any())
    }
    if "wallets_asked" in sums:  # the known wallets of all requested ones
        names = ["wallets_ok", "wallets_stale", "wallets_asked"]
        kinds, codes = np.unique(sums[names].to_numpy(np.int64), axis=0, return_inverse=True)
        each = kinds.tolist()
        labels = [f"{ok:,} of {of:,}{f', {stale:,} stale' * bool(stale)}" for ok, stale, of in each]
        ranks = [(ok / max(asked, 1), ok - stale, asked) for ok, stale, asked in each]
        label = labels.__getitem__
        counted["known"] = TextCells(codes.ravel(), len(labels), label, label, by=ranks.__getitem__)
    columns += _columns(counted)
    return DataGrid({each.name: each for each in columns}, len(sums))


def _user_column(name: str, series: pd.Series, rank: int) -> Column:
    return Column(name, safe_line(str(series.name), _HEADING), rank, cells_of(series))


def _columns(cells: Mapping[str, Cells]) -> list[Column]:
    labels = _COUNTS | {"known": "wallets known"}
    return [
        Column(name, labels.get(name, name), _RANKS.index(name) if name in _RANKS else _LAST, each)
        for name, each in cells.items()
    ]


def _value_column(frame: pd.DataFrame) -> list[Column]:
    """Return the column of values as money, and one of currencies if there are several."""
    if "value" not in frame:
        return []
    currencies: Any = frame["currency"].dropna().unique() if "currency" in frame else []
    unit = f" ({safe_line(str(currencies[0]), 12)})" if len(currencies) == 1 else ""
    rank = _RANKS.index("value")
    columns = [Column("value", f"value{unit}", rank, cells_of(frame["value"], money=True))]
    if len(currencies) > 1:
        texts = text_cells(*search.factorized_values(frame["currency"]))
        columns.append(Column("currency", "currency", rank, texts))
    return columns


def _wallet_cells(positions: Positions, named: pd.DataFrame, codes: Codes) -> TextCells:
    """Return cells with the names of wallets, linked to their pages in a blockchain explorer."""
    wallets = positions.wallet_frame if positions.has_wallets else None
    names = user_wallet_names(named, wallets)
    texts, pairs = search.wallet_texts(named, codes, names), search.wallet_pairs(named)
    pages = [] if wallets is None else _pages(wallets)
    rows = dict(zip(search.wallet_pairs(positions.wallets), positions.first, strict=True))
    return TextCells.of(
        texts,
        by=lambda code: f"{names[code]}{texts.whole(code)}",
        key=lambda code: ".".join(pairs[code]),
        link=(lambda code: safe_url(pages[rows[pairs[code]]])) if pages else None,
    )


def _token_cells(
    frame: pd.DataFrame, tokens: KeyCodes, explorers: Mapping[str, str]
) -> dict[str, Cells]:
    """Return cells with the token of each row, its blockchain and its contract."""
    texts = search.token_texts(frame, tokens)
    token, contract = texts["token"], texts["contract"]

    def key(code: int) -> TokenKey | None:
        return None if is_unknown(tokens.keys[code]) else tokens.keys[code]

    columns = [frame[name].array for name in ("token_blockchain", "token_address")]

    def link(code: int) -> str | None:
        chain, address = (column[tokens.first[code]] for column in columns)
        is_plain = isinstance(address, str) and _PLAIN.fullmatch(address)
        before = explorers.get(canonical_blockchain(chain)) if isinstance(chain, str) else None
        return safe_url(f"{before}{address}") if before and is_plain else None

    return {
        "token": TextCells.of(token, by=token.label, key=key),
        "blockchain": text_cells(*search.token_chains(frame, tokens)),
        "contract": TextCells.of(contract, by=contract.whole, key=key, link=link),
    }


def _pages(wallets: pd.DataFrame) -> list[str]:
    """Return the explorer's page of each wallet, as sent; empty if it has none."""
    if "explorer_url" not in wallets:
        return [""] * len(wallets)
    return wallets["explorer_url"].map(cell_text).tolist()


def _explorers(wallets: pd.DataFrame | None) -> dict[str, str]:
    """Return the URL of each blockchain's explorer, up to the address, from links of wallets."""
    prefixes: dict[str, str] = {}
    if wallets is None:
        return prefixes
    for (chain, address), page in zip(search.wallet_pairs(wallets), _pages(wallets), strict=True):
        key = canonical_blockchain(chain)
        if key not in prefixes and address and safe_url(page):
            before, _, after = page.lower().rpartition(quote(address, safe="").lower())
            if before and not after:
                prefixes[key] = page[: len(before)]
    return prefixes


def ordered(keys: Any, missing: Mask, *, down: bool) -> Codes:
    """Return the order of a NumPy array, stable in both directions, missing keys last."""
    step = -1 if down else 1
    present = np.flatnonzero(~missing)[::step]
    order = present[np.argsort(keys[present], kind="stable")][::step]
    return np.concatenate((order, np.flatnonzero(missing)))


@dataclass(eq=False)
class TextCells(search.TextColumn):
    """Cells of text: a page shows the labels, and copies the whole texts."""

    has_bars: ClassVar[bool] = False
    _: KW_ONLY
    by: Callable[[int], Any]  # the sort key; if all are texts, they are sorted without case first
    key: Callable[[int], Any] | None = None  # for a `Selection`
    link: Callable[[int], str | None] | None = None

    @classmethod
    def of(cls, texts: search.TextColumn, **more: Any) -> TextCells:
        """Add links, sort keys or selection keys to texts."""
        return cls(texts.codes, texts.count, texts.label, texts.whole, texts.words, **more)

    @cached_property
    def _ranks(self) -> Codes:
        """The rank of each text, and -1 at the end for missing texts."""
        keys = [*map(self.by, range(self.count))]
        if all(isinstance(key, str) for key in keys):
            keys = [*map(alphabetical, keys)]
        try:
            distinct = sorted({*keys})
        except TypeError:  # a user's column may hold values of several types
            keys = [str(key) for key in keys]
            distinct = sorted({*keys})
        ranks = {key: rank for rank, key in enumerate(distinct)}
        return np.array([*(ranks[key] for key in keys), -1], dtype=np.intp)

    def order(self, *, down: bool) -> Codes:
        """Return the order of the rows by rank, missing texts last."""
        return ordered(self._ranks[self.codes], self.codes < 0, down=down)

    def room(self) -> tuple[int, int]:
        """Return the width in letters that suffices for most labels, from a sample; and 0."""
        lengths = sorted(len(self.label(code)) for code in range(self.count)[:_SAMPLE]) or [0]
        return lengths[len(lengths) * 9 // 10], 0

    def written(self, rows: Codes) -> dict[str, list[Any]]:
        """Return labels; if they differ, also whole texts, and texts to copy; and links."""
        codes = self.codes[rows].tolist()
        labels = ["" if code < 0 else self.label(code) for code in codes]
        wholes = ["" if code < 0 else self.whole(code) for code in codes]
        copies = [as_cell(whole) for whole in wholes]
        parts: dict[str, list[Any]] = {"text": labels}
        if wholes != labels:
            parts["whole"] = only_different(wholes, labels)
        if copies != wholes:
            parts["copy"] = only_different(copies, wholes)
        if self.link:
            parts["link"] = [None if code < 0 else self.link(code) for code in codes]
        return parts


def only_different(texts: list[str], usual: list[str]) -> list[str | None]:
    """Replace the texts that equal the usual ones by None."""
    return [None if one == other else one for one, other in zip(texts, usual, strict=True)]


def text_cells(codes: Codes, values: list[Any], dtype: object = None) -> TextCells:
    """Return values as text, sorted by the values if these can be compared; `dtype` is theirs."""
    keys = values
    if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered:
        keys = [dtype.categories.get_loc(each) for each in values]
    texts = search.texts_of(codes, values)
    return TextCells.of(texts, by=keys.__getitem__, key=values.__getitem__)


def alphabetical(text: str) -> tuple[str, str]:
    """Return a sort key that ignores case first, and then breaks ties by it."""
    return text.casefold(), text


class NumberCells:
    """Cells of ints or floats; NaN and NA are missing. Money is shown to the cent."""

    def __init__(self, values: Any, missing: Mask, *, money: bool = False) -> None:
        self._values, self._missing = values, missing
        self.has_bars: bool = money

    def order(self, *, down: bool) -> Codes:
        """Return the order of the rows, missing numbers last."""
        return ordered(self._values, self._missing, down=down)

    def room(self) -> tuple[int, int]:
        """Return the digits to leave room for before the point, and after it (from a sample)."""
        present = self._values[~self._missing]
        before = _digits_before(present.astype(np.float64))
        if self.has_bars:
            return before, 2
        step = len(present) // _SAMPLE + 1
        behind = (len(_digits(value).partition(".")[2]) for value in present[::step].tolist())
        return before, max(behind, default=0)

    def written(self, rows: Codes) -> dict[str, list[Any]]:
        """Return all digits; money to the cent, with the exact value to copy."""
        values, missing = self._values[rows], self._missing[rows].tolist()
        each = [*zip(values.tolist(), missing, strict=True)]
        exact = ["" if gone else _digits(value) for value, gone in each]
        if not self.has_bars:
            return _parts(exact)
        texts = ["" if gone else cents(value) for value, gone in each]
        copied = {"copy": only_different(exact, texts)} if texts != exact else {}
        return _parts(texts) | copied | {"bar": _shares(values, self._largest)}

    @cached_property
    def _largest(self) -> float:
        return float(np.abs(self._values[np.isfinite(self._values)]).max(initial=0))


class AmountCells:
    """Cells of exact amounts, with a note if unknown, and bars for those of one token."""

    def __init__(
        self, amounts: AmountArray, raw: pd.Series | None = None, of_one: Mask | None = None
    ) -> None:
        self._amounts, self._raw, self._of_one = amounts, raw, of_one
        self.has_bars: bool = of_one is not None

    def order(self, *, down: bool) -> Codes:
        """Return the order of the rows by exact amount, missing amounts last."""
        return self._amounts.argsort(ascending=not down)

    @cached_property
    def _floats(self) -> Floats:
        return to_floats(self._amounts.exact())

    @cached_property
    def _largest(self) -> float:
        return float(np.nanmax(np.abs(self._floats[self._of_one]), initial=0))

    def room(self) -> tuple[int, int]:
        """Return the digits to leave room for before the point, and after it."""
        integers, missing, scale = self._amounts.exact()
        common = str(math.gcd(10**scale, *integers.tolist()))  # with the zeros that all share
        needed = scale - len(common) + len(common.rstrip("0"))
        return _digits_before(float_keys(integers[~missing]) / 10.0**scale), needed

    def written(self, rows: Codes) -> dict[str, list[Any]]:
        """Return all digits; for an unknown amount, what was sent as a note."""
        amounts = self._amounts.take(rows)
        missing = np.asarray(amounts.isna())
        texts = ["" if gone else str(each) for each, gone in zip(amounts, missing, strict=True)]
        parts = _parts(texts)
        if missing.any():
            raw = [None] * len(rows) if self._raw is None else self._raw.array.take(rows)
            parts["note"] = [
                None if not gone else UNKNOWN if each is None else safe_line(unread(each), _WHOLE)
                for each, gone in zip(raw, missing, strict=True)
            ]
        if self.has_bars:
            parts["bar"] = _shares(self._floats[rows], self._largest)
        return parts


Cells: TypeAlias = TextCells | NumberCells | AmountCells


def _digits(number: float) -> str:
    """Write an int or a float with all its digits."""
    return str(number) if isinstance(number, int) else plain(number).removesuffix(".0")


def _digits_before(values: Floats) -> int:
    """Return the digits before the point of the largest value; very large ones are shortened."""
    sizes = np.abs(values[np.isfinite(values)])
    usual = sizes[sizes < 10.0**_DIGITS]
    before = len(f"{usual.max(initial=0):.0f}") + bool((values < 0).any())
    return before if len(usual) == len(values) else max(before, _ROUGHLY)


def _shares(values: Floats, largest: float) -> list[float]:
    if not largest:
        return [0.0] * len(values)
    return [*np.round(np.nan_to_num(np.abs(values) / largest, posinf=1), 4).clip(0, 1).tolist()]


def _parts(texts: list[str]) -> dict[str, list[Any]]:
    halves = [text.partition(".") for text in texts]
    return {"whole": [half[0] for half in halves], "fraction": [half[2] for half in halves]}


def cells_of(values: pd.Series, *, money: bool = False) -> Cells:
    """Return the cells of a column, by its dtype."""
    dtype = values.dtype
    if isinstance(dtype, AmountDtype):
        return AmountCells(amounts_of(values))
    if search.has_texts(values):
        return text_cells(*search.factorized_values(values), dtype)
    whole: type[Any] = np.uint64 if is_unsigned_integer_dtype(dtype) else np.int64
    kind = np.float64 if is_float_dtype(dtype) else whole
    missing = values.isna().to_numpy(dtype=bool)
    return NumberCells(values.to_numpy(dtype=kind, na_value=0), missing, money=money)
