"""Time limits hold from the first step to the last: names, connections, proxies, TLS, deadlines.

The aborted operations would go on for ever, or for longer than a test may take.
"""

import contextlib
import os
import socket
import subprocess
import sys
from threading import Event, Thread
from threading import enumerate as enumerate_threads

import pytest
from addresses import A, B
from canned_service import KEY, answer, wallet
from fault_server import FAULTS, FaultServer

from walletframe.client import Client
from walletframe.transport.attempt import Attempt

pytestmark = pytest.mark.timeout(120)

NOWHERE = "https://api.example"
BRIEFLY = 0.5
LONG = 1000


class Dribbler:
    """Lets no request through: reads it, and sends a beginning and then bytes without an end."""

    def __init__(self, beginning, piece):
        self._beginning, self._piece = beginning, piece
        self._stopped = Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = "{}:{}".format(*self._listener.getsockname())
        self._threads = [Thread(target=self._accept)]

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *exc):
        self._stopped.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                conn = self._listener.accept()[0]
                self._threads.append(Thread(target=self._dribble, args=[conn]))
                self._threads[-1].start()

    def _dribble(self, conn):
        with conn, contextlib.suppress(OSError):
            conn.recv(65536)
            conn.sendall(self._beginning)
            while not self._stopped.wait(0.05):
                conn.sendall(self._piece)


@contextlib.contextmanager
def full():
    """Listen without accepting: connecting there takes for ever."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(2):
            caller = stack.enter_context(socket.socket())
            caller.settimeout(0)
            caller.connect_ex(listener.getsockname())
        yield listener.getsockname()


def client_of(base_url, **settings):
    """Return a client that does not retry."""
    own = {"api_key": KEY, "key_kind": "private", "cache": "memory", "deadline_s": 0}
    return Client(**own | {"base_url": base_url, "timeout_s": BRIEFLY} | settings)


def status(client, wallets=f"ETH.{A}", **how):
    """Fetch, and return the wallets' statuses."""
    result = client.fetch(wallets, on_failure="ignore", progress=False, **how).wallets
    return result.status.tolist()


@pytest.fixture
def names(monkeypatch):
    """Look up names in a mapping; the lookup of a missing host never ends."""
    known, ended, requested = {}, Event(), []
    real = socket.getaddrinfo

    def look_up(host, port, *args, flags=0, **how):
        if flags & socket.AI_NUMERICHOST:
            return real(host, port, *args, flags=flags, **how)
        requested.append(host)
        if host not in known:
            ended.wait()
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        kind = (socket.AF_INET, socket.SOCK_STREAM, 0, "")
        return [(*kind, place) for place in known[host]]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    known["asked"] = requested
    yield known
    ended.set()
    for thread in enumerate_threads():
        if thread.name == "walletframe-name":
            thread.join()


DRIBBLES = {
    "status": (b"HTTP/1.1 ", b"2"),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "refusal": (b"HTTP/1.1 403 Forbidden\r\n", b"X: y\r\n"),
}


@pytest.mark.parametrize("beginning, piece", DRIBBLES.values(), ids=DRIBBLES)
def test_a_proxy_that_trickles_times_out(monkeypatch, beginning, piece):
    """Its answer to CONNECT counts, too."""
    with Dribbler(beginning, piece) as proxy:
        monkeypatch.setenv("https_proxy", f"http://{proxy.place}")
        with client_of(NOWHERE) as client:
            refused = beginning.startswith(b"HTTP/1.1 403") and sys.version_info < (3, 12)
            expected = "unreachable" if refused else "timeout"  # later ones read all headers first
            assert status(client) == [expected]


def test_tls_that_trickles_times_out():
    """A server's part of the handshake arrives byte by byte, and never ends."""
    with (
        Dribbler(b"\x16\x03\x03\x40\x00", b"\0") as server,
        client_of(f"https://{server.place}") as client,
    ):
        assert status(client) == ["timeout"]


def test_a_connection_that_is_not_accepted_times_out():
    """A full backlog never answers."""
    with full() as (host, port), client_of(f"http://{host}:{port}") as client:
        assert status(client) == ["timeout"]


def test_an_attempt_aborted_before_its_socket_ends_with_it():
    """It does not wait for an answer; the lookup of a name is such a time."""
    ours, theirs = socket.socketpair()
    attempt = Attempt(60)
    attempt.abort()
    with ours, theirs:
        attempt.store_duplicate_handle(ours)
        assert ours.recv(1) == b""
    attempt.close_duplicate_handle()


