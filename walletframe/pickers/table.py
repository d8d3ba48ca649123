"""What a table of holdings shows, whatever its size: Python sorts, finds and groups its rows.

Its columns are those of balances, or of their sums by wallet, token and the like. Numbers have
parts so that the page can set them below each other at their points. Whatever the order and its
direction, a missing cell comes last, and equal ones stand as they stood.
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
from walletframe.amounts.integers import to_floats
from walletframe.analysis import search, totals
from walletframe.frames.contract import amounts_of
from walletframe.frames.identity import is_unknown, token_identities, wallet_identities
from walletframe.frames.kept import kept_names
from walletframe.frames.names import given_names
from walletframe.frames.positions import read_positions
from walletframe.frames.tables import UNKNOWN, unread
from walletframe.numerals import cents, many, plain
from walletframe.text import as_cell, as_link, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from walletframe.amounts import AmountArray
    from walletframe.amounts.integers import Floats
    from walletframe.frames.details import FetchLike
    from walletframe.frames.identity import Codes, Identities, Mask
    from walletframe.frames.positions import Positions, PositionsLike

_EDITIONS = count(1)
_DIGITS, _ROUGHLY, _SAMPLE, _WHOLE = 18, 9, 1_000, 500
_MOST_ROWS, _KEPT, _HEADING = 400, 12, 40
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_RANKS = ["token", "amount", "value", "wallet", "price", "holders", "tokens", "balances", "known"]
_OWN, _LAST = 20, 90  # behind those, and before the rest
_COUNTS = {
    "tokens": "tokens",
    "holders": "holders",
    "balances": "balances",
    "amount_na": "unknown amounts",
    "unpriced": "unpriced",
}
_NAMES = ("wallet", "token", "asset", "blockchain")  # to group by, beside a user's own
_ODD = {"amount_na", "unpriced"}  # shown where there are any

PICKS = {"wallet": "wallets", "token": "tokens", "contract": "tokens", "blockchain": "blockchains"}
"""What a cell stands for, as a `Selection` names it, by the name of its column."""


class HoldingsTable:
    """Answers what pages ask of holdings, or of their sums by group, a window of rows at a time."""

    def __init__(
        self,
        holdings: PositionsLike,
        wallets: FetchLike | None = None,
        *,
        part_of: tuple[HoldingsTable, Mask] | None = None,
    ) -> None:
        self._held = read_positions(holdings)  # wallets that were asked would all stay in a part
        self.positions: Positions = read_positions(self._held, wallets)
        self._part_of, self._edition = part_of, next(_EDITIONS)
        frame = self.positions.holdings
        names = Counter(frame.columns)
        own = [  # to group by; numbers are not
            name
            for name in kept_names(frame)
            if names[name] == 1 and not is_numeric_dtype(frame[name])
        ]
        self._groups = [*dict.fromkeys(["", *_NAMES, *self.positions.kept, *own])]
        self.grid: Callable[[str], Grid] = lru_cache(_KEPT)(self._make_grid)
        self.order: Callable[[str, str, bool], Codes] = lru_cache(_KEPT)(self._make_order)
        self._rows = lru_cache(_KEPT)(self._make_rows)

    def where(self, marks: Mask, wallets: FetchLike | None = None) -> HoldingsTable:
        """Return a table of some rows and wallets, with the names, columns and order of all."""
        whole = self if self._part_of is None else self._part_of[0]
        held = whole._held.where(marks)  # noqa: SLF001 - of this class
        return HoldingsTable(held, wallets, part_of=(whole, marks))

    def answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return the rows that a page asks for, and once what it has to know of their columns.

        Asked are ``by`` (the group), ``sort`` and ``down``, ``find``, ``start`` and ``count``, and
        ``table``: what the page knows of columns already. What is not there is replaced.
        """
        by, sort, down, words = self._query(asked)
        grid, rows = self.grid(by), self._rows(by, sort, down, words)
        table = f"{self._edition} {by}"
        start = min(max(int(asked.get("start", 0)), 0), len(rows))
        window = rows[start : start + min(max(int(asked.get("count", 100)), 0), _MOST_ROWS)]
        noun = (by if by in _NAMES else "group") if by else "balance"
        counted = many(len(self.order(by, sort, down)), noun)
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
        if asked.get("table") != table:
            answer["columns"] = [
                {
                    "name": name,
                    "label": column.label,
                    "rank": column.rank,
                    "picks": PICKS.get(name),
                    "number": not isinstance(column.cells, Texts),
                    "bar": column.cells.has_bars,
                    "room": column.cells.room(),
                }
                for name, column in grid.columns.items()
            ]
            answer["groups"] = [{"name": by, "label": shown(by, _HEADING)} for by in self._groups]
        return answer

    def meant(self, asked: Mapping[str, Any]) -> tuple[str, Any] | None:
        """Return the kind and the key of what stands in a cell, if a selection can have it."""
        query, place = self._query(asked), int(asked.get("place", -1))
        rows, column = self._rows(*query), self.grid(query[0]).columns.get(str(asked.get("column")))
        if column is None or column.name not in PICKS or not 0 <= place < len(rows):
            return None
        cells, key = column.cells, None
        if isinstance(cells, Texts) and cells.keys and (code := cells.codes[rows[place]]) >= 0:
            key = cells.keys[code]
        return None if key is None else (PICKS[column.name], key)

    def _query(self, asked: Mapping[str, Any]) -> tuple[str, str, bool, tuple[str, ...]]:
        """Return by what rows are grouped and sorted, whether downwards, and words to find."""
        by = next((name for name in self._groups if name == asked.get("by")), "")
        grid, sort, down = self.grid(by), asked.get("sort"), bool(asked.get("down"))
        if sort not in grid.columns:
            sort, down = grid.opens_by
        return by, str(sort), down, search.words_of(str(asked.get("find", "")))

    def _make_grid(self, by: str) -> Grid:
        if by:
            return groups_grid(self.positions, by, totals(self.positions, by))
        if self._part_of is None:
            return balances_grid(self.positions)
        whole, marks = self._part_of
        is_one = len(self.positions.tokens.keys) == 1
        return with_bars(whole.grid(""), whole.positions, marks) if is_one else whole.grid("")

    def _make_order(self, by: str, sort: str, down: bool) -> Codes:  # noqa: FBT001 - a key of a cache
        if self._part_of is not None and not by:
            whole, marks = self._part_of
            order = whole.order(by, sort, down)
            return order[marks[order]]
        grid = self.grid(by)
        if not sort:
            return np.arange(grid.count)
        return grid.columns[sort].cells.order(down=down)

    def _make_rows(self, by: str, sort: str, down: bool, words: tuple[str, ...]) -> Codes:  # noqa: FBT001
        """Keep of the rows, in order, those that hold all words in any of their texts."""
        order = self.order(by, sort, down)
        if not words:
            return order
        grid = self.grid(by)
        cells = [column.cells for column in grid.columns.values()]
        texts = [each for each in cells if isinstance(each, Texts)]
        found: Codes = order[search.rows_with(words, texts, grid.count)[order]]
        return found


