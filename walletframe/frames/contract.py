"""The column contract: names, order, dtypes, categories, and the spelling of blockchains."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from walletframe.address.forms import canonical_blockchain
from walletframe.amounts import AmountArray, AmountDtype
from walletframe.chains import known_blockchains, normalize_blockchain
from walletframe.errors import AmountError, ColumnsError
from walletframe.pandas_versions import TEXT
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    Rows = npt.NDArray[np.intp]

COMPARED: Final = "walletframe_compared"  # the key in `DataFrame.attrs` of a table of changes
SIMULATED: Final = "sandbox"
_SPELLED = ("blockchain", "token_blockchain")


class Source(StrEnum):
    """Where an answer came from; the categories of the column ``source``."""

    SERVICE = "service"
    CACHE = "cache"
    STALE = "stale"


ARROW_TEXT: Final = pa.large_string()


def category_of(members: type[StrEnum]) -> pd.CategoricalDtype:
    """Return the categorical dtype whose categories are the members of an enumeration."""
    return pd.CategoricalDtype(pd.Index([member.value for member in members], dtype=TEXT))


def typed_frame(
    columns: Mapping[str, Any], dtypes: Mapping[str, Any], index: pd.Index | None = None
) -> pd.DataFrame:
    """Build a DataFrame with these columns and dtypes."""
    arrays = {name: _typed_array(columns[name], dtype) for name, dtype in dtypes.items()}
    return pd.DataFrame(arrays, index=index, copy=False)


def _typed_array(values: Any, dtype: Any) -> Any:
    if not isinstance(dtype, pd.CategoricalDtype):
        return pd.array(values, dtype=dtype)
    codes = {name: code for code, name in enumerate(dtype.categories)}  # pandas would build indexes
    return pd.Categorical.from_codes([codes.get(value, -1) for value in values], dtype=dtype)


def text_array(values: Any) -> Any:
    """Return text in the dtype of the contract, NaN if it is missing."""
    if isinstance(values, pd.Categorical):  # casting it would take ten times as long
        return values.categories.array.take(values.codes, allow_fill=True)
    return pd.array(values, dtype=TEXT)


def arrow_text(chunks: Iterable[pa.Array], rows: Rows | None = None) -> Any:
    """Return Arrow's text, chunk after chunk, in the dtype of the contract, or only some rows.

    Either all arrays are dictionaries, or none is.
    """
    whole = pa.chunked_array(map(_widened, chunks)).unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.DictionaryArray):  # casting it would take 15 times as long
        places = whole.indices if rows is None else whole.indices.take(pa.array(rows))
        whole = whole.dictionary.take(places)
    elif rows is not None:
        whole = whole.take(pa.array(rows))
    return TEXT.__from_arrow__(pa.chunked_array([whole]))


def _widened(text: pa.Array) -> pa.Array:
    if isinstance(text, pa.DictionaryArray):
        return pa.DictionaryArray.from_arrays(text.indices, text.dictionary.cast(ARROW_TEXT))
    return text.cast(ARROW_TEXT)


def count_array(values: npt.ArrayLike, missing: npt.ArrayLike | None = None) -> Any:
    """Return counts as the nullable integers of the contract; `missing` marks unknown ones."""
    counts = np.array(values, dtype=np.int64)
    unknown = np.zeros(len(counts), dtype=bool) if missing is None else np.array(missing)
    return pd.arrays.IntegerArray(counts, unknown)


def amounts_of(column: pd.Series) -> AmountArray:
    """Return the exact amounts of a column, or raise an `AmountError` if it has none."""
    if not isinstance(column.array, AmountArray):
        raise AmountError(
            f"a column of dtype {column.dtype} holds no amounts",
            hint='convert it: .astype("amount"); a file has the exact amounts in "amount_text"',
        )
    return column.array


def na_array(count: int) -> AmountArray:
    """Return an array of amounts that are all NA."""
    return AmountArray(np.full(count, 0, dtype=object), np.ones(count, dtype=bool), 0)


def concat_frames(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate frames; empty ones don't affect the dtypes."""
    every = [*frames]
    return pd.concat([each for each in every if len(each)] or every[:1], ignore_index=True)


def require_columns(frame: pd.DataFrame, names: Iterable[str], hint: str = "") -> None:
    """Raise an error with the names of missing columns, if there are any."""
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ColumnsError(missing, [str(name) for name in frame.columns], hint)


WALLET_DTYPES: Final[dict[str, Any]] = {
    "blockchain": TEXT,
    "address": TEXT,
    "status": category_of(Status),
    "error": TEXT,
    "tokens": pd.Int64Dtype(),
    "explorer_url": TEXT,
    "fetched_at": pd.DatetimeTZDtype("us", "UTC"),
    "source": category_of(Source),
    "service": TEXT,
}

HOLDING_DTYPES: Final[dict[str, Any]] = {
    "blockchain": TEXT,
    "address": TEXT,
    "symbol": TEXT,
    "token_address": TEXT,
    "amount": AmountDtype(),
    "decimals": pd.Int16Dtype(),
    "raw_amount": TEXT,
    "token_blockchain": TEXT,
    "price": "float64",
}


def blockchains() -> pd.DataFrame:
    """List the blockchains that the service is known to support.

    Returns
    -------
    DataFrame
        One row for each of the 107, on an index from 0: ``blockchain``, the identifier, as it is
        written before an address; ``name``, str, its usual name; ``coin``, str, the symbol of
        its native coin; ``chain_id``, Int64, its id if it is an EVM blockchain. NA if the public
        lists below don't have it.

    Notes
    -----
    The identifiers are those of the service's own Python client of April 2026. The service may
    support more by now: any identifier is sent as it is written.

    Names, coins and chain ids are from https://github.com/ethereum-lists/chains (MIT licence) and
    https://github.com/cosmos/chain-registry (CC BY 4.0), both of August 2026; those of Dash, IOTA
    and NEAR from SLIP-0044.

    Examples
    --------
    >>> known = blockchains().set_index("blockchain")
    >>> known.loc["AVAX_CCHAIN", ["name", "coin"]].tolist()
    ['Avalanche C-Chain', 'AVAX']
    """
    dtypes = {"blockchain": TEXT, "name": TEXT, "coin": TEXT, "chain_id": pd.Int64Dtype()}
    chains = known_blockchains().values()
    rows = [(chain.identifier, chain.name, chain.coin, chain.chain_id) for chain in chains]
    return typed_frame(dict(zip(dtypes, zip(*rows, strict=True), strict=True)), dtypes)


def normalize_blockchains(*frames: pd.DataFrame) -> tuple[pd.DataFrame, ...]:
    """Normalize blockchain names across frames: known ones in capitals, others as first written."""
    first: dict[str, str] = {}
    result = []
    for frame in frames:
        changed = {}
        for name in (name for name in _SPELLED if name in frame.columns):
            written = frame[name].array.unique().dropna().tolist()
            names = {
                each: first.setdefault(canonical_blockchain(each), normalize_blockchain(each))
                for each in written
            }
            if any(name != each for each, name in names.items()):
                changed[name] = frame[name].map(names).astype(frame[name].dtype)
        result.append(frame.assign(**changed) if changed else frame)
    return tuple(result)
