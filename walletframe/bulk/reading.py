"""`read_wallets`: the files of a bulk run as the frames of a fetch.

A folder has parts, which never change, and a journal of answers that are in no part yet.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from walletframe.address.lists import distinct_wallets, parse_wallets
from walletframe.amounts import AmountArray
from walletframe.amounts.arrow import AMOUNT_TEXT, DECIMALS, from_portable
from walletframe.amounts.sums import Int128Amounts
from walletframe.bulk import files
from walletframe.bulk.files import POSITION, Layout, dataset_errors, key_of, keys_of
from walletframe.bulk.journal import segments, unwritten_records
from walletframe.disk import local_folder, read_parquet
from walletframe.errors import ColumnsError, DatasetError
from walletframe.frameless import at_the_boundary
from walletframe.frames.assembly import WalletRecord, assemble
from walletframe.frames.contract import (
    HOLDING_DTYPES,
    arrow_text,
    normalize_blockchains,
    text_array,
)
from walletframe.frames.details import WalletDetails
from walletframe.frames.identity import TOKEN, token_identities
from walletframe.frames.kept import with_kept
from walletframe.frames.names import token_place
from walletframe.pandas_versions import factorized
from walletframe.wire.outcome import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from pathlib import Path

    from walletframe.address.forms import WalletAddress
    from walletframe.address.lists import WalletsLike
    from walletframe.frames.identity import Codes, Mask, TokenKey
    from walletframe.frames.names import TokenLike

_ABSENT = Outcome(Status.NOT_CACHED, "not in the folder")
_OF_WALLETS = ("blockchain", "address")
_REPEATED = [*_OF_WALLETS, *TOKEN]  # text that is worth a dictionary
_TEXT = pa.large_string()
_TRIES = 5


@dataclass(frozen=True, slots=True)
class StoredPart:
    """All or some of the ok wallets in one file, and the source of their balances."""

    wallets: pa.Table
    chosen: Mask  # the wallets of the file that are in `wallets`
    sizes: Codes  # the number of balances of each wallet of the file
    source: Path | pa.Table

    @property
    def counts(self) -> Codes:
        """The number of balances of each of `wallets`."""
        return self.sizes[self.chosen]

    def read(self, names: Sequence[str], taken: Codes | None = None) -> dict[str, Any]:
        """Read columns of the balances, wallet by wallet: Arrow arrays, amounts as `Int128Amounts`.

        Repeated text comes as dictionaries. `taken` has the rows to read, in their order.
        """
        is_rounded = "amount" in names and self._is_rounded()
        needed = [*names, "address", *(["decimals"] if is_rounded else [])]
        table = self._checked(self._columns([*dict.fromkeys(needed)]))
        rows = None
        if not self.chosen.all():
            rows = np.flatnonzero(np.repeat(self.chosen, self.sizes))
        if taken is not None:
            rows = taken if rows is None else rows[taken]

        def texts(index: Codes) -> pa.Array:
            subset = index if rows is None else rows[index]
            return _one_chunk(self._columns([AMOUNT_TEXT])[AMOUNT_TEXT], subset)

        columns = {name: _one_chunk(table[name], rows) for name in names}
        if "amount" in columns:
            inexact = np.zeros(len(columns["amount"]), dtype=bool)
            if is_rounded:
                decimals = _one_chunk(table["decimals"], rows).fill_null(0)
                inexact = np.asarray(decimals) > DECIMALS.scale
            columns["amount"] = from_portable(columns["amount"], inexact, texts)
        return columns

    def _is_rounded(self) -> bool:
        """Return whether a token may have more decimals than `DECIMALS`, by the file's footer."""
        if isinstance(self.source, pa.Table):
            return True
        footer = pq.read_metadata(self.source)
        index = footer.schema.names.index("decimals")
        groups = [footer.row_group(number).column(index) for number in range(footer.num_row_groups)]
        return not all(
            each.is_stats_set
            and each.statistics.has_min_max
            and each.statistics.max <= DECIMALS.scale
            for each in groups
        )

    def _columns(self, names: list[str]) -> pa.Table:
        if isinstance(self.source, pa.Table):
            coded = [
                column.dictionary_encode() if name in _REPEATED else column
                for name, column in zip(names, self.source.select(names).columns, strict=True)
            ]
            return pa.table(coded, names=names)
        repeated = [name for name in names if name in _REPEATED]
        with pq.ParquetFile(self.source, read_dictionary=repeated) as file:
            return file.read(names).unify_dictionaries()

    def _checked(self, table: pa.Table) -> pa.Table:
        """Return the balances, or raise if they are of other wallets than those of the part."""
        if self.sizes.sum() == len(table):
            addresses = _one_chunk(table["address"])
            codes = addresses.indices.fill_null(-1).to_numpy()
            holders = self.chosen & (self.sizes > 0)
            first = codes[(np.cumsum(self.sizes) - self.sizes)[holders]]
            equal = codes[np.repeat(holders, self.sizes)] == np.repeat(first, self.sizes[holders])
            expected = self.wallets["address"].filter(pa.array(self.counts > 0)).cast(_TEXT)
            actual = addresses.dictionary.cast(_TEXT).take(pa.array(first))
            if equal.all() and expected.combine_chunks().equals(actual):
                return table
        path: Any = self.source
        raise DatasetError(
            f"{path.parents[1]}: the two files {path.name} don't belong together",
            hint=f"remove both; the same fetch_to_parquet call requests the wallets of {path.name}",
        )


