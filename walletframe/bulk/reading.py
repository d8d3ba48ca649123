"""The function `read_wallets`, which reads the files of a bulk run as DataFrames."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from walletframe.address.lists import WalletsLike, distinct_wallets, parse_wallets
from walletframe.amounts import AmountArray
from walletframe.amounts.arrow import AMOUNT_TEXT, DECIMALS, read_decimals_or_texts
from walletframe.amounts.sums import Int128Amounts
from walletframe.bulk import files
from walletframe.bulk.files import POSITION, Paths, as_dataset_errors, wallet_key, wallet_keys
from walletframe.bulk.journal import best_records_and_positions, segment_paths
from walletframe.disk import local_path, read_parquet
from walletframe.errors import ColumnsError, DatasetError, FetchWarning
from walletframe.frames import schema
from walletframe.frames.assembly import WalletRecord, assemble, build_holdings
from walletframe.frames.details import WalletDetails
from walletframe.frames.extra_columns import ARROW_DTYPES, append_columns
from walletframe.frames.identity import TOKEN, Codes, Mask, TokenKey, encode_tokens
from walletframe.frames.names import TokenLike, token_index
from walletframe.notice import notify
from walletframe.pandas_versions import factorize
from walletframe.tracebacks import strip_address_tracebacks
from walletframe.wire.outcome import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from pathlib import Path

    from walletframe.address.forms import WalletAddress

_NOT_IN_FOLDER = Outcome(Status.NOT_CACHED, "not in the folder")
_WALLET_COLUMNS = ("blockchain", "address")
_DICTIONARY_COLUMNS = [*_WALLET_COLUMNS, *TOKEN]  # repetitive text, which is read as dictionaries
_TEXT = pa.large_string()


class FolderPart(NamedTuple):
    """The chosen wallets of one part, and the file or table of the part's balances."""

    wallets: pa.Table
    chosen_mask: Mask  # True for each wallet of the file that is in `wallets`
    all_counts: Codes  # the number of balances of each wallet of the file
    source: Path | pa.Table

    @property
    def balance_counts(self) -> Codes:
        """The number of balances of each wallet in `wallets`."""
        return self.all_counts[self.chosen_mask]

    def balance_columns(self, names: Sequence[str], indices: Codes | None = None) -> dict[str, Any]:
        """Read columns of balances, by default of all rows. Return amounts as `Int128Amounts`."""
        needed = [*names, "address", *(["decimals"] if "amount" in names else [])]
        table = self._require_balances_of_wallets(self._read_table([*dict.fromkeys(needed)]))
        rows = None
        if not self.chosen_mask.all():
            rows = np.flatnonzero(np.repeat(self.chosen_mask, self.all_counts))
        if indices is not None:
            rows = indices if rows is None else rows[indices]

        def amount_texts(index: Codes) -> pa.Array:
            subset = index if rows is None else rows[index]
            return _combine_chunks(self._read_table([AMOUNT_TEXT])[AMOUNT_TEXT], subset)

        columns = {name: _combine_chunks(table[name], rows) for name in names}
        if "amount" in columns:
            decimals = np.asarray(_combine_chunks(table["decimals"], rows).fill_null(0))
            inexact = decimals > DECIMALS.scale
            columns["amount"] = read_decimals_or_texts(columns["amount"], inexact, amount_texts)
        return columns

    def _read_table(self, names: list[str]) -> pa.Table:
        if isinstance(self.source, pa.Table):
            columns = [
                column.dictionary_encode() if name in _DICTIONARY_COLUMNS else column
                for name, column in zip(names, self.source.select(names).columns, strict=True)
            ]
            return pa.table(columns, names=names)
        dictionary_columns = [name for name in names if name in _DICTIONARY_COLUMNS]
        with pq.ParquetFile(self.source, read_dictionary=dictionary_columns) as file:
            return file.read(names).unify_dictionaries()

    def _require_balances_of_wallets(self, table: pa.Table) -> pa.Table:
        if self.all_counts.sum() == len(table):
            addresses = _combine_chunks(table["address"])
            codes = addresses.indices.fill_null(-1).to_numpy()
            holders = self.all_counts > 0
            first = codes[(np.cumsum(self.all_counts) - self.all_counts)[holders]]
            equal = np.array_equal(codes, np.repeat(first, self.all_counts[holders]))
            first = first[self.chosen_mask[holders]]
            expected = self.wallets["address"].filter(pa.array(self.balance_counts > 0)).cast(_TEXT)
            actual = addresses.dictionary.cast(_TEXT).take(pa.array(first))
            if equal and expected.combine_chunks().equals(actual):
                return table
        path: Any = self.source
        raise DatasetError(
            f"holdings/{path.name} and wallets/{path.name} in the folder {path.parents[1]} do not "
            "belong together",
            hint="remove both files, then repeat the fetch_to_parquet call to fetch their wallets",
        )


