"""Forked children, and others, don't share the parent's state."""

import json
import os
import subprocess
import sys
from collections import Counter
from threading import Event, Thread

import pool_of_workers
import pytest
from addresses import ONE, THREE, TWO
from canned_service import KEY
from certificates import certified
from fault_server import FAULTS, FaultServer
from pool_of_workers import OWN, THEIRS, WALLETS, wallets_of

import walletframe as wf
from walletframe.client.default import default_client
from walletframe.forks import ForkSafeLock

pytestmark = [
    pytest.mark.system,
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


@pytest.fixture
def encrypted(tmp_path):
    """Return a server that speaks TLS, and the file that makes it trusted."""
    context, path = certified(tmp_path, "127.0.0.1")
    with FaultServer(FAULTS["silence"], None, context=context) as server:
        yield server.base_url, path


def fetched_by_all(method, **environment):
    """Fetch in a process and its children; return their statuses."""
    own = {"KEY_KIND": "private", "REQUESTS_PER_SECOND": "1000", "TIMEOUT_S": "10"} | environment
    named = {f"WALLETFRAME_{name}": value for name, value in own.items()}
    with FaultServer(FAULTS["slow body"], f"ETH.{ONE}") as silent:
        run = subprocess.run(
            [sys.executable, "-W", "ignore", pool_of_workers.__file__, method, silent.base_url],
            env=os.environ | {"WALLETFRAME_API_KEY": KEY} | named,
            stdout=subprocess.PIPE,
            check=True,
            timeout=110,
        )
    return json.loads(run.stdout)


STRESS = pytest.mark.stress
ALL_OK = [{"ok": len(OWN) * WALLETS}, {"ok": len(THEIRS) * WALLETS}, ["timeout"]]


def fetched_alone(service, rounds):
    """Return the counts that one process gets of the sandbox, which fails some wallets."""
    wallets = [wallet for number in rounds for wallet in wallets_of(number)]
    with service.client(cache=False) as client:
        return Counter(client.fetch(wallets, on_failure="ignore").wallets.status)


@pytest.mark.parametrize("method", ["fork", "forkserver", pytest.param("spawn", marks=STRESS)])
def test_children_and_parent_fetch_at_once(service, tmp_path, method):
    """Over http and a cache in a file no answer is lost, and slow ones time out."""
    settings = service.settings()
    statuses = fetched_by_all(
        method,
        API_KEY=settings.api_key.reveal(),
        BASE_URL=service.base_url,
        CACHE=str(tmp_path / "kept.sqlite"),
    )
    assert statuses == [fetched_alone(service, OWN), fetched_alone(service, THEIRS), ["timeout"]]


@pytest.mark.parametrize("method", ["fork", "spawn", pytest.param("forkserver", marks=STRESS)])
def test_children_and_parent_fetch_at_once_over_tls(encrypted, monkeypatch, method):
    """The same over https and a cache in memory."""
    base_url, certificates = encrypted
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", certificates)
    assert fetched_by_all(method, BASE_URL=base_url, CACHE="memory") == ALL_OK


def exit_code_of(work):
    """Fork a child that runs a function, and return its exit code."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(work())
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_lock_is_free_in_a_child():
    """Any thread of the parent may hold it."""
    lock, held, release = ForkSafeLock(), Event(), Event()

    def hold():
        with lock:
            held.set()
            release.wait()

    thread = Thread(target=hold)
    thread.start()
    held.wait()

    def take():
        with lock:
            return 7

    try:
        assert exit_code_of(take) == 7
    finally:
        release.set()
        thread.join()


def test_a_child_closes_its_copies_and_no_connection(service):
    """The parent's connection stays open, and the child has no socket of it."""
    with service.client(cache="memory") as client:
        client.fetch(f"ETH.{ONE}")
        [connection] = client._session.in_flight.connections
        number = connection.sock.fileno()

        def look():
            try:
                os.fstat(number)
            except OSError:
                return 3 if client._session is None else 4
            return 5

        assert exit_code_of(look) == 3
        client.fetch(f"ETH.{TWO}")
        assert list(client._session.in_flight.connections) == [connection]


def test_a_default_client_is_the_childs_own(service):
    """It has its settings, and none of the parent's open resources."""
    settings = service.settings()
    wf.configure(
        api_key=settings.api_key, key_kind="private", base_url=service.base_url, cache="memory"
    )
    wf.fetch_wallets(f"ETH.{ONE}")

    def fetch():
        if default_client()._session is not None:
            return 4
        return len(wf.fetch_wallets([f"ETH.{ONE}", f"ETH.{THREE}"], on_failure="raise").wallets)

    assert exit_code_of(fetch) == 2
    wf.configure(cache=False)
