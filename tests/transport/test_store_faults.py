"""A harmless cache: whatever happens to the file, acknowledged answers are there.

Each script runs in a process of its own, so that it can be interrupted, limited and killed.
"""

import fcntl
import itertools
import os
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Timer

import pytest
from killable_children import KillableChildren
from permit_takers import limiter_at
from requests_cache import BaseCache, FileCache
from small_disk import mounted, remount

from walletframe.address.forms import WalletAddress
from walletframe.errors import CacheError, CacheWarning
from walletframe.transport import AnswerStore, CachedAnswer, cache_statistics, clear_cache
from walletframe.transport.database import Database, rename_damaged_file
from walletframe.transport.store import ANSWER_FILE_SPEC

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]

NOW = datetime(2026, 1, 2, tzinfo=UTC)
IMPORTS = """
import os, random, resource, signal, sqlite3, sys, threading, time, warnings
from datetime import UTC, datetime
from pathlib import Path
from walletframe.address.forms import WalletAddress
from walletframe.transport import AnswerStore, CachedAnswer
NOW = datetime(2026, 1, 2, tzinfo=UTC)
def wallet(*parts):
    return WalletAddress("TEST", "-".join(map(str, parts)))
def keep(store, *parts):
    store.write_answers([(wallet(*parts), CachedAnswer(b"x" * 20_000, NOW))])
"""
PREAMBLE = IMPORTS + "PATH, ARGUMENT = Path(sys.argv[1]), sys.argv[2]\n"
INTERRUPTS = """
def interrupt(*_):
    if armed:
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
store, acknowledged, slowest = AnswerStore(PATH, "s"), [], 0.0
rng = random.Random(1)
keep(store, "first")
store.close()
begun = time.monotonic()
keep(store, "second")  # opening included, as below
longest = max(0.01, 5 * (time.monotonic() - begun))  # a few, even on a busy machine
for round in range(int(ARGUMENT)):
    store.close()  # so that opening is interrupted too
    delay = rng.uniform(0.01, 1) * rng.random() * longest
    armed = True
    try:
        signal.setitimer(signal.ITIMER_REAL, delay, 0.5)
        for number in range(1_000_000):
            start = time.monotonic()
            keep(store, round, number)
            slowest = max(slowest, time.monotonic() - start)
            acknowledged.append(wallet(round, number))
    except KeyboardInterrupt:
        armed = False  # on a busy machine, the next alarm comes before the timer stops
        signal.setitimer(signal.ITIMER_REAL, 0)
        other = sqlite3.connect(PATH, timeout=0, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")  # no transaction is left open
        other.close()
print(len(acknowledged), len(acknowledged) - len(store.read_answers(acknowledged)), slowest)
"""
HOLD = """
link = sqlite3.connect(PATH, isolation_level=None)
link.execute(ARGUMENT)
print("held", flush=True)
time.sleep(60)
"""
FILL = """
if ARGUMENT.isdigit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(ARGUMENT), int(ARGUMENT)))
warnings.simplefilter("always")
with AnswerStore(PATH, "s") as store, warnings.catch_warnings(record=True) as told:
    before = 0
    for number in range(100):
        keep(store, number)
        before += not told
    found = store.read_answers(wallet(number) for number in range(100))
print(before, len(found), len(told), told[0].category.__name__)
"""
SHARE = """
def work(store, thread, count):
    for number in range(count):
        store.write_answers([(wallet(os.getpid(), thread, number), CachedAnswer(b"x", NOW))])
stores = [AnswerStore(PATH, "s"), AnswerStore(PATH, "s")]
threads = [
    threading.Thread(target=work, args=(stores[thread % 2], thread, int(ARGUMENT)))
    for thread in range(4)
]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
TALK = """
def work(path, round):
    with AnswerStore(Path(path), "s") as store:
        for number in range(1_000_000):
            keep(store, round, number)
            say(number)
"""
RENAMED = """
def held():
    links = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    return sum(os.readlink(each).startswith(str(PATH)) for each in links if os.path.islink(each))