class Column(NamedTuple):
    """A column, and the rank by which it is left out where a page has no room for all."""

    name: str  # by which the page asks for it
    label: str  # its heading, one harmless line
    rank: int  # those of high rank go first
    cells: Cells


@dataclass(frozen=True, slots=True)
class Grid:
    """The columns of a table of n rows, in the order in which they stand."""

    columns: dict[str, Column]
    count: int

    @property
    def opens_by(self) -> tuple[str, bool]:
        """What sorts it at first, and whether downwards: values, where none are known nothing."""
        first = next((name for name in ("value", "balances") if name in self.columns), "")
        return first, bool(first)


def balances_grid(positions: Positions) -> Grid:
    """Show each balance, and what holdings and wallets have in columns of the user's."""
    holdings, tokens = positions.holdings, positions.tokens
    wallets = positions.given if positions.asked else None
    texts = {
        "wallet": _wallet_cells(positions.wallets, positions.wallet_codes, wallets),
        **_token_cells(holdings, tokens, _explorers(wallets)),
    }
    numbers: dict[str, Cells] = {"amount": Amounts(positions.amounts, holdings.get("raw_amount"))}
    price = next((name for name in ("unit_price", "price") if name in holdings), None)
    if price is not None and holdings[price].notna().any():
        numbers["price"] = cells_of(holdings[price])
    columns = _columns(texts | numbers) + _value_column(holdings)
    own = search.own_columns(positions)
    columns += [_own_column(f"own {place}", each, _OWN) for place, each in enumerate(own)]
    grid = Grid({each.name: each for each in columns}, len(holdings))
    is_one = len(tokens.keys) == 1
    return with_bars(grid, positions, np.ones(len(holdings), dtype=bool)) if is_one else grid


