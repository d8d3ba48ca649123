"""Build the wallets and holdings frames from the outcomes of requests.

To save memory, balances are converted to columns in chunks.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate, chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from walletframe.amounts import AmountArray
from walletframe.amounts.integers import MAX_DECIMALS, align_scales
from walletframe.frames.details import WalletDetails
from walletframe.frames.extra_columns import append_columns
from walletframe.frames.schema import (
    HOLDING_DTYPES,
    WALLET_DTYPES,
    AnswerSource,
    normalize_blockchains,
    text_from_arrow,
    typed_frame,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from walletframe.address.forms import WalletAddress
    from walletframe.frames.identity import Codes
    from walletframe.wire.outcome import Outcome
    from walletframe.wire.schemas import Balances

_CHUNK_ROWS = 2_000  # few enough for a processor's cache
_INT16_LIMIT = 2**15
_TEXT = pa.large_string()
_COLUMNS = (  # column of holdings, attribute of Balances, Arrow type
    ("symbol", attrgetter("symbols"), _TEXT),
    ("token_address", attrgetter("token_addresses"), _TEXT),
    ("token_blockchain", attrgetter("token_blockchains"), _TEXT),
    ("price", attrgetter("prices"), pa.float64()),
)


class WalletRecord(NamedTuple):
    """A requested wallet, and the outcome of the request."""

    wallet: WalletAddress
    outcome: Outcome
    service: str
    fetched_at: datetime | None = None  # with a time zone; None if there is no answer
    source: AnswerSource | None = None
    error: str | None = None  # why a stale answer could not be refreshed


def assemble(records: Iterable[WalletRecord], extra: pd.DataFrame | None = None) -> WalletDetails:
    """Build both frames from one record for each wallet. Append the columns of `extra`."""
    rows: list[tuple[Any, ...]] = []
    chunks: defaultdict[str, list[Any]] = defaultdict(list)
    pending: list[Balances] = []
    counts: list[int] = []
    pending_rows = 0
    for record in records:
        outcome, balances = record.outcome, record.outcome.balances
        count = 0 if balances is None else len(balances)
        counts.append(count)
        if balances is not None and count:
            pending.append(balances)
            pending_rows += count
            if pending_rows >= _CHUNK_ROWS:
                _append_balances(chunks, pending)
                pending, pending_rows = [], 0
        row = (
            record.wallet.blockchain,
            record.wallet.address,
            outcome.status.value,
            "; ".join(filter(None, (record.error, outcome.error))) or None,
            None if balances is None else count,
            outcome.explorer_url,
            record.fetched_at,
            record.source.value if record.source else None,
            record.service,
        )
        rows.append(row)
    _append_balances(chunks, pending)
    columns = zip(*rows, strict=True) if rows else [()] * len(WALLET_DTYPES)
    wallets = typed_frame(dict(zip(WALLET_DTYPES, columns, strict=True)), WALLET_DTYPES)
    wallet_codes = np.repeat(np.arange(len(rows)), counts)
    holdings = build_holdings(wallets, wallet_codes, chunks, [*HOLDING_DTYPES])
    wallets, holdings = normalize_blockchains(wallets, holdings)
    return WalletDetails(append_columns(wallets, extra), holdings)


def build_holdings(
    wallets: pd.DataFrame,
    wallet_codes: Codes,
    chunks: dict[str, list[Any]],
    names: list[str],
    rows: Codes | None = None,
) -> pd.DataFrame:
    """Build holdings from chunks of columns. Columns without chunks come from `wallets`."""
    columns = {
        name: concatenate_column(name, chunks.pop(name), rows)
        if name in chunks
        else wallets[name].array.take(wallet_codes)
        for name in names
    }
    labels = pd.Index(names, dtype="str")
    return pd.DataFrame(columns, index=range(len(wallet_codes)), columns=labels, copy=False)


def concatenate_column(name: str, chunks: list[Any], rows: Codes | None = None) -> Any:
    """Concatenate the chunks of a holdings column into an array of the column's dtype."""
    array: Any
    if name == "amount":
        array = AmountArray._concat_same_type(chunks)  # noqa: SLF001 - our own class
    elif name == "price":
        array = pa.chunked_array(chunks).to_numpy()
    elif name == "decimals":
        array = HOLDING_DTYPES["decimals"].__from_arrow__(pa.chunked_array(chunks))
    else:
        return text_from_arrow(chunks, rows)
    return array if rows is None else array.take(rows)


def _append_balances(chunks: Mapping[str, list[Any]], pending: Sequence[Balances]) -> None:
    for name, values_of, arrow_type in _COLUMNS:
        values = list(chain.from_iterable(map(values_of, pending)))
        chunks[name].append(pa.array(values, arrow_type))
    raw = list(chain.from_iterable(balances.raw_amounts for balances in pending))
    decimals = _decimals_array([n for balances in pending for n in balances.decimals])
    starts = accumulate((len(balances) for balances in pending), initial=0)
    unreadable = [
        start + index
        for start, balances in zip(starts, pending, strict=False)  # the last start is the total
        for index in balances.unreadable_positions
    ]
    chunks["raw_amount"].append(pa.array(raw, _TEXT))
    chunks["amount"].append(_amount_array(raw, decimals, unreadable))
    chunks["decimals"].append(decimals)


def _decimals_array(values: list[int | None]) -> pa.Array:
    try:
        return pa.array(values, pa.int16())
    except (OverflowError, pa.ArrowInvalid):
        valid = [n if n is not None and -_INT16_LIMIT <= n < _INT16_LIMIT else None for n in values]
        return pa.array(valid, pa.int16())


def _amount_array(raw: list[str | None], decimals: pa.Array, unreadable: list[int]) -> AmountArray:
    scales = decimals.fill_null(-1).to_numpy()
    missing = (scales < 0) | (scales > MAX_DECIMALS)
    missing[unreadable] = True
    digits: list[Any] = list(raw)  # checked by `Balances`
    for row in np.flatnonzero(missing):
        digits[row] = "0"
    integers = np.fromiter(map(int, digits), object, len(digits))
    exponents = np.where(missing, 0, scales).astype(np.intp)
    return AmountArray(*align_scales(integers, missing, exponents))
