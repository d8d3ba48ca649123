"""`read_wallets`: the files of a bulk run as the frames of a fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from walletframe.address import canonical_key, distinct_wallets, parse_wallets
from walletframe.amounts import AmountArray
from walletframe.amounts.words import Words
from walletframe.bulk.files import (
    POSITION,
    Layout,
    as_frame,
    dataset_errors,
    kept_of,
    key_of,
    keys_of,
    read_kept,
)
from walletframe.bulk.parts import read_contents, rows_of
from walletframe.disk import local_folder
from walletframe.errors import ColumnsError, DatasetError
from walletframe.frameless import at_the_boundary
from walletframe.frames import (
    HOLDING_DTYPES,
    TOKEN,
    WALLET_DTYPES,
    TokenBook,
    WalletDetails,
    WalletRecord,
    assemble,
    respelled,
    text_of,
    token_identities,
    token_place,
    with_kept,
)
from walletframe.wire import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from walletframe.address import WalletAddress, WalletsLike
    from walletframe.bulk.parts import Contents, Part
    from walletframe.frames import Codes, Mask, TokenKey, TokenLike

_ABSENT = Outcome(Status.NOT_CACHED, "not in the folder")
_OF_WALLETS = ("blockchain", "address")


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
    ``SELECT token_address, sum(amount_decimal) FROM 'folder/holdings/*.parquet' GROUP BY ALL``.

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
    names = _names(columns)
    layout = Layout(local_folder(folder))
    with dataset_errors(layout.root):
        service = service_of(layout)
        keys = None if asked is None else {*map(key_of, asked)}
        contents = read_contents(layout, service, keys)
        wallets, order = _wallets(contents, service, asked)
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
    """Put what the user keeps of wallets behind their columns."""
    if (told := read_kept(layout)) is None:
        return wallets
    pairs = zip(wallets["blockchain"], wallets["address"], strict=True)
    return with_kept(wallets, kept_of(told, [".".join(canonical_key(*pair)) for pair in pairs]))


def _names(columns: str | Sequence[str] | None) -> list[str]:
    if columns is None:
        return [*HOLDING_DTYPES]
    names = [columns] if isinstance(columns, str) else [*dict.fromkeys(columns)]
    if missing := [name for name in names if name not in HOLDING_DTYPES]:
        raise ColumnsError(missing, [*HOLDING_DTYPES])
    return names


def _wallets(
    contents: Contents, service: str, asked: list[WalletAddress] | None
) -> tuple[pd.DataFrame, Codes]:
    """Give wallets in the order asked, and of each its place in `contents`, or behind these."""
    found = contents.wallets
    frame = as_frame(found, WALLET_DTYPES)
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
    counts = np.zeros(len(contents.wallets) + len(order), dtype=np.int64)
    start, book = 0, TokenBook()
    for part in contents.parts:
        marks = None if chosen is None else _marks(part, chosen, book)
        owned = part.counts
        if marks is not None:
            owned = np.bincount(
                np.repeat(np.arange(len(owned)), owned)[marks], minlength=len(owned)
            )
        counts[start : start + len(owned)] = owned
        start += len(owned)
        taken = None if marks is None else np.flatnonzero(marks)
        if owned.any() or part is contents.parts[-1]:
            for name, column in part.read(read, taken).items():
                is_amounts = isinstance(column, Words)
                chunks[name].append(AmountArray(*column.exact()) if is_amounts else column)
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
        joined = pa.chunked_array(chunks)
        missing = np.array(joined.is_null())
        whole = pd.arrays.IntegerArray(np.array(joined.fill_null(0)), missing)
    else:
        return text_of(chunks, rows)
    return whole if rows is None else whole.take(rows)


def _token_keys(parts: list[Part], tokens: TokenLike | list[TokenLike]) -> set[TokenKey]:
    """Return the tokens that a caller names, of all that are in the folder."""
    book = TokenBook()
    found = (book.ways(part.read(TOKEN)).written() for part in parts)
    written = pd.concat(found).drop_duplicates()
    known = token_identities(written)
    named = tokens if isinstance(tokens, list) else [tokens]
    return {known.keys[token_place(written, known, token)] for token in named}


def _marks(part: Part, chosen: set[TokenKey], book: TokenBook) -> Mask:
    ways = book.ways(part.read(TOKEN))
    wanted = np.array([key in chosen for key in ways.keys], dtype=bool)
    return np.asarray(wanted[ways.codes], dtype=bool)
