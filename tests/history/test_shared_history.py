"""Several processes save, thin and read one history, and are killed: nothing is lost."""

import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
from fetches import fetched, token

from walletframe import history

PROCESSES = get_context("forkserver")
PROCESSES.set_forkserver_preload(["pytest", "walletframe.history"])  # slow imports


def save(pipe, folder, now, saver, first):
    """Save one snapshot after the other, and send the time and the wallet of each.

    Of three one is young, one old and due, and one old with the only knowledge of a wallet.
    """
    for number in count(first):
        days = 2 if number % 3 == 1 else 40 + number % 5
        at = now - timedelta(days=days, seconds=number, microseconds=saver + 1)
        wallet = f"{saver}x{number}" if number % 3 == 2 else "shared"
        details = fetched({f"ETH.0x{wallet}": [token(raw=number)]})
        pipe.send((history.save(details, folder=folder, at=at), f"0x{wallet}"))


def thin(pipe, folder):
    """Thin repeatedly, and send the number of removed snapshots."""
    while True:
        if gone := len(history.thin(folder=folder)):
            pipe.send(gone)


def read(pipe, folder):
    """Read repeatedly."""
    while True:
        pipe.send(len(history.load(wallets="ETH.0xshared", folder=folder).wallets))
        time.sleep(0.05)


class Child:
    """A process that sends its results until a kill."""

    def __init__(self, work, *words):
        self._receiver, sender = PROCESSES.Pipe(duplex=False)
        self._process = PROCESSES.Process(target=work, args=(sender, *words), daemon=True)
        self._process.start()
        sender.close()  # this end: the other is closed at the child's end

    def results(self):
        """Yield the results until the process ends."""
        with suppress(EOFError):
            while True:
                yield self._receiver.recv()

    def killed(self):
        """Kill the process like `kill -9`, unless an error ended it; return the last results."""
        self._process.kill()
        rest = [*self.results()]
        self._process.join()
        assert self._process.exitcode == -9
        return rest


@pytest.fixture
def start():
    """Start a function in a process of its own."""
    children = []

    def begun(*words):
        children.append(Child(*words))
        return children[-1]

    yield begun
    for child in children:
        child._process.kill()


@pytest.fixture
def folder(tmp_path):
    """Save a history with a snapshot, so that there is something to read."""
    history.save(fetched({"ETH.0xshared": [token()]}), folder=tmp_path)
    return tmp_path


def check(folder, now, saved):
    """Check for all young snapshots and one old snapshot a day; count the remaining ones."""
    wallets, holdings = history.load(folder=folder)
    there = {*zip(wallets["snapshot"], wallets["address"], strict=True)}
    assert len(holdings) == len(wallets)
    old = now - timedelta(days=30)
    stays = {each for each in saved if each[0] > old or each[1] != "0xshared"}
    assert stays - there == set()
    assert {moment.date() for moment, _ in saved} <= {moment.date() for moment, _ in there}
    return len({*saved} - there)


@pytest.mark.system
@pytest.mark.timeout(900)
def test_concurrent_thinners_lose_nothing(start, folder):
    """With two savers and two thinners at once, young snapshots stay, and no process fails."""
    each = 80
    now = pd.Timestamp(datetime.now(UTC)).as_unit("us")
    savers = [start(save, folder, now, number, 0) for number in range(2)]
    others = [start(work, folder) for work in (thin, thin, read)]
    saved = [message for saver in savers for message in islice(saver.results(), each)]
    for saver in savers:
        saved += saver.killed()
    gone = check(folder, now, saved)
    *thinned, reads = [sum(other.killed()) for other in others]
    assert len(saved) >= 2 * each
    assert reads
    assert sum(thinned) > 0
    assert gone


@pytest.mark.system
@pytest.mark.timeout(900)
def test_kills_lose_nothing(start, folder):
    """After a kill at any moment, acknowledged young snapshots stay; the next call resumes."""
    rounds = 16
    now, saved = pd.Timestamp(datetime.now(UTC)).as_unit("us"), []
    drawn = np.random.default_rng(7)
    for number in range(rounds):
        savers = [start(save, folder, now, place, 10_000 * number) for place in range(2)]
        children = [*savers, start(thin, folder), start(thin, folder)]
        saved += [message for saver in savers for message in islice(saver.results(), 2)]
        for place in drawn.permutation(len(children)):
            time.sleep(drawn.uniform(0, 0.1))
            text = children[place].killed()
            saved += text if place < len(savers) else []
    history.thin(folder=folder)
    gone = check(folder, now, saved)
    assert len(saved) >= 4 * rounds
    assert gone
    assert not [*folder.glob(".removed-*")]
