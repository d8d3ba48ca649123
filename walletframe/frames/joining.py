"""Parse the wallets in a user's table, and join the table with a frame of a fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from walletframe.address.forms import (
    COLUMNS,
    WalletAddress,
    canonical_key,
    wallet_or_reason,
    wallet_or_reason_and_alias,
)
from walletframe.address.lists import (
    check_on_unreadable,
    read_list,
    readable_wallets,
    rename_wallet_columns,
    unparsed_wallets,
    warn_about_typos,
)
from walletframe.chains import find_blockchain
from walletframe.errors import ArgumentError, ColumnsError, InputWarning, SettingsError
from walletframe.frames.identity import encode_wallets
from walletframe.frames.schema import require_columns
from walletframe.notice import notify
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import TEXT

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from walletframe.address.lists import RaiseOrDrop
    from walletframe.frames.identity import Codes

How: TypeAlias = Literal["left", "inner", "right", "outer"]
_Wallets: TypeAlias = "Sequence[WalletAddress | None]"

_HOW = ("left", "inner", "right", "outer")
_KEYS = list(COLUMNS)


def parse(data: pd.DataFrame | pd.Series, *, on_unreadable: RaiseOrDrop = "raise") -> pd.DataFrame:
    """Parse the wallets, without sending requests.

    Parameters
    ----------
    on_unreadable : {"raise", "drop"}, default "raise"
        Raise an error for unreadable rows, or drop these rows. Empty rows are always skipped.

    Returns
    -------
    DataFrame
        Each readable row, including duplicates, with the index of your data and these columns:

        - ``blockchain`` (str): the identifier, as the service spells it;
        - ``address`` (str): the address, without surrounding white space.

    Raises
    ------
    AddressError
        If rows are unreadable, or have another name of a blockchain, such as ``ethereum`` instead
        of ``ETH``. The error lists positions and reasons.
    ColumnsError
        If a DataFrame lacks the column ``blockchain`` or ``address``.
    SettingsError
        If `on_unreadable` is neither ``"raise"`` nor ``"drop"``, or if a column occurs twice.

    Warns
    -----
    InputWarning
        If rows are dropped, or a blockchain is unknown.

    Examples
    --------
    >>> import walletframe
    >>> pd.Series(["near.alice.near"], index=["a"]).wf.parse()
      blockchain     address
    a       NEAR  alice.near
    """
    check_on_unreadable(on_unreadable, ("raise", "drop"))
    parsed = read_list(data)
    wallets = readable_wallets(parsed, on_unreadable)
    warn_about_typos(wallets)
    return frame_of_wallets(wallets).set_axis(data.index[parsed.positions])


def frame_of_wallets(wallets: Sequence[WalletAddress]) -> pd.DataFrame:
    """Return the columns ``blockchain`` and ``address``, with an index from 0."""
    pairs = [(wallet.blockchain, wallet.address) for wallet in wallets]
    return pd.DataFrame(pairs, columns=_KEYS, dtype=TEXT)


def join(
    table: pd.DataFrame,
    frame: object,
    how: How = "left",
    *,
    on: str | None = None,
    suffixes: tuple[str, str] = ("_yours", ""),
) -> pd.DataFrame:
    """Merge your own table with ``wallets`` or ``holdings``, by wallet.

    White space around a wallet is ignored. Blockchains and hex addresses are compared
    case-insensitively, all other addresses case-sensitively.

    Parameters
    ----------
    frame : DataFrame
        The ``wallets`` or ``holdings`` of a fetch, or a frame derived from one of them.
    how : {"left", "inner", "right", "outer"}, default "left"
        The rows to keep, as in `pandas.merge`:

        - ``"left"``: all rows of your table;
        - ``"inner"``: only rows with a match;
        - ``"right"``: all rows of `frame`;
        - ``"outer"``: all rows of both tables.
    on : str, optional
        The column of your table with ``"ETH.0x…"`` strings. By default, use the columns
        ``blockchain`` and ``address``. Without these, use the only column of such strings.
    suffixes : (str, str), default ("_yours", "")
        Endings for column names that both tables have: the first for your table, the second for
        `frame`.

    Returns
    -------
    DataFrame
        The columns of both tables, with their dtypes, and an index from 0. ``blockchain`` and
        ``address`` are spelled as in `frame`. A row of your table is repeated for each matching
        row of `frame`. If a row has no match, the columns of the other table are NA.

        Rows are in the order of your table, then of `frame`. Rows of `frame` without a match are
        last. With ``how="right"``, rows are in the order of `frame`, then of your table.

    Raises
    ------
    ArgumentError, ColumnsError
        If `frame` is not a DataFrame, or if a table has no columns with wallets.
    SettingsError
        If `how` is not supported, or if two columns of the result would have the same name.

    Warns
    -----
    InputWarning
        If rows of your table have no match, or if several rows match the same balances.

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
    merged, problem = merge_by_wallet(table, frame, how, on=on, suffixes=suffixes)
    if problem:
        notify(problem, InputWarning)
    return merged


