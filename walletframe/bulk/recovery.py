"""What an earlier run has left in its journal becomes a part, before anything is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.address import WalletAddress
from walletframe.bulk.journal import entries, segments
from walletframe.bulk.layout import told
from walletframe.bulk.register import Register
from walletframe.bulk.tables import key_of
from walletframe.frames import Source, WalletRecord, assemble
from walletframe.wire import Status, read_answer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from walletframe.bulk.dataset import Dataset


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
        places: dict[str, int] = {}
        details = assemble(_answered(left, service, register, places))
        if places:
            dataset.add(details, list(places.values()))
            register = Register(dataset.wallets(), dataset.failed())
        for segment in left:
            segment.unlink()
    return register


def _answered(
    left: list[Path], service: str, register: Register, places: dict[str, int]
) -> Iterator[WalletRecord]:
    """Hand out the wallets that are ok and in no part, and fill in their places."""
    for entry in (entry for segment in left for entry in entries(segment)):
        wallets = [WalletAddress(blockchain, address) for blockchain, address, _ in entry.wallets]
        outcomes = read_answer(entry.body, wallets).outcomes
        positions = [position for _, _, position in entry.wallets]
        for wallet, outcome, position in zip(wallets, outcomes, positions, strict=True):
            key = key_of(wallet)
            if outcome.status is Status.OK and key not in places and not register.holds(key):
                places[key] = position
                yield WalletRecord(wallet, outcome, service, entry.fetched_at, Source.SERVICE)
