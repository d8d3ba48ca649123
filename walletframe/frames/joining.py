"""Wallets in a user's own table: reading them, and joining the table with a frame of a fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address.forms import COLUMNS, WalletAddress, canonical_key, read_wallet
from walletframe.address.lists import (
    accepted_wallets,
    frame_rows,
    read_list,
    warn_about_unknown_blockchains,
    with_standard_columns,
)
from walletframe.chains import find_blockchain
from walletframe.errors import ArgumentError, ColumnsError, InputWarning, SettingsError
from walletframe.frames.contract import require_columns
from walletframe.frames.identity import wallet_identities
from walletframe.notice import notify
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import TEXT

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from walletframe.address.lists import OnUnreadable
    from walletframe.frames.identity import Codes

How: TypeAlias = Literal["left", "inner", "right", "outer"]
_Wallets: TypeAlias = "Sequence[WalletAddress | None]"

_HOW = ("left", "inner", "right", "outer")
_KEYS = list(COLUMNS)


def parse(data: pd.DataFrame | pd.Series, *, on_unreadable: OnUnreadable = "raise") -> pd.DataFrame:
    """Read the wallets, without sending requests.

    Parameters
    ----------
    on_unreadable : {"raise", "drop"}, default "raise"
        What to do with rows that can't be read; empty rows are always skipped.

    Returns
    -------
    DataFrame
        ``blockchain``, as the service writes it, and ``address``, trimmed, both str: one row
        for each readable row, on its own index, repeats included.

    Raises
    ------
    AddressError
        Lists every wallet that can't be read, with its position and the reason.
    ColumnsError
        If a DataFrame lacks the column ``blockchain`` or ``address``.
    SettingsError
        If `on_unreadable` is neither of these.

    Warns
    -----
    InputWarning
        If rows are left out, or a blockchain is unknown.

    Examples
    --------
    >>> import walletframe
    >>> pd.Series(["near.alice.near"], index=["a"]).wf.parse()
      blockchain     address
    a       NEAR  alice.near
    """
    reading = read_list(data)
    wallets = accepted_wallets(reading, on_unreadable)
    warn_about_unknown_blockchains(wallets)
    return pd.DataFrame(
        {
            "blockchain": pd.array([wallet.blockchain for wallet in wallets], dtype=TEXT),
            "address": pd.array([wallet.address for wallet in wallets], dtype=TEXT),
        },
        index=data.index[reading.positions],
    )


def join(
    table: pd.DataFrame,
    frame: object,
    how: How = "left",
    *,
    on: str | None = None,
    suffixes: tuple[str, str] = ("_yours", ""),
) -> pd.DataFrame:
    """Merge your own table with ``wallets`` or ``holdings``, by wallet.

    White space around a wallet is ignored, and so is the case of its blockchain and of hex.

    Parameters
    ----------
    frame : DataFrame
        ``wallets`` or ``holdings`` of a fetch, or a frame derived from them.
    how : {"left", "inner", "right", "outer"}, default "left"
        Which rows to keep: all of your table, those with a match, all of `frame`, or all.
    on : str, optional
        The column of your table with wallets as ``"ETH.0x…"``, if it has several such columns,
        and no ``blockchain`` and ``address``.
    suffixes : (str, str), default ("_yours", "")
        Appended to the names of other columns that are in both tables.

    Returns
    -------
    DataFrame
        Your columns and those of `frame`, with their dtypes; ``blockchain`` and ``address`` as
        `frame` writes them. Your row is repeated for each row it matches, in your order, then
        in that of `frame` (with ``"right"`` the other way round). Without a match, the columns
        of the other table are NA. The index counts from 0.

    Raises
    ------
    ArgumentError, ColumnsError
        If `frame` is not a DataFrame, or a table lacks the columns that name the wallets.
    SettingsError
        If `how` is not one of its choices, or the suffixes give two columns the same name.

    Warns
    -----
    InputWarning
        With the number of rows of your table without a match, if there are any.

    Examples
    --------
    >>> import pandas as pd, walletframe
    >>> with walletframe.sandbox() as service, service.client(cache=False) as client:
    ...     wallets, holdings = client.fetch(["NEAR.alice.near"])
    >>> people = pd.DataFrame({"wallet": [" near.alice.near"], "name": ["Alice"]})
    >>> people.wf.join(wallets)[["name", "blockchain", "address", "status"]]
        name blockchain     address status
    0  Alice       NEAR  alice.near     ok
    """
    merged, unmatched = merge(table, frame, how, on=on, suffixes=suffixes)
    if unmatched:
        notify(unmatched, InputWarning)
    return merged


def merge(
    table: pd.DataFrame, frame: object, how: How, *, on: str | None, suffixes: tuple[str, str]
) -> tuple[pd.DataFrame, str]:
    """Return what `join` does, and a warning about rows without a match, or an empty text."""
    if how not in _HOW:
        raise SettingsError(f"how can't be {how!r}", hint="use left, inner, right or outer")
    if not isinstance(frame, pd.DataFrame):
        raise ArgumentError(
            f"a table can't be joined with {type(frame).__name__}, only with a DataFrame",
            hint="give .wallets or .holdings of what fetch_wallets returned",
        )
    require_columns(frame, _KEYS)
    table = with_standard_columns(table) if on is None else table
    column = _find_wallet_column(table) if on is None else on
    if isinstance(column, str):
        require_columns(table, [column])
    wallets = read_wallets(table, column)
    (ours, theirs), unmatched = _match_rows(wallets, frame, how)
    keys = _key_columns(table if column is None else None, frame, wallets, (ours, theirs))
    mine = _take_rows(table.drop(columns=_KEYS) if column is None else table, ours)
    joined = _concat_columns(mine, keys, _take_rows(frame.drop(columns=_KEYS), theirs), suffixes)
    if column is not None:
        return joined, unmatched
    others = iter(joined.columns.drop(_KEYS))
    in_place = [name if name in _KEYS else next(others) for name in table.columns]
    return joined[[*in_place, *others]], unmatched


def read_wallets(table: pd.DataFrame, column: Hashable | None) -> _Wallets:
    """Read each row's wallet from a column, or from two for None; None if it can't be read."""
    read = map(read_wallet, frame_rows(table) if column is None else table[column])
    return [each if isinstance(each, WalletAddress) else None for each in read]


def _find_wallet_column(table: pd.DataFrame) -> Hashable | None:
    """Return the column with wallets; None for ``blockchain`` and ``address``."""
    missing = [name for name in _KEYS if name not in table.columns]
    if not missing:
        return None
    columns = [name for name in table.columns if _holds_wallets(table[name])]
    if len(columns) == 1:
        return columns[0]
    raise ColumnsError(
        missing,
        [str(name) for name in table.columns],
        hint='name the column of "<BLOCKCHAIN>.<ADDRESS>" strings: on="wallet"; or rename two',
    )


def _holds_wallets(column: Any) -> bool:
    if not isinstance(column, pd.Series) or not (
        pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)
    ):
        return False
    read = (read_wallet(cell) for cell in column if isinstance(cell, str))
    return any(
        isinstance(each, WalletAddress) and find_blockchain(each.blockchain) for each in read
    )


def _match_rows(
    wallets: _Wallets, frame: pd.DataFrame, how: How
) -> tuple[tuple[Codes, Codes], str]:
    """Return pairs of row positions, -1 for no match, and a warning about unmatched rows."""
    identities = wallet_identities(frame)
    index: dict[Any, int] = {key: place for place, key in enumerate(identities.keys)}
    keys = [each and canonical_key(each.blockchain, each.address) for each in wallets]
    codes = np.array([index.get(key, -1) for key in keys], dtype=np.intp)
    left = pd.DataFrame({"code": codes, "ours": np.arange(len(codes))})
    right = pd.DataFrame({"code": identities.codes, "theirs": np.arange(len(frame))})
    pairs = left.merge(right, how, on="code").fillna(-1)
    ours, theirs = (pairs[side].to_numpy(np.intp) for side in ("ours", "theirs"))
    first, second = (theirs, ours) if how == "right" else (ours, theirs)
    order = np.lexsort((second, np.where(first < 0, len(codes), first)))
    count, unreadable = int((codes < 0).sum()), keys.count(None)
    reason = f" ({unreadable:,} can't be read)" if unreadable else ""
    verb = "matches" if count == 1 else "match"
    unmatched = (
        f"{count:,} of {counted_noun(len(codes), 'row')} {verb} nothing{reason}" if count else ""
    )
    return (ours[order], theirs[order]), unmatched


def _key_columns(
    table: pd.DataFrame | None, frame: pd.DataFrame, wallets: _Wallets, pairs: tuple[Codes, Codes]
) -> pd.DataFrame:
    """Return ``blockchain`` and ``address`` as the frame writes them, else as the table does."""
    ours, theirs = pairs
    columns = {}
    for name in _KEYS:
        cells = [None] * len(wallets) if table is None else table[name].tolist()
        texts = [
            getattr(wallet, name) if wallet else None if pd.isna(cell) else str(cell)
            for wallet, cell in zip(wallets, cells, strict=True)
        ]
        from_frame = _take_rows(frame[[name]].astype(TEXT), theirs)[name]
        from_table = _take_rows(pd.DataFrame({name: pd.array(texts, dtype=TEXT)}), ours)[name]
        columns[name] = from_frame.where(theirs >= 0, from_table)
    return pd.DataFrame(columns)


def _take_rows(frame: pd.DataFrame, rows: Codes) -> pd.DataFrame:
    """Take rows by position; -1 gives a row of NA. Columns keep their dtype if it can hold NA."""
    return frame.reset_index(drop=True).reindex(rows).reset_index(drop=True)


def _concat_columns(
    mine: pd.DataFrame, keys: pd.DataFrame, theirs: pd.DataFrame, suffixes: tuple[str, str]
) -> pd.DataFrame:
    theirs = pd.concat([keys, theirs], axis=1)
    both = set(mine.columns) & set(theirs.columns)
    renamed = [
        part.rename(columns={name: f"{name}{suffix}" for name in both})
        for part, suffix in zip((mine, theirs), suffixes, strict=True)
    ]
    joined = pd.concat(renamed, axis=1)
    twice = joined.columns[joined.columns.duplicated()]
    if both and len(twice):
        raise SettingsError(
            f"suffixes={suffixes!r} give two columns the name {twice[0]!r}", hint="give others"
        )
    return joined
