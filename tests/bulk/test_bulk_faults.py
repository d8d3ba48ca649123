"""A bulk run that ends anywhere: the folder is readable, and the next call resumes."""

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from itertools import count
from threading import Event, Thread, Timer
from types import SimpleNamespace

import duckdb
import filelock
import numpy as np
import pytest
from addresses import ONE, B
from fast_service import fast_service, wallet_address
from filelock import FileLock
from killable_children import KillableChildren
from moments import interrupt_when
from packaging.version import Version
from small_disk import mounted, remount

import walletframe as wf
from walletframe.bulk import journal as journals
from walletframe.bulk.dataset import DatasetWriter
from walletframe.bulk.files import wallet_key
from walletframe.bulk.journal import (
    Journal,
    best_records_and_positions,
    read_segment,
    segment_paths,
)
from walletframe.client import CachePolicy
from walletframe.errors import DatasetError, FetchInterrupted
from walletframe.frames.assembly import WalletRecord
from walletframe.wire.outcome import Outcome, Status

TOKENS, WORKERS = 3, 4
pytestmark = [
    pytest.mark.system,
    # Folders are read after runs that ended early; test_bulk.py expects the warning.
    pytest.mark.filterwarnings("ignore:.*has not finished:walletframe.errors.FetchWarning"),
]
STRESS = pytest.mark.stress
SCRIPT = """
import os, signal
import walletframe as wf
from walletframe.bulk import dataset, run
from fast_service import FastService, wallet_address

wf.fetch_to_parquet, wf.Client  # lazy imports
run.MAX_WALLETS_PER_PART = 20
publish = dataset.sync_and_rename

def work(port, folder, count, steps):
    left = int(steps)

    def publish_and_count(*paths):
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        publish(*paths)

    dataset.sync_and_rename = publish_and_count
    wallets = [wallet_address(number, failing=number % 10 == 7) for number in range(int(count))]
    with FastService(port).client() as client:
        tell = lambda *_: say()
        wf.fetch_to_parquet(wallets, folder, client=client, on_failure="ignore", progress=tell)
"""


def fetch(server, folder, count):
    """Run a client to its end."""
    with server.client() as client:
        return wf.fetch_to_parquet(names(count), folder, client=client, on_failure="ignore")


def fetch_and_be_killed(clients, server, folder, count, *, after_s=None, at_step=0):
    """Run a client in a process of its own; return whether it was killed."""
    clients.start(server.base_url.rpartition(":")[2], folder, count, at_step)
    clients.read_line()
    if after_s is not None:
        time.sleep(after_s)
        clients.kill()
    return clients.wait_for_kill()[0]


# Failures, holdings and wallets of one part, of another, of a last one, and the update of the
# failures.
STEPS = [3, 9, *(pytest.param(step, marks=pytest.mark.stress) for step in (1, 2, 4, 5, 6, 7, 8))]


def names(count):
    """Return the wallets that a client fetches."""
    return [wallet_address(number, failing=number % 10 == 7) for number in range(count)]


def check(folder):
    """Check that no reader sees a wallet twice or incomplete. Return the number of ok wallets."""
    result = wf.read_wallets(folder)
    ok = result.wallets[result.wallets.status == "ok"]
    assert result.wallets.address.is_unique
    assert (result.holdings.address.value_counts() == TOKENS).all()
    assert set(result.holdings.address) == set(ok.address)
    if list(folder.glob("wallets/*.parquet")):
        query = f"SELECT count(*), count(DISTINCT address) FROM '{folder}/wallets/*.parquet'"
        [(rows, wallets)] = duckdb.sql(query).fetchall()
        assert rows == wallets
    return len(ok)


@pytest.fixture(scope="module")
def server():
    """Start one fast server for the whole module."""
    with fast_service(tokens=TOKENS, latency_s=0.005) as running:
        yield running


@pytest.fixture(scope="module")
def clients():
    """Start clients that can be killed, for the whole module."""
    with KillableChildren(SCRIPT) as children:
        yield children