def _one_chunk(column: pa.ChunkedArray, rows: Codes | None = None) -> pa.Array:
    """Return some rows, or all of them, as one chunk."""
    if column.num_chunks or not pa.types.is_dictionary(column.type):
        whole = column.combine_chunks()
    else:  # Arrow before 23 can't combine zero chunks of a dictionary
        whole = pa.array([], column.type.value_type).dictionary_encode()
    return whole if rows is None else whole.take(pa.array(rows))


@dataclass(frozen=True, slots=True)
class FolderWallets:
    """The distinct wallets of a folder: the ok ones in parts, and the failed ones."""

    parts: list[StoredPart]
    failed: pa.Table

    @property
    def wallets(self) -> pa.Table:
        """All wallets, part by part, then the failed ones."""
        return pa.concat_tables([*(part.wallets for part in self.parts), self.failed])

    def some(self, marks: Mask) -> FolderWallets:
        """Return the marked wallets; there is always at least one part."""
        parts = []
        *in_parts, failed = np.split(marks, np.cumsum([len(part.wallets) for part in self.parts]))
        for part, own in zip(self.parts, in_parts, strict=True):
            if own.any() or part is self.parts[-1]:
                chosen = part.chosen.copy()
                chosen[chosen] = own
                wallets = part.wallets.filter(pa.array(own))
                parts.append(replace(part, wallets=wallets, chosen=chosen))
        return FolderWallets(parts, self.failed.filter(pa.array(failed)))


def read_folder(layout: Layout, service: str, keys: Container[str] | None = None) -> FolderWallets:
    """Read all wallets of a folder, or only those of `keys`; at least one part, maybe empty."""
    # The order of reading is the order in which a run moves wallets, so that none is missed.
    unwritten = unwritten_records(segments(layout.inner), service)
    for _ in range(_TRIES):  # a run may be replacing the files of failed wallets
        with suppress(FileNotFoundError):
            failed = [*files.part_tables(layout.failed)]
            break
    else:
        raise DatasetError(f"{layout.failed} keeps changing", hint="read it again")
    parts: list[StoredPart] = []
    for number in files.part_numbers(layout.wallets):
        path = layout.holdings / files.part_name(number)
        part = _part(read_parquet(layout.wallets / path.name), path, keys)
        if len(part.wallets):
            parts.append(part)
    for part in parts if unwritten else ():
        for key in keys_of(part.wallets):
            unwritten.pop(key, None)
    ok, holdings, not_ok = files.empty_tables()
    if unwritten:
        records, positions = zip(*unwritten.values(), strict=True)
        ok, holdings, not_ok = files.as_tables(assemble(records), positions)
    parts.append(_part(ok, holdings, keys))
    remaining = files.still_failed([*failed, not_ok], (part.wallets for part in parts))
    return FolderWallets(parts, remaining.filter(pa.array(_wanted(remaining, keys))))


def _part(whole: pa.Table, source: Path | pa.Table, keys: Container[str] | None) -> StoredPart:
    wanted, sizes = _wanted(whole, keys), whole["tokens"].fill_null(0).to_numpy()
    return StoredPart(whole.filter(pa.array(wanted)), wanted, sizes, source)


def _wanted(wallets: pa.Table, keys: Container[str] | None) -> Mask:
    if keys is None:
        return np.ones(len(wallets), dtype=bool)
    return np.array([key in keys for key in keys_of(wallets)], dtype=bool)


def rows_of(counts: Codes, order: Codes) -> Codes | None:
    """Return the rows of the wallets in `order`; None if these are all rows in their order."""
    taken = counts[order]
    if np.array_equal(order, np.arange(len(order))) and taken.sum() == counts.sum():
        return None
    first = np.cumsum(counts)[order] - np.cumsum(taken)
    rows: Codes = np.repeat(first, taken)
    rows += np.arange(len(rows))
    return rows


