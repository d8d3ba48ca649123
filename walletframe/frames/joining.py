"""Wallets of a user's own table, however written: read, and joined with a frame of a fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address.forms import COLUMNS, WalletAddress, canonical_key, read_wallet
from walletframe.address.lists import (
    accepted_wallets,
    frame_rows,
    in_our_names,
    read_list,
    warn_of_doubts,
)
from walletframe.chains import find_blockchain
from walletframe.errors import ArgumentError, ColumnsError, InputWarning, SettingsError
from walletframe.frames.contract import require_columns
from walletframe.frames.identity import wallet_identities
from walletframe.notice import notify
from walletframe.numerals import many
from walletframe.pandas_versions import TEXT

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from walletframe.address.lists import OnUnreadable
    from walletframe.frames.identity import Codes

How: TypeAlias = Literal["left", "inner", "right", "outer"]
_Found: TypeAlias = "Sequence[WalletAddress | None]"

_HOW = ("left", "inner", "right", "outer")
_KEYS = list(COLUMNS)


def parse(data: pd.DataFrame | pd.Series, *, on_unreadable: OnUnreadable = "raise") -> pd.DataFrame:
    """Read the wallets, without asking for them.

    Parameters
    ----------
    on_unreadable : {"raise", "drop"}, default "raise"
        What to do with rows that can't be read; empty rows are always skipped.

    Returns
    -------
    DataFrame
        ``blockchain``, as the service writes it, and ``address``, trimmed, both str: one row
        for each row that is not left out, on its own index, repeats included.

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
    warn_of_doubts(wallets)
    return pd.DataFrame(
        {
            "blockchain": pd.array([wallet.blockchain for wallet in wallets], dtype=TEXT),
            "address": pd.array([wallet.address for wallet in wallets], dtype=TEXT),
        },
        index=data.index[reading.places],
    )


