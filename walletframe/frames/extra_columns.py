"""Extra columns of wallets, which ``keep=`` copies from the user's own list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from walletframe.address.lists import first_and_conflicting_label_rows
from walletframe.amounts.arrow import AMOUNT_TEXT, merge_amount_columns, to_portable_table
from walletframe.errors import SettingsError
from walletframe.frames.identity import encode_wallets
from walletframe.frames.schema import HOLDING_DTYPES, SNAPSHOT, WALLET_DTYPES
from walletframe.numerals import counted_noun
from walletframe.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from walletframe.frames.identity import Codes

RESULT_COLUMNS: Final = frozenset(
    {"amount", "tokens", "holders", "balances", "amount_na", "value", "currency", "unpriced"}
    | {"wallets_ok", "wallets_stale", "wallets_asked", "share", "gini", "herfindahl", "top_share"}
    | {"tokens_both", "tokens_either", "assets_both", "assets_either", "jaccard"}
    | {"contracts", "blockchains"}
    | {"before", "after", "difference", "change", "wallets_known", "wallets"}
)
"""Columns of result tables. Extra columns can't have these names."""

_DERIVED = {"unit_price", "spam_score", "spam_reasons", "is_spam", "snapshot", "block"}
_DERIVED |= {"token", "wallet", "asset", "position", "wallet_key"}  # columns of tables and files
_DERIVED |= {"search", "spam", "small", "assets", "bridged"}  # arguments of `where`
RESERVED_NAMES: Final = RESULT_COLUMNS | _DERIVED | WALLET_DTYPES.keys() | HOLDING_DTYPES.keys()

DISTINCT_COLUMNS: Final = frozenset({"amount", AMOUNT_TEXT, "raw_amount", "explorer_url", "error"})
"""Columns of mostly distinct values. Dictionary encoding would save no space."""

_INTEGERS = [f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)]
ARROW_DTYPES: Final[dict[pa.DataType, Any]] = {
    pa.string(): WALLET_DTYPES["error"],
    pa.large_string(): WALLET_DTYPES["error"],
    pa.bool_(): pd.BooleanDtype(),
    **{pa.type_for_alias(name.lower()): pd.api.types.pandas_dtype(name) for name in _INTEGERS},
}
"""Nullable dtypes that exactly represent the values of Arrow types."""


def check_keep(keep: str | Sequence[str]) -> list[str]:
    """Return the distinct names in `keep`. Raise an error for a reserved name."""
    names: list[Any] = [keep] if isinstance(keep, str) else list(keep)
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise SettingsError(f"keep={name!r} is not a column name", hint="pass names as text")
        if name in RESERVED_NAMES:
            raise SettingsError(
                f"the column {safe_line(name)!r} can't be kept, because walletframe has a column "
                "of this name",
                hint="rename your column, and pass the new name",
            )
    return list(dict.fromkeys(names))


def extra_names(wallets: pd.DataFrame) -> list[str]:
    """Return the names of the extra columns of a wallets frame."""
    names: list[Any] = [*wallets.columns]  # a user's column names may be numbers
    return [name for name in names if isinstance(name, str) and name not in RESERVED_NAMES]


def extra_column_values(wallets: pd.DataFrame, name: str, first_rows: Codes) -> Any:
    """Return each wallet's value. Several values raise an error; in a history, the last is used."""
    column, rows = wallets[name].array, first_rows
    if len(wallets) > len(first_rows):
        codes = encode_wallets(wallets).codes
        labelled, conflicts = first_and_conflicting_label_rows(name, codes, column)
        if conflicts and SNAPSHOT in wallets:
            return last_labels(wallets[[name]], codes)[name].array.take(codes[first_rows])
        if conflicts:
            wallet = ".".join(wallets[["blockchain", "address"]].iloc[conflicts[0]])
            raise SettingsError(
                f"the column {safe_line(name)!r} of `wallets` has several values for "
                f"{safe_line(wallet)!r}",
                hint="use one value for each wallet",
            )
        labelled_rows = labelled[codes[first_rows]]
        rows = np.where(labelled_rows < 0, first_rows, labelled_rows)
    return column.take(rows)


def last_labels(wallets: pd.DataFrame, wallet_codes: Codes) -> pd.DataFrame:
    """Return one row for each wallet, with the last known value of each column."""
    return wallets.groupby(wallet_codes).last().astype(wallets.dtypes)


def changed_labels_note(wallets: pd.DataFrame, wallet_codes: Codes, names: Iterable[str]) -> str:
    """Return a sentence about labels that changed over time, or an empty text."""
    texts = []
    for name in [each for each in extra_names(wallets) if each in names]:
        _, changed = first_and_conflicting_label_rows(name, wallet_codes, wallets[name].array)
        if count := len(np.unique(wallet_codes[changed])):
            texts.append(f"the {safe_line(name)!r} of {counted_noun(count, 'wallet')}")
    return f"The last labels apply at all times: {' and '.join(texts)} changed." * bool(texts)


def append_columns(wallets: pd.DataFrame, extra: pd.DataFrame | None) -> pd.DataFrame:
    """Append the columns `extra`. The rows must be in the order of `wallets`."""
    if extra is None or extra.columns.empty:
        return wallets
    return wallets.assign(**{str(name): column.array for name, column in extra.items()})


def extra_to_arrow(extra: pd.DataFrame) -> pa.Table:
    """Convert extra columns to an Arrow table for files.

    Each column of amounts becomes two columns: rounded decimals and exact text. Categories become
    plain values, since Parquet does not store the order of categories.
    """
    table = to_portable_table(extra)
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def extra_from_arrow(table: pa.Table) -> pd.DataFrame:
    """Convert an Arrow table to a DataFrame. Integers and booleans become nullable."""
    frame: pd.DataFrame = merge_amount_columns(table).to_pandas(types_mapper=ARROW_DTYPES.get)
    return frame
