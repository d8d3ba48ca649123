"""The journal: answers that have arrived and are in no part yet, and what failed without one.

Each answer is appended by the thread that received it, before anyone else hears of it. So whatever
ends a run, at most the requests that were under way are lost; the next run makes a part of what is
here. What failed is appended before the bar counts it.
A journal is cut into segments, about one for each part, and a segment goes when the parts hold all
of its wallets. A power cut may cost what the system had not brought to the disk.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from datetime import datetime  # noqa: TC003 - msgspec reads the types of an entry
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING

import msgspec

from walletframe.bulk.layout import told
from walletframe.bulk.tables import key_of
from walletframe.disk import private_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path
    from threading import Event
    from typing import BinaryIO

    from walletframe.address import WalletAddress
    from walletframe.frames import WalletRecord
    from walletframe.transport import Reply

_SUFFIX = ".journal"
_HEAD = 8  # bytes: the length of what follows, and its CRC-32


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One answer, or one wallet that failed without one.

    Attributes
    ----------
    wallets : list of (str, str, int)
        Blockchain, address and place in the order asked of each wallet that was asked for.
    fetched_at : datetime or None
        When it was received, in UTC; None without an answer.
    body : bytes
        As the service sent it; empty without an answer.
    failure : (str, str or None) or None
        Without an answer, the status and the reason.
    """

    wallets: list[tuple[str, str, int]]
    fetched_at: datetime | None
    body: bytes
    failure: tuple[str, str | None] | None = None


_ENCODE = msgspec.msgpack.Encoder().encode
_DECODE = msgspec.msgpack.Decoder(Entry).decode


def segments(folder: Path) -> list[Path]:
    """Return the segments that earlier runs have left, in order."""
    return sorted(folder.glob(f"*{_SUFFIX}"))


def entries(segment: Path) -> Iterator[Entry]:
    """Hand out the answers of a segment, as far as they are whole; none where it has just gone."""
    with suppress(FileNotFoundError), segment.open("rb") as file:
        while frame := _frame(file):
            yield _DECODE(frame)


class Journal:
    """The journal of one run.

    Parameters
    ----------
    folder : Path
        Where the segments are.
    position_of : callable
        Gets the key of a wallet that was asked for, and returns its place in the order asked.
    cancel : Event
        Is set where the journal can't be written: nothing more is to be asked then.
    """

    def __init__(self, folder: Path, position_of: Callable[[str], int], cancel: Event) -> None:
        self._fault: OSError | None = None
        self._folder, self._position_of, self._cancel = folder, position_of, cancel
        left = segments(folder)
        self._numbers = count(int(left[-1].stem) + 1 if left else 1)
        self._lock = Lock()
        self._waiting: dict[Path, set[str]] = {}
        self._segment: Path | None = None
        self._file: BinaryIO | None = None
        self._is_closed = False

    def append(self, wallets: Sequence[WalletAddress], reply: Reply) -> None:
        """Write an answer; any thread may.

        Parameters
        ----------
        wallets : sequence of WalletAddress
            What was asked for.
        reply : Reply
            What came of it; left alone where it is no answer.
        """
        if not isinstance(reply.answer, bytes):
            return
        keys = [key_of(wallet) for wallet in wallets]
        asked = [
            (wallet.blockchain, wallet.address, self._position_of(key))
            for wallet, key in zip(wallets, keys, strict=True)
        ]
        self._append(Entry(asked, reply.fetched_at, reply.answer), keys)

    def secured(self, record: WalletRecord, position: int) -> bool:
        """See to it that a record outlives the run: what failed without an answer is written.

        Parameters
        ----------
        record : WalletRecord
            What became of a wallet.
        position : int
            Its place in the order asked.

        Returns
        -------
        bool
            False where only a part can hold it: its answer came from the cache, or the disk is
            full.
        """
        key, outcome = key_of(record.wallet), record.outcome
        if record.source is None:
            asked = [(record.wallet.blockchain, record.wallet.address, position)]
            failure = (outcome.status.value, outcome.error)
            return self._append(Entry(asked, None, b"", failure), [key])
        with self._lock:
            return any(key in waiting for waiting in self._waiting.values())

    def check(self) -> None:
        """Say why the run was ended by the journal, if it was.

        Raises
        ------
        DatasetError
            Where it can't be written.
        """
        if self._fault is not None:
            with told(self._folder.parent):
                raise self._fault

    def turn(self) -> None:
        """Let the next answers go into a new segment."""
        with self._lock:
            self._end_segment()

    def release(self, keys: Collection[str]) -> None:
        """Remove the segments of which the parts hold everything.

        Parameters
        ----------
        keys : collection of str
            The wallets of a part that was written.
        """
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
            self._end_segment()
        self.release(())

    def _append(self, entry: Entry, keys: list[str]) -> bool:
        frame = _ENCODE(entry)
        head = len(frame).to_bytes(4, "little") + zlib.crc32(frame).to_bytes(4, "little")
        with self._lock:
            if self._is_closed or self._fault:
                return False
            try:
                self._write(head + frame, keys)
            except OSError as fault:
                self._fault = fault
                self._cancel.set()
                return False
        return True

    def _write(self, frame: bytes, keys: list[str]) -> None:
        if self._file is None or self._segment is None:
            self._segment = self._folder / f"{next(self._numbers):06}{_SUFFIX}"
            self._file = private_file(self._segment, buffering=0)
            self._waiting[self._segment] = set()
        self._waiting[self._segment].update(keys)
        rest = memoryview(frame)
        while rest:
            rest = rest[self._file.write(rest) :]

    def _end_segment(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = self._segment = None


def _frame(file: BinaryIO) -> bytes:
    """Read on; empty at the end, or where the end of a run has cut something off."""
    head = file.read(_HEAD)
    frame = file.read(int.from_bytes(head[:4], "little"))
    return frame if zlib.crc32(frame).to_bytes(4, "little") == head[4:] else b""
