"""`read_wallets`: the files of a bulk run as the frames of a fetch.

A folder holds at one moment parts, which never change, and what is in no part yet.
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
from walletframe.amounts.sums import Words
from walletframe.bulk import files
from walletframe.bulk.files import POSITION, Layout, dataset_errors, key_of, keys_of
from walletframe.bulk.journal import left_in, segments
from walletframe.disk import local_folder, read_parquet
from walletframe.errors import ColumnsError, DatasetError
from walletframe.frameless import at_the_boundary
from walletframe.frames.assembly import WalletRecord, assemble
from walletframe.frames.contract import HOLDING_DTYPES, respelled, text_array, text_of
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
class Part:
    """Wallets that are ok, all or some of those of a file, and where their balances are."""

    wallets: pa.Table
    chosen: Mask  # which wallets of the file these are
    sizes: Codes  # of each wallet of the file, how many balances it has
    source: Path | pa.Table

    @property
    def counts(self) -> Codes:
        """How many balances each of the wallets has."""
        return self.sizes[self.chosen]

    def read(self, names: Sequence[str], taken: Codes | None = None) -> dict[str, Any]:
        """Read columns of the balances, wallet by wallet: Arrow arrays, and Words of amounts.

        Text that repeats comes as dictionaries. `taken` has the rows to take, in their order.
        """
        is_rounded = "amount" in names and self._is_rounded()
        needed = [*names, "address", *(["decimals"] if is_rounded else [])]
        table = self._checked(self._columns([*dict.fromkeys(needed)]))
        rows = None
        if not self.chosen.all():
            rows = np.flatnonzero(np.repeat(self.chosen, self.sizes))
        if taken is not None:
            rows = taken if rows is None else rows[taken]

        def texts(places: Codes) -> pa.Array:
            some = places if rows is None else rows[places]
            return _taken(self._columns([AMOUNT_TEXT])[AMOUNT_TEXT], some)

        found = {name: _taken(table[name], rows) for name in names}
        if "amount" in found:
            inexact = np.zeros(len(found["amount"]), dtype=bool)
            if is_rounded:
                places = _taken(table["decimals"], rows).fill_null(0)
                inexact = np.asarray(places) > DECIMALS.scale
            found["amount"] = from_portable(found["amount"], inexact, texts)
        return found

    def _is_rounded(self) -> bool:
        """Return whether by the file's footer a token may have more decimals than `DECIMALS`."""
        if isinstance(self.source, pa.Table):
            return True
        footer = pq.read_metadata(self.source)
        place = footer.schema.names.index("decimals")
        groups = [footer.row_group(number).column(place) for number in range(footer.num_row_groups)]
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
        """Refuse balances of other wallets than those of the part."""
        if self.sizes.sum() == len(table):
            addresses = _taken(table["address"])
            codes = addresses.indices.fill_null(-1).to_numpy()
            held = self.chosen & (self.sizes > 0)
            owners = codes[(np.cumsum(self.sizes) - self.sizes)[held]]
            alike = codes[np.repeat(held, self.sizes)] == np.repeat(owners, self.sizes[held])
            named = self.wallets["address"].filter(pa.array(self.counts > 0)).cast(_TEXT)
            found = addresses.dictionary.cast(_TEXT).take(pa.array(owners))
            if alike.all() and named.combine_chunks().equals(found):
                return table
        path: Any = self.source
        raise DatasetError(
            f"{path.parents[1]}: the two files {path.name} don't belong together",
            hint=f"remove both; the same fetch_to_parquet again asks for what was in {path.name}",
        )


def _taken(column: pa.ChunkedArray, rows: Codes | None = None) -> pa.Array:
    """Return some rows, or all of them, as one chunk."""
    if column.num_chunks or not pa.types.is_dictionary(column.type):
        whole = column.combine_chunks()
    else:  # Arrow before 23 can't join no chunks of a dictionary
        whole = pa.array([], column.type.value_type).dictionary_encode()
    return whole if rows is None else whole.take(pa.array(rows))


@dataclass(frozen=True, slots=True)
class Contents:
    """The wallets of a folder: those that are ok, in parts, and the others; each is there once."""

    parts: list[Part]
    left: pa.Table

    @property
    def wallets(self) -> pa.Table:
        """All of them, part by part, then those that are not ok."""
        return pa.concat_tables([*(part.wallets for part in self.parts), self.left])

    def some(self, marks: Mask) -> Contents:
        """Return those of `wallets` that are marked; there is at least one part."""
        parts = []
        *owned, left = np.split(marks, np.cumsum([len(part.wallets) for part in self.parts]))
        for part, own in zip(self.parts, owned, strict=True):
            if own.any() or part is self.parts[-1]:
                chosen = part.chosen.copy()
                chosen[chosen] = own
                wallets = part.wallets.filter(pa.array(own))
                parts.append(replace(part, wallets=wallets, chosen=chosen))
        return Contents(parts, self.left.filter(pa.array(left)))


