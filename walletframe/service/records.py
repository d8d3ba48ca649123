"""Rows of holdings: what each column may hold, and the balance that a row stands for.

Knows nothing of files or of wallets' other answers. The first thing that is wrong is named with
its row and column.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import TypeAlias

import pandas as pd

from walletframe.address import WalletAddress
from walletframe.errors import AddressError, LedgerError
from walletframe.service.ledger import Holding
from walletframe.wire.shapes import Amount, Asset

Record: TypeAlias = Mapping[str, object]

REQUIRED = ("blockchain", "address", "token_address", "symbol", "raw_amount", "decimals")
OPTIONAL = ("token_blockchain", "price")
_SHOWN = 60


def require_columns(present: list[str]) -> list[str]:
    """Return the columns that are used, or say which are missing.

    Parameters
    ----------
    present : list of str
        The names that are there.

    Returns
    -------
    list of str
        Those of them that a ledger uses.

    Raises
    ------
    LedgerError
        Where one is missing, or is there twice.
    """
    missing = [name for name in REQUIRED if name not in present]
    if missing:
        raise LedgerError(
            f"the holdings lack {', '.join(map(repr, missing))}",
            hint=f"needed: {', '.join(REQUIRED)} (token_address is NA for the native coin); "
            f"used where they are there: {', '.join(OPTIONAL)}",
        )
    used = [name for name in present if name in REQUIRED + OPTIONAL]
    twice = sorted({name for name in used if used.count(name) > 1})
    if twice:
        raise LedgerError(
            f"the holdings have {', '.join(map(repr, twice))} twice", hint="drop one of them"
        )
    return used


def read_record(row: int, record: Record) -> tuple[WalletAddress, Holding]:
    """Return the wallet and the balance that a row stands for.

    Parameters
    ----------
    row : int
        Its number, from 0, for the error.
    record : mapping of str to object
        Column name to value; None, NaN, NaT and NA are nothing.

    Returns
    -------
    tuple of (WalletAddress, Holding)
        The wallet as written, and what it holds.

    Raises
    ------
    LedgerError
        Naming the row, the column and the value.
    """
    cells = _Cells(row, record)
    blockchain, address = cells.text("blockchain"), cells.text("address")
    try:
        wallet = WalletAddress(blockchain, address)
    except AddressError as error:
        reason = error.problems[0][2]
        raise LedgerError(f"the holdings' row {row} (from 0) names no wallet: {reason}") from None
    asset = Asset(
        blockchain=cells.optional_text("token_blockchain") or blockchain,
        address=cells.optional_text("token_address"),
        symbol=cells.symbol(),
    )
    amount = Amount(amount=cells.raw_amount(), decimals=cells.decimals())
    return wallet, Holding(asset=asset, amount=amount, price=cells.price())


class _Cells:
    """The cells of one row, read by name."""

    __slots__ = ("_record", "_row")

    def __init__(self, row: int, record: Record) -> None:
        self._row = row
        self._record = record

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
        return self.text(column) or self._empty(column)

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

    def _empty(self, column: str) -> str:
        raise self._wrong(column, "nothing (NA, null) is needed in the place of empty text")

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