def watch(event, words):
    if event == "os.rename" and Path(words[0]).parent == PATH.parent:
        print(os.path.basename(words[0]), held())
warnings.simplefilter("ignore")
with AnswerStore(PATH, "s") as other, AnswerStore(PATH, "s") as store:
    keep(store, 1)
    keep(other, 1)
    store.close()
    before = held()
    with PATH.open("r+b") as file:
        file.write(b"garbage " * 1000)
    sys.addaudithook(watch)
    Path(f"{PATH}-wal").unlink()
    keep(store, 1)
    print(before)
"""
REMOVED = """
taken = []
def take_away(event, words):
    if event == "sqlite3.connect" and PATH.exists() and not taken:
        taken.append(PATH.rename(f"{PATH}.old"))
sys.addaudithook(take_away)
with AnswerStore(PATH, "s") as store:
    keep(store, 2)
    print(len(taken), len(store.read_answers([wallet(1), wallet(2)])))
"""
MADE = """
def look(event, words):
    if event in ("sqlite3.connect/handle", "os.chmod", "os.rename"):
        seen.update((file.name, oct(file.stat().st_mode & 0o777)) for file in PATH.iterdir())
from walletframe.settings.values import Settings
from walletframe.transport import RateLimiter
own = {"api_key": "nobody's", "key_kind": "private", "base_url": "https://api.example"}
seen = set()
os.umask(0)
sys.addaudithook(look)
with AnswerStore(PATH / "a", "s") as store:
    keep(store, 1)
    RateLimiter(Settings.isolated(cache=PATH / "p", **own)).close()
look("os.rename", ())
print(*sorted({mode for _, mode in seen}), len({name for name, _ in seen}))
"""
FORK = """
warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads: the point of it
store, stop = AnswerStore(PATH, "s"), threading.Event()
def work():
    number = 0
    while not stop.is_set():
        keep(store, "thread", number)
        number += 1
    print(number, flush=True)
thread = threading.Thread(target=work)
thread.start()
for child in range(int(ARGUMENT)):
    pid = os.fork()
    if pid == 0:
        for number in range(5):
            keep(store, "child", child, number)
        assert len(store.read_answers(wallet("child", child, number) for number in range(5))) == 5
        store.close()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    keep(store, "parent", child)
stop.set()
thread.join()
"""


def start(script, path, argument):
    """Start a script, with warnings as errors."""
    command = [sys.executable, "-W", "error", "-c", PREAMBLE + script, str(path), str(argument)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def output(script, path, argument):
    """Run a script to its end, and return its output's words."""
    with start(script, path, argument) as process:
        try:
            printed, _ = process.communicate(timeout=500)
        finally:
            process.kill()
    assert process.returncode == 0
    return printed.split()


def together(script, path, argument):
    """Run a script in four processes at once, to its end."""
    processes = [start(script, path, argument) for _ in range(4)]
    assert [(process.communicate(timeout=500), process.returncode) for process in processes] == [
        (("", None), 0)
    ] * 4


def wallet(*parts):
    """Return a wallet of a name."""
    return WalletAddress("TEST", "-".join(map(str, parts)))


def cached(size=20_000):
    """Return an answer of a size."""
    return CachedAnswer(b"x" * size, NOW)


def filled(path, count=50):
    """Make a file with some answers."""
    with AnswerStore(path, "s") as store:
        store.write_answers((wallet(number), cached()) for number in range(count))
    return path


