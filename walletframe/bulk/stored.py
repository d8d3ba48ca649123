"""A folder of a bulk run as one fetch that stays on the disk, read block by block."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.bulk.files import POSITION, Layout, as_frame, dataset_errors
from walletframe.bulk.parts import read_contents, rows_of
from walletframe.bulk.reading import column_of, read_holdings, service_of, with_told
from walletframe.errors import DatasetError
from walletframe.frames import (
    HOLDING_DTYPES,
    TOKEN,
    WALLET_DTYPES,
    Block,
    Positions,
    TokenBook,
    read_positions,
    respelled,
    some_positions,
    text_array,
    typed_frame,
)

_NEEDED = ("blockchain", "address", *TOKEN, "amount")

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from walletframe.amounts.integers import Floats
    from walletframe.bulk.parts import Contents, Part
    from walletframe.frames import Codes, Identities, TokenKey, Ways


@dataclass(frozen=True, slots=True)
class Units:
    """Prices of balances: of tokens, of symbols, or those that the service has sent."""

    of: Mapping[Any, float] | None  # None: sent
    by_symbol: bool
    currency: str | None

    def column(self, block: pd.DataFrame, ways: Ways, tokens: Identities) -> Floats:
        """Give the price of each row."""
        if self.of is None:
            units = block["price"].to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
        elif self.by_symbol:
            symbols = ways.written()["symbol"]
            units = np.array([self.of.get(symbol, np.nan) for symbol in symbols])[ways.codes]
        else:
            units = np.array([self.of.get(key, np.nan) for key in tokens.keys])[tokens.codes]
        units[block["token_blockchain"].isna()] = np.nan
        return units


@dataclass(frozen=True, slots=True)
class StoredHoldings:
    """The wallets of a folder as they were when it was opened, and their balances on the disk."""

    root: Path
    contents: Contents
    order: Codes  # of each wallet, its place in `contents`
    whole: Positions  # all wallets, without any rows
    counts: Codes  # of each wallet, how many rows it has
    units: Units | None = None  # where they were valued

    @property
    def wallets(self) -> pd.DataFrame:
        """All wallets, those that are not ok among them."""
        return self.whole.given

    def blocks(self, names: Collection[str] = ()) -> Iterator[Block]:
        """Read what tables need of all balances, and some more columns, part by part."""
        book = TokenBook()
        with dataset_errors(self.root):
            for part, places in self._parts():
                yield self._block(part, places, names, book)

    def tokens(self) -> pd.DataFrame:
        """Give each way in which a token is written a row, in the order of the first ones.

        ``balances`` says how many rows have it; each row of an unknown token has one of its own.
        """
        found, book = [], TokenBook()
        with dataset_errors(self.root):
            for part, places in self._parts():
                order = np.argsort(places)
                ways = book.ways(part.read(TOKEN), rows_of(part.counts, order))
                apart = np.flatnonzero(ways.unknown[ways.codes])
                kept = np.unique(np.append(ways.first, apart))
                balances = np.bincount(ways.codes, minlength=len(ways.first))[ways.codes[kept]]
                balances[np.isin(kept, apart)] = 1
                rows = self._rows(places[order])[kept]
                written = ways.written().iloc[ways.codes[kept]]
                written = written.assign(balances=balances, first=rows)
                found.append(written.assign(apart=np.where(np.isin(kept, apart), rows, -1)))
        joined = pd.concat(found, ignore_index=True).sort_values("first", ignore_index=True)
        _, spelled = respelled(self.wallets, joined)
        grouped = spelled.groupby([*TOKEN, "apart"], sort=False, dropna=False)["balances"]
        return grouped.sum().reset_index().drop(columns="apart")

    def read(self, tokens: Collection[TokenKey], names: Collection[str]) -> pd.DataFrame:
        """Read the rows of some tokens, in their order."""
        with dataset_errors(self.root):
            columns = [name for name in HOLDING_DTYPES if name in {*_NEEDED, *names}]
            held = read_holdings(self.contents, self.wallets, self.order, columns, {*tokens})
        return respelled(self.wallets, held)[1]

    def _parts(self) -> Iterator[tuple[Part, Codes]]:
        """Give each part, and of its wallets their places among all."""
        places = np.empty(len(self.order), dtype=np.intp)
        places[self.order] = np.arange(len(self.order))
        start = 0
        for part in self.contents.parts:
            yield part, places[start : start + len(part.wallets)]
            start += len(part.wallets)

    def _rows(self, places: Codes) -> Codes:
        """Give the places of wallets' rows among all, wallet by wallet."""
        counts = self.counts[places]
        starts = (np.cumsum(self.counts) - self.counts)[places] - np.cumsum(counts) + counts
        rows: Codes = np.repeat(starts, counts) + np.arange(counts.sum())
        return rows

    def _block(self, part: Part, places: Codes, names: Collection[str], book: TokenBook) -> Block:
        order = np.argsort(places)
        places = places[order]
        sent = {"price"} if self.units and self.units.of is None else set()
        more = [name for name in {*names, *sent} if name not in _NEEDED]
        read, rows = part.read([*TOKEN, "amount", *more]), rows_of(part.counts, order)
        owners = np.repeat(np.arange(len(places)), part.counts[order])
        chains, kinds = pd.factorize(self.whole.chain_codes[places])
        ways = book.ways(read, rows, (chains[owners], max(len(kinds), 1)))
        columns = ways.columns()
        amounts = read["amount"] if rows is None else read["amount"].take(rows)
        columns["amount"] = AmountArray._of_words(amounts)  # noqa: SLF001 - of ours
        columns |= {name: column_of(name, [read[name]], rows) for name in more}
        for name in {"blockchain", "address"}.intersection(names):
            columns[name] = self.whole.wallets[name].array.take(places[owners])
        holdings = pd.DataFrame(columns, copy=False)
        tokens = ways.identities()
        if self.units:
            units = self.units.column(holdings, ways, tokens)
            worth = {"unit_price": units, "value": columns["amount"] * units}
            currency = text_array([self.units.currency] * len(units))
            holdings = holdings.assign(**worth, currency=currency)
        positions = some_positions(self.whole, places, holdings, tokens, owners)
        return Block(positions, places, self._rows(places), ways)


def open_holdings(folder: str | Path) -> StoredHoldings:
    """Open the folder of a bulk run; what a run writes later is seen where it is opened anew."""
    layout = Layout(Path(folder))
    with dataset_errors(layout.root):
        contents = read_contents(layout, service_of(layout))
        return stored_holdings(contents, layout)


def stored_holdings(contents: Contents, layout: Layout) -> StoredHoldings:
    """Put the wallets of a folder in their order."""
    found = contents.wallets
    order = np.argsort(found[POSITION].to_numpy(), kind="stable")
    [wallets] = respelled(as_frame(found, WALLET_DTYPES).take(order).reset_index(drop=True))
    none = typed_frame({name: [] for name in HOLDING_DTYPES}, HOLDING_DTYPES)
    whole = read_positions(none, with_told(wallets, layout))
    if len(whole.wallets) < len(wallets):
        raise DatasetError(f"{layout.root} has a wallet twice", hint="fetch into a new folder")
    counts = np.concatenate(
        [*(part.counts for part in contents.parts), np.zeros(len(contents.left))]
    )
    return StoredHoldings(layout.root, contents, order, whole, counts[order].astype(np.intp))