def merge_by_wallet(
    table: pd.DataFrame, frame: object, how: How, *, on: str | None, suffixes: tuple[str, str]
) -> tuple[pd.DataFrame, str]:
    """Return the joined frame, and the text of a warning. The text may be empty."""
    if how not in _HOW:
        hint = 'use how="left", "inner", "right" or "outer"'
        raise SettingsError(f"how={how!r} is not supported", hint=hint)
    if not isinstance(frame, pd.DataFrame):
        raise ArgumentError(
            f"a join with an object of type {type(frame).__name__} is not supported",
            hint="pass a DataFrame: .wallets or .holdings of the result of fetch_wallets",
        )
    require_columns(frame, _KEYS)
    table = rename_wallet_columns(table) if on is None else table
    column = _find_wallet_column(table) if on is None else on
    if isinstance(column, str):
        require_columns(table, [column])
    wallets = parse_row_wallets(table, column)
    pairs, problem = _match_rows(wallets, frame, how)
    keys = _joined_key_columns(table if column is None else None, frame, wallets, pairs)
    left = _take_or_na(table.drop(columns=_KEYS) if column is None else table, pairs[0])
    joined = _concat_columns(left, keys, _take_or_na(frame.drop(columns=_KEYS), pairs[1]), suffixes)
    if column is not None:
        return joined, problem
    others = iter(joined.columns.drop(_KEYS))
    own_order = [name if name in _KEYS else next(others) for name in table.columns]
    return joined[[*own_order, *others]], problem


def parse_row_wallets(table: pd.DataFrame, column: Hashable | None) -> _Wallets:
    """Parse the wallet of each row. An unreadable wallet is None."""
    items = unparsed_wallets(table) if column is None else table[column]
    wallets = map(wallet_or_reason_and_alias, items)
    return [wallet if isinstance(wallet, WalletAddress) else None for wallet, _ in wallets]


def _find_wallet_column(table: pd.DataFrame) -> Hashable | None:
    missing = [name for name in _KEYS if name not in table.columns]
    if not missing:
        return None
    columns = [name for name in table.columns if _contains_wallets(table[name])]
    if len(columns) == 1:
        return columns[0]
    raise ColumnsError(
        missing,
        [str(name) for name in table.columns],
        hint='pass the name of the column with strings such as "ETH.0x…": on="wallet"; or rename '
        "your two columns to blockchain and address",
    )


def _contains_wallets(column: Any) -> bool:
    if not isinstance(column, pd.Series) or not (
        pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)
    ):
        return False
    wallets = (wallet_or_reason(cell) for cell in column if isinstance(cell, str))
    return any(
        isinstance(wallet, WalletAddress) and find_blockchain(wallet.blockchain)
        for wallet in wallets
    )


def _match_rows(
    wallets: _Wallets, frame: pd.DataFrame, how: How
) -> tuple[tuple[Codes, Codes], str]:
    identities = encode_wallets(frame)
    code_by_key: dict[Any, int] = {key: code for code, key in enumerate(identities.keys)}
    keys = [wallet and canonical_key(wallet.blockchain, wallet.address) for wallet in wallets]
    codes = np.array([code_by_key.get(key, -1) for key in keys], dtype=np.intp)
    left = pd.DataFrame({"code": codes, "left": np.arange(len(codes))})
    right = pd.DataFrame({"code": identities.codes, "right": np.arange(len(frame))})
    pairs = left.merge(right, how, on="code").fillna(-1)
    left_rows, right_rows = (pairs[side].to_numpy(np.intp) for side in ("left", "right"))
    first, second = (right_rows, left_rows) if how == "right" else (left_rows, right_rows)
    order = np.lexsort((second, np.where(first < 0, len(codes), first)))
    count, unreadable = int((codes < 0).sum()), keys.count(None)
    reason = f" ({unreadable:,} can't be read)" if unreadable else ""
    verb = "has" if count == 1 else "have"
    problem = (
        f"{count:,} of {counted_noun(len(codes), 'row')} {verb} no match{reason}" if count else ""
    )
    repeated = int((np.bincount(codes[codes >= 0], minlength=1) > 1).sum())
    if repeated and "amount" in frame:
        problem += "; " * bool(problem) + _repeated_wallets_text(repeated)
    return (left_rows[order], right_rows[order]), problem


def warn_repeated_wallets(count: int) -> None:
    """Warn about wallets that are in several rows of the user's table."""
    if count:
        notify(_repeated_wallets_text(count), InputWarning)


def _repeated_wallets_text(count: int) -> str:
    text = f"{counted_noun(count, 'wallet')} {'is' if count == 1 else 'are'} in several rows of "
    return f"{text}your table, so sums of the result count their balances repeatedly"


def _joined_key_columns(
    table: pd.DataFrame | None, frame: pd.DataFrame, wallets: _Wallets, pairs: tuple[Codes, Codes]
) -> pd.DataFrame:
    left_rows, right_rows = pairs
    columns = {}
    for name in _KEYS:
        cells = [None] * len(wallets) if table is None else table[name].tolist()
        texts = [
            getattr(wallet, name) if wallet else None if pd.isna(cell) else str(cell)
            for wallet, cell in zip(wallets, cells, strict=True)
        ]
        from_frame = _take_or_na(frame[[name]].astype(TEXT), right_rows)[name]
        from_table = _take_or_na(pd.DataFrame({name: pd.array(texts, dtype=TEXT)}), left_rows)[name]
        columns[name] = from_frame.where(right_rows >= 0, from_table)
    return pd.DataFrame(columns)


def _take_or_na(frame: pd.DataFrame, rows: Codes) -> pd.DataFrame:
    return frame.reset_index(drop=True).reindex(rows).reset_index(drop=True)


def _concat_columns(
    left: pd.DataFrame, keys: pd.DataFrame, right: pd.DataFrame, suffixes: tuple[str, str]
) -> pd.DataFrame:
    right = pd.concat([keys, right], axis=1)
    shared = set(left.columns) & set(right.columns)
    renamed = [
        part.rename(columns={name: f"{name}{suffix}" for name in shared})
        for part, suffix in zip((left, right), suffixes, strict=True)
    ]
    joined = pd.concat(renamed, axis=1)
    duplicates = joined.columns[joined.columns.duplicated()]
    if shared and len(duplicates):
        raise SettingsError(
            f"with suffixes={suffixes!r}, two columns would have the name {duplicates[0]!r}",
            hint="pass other suffixes",
        )
    return joined