@pytest.mark.parametrize("count", [40, pytest.param(400, marks=pytest.mark.stress)])
def test_an_interrupted_write_leaves_nothing_behind(tmp_path, monkeypatch, count):
    """Ctrl-C at any moment: no open transaction, no acknowledged answer lost, no write slower."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # an interrupt could keep its lock
    acknowledged, lost, slowest = output(INTERRUPTS, tmp_path / "a.sqlite", count)
    assert (int(acknowledged) > count, lost) == (True, "0")
    assert float(slowest) < 2


def test_another_error_inside_a_write_leaves_nothing_behind(tmp_path):
    """The rows before the error are gone too, and the next write goes on at once."""
    path = filled(tmp_path / "a.sqlite", 3)

    def fail(link):
        link.execute("DELETE FROM answers")
        raise RuntimeError("in the middle")

    database = Database(path, ANSWER_FILE_SPEC)
    with pytest.raises(RuntimeError, match="in the middle"):
        database.write_in_transaction(fail)
    with AnswerStore(path, "s") as store:
        store.write_answers([(wallet(3), cached())])
        assert len(store.read_answers(map(wallet, range(4)))) == 4
    database.close()


def test_a_row_that_the_file_refuses_is_kept_in_memory(tmp_path):
    """One warning; the batch is whole in memory, nothing of it is in the file, which is free."""
    path = filled(tmp_path / "a.sqlite", 3)
    with closing(sqlite3.connect(path, timeout=0)) as other:
        other.execute(
            "CREATE TRIGGER no BEFORE INSERT ON answers WHEN new.key LIKE '%-bad' "
            "BEGIN SELECT RAISE(ABORT, 'not this one'); END"
        )
        with AnswerStore(path, "s") as store:
            names = [wallet("good"), wallet("a", "bad")]
            with pytest.warns(CacheWarning, match="not this one") as caught:
                store.write_answers((name, cached()) for name in names)
            store.write_answers([(wallet("after"), cached())])
            assert len(caught) == 1
            assert len(store.read_answers([*names, wallet("after"), *map(wallet, range(3))])) == 6
            other.execute("BEGIN IMMEDIATE")
    assert cache_statistics(path).answers == {"s": 3}


def wait_only(seconds, monkeypatch):
    """Shorten the cache's wait for other processes."""
    contents = ANSWER_FILE_SPEC._replace(lock_timeout_s=seconds)
    monkeypatch.setattr("walletframe.transport.store.ANSWER_FILE_SPEC", contents)


def test_a_lasting_lock_is_awaited_and_then_skipped(tmp_path, monkeypatch):
    """Seconds, one warning, memory; stored answers can be read all the while."""
    wait_only(0.3, monkeypatch)
    path = filled(tmp_path / "a.sqlite", 3)
    with start(HOLD, path, "BEGIN EXCLUSIVE") as holder, AnswerStore(path, "s") as store:
        holder.stdout.readline()
        before = time.monotonic()
        with pytest.warns(CacheWarning, match="locked"):
            store.write_answers([(wallet("new"), cached())])
        assert 0.3 <= time.monotonic() - before < 30
        store.write_answers([(wallet("newer"), cached())])
        names = [wallet("new"), wallet("newer"), *map(wallet, range(3))]
        assert len(store.read_answers(names)) == 5
        holder.kill()


def test_an_exclusively_locked_file_is_not_used(tmp_path, monkeypatch):
    """Another process locks it exclusively: one warning for reading and writing together."""
    wait_only(0.2, monkeypatch)
    path = filled(tmp_path / "a.sqlite", 3)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        other.execute("BEGIN EXCLUSIVE")
        with pytest.warns(CacheWarning, match="locked") as caught:
            store = AnswerStore(path, "s")
        with store:
            assert store.read_answers([wallet(1)]) == {}
            store.write_answers([(wallet(1), cached(1))])
            assert store.read_answers([wallet(1)]) == {wallet(1): cached(1)}
            assert len(caught) == 1


def test_a_short_lock_is_awaited(tmp_path):
    """Without a warning."""
    path = filled(tmp_path / "a.sqlite", 1)
    with start(HOLD, path, "BEGIN IMMEDIATE") as holder, AnswerStore(path, "s") as store:
        holder.stdout.readline()
        Timer(0.3, holder.kill).start()
        store.write_answers([(wallet("new"), cached())])
    assert cache_statistics(path).answers == {"s": 2}


def test_clearing_a_locked_file_is_an_error(tmp_path, monkeypatch):
    """It waits, and the error says that another process is writing."""
    monkeypatch.setattr("walletframe.transport.store._LOCK_TIMEOUT_MS", 100)
    path = filled(tmp_path / "a.sqlite", 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CacheError, match="another process"):
            clear_cache(path)


