"""The journal: answers that are not in a part yet, and failures without an answer.

It is cut into segments, about one for each part, which go when the parts hold all of them.
"""
# Each answer is appended by the thread that received it, before anyone else gets it: whatever ends
# a run, at most the requests that were under way are lost; the next run makes a part of the rest.
# What failed is appended before the bar counts it. A power cut may cost what the system had not
# brought to the disk.

from __future__ import annotations

import zlib
from contextlib import suppress
from datetime import datetime  # noqa: TC003 - msgspec reads the types of an entry
from itertools import chain, count
from threading import Lock
from typing import TYPE_CHECKING

import msgspec

from walletframe.address.forms import WalletAddress
from walletframe.bulk.files import dataset_errors, key_of
from walletframe.disk import private_file
from walletframe.frames.assembly import WalletRecord
from walletframe.frames.contract import Source
from walletframe.wire.answer import read_answer
from walletframe.wire.outcome import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from threading import Event
    from typing import BinaryIO

    from walletframe.transport import Reply

_SUFFIX = ".journal"
_HEAD = 8  # bytes: the length of what follows, and its CRC-32


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One answer, or one wallet that failed without one."""

    wallets: list[tuple[str, str, int]]  # blockchain, address and place in the order asked
    fetched_at: datetime | None  # in UTC; None without an answer
    body: bytes  # as the service sent it; empty without an answer
    failure: tuple[str, str | None] | None = None  # status and reason


_ENCODE = msgspec.msgpack.Encoder().encode
_DECODE = msgspec.msgpack.Decoder(Entry).decode


def segments(folder: Path) -> list[Path]:
    """Return the segments that earlier runs have left, in order."""
    return sorted(folder.glob(f"*{_SUFFIX}"))


def entries(segment: Path) -> Iterator[Entry]:
    """Hand out the answers of a segment, as far as they are whole; none where it has just gone."""
    with suppress(FileNotFoundError), segment.open("rb") as file:
        while head := file.read(_HEAD):
            frame = file.read(int.from_bytes(head[:4], "little"))
            if not frame or zlib.crc32(frame).to_bytes(4, "little") != head[4:]:
                return  # the end of a run has cut something off
            yield _DECODE(frame)


def left_in(journal: Iterable[Path], service: str) -> dict[str, tuple[WalletRecord, int]]:
    """Return what segments, in order, hold of each wallet, and its place, by its key.

    It is what is ok, else the last failure.
    """
    found: dict[str, tuple[WalletRecord, int]] = {}
    for entry in chain.from_iterable(map(entries, journal)):
        wallets = [WalletAddress(blockchain, address) for blockchain, address, _ in entry.wallets]
        if entry.failure is None:
            outcomes, source = read_answer(entry.body, wallets).outcomes, Source.SERVICE
        else:
            status, error = entry.failure
            outcomes, source = [Outcome(Status(status), error)] * len(wallets), None
        for wallet, outcome, (_, _, position) in zip(wallets, outcomes, entry.wallets, strict=True):
            key = key_of(wallet)
            if key not in found or found[key][0].outcome.status is not Status.OK:
                record = WalletRecord(wallet, outcome, service, entry.fetched_at, source)
                found[key] = record, position
    return found


class Journal:
    """The journal of one run.

    `places` has those of wallets under way, by key; `cancel` is set where nothing can be written.
    """

    def __init__(self, folder: Path, places: Mapping[str, int], cancel: Event) -> None:
        self._fault: OSError | None = None
        self._folder, self._places, self._cancel = folder, places, cancel
        left = segments(folder)
        self._numbers = count(int(left[-1].stem) + 1 if left else 1)
        self._lock = Lock()
        self._waiting: dict[Path, set[str]] = {}
        self._segment: Path | None = None
        self._file: BinaryIO | None = None
        self._is_closed = False

    def append(self, wallets: Sequence[WalletAddress], reply: Reply) -> None:
        """Write an answer; called by any thread. A reply without an answer is left to `secure`."""
        if isinstance(reply.answer, bytes):
            self._append(wallets, reply.fetched_at, reply.answer)

    def secure(self, record: WalletRecord) -> bool:
        """Write what failed without an answer; False where only a part can hold the record.

        That is where its answer came from the cache, or the disk is full.
        """
        if record.source is None:
            failure = (record.outcome.status.value, record.outcome.error)
            return self._append([record.wallet], None, b"", failure)
        key = key_of(record.wallet)
        with self._lock:
            return any(key in waiting for waiting in self._waiting.values())

    def check(self) -> None:
        """Raise the error for which the journal ended the run, if it did."""
        if self._fault is not None:
            with dataset_errors(self._folder.parent):
                raise self._fault

    def end_segment(self) -> None:
        """Close the file, so that the next answers go into a new segment."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file = self._segment = None

    def release(self, keys: Collection[str]) -> None:
        """Take note that a part holds some wallets; remove the segments of which none is left."""
        with self._lock:
            for segment, waiting in list(self._waiting.items()):
                waiting.difference_update(keys)
                if not waiting and segment != self._segment:
                    segment.unlink()
                    del self._waiting[segment]

    def close(self) -> None:
        """Append nothing more; what is in no part stays for the next run."""
        with self._lock:
            self._is_closed = True
        self.end_segment()
        self.release(())

    def _append(
        self,
        wallets: Sequence[WalletAddress],
        fetched_at: datetime | None,
        body: bytes,
        failure: tuple[str, str | None] | None = None,
    ) -> bool:
        keys = [key_of(wallet) for wallet in wallets]
        placed = zip(wallets, map(self._places.__getitem__, keys), strict=True)
        asked = [(wallet.blockchain, wallet.address, place) for wallet, place in placed]
        frame = _ENCODE(Entry(asked, fetched_at, body, failure))
        head = len(frame).to_bytes(4, "little") + zlib.crc32(frame).to_bytes(4, "little")
        with self._lock:
            if self._is_closed or self._fault:
                return False
            try:
                if self._file is None or self._segment is None:
                    self._segment = self._folder / f"{next(self._numbers):06}{_SUFFIX}"
                    self._file = private_file(self._segment, buffering=0)
                    self._waiting[self._segment] = set()
                self._waiting[self._segment].update(keys)
                rest = memoryview(head + frame)
                while rest:
                    rest = rest[self._file.write(rest) :]
            except OSError as fault:
                self._fault = fault
                self._cancel.set()
                return False
        return True
