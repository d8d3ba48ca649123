"""The schema of wallets and holdings: columns, dtypes, categories and blockchain names."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from walletframe.address.forms import canonical_blockchain
from walletframe.amounts import AmountArray, AmountDtype
from walletframe.chains import known_blockchains, normalize_blockchain
from walletframe.errors import AmountError, ColumnsError, PricesError
from walletframe.numerals import counted_noun
from walletframe.pandas_versions import TEXT
from walletframe.wire.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    Rows = npt.NDArray[np.intp]

COMPARED: Final = "walletframe_compared"  # key in `DataFrame.attrs` that marks a table of changes
UNFINISHED: Final = "unfinished"
"""Key in ``attrs`` of an unfinished folder: [missing, all] wallets, or zeros if unknown."""
SNAPSHOT: Final = "snapshot"  # the column with the time of a saved snapshot
SIMULATED: Final = "sandbox"  # the service whose data is simulated
_BLOCKCHAIN_COLUMNS = ("blockchain", "token_blockchain")


class AnswerSource(StrEnum):
    """The origin of an answer. The members are the categories of the column ``source``."""

    SERVICE = "service"
    CACHE = "cache"
    STALE = "stale"


ARROW_TEXT: Final = pa.large_string()


def category_dtype(members: type[StrEnum]) -> pd.CategoricalDtype:
    """Return a dtype with the members of an enumeration as categories."""
    return pd.CategoricalDtype(pd.Index([member.value for member in members], dtype=TEXT))


def typed_frame(
    columns: Mapping[str, Any], dtypes: Mapping[str, Any], index: pd.Index | None = None
) -> pd.DataFrame:
    """Build a DataFrame with the columns in `dtypes`, in this order."""
    arrays = {name: _typed_array(columns[name], dtype) for name, dtype in dtypes.items()}
    return pd.DataFrame(arrays, index=index, copy=False)


def _typed_array(values: Any, dtype: Any) -> Any:
    if not isinstance(dtype, pd.CategoricalDtype):
        return pd.array(values, dtype=dtype)
    # Encoding in Python is faster than pandas, which would build indexes.
    codes = {name: code for code, name in enumerate(dtype.categories)}
    return pd.Categorical.from_codes([codes.get(value, -1) for value in values], dtype=dtype)


def text_array(values: Any) -> Any:
    """Return values as an array of the dtype `TEXT`. Missing values are NaN."""
    if isinstance(values, pd.Categorical):  # a cast would take ten times as long
        return values.categories.array.take(values.codes, allow_fill=True)
    return pd.array(values, dtype=TEXT)


def text_from_arrow(chunks: Iterable[pa.Array], rows: Rows | None = None) -> Any:
    """Concatenate Arrow arrays as text. Either all are dictionary-encoded, or none."""
    text = pa.chunked_array(map(_as_large_text, chunks)).unify_dictionaries().combine_chunks()
    if isinstance(text, pa.DictionaryArray):  # a cast would take 15 times as long
        indices = text.indices if rows is None else text.indices.take(pa.array(rows))
        text = text.dictionary.take(indices)
    elif rows is not None:
        text = text.take(pa.array(rows))
    return TEXT.__from_arrow__(pa.chunked_array([text]))


def _as_large_text(text: pa.Array) -> pa.Array:
    if isinstance(text, pa.DictionaryArray):
        return pa.DictionaryArray.from_arrays(text.indices, text.dictionary.cast(ARROW_TEXT))
    return text.cast(ARROW_TEXT)


def count_array(values: npt.ArrayLike, missing: npt.ArrayLike | None = None) -> Any:
    """Return counts as Int64. Counts in the mask `missing` become NA."""
    counts = np.array(values, dtype=np.int64)
    unknown = np.zeros(len(counts), dtype=bool) if missing is None else np.array(missing)
    return pd.arrays.IntegerArray(counts, unknown)


def amounts_of(column: pd.Series) -> AmountArray:
    """Return the array of a column of amounts, or raise an error for other dtypes."""
    if not isinstance(column.array, AmountArray):
        raise AmountError(
            f"a column of dtype {column.dtype} does not contain amounts",
            hint="read holdings from a file with walletframe.read_holdings(path), or convert a "
            'column of texts or Decimals with .astype("amount")',
        )
    return column.array


def na_amounts(count: int) -> AmountArray:
    """Return an array of NA amounts."""
    return AmountArray(np.full(count, 0, dtype=object), np.ones(count, dtype=bool), 0)


def concat_frames(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate frames, and ignore the dtypes of empty frames."""
    parts = [*frames]
    result = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    if marks := [part.attrs[UNFINISHED] for part in parts if UNFINISHED in part.attrs]:
        result.attrs[UNFINISHED] = [sum(each) * all(each) for each in zip(*marks, strict=True)]
    return result