def test_dead_addresses_of_one_host_share_its_time(names):
    """Eight of them take no longer than one."""
    with full() as place, client_of(NOWHERE, timeout_s=3) as client:
        names["api.example"] = [place] * 8
        assert status(client) == ["timeout"]


def test_a_living_address_after_dead_ones_is_reached(names, monkeypatch, canned):
    """Each has its share of the time."""
    canned.default = (200, {}, answer(wallet()))
    with full() as place:
        names["localhost"] = [place, place, ("127.0.0.1", canned.server_port)]
        base_url = f"http://localhost:{canned.server_port}"
        with client_of(base_url, timeout_s=3) as client:
            assert status(client) == ["ok"]


def test_a_name_whose_lookup_never_ends_times_out(names):
    """Many wallets wait for the same lookup."""
    with client_of(NOWHERE, requests_per_second=1000) as client:
        assert status(client, [f"ETH.0x{each:0>40}" for each in range(16)]) == ["timeout"] * 16
    assert names["asked"] == ["api.example"]


def test_an_unknown_name_is_reported(names):
    """It is looked up again each time."""
    names["api.example"] = []
    with client_of(NOWHERE) as client:
        assert status(client, [f"ETH.{A}", f"ETH.{B}"]) == ["unreachable"] * 2


@pytest.mark.parametrize("name", ["silence", "slow body", "slow headers"])
def test_a_deadline_ends_the_last_attempt(name):
    """An attempt could take longer."""
    limits = {"timeout_s": LONG, "deadline_s": BRIEFLY}
    with (
        FaultServer(FAULTS[name], f"ETH.{A}") as server,
        client_of(server.base_url, **limits) as client,
    ):
        result = client.fetch(f"ETH.{A}", on_failure="ignore").wallets
    assert (result.status.item(), result.error.item()) == ("timeout", "no answer within 0.5 s")


def test_a_deadline_ends_an_attempt_after_others(canned, monkeypatch):
    """The last one has the remaining time."""
    monkeypatch.setattr("walletframe.client.workers._FIRST_WAIT_S", 0.01)
    canned.add_reply(b"", status=503)
    canned.default = (200, {}, [b" "] * 9_999 + [answer(wallet())])
    with canned.client(timeout_s=LONG, deadline_s=2) as client:
        assert status(client) == ["timeout"]
    assert len(canned.paths) == 2


HANGS = """
import socket, sys, threading
from walletframe.client import Client
if sys.argv[2] == "name":
    socket.getaddrinfo = lambda *_, flags=0, **__: flags and gone() or threading.Event().wait()
def gone():
    raise socket.gaierror
cancel = threading.Event()
threading.Timer(0.5, cancel.set).start()
client = Client(
    api_key="a-key-of-nobody-1", key_kind="private", base_url=sys.argv[1], cache="memory",
    timeout_s=1000,
)
wallets = client.fetch("NEAR.alice.near", cancel=cancel, on_failure="ignore").wallets
print(wallets.status.item())
"""


def run_and_cancel(base_url, way, **environment):
    """Fetch in a process that cancels, and return its output."""
    words = [sys.executable, "-c", HANGS, base_url, way]
    own = os.environ | environment
    return subprocess.run(words, env=own, capture_output=True, text=True, timeout=100, check=True)


def test_no_name_keeps_a_process_alive():
    """It ends during an endless lookup."""
    assert run_and_cancel(NOWHERE, "name").stdout == "cancelled\n"


def test_no_proxy_keeps_a_process_alive():
    """It ends while the proxy trickles."""
    with Dribbler(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n") as proxy:
        ended = run_and_cancel(NOWHERE, "proxy", https_proxy=f"http://{proxy.place}")
    assert ended.stdout == "cancelled\n"


def test_no_connection_keeps_a_process_alive():
    """It ends while the connection is not accepted."""
    with full() as (host, port):
        assert run_and_cancel(f"http://{host}:{port}", "connection").stdout == "cancelled\n"


def test_tls_keeps_no_process_alive():
    """It ends in the middle of the handshake."""
    with Dribbler(b"\x16\x03\x03\x40\x00", b"\0") as server:
        assert run_and_cancel(f"https://{server.place}", "tls").stdout == "cancelled\n"