@pytest.mark.parametrize("room", ["400000", "a small disk"])
def test_a_full_disk_is_reported_and_loses_nothing(tmp_path, room):
    """Before the one warning all is in the file, after it all is in memory."""
    place = (
        mounted(tmp_path / "m", "size=400k") if room == "a small disk" else nullcontext(tmp_path)
    )
    with place as folder:
        before, stored, warned, category = output(FILL, folder / "a.sqlite", room)
        assert (stored, warned, category) == ("100", "1", "CacheWarning")
        assert 0 < int(before) < 100
        with AnswerStore(folder / "a.sqlite", "s") as store:
            assert len(store.read_answers(map(wallet, range(int(before))))) == int(before)


def test_a_read_only_folder_is_read(tmp_path):
    """Stored answers are read; the first write causes one warning, and memory is used."""
    with mounted(tmp_path / "m", "size=8m") as folder:
        path = filled(folder / "a.sqlite")
        remount(folder, "ro")
        assert cache_statistics(path).answers == {"s": 50}
        with pytest.raises(CacheError, match="readonly"):
            clear_cache(path)
        with AnswerStore(path, "s") as store:
            assert len(store.read_answers(map(wallet, range(50)))) == 50
            with pytest.warns(CacheWarning, match="readonly") as caught:
                store.write_answers([(wallet("new"), cached())])
            assert (len(store.read_answers([wallet(1), wallet("new")])), len(caught)) == (2, 1)
        with pytest.warns(CacheWarning, match="in memory"):
            AnswerStore(folder / "none.sqlite", "s").close()


def test_an_answer_that_was_requested_earlier_does_not_win_in_memory(tmp_path):
    """The file can only be read, and has a later answer for the wallet."""
    with mounted(tmp_path / "m", "size=8m") as folder:
        path = filled(folder / "a.sqlite", 1)
        remount(folder, "ro")
        with AnswerStore(path, "s") as store:
            with pytest.warns(CacheWarning, match="readonly"):
                store.write_answers([(wallet(0), replace(cached(1), sequence=1))])
            assert store.read_answers([wallet(0)]) == {wallet(0): cached()}


def restart(monkeypatch):
    """Restart the machine's monotonic clock."""
    monkeypatch.setattr(time, "monotonic_ns", itertools.count(1).__next__)


def test_a_read_only_cache_from_before_a_restart_is_read(tmp_path, monkeypatch):
    """The first write causes one warning, and later requests win in memory."""
    with mounted(tmp_path / "m", "size=8m") as folder:
        path = filled(folder / "a.sqlite", 2)
        restart(monkeypatch)
        remount(folder, "ro")
        with AnswerStore(path, "s") as store:
            assert store.read_answers([wallet(1)]) == {wallet(1): cached()}
            with pytest.warns(CacheWarning, match="readonly") as caught:
                store.write_answers([(wallet("new"), cached())])
            assert (len(store.read_answers([wallet(1), wallet("new")])), len(caught)) == (2, 1)


def test_a_locked_cache_from_before_a_restart_is_awaited(tmp_path, monkeypatch):
    """Its clock is set first, so that later requests win over stored answers."""
    path, before = filled(tmp_path / "a.sqlite", 2), time.monotonic_ns()
    restart(monkeypatch)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    Timer(0.5, other.rollback).start()
    with AnswerStore(path, "s") as store:
        assert store.sequence_now() > before - 10**9
        assert len(store.read_answers(map(wallet, range(2)))) == 2
    other.close()


def test_two_processes_make_a_file_at_once(tmp_path):
    """If both have seen that it is new, the second one changes nothing."""
    path = tmp_path / "a.sqlite"

    class Slower(sqlite3.Connection):
        def execute(self, statement, *values):
            if statement == "BEGIN IMMEDIATE":
                filled(path, 3)
            return super().execute(statement, *values)

    with closing(sqlite3.connect(path, isolation_level=None, factory=Slower)) as link:
        ANSWER_FILE_SPEC.prepare(link)
    assert cache_statistics(path).answers == {"s": 3}