def _combine_chunks(column: pa.ChunkedArray, rows: Codes | None = None) -> pa.Array:
    if column.num_chunks == 1:
        chunk = column.chunk(0)  # combine_chunks would copy it
    elif column.num_chunks or not pa.types.is_dictionary(column.type):
        chunk = column.combine_chunks()
    else:  # Arrow before version 23 can't combine zero dictionary chunks
        chunk = pa.array([], column.type.value_type).dictionary_encode()
    return chunk if rows is None else chunk.take(pa.array(rows))


class FolderWallets(NamedTuple):
    """The distinct ok wallets of each part of a folder, and the failed wallets of the folder."""

    parts: list[FolderPart]
    failed: pa.Table
    expected: int | None = None  # wallets of an unfinished fetch; 0: unknown, None: finished

    @property
    def wallets(self) -> pa.Table:
        """The wallets of all parts, and then the failed wallets."""
        return pa.concat_tables([*(part.wallets for part in self.parts), self.failed])

    def select_wallets(self, mask: Mask) -> FolderWallets:
        """Return the wallets where the mask is True."""
        parts = []
        *in_parts, failed = np.split(mask, np.cumsum([len(part.wallets) for part in self.parts]))
        for part, part_mask in zip(self.parts, in_parts, strict=True):
            if part_mask.any() or part is self.parts[-1]:  # at least one part
                chosen_mask = part.chosen_mask.copy()
                chosen_mask[chosen_mask] = part_mask
                wallets = part.wallets.filter(pa.array(part_mask))
                parts.append(part._replace(wallets=wallets, chosen_mask=chosen_mask))
        return self._replace(parts=parts, failed=self.failed.filter(pa.array(failed)))


def read_folder(paths: Paths, keys: Container[str] | None = None) -> FolderWallets:
    """Read the wallets with these keys, by default all. The journal's wallets are the last part."""
    # A run moves wallets from the journal to parts, and from failed to ok. Read in the same order.
    expected = None
    with suppress(FileNotFoundError):
        expected = int(paths.unfinished.read_text(encoding="utf-8") or 0)
    unwritten = best_records_and_positions(segment_paths(paths.hidden), paths.require_service())
    for _ in range(5):  # a run may replace the files of failed wallets meanwhile
        with suppress(FileNotFoundError):
            failed = [*files.read_parts(paths.failed)]
            break
    else:
        raise DatasetError(f"{paths.failed} keeps changing", hint="repeat the call")
    parts: list[FolderPart] = []
    for number in files.part_numbers(paths.wallets):
        path = paths.holdings / files.part_file_name(number)
        part = _make_part(read_parquet(paths.wallets / path.name), path, keys)
        if len(part.wallets):
            parts.append(part)
    for part in parts if unwritten else ():
        for key in wallet_keys(part.wallets):
            unwritten.pop(key, None)
    ok, holdings, not_ok = files.empty_tables()
    if unwritten:
        records, positions = zip(*unwritten.values(), strict=True)
        ok, holdings, not_ok = files.to_part_tables(assemble(records), positions)
    parts.append(_make_part(ok, holdings, keys))
    remaining = files.select_still_failed([*failed, not_ok], (part.wallets for part in parts))
    remaining = remaining.filter(pa.array(_wanted_mask(remaining, keys)))
    return FolderWallets(parts, remaining, expected)


def _make_part(table: pa.Table, source: Path | pa.Table, keys: Container[str] | None) -> FolderPart:
    is_wanted, sizes = _wanted_mask(table, keys), table["tokens"].fill_null(0).to_numpy()
    return FolderPart(table.filter(pa.array(is_wanted)), is_wanted, sizes, source)


def _wanted_mask(wallets: pa.Table, keys: Container[str] | None) -> Mask:
    if keys is None:
        return np.ones(len(wallets), dtype=bool)
    return np.array([key in keys for key in wallet_keys(wallets)], dtype=bool)


def reordered_row_numbers(counts: Codes, order: Codes) -> Codes | None:
    """Return row numbers in the new order of wallets, or None if the order stays the same."""
    selected_counts = counts[order]
    if np.array_equal(order, np.arange(len(order))) and selected_counts.sum() == counts.sum():
        return None
    first = np.cumsum(counts)[order] - np.cumsum(selected_counts)
    rows: Codes = np.repeat(first, selected_counts)
    rows += np.arange(len(rows))
    return rows