def join(
    table: pd.DataFrame,
    frame: object,
    how: How = "left",
    *,
    on: str | None = None,
    suffixes: tuple[str, str] = ("_yours", ""),
) -> pd.DataFrame:
    """Merge your own table with ``wallets`` or ``holdings``, however the wallets are written.

    White space around a wallet doesn't count, nor the case of its blockchain and of hex.

    Parameters
    ----------
    frame : DataFrame
        ``wallets`` or ``holdings`` of a fetch, or a frame derived from them.
    how : {"left", "inner", "right", "outer"}, default "left"
        Which rows to keep: all of your table, those of both, all of `frame`, or all.
    on : str, optional
        The column of your table that has wallets as ``"ETH.0x…"``, if there are several, and no
        ``blockchain`` and ``address``.
    suffixes : (str, str), default ("_yours", "")
        Appended to the names of the other columns that both have.

    Returns
    -------
    DataFrame
        Your columns and those of `frame`, with the dtypes they have there; ``blockchain`` and
        ``address`` as `frame` writes them. A row of yours comes once for each row it matches,
        in your order, then in that of `frame` (with ``"right"`` the other way round); without a
        match the other side's columns are NA. The index counts from 0.

    Raises
    ------
    ArgumentError, ColumnsError
        If `frame` is not a DataFrame, or either lacks the columns that name the wallets.
    SettingsError
        If `how` is none of its choices, or the suffixes give two columns one name.

    Warns
    -----
    InputWarning
        If rows of your table have no match; it says how many.

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
    """Merge as `join` does, and say how many rows of the table match nothing, if any."""
    if how not in _HOW:
        raise SettingsError(f"how: {how!r}", hint="left, inner, right or outer")
    if not isinstance(frame, pd.DataFrame):
        raise ArgumentError(
            f"what is to be joined is of type {type(frame).__name__}, not a DataFrame",
            hint="give .wallets or .holdings of what fetch_wallets returned",
        )
    require_columns(frame, _KEYS)
    table = in_our_names(table) if on is None else table
    named = _column_of_wallets(table) if on is None else on
    if isinstance(named, str):
        require_columns(table, [named])
    found = read_wallets(table, named)
    (ours, theirs), unmatched = _partners(found, frame, how)
    keys = _keys(table if named is None else None, frame, found, (ours, theirs))
    mine = _taken(table.drop(columns=_KEYS) if named is None else table, ours)
    joined = _beside(mine, keys, _taken(frame.drop(columns=_KEYS), theirs), suffixes)
    if named is not None:
        return joined, unmatched
    others = iter(joined.columns.drop(_KEYS))
    in_place = [name if name in _KEYS else next(others) for name in table.columns]
    return joined[[*in_place, *others]], unmatched


def read_wallets(table: pd.DataFrame, named: Hashable | None) -> _Found:
    """Read the wallets in one column of a table, or in two for None; None for what is none."""
    read = map(read_wallet, frame_rows(table) if named is None else table[named])
    return [each if isinstance(each, WalletAddress) else None for each in read]


def _column_of_wallets(table: pd.DataFrame) -> Hashable | None:
    """Return the column of the wallets; None where they are in two."""
    missing = [name for name in _KEYS if name not in table.columns]
    if not missing:
        return None
    found = [name for name in table.columns if _holds_wallets(table[name])]
    if len(found) == 1:
        return found[0]
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


def _partners(found: _Found, frame: pd.DataFrame, how: How) -> tuple[tuple[Codes, Codes], str]:
    """Pair rows of a table and of a frame, by position, -1 for none; and count those unmatched."""
    identities = wallet_identities(frame)
    places: dict[Any, int] = {key: place for place, key in enumerate(identities.keys)}
    keys = [each and canonical_key(each.blockchain, each.address) for each in found]
    codes = np.array([places.get(key, -1) for key in keys], dtype=np.intp)
    left = pd.DataFrame({"code": codes, "ours": np.arange(len(codes))})
    right = pd.DataFrame({"code": identities.codes, "theirs": np.arange(len(frame))})
    pairs = left.merge(right, how, on="code").fillna(-1)
    ours, theirs = (pairs[side].to_numpy(np.intp) for side in ("ours", "theirs"))
    first, second = (theirs, ours) if how == "right" else (ours, theirs)
    order = np.lexsort((second, np.where(first < 0, len(codes), first)))
    count, unread = int((codes < 0).sum()), keys.count(None)
    reason = f" ({unread:,} can't be read)" if unread else ""
    verb = "matches" if count == 1 else "match"
    unmatched = f"{count:,} of {many(len(codes), 'row')} {verb} nothing{reason}" if count else ""
    return (ours[order], theirs[order]), unmatched


def _keys(
    table: pd.DataFrame | None, frame: pd.DataFrame, found: _Found, pairs: tuple[Codes, Codes]
) -> pd.DataFrame:
    """Spell the wallets as the frame does, else as the table does."""
    ours, theirs = pairs
    columns = {}
    for name in _KEYS:
        written = [None] * len(found) if table is None else table[name].tolist()
        mine = [
            getattr(wallet, name) if wallet else None if pd.isna(cell) else str(cell)
            for wallet, cell in zip(found, written, strict=True)
        ]
        spelled = _taken(frame[[name]].astype(TEXT), theirs)[name]
        here = _taken(pd.DataFrame({name: pd.array(mine, dtype=TEXT)}), ours)[name]
        columns[name] = spelled.where(theirs >= 0, here)
    return pd.DataFrame(columns)


def _taken(frame: pd.DataFrame, rows: Codes) -> pd.DataFrame:
    """Take rows by position, NA for -1; the dtypes stay where they can hold it."""
    return frame.reset_index(drop=True).reindex(rows).reset_index(drop=True)


def _beside(
    mine: pd.DataFrame, keys: pd.DataFrame, theirs: pd.DataFrame, suffixes: tuple[str, str]
) -> pd.DataFrame:
    theirs = pd.concat([keys, theirs], axis=1)
    both = set(mine.columns) & set(theirs.columns)
    named = [
        part.rename(columns={name: f"{name}{suffix}" for name in both})
        for part, suffix in zip((mine, theirs), suffixes, strict=True)
    ]
    joined = pd.concat(named, axis=1)
    twice = joined.columns[joined.columns.duplicated()]
    if both and len(twice):
        raise SettingsError(
            f"suffixes: {suffixes!r} give two columns the name {twice[0]!r}", hint="give others"
        )
    return joined
