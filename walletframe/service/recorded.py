"""Ledgers given as data: holdings in a DataFrame or a file, and recorded answers of the service.

What is given is served as it is. A wallet that is not in it holds nothing; on a blockchain that
is neither in it nor otherwise known, a wallet fails, as it does in the simulated ledger.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from walletframe.address import WalletAddress
from walletframe.errors import AddressError, Either, LedgerError, Spelled
from walletframe.service.chains import CHAINS
from walletframe.service.ledger import Holding, failed_detail, known_detail
from walletframe.service.records import Record, read_record, require_columns
from walletframe.wire.shapes import AssetAndAmount, WalletDetail, WalletDetailsAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORMS = Spelled(
    "a list of records",
    Either(' (as of DataFrame.to_json(orient="records"))'),
    ', or an answer of the service: {"wallets": […]}',
)


class RecordedLedger:
    """Holdings that were given.

    Parameters
    ----------
    details : iterable of WalletDetail
        One for each wallet.

    Raises
    ------
    LedgerError
        Where one names no wallet, or two of one wallet contradict each other.
    """

    __slots__ = ("_details", "_known")

    def __init__(self, details: Iterable[WalletDetail]) -> None:
        self._details: dict[WalletAddress, WalletDetail] = {}
        for place, detail in enumerate(details):
            wallet = _wallet(place, detail)
            served = _as_served(detail, wallet)
            first = self._details.setdefault(wallet, served)
            if (first.failed, first.balances) != (served.failed, served.balances):
                raise LedgerError(
                    f"the answer has {wallet} twice, with different holdings", hint="keep one"
                )
        self._known = {wallet.blockchain for wallet in self._details} | set(CHAINS)

    @property
    def fingerprint(self) -> str:
        """What tells this ledger from others.

        Returns
        -------
        str
            A hash of everything in it; the order of the wallets does not matter.
        """
        ordered = [self._details[wallet] for wallet in sorted(self._details)]
        content = msgspec.json.encode(ordered, order="sorted")
        return f"data-{sha256(content).hexdigest()[:16]}"

    def detail(self, wallet: WalletAddress) -> WalletDetail:
        """Return what a wallet holds.

        Parameters
        ----------
        wallet : WalletAddress
            The wallet as asked for.

        Returns
        -------
        WalletDetail
            As given, with the blockchain and the address as asked for.
        """
        found = self._details.get(wallet.canonical)
        if found is None and wallet.canonical.blockchain not in self._known:
            return failed_detail(wallet)
        answer = known_detail(wallet, [])
        if found is None:
            return answer
        return msgspec.structs.replace(
            answer,
            failed=found.failed,
            balances=found.balances,
            explorer_url=found.explorer_url or answer.explorer_url,
        )


def read_ledger(given: pd.DataFrame | str | Path) -> RecordedLedger:
    """Read holdings, or a recorded answer of the service.

    Parameters
    ----------
    given : DataFrame or path
        A frame of holdings, a ``.parquet`` file of them, or a ``.json`` file of them or of an
        answer.

    Returns
    -------
    RecordedLedger
        Everything in it; an empty frame gives a ledger in which nobody holds anything.

    Raises
    ------
    LedgerError
        Where it can't be read, naming the file, or the row and the column.
    """
    if isinstance(given, pd.DataFrame):
        columns = require_columns([*given.columns])
        cells = zip(*(given[name].tolist() for name in columns), strict=True)
        return _from_records(dict(zip(columns, row, strict=True)) for row in cells)
    if not isinstance(given, str | Path):
        raise LedgerError(
            f"{type(given).__name__} is no ledger", hint="a DataFrame, or a path as text or Path"
        )
    path = Path(given).expanduser()
    if path.suffix.lower() == ".json":
        return _from_json(path)
    if path.suffix.lower() == ".parquet":
        return _from_parquet(path)
    raise LedgerError(
        f"{path}: neither .json nor .parquet", hint="save the holdings as one of them"
    )


def _from_parquet(path: Path) -> RecordedLedger:
    try:
        columns = require_columns(parquet.read_schema(path).names)
        table = parquet.read_table(path, columns=columns)
    except (OSError, pa.ArrowInvalid) as error:
        raise LedgerError(f"{path}: can't be read as Parquet ({error})") from error
    return _from_records(table.to_pylist())


def _from_json(path: Path) -> RecordedLedger:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise LedgerError(f"{path}: can't be read as JSON ({error})") from error
    if isinstance(content, dict) and isinstance(content.get("holdings"), list):
        content = content["holdings"]
    if isinstance(content, dict) and "wallets" in content:
        return _from_answer(path, content)
    if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
        raise LedgerError(f"{path}: no ledger", hint=_FORMS)
    if content:
        require_columns(list({name: None for record in content for name in record}))
    return _from_records(content)


def _from_answer(path: Path, content: object) -> RecordedLedger:
    try:
        answer = msgspec.convert(content, WalletDetailsAnswer)
    except msgspec.ValidationError as error:
        raise LedgerError(f"{path}: no answer of the service: {error}", hint=_FORMS) from error
    return RecordedLedger(answer.wallets)


def _from_records(records: Iterable[Record]) -> RecordedLedger:
    held: dict[WalletAddress, list[Holding]] = {}
    for row, record in enumerate(records):
        wallet, holding = read_record(row, record)
        held.setdefault(wallet.canonical, []).append(holding)
    return RecordedLedger(
        WalletDetail(
            failed=False,
            block_chain=wallet.blockchain,
            address=wallet.address,
            balances=[*holdings],
        )
        for wallet, holdings in held.items()
    )


def _wallet(place: int, detail: WalletDetail) -> WalletAddress:
    try:
        return WalletAddress(detail.block_chain, detail.address).canonical
    except AddressError as error:
        reason = error.problems[0][2]
        raise LedgerError(f"the answer's wallet {place} (from 0): {reason}") from None


def _as_served(detail: WalletDetail, wallet: WalletAddress) -> WalletDetail:
    """Return an answer in the spelling in which wallets are compared, without prices of null."""
    held: list[AssetAndAmount] | None = None
    if detail.balances is not None:
        held = [Holding(one.asset, one.amount, one.price) for one in detail.balances]
    return WalletDetail(
        failed=detail.failed,
        block_chain=wallet.blockchain,
        address=wallet.address,
        balances=held,
        explorer_url=detail.explorer_url,
    )
