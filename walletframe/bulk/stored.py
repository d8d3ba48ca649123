"""A folder of a bulk run as one fetch that stays on the disk, read block by block.

Prices, and what is spam, are added whenever balances are read. Both are the same in all rows of a
case, which is a token under one symbol; a row of an unknown token is known by its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.bulk import reading
from walletframe.bulk.files import Layout, dataset_errors
from walletframe.disk import local_folder
from walletframe.errors import DatasetError
from walletframe.frames.assembly import assemble
from walletframe.frames.contract import (
    HOLDING_DTYPES,
    amounts_unread,
    respelled,
    text_array,
    typed_frame,
)
from walletframe.frames.identity import TOKEN, UNKNOWN, TokenKey, token_identities
from walletframe.frames.positions import Block, Positions, read_positions
from walletframe.pandas_versions import TEXT, factorized

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from walletframe.bulk.reading import Contents, Part
    from walletframe.frames.identity import Codes, Identities, Mask

T = TypeVar("T")
_NEEDED = ("blockchain", "address", *TOKEN, "amount")

PRICED: Final[dict[str, object]] = {"unit_price": "float64", "value": "float64", "currency": TEXT}
FLAGGED: Final[dict[str, object]] = {
    "spam_score": "float64",
    "spam_reasons": TEXT,
    "is_spam": "bool",
}
_CLEAN = (0.0, "")


@dataclass(frozen=True, slots=True)
class Cases:
    """Of which token n rows are, and under which symbol."""

    codes: Codes  # of each row, its case
    keys: list[TokenKey]  # of each case; `UNKNOWN` for all unknown tokens
    symbols: list[str | None]  # of each case
    places: Codes  # of each row, its place among all; maybe of those of unknown tokens alone
    rows: pd.DataFrame


def cases_of(
    holdings: pd.DataFrame, tokens: Identities | None = None, places: Codes | None = None
) -> Cases:
    """Return the cases of rows; `tokens` are theirs if known, `places` needed of unknown ones."""
    tokens = token_identities(holdings) if tokens is None else tokens
    numbers, symbols = factorized(holdings["symbol"], use_na_sentinel=False)
    codes, pairs = pd.factorize(tokens.codes * max(len(symbols), 1) + numbers)
    of_cases, spelled = np.divmod(pairs, max(len(symbols), 1))
    keys, texts = tokens.plain_keys, [text if isinstance(text, str) else None for text in symbols]
    return Cases(
        codes,
        [keys[place] for place in of_cases.tolist()],
        [texts[place] for place in spelled.tolist()],
        np.full(len(holdings), -1) if places is None else places,
        holdings,
    )


@dataclass(frozen=True, slots=True)
class Units:
    """Prices of balances: of tokens, of symbols, or those that the service has sent."""

    of: Mapping[Any, float] | None  # None: sent
    by_symbol: bool
    currency: str | None

    def columns(self, cases: Cases) -> dict[str, Any]:
        """Value rows as `walletframe.analysis.value` does."""
        if self.of is None:
            units = cases.rows["price"].to_numpy(np.float64).copy()
        else:
            of: Any = self.of
            names: list[Any] = cases.symbols if self.by_symbol else cases.keys
            units = np.array([*(of.get(name, np.nan) for name in names), np.nan])[cases.codes]
        units[cases.rows["token_blockchain"].isna()] = np.nan
        return {
            "unit_price": units,
            "value": cases.rows["amount"].array * units,
            "currency": text_array([self.currency] * len(units)),
        }


@dataclass(frozen=True, slots=True)
class Flags:
    """What was found of cases: a score, and its reasons in words."""

    of: Mapping[tuple[TokenKey, str | None], tuple[float, str]]  # those not clean, of known tokens
    of_rows: Mapping[int, tuple[float, str]]  # the same of unknown tokens, by the place of the row
    threshold: float

    def columns(self, cases: Cases) -> dict[str, Any]:
        """Flag rows as `walletframe.analysis.flag_spam` does."""
        pairs = zip(cases.keys, cases.symbols, strict=True)
        found = [*(self.of.get(pair, _CLEAN) for pair in pairs), _CLEAN]
        unknown = np.array([key == UNKNOWN for key in cases.keys], dtype=bool)
        codes, rows = cases.codes.copy(), np.flatnonzero(unknown[cases.codes])
        codes[rows] = len(found) + np.arange(len(rows))
        found += [self.of_rows.get(place, _CLEAN) for place in cases.places[rows].tolist()]
        scores = np.array([score for score, _ in found])[codes]
        reasons = text_array(np.array([words for _, words in found], dtype=object))
        return {
            "spam_score": scores,
            "spam_reasons": reasons.take(codes),
            "is_spam": scores >= self.threshold,
        }


@dataclass(frozen=True, slots=True)
class StoredHoldings:
    """The wallets of a folder as they were when it was opened, and their balances on the disk."""

    root: Path
    contents: Contents
    order: Codes  # of each wallet, its place in `contents`
    whole: Positions  # all wallets, without any rows
    counts: Codes  # of each wallet, how many rows it has
    units: Units | None = None  # where they were valued
    flags: Flags | None = None  # where spam was flagged
    left_out: tuple[Flags, ...] = ()  # and where it was left out, the last time last
    unknown: Codes | None = None  # with flags, the places of all rows of unknown tokens
    respells: bool = True  # blockchains are written alike in all rows

    @property
    def wallets(self) -> pd.DataFrame:
        """All wallets, those that are not ok among them."""
        return self.whole.given

    def valued(self, units: Units) -> StoredHoldings:
        """Return the same with prices and values, in place of earlier ones."""
        return replace(self, units=units, whole=self._with(PRICED))

    def flagged(self, flags: Flags, unknown: Codes) -> StoredHoldings:
        """Return the same with flags; `unknown` has the places of rows of unknown tokens."""
        unknown = unknown if self.unknown is None else self.unknown
        return replace(self, flags=flags, unknown=unknown, whole=self._with(FLAGGED))

    def without(self, flags: Flags, unknown: Codes) -> StoredHoldings:
        """Return the same without the rows that are flagged as spam."""
        unknown = unknown if self.unknown is None else self.unknown
        return replace(self, left_out=(*self.left_out, flags), unknown=unknown)

    def some(self, places: Codes) -> StoredHoldings:
        """Return the same with some of the wallets alone, by their places, which ascend."""
        marks = np.zeros(len(self.order), dtype=bool)
        marks[self.order[places]] = True
        whole = replace(
            self.whole.some(places),
            given=self.wallets.iloc[places].reset_index(drop=True),
            first=np.arange(len(places)),
        )

        def moved(flags: Flags) -> Flags:
            pairs = self._moved(np.array([*flags.of_rows], dtype=np.intp), places).items()
            return replace(flags, of_rows={new: flags.of_rows[old] for old, new in pairs})

        unknown = self.unknown
        if unknown is not None:
            unknown = np.array([*self._moved(unknown, places).values()], dtype=np.intp)
        return replace(
            self,
            contents=self.contents.some(marks),
            order=(np.cumsum(marks) - 1)[self.order[places]],
            whole=whole,
            counts=self.counts[places],
            flags=self.flags and moved(self.flags),
            left_out=tuple(map(moved, self.left_out)),
            unknown=unknown,
        )

    def _moved(self, rows: Codes, places: Codes) -> dict[int, int]:
        """Return the new places of those of some rows that wallets at these places have."""
        ends, left = np.cumsum(self.counts), np.cumsum(self.counts[places])
        owners = np.searchsorted(ends, rows, side="right")
        stays = np.isin(owners, places)
        new = left[np.searchsorted(places, owners[stays])] - ends[owners[stays]] + rows[stays]
        return dict(zip(rows[stays].tolist(), new.tolist(), strict=True))

    def _with(self, dtypes: Mapping[str, Any]) -> Positions:
        """Return the wallets without rows, which have some more columns."""
        none = typed_frame(dict.fromkeys(dtypes, ()), dtypes)
        return replace(self.whole, holdings=self.whole.holdings.assign(**none))

    def over(self, work: Callable[[Block], T], names: Collection[str] = ()) -> Iterator[T]:
        """Read what tables need of all balances, and some more columns, part by part."""
        with dataset_errors(self.root):
            places = np.empty(len(self.order), dtype=np.intp)
            places[self.order] = np.arange(len(self.order))
            for part in self.contents.parts:
                own, places = np.split(places, [len(part.wallets)])
                yield work(self._block(part, own, names))

    def read(self, tokens: Collection[TokenKey] | None, names: Collection[str]) -> pd.DataFrame:
        """Read the rows of some tokens, or all of them for None, in their order."""
        wanted = {*_NEEDED, *names, *self._sent}
        with dataset_errors(self.root):
            columns = [name for name in HOLDING_DTYPES if name in wanted]
            chosen = None if tokens is None else {*tokens}
            held = reading.read_holdings(self.contents, self.wallets, self.order, columns, chosen)
        [_, held] = respelled(self.wallets, held)
        if not self.left_out and {*PRICED, *FLAGGED}.isdisjoint(names):
            return held
        found, places = token_identities(held), np.full(len(held), -1)
        if self.unknown is not None and found.unknown.any():  # then all of them are there
            places[found.unknown_rows()] = self.unknown
        cases = cases_of(held, found, places)
        added = held.assign(**self._added(cases, wanted))[self._left(cases)]
        return added[[name for name in added.columns if name in wanted]].reset_index(drop=True)

    def each(
        self,
        work: Callable[[Positions], T],
        tokens: Sequence[Collection[TokenKey]],
        names: Collection[str],
    ) -> Iterator[T]:
        """Apply a function to the rows of some tokens at a time."""
        return (work(self.whole.with_holdings(self.read(keys, names))) for keys in tokens)

    @property
    def _sent(self) -> set[str]:
        return {"price"} if self.units and self.units.of is None else set()

    def _left(self, cases: Cases) -> Mask:
        """Return which rows were not left out."""
        left = np.ones(len(cases.codes), dtype=bool)
        for flags in self.left_out:
            left &= ~flags.columns(cases)["is_spam"]
        return left

    def _added(self, cases: Cases, names: Collection[str]) -> dict[str, Any]:
        """Return prices and values of rows, where amounts are named, and flags where these are."""
        found = self.units.columns(cases) if self.units and "amount" in names else {}
        if self.flags and not FLAGGED.keys().isdisjoint(names):
            found |= self.flags.columns(cases)
        return found

    def _block(self, part: Part, places: Codes, names: Collection[str]) -> Block:
        """Read a part, of whose wallets these are the places among all."""
        order = np.argsort(places)
        places = places[order]
        wanted = HOLDING_DTYPES.keys() & {*names, *self._sent}
        more = [name for name in wanted if name not in _NEEDED]
        read = part.read([*TOKEN, *more, *wanted & {"amount"}])
        taken = reading.rows_of(part.counts, order)
        owners = np.repeat(np.arange(len(places)), part.counts[order])
        written, ways = reading.tokens_read(read, taken)
        columns: dict[str, Any] = {name: written[name].array.take(ways) for name in TOKEN}
        columns["amount"] = amounts_unread(len(owners))
        if words := read.get("amount"):
            words = words if taken is None else words.take(taken)
            columns["amount"] = AmountArray._of_words(words)  # noqa: SLF001 - of ours
        columns |= {name: reading.column_of(name, [read[name]], taken) for name in more}
        for name in {"blockchain", "address"}.intersection(names):
            columns[name] = self.whole.wallets[name].array.take(places[owners])
        holdings, rows = pd.DataFrame(columns, copy=False), reading.rows_of(self.counts, places)
        if rows is None:
            rows = np.arange(len(holdings))
        tokens = token_identities(written, ways)
        if self.left_out:
            left = np.flatnonzero(self._left(cases_of(holdings, tokens, rows)))
            holdings, tokens = holdings.take(left).reset_index(drop=True), tokens.take(left)
            owners, rows = owners[left], rows[left]
        if self.units or self.flags:
            cases = cases_of(holdings, tokens, rows)
            holdings = holdings.assign(**self._added(cases, names))
        return Block(self.whole.some(places).with_rows(holdings, tokens, owners), places, rows)


def open_holdings(folder: str | Path) -> StoredHoldings:
    """Open the folder of a bulk run; what a run writes later is seen where it is opened anew."""
    layout = Layout(local_folder(folder))
    with dataset_errors(layout.root):
        contents = reading.read_contents(layout, reading.service_of(layout))
        return stored_holdings(contents, layout)


def stored_holdings(contents: Contents, layout: Layout) -> StoredHoldings:
    """Sort the wallets of a folder."""
    wallets, order = reading.wallets_of(contents)
    [wallets] = respelled(wallets)
    whole = read_positions(assemble([]).holdings, reading.with_told(wallets, layout))
    if len(whole.wallets) < len(wallets):
        raise DatasetError(f"{layout.root} has a wallet twice", hint="fetch into a new folder")
    none = np.zeros(len(contents.left))
    counts = np.concatenate([*(part.counts for part in contents.parts), none])
    return StoredHoldings(layout.root, contents, order, whole, counts[order].astype(np.intp))
