"""The join of a user's own table with a frame of a fetch, by wallet, however it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address import COLUMNS, WalletAddress, canonical_key, frame_rows, read_wallet
from walletframe.chains import find_blockchain
from walletframe.errors import ArgumentError, ColumnsError, InputWarning, SettingsError
from walletframe.frames.contract import require_columns
from walletframe.frames.identity import wallet_identities
from walletframe.notice import notify
from walletframe.numerals import many

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from walletframe.frames.identity import Codes

How: TypeAlias = Literal["left", "inner", "right", "outer"]
_Found: TypeAlias = "Sequence[WalletAddress | None]"

_HOW = ("left", "inner", "right", "outer")
_KEYS = list(COLUMNS)


def join(
    table: pd.DataFrame,
    frame: object,
    how: How,
    *,
    on: str | None,
    suffixes: tuple[str, str],
) -> pd.DataFrame:
    """Merge a table of wallets with ``wallets`` or ``holdings``; the accessor says how."""
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
    """Tell in which column the wallets stand; None where they are in two."""
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
    """Pair the rows of a table and of a frame, by position; -1 where one stands alone."""
    identities = wallet_identities(frame)
    places: dict[Any, int] = {key: place for place, key in enumerate(identities.keys)}
    keys = [each and canonical_key(each.blockchain, each.address) for each in found]
    codes = np.array([places.get(key, -1) for key in keys], dtype=np.intp)
    left = pd.DataFrame({"code": codes, "ours": np.arange(len(codes))})[codes >= 0]
    right = pd.DataFrame({"code": identities.codes, "theirs": np.arange(len(frame))})
    parts = [left.merge(right, on="code")]
    if how in ("left", "outer"):
        parts.append(pd.DataFrame({"ours": np.flatnonzero(codes < 0), "theirs": -1}))
    if how in ("right", "outer"):
        alone = ~np.isin(identities.codes, codes)
        parts.append(pd.DataFrame({"ours": -1, "theirs": np.flatnonzero(alone)}))
    pairs = pd.concat(parts, ignore_index=True)
    ours, theirs = pairs["ours"].to_numpy(np.intp), pairs["theirs"].to_numpy(np.intp)
    first, second = (theirs, ours) if how == "right" else (ours, theirs)
    order = np.lexsort((second, np.where(first < 0, len(codes), first)))
    return (ours[order], theirs[order]), _unmatched(keys, codes)


def _unmatched(keys: Sequence[object], codes: Codes) -> str:
    """Say how many rows match nothing; nothing where all do."""
    count, unread = int((codes < 0).sum()), keys.count(None)
    reason = f" ({unread:,} can't be read)" if unread else ""
    verb = "matches" if count == 1 else "match"
    return f"{count:,} of {many(len(codes), 'row')} {verb} nothing{reason}" if count else ""


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
        spelled = _taken(frame[[name]].astype("str"), theirs)[name]
        here = _taken(pd.DataFrame({name: pd.array(mine, dtype="str")}), ours)[name]
        columns[name] = spelled.where(theirs >= 0, here)
    return pd.DataFrame(columns)


def _taken(frame: pd.DataFrame, rows: Codes) -> pd.DataFrame:
    """Take rows by position, NA for -1; the dtypes stay where they can hold it."""
    numbered = frame.reset_index(drop=True)
    if not len(rows) or rows.min() >= 0:
        return numbered.take(rows).reset_index(drop=True)
    return numbered.reindex(rows).reset_index(drop=True)


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