@pytest.fixture
def fast(server):
    """Return the server, reset."""
    server.forget()
    return server


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Fill a part with twenty wallets, as in the script."""
    monkeypatch.setattr("walletframe.bulk.run.MAX_WALLETS_PER_PART", 20)


@pytest.fixture
def folder(tmp_path):
    """Return the path of a folder that does not exist yet."""
    return tmp_path / "bulk"


class TestKilled:
    """`kill -9` at any moment."""

    @pytest.mark.parametrize(
        "kills, count",
        [(2, 400), pytest.param(30, 3_000, marks=[pytest.mark.stress, pytest.mark.timeout(600)])],
    )
    def test_at_any_moment_nothing_is_lost_or_requested_twice(
        self, clients, fast, folder, kills, count
    ):
        """Only unfinished requests are repeated; finished wallets stay ok."""
        rng, ok = np.random.default_rng(1), 0
        for _ in range(kills):
            moment = rng.uniform(0, 0.2)
            assert fetch_and_be_killed(clients, fast, folder, count, after_s=moment)
            before, ok = ok, check(folder)
            assert ok >= before
        fast.heal()
        assert fetch(fast, folder, count).ok_count == check(folder) == count
        counts = fast.request_counts()
        again = [counts[name] - 1 for name in names(count) if name.endswith("cafe")]
        assert len(counts) == count
        assert sum(again) <= kills * WORKERS
        wallets = wf.read_wallets(folder).wallets
        assert ("ETH." + wallets.address).tolist() == names(count)

    @pytest.mark.parametrize("step", STEPS)
    def test_between_two_steps_of_writing_a_part(self, clients, fast, folder, step):
        """A renamed file counts at once. Temporary files are never needed."""
        assert fetch(fast, folder, 20).ok_count == check(folder) == 18
        assert fetch_and_be_killed(clients, fast, folder, 60, at_step=step)
        assert check(folder) >= 18
        assert fetch(fast, folder, 60).ok_count == check(folder) == 54
        assert len(list((folder / "failed").iterdir())) == 1
        fast.heal()
        assert fetch(fast, folder, 60).ok_count == check(folder) == 60
        counts = fast.request_counts()
        again = [count - 1 for name, count in counts.items() if name.endswith("cafe")]
        assert sum(again) <= WORKERS

    def test_an_unfinished_part_is_written_again(self, fast, folder):
        """An unfinished part has holdings, but no wallets."""
        fetch(fast, folder, 20)
        (folder / "wallets" / "part-000001.parquet").unlink()
        assert fetch(fast, folder, 20).resumed == 0
        assert check(folder) == 18
        assert len(list((folder / "holdings").iterdir())) == 1


SHOWN = """
import json, os, signal, sys
import walletframe as wf
from walletframe.bulk import run
from fast_service import FastService

what, port, place, until, *names = sys.argv[1:]
run.MAX_WALLETS_PER_PART = 20