@strip_address_tracebacks
def read_wallets(
    folder: str | Path,
    *,
    wallets: WalletsLike | None = None,
    tokens: TokenLike | list[TokenLike] | None = None,
    columns: str | Sequence[str] | None = None,
) -> WalletDetails:
    """Read a folder written by `fetch_to_parquet` as DataFrames.

    Parameters
    ----------
    folder : str or Path
        The folder of a finished, running or killed run. All answers that have arrived are read.
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of them, optional
        The wallets to read. If the folder is larger than memory, pass some of the wallets.
    tokens : str, (str, str or None), or list of them, optional
        The tokens of the balances to read. A token is an unambiguous symbol or a pair (blockchain,
        contract). The contract of a native coin is None. The frame ``wallets`` is not filtered.
    columns : str or list of str, optional
        The columns of ``holdings`` to read, in this order.

    Returns
    -------
    WalletDetails
        The frames of `fetch_wallets`, in the order of the fetch, with the ``keep`` columns of
        `fetch_to_parquet`. If you pass `wallets`, your order and spelling are used. Wallets not in
        the folder have the status ``not_cached``. Before the first answer, the frames have no rows.

    Raises
    ------
    DatasetError
        If the folder was not written by `fetch_to_parquet`, or if a file is missing or broken.
    ColumnsError
        If ``holdings`` does not have one of `columns`.
    UnknownTokenError, AmbiguousTokenError
        If no wallet in the folder has the token, or if several tokens share the symbol.
    AddressError
        If wallets can't be parsed. The error lists all these wallets.

    Notes
    -----
    A balance uses about 200 bytes of memory, and up to 400 bytes while the files are read. Other
    programs, such as DuckDB, can aggregate files that are larger than memory: ``SELECT
    token_address, sum(amount) FROM 'folder/holdings/*.parquet' GROUP BY ALL``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import walletframe as wf
    >>> with TemporaryDirectory() as folder, wf.sandbox() as service:
    ...     with service.client(cache=False) as client:
    ...         summary = wf.fetch_to_parquet(["NEAR.a.near", "NEAR.b.near"], folder, client=client)
    ...     wallets, holdings = read_wallets(folder, wallets="near.b.near")
    >>> wallets.address.item()
    'b.near'
    """
    requested = None if wallets is None else distinct_wallets(parse_wallets(wallets))
    columns = [*schema.HOLDING_DTYPES] if columns is None else columns
    names = [columns] if isinstance(columns, str) else [*dict.fromkeys(columns)]
    if missing := [name for name in names if name not in schema.HOLDING_DTYPES]:
        raise ColumnsError(missing, [*schema.HOLDING_DTYPES])
    paths = Paths(local_path(folder))
    with as_dataset_errors(paths.root):
        keys = None if requested is None else {*map(wallet_key, requested)}
        contents = read_folder(paths, keys)
        wallets, order = wallets_and_contents_indices(contents, paths.require_service(), requested)
        warn_if_unfinished(paths, wallets.attrs)
        token_keys = None
        if tokens is not None:  # a symbol must be unambiguous among all wallets of the folder
            searched = contents if keys is None else read_folder(paths)
            token_keys = _find_token_keys(searched.parts, tokens)
        unnormalized = read_balances(contents, wallets, order, names, token_keys)
        wallets, holdings = schema.normalize_blockchains(wallets, unnormalized)
        return WalletDetails(append_extra_columns(wallets, paths), holdings)


def warn_if_unfinished(paths: Paths, attrs: dict[Any, Any]) -> None:
    """Warn if the fetch into the folder has not finished. Pass the ``attrs`` of ``wallets``."""
    if paths.unfinished.exists():
        missing = schema.missing_wallets_text({schema.UNFINISHED: [0, 0]} | attrs)
        text = f"{paths.root} lacks {missing}, since the fetch into it has not finished"
        notify(f"{text}; repeat the fetch_to_parquet call", FetchWarning)


def append_extra_columns(wallets: pd.DataFrame, paths: Paths) -> pd.DataFrame:
    """Append the extra columns in the folder to `wallets`."""
    if (extra_columns := files.read_extra_columns(paths)) is None:
        return wallets
    return append_columns(wallets, files.first_extra_values(extra_columns, wallet_keys(wallets)))


