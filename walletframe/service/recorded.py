"""Ledgers from holdings in a DataFrame or a file, and from recorded answers of the service."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from hashlib import sha256
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
from msgspec import Meta
from msgspec.structs import replace
from pyarrow import parquet

from walletframe.address.formats import malformed_reason
from walletframe.address.forms import WalletAddress
from walletframe.disk import read_parquet
from walletframe.errors import AddressError, LedgerError
from walletframe.service.ledger import CHAINS, Ledger, make_wallet_detail
from walletframe.wire import schemas

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LedgerLike: TypeAlias = pd.DataFrame | tuple[pd.DataFrame, pd.DataFrame] | str | Path | Ledger
_REQUIRED = ("blockchain", "address", "token_address", "symbol", "raw_amount", "decimals")
_OPTIONAL = ("token_blockchain", "price")
_UNKNOWN_TOKEN = {"blockchain": "", "symbol": "", "address": ""}  # a native coin's address is null
_MAX_SHOWN_CHARS = 60
_SURROGATE = re.compile("[\ud800-\udfff]")
_FORMATS_HINT = (
    'use a list of records (as written by DataFrame.to_json(orient="records")), or an answer of '
    'the service: {"wallets": […]}'
)


class _RecordedLedger:
    """Recorded holdings. Unrecorded wallets are empty; unknown chains and bad addresses fail."""

    def __init__(self, details: Iterable[schemas.WalletDetail]) -> None:
        self._details: dict[WalletAddress, schemas.WalletDetail] = {}
        for position, detail in enumerate(details):
            try:
                wallet = WalletAddress(detail.block_chain, detail.address).canonical
            except AddressError as error:
                lead = f"wallet {position} of the recorded answer (counted from 0) can't be used"
                hint = "correct or delete this wallet in the file"
                raise LedgerError(f"{lead}: {error.problems[0][2]}", hint) from None
            served = replace(detail, block_chain=wallet.blockchain, address=wallet.address)
            first = self._details.setdefault(wallet, served)
            if (first.failed, first.balances) != (served.failed, served.balances):
                message = f"the recorded answer contains {wallet} twice, with different holdings"
                raise LedgerError(message, "delete one of the two entries in the file")
        self._known = {wallet.blockchain for wallet in self._details} | set(CHAINS)

    @property
    def fingerprint(self) -> str:
        ordered = [self._details[wallet] for wallet in sorted(self._details)]
        content = msgspec.json.encode(ordered, order="sorted")
        return f"data-{sha256(content).hexdigest()[:16]}"

    def detail(self, wallet: WalletAddress) -> schemas.WalletDetail:
        recorded = self._details.get(wallet.canonical)
        if recorded is None:
            is_known = wallet.canonical.blockchain in self._known and not malformed_reason(wallet)
            return make_wallet_detail(wallet, [] if is_known else None, failed=not is_known)
        served = make_wallet_detail(wallet, recorded.balances, failed=recorded.failed)
        page = recorded.explorer_url
        return replace(served, explorer_url=page) if page else served


def as_ledger(source: LedgerLike) -> Ledger:
    """Make a ledger from holdings or a recorded answer. If `source` is a ledger, return it."""
    failed: Any = ()
    match source:
        case (pd.DataFrame() as wallets, pd.DataFrame() as source):
            needed = ["blockchain", "address", "status"]
            if missing := [name for name in needed if name not in wallets]:
                hint = "pass the result of a fetch, with the frames wallets and holdings"
                raise LedgerError(f"the wallets lack {', '.join(map(repr, missing))}", hint)
            failed = wallets.loc[wallets["status"] != "ok", needed[:2]].to_numpy()
    if isinstance(source, pd.DataFrame):
        columns = _check_and_select_columns([*source.columns])
        cells = zip(*(source[name].tolist() for name in columns), strict=True)
        return _ledger_from_records((dict(zip(columns, row, strict=True)) for row in cells), failed)
    if isinstance(source, Ledger):
        return source
    if not isinstance(source, str | Path):
        raise LedgerError(
            f"a ledger of type {type(source).__name__} is not supported",
            "pass a DataFrame, the result of a fetch, or a path as a string or a Path",
        )
    path = Path(source).expanduser()
    if path.suffix.lower() == ".json":
        return _ledger_from_json(path)
    if path.suffix.lower() != ".parquet":
        hint = "save the holdings as .json or .parquet"
        raise LedgerError(f"{path} is neither a .json nor a .parquet file", hint)
    try:
        columns = _check_and_select_columns(parquet.read_schema(path).names)
        return _ledger_from_records(read_parquet(path, columns).to_pylist())
    except (OSError, pa.ArrowInvalid) as error:
        raise LedgerError(f"{path} can't be read as Parquet: {error}") from error


def _ledger_from_json(path: Path) -> _RecordedLedger:
    try:
        content = json.loads(path.read_bytes(), object_hook=_replace_null_asset)
    except (OSError, ValueError, RecursionError) as error:
        raise LedgerError(f"{path} can't be read as JSON: {error}") from error
    if isinstance(content, dict) and isinstance(content.get("holdings"), list):
        content = content["holdings"]
    if isinstance(content, dict) and "wallets" in content:
        try:
            return _RecordedLedger(msgspec.convert(content, schemas.WalletDetailsAnswer).wallets)
        except msgspec.ValidationError as error:
            message = f"{path} is not a valid answer of the service: {error}"
            raise LedgerError(message, _FORMATS_HINT) from error
    if not isinstance(content, list) or not all(isinstance(each, dict) for each in content):
        raise LedgerError(f"{path} does not contain holdings", hint=_FORMATS_HINT)
    if content:
        _check_and_select_columns(list({name: None for record in content for name in record}))
    return _ledger_from_records(content)


def _replace_null_asset(parsed: dict[str, Any]) -> dict[str, Any]:
    is_null = parsed.get("asset", _UNKNOWN_TOKEN) is None
    return parsed | {"asset": _UNKNOWN_TOKEN} if is_null else parsed


def _check_and_select_columns(present: list[str]) -> list[str]:
    missing = [name for name in _REQUIRED if name not in present]
    if missing:
        raise LedgerError(
            f"the holdings lack {', '.join(map(repr, missing))}",
            hint=f"required columns: {', '.join(_REQUIRED)} (token_address is NA for the native "
            f"coin); optional columns: {', '.join(_OPTIONAL)}",
        )
    used = [name for name in present if name in _REQUIRED + _OPTIONAL]
    duplicates = sorted({name for name in used if used.count(name) > 1})
    if duplicates:
        names, hint = " or ".join(map(repr, duplicates)), "keep only one column of each name"
        raise LedgerError(f"the holdings have several columns with the name {names}", hint)
    return used


class _HoldingRow(msgspec.Struct):
    blockchain: str
    address: str
    raw_amount: Annotated[int, Meta(ge=0)] | Annotated[str, Meta(pattern=r"\A[0-9]+\Z")]
    symbol: str | None = None
    token_address: Annotated[str, Meta(min_length=1)] | None = None
    token_blockchain: Annotated[str, Meta(min_length=1)] | None = None
    decimals: int | None = None
    price: schemas.Price = None


def _ledger_from_records(
    records: Iterable[Mapping[str, object]], failed_wallets: Iterable[tuple[str, str]] = ()
) -> _RecordedLedger:
    by_wallet: dict[WalletAddress, list[schemas.AssetAndAmount]] = {}
    for number, record in enumerate(records):
        row = _validate_row(number, record)
        try:
            wallet = WalletAddress(row.blockchain, row.address).canonical
        except AddressError as error:
            message = f"row {number} of the holdings (counted from 0) has no valid wallet: "
            raise LedgerError(message + error.problems[0][2]) from None
        contract, chain = row.token_address, row.token_blockchain or row.blockchain
        if not row.token_blockchain and ("token_blockchain" in record or not row.symbol):
            contract = contract or ""  # without a contract, the token is unknown
        asset = schemas.Asset(blockchain=chain, address=contract, symbol=row.symbol or "")
        amount = schemas.Amount(amount=str(row.raw_amount), decimals=row.decimals)
        by_wallet.setdefault(wallet, []).append(schemas.AssetAndAmount(asset, amount, row.price))
    entries: list[tuple[Any, ...]] = [(True, *wallet) for wallet in failed_wallets]
    entries += [(False, each.blockchain, each.address, held) for each, held in by_wallet.items()]
    return _RecordedLedger(starmap(schemas.WalletDetail, entries))


def _validate_row(number: int, record: Mapping[str, object]) -> _HoldingRow:
    cells = {name: _to_json_value(record.get(name)) for name in _HoldingRow.__struct_fields__}
    match cells["decimals"]:
        case float() as decimals if decimals.is_integer():  # a column with NaN contains floats
            cells["decimals"] = int(decimals)
    with_surrogates = [
        name for name, cell in cells.items() if isinstance(cell, str) and _SURROGATE.search(cell)
    ]
    try:
        row = msgspec.convert(cells, _HoldingRow)
        if not with_surrogates:
            return row
        column, needed = with_surrogates[0], "the value must be text without lone surrogates"
    except msgspec.ValidationError as error:
        needed, _, location = str(error).rpartition(" - at ")
        column = location.strip("`$.")
    text = repr(record.get(column))
    text = text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"
    lead = f"row {number} of the holdings (counted from 0) has an invalid value in the column"
    raise LedgerError(f"{lead} {column!r}: {text}", needed)


def _to_json_value(value: Any) -> Any:
    if value is None or value is pd.NA or value != value:  # noqa: PLR0124 - only NaN is not equal to itself
        return None
    if isinstance(value, np.generic):
        return value.item()
    return float(value) if isinstance(value, Decimal) else value