@pytest.mark.parametrize("place", [".", "file/a.sqlite", "/proc/a/b.sqlite", "/dev/full"])
def test_a_path_where_no_file_can_be(tmp_path, place):
    """A folder, a file as a folder, a system's folder, a device: one warning at once, memory."""
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(CacheWarning, match="in memory") as caught:
        store = AnswerStore(tmp_path / place, "s")
    store.write_answers([(wallet(1), cached())])
    assert (store.read_answers([wallet(1)]), len(caught)) == ({wallet(1): cached()}, 1)
    store.close()


BROKEN = {
    "half of it": lambda whole: whole[: len(whole) // 8192 * 4096],
    "a torn page": lambda whole: whole[:10_000],
    "a torn header": lambda whole: whole[:60],
    "garbage": lambda whole: b"garbage " * (len(whole) // 8),
    "zeros": lambda whole: bytes(len(whole)),
    "a damaged table, quoted in SQLite's message": lambda whole: whole.replace(
        b"CREATE TABLE answers", b"CREATE TABL\xff answers", 1
    ),
    "damaged pages": lambda whole: whole[:4096] + b"\xff" * (len(whole) - 4096),
}


@pytest.mark.parametrize("way", BROKEN)
def test_a_broken_file_is_moved_aside(tmp_path, way):
    """One warning names it; it is kept, and a new one, as private, replaces it."""
    path, aside = filled(tmp_path / "a.sqlite"), tmp_path / "a.sqlite.broken-1"
    broken = BROKEN[way](path.read_bytes())
    path.write_bytes(broken)
    with pytest.warns(CacheWarning, match=str(aside)) as caught:
        filled(path, 3)
    assert (len(caught), aside.read_bytes()) == (1, broken)
    assert cache_statistics(path).answers == {"s": 3}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_broken_file_is_closed_before_it_is_renamed(tmp_path):
    """By its store and by others: Windows renames no open file."""
    path = tmp_path / "a.sqlite"
    *renamed, before = output(RENAMED, path, "")
    assert (path.name in renamed[::2], set(renamed[1::2])) == (True, {"0"})
    assert int(before) > 0
    assert cache_statistics(path).answers == {"s": 1}


def test_several_processes_find_the_same_broken_file(tmp_path):
    """It is moved once, and none of them moves another's new file."""
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"garbage " * 1_000)
    quiet = "warnings.simplefilter('ignore')\n"
    together(quiet + SHARE, path, 20)
    assert [file.name for file in sorted(tmp_path.iterdir())] == [
        path.name,
        f"{path.name}.broken-1",
    ]
    assert cache_statistics(path).answers == {"s": 4 * 4 * 20}


def test_a_removed_file_is_made_again(tmp_path):
    """Acknowledged answers are in the new file, and stores with the old one harm none."""
    path = tmp_path / "a.sqlite"
    with AnswerStore(path, "s") as old, AnswerStore(path, "s") as late:
        old.write_answers([(wallet(1), cached())])
        late.write_answers([(wallet(2), cached())])
        for file in tmp_path.iterdir():
            file.rename(f"{file}.old")
        old.write_answers([(wallet(3), cached())])
        late.close()
        old.write_answers([(wallet(4), cached())])
        assert cache_statistics(path).answers == {"s": 2}
    assert cache_statistics(path).answers == {"s": 2}


def test_a_file_removed_while_it_is_opened_is_made_again(tmp_path):
    """Between the check for it and the opening."""
    path = filled(tmp_path / "a.sqlite", 3)
    assert output(REMOVED, path, "") == ["1", "1"]
    assert cache_statistics(path).answers == {"s": 1}


def test_a_broken_file_moved_by_another_process_is_not_reported(tmp_path):
    """The other process has reported it; here a new one is made."""
    path, aside = filled(tmp_path / "a.sqlite"), tmp_path / "elsewhere"

    def count(link):
        if not aside.exists():
            path.write_bytes(b"garbage " * (path.stat().st_size // 8))
            path.rename(aside)
        return link.execute("SELECT count(*) FROM answers").fetchone()

    database = Database(path, ANSWER_FILE_SPEC)
    assert database.query_file_and_memory(count) == [(0,)]
    database.close()
    assert [file.name for file in sorted(tmp_path.iterdir())] == [path.name, aside.name]


def test_a_file_removed_during_a_write_is_written_again(tmp_path):
    """The write is acknowledged only when it is in the file of that name."""
    path, links = tmp_path / "a.sqlite", []

    def take_away(link):
        links.append(link)
        if len(links) == 1:
            path.unlink()
        link.execute("INSERT INTO answers VALUES ('s A.b', '', '', 0, 0)")

    database = Database(path, ANSWER_FILE_SPEC)
    database.write_in_transaction(take_away)
    database.close()
    assert (len(links), cache_statistics(path).answers) == (2, {"s": 1})


def test_a_file_that_changes_all_the_time_is_given_up(tmp_path):
    """After the seconds of a lock's wait."""
    path = tmp_path / "a.sqlite"
    database = Database(path, ANSWER_FILE_SPEC._replace(lock_timeout_s=0.1))
    with pytest.warns(CacheWarning, match="another process repeatedly replaces the file"):
        assert database.query_file_and_memory(lambda _: path.unlink(missing_ok=True)) == [None]


def test_an_open_transaction_is_rolled_back(tmp_path):
    """A second interrupt in the middle of a rollback leaves one."""
    database = Database(filled(tmp_path / "a.sqlite", 3), ANSWER_FILE_SPEC)
    database.query_file_and_memory(
        lambda link: link.execute("BEGIN IMMEDIATE").execute("DELETE FROM answers")
    )
    count = database.query_file_and_memory(
        lambda link: link.execute("SELECT count(*) FROM answers").fetchone()
    )
    database.close()
    assert count == [(3,)]


def test_a_broken_file_being_moved_by_another_process_is_left_to_it(tmp_path):
    """It waits until that is done, and does not move the new file."""
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"garbage " * 1_000)
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    Timer(0.2, path.rename, [tmp_path / "elsewhere"]).start()
    filled(path, 3)
    os.close(folder)
    assert rename_damaged_file(path, (0, 0)) is None
    assert cache_statistics(path).answers == {"s": 3}


def test_a_file_removed_after_memory_took_over_is_not_reported_again(tmp_path):
    """Its rows are gone, those in memory are there."""
    path = filled(tmp_path / "a.sqlite", 3)
    with AnswerStore(path, "s") as store:
        with closing(sqlite3.connect(path)) as other:
            other.execute("DROP TABLE answers")
        with pytest.warns(CacheWarning, match="in memory") as caught:
            store.write_answers([(wallet(1), cached())])
        assert list(store.read_answers(map(wallet, range(3)))) == [wallet(1)]
        assert len(caught) == 1


def test_only_the_owner_may_read_it(tmp_path):
    """The file and SQLite's files beside it are private, with any umask."""
    umask = os.umask(0)
    try:
        limiter_at(tmp_path / "new" / "a.pace").close()
        with AnswerStore(tmp_path / "new" / "a.sqlite", "s") as store:
            store.write_answers([(wallet(1), cached())])
            files = [tmp_path / "new", *(tmp_path / "new").iterdir()]
            modes = {file.name: oct(stat.S_IMODE(file.stat().st_mode)) for file in files}
    finally:
        os.umask(umask)
    names = ["a.pace", *(f"a.sqlite{end}" for end in ("", "-wal", "-shm"))]
    assert modes == {"new": "0o700"} | dict.fromkeys(names, "0o600")


def test_only_the_owner_may_read_it_at_any_moment(tmp_path):
    """Right after SQLite has made the file, and at every other step, for both files."""
    assert output(MADE, tmp_path, "") == ["0o600", "4"]  # with -wal and -shm


@pytest.mark.parametrize("each", [40, pytest.param(2_500, marks=pytest.mark.stress)])
def test_processes_and_threads_share_a_file(tmp_path, each):
    """Four processes of two stores and four threads: every single write is there."""
    together(SHARE, tmp_path / "a.sqlite", each)
    assert cache_statistics(tmp_path / "a.sqlite").answers == {"s": 4 * 4 * each}


@pytest.mark.parametrize("rounds", [2, pytest.param(60, marks=pytest.mark.stress)])
def test_acknowledged_answers_survive_a_kill(tmp_path, rounds):
    """A process killed while it writes leaves all acknowledged answers, and a working file."""
    names = []
    with KillableChildren(IMPORTS + TALK) as writers:
        for number in range(rounds):
            writers.start(tmp_path / "a.sqlite", number)
            acknowledged = [writers.read_line() for _ in range(20 + number)]
            writers.kill()
            wait_for_kill, more = writers.wait_for_kill()
            assert wait_for_kill
            names += [wallet(number, line.strip()) for line in acknowledged + more]
    with AnswerStore(tmp_path / "a.sqlite", "s") as store:
        assert len(store.read_answers(names)) == len(names) >= 20 * rounds


@pytest.mark.parametrize("forks", [10, pytest.param(200, marks=pytest.mark.stress)])
def test_a_fork_shares_no_connection(tmp_path, forks):
    """A child beside a thread that writes: child, parent and thread lose nothing."""
    [number] = output(FORK, tmp_path / "a.sqlite", forks)
    assert cache_statistics(tmp_path / "a.sqlite").answers == {"s": int(number) + 6 * forks}


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_continues_its_parents_store(tmp_path):
    """The same store in both, no connection: each finds the other's answers."""
    with AnswerStore(tmp_path / "a.sqlite", "s") as store:
        store.write_answers([(wallet("parent"), cached())])
        child = os.fork()
        if child == 0:
            if store._store._database._con is not None:
                os._exit(1)
            store.write_answers([(wallet("child"), cached())])
            os._exit(len(store.read_answers([wallet("parent"), wallet("child")])))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        assert len(store.read_answers([wallet("parent"), wallet("child")])) == 2


def test_a_failing_backend_is_replaced_by_memory(tmp_path):
    """Writing to it, and then reading, raises nothing of its own: one warning, and memory."""
    folder = tmp_path / "folder"
    backend = FileCache(folder, serializer="json")
    with AnswerStore(backend, "s") as store:
        store.write_answers([(wallet("old"), cached())])
        long = WalletAddress("TEST", "x" * 400)
        with pytest.warns(CacheWarning, match="FileCache") as caught:
            store.write_answers([(long, cached())])
        assert (len(store.read_answers([long, wallet("old")])), len(caught)) == (2, 1)
        store.write_answers([(wallet("old"), CachedAnswer(b"newer", NOW + timedelta(1)))])
        assert store.read_answers([wallet("old")])[wallet("old")].body == b"newer"
        backend.close()
        backend.responses = None
        assert list(store.read_answers([wallet("old")])) == [wallet("old")]


def test_an_unreadable_backend_is_replaced_by_memory():
    """There is no error and no second warning."""
    backend = BaseCache()
    store = AnswerStore(backend, "s")
    backend.responses = None
    with pytest.warns(CacheWarning, match="BaseCache") as caught:
        assert store.read_answers([wallet(1)]) == {}
    store.write_answers([(wallet(1), cached())])
    assert (store.read_answers([wallet(1)]), len(caught)) == ({wallet(1): cached()}, 1)


def test_a_backend_that_fails_here_is_still_read(tmp_path):
    """A later answer of another process there wins over this one's memory."""
    folder = tmp_path / "folder"
    backend, theirs = (FileCache(folder, serializer="json") for _ in range(2))
    with AnswerStore(backend, "s") as store, AnswerStore(theirs, "s") as other:
        with pytest.warns(CacheWarning, match="FileCache"):
            store.write_answers([(WalletAddress("TEST", "x" * 400), cached())])
        store.write_answers([(wallet("one"), CachedAnswer(b"older", NOW))])
        other.write_answers([(wallet("one"), CachedAnswer(b"newer", NOW, other.sequence_now()))])
        assert store.read_answers([wallet("one")])[wallet("one")].body == b"newer"
    for each in (backend, theirs):
        each.close()
