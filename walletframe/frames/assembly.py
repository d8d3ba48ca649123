"""From outcomes to the two DataFrames, a chunk of rows at a time.

Balances are turned into columns as they arrive and then let go, so that a million rows need
little more memory than the frames that hold them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from walletframe.amounts import AmountArray
from walletframe.frames.contract import WALLET_DTYPES, Source, respelled, text_of, typed_frame
from walletframe.frames.details import WalletDetails
from walletframe.frames.kept import with_kept
from walletframe.wire import MAX_DECIMALS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from walletframe.address import WalletAddress
    from walletframe.wire import Balances, Outcome

_CHUNK_ROWS = 2_000  # as many as stay in a processor's cache between two passes
_TEXT = pa.large_string()
_COLUMNS = (  # what is sent, and how
    ("symbol", attrgetter("symbols"), _TEXT),
    ("token_address", attrgetter("token_addresses"), _TEXT),
    ("token_blockchain", attrgetter("token_blockchains"), _TEXT),
    ("price", attrgetter("prices"), pa.float64()),
)


@dataclass(frozen=True, slots=True)
class WalletRecord:
    """One wallet asked for, and what became of it."""

    wallet: WalletAddress
    outcome: Outcome
    service: str
    fetched_at: datetime | None = None  # with its time zone; None where it never answered
    source: Source | None = None
    error: str | None = None  # why an answer that is ok could not be made fresh


def assemble(records: Iterable[WalletRecord], kept: pd.DataFrame | None = None) -> WalletDetails:
    """Build both DataFrames of records of distinct wallets, which are read once, in their order.

    Their user's own columns come behind those of the contract.
    """
    rows: list[tuple[Any, ...]] = []
    holdings = _HoldingColumns()
    for record in records:
        outcome = record.outcome
        if outcome.balances:
            holdings.add(len(rows), outcome.balances)
        row = (
            record.wallet.blockchain,
            record.wallet.address,
            outcome.status.value,
            "; ".join(filter(None, (record.error, outcome.error))) or None,
            None if outcome.balances is None else len(outcome.balances),
            outcome.explorer_url,
            record.fetched_at,
            record.source.value if record.source else None,
            record.service,
        )
        rows.append(row)
    columns = zip(*rows, strict=True) if rows else [()] * len(WALLET_DTYPES)
    wallets = typed_frame(dict(zip(WALLET_DTYPES, columns, strict=True)), WALLET_DTYPES)
    wallets, held = respelled(wallets, holdings.frame(wallets))
    return WalletDetails(with_kept(wallets, kept), held)


class _HoldingColumns:
    """Columns of holdings that grow by whole chunks."""

    def __init__(self) -> None:
        self._waiting: list[Balances] = []
        self._rows = 0
        self._counts: list[int] = []
        self._places: list[int] = []
        self._chunks: defaultdict[str, list[Any]] = defaultdict(list)

    def add(self, place: int, balances: Balances) -> None:
        """Append the balances of the wallet in row `place`."""
        self._waiting.append(balances)
        self._places.append(place)
        self._counts.append(len(balances))
        self._rows += len(balances)
        if self._rows >= _CHUNK_ROWS:
            self._flush()

    def frame(self, wallets: pd.DataFrame) -> pd.DataFrame:
        """Return the finished DataFrame."""
        self._flush()
        chunks = self._chunks
        place = np.repeat(np.array(self._places, dtype=np.intp), self._counts)
        decimals = pa.chunked_array(chunks["decimals"], pa.int16())
        missing, decimals = decimals.is_null().to_numpy(), decimals.fill_null(0).to_numpy()
        columns = {
            "blockchain": wallets["blockchain"].array.take(place),
            "address": wallets["address"].array.take(place),
            "symbol": text_of(chunks["symbol"]),
            "token_address": text_of(chunks["token_address"]),
            "amount": AmountArray._concat_same_type(chunks["amount"]),  # noqa: SLF001 - of ours
            "decimals": pd.arrays.IntegerArray(decimals.copy(), missing.copy()),
            "raw_amount": text_of(chunks["raw_amount"]),
            "token_blockchain": text_of(chunks["token_blockchain"]),
            "price": pa.chunked_array(chunks["price"]).to_numpy(),
        }
        return pd.DataFrame(columns, copy=False)

    def _flush(self) -> None:
        waiting, chunks = self._waiting, self._chunks
        for name, sent, kind in _COLUMNS:
            joined = list(chain.from_iterable(map(sent, waiting)))
            chunks[name].append(pa.array(joined, kind))
        raw = list(chain.from_iterable(balances.raw_amounts for balances in waiting))
        decimals = _decimals([n for balances in waiting for n in balances.decimals])
        starts = accumulate((len(balances) for balances in waiting), initial=0)
        no_digits = [
            start + place
            for start, balances in zip(starts, waiting, strict=False)  # the last start is the end
            for place in balances.no_digits
        ]
        chunks["raw_amount"].append(pa.array(raw, _TEXT))
        chunks["amount"].append(_amounts(raw, decimals, no_digits))
        chunks["decimals"].append(decimals)
        self._waiting, self._rows = [], 0


def _decimals(sent: list[int | None]) -> pa.Array:
    """Return decimals as int16, null where they are unknown or out of range."""
    try:
        decimals = pa.array(sent, pa.int16())
    except (OverflowError, pa.ArrowInvalid):
        sent = [n if n is not None and 0 <= n <= MAX_DECIMALS else None for n in sent]
        decimals = pa.array(sent, pa.int16())
    known = pc.and_(pc.greater_equal(decimals, 0), pc.less_equal(decimals, MAX_DECIMALS))
    return pc.if_else(known, decimals, pa.scalar(None, pa.int16()))


def _amounts(raw: list[str | None], decimals: pa.Array, no_digits: list[int]) -> AmountArray:
    """Return amounts, NA where the digits or the decimals of one can't be read."""
    missing = decimals.is_null().to_numpy(zero_copy_only=False)
    missing[no_digits] = True
    if not missing.any():
        return AmountArray.from_raw(raw, decimals.to_numpy())
    digits = list(raw)
    for row in np.flatnonzero(missing):
        digits[row] = "0"
    integers, _, scale = AmountArray.from_raw(digits, decimals.fill_null(0).to_numpy()).exact()
    return AmountArray(integers, missing, scale)