def with_bars(grid: Grid, positions: Positions, marks: Mask) -> Grid:
    """Draw bars behind the amounts of one token, whose rows are marked; others don't compare."""
    raw = positions.holdings.get("raw_amount")
    amounts = grid.columns["amount"]._replace(cells=Amounts(positions.amounts, raw, marks))
    return replace(grid, columns=grid.columns | {"amount": amounts})


def groups_grid(positions: Positions, by: str, sums: pd.DataFrame) -> Grid:
    """Show the sums that `totals` gives, by one name."""
    wallets = positions.given if positions.asked else None
    texts: dict[str, Cells] = {}
    if by == "token":
        texts = _token_cells(sums, token_identities(sums), _explorers(wallets))
    elif by == "wallet":
        texts = {"wallet": _wallet_cells(sums, np.arange(len(sums)), wallets)}
    columns = _columns(texts) or [_own_column(by if by in PICKS else "group", sums[by], 0)]
    numbers = {"amount": cells_of(sums["amount"])} if "amount" in sums else {}
    columns += _columns(numbers) + _value_column(sums)
    counted = {
        name: cells_of(sums[name])
        for name in _COUNTS
        if name in sums and (name not in _ODD or (sums[name] > 0).any())
    }
    if "wallets_asked" in sums:  # of how many it is known what they hold
        names = ["wallets_ok", "wallets_stale", "wallets_asked"]
        kinds, codes = np.unique(sums[names].to_numpy(np.int64), axis=0, return_inverse=True)
        each = kinds.tolist()
        labels = [f"{ok:,} of {of:,}{f', {stale:,} stale' * bool(stale)}" for ok, stale, of in each]
        ranks = [(ok / max(asked, 1), ok - stale, asked) for ok, stale, asked in each]
        counted["known"] = Texts(codes.ravel(), labels, by=ranks)
    columns += _columns(counted)
    return Grid({each.name: each for each in columns}, len(sums))


def _own_column(name: str, series: pd.Series, rank: int) -> Column:
    return Column(name, shown(str(series.name), _HEADING), rank, cells_of(series))


def _columns(cells: Mapping[str, Cells]) -> list[Column]:
    labels = _COUNTS | {"known": "wallets known"}
    return [
        Column(name, labels.get(name, name), _RANKS.index(name) if name in _RANKS else _LAST, each)
        for name, each in cells.items()
    ]


def _value_column(frame: pd.DataFrame) -> list[Column]:
    """Show values as money; a user's own column may hold anything else."""
    if "value" not in frame:
        return []
    currencies: Any = frame["currency"].dropna().unique() if "currency" in frame else []
    unit = f" ({shown(str(currencies[0]), 12)})" if len(currencies) == 1 else ""
    rank = _RANKS.index("value")
    columns = [Column("value", f"value{unit}", rank, cells_of(frame["value"], money=True))]
    if len(currencies) > 1:
        columns.append(Column("currency", "currency", rank, text_cells(frame["currency"])))
    return columns


def _wallet_cells(named: pd.DataFrame, codes: Codes, wallets: pd.DataFrame | None) -> Texts:
    """Name wallets, of which `named` has one row each, and link their explorer's pages."""
    names = given_names(named, wallets)
    texts = search.wallet_texts(named, codes, names)
    keys = [f"{chain}.{address}" for chain, address in search.wallet_pairs(named)]
    by = [alphabetical(f"{name}{whole}") for name, whole in zip(names, texts.wholes, strict=True)]
    links: list[str | None] = []
    if wallets is not None:
        asked, pages = wallet_identities(wallets), _pages(wallets)
        found = {key: pages[row] for key, row in zip(asked.keys, asked.first, strict=True)}
        links = [found.get(key) for key in wallet_identities(named).keys]
    return Texts.of(texts, links=links, by=by, keys=keys)


def _token_cells(
    frame: pd.DataFrame, tokens: Identities, explorers: Mapping[str, str]
) -> dict[str, Cells]:
    """Name the token of each row, its blockchain and its contract."""
    texts = search.token_texts(frame, tokens)
    token, contract = texts["token"], texts["contract"]
    keys = [None if is_unknown(key) else key for key in tokens.keys]
    named = frame[["token_blockchain", "token_address"]].iloc[tokens.first]
    links: list[str | None] = []
    for chain, address in named.itertuples(index=False, name=None):
        is_plain = isinstance(address, str) and _PLAIN.fullmatch(address)
        before = explorers.get(canonical_blockchain(chain)) if isinstance(chain, str) else None
        links.append(as_link(f"{before}{address}") if before and is_plain else None)
    return {
        "token": Texts.of(token, by=[alphabetical(label) for label in token.labels], keys=keys),
        "blockchain": text_cells(search.token_chains(frame, tokens)),
        "contract": Texts.of(
            contract, links=links, by=[alphabetical(whole) for whole in contract.wholes], keys=keys
        ),
    }


