"""Ledgers given as data: holdings in a DataFrame or a file, and recorded answers of the service.

The first thing that is wrong is named with its file, or its row and column.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec
import pandas as pd
import pyarrow as pa
from msgspec.structs import replace
from pyarrow import parquet

from walletframe.address import WalletAddress
from walletframe.disk import read_parquet
from walletframe.errors import AddressError, Either, LedgerError, Spelled
from walletframe.service.chains import CHAINS
from walletframe.service.ledger import Holding, Ledger, detail_of
from walletframe.wire.shapes import Amount, Asset, AssetAndAmount, WalletDetail, WalletDetailsAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable

LedgerLike: TypeAlias = pd.DataFrame | str | Path | Ledger
_Record: TypeAlias = Mapping[str, object]
_REQUIRED = ("blockchain", "address", "token_address", "symbol", "raw_amount", "decimals")
_OPTIONAL = ("token_blockchain", "price")
_SHOWN = 60
_FORMS = Spelled(
    "a list of records",
    Either(' (as of DataFrame.to_json(orient="records"))'),
    ', or an answer of the service: {"wallets": […]}',
)


class RecordedLedger:
    """Holdings that were given, one detail for each wallet, served as they are.

    A wallet that is not in it holds nothing; on a blockchain that is neither in it nor otherwise
    known, a wallet fails, as in the simulated ledger.
    """

    def __init__(self, details: Iterable[WalletDetail]) -> None:
        self._details: dict[WalletAddress, WalletDetail] = {}
        for place, detail in enumerate(details):
            try:
                wallet = WalletAddress(detail.block_chain, detail.address).canonical
            except AddressError as error:
                reason = error.problems[0][2]
                raise LedgerError(f"the answer's wallet {place} (from 0): {reason}") from None
            held = detail.balances  # as Holdings, which have no prices of null
            served = replace(
                detail,
                block_chain=wallet.blockchain,
                address=wallet.address,
                balances=held and [Holding(one.asset, one.amount, one.price) for one in held],
            )
            first = self._details.setdefault(wallet, served)
            if (first.failed, first.balances) != (served.failed, served.balances):
                raise LedgerError(
                    f"the answer has {wallet} twice, with different holdings", hint="keep one"
                )
        self._known = {wallet.blockchain for wallet in self._details} | set(CHAINS)

    @property
    def fingerprint(self) -> str:
        """A hash of everything in it; the order of the wallets does not matter."""
        ordered = [self._details[wallet] for wallet in sorted(self._details)]
        content = msgspec.json.encode(ordered, order="sorted")
        return f"data-{sha256(content).hexdigest()[:16]}"

    def detail(self, wallet: WalletAddress) -> WalletDetail:
        """Return what was given, with the blockchain and the address as asked for."""
        found = self._details.get(wallet.canonical)
        if found is None:
            is_known = wallet.canonical.blockchain in self._known
            return detail_of(wallet, [] if is_known else None, failed=not is_known)
        served = detail_of(wallet, found.balances, failed=found.failed)
        page = found.explorer_url
        return replace(served, explorer_url=page) if page else served


def as_ledger(given: LedgerLike) -> Ledger:
    """Read a frame of holdings, a file of them, or a recorded answer; a ledger is one."""
    if isinstance(given, pd.DataFrame):
        columns = _used_columns([*given.columns])
        cells = zip(*(given[name].tolist() for name in columns), strict=True)
        return _from_records(dict(zip(columns, row, strict=True)) for row in cells)
    if isinstance(given, Ledger):
        return given
    if not isinstance(given, str | Path):
        raise LedgerError(
            f"{type(given).__name__} is not a ledger", hint="a DataFrame, or a path as text or Path"
        )
    path = Path(given).expanduser()
    if path.suffix.lower() == ".json":
        return _from_json(path)
    if path.suffix.lower() != ".parquet":
        raise LedgerError(
            f"{path}: neither .json nor .parquet", hint="save the holdings as one of them"
        )
    try:
        columns = _used_columns(parquet.read_schema(path).names)
        return _from_records(read_parquet(path, columns).to_pylist())
    except (OSError, pa.ArrowInvalid) as error:
        raise LedgerError(f"{path}: can't be read as Parquet ({error})") from error


def _from_json(path: Path) -> RecordedLedger:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise LedgerError(f"{path}: can't be read as JSON ({error})") from error
    if isinstance(content, dict) and isinstance(content.get("holdings"), list):
        content = content["holdings"]
    if isinstance(content, dict) and "wallets" in content:
        try:
            return RecordedLedger(msgspec.convert(content, WalletDetailsAnswer).wallets)
        except msgspec.ValidationError as error:
            raise LedgerError(
                f"{path}: not an answer of the service: {error}", hint=_FORMS
            ) from error
    if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
        raise LedgerError(f"{path}: not a ledger", hint=_FORMS)
    if content:
        _used_columns(list({name: None for record in content for name in record}))
    return _from_records(content)


def _used_columns(present: list[str]) -> list[str]:
    """Return the columns that are used, or say which are missing or there twice."""
    missing = [name for name in _REQUIRED if name not in present]
    if missing:
        raise LedgerError(
            f"the holdings lack {', '.join(map(repr, missing))}",
            hint=f"needed: {', '.join(_REQUIRED)} (token_address is NA for the native coin); "
            f"used where they are there: {', '.join(_OPTIONAL)}",
        )
    used = [name for name in present if name in _REQUIRED + _OPTIONAL]
    twice = sorted({name for name in used if used.count(name) > 1})
    if twice:
        raise LedgerError(
            f"the holdings have {', '.join(map(repr, twice))} twice", hint="drop one of them"
        )
    return used


def _from_records(records: Iterable[_Record]) -> RecordedLedger:
    held: dict[WalletAddress, list[AssetAndAmount]] = {}
    for row, record in enumerate(records):
        cells = _Cells(row, record)
        blockchain = cells.text("blockchain")
        try:
            wallet = WalletAddress(blockchain, cells.text("address")).canonical
        except AddressError as error:
            lead = f"the holdings' row {row} (from 0) names no wallet: "
            raise LedgerError(lead + error.problems[0][2]) from None
        asset = Asset(
            blockchain=cells.optional_text("token_blockchain") or blockchain,
            address=cells.optional_text("token_address"),
            symbol=cells.symbol(),
        )
        amount = Amount(amount=cells.raw_amount(), decimals=cells.decimals())
        held.setdefault(wallet, []).append(Holding(asset, amount, cells.price()))
    return RecordedLedger(
        WalletDetail(False, wallet.blockchain, wallet.address, holdings)  # noqa: FBT003 - not failed
        for wallet, holdings in held.items()
    )


class _Cells:
    """The cells of one row, read by name; None, NaN and NA are nothing."""

    def __init__(self, row: int, record: _Record) -> None:
        self._row, self._record = row, record

    def text(self, column: str) -> str:
        value = self._value(column)
        if not isinstance(value, str):
            raise self._wrong(column, "text is needed")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise self._wrong(column, "it holds a lone surrogate, which is no text") from None
        return value

    def optional_text(self, column: str) -> str | None:
        if self._value(column) is None:
            return None
        if text := self.text(column):
            return text
        raise self._wrong(column, "nothing (NA, null) is needed in the place of empty text")

    def symbol(self) -> str:
        """Return the symbol, empty where a fetch has none."""
        return "" if self._value("symbol") is None else self.text("symbol")

    def raw_amount(self) -> str:
        value = self._value("raw_amount")
        if isinstance(value, str) and value.isascii() and value.isdigit():
            return value
        number = None if isinstance(value, str) else _whole(value)
        if number is None or number < 0:
            raise self._wrong(
                "raw_amount", "needed: an int, or text of digits, in base units; never a float"
            )
        return str(number)

    def decimals(self) -> int | None:
        value = self._value("decimals")
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        number = _whole(value)
        if number is None and value is not None:
            raise self._wrong("decimals", "a whole number is needed, or nothing where unknown")
        return number

    def price(self) -> float | None:
        value = self._value("price")
        if value is None:
            return None
        try:
            number = math.nan if isinstance(value, bool | str) else float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self._wrong("price", "a finite number is needed, or nothing where unknown")
        return number

    def _value(self, column: str) -> object:
        value = self._record.get(column)
        missing = value is None or value is pd.NA or value is pd.NaT or value != value  # noqa: PLR0124 - only NaN differs from itself
        return None if missing else value

    def _wrong(self, column: str, need: str) -> LedgerError:
        shown = repr(self._record.get(column))
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        return LedgerError(
            f"the holdings' row {self._row} (from 0), column {column!r}: {shown}", hint=need
        )


def _whole(value: object) -> int | None:
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