def read_contents(layout: Layout, service: str, keys: Container[str] | None = None) -> Contents:
    """Read the wallets of a folder, all or some; there is at least one part, maybe without any."""
    unwritten = left_in(segments(layout.inner), service)  # what leaves it meanwhile is in a part
    for _ in range(_TRIES):  # a run may be about to bring what failed up to date
        with suppress(FileNotFoundError):
            # Before the others: what comes right meanwhile is in parts.
            failed = [*files.part_tables(layout.failed)]
            break
    else:
        raise DatasetError(f"{layout.failed} keeps changing", hint="read it again")
    parts: list[Part] = []
    for number in files.part_numbers(layout.wallets):
        path = layout.holdings / files.part_name(number)
        part = _part(read_parquet(layout.wallets / path.name), path, keys)
        if len(part.wallets):
            parts.append(part)
    for part in parts if unwritten else ():
        for key in keys_of(part.wallets):
            unwritten.pop(key, None)
    ok, holdings, not_ok = files.no_tables()
    if unwritten:
        records, places = zip(*unwritten.values(), strict=True)
        ok, holdings, not_ok = files.as_tables(assemble(records), places)
    parts.append(_part(ok, holdings, keys))
    left = files.still_failed([*failed, not_ok], (part.wallets for part in parts))
    return Contents(parts, left.filter(pa.array(_wanted(left, keys))))


def _part(whole: pa.Table, source: Path | pa.Table, keys: Container[str] | None) -> Part:
    wanted, sizes = _wanted(whole, keys), whole["tokens"].fill_null(0).to_numpy()
    return Part(whole.filter(pa.array(wanted)), wanted, sizes, source)


def _wanted(wallets: pa.Table, keys: Container[str] | None) -> Mask:
    if keys is None:
        return np.ones(len(wallets), dtype=bool)
    return np.array([key in keys for key in keys_of(wallets)], dtype=bool)


