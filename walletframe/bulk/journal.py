"""The journal of answers that are not in a part yet, and of failures without an answer.

A segment is one file of the journal. A segment is removed when all its wallets are in parts.
"""
# Each answer is appended as soon as it arrives, and each failure before the progress bar counts it.
# So a killed run loses only the requests in flight: the next run writes the journal as a part. A
# power cut may lose data that was not synced yet.

from __future__ import annotations

import zlib
from contextlib import suppress
from datetime import datetime  # noqa: TC003 - msgspec reads the types of an entry
from itertools import chain, count
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from walletframe.address.forms import WalletAddress
from walletframe.bulk.files import as_dataset_errors, wallet_key
from walletframe.disk import create_private_file
from walletframe.frames.assembly import WalletRecord
from walletframe.frames.schema import AnswerSource
from walletframe.wire.answer import read_answer
from walletframe.wire.outcome import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from walletframe.transport import Reply

_SUFFIX = ".journal"
_HEADER_BYTES = 8  # the length of the entry and its CRC-32


class JournalEntry(msgspec.Struct, frozen=True, array_like=True):
    """An answer for one or more wallets, or the failure of a wallet that got no answer."""

    wallets: list[tuple[str, str, int]]  # blockchain, address, and position in the list of wallets
    fetched_at: datetime | None = None  # in UTC; None if there is no answer
    body: bytes = b""  # as the service sent it; empty if there is no answer
    failure: tuple[str, str | None] | None = None  # status and reason


_DECODE = msgspec.msgpack.Decoder(JournalEntry).decode


def segment_paths(folder: Path) -> list[Path]:
    """Return the sorted paths of the segments in a folder."""
    return sorted(folder.glob(f"*{_SUFFIX}"))


def read_segment(segment: Path) -> Iterator[JournalEntry]:
    """Yield the complete entries of a segment. Yield nothing if the file was removed."""
    with suppress(FileNotFoundError), segment.open("rb") as file:
        while header := file.read(_HEADER_BYTES):
            encoded = file.read(int.from_bytes(header[:4], "little"))
            if not encoded or zlib.crc32(encoded).to_bytes(4, "little") != header[4:]:
                return  # a killed run may have written an incomplete entry
            yield _DECODE(encoded)


def best_records_and_positions(
    segments: Iterable[Path], service: str
) -> dict[str, tuple[WalletRecord, int]]:
    """Return each wallet's first ok record or, without one, its last failure, by wallet key."""
    records: dict[str, tuple[WalletRecord, int]] = {}
    for entry in chain.from_iterable(map(read_segment, segments)):
        wallets = [WalletAddress(blockchain, address) for blockchain, address, _ in entry.wallets]
        if entry.failure is None:
            outcomes, source = read_answer(entry.body, wallets).outcomes, AnswerSource.SERVICE
        else:
            status, error = entry.failure
            outcomes, source = [Outcome(Status(status), error)] * len(wallets), None
        for wallet, outcome, (_, _, position) in zip(wallets, outcomes, entry.wallets, strict=True):
            key = wallet_key(wallet)
            if key not in records or records[key][0].outcome.status is not Status.OK:
                record = WalletRecord(wallet, outcome, service, entry.fetched_at, source)
                records[key] = record, position
    return records


class Journal:
    """The journal of a run. If a write fails, the event `cancel` is set to end the run."""

    def __init__(self, folder: Path, positions: Mapping[str, int], cancel: Event) -> None:
        self._fault: OSError | None = None
        self._folder, self._positions, self._cancel = folder, positions, cancel
        existing = segment_paths(folder)
        self._numbers = count(int(existing[-1].stem) + 1 if existing else 1)
        self._lock = Lock()
        self._unwritten: dict[Path, set[str]] = {}
        self._segment: Path | None = None
        self._file: BinaryIO | None = None
        self._is_closed = False

    def append(self, wallets: Sequence[WalletAddress], reply: Reply) -> None:
        """Write the answer, unless the request failed. Any thread may call this method."""
        if isinstance(reply.answer, bytes):
            self._try_write_entry(wallets, fetched_at=reply.fetched_at, body=reply.answer)

    def ensure_recorded(self, record: WalletRecord) -> bool:
        """If no answer came, write the record. Return whether the journal contains the record."""
        if record.source is None:
            failure = (record.outcome.status.value, record.outcome.error)
            return self._try_write_entry([record.wallet], failure=failure)
        key = wallet_key(record.wallet)  # an answer from the cache is not in the journal
        with self._lock:
            return any(key in unwritten for unwritten in self._unwritten.values())

    def raise_write_error(self) -> None:
        """Raise the error of a failed write, if there was one."""
        if self._fault is not None:
            with as_dataset_errors(self._folder.parent):
                raise self._fault

    def end_segment(self) -> None:
        """Close the file. The next answers are written into a new segment."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file = self._segment = None

    def mark_written(self, keys: Collection[str]) -> None:
        """Record that wallets are in a part. Remove segments whose wallets are all in parts."""
        with self._lock:
            for segment, unwritten in list(self._unwritten.items()):
                unwritten.difference_update(keys)
                if not unwritten and segment != self._segment:
                    segment.unlink()
                    del self._unwritten[segment]

    def close(self) -> None:
        """Stop writing. Segments with unwritten wallets remain for the next run."""
        with self._lock:
            self._is_closed = True
        self.end_segment()
        self.mark_written(())

    def _try_write_entry(self, wallets: Sequence[WalletAddress], **content: Any) -> bool:
        keys = [wallet_key(wallet) for wallet in wallets]
        pairs = zip(wallets, map(self._positions.__getitem__, keys), strict=True)
        positioned = [(each.blockchain, each.address, position) for each, position in pairs]
        encoded = msgspec.msgpack.encode(JournalEntry(positioned, **content))
        header = len(encoded).to_bytes(4, "little") + zlib.crc32(encoded).to_bytes(4, "little")
        with self._lock:
            if self._is_closed or self._fault:
                return False
            try:
                if self._file is None or self._segment is None:
                    self._segment = self._folder / f"{next(self._numbers):06}{_SUFFIX}"
                    self._file = create_private_file(self._segment, buffering=0)
                    self._unwritten[self._segment] = set()
                self._unwritten[self._segment].update(keys)
                remaining = memoryview(header + encoded)
                while remaining:
                    remaining = remaining[self._file.write(remaining) :]
            except OSError as fault:
                self._fault = fault
                self._cancel.set()
                return False
        return True
