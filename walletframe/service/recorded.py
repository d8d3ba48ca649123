"""Ledgers from data: holdings in a DataFrame or a file, and recorded answers of the service.

An error names the first fault with its file, or its row and column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
from msgspec import Meta
from msgspec.structs import replace
from pyarrow import parquet

from walletframe.address.forms import WalletAddress
from walletframe.disk import read_parquet
from walletframe.errors import AddressError, LedgerError
from walletframe.service.ledger import CHAINS, Holding, Ledger, detail_of
from walletframe.wire import shapes

if TYPE_CHECKING:
    from collections.abc import Iterable

LedgerLike: TypeAlias = pd.DataFrame | str | Path | Ledger
_Record: TypeAlias = Mapping[str, object]
_REQUIRED = ("blockchain", "address", "token_address", "symbol", "raw_amount", "decimals")
_OPTIONAL = ("token_blockchain", "price")
_SHOWN = 60
_SURROGATE = re.compile("[\ud800-\udfff]")
_FORMS = (
    'give a list of records (as of DataFrame.to_json(orient="records")), or an answer of '
    'the service: {"wallets": […]}'
)


class RecordedLedger:
    """Recorded holdings, one detail for each wallet, served as they are.

    A wallet that is not recorded is empty. On a blockchain that is neither recorded nor known, it
    fails, as in the simulated ledger.
    """

    def __init__(self, details: Iterable[shapes.WalletDetail]) -> None:
        self._details: dict[WalletAddress, shapes.WalletDetail] = {}
        for place, detail in enumerate(details):
            try:
                wallet = WalletAddress(detail.block_chain, detail.address).canonical
            except AddressError as error:
                reason = error.problems[0][2]
                raise LedgerError(f"the answer's wallet {place} (from 0): {reason}") from None
            balances = detail.balances  # served as Holdings, which omit prices of null
            served = replace(
                detail,
                block_chain=wallet.blockchain,
                address=wallet.address,
                balances=balances and [Holding(b.asset, b.amount, b.price) for b in balances],
            )
            first = self._details.setdefault(wallet, served)
            if (first.failed, first.balances) != (served.failed, served.balances):
                raise LedgerError(
                    f"the answer has {wallet} twice, with different holdings", hint="keep one"
                )
        self._known = {wallet.blockchain for wallet in self._details} | set(CHAINS)

    @property
    def fingerprint(self) -> str:
        """A hash of the content; the order of the wallets does not matter."""
        ordered = [self._details[wallet] for wallet in sorted(self._details)]
        content = msgspec.json.encode(ordered, order="sorted")
        return f"data-{sha256(content).hexdigest()[:16]}"

    def detail(self, wallet: WalletAddress) -> shapes.WalletDetail:
        """Return the recorded balances, with the blockchain and the address as requested."""
        recorded = self._details.get(wallet.canonical)
        if recorded is None:
            is_known = wallet.canonical.blockchain in self._known
            return detail_of(wallet, [] if is_known else None, failed=not is_known)
        served = detail_of(wallet, recorded.balances, failed=recorded.failed)
        page = recorded.explorer_url
        return replace(served, explorer_url=page) if page else served


def as_ledger(given: LedgerLike) -> Ledger:
    """Return a ledger from a frame or a file of holdings, a recorded answer, or a ledger."""
    if isinstance(given, pd.DataFrame):
        columns = _used_columns([*given.columns])
        cells = zip(*(given[name].tolist() for name in columns), strict=True)
        return _from_records(dict(zip(columns, row, strict=True)) for row in cells)
    if isinstance(given, Ledger):
        return given
    if not isinstance(given, str | Path):
        raise LedgerError(
            f"{type(given).__name__} is not a ledger", "give a DataFrame, or a path as text or Path"
        )
    path = Path(given).expanduser()
    if path.suffix.lower() == ".json":
        return _from_json(path)
    if path.suffix.lower() != ".parquet":
        raise LedgerError(
            f"{path} is neither .json nor .parquet", hint="save the holdings as one of them"
        )
    try:
        columns = _used_columns(parquet.read_schema(path).names)
        return _from_records(read_parquet(path, columns).to_pylist())
    except (OSError, pa.ArrowInvalid) as error:
        raise LedgerError(f"{path} can't be read as Parquet ({error})") from error


def _from_json(path: Path) -> RecordedLedger:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise LedgerError(f"{path} can't be read as JSON ({error})") from error
    if isinstance(content, dict) and isinstance(content.get("holdings"), list):
        content = content["holdings"]
    if isinstance(content, dict) and "wallets" in content:
        try:
            return RecordedLedger(msgspec.convert(content, shapes.WalletDetailsAnswer).wallets)
        except msgspec.ValidationError as error:
            raise LedgerError(
                f"{path} is not an answer of the service: {error}", hint=_FORMS
            ) from error
    if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
        raise LedgerError(f"{path} is not a ledger", hint=_FORMS)
    if content:
        _used_columns(list({name: None for record in content for name in record}))
    return _from_records(content)


def _used_columns(present: list[str]) -> list[str]:
    """Return the columns that are used; raise if some are missing or duplicated."""
    missing = [name for name in _REQUIRED if name not in present]
    if missing:
        raise LedgerError(
            f"the holdings lack {', '.join(map(repr, missing))}",
            hint=f"needed: {', '.join(_REQUIRED)} (token_address is NA for the native coin); "
            f"optional: {', '.join(_OPTIONAL)}",
        )
    used = [name for name in present if name in _REQUIRED + _OPTIONAL]
    twice = sorted({name for name in used if used.count(name) > 1})
    if twice:
        raise LedgerError(
            f"the holdings have {', '.join(map(repr, twice))} twice", hint="drop one of them"
        )
    return used


class _Row(msgspec.Struct):
    """A valid row of holdings, with its amount in base units, never a float."""

    blockchain: str
    address: str
    raw_amount: Annotated[int, Meta(ge=0)] | Annotated[str, Meta(pattern=r"\A[0-9]+\Z")]
    symbol: str | None = None
    token_address: Annotated[str, Meta(min_length=1)] | None = None
    token_blockchain: Annotated[str, Meta(min_length=1)] | None = None
    decimals: int | None = None
    price: shapes.Price = None


def _from_records(records: Iterable[_Record]) -> RecordedLedger:
    by_wallet: dict[WalletAddress, list[shapes.AssetAndAmount]] = {}
    for number, record in enumerate(records):
        row = _read_row(number, record)
        try:
            wallet = WalletAddress(row.blockchain, row.address).canonical
        except AddressError as error:
            lead = f"the holdings' row {number} (from 0) names no wallet: "
            raise LedgerError(lead + error.problems[0][2]) from None
        chain = row.token_blockchain or row.blockchain
        asset = shapes.Asset(blockchain=chain, address=row.token_address, symbol=row.symbol or "")
        amount = shapes.Amount(amount=str(row.raw_amount), decimals=row.decimals)
        by_wallet.setdefault(wallet, []).append(Holding(asset, amount, row.price))
    return RecordedLedger(
        shapes.WalletDetail(False, wallet.blockchain, wallet.address, holdings)  # noqa: FBT003 - not failed
        for wallet, holdings in by_wallet.items()
    )


def _read_row(number: int, record: _Record) -> _Row:
    """Read a row of pandas or a file; None, NaN and NA count as missing."""
    cells = {name: _plain(record.get(name)) for name in _Row.__struct_fields__}
    match cells["decimals"]:
        case float() as decimals if decimals.is_integer():  # a column with NaN has floats
            cells["decimals"] = int(decimals)
    odd = [
        name for name, cell in cells.items() if isinstance(cell, str) and _SURROGATE.search(cell)
    ]
    try:
        row = msgspec.convert(cells, _Row)
        if not odd:
            return row
        column, needed = odd[0], "text without lone surrogates is needed"
    except msgspec.ValidationError as error:
        needed, _, place = str(error).rpartition(" - at ")
        column = place.strip("`$.")
    shown = repr(record.get(column))
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    raise LedgerError(f"the holdings' row {number} (from 0), column {column!r}: {shown}", needed)


def _plain(value: Any) -> Any:
    """Return a NumPy scalar or Decimal as plain Python; None, NaN and NA become None."""
    if value is None or value is pd.NA or value != value:  # noqa: PLR0124 - only NaN differs from itself
        return None
    if isinstance(value, np.generic):
        return value.item()
    return float(value) if isinstance(value, Decimal) else value