def _pages(wallets: pd.DataFrame) -> list[str | None]:
    if "explorer_url" not in wallets:
        return [None] * len(wallets)
    return [as_link(link) if isinstance(link, str) else None for link in wallets["explorer_url"]]


def _explorers(wallets: pd.DataFrame | None) -> dict[str, str]:
    """Return how each blockchain's explorer writes the page of an address, up to that."""
    found: dict[str, str] = {}
    if wallets is None:
        return found
    named = zip(wallets["blockchain"], wallets["address"], _pages(wallets), strict=True)
    for chain, address, page in named:
        if page is not None and isinstance(address, str):
            before, _, after = page.lower().rpartition(quote(address, safe="").lower())
            if before and not after:
                found.setdefault(canonical_blockchain(chain), page[: len(before)])
    return found


def ordered(keys: Any, missing: Mask, *, down: bool) -> Codes:
    """Sort what NumPy can compare, stable in both directions, and those missing last."""
    step = -1 if down else 1
    present = np.flatnonzero(~missing)[::step]
    found = present[np.argsort(keys[present], kind="stable")][::step]
    return np.concatenate((found, np.flatnonzero(missing)))


@dataclass(eq=False)
class Texts(search.TextColumn):
    """Texts, which a page shows by their labels, and copies as wholes."""

    has_bars: ClassVar[bool] = False
    _: KW_ONLY
    links: Sequence[str | None] = ()
    by: Sequence[Any] = ()  # by which they are ordered, if not by labels
    keys: Sequence[Any] = ()  # for which they stand

    @classmethod
    def of(cls, texts: search.TextColumn, **more: Sequence[Any]) -> Texts:
        """Add to texts what a page has of them."""
        return cls(texts.codes, texts.labels, texts.wholes, texts.words, **more)

    @cached_property
    def _ranks(self) -> Codes:
        """The place of each text in order; the last is that of none."""
        keys = [*(self.by or self.labels)]
        try:
            found = sorted({*keys})
        except TypeError:  # a user's column may hold what can't be compared
            keys = [str(key) for key in keys]
            found = sorted({*keys})
        places = {key: place for place, key in enumerate(found)}
        return np.array([*(places[key] for key in keys), -1], dtype=np.intp)

    def order(self, *, down: bool) -> Codes:
        """Sort by rank: the texts are compared once."""
        return ordered(self._ranks[self.codes], self.codes < 0, down=down)

    def room(self) -> tuple[int, int]:
        """Return how many letters most labels have at most."""
        lengths = sorted(map(len, self.labels[:_SAMPLE])) or [0]
        return lengths[len(lengths) * 9 // 10], 0

    def written(self, rows: Codes) -> dict[str, list[Any]]:
        """Write labels; wholes and what is to be copied of them, where these are others."""
        codes = self.codes[rows].tolist()
        labels = ["" if code < 0 else self.labels[code] for code in codes]
        whole = self.wholes or self.labels
        wholes = ["" if code < 0 else whole[code] for code in codes]
        copies = [as_cell(whole) for whole in wholes]
        found: dict[str, list[Any]] = {"text": labels}
        if wholes != labels:
            found["whole"] = where_other(wholes, labels)
        if copies != wholes:
            found["copy"] = where_other(copies, wholes)
        if self.links:
            found["link"] = [None if code < 0 else self.links[code] for code in codes]
        return found


def where_other(texts: list[str], usual: list[str]) -> list[str | None]:
    """Drop the values that are as usual."""
    return [None if one == other else one for one, other in zip(texts, usual, strict=True)]


def text_cells(values: pd.Series) -> Texts:
    """Show a column of any type as text, in the order of what it holds where that has one."""
    codes, found = search.factorized_values(values)
    by: list[Any] = found
    if isinstance(values.dtype, pd.CategoricalDtype) and values.dtype.ordered:
        by = [values.dtype.categories.get_loc(each) for each in found]
    elif all(isinstance(each, str) for each in found):
        by = [alphabetical(each) for each in found]
    return Texts.of(search.texts_of(codes, found), by=by, keys=found)


def alphabetical(text: str) -> tuple[str, str]:
    """Return a sort key without regard to case, which still orders texts equal but for it."""
    return text.casefold(), text


class Numbers:
    """Each row has an int or a float; NaN and NA are missing. Values of money have cents."""

    def __init__(self, values: Any, missing: Mask, *, money: bool = False) -> None:
        self._values, self._missing = values, missing
        self.has_bars: bool = money

    def order(self, *, down: bool) -> Codes:
        """Sort as NumPy does."""
        return ordered(self._values, self._missing, down=down)

    def room(self) -> tuple[int, int]:
        """Measure the largest, and how many decimals some have."""
        some = self._values[~self._missing]
        before = _digits_before(some.astype(np.float64))
        if self.has_bars:
            return before, 2
        step = len(some) // _SAMPLE + 1
        behind = (len(_digits(value).partition(".")[2]) for value in some[::step].tolist())
        return before, max(behind, default=0)

    def written(self, rows: Codes) -> dict[str, list[Any]]:
        """Write plain digits; values to the cent, and what they are exactly."""
        values, missing = self._values[rows], self._missing[rows].tolist()
        each = [*zip(values.tolist(), missing, strict=True)]
        exact = ["" if gone else _digits(value) for value, gone in each]
        if not self.has_bars:
            return _parts(exact)
        texts = ["" if gone else cents(value) for value, gone in each]
        copied = {"copy": where_other(exact, texts)} if texts != exact else {}
        return _parts(texts) | copied | {"bar": _shares(values, self._largest)}

    @cached_property
    def _largest(self) -> float:
        return float(np.abs(self._values[np.isfinite(self._values)]).max(initial=0))


class Amounts:
    """Each row has an exact amount, or what was sent; behind some, of one token, are bars."""

    def __init__(
        self, amounts: AmountArray, raw: pd.Series | None = None, of_one: Mask | None = None
    ) -> None:
        self._amounts, self._raw, self._of_one = amounts, raw, of_one
        self.has_bars: bool = of_one is not None

    def order(self, *, down: bool) -> Codes:
        """Sort exactly."""
        return self._amounts.argsort(ascending=not down)

    @cached_property
    def _floats(self) -> Floats:
        return to_floats(self._amounts.exact())

    @cached_property
    def _largest(self) -> float:
        return float(np.nanmax(np.abs(self._floats[self._of_one]), initial=0))

    def room(self) -> tuple[int, int]:
        """Measure the largest of usual size, and find how many decimals all of them need."""
        integers, _, scale = self._amounts.exact()
        common = str(math.gcd(10**scale, *integers.tolist()))  # all of them end with its zeros
        needed = scale - len(common) + len(common.rstrip("0"))
        return _digits_before(self._floats[~np.isnan(self._floats)]), needed

    def written(self, rows: Codes) -> dict[str, list[Any]]:
        """Write all digits."""
        amounts = self._amounts.take(rows)
        missing = np.asarray(amounts.isna())
        texts = ["" if gone else str(each) for each, gone in zip(amounts, missing, strict=True)]
        found = _parts(texts)
        if missing.any():
            raw = [None] * len(rows) if self._raw is None else self._raw.array.take(rows)
            found["note"] = [
                None if not gone else UNKNOWN if each is None else shown(unread(each), _WHOLE)
                for each, gone in zip(raw, missing, strict=True)
            ]
        if self.has_bars:
            found["bar"] = _shares(self._floats[rows], self._largest)
        return found


Cells: TypeAlias = Texts | Numbers | Amounts


def _digits(number: float) -> str:
    """Write an int or a float with all its digits."""
    return str(number) if isinstance(number, int) else plain(number).removesuffix(".0")


def _digits_before(values: Floats) -> int:
    """Count the digits before the point of the largest, but for those that are written roughly."""
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
    """Show a column of a frame by its dtype."""
    dtype = values.dtype
    if isinstance(dtype, AmountDtype):
        return Amounts(amounts_of(values))
    if search.has_texts(values):
        return text_cells(values)
    whole: type[Any] = np.uint64 if is_unsigned_integer_dtype(dtype) else np.int64
    kind = np.float64 if is_float_dtype(dtype) else whole
    missing = values.isna().to_numpy(dtype=bool)
    return Numbers(values.to_numpy(dtype=kind, na_value=0), missing, money=money)
