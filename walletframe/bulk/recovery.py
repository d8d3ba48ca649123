"""What a run has in its journal alone: read as it is, or made a part of by the next run."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from walletframe.address import WalletAddress
from walletframe.bulk.journal import entries, segments
from walletframe.bulk.layout import told
from walletframe.bulk.register import Register
from walletframe.bulk.tables import key_of
from walletframe.frames import Source, WalletRecord, assemble
from walletframe.wire import Outcome, Status, read_answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from walletframe.bulk.dataset import Dataset
    from walletframe.bulk.journal import Entry


def registered(dataset: Dataset, service: str) -> Register:
    """Take up what was left, and register what the folder holds then.

    Parameters
    ----------
    dataset : Dataset
        Opened for writing.
    service : str
        The service's name.

    Returns
    -------
    Register
        Of the wallets in the parts.

    Raises
    ------
    DatasetError
        Where a part can't be read or written; the journal stays.
    """
    with told(dataset.layout.root):
        register = Register(dataset.wallets(), dataset.failed())
        left = segments(dataset.layout.inner)
        found = {
            key: record for key, record in left_in(left, service).items() if not register.holds(key)
        }
        if found:
            records, positions = zip(*found.values(), strict=True)
            dataset.add(assemble(records), positions)
            register = Register(dataset.wallets(), dataset.failed())
        for segment in left:
            segment.unlink()
    return register


def left_in(journal: Iterable[Path], service: str) -> dict[str, tuple[WalletRecord, int]]:
    """Return what a journal holds of each wallet, and its place, by its key.

    Parameters
    ----------
    journal : iterable of Path
        Its segments, in order.
    service : str
        The service's name.

    Returns
    -------
    dict of str to (WalletRecord, int)
        What is ok, else the last failure.
    """
    found: dict[str, tuple[WalletRecord, int]] = {}
    for entry in chain.from_iterable(map(entries, journal)):
        for record, position in _records(entry, service):
            key = key_of(record.wallet)
            if key not in found or found[key][0].outcome.status is not Status.OK:
                found[key] = record, position
    return found


def _records(entry: Entry, service: str) -> Iterator[tuple[WalletRecord, int]]:
    """Hand out the wallets of an entry with their places."""
    wallets = [WalletAddress(blockchain, address) for blockchain, address, _ in entry.wallets]
    positions = [position for _, _, position in entry.wallets]
    if entry.failure is None:
        outcomes, source = read_answer(entry.body, wallets).outcomes, Source.SERVICE
    else:
        status, error = entry.failure
        outcomes, source = [Outcome(Status(status), error)] * len(wallets), None
    for wallet, outcome, position in zip(wallets, outcomes, positions, strict=True):
        yield WalletRecord(wallet, outcome, service, entry.fetched_at, source), position