@at_the_boundary
def read_wallets(
    folder: str | Path,
    *,
    wallets: WalletsLike | None = None,
    tokens: TokenLike | list[TokenLike] | None = None,
    columns: str | Sequence[str] | None = None,
) -> WalletDetails:
    """Read a folder of `fetch_to_parquet` as frames.

    Parameters
    ----------
    folder : str or Path
        The folder. A run may still be writing to it, or have been killed: answers that are in no
        Parquet file yet are read from the journal.
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of them, optional
        Read only these wallets, for a folder larger than memory. The files of wallets are read as
        a whole, those of holdings one at a time.
    tokens : str, (str, str or None), or list of them, optional
        Read only these tokens' balances: an unambiguous symbol, or (blockchain, contract), None
        for a native coin. All wallets are returned, and ``tokens`` counts all of their tokens.
    columns : str or list of str, optional
        Read only these columns of ``holdings``, in this order. Other columns take no memory.

    Returns
    -------
    WalletDetails
        As from `fetch_wallets`, in the order of the fetch, with the kept columns. With `wallets`,
        in their order and spelling; a wallet that is not in the folder has the status
        ``not_cached``. Empty frames, with all columns, if nothing has been written yet.

    Raises
    ------
    DatasetError
        If the folder is not one of `fetch_to_parquet`, or a file is missing or broken.
    ColumnsError
        If ``holdings`` has no such column.
    UnknownTokenError, AmbiguousTokenError
        If no wallet in the folder holds the token, or several tokens share the symbol.
    AddressError
        Lists every one of `wallets` that can't be read.

    See Also
    --------
    fetch_to_parquet : Writes the folder.

    Notes
    -----
    With all columns a balance takes about 200 bytes, and up to twice as much while it is read.

    Other programs, such as DuckDB, read the files directly, and aggregate more than memory holds:
    ``SELECT token_address, sum(amount) FROM 'folder/holdings/*.parquet' GROUP BY ALL``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from walletframe.bulk import fetch_to_parquet
    >>> from walletframe.service import sandbox
    >>> with (
    ...     TemporaryDirectory() as folder,
    ...     sandbox() as service,
    ...     service.client(cache=False) as client,
    ... ):
    ...     summary = fetch_to_parquet(["NEAR.alice.near", "ETH.0x1"], folder, client=client)
    ...     wallets, holdings = read_wallets(folder, wallets="eth.0X1")
    >>> wallets.address.item()
    '0X1'
    """
    requested = None if wallets is None else distinct_wallets(parse_wallets(wallets))
    every = [*HOLDING_DTYPES]
    columns = every if columns is None else columns
    names = [columns] if isinstance(columns, str) else [*dict.fromkeys(columns)]
    if missing := [name for name in names if name not in every]:
        raise ColumnsError(missing, every)
    layout = Layout(local_folder(folder))
    with dataset_errors(layout.root):
        service = service_of(layout)
        keys = None if requested is None else {*map(key_of, requested)}
        contents = read_folder(layout, service, keys)
        wallets, order = wallets_of(contents, service, requested)
        chosen = None
        if tokens is not None:  # other wallets may have another token with the same symbol
            whole = contents if keys is None else read_folder(layout, service)
            chosen = _token_keys(whole.parts, tokens)
        held = read_holdings(contents, wallets, order, names, chosen)
        wallets, holdings = normalize_blockchains(wallets, held)
        return WalletDetails(with_kept_columns(wallets, layout), holdings)


def service_of(layout: Layout) -> str:
    """Return the service of a folder of `fetch_to_parquet`, or raise if it is none."""
    service = layout.service()
    if service is None:
        raise DatasetError(
            f"{layout.root} has no files of fetch_to_parquet",
            hint="give the folder that was passed to fetch_to_parquet",
        )
    return service


