"""Holdings that stay on the disk, in the folder of a bulk run, and are read in chunks.

Prices and spam flags are added while balances are read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from walletframe.amounts import AmountArray
from walletframe.bulk import reading
from walletframe.bulk.files import Paths, as_dataset_errors
from walletframe.disk import local_path
from walletframe.errors import DatasetError
from walletframe.frames import schema
from walletframe.frames.assembly import assemble, concatenate_column
from walletframe.frames.coverage import with_filters
from walletframe.frames.identity import TOKEN, Codes, Mask, TokenKey, encode_tokens
from walletframe.frames.known import summary_lines
from walletframe.frames.lookups import PRICE_DTYPES, SPAM_DTYPES, encode_token_symbol_pairs
from walletframe.frames.positions import Chunk, Positions, read_positions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from walletframe.bulk.reading import FolderPart, FolderWallets
    from walletframe.frames.lookups import PriceLookup, SpamFlags, TokenSymbolPairCodes

T = TypeVar("T")
_TABLE_COLUMNS = ("blockchain", "address", *TOKEN, "amount")


@dataclass(frozen=True, slots=True, repr=False)
class StoredHoldings:
    """The holdings of an opened folder, with wallets in memory and balances on the disk."""

    root: Path
    contents: FolderWallets
    order: Codes  # the index of each wallet in `contents`
    template: Positions  # all wallets, with an empty frame of holdings
    counts: Codes  # the number of rows of each wallet
    first_rows: Codes  # the row number in the folder of each wallet's first row
    prices: PriceLookup | None = None
    flags: SpamFlags | None = None
    removed: tuple[SpamFlags, ...] = ()  # one item for each call of `without_spam`
    unknown_rows: Codes | None = None  # rows of unknown tokens, if spam is flagged or removed
    spells_blockchains_as_template: bool = True

    @property
    def wallets(self) -> pd.DataFrame:
        """All wallets, including failed wallets."""
        return self.template.wallet_frame

    def __repr__(self) -> str:
        return "\n".join([*summary_lines(self.wallets), f"On disk, in {self.root}"])

    def with_prices(self, prices: PriceLookup) -> StoredHoldings:
        """Return the holdings with prices and values. Earlier columns of prices are replaced."""
        return replace(self, prices=prices, template=self._template_with_new_columns(prices.dtypes))

    def with_spam_flags(self, flags: SpamFlags, unknown_rows: Codes) -> StoredHoldings:
        """Return the holdings with columns of spam flags."""
        rows = unknown_rows if self.unknown_rows is None else self.unknown_rows
        template = self._template_with_new_columns(SPAM_DTYPES)
        return replace(self, flags=flags, unknown_rows=rows, template=template)

    def without_spam(self, flags: SpamFlags, unknown_rows: Codes) -> StoredHoldings:
        """Return the holdings without the rows that are flagged as spam."""
        rows = unknown_rows if self.unknown_rows is None else self.unknown_rows
        holdings = with_filters(self.template.holdings, **flags.dropped)
        template, removed = replace(self.template, holdings=holdings), (*self.removed, flags)
        return replace(self, removed=removed, unknown_rows=rows, template=template)

    def holdings_of_wallets(self, indices: Codes) -> StoredHoldings:
        """Return the holdings of the wallets with these ascending indices."""
        mask = np.zeros(len(self.order), dtype=bool)
        mask[self.order[indices]] = True
        template = replace(
            self.template.with_wallets(indices),
            wallet_frame=self.wallets.iloc[indices].reset_index(drop=True),
            first=np.arange(len(indices)),
        )
        if (unknown := self.unknown_rows) is not None:
            wallets = np.searchsorted(self.first_rows, unknown, side="right") - 1
            unknown = unknown[np.isin(wallets, indices)]
        return replace(
            self,
            contents=self.contents.select_wallets(mask),
            order=(np.cumsum(mask) - 1)[self.order[indices]],
            template=template,
            counts=self.counts[indices],
            first_rows=self.first_rows[indices],
            unknown_rows=unknown,
        )

    def _template_with_new_columns(self, dtypes: Mapping[str, Any]) -> Positions:
        empty_columns = schema.typed_frame(dict.fromkeys(dtypes, ()), dtypes)
        kept = self.template.holdings
        if "unit_price" in dtypes:  # drop the column of an earlier valuation
            kept = kept.drop(columns="price_source", errors="ignore")
        return replace(self.template, holdings=kept.assign(**empty_columns))

    def map_chunks(self, func: Callable[[Chunk], T], names: Collection[str] = ()) -> Iterator[T]:
        """Apply a function to each chunk. A chunk has the token columns and the columns `names`."""
        with as_dataset_errors(self.root):
            indices = np.argsort(self.order)
            for part in self.contents.parts:
                part_indices, indices = np.split(indices, [len(part.wallets)])
                yield func(self._read_part(part, part_indices, names))

    def read_rows(
        self, tokens: Collection[TokenKey] | None, extra_columns: Collection[str]
    ) -> pd.DataFrame:
        """Read the rows of these tokens, or of all tokens if None, in the order of the holdings."""
        wanted = {*_TABLE_COLUMNS, *extra_columns, *self._service_price_column}
        with as_dataset_errors(self.root):
            columns = [name for name in schema.HOLDING_DTYPES if name in wanted]
            keys = None if tokens is None else {*tokens}
            rows = reading.read_balances(self.contents, self.wallets, self.order, columns, keys)
        [_, rows] = schema.normalize_blockchains(self.wallets, rows)
        added = {*PRICE_DTYPES, "price_source", *SPAM_DTYPES}
        if not self.removed and added.isdisjoint(extra_columns):
            return rows
        token_ids, row_numbers = encode_tokens(rows), np.full(len(rows), -1)
        # The rows of unknown tokens are read all together or not at all.
        if self.unknown_rows is not None and token_ids.unknown.any():
            row_numbers[token_ids.unknown_rows()] = self.unknown_rows
        codes = encode_token_symbol_pairs(rows, token_ids, row_numbers)
        rows = rows.assign(**self._added_columns(codes, wanted))
        rows = rows[self._not_removed_mask(codes)]
        return rows[[name for name in rows.columns if name in wanted]].reset_index(drop=True)

    def map_token_batches(
        self,
        function: Callable[[Positions], T],
        batches: Sequence[Collection[TokenKey]],
        extra_columns: Collection[str],
    ) -> Iterator[T]:
        """Apply a function to the rows of each batch of tokens. Results are computed lazily."""
        rows = (self.read_rows(keys, extra_columns) for keys in batches)
        return map(function, map(self.template.with_holdings, rows))

    @property
    def _service_price_column(self) -> set[str]:
        return {"price"} if self.prices and None in self.prices.prices else set()

    def _not_removed_mask(self, codes: TokenSymbolPairCodes) -> Mask:
        mask = np.ones(len(codes.codes), dtype=bool)
        for flags in self.removed:
            mask &= ~flags.computed_columns(codes)["is_spam"]
        return mask

    def _added_columns(self, codes: TokenSymbolPairCodes, names: Collection[str]) -> dict[str, Any]:
        columns = self.prices.computed_columns(codes) if self.prices and "amount" in names else {}
        if self.flags and not SPAM_DTYPES.keys().isdisjoint(names):
            columns |= self.flags.computed_columns(codes)
        return columns

    def _read_part(self, part: FolderPart, indices: Codes, names: Collection[str]) -> Chunk:
        order = np.argsort(indices)
        indices = indices[order]
        wanted_names = schema.HOLDING_DTYPES.keys() & {*names, *self._service_price_column}
        extra = [name for name in wanted_names if name not in _TABLE_COLUMNS]
        read = part.balance_columns([*TOKEN, *extra, *wanted_names & {"amount"}])
        part_rows = reading.reordered_row_numbers(part.balance_counts, order)
        counts = part.balance_counts[order]
        wallets = np.repeat(np.arange(len(indices)), counts)
        spellings, codes = reading.factorize_tokens(read, part_rows)
        columns: dict[str, Any] = {name: spellings[name].array.take(codes) for name in TOKEN}
        if amounts := read.get("amount"):
            amounts = amounts if part_rows is None else amounts.take(part_rows)
            columns["amount"] = AmountArray._from_int128(amounts)  # noqa: SLF001 - AmountArray is a class of this package
        else:
            columns["amount"] = schema.na_amounts(len(wallets))
        for name in extra:
            columns[name] = concatenate_column(name, [read[name]], part_rows)
        for name in {"blockchain", "address"}.intersection(names):
            columns[name] = self.template.wallets[name].array.take(indices[wallets])
        holdings = pd.DataFrame(columns, copy=False)
        first_rows = self.first_rows[indices] - np.cumsum(counts) + counts
        rows = first_rows.take(wallets) + np.arange(len(wallets))
        tokens = encode_tokens(spellings, codes)
        if self.removed:
            pairs = encode_token_symbol_pairs(holdings, tokens, rows)
            remaining = np.flatnonzero(self._not_removed_mask(pairs))
            holdings = holdings.take(remaining).reset_index(drop=True)
            tokens = tokens.take(remaining)
            wallets, rows = wallets[remaining], rows[remaining]
        if self.prices or self.flags:
            pairs = encode_token_symbol_pairs(holdings, tokens, rows)
            holdings = holdings.assign(**self._added_columns(pairs, names))
        positions = self.template.with_wallets(indices).with_rows(holdings, tokens, wallets)
        return Chunk(positions, indices, rows)


def open_holdings(folder: str | Path) -> StoredHoldings:
    """Open the folder of a bulk run. Parts that are written later are not included."""
    paths = Paths(local_path(folder))
    with as_dataset_errors(paths.root):
        holdings = stored_holdings(reading.read_folder(paths), paths)
        reading.warn_if_unfinished(paths, holdings.wallets.attrs)
        return holdings


def stored_holdings(contents: FolderWallets, paths: Paths) -> StoredHoldings:
    """Return the holdings of a folder, with the wallets in the order of the fetch."""
    wallets, order = reading.wallets_and_contents_indices(contents)
    [wallets] = schema.normalize_blockchains(wallets)
    template = read_positions(assemble([]).holdings, reading.append_extra_columns(wallets, paths))
    if len(template.wallets) < len(wallets):
        raise DatasetError(f"{paths.root} lists a wallet twice", hint="fetch into a new folder")
    failed_counts = np.zeros(len(contents.failed))
    counts = np.concatenate([*(part.balance_counts for part in contents.parts), failed_counts])
    counts = counts[order].astype(np.intp)
    first_rows = np.cumsum(counts) - counts
    return StoredHoldings(paths.root, contents, order, template, counts, first_rows)
