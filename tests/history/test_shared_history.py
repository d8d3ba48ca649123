"""One history, and several processes that save, thin and read it, and die: nothing is lost."""

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
PROCESSES.set_forkserver_preload(["pytest", "walletframe.history"])  # what takes long to import


def save(told, folder, now, saver, first):
    """Save one snapshot after the other, and tell the time and the wallet of each that is saved.

    Of three one is young, one old and due, and one old and alone in knowing a wallet.
    """
    for number in count(first):
        days = 2 if number % 3 == 1 else 40 + number % 5
        at = now - timedelta(days=days, seconds=number, microseconds=saver + 1)
        wallet = f"{saver}x{number}" if number % 3 == 2 else "shared"
        details = fetched({f"ETH.0x{wallet}": [token(raw=number)]})
        told.send((history.save(details, folder=folder, at=at), f"0x{wallet}"))


def thin(told, folder):
    """Thin again and again, and tell how many are gone."""
    while True:
        if gone := len(history.thin(folder=folder)):
            told.send(gone)


def read(told, folder):
    """Read again and again."""
    while True:
        told.send(len(history.load(wallets="ETH.0xshared", folder=folder).wallets))
        time.sleep(0.05)


class Child:
    """A process that tells what it has done, until it is killed."""

    def __init__(self, work, *words):
        self._said, told = PROCESSES.Pipe(duplex=False)
        self._process = PROCESSES.Process(target=work, args=(told, *words), daemon=True)
        self._process.start()
        told.close()  # this end: the other's is closed where it ends

    def said(self):
        """Give what it says, one after the other, until its end."""
        with suppress(EOFError):
            while True:
                yield self._said.recv()

    def killed(self):
        """Kill it as `kill -9` does, unless an error ended it; give the rest of what it said."""
        self._process.kill()
        rest = [*self.said()]
        self._process.join()
        assert self._process.exitcode == -9
        return rest


@pytest.fixture
def begin():
    """Begin with some work in a process of its own."""
    children = []

    def begun(*words):
        children.append(Child(*words))
        return children[-1]

    yield begun
    for child in children:
        child._process.kill()


@pytest.fixture
def folder(tmp_path):
    """Give a history with a snapshot, so that there is something to read."""
    history.save(fetched({"ETH.0xshared": [token()]}), folder=tmp_path)
    return tmp_path


def check(folder, now, saved):
    """Find all that was saved and is not due; of what is due, one a day. Tell how many are gone."""
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
def test_what_is_saved_beside_thinners_stays(begin, folder):
    """Two savers and two thinners at once: all that is not due is there, and nobody fails."""
    each = 80
    now = pd.Timestamp(datetime.now(UTC)).as_unit("us")
    savers = [begin(save, folder, now, number, 0) for number in range(2)]
    others = [begin(work, folder) for work in (thin, thin, read)]
    saved = [told for saver in savers for told in islice(saver.said(), each)]
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
def test_who_is_killed_loses_nothing(begin, folder):
    """At any moment: what was acknowledged and is not due is there, and the next call goes on."""
    rounds = 16
    now, saved = pd.Timestamp(datetime.now(UTC)).as_unit("us"), []
    drawn = np.random.default_rng(7)
    for number in range(rounds):
        savers = [begin(save, folder, now, place, 10_000 * number) for place in range(2)]
        children = [*savers, begin(thin, folder), begin(thin, folder)]
        saved += [told for saver in savers for told in islice(saver.said(), 2)]
        for place in drawn.permutation(len(children)):
            time.sleep(drawn.uniform(0, 0.1))
            said = children[place].killed()
            saved += said if place < len(savers) else []
    history.thin(folder=folder)
    gone = check(folder, now, saved)
    assert len(saved) >= 4 * rounds
    assert gone
    assert not [*folder.glob(".removed-*")]