def tell(done, total, counts):
    if done >= int(until):
        print(json.dumps(counts), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

with FastService(port).client(cache=place + ".sqlite") as client:
    if what == "fetch":
        client.fetch(names, progress=tell, on_failure="ignore")
    if what == "cached":
        client.fetch(names)
    wf.fetch_to_parquet(names, place, client=client, on_failure="ignore", progress=tell)
"""


class TestShown:
    """Wallets that the bar has counted are on the disk when `kill -9` comes."""

    @staticmethod
    def shown(server, what, folder, until, requested):
        """Run a client that is killed once `until` wallets are done. Return its counts."""
        words = [sys.executable, "-c", SHOWN, what, server.base_url.rpartition(":")[2]]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        ended = subprocess.run(
            [*words, str(folder), str(until), *requested],
            env=environment,
            stdout=subprocess.PIPE,
            check=False,
        )
        assert ended.returncode == -signal.SIGKILL
        return Counter(json.loads(ended.stdout))

    @pytest.mark.parametrize(
        "what, until",
        [
            ("bulk", 33),
            ("cached", 1),
            *(pytest.param("bulk", n, marks=STRESS) for n in (1, 5, 21, 40, 58)),
        ],
    )
    def test_by_a_bulk_run(self, fast, folder, what, until):
        """Ok, failed, refused and cached wallets are in the folder."""
        ends = "cafe" * 3 + "dead" + "beef" if what == "bulk" else "cafe"
        requested = [f"ETH.0x{n:036x}{(ends * 60)[4 * n : 4 * n + 4]}" for n in range(60)]
        shown = self.shown(fast, what, folder, until, requested)
        result = wf.read_wallets(folder).wallets
        with DatasetWriter(folder, fast.base_url) as dataset:
            dataset.recover_journal()
        assert wf.read_wallets(folder).wallets.equals(result)
        assert shown.total() >= until
        assert not shown - Counter(result.status)
        assert result.error.notna().tolist() == (result.status != "ok").tolist()

    def test_by_a_fetch(self, fast, folder):
        """Counted wallets are in the cache."""
        requested = names(60)
        shown = self.shown(fast, "fetch", folder, 40, requested)
        with fast.client(cache=f"{folder}.sqlite") as client:
            kept = client.fetch(requested, offline=True, on_failure="ignore").wallets
        assert shown["ok"] >= 30
        assert (kept.status == "ok").sum() >= shown["ok"]


class TestInterrupted:
    """Ctrl-C and the notebook's stop button."""

    def test_finished_wallets_are_in_the_folder(self, fast, folder):
        """The call ends early, and the next call requests only the other wallets."""
        requested = [wallet_address(number) for number in range(1_000)]
        begun = Event()
        with fast.client() as client:
            interrupt_when(begun.is_set)
            with pytest.raises(FetchInterrupted, match="in the folder") as caught:
                wf.fetch_to_parquet(
                    requested, folder, client=client, progress=lambda *_: begun.set()
                )
            summary = caught.value.details
            assert check(folder) >= summary.ok_count >= 1
            assert summary.ok_count + summary.statuses["cancelled"] == summary.wallets == 1_000
            done = wf.fetch_to_parquet(requested, folder, client=client)
        assert done.ok_count == 1_000
        assert done.resumed >= summary.ok_count
        assert fast.request_counts().total() - 1_000 <= WORKERS

    def test_journaled_answers_are_read(self, fast, folder, monkeypatch):
        """All or some answers in the journal of an earlier run are read once."""
        requested = [wallet_address(number) for number in range(50)]

        def fail(*_):
            raise DatasetError("the disk has gone")

        with fast.client() as client:
            with monkeypatch.context() as broken:
                broken.setattr(DatasetWriter, "write_part", fail)
                with pytest.raises(DatasetError, match="has gone"):
                    wf.fetch_to_parquet(requested, folder, client=client)
            assert list(segment_paths(folder / ".walletframe"))
            result = wf.read_wallets(folder)
            some = wf.read_wallets(folder, wallets=result.wallets.tail(1))
            assert wf.fetch_to_parquet(requested, folder, client=client).resumed == len(
                result.wallets
            )
        whole = wf.read_wallets(folder)
        assert len(whole.wallets) == 50
        assert segment_paths(folder / ".walletframe") == []
        place = whole.wallets.address.isin(result.wallets.address)
        assert whole.wallets[place].reset_index(drop=True).equals(result.wallets)
        last = whole.holdings.address == result.wallets.address.iloc[-1]
        assert whole.holdings[last].reset_index(drop=True).equals(some.holdings)

    def test_a_hanging_stream_does_not_block_the_caller(self, fast, folder):
        """The wallets before the hanging item are fetched."""
        begun, over = Event(), Event()

        def hanging():
            yield from (wallet_address(number) for number in range(500))
            interrupt_when(begun.is_set)
            over.wait(90)

        with fast.client() as client, pytest.raises(FetchInterrupted) as caught:
            wf.fetch_to_parquet(hanging(), folder, client=client, progress=lambda *_: begun.set())
        over.set()
        assert check(folder) >= caught.value.details.ok_count >= 1


class TestDisk:
    """A disk that is full, or read-only."""

    @pytest.mark.parametrize(
        "room",
        ["240k", *(pytest.param(room, marks=pytest.mark.stress) for room in ("160k", "320k"))],
    )
    def test_full_disk_is_reported_and_loses_nothing(self, fast, tmp_path, monkeypatch, room):
        """The journal or a part can't be written. With more space, the same call resumes."""
        monkeypatch.setattr("walletframe.bulk.run.MAX_WALLETS_PER_PART", 100)
        requested = [wallet_address(number) for number in range(1_000)]
        with mounted(tmp_path / "m", f"size={room}") as disk, fast.client() as client:
            folder = disk / "bulk"
            with pytest.raises(DatasetError, match="No space left") as caught:
                wf.fetch_to_parquet(requested, folder, client=client)
            assert "then repeat the call" in caught.value.hint
            before = check(folder)
            remount(disk, "size=64m")
            summary = wf.fetch_to_parquet(requested, folder, client=client)
            assert summary.ok_count == check(folder) == 1_000
        assert summary.resumed >= before
        assert fast.request_counts().total() < 1_400

    def test_read_only_folder_is_reported_and_read(self, fast, tmp_path):
        """Writing fails, reading works."""
        with mounted(tmp_path / "m", "size=8m") as disk, fast.client() as client:
            wf.fetch_to_parquet(names(7), disk / "bulk", client=client)
            remount(disk, "ro")
            for folder in (disk / "bulk", disk / "new"):
                with pytest.raises(DatasetError, match="Read-only"):
                    wf.fetch_to_parquet(names(7), folder, client=client)
            assert check(disk / "bulk") == 7

    def test_an_unwritable_journal_ends_the_run(self, fast, folder, monkeypatch):
        """Earlier answers are in the folder."""
        made, left = journals.create_private_file, count(30, -1)

        class Full(SimpleNamespace):
            def write(self, data):
                if next(left) <= 0:
                    raise OSError(28, "No space left on device")
                return self.file.write(data)

            def close(self):
                self.file.close()

        monkeypatch.setattr(
            journals,
            "create_private_file",
            lambda *args, **options: Full(file=made(*args, **options)),
        )
        with pytest.raises(DatasetError, match="No space left"):
            fetch(fast, folder, 400)
        assert 20 <= check(folder) < 300


class TestFolder:
    """Other states of a folder."""

    def test_of_other_files_is_left_alone(self, fast, tmp_path):
        """A folder with other files is neither written nor read."""
        (tmp_path / "thesis.tex").write_text("mine")
        for use in (wf.read_wallets, lambda folder: wf.fetch_to_parquet(names(1), folder)):
            wf.configure(base_url=fast.base_url)
            with pytest.raises(DatasetError, match=r"thesis|has no files"):
                use(tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]

    @pytest.mark.parametrize(
        "marker", ['{"format": 2, "service": "x"}', "[]", "{", '{"format": 1}']
    )
    def test_of_another_format_is_refused(self, client, folder, marker):
        """The format of a later walletframe, or a broken marker."""
        wf.fetch_to_parquet([], folder, client=client)
        (folder / ".walletframe" / "dataset.json").write_text(marker)
        with pytest.raises(DatasetError, match=r"format 2|is not valid"):
            wf.read_wallets(folder)
        with pytest.raises(DatasetError, match=r"format 2|is not valid"):
            wf.fetch_to_parquet([], folder, client=client)

    def test_that_is_a_file_is_refused(self, client, tmp_path):
        """The error says that it is no directory."""
        (tmp_path / "x").write_text("mine")
        with pytest.raises(DatasetError, match="directory"):
            wf.fetch_to_parquet([], tmp_path / "x", client=client)

    def test_that_is_new_and_empty_is_used(self, client, folder):
        """A run that was killed early leaves only the hidden folder."""
        (folder / ".walletframe").mkdir(parents=True)
        assert wf.fetch_to_parquet([], folder, client=client).ok_count == 0
        assert len(wf.read_wallets(folder).wallets) == 0

    def test_of_a_running_run_is_read_but_not_written(self, client, folder):
        """A second run is refused until the first run has ended."""
        with DatasetWriter(folder, client.settings.service):
            who = f"another run, process {os.getpid()} on .*, is writing"
            with pytest.raises(DatasetError, match=who):
                wf.fetch_to_parquet([], folder, client=client)
            assert len(wf.read_wallets(folder).wallets) == 0
        assert wf.fetch_to_parquet([], folder, client=client).ok_count == 0

    def test_of_a_running_run_can_be_awaited(self, client, folder):
        """The wait ends with the run, a timeout or a cancellation. The error names the run."""
        service, cancel = client.settings.service, Event()
        first = DatasetWriter(folder, service)
        (folder / ".walletframe" / "holder").unlink()
        with pytest.raises(DatasetError, match="another run is writing"):
            DatasetWriter(folder, service, lock_timeout_s=0.01)
        cancel.set()
        with pytest.raises(DatasetError, match="another run is writing"):
            DatasetWriter(folder, service, 3600, cancel)
        with first:
            end = Timer(0.01, first.__exit__)
            end.start()
            with DatasetWriter(folder, service, 3600):
                end.join()

    def test_on_a_disk_without_locks_is_refused_or_works(self, client, folder, monkeypatch):
        """Newer releases of filelock use a file; the errors of older ones lack the folder."""

        def flock(*_):
            raise OSError(errno.ENOSYS, "Function not implemented")

        monkeypatch.setattr(fcntl, "flock", flock)
        if Version(filelock.__version__) >= Version("4.1"):
            with (
                DatasetWriter(folder, client.settings.service),
                pytest.raises(DatasetError, match="another run"),
            ):
                wf.fetch_to_parquet([], folder, client=client)
            assert wf.fetch_to_parquet([], folder, client=client).ok_count == 0
        else:
            with pytest.raises(DatasetError, match="does not support file locks"):
                wf.fetch_to_parquet([], folder, client=client)

        def acquire(*_, **__):  # as filelock does where a file system has no locks
            raise NotImplementedError("FileSystem does not appear to support flock")

        monkeypatch.setattr(FileLock, "acquire", acquire)
        with pytest.raises(DatasetError, match="does not support file locks") as caught:
            wf.fetch_to_parquet([], folder, client=client)
        assert "another disk" in caught.value.hint

    @pytest.mark.parametrize("name", ["wallets", "holdings"])
    def test_with_a_broken_part_is_refused(self, client, folder, name):
        """The error names the file."""
        wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
        (folder / name / "part-000001.parquet").write_bytes(b"garbage")
        with pytest.raises(DatasetError, match="Parquet"):
            wf.read_wallets(folder)

    def test_with_a_part_whose_files_differ_is_refused(self, client, folder):
        """Holdings of other wallets are not mistaken for theirs."""
        wf.fetch_to_parquet(["NEAR.alice.near"], folder, client=client)
        wf.fetch_to_parquet([f"ETH.{ONE}"], folder, client=client)
        first, second = sorted((folder / "holdings").iterdir())
        first.write_bytes(second.read_bytes())
        with pytest.raises(DatasetError, match="do not belong together"):
            wf.read_wallets(folder)

    def test_with_a_dangling_part_is_refused(self, fast, folder):
        """A missing file is an error after a few attempts."""
        fetch(fast, folder, 10)
        for part in (folder / "failed").glob("part-*"):
            part.rename(f"{part}.moved")
            part.symlink_to("nowhere")
        with pytest.raises(DatasetError, match="keeps changing"):
            wf.read_wallets(folder)

    def test_is_read_while_it_is_written(self, fast, folder):
        """No reader ever sees a wallet twice, or loses one that was ok."""
        fetch(fast, folder, 400)
        fast.heal()
        ended, seen = Event(), []

        def read():
            while not ended.is_set():
                seen.append(check(folder))

        reader = Thread(target=read)
        reader.start()
        fetch(fast, folder, 400)
        ended.set()
        reader.join()
        assert seen == sorted(seen) != []
        assert check(folder) == 400


class TestJournal:
    """Answers that are in no part yet."""

    @pytest.fixture
    def written(self, fast, tmp_path):
        """Return a segment with three answers, and its content."""
        places = {f"ETH.{name[4:].lower()}": len(name) for name in names(3)}
        journal = Journal(tmp_path, places, Event())
        with (
            fast.client() as client,
            closing(
                client._open_result_stream(CachePolicy(), Event(), on_reply=journal.append)
            ) as stream,
        ):
            wallets = [wf.WalletAddress.parse(name) for name in names(3)]
            assert len([each for each in stream.results([wallets]) if each]) == 3
        journal.close()
        [segment] = segment_paths(tmp_path)
        return segment

    def test_is_read_as_it_was_appended(self, written):
        """Spellings, positions, times, and the answer to the byte."""
        result = {entry.wallets[0]: json.loads(entry.body) for entry in read_segment(written)}
        expected = {("ETH", name[4:], len(name)) for name in names(3)}
        assert set(result) == expected
        assert {text["wallets"][0]["address"] for text in result.values()} == {
            address for _, address, _ in expected
        }

    def test_a_later_failure_removes_no_answer(self, written):
        """A wallet's ok answer counts. Without one, its last failure counts."""
        [name, other] = [wf.WalletAddress.parse(each) for each in (names(1)[0], f"ETH.{B}")]
        journal = Journal(written.parent, {wallet_key(name): 7, wallet_key(other): 8}, Event())
        for requested in (name, other, other):
            assert journal.ensure_recorded(
                WalletRecord(requested, Outcome(Status.TIMEOUT, "late"), "fast")
            )
        journal.close()
        result = best_records_and_positions(segment_paths(written.parent), "fast")
        statuses = [record.outcome.status for record, _ in result.values()]
        assert sorted(statuses) == [Status.OK] * 3 + [Status.TIMEOUT]

    def test_a_closed_journal_records_nothing(self, tmp_path):
        """No file is written, and the next run requests the wallet again."""
        wallet = wf.WalletAddress.parse(f"ETH.{B}")
        journal = Journal(tmp_path, {wallet_key(wallet): 0}, Event())
        journal.close()
        outcome = Outcome(Status.TIMEOUT, "late")
        assert not journal.ensure_recorded(WalletRecord(wallet, outcome, "fast"))
        assert segment_paths(tmp_path) == []

    @pytest.mark.parametrize("cut", [1, 5, 9, 200])
    def test_a_truncated_journal_is_read_up_to_the_cut(self, written, cut):
        """The entry that a kill has cut off is skipped."""
        written.write_bytes(written.read_bytes()[:-cut])
        assert len(list(read_segment(written))) == 2

    def test_garbage_ends_it(self, written):
        """An entry with a wrong checksum is no answer."""
        whole = bytearray(written.read_bytes())
        whole[-10] ^= 1
        written.write_bytes(whole)
        assert len(list(read_segment(written))) == 2