def rows_of(counts: Codes, order: Codes) -> Codes | None:
    """Return the rows of wallets one after the other; None where these are all, as they stand."""
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
    """Read what `fetch_to_parquet` has written.

    Parameters
    ----------
    folder : str or Path
        The folder. A run may still be writing to it, or have been killed: answers that are in no
        Parquet file yet are read from the journal.
    wallets : str, tuple, mapping, WalletAddress, Series, DataFrame, or iterable of them, optional
        Read these wallets alone, for a folder larger than memory. The files of wallets are read as
        a whole, those of holdings one at a time.
    tokens : str, (str, str or None), or list of them, optional
        Read these tokens' balances alone: an unambiguous symbol, or (blockchain, contract), None
        for a native coin. All wallets stay, and ``tokens`` says how many each has.
    columns : str or list of str, optional
        Read these columns of ``holdings`` alone, in this order. What is not read takes no memory.

    Returns
    -------
    WalletDetails
        As from `fetch_wallets`, in the order asked then, with the columns that were kept. With
        `wallets` in their order and spelling; what is not in the folder has the status
        ``not_cached``. Empty frames, with all columns, where nothing has been written yet.

    Raises
    ------
    DatasetError
        If the folder holds no such files, or one of them is missing or broken.
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

    Other programs read the files as they are, and sum what memory does not hold, such as DuckDB:
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
    asked = None if wallets is None else distinct_wallets(parse_wallets(wallets))
    every = [*HOLDING_DTYPES]
    columns = every if columns is None else columns
    names = [columns] if isinstance(columns, str) else [*dict.fromkeys(columns)]
    if missing := [name for name in names if name not in every]:
        raise ColumnsError(missing, every)
    layout = Layout(local_folder(folder))
    with dataset_errors(layout.root):
        service = service_of(layout)
        keys = None if asked is None else {*map(key_of, asked)}
        contents = read_contents(layout, service, keys)
        wallets, order = wallets_of(contents, service, asked)
        chosen = None
        if tokens is not None:  # a symbol of some wallets may be another token's, too
            whole = contents if keys is None else read_contents(layout, service)
            chosen = _token_keys(whole.parts, tokens)
        held = read_holdings(contents, wallets, order, names, chosen)
        wallets, holdings = respelled(wallets, held)
        return WalletDetails(with_told(wallets, layout), holdings)


def service_of(layout: Layout) -> str:
    """Return the service whose wallets are in a folder, or refuse what is no such folder."""
    service = layout.service()
    if service is None:
        raise DatasetError(
            f"{layout.root} has no files of fetch_to_parquet",
            hint="give the folder that was passed to fetch_to_parquet",
        )
    return service


def with_told(wallets: pd.DataFrame, layout: Layout) -> pd.DataFrame:
    """Append the columns that the user keeps of wallets."""
    if (told := files.read_kept(layout)) is None:
        return wallets
    return with_kept(wallets, files.kept_of(told, keys_of(wallets)))


def wallets_of(
    contents: Contents, service: str = "", asked: list[WalletAddress] | None = None
) -> tuple[pd.DataFrame, Codes]:
    """Return wallets in the order asked, and the place of each in `contents`, or behind these."""
    found = contents.wallets
    frame = files.as_frame(found)
    if asked is None:
        order = np.argsort(found[POSITION].to_numpy(), kind="stable")
        return frame.take(order).reset_index(drop=True), order
    places = {key: place for place, key in enumerate(keys_of(found))}
    keys = enumerate(map(key_of, asked), start=len(places))
    order = np.array([places.get(key, behind) for behind, key in keys], dtype=np.int64)
    absent = assemble(WalletRecord(wallet, _ABSENT, service) for wallet in asked).wallets
    chosen = pd.concat([frame, absent]).take(order).reset_index(drop=True)
    return chosen.assign(**{name: absent[name] for name in _OF_WALLETS}), order


def read_holdings(
    contents: Contents,
    wallets: pd.DataFrame,
    order: Codes,
    names: list[str],
    chosen: set[TokenKey] | None,
) -> pd.DataFrame:
    """Read balances part by part, and join them column by column, in the order of the wallets."""
    read = [name for name in names if name not in _OF_WALLETS]
    chunks: dict[str, list[Any]] = {name: [] for name in read}
    found: list[Codes] = []
    for part in contents.parts:
        owned, taken = part.counts, None
        if chosen is not None:
            written, ways = tokens_read(part.read(TOKEN))
            tokens = token_identities(written)
            wanted = np.array([key in chosen for key in tokens.plain_keys], dtype=bool)
            taken = np.flatnonzero(wanted[tokens.codes][ways])
            of_rows = np.repeat(np.arange(len(owned)), owned)
            owned = np.bincount(of_rows[taken], minlength=len(owned))
        found.append(owned)
        if owned.any() or part is contents.parts[-1]:
            for name, column in part.read(read, taken).items():
                is_amounts = isinstance(column, Words)
                chunks[name].append(AmountArray(*column.exact()) if is_amounts else column)
    counts = np.concatenate([*found, np.zeros(len(contents.left) + len(order), dtype=np.int64)])
    owners = np.repeat(np.arange(len(order)), counts[order])
    rows = rows_of(counts, order)
    columns = {
        name: wallets[name].array.take(owners)
        if name in _OF_WALLETS
        else column_of(name, chunks.pop(name), rows)
        for name in names
    }
    kept = pd.Index(names, dtype="str")
    return pd.DataFrame(columns, index=range(len(owners)), columns=kept, copy=False)


def column_of(name: str, chunks: list[Any], rows: Codes | None = None) -> Any:
    """Make one column of its parts, in the dtype of the contract."""
    whole: Any
    if name == "amount":
        whole = AmountArray._concat_same_type(chunks)  # noqa: SLF001 - of ours
    elif name == "price":
        whole = pa.chunked_array(chunks).to_numpy()
    elif name == "decimals":
        whole = HOLDING_DTYPES["decimals"].__from_arrow__(pa.chunked_array(chunks))
    else:
        return text_of(chunks, rows)
    return whole if rows is None else whole.take(rows)


def tokens_read(read: Mapping[str, Any], rows: Codes | None = None) -> tuple[pd.DataFrame, Codes]:
    """Return a row for each spelling of a token, in their order, and each row's spelling.

    Blockchains are written alike, as in the first of the rows.
    """
    sizes = [len(read[name].dictionary) + 1 for name in TOKEN]  # the last: where text is missing
    pairs = zip(TOKEN, sizes, strict=True)
    places = [read[name].indices.fill_null(size - 1).to_numpy() for name, size in pairs]
    numbers = np.ravel_multi_index(places, sizes)
    ways, kinds = pd.factorize(numbers if rows is None else numbers[rows])
    columns = {}
    for name, size, found in zip(TOKEN, sizes, np.unravel_index(kinds, sizes), strict=True):
        codes, texts = np.append(np.arange(size - 1), -1)[found], text_of([read[name].dictionary])
        if name == TOKEN[0]:
            met = pd.unique(codes[codes >= 0])
            [alike] = respelled(pd.DataFrame({name: texts.take(met)}))
            numbers = np.full(size, -1)
            numbers[met], texts = factorized(alike[name])
            codes = numbers[codes]
        columns[name] = pd.Categorical.from_codes(codes, pd.Index(texts), validate=False)
    return pd.DataFrame(columns, copy=False), ways


def _token_keys(parts: list[Part], tokens: TokenLike | list[TokenLike]) -> set[TokenKey]:
    """Return the tokens that a caller names, of all that are in the folder."""
    found = (tokens_read(part.read(TOKEN))[0] for part in parts)
    texts = [{name: text_array(each[name].array) for name in TOKEN} for each in found]
    written = pd.concat(map(pd.DataFrame, texts), ignore_index=True)
    known = token_identities(written)
    named = tokens if isinstance(tokens, list) else [tokens]
    return {known.keys[token_place(written, known, token)] for token in named}