def missing_wallets_text(attrs: Mapping[Any, Any]) -> str:
    """Return the wallets that a folder lacks, such as ``3 of 9 wallets``, or an empty text."""
    missing, total = attrs.get(UNFINISHED, (None, 0))
    if not missing:
        return "" if missing is None else "some wallets"
    return f"{missing:,} of {counted_noun(total, 'wallet')}"


def require_columns(frame: pd.DataFrame, names: Iterable[str], hint: str = "") -> None:
    """Raise an error that lists the missing columns, if any."""
    columns = frame.columns
    if missing := [name for name in names if name not in columns]:
        raise ColumnsError(missing, [*map(str, columns)], hint)


def single_currency(
    names: Iterable[Any], noun: str, hint: str, others: str = "others"
) -> list[Any]:
    """Return a list of at most one currency. Raise an error for several currencies."""
    currencies = list(dict.fromkeys(None if pd.isna(name) else name for name in names))
    if len(currencies) > 1:
        listed = ", ".join(repr(name) for name in currencies if name is not None)
        problem = f"the {noun} are in {len(currencies)} currencies: {listed}"
        if None in currencies:
            problem = f"some {noun} are in {listed}, and {others} have no currency"
        raise PricesError(problem, hint=hint)
    return currencies


WALLET_DTYPES: Final[dict[str, Any]] = {
    "blockchain": TEXT,
    "address": TEXT,
    "status": category_dtype(Status),
    "error": TEXT,
    "tokens": pd.Int64Dtype(),
    "explorer_url": TEXT,
    "fetched_at": pd.DatetimeTZDtype("us", "UTC"),
    "source": category_dtype(AnswerSource),
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
        One row for each of the 107 blockchains, with an index from 0 and these columns:

        - ``blockchain`` (str): the identifier to write before an address;
        - ``name`` (str): the usual name;
        - ``coin`` (str): the symbol of the native coin;
        - ``chain_id`` (Int64): the chain id of an EVM blockchain.

        A value is NA if the public lists below do not contain it.

    Notes
    -----
    The identifiers are from the service's own Python client of April 2026. The service may
    support more blockchains by now. Identifiers outside this table are sent unchanged.

    Names, coins and chain ids are from https://github.com/ethereum-lists/chains (MIT licence) and
    https://github.com/cosmos/chain-registry (CC BY 4.0), both of August 2026. The values for
    Dash, IOTA and NEAR are from SLIP-0044.

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
    """Write known blockchains in upper case. Write an unknown blockchain as in its first row."""
    first: dict[str, str] = {}
    result = []
    for frame in frames:
        changed = {}
        for name in (name for name in _BLOCKCHAIN_COLUMNS if name in frame.columns):
            normalized = {
                text: first.setdefault(canonical_blockchain(text), normalize_blockchain(text))
                for text in frame[name].array.unique().dropna().tolist()
            }
            if any(old != new for old, new in normalized.items()):
                changed[name] = frame[name].map(normalized).astype(frame[name].dtype)
        result.append(frame.assign(**changed) if changed else frame)
    return tuple(result)