def wallets_and_contents_indices(
    contents: FolderWallets, service: str = "", requested: list[WalletAddress] | None = None
) -> tuple[pd.DataFrame, Codes]:
    """Return ordered wallets and their indices in `contents`, past its end for missing wallets."""
    table = contents.wallets
    frame = table.select(list(schema.WALLET_DTYPES)).to_pandas(types_mapper=ARROW_DTYPES.get)
    wanted = schema.WALLET_DTYPES.items()
    frame = frame.astype({name: dtype for name, dtype in wanted if frame[name].dtype != dtype})
    if requested is None:
        if (expected := contents.expected) is not None:
            frame.attrs[schema.UNFINISHED] = [max(expected - len(frame), 0), expected]
        order = np.argsort(table[POSITION].to_numpy(), kind="stable")
        return frame.take(order).reset_index(drop=True), order
    index_by_key = {key: index for index, key in enumerate(wallet_keys(table))}
    keys = enumerate(map(wallet_key, requested), start=len(index_by_key))
    order = np.array([index_by_key.get(key, index) for index, key in keys], dtype=np.int64)
    absent = assemble(WalletRecord(wallet, _NOT_IN_FOLDER, service) for wallet in requested).wallets
    chosen = pd.concat([frame, absent]).take(order).reset_index(drop=True)
    return chosen.assign(**{name: absent[name] for name in _WALLET_COLUMNS}), order


def read_balances(
    contents: FolderWallets,
    wallets: pd.DataFrame,
    order: Codes,
    names: list[str],
    token_keys: set[TokenKey] | None,
) -> pd.DataFrame:
    """Read the balances of all parts, in the order of the wallets."""
    names_to_read = [name for name in names if name not in _WALLET_COLUMNS]
    chunks: dict[str, list[Any]] = {name: [] for name in names_to_read}
    part_counts: list[Codes] = []
    for part in contents.parts:
        sizes, indices = part.balance_counts, None
        if token_keys is not None:
            spellings, codes = factorize_tokens(part.balance_columns(TOKEN))
            tokens = encode_tokens(spellings)
            wanted = np.array([key in token_keys for key in tokens.keys_or_unknown], dtype=bool)
            indices = np.flatnonzero(wanted[tokens.codes][codes])
            row_wallets = np.repeat(np.arange(len(sizes)), sizes)
            sizes = np.bincount(row_wallets[indices], minlength=len(sizes))
        part_counts.append(sizes)
        if sizes.any() or part is contents.parts[-1]:
            for name, column in part.balance_columns(names_to_read, indices).items():
                is_amounts = isinstance(column, Int128Amounts)
                chunks[name].append(AmountArray(*column.exact()) if is_amounts else column)
    counts = np.concatenate([*part_counts, np.zeros(len(contents.failed) + len(order), np.int64)])
    row_wallets = np.repeat(np.arange(len(order)), counts[order])
    rows = reordered_row_numbers(counts, order)
    return build_holdings(wallets, row_wallets, chunks, names, rows)


def factorize_tokens(data: dict[str, Any], rows: Codes | None = None) -> tuple[pd.DataFrame, Codes]:
    """Return the distinct tokens, with normalized blockchains, and the code of each row's token."""
    sizes = [len(data[name].dictionary) + 1 for name in TOKEN]  # plus a code for missing text
    pairs = zip(TOKEN, sizes, strict=True)
    indices = [data[name].indices.fill_null(size - 1).to_numpy() for name, size in pairs]
    numbers = np.ravel_multi_index(indices, sizes)
    row_codes, distinct = pd.factorize(numbers if rows is None else numbers.take(rows))
    spellings = {}
    for name, size, index in zip(TOKEN, sizes, np.unravel_index(distinct, sizes), strict=True):
        texts = schema.text_from_arrow([data[name].dictionary])
        codes = np.append(np.arange(size - 1), -1)[index]
        if name == TOKEN[0]:
            used = pd.unique(codes[codes >= 0])
            [normalized] = schema.normalize_blockchains(pd.DataFrame({name: texts.take(used)}))
            numbers = np.full(size, -1)
            numbers[used], texts = factorize(normalized[name])
            codes = numbers[codes]
        spellings[name] = pd.Categorical.from_codes(codes, pd.Index(texts), validate=False)
    return pd.DataFrame(spellings, copy=False), row_codes


def _find_token_keys(parts: list[FolderPart], tokens: TokenLike | list[TokenLike]) -> set[TokenKey]:
    spellings = (factorize_tokens(part.balance_columns(TOKEN))[0] for part in parts)
    columns = [{name: schema.text_array(each[name].array) for name in TOKEN} for each in spellings]
    distinct = pd.concat(map(pd.DataFrame, columns), ignore_index=True)
    known = encode_tokens(distinct)
    requested = tokens if isinstance(tokens, list) else [tokens]
    return {known.keys[token_index(distinct, known, token)] for token in requested}