def with_kept_columns(wallets: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """Append the user's own columns of wallets."""
    if (kept := files.read_kept(layout)) is None:
        return wallets
    return with_kept(wallets, files.kept_values(kept, keys_of(wallets)))


def wallets_of(
    contents: FolderWallets, service: str = "", requested: list[WalletAddress] | None = None
) -> tuple[pd.DataFrame, Codes]:
    """Return wallets in the order asked, and the index of each in `contents`, or beyond it."""
    table = contents.wallets
    frame = files.as_frame(table)
    if requested is None:
        order = np.argsort(table[POSITION].to_numpy(), kind="stable")
        return frame.take(order).reset_index(drop=True), order
    known = {key: index for index, key in enumerate(keys_of(table))}
    keys = enumerate(map(key_of, requested), start=len(known))
    order = np.array([known.get(key, beyond) for beyond, key in keys], dtype=np.int64)
    absent = assemble(WalletRecord(wallet, _ABSENT, service) for wallet in requested).wallets
    chosen = pd.concat([frame, absent]).take(order).reset_index(drop=True)
    return chosen.assign(**{name: absent[name] for name in _OF_WALLETS}), order


def read_holdings(
    contents: FolderWallets,
    wallets: pd.DataFrame,
    order: Codes,
    names: list[str],
    chosen: set[TokenKey] | None,
) -> pd.DataFrame:
    """Read balances part by part, and join them column by column, in the order of the wallets."""
    read = [name for name in names if name not in _OF_WALLETS]
    chunks: dict[str, list[Any]] = {name: [] for name in read}
    part_counts: list[Codes] = []
    for part in contents.parts:
        sizes, taken = part.counts, None
        if chosen is not None:
            spellings, codes = unique_tokens(part.read(TOKEN))
            tokens = token_identities(spellings)
            wanted = np.array([key in chosen for key in tokens.plain_keys], dtype=bool)
            taken = np.flatnonzero(wanted[tokens.codes][codes])
            row_wallets = np.repeat(np.arange(len(sizes)), sizes)
            sizes = np.bincount(row_wallets[taken], minlength=len(sizes))
        part_counts.append(sizes)
        if sizes.any() or part is contents.parts[-1]:
            for name, column in part.read(read, taken).items():
                is_amounts = isinstance(column, Int128Amounts)
                chunks[name].append(AmountArray(*column.exact()) if is_amounts else column)
    counts = np.concatenate([*part_counts, np.zeros(len(contents.failed) + len(order), np.int64)])
    row_wallets = np.repeat(np.arange(len(order)), counts[order])
    rows = rows_of(counts, order)
    columns = {
        name: wallets[name].array.take(row_wallets)
        if name in _OF_WALLETS
        else column_of(name, chunks.pop(name), rows)
        for name in names
    }
    labels = pd.Index(names, dtype="str")
    return pd.DataFrame(columns, index=range(len(row_wallets)), columns=labels, copy=False)


def column_of(name: str, chunks: list[Any], rows: Codes | None = None) -> Any:
    """Concatenate the chunks of a column, in the dtype of the contract."""
    whole: Any
    if name == "amount":
        whole = AmountArray._concat_same_type(chunks)  # noqa: SLF001 - of ours
    elif name == "price":
        whole = pa.chunked_array(chunks).to_numpy()
    elif name == "decimals":
        whole = HOLDING_DTYPES["decimals"].__from_arrow__(pa.chunked_array(chunks))
    else:
        return arrow_text(chunks, rows)
    return whole if rows is None else whole.take(rows)


def unique_tokens(read: Mapping[str, Any], rows: Codes | None = None) -> tuple[pd.DataFrame, Codes]:
    """Return distinct tokens, with normalized blockchains, and the code of each row."""
    sizes = [len(read[name].dictionary) + 1 for name in TOKEN]  # the last code: missing text
    pairs = zip(TOKEN, sizes, strict=True)
    indices = [read[name].indices.fill_null(size - 1).to_numpy() for name, size in pairs]
    numbers = np.ravel_multi_index(indices, sizes)
    spellings, distinct = pd.factorize(numbers if rows is None else numbers[rows])
    columns = {}
    for name, size, index in zip(TOKEN, sizes, np.unravel_index(distinct, sizes), strict=True):
        texts = arrow_text([read[name].dictionary])
        codes = np.append(np.arange(size - 1), -1)[index]
        if name == TOKEN[0]:
            used = pd.unique(codes[codes >= 0])
            [normalized] = normalize_blockchains(pd.DataFrame({name: texts.take(used)}))
            numbers = np.full(size, -1)
            numbers[used], texts = factorized(normalized[name])
            codes = numbers[codes]
        columns[name] = pd.Categorical.from_codes(codes, pd.Index(texts), validate=False)
    return pd.DataFrame(columns, copy=False), spellings


def _token_keys(parts: list[StoredPart], tokens: TokenLike | list[TokenLike]) -> set[TokenKey]:
    """Return the keys of the tokens that a caller names, among all in the folder."""
    spellings = (unique_tokens(part.read(TOKEN))[0] for part in parts)
    texts = [{name: text_array(each[name].array) for name in TOKEN} for each in spellings]
    written = pd.concat(map(pd.DataFrame, texts), ignore_index=True)
    known = token_identities(written)
    named = tokens if isinstance(tokens, list) else [tokens]
    return {known.keys[token_place(written, known, token)] for token in named}
