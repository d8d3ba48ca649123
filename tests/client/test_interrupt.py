"""Stopping a fetch: control returns at once, and no finished wallet is lost."""

import pickle
import signal
import subprocess
import sys
import time
from threading import Event, Thread

import pytest
from addresses import A, B, C
from canned_service import KEY, answer, wallet
from moments import interrupt_when, when

from walletframe.address.forms import WalletAddress
from walletframe.client.workers import RequestWorkers
from walletframe.errors import FetchInterrupted
from walletframe.service import sandbox
from walletframe.transport import cache_statistics

WALLETS = [f"ETH.0x{number:040x}" for number in range(1, 31)]
MANY = [f"ETH.0x{number:040x}" for number in range(1, 81)]


@pytest.mark.parametrize("workers, requested", [(1, MANY[:10]), (8, MANY)])
def test_interrupt_returns_control_and_keeps_finished_wallets(tmp_path, workers, requested):
    """The details are in the error; the same call requests only the rest."""
    begun = Event()
    with sandbox(latency_s=0.2) as service:
        settings = {"cache": tmp_path / "kept.sqlite", "workers": workers}
        with service.client(requests_per_second=1000, **settings) as client:
            interrupt_when(begun.is_set)
            with pytest.raises(FetchInterrupted) as caught:
                client.fetch(requested, progress=lambda *_: begun.set())
            wallets = caught.value.details.wallets
            done = (wallets.status == "ok").sum()
            assert len(wallets) == len(requested)
            assert set(wallets.status) == {"ok", "cancelled"}
            again = client.fetch(requested, progress=False).wallets
    assert (again.source == "cache").sum() >= done >= 1
    assert (again.status == "ok").all()


def test_interrupt_aborts_a_hanging_request(canned):
    """A silent service can't block the caller."""
    canned.add_reply([b" "] * 200 + [answer(wallet())])
    with canned.client() as client:
        interrupt_when(lambda: canned.paths)
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt) as caught:
            client.fetch(f"ETH.{A}")
        assert time.monotonic() - begun < 15  # of twenty
        assert caught.value.details.wallets.status.tolist() == ["cancelled"]
        canned.default = (200, {}, answer(wallet()))
        assert client.fetch(f"ETH.{A}").wallets.status.tolist() == ["ok"]


def test_interrupt_ends_a_long_list_at_once(canned):
    """Wallets that are not requested yet are not awaited, either."""
    canned.default = (200, {}, [b" "] * 200 + [answer(wallet())])
    requested = [f"ETH.0x{number:040x}" for number in range(300)]
    with canned.client(workers=1) as client:
        interrupt_when(lambda: canned.paths)
        begun = time.monotonic()
        with pytest.raises(FetchInterrupted) as caught:
            client.fetch(requested)
        assert time.monotonic() - begun < 15
    assert caught.value.details.wallets.status.tolist() == ["cancelled"] * 300


def test_interrupt_between_two_waits_is_not_missed(canned):
    """If another thread gets Ctrl-C, the caller's thread does so a moment later."""
    canned.add_reply([b" "] * 200 + [answer(wallet())])
    with canned.client() as client:
        interrupt_when(lambda: canned.paths)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            begun = time.monotonic()
            with pytest.raises(FetchInterrupted):
                client.fetch(f"ETH.{A}")
            assert time.monotonic() - begun < 15
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def test_interrupt_survives_pickling(client):
    """The error carries plain data, the hint included."""
    error = pickle.loads(pickle.dumps(FetchInterrupted(client.fetch([]))))
    assert len(error.details.wallets) == 0
    assert "Hint: " in str(error)


def test_an_interrupt_is_one_line_in_a_notebook():
    """The traceback of IPython has no lines of code."""
    [line] = FetchInterrupted(None)._render_traceback_()
    assert line.startswith("FetchInterrupted: the fetch was interrupted; the error's attribute")
    assert "\n" not in line


def test_a_progress_callable_that_raises_ends_the_fetch(canned):
    """Its error is raised, and finished wallets are cached."""
    canned.default = (200, {}, answer(wallet()))
    with canned.client() as client:
        with pytest.raises(ZeroDivisionError):
            client.fetch(f"ETH.{A}", progress=lambda *_: 1 / 0)
        assert client.fetch(f"ETH.{A}", offline=True).wallets.status.tolist() == ["ok"]


@pytest.mark.system
def test_killed_process_loses_no_cached_answer(tmp_path, canned):
    """After kill -9 the next call requests only wallets without an answer."""
    code = (
        "import sys; from walletframe.client import Client\n"
        f"with Client(api_key={KEY!r}, key_kind='private', base_url=sys.argv[1],"
        " cache=sys.argv[2], workers=4, requests_per_second=1000) as client:\n"
        "    client.fetch(sys.argv[3:], on_failure='ignore')"
    )
    path = tmp_path / "kept.sqlite"
    with sandbox(latency_s=0.3) as service:
        own = service.settings()
        code = code.replace(repr(KEY), repr(own.api_key.reveal()))
        words = [sys.executable, "-c", code, service.base_url, str(path), *WALLETS]
        with subprocess.Popen(words) as process:
            while sum(cache_statistics(path).answers.values()) < 4:
                time.sleep(0.05)
            process.kill()
        with service.client(cache=path, service=service.base_url) as client:
            wallets = client.fetch(WALLETS, offline=True, on_failure="ignore").wallets
            kept = (wallets.status == "ok").sum()
            assert 4 <= kept < len(WALLETS)
            wallets = client.fetch(WALLETS).wallets
    assert (wallets.source == "cache").sum() == kept
    assert (wallets.status == "ok").all()


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_passing_failures_are_retried(canned, status):
    """A failure that may pass is retried within the deadline, and then the wallet is ok."""
    canned.add_reply(b"busy", status=status)
    canned.default = (200, {}, answer(wallet()))
    with canned.client(deadline_s=20) as client:
        assert client.fetch(f"ETH.{A}").wallets.status.tolist() == ["ok"]
    assert len(canned.paths) == 2


def test_retry_after_is_honoured_up_to_its_cap(canned):
    """The service's pause is observed; one for a day is limited."""
    canned.add_reply(b"busy", status=429, Retry_After="86400")
    canned.default = (200, {}, answer(wallet()))
    begun = time.monotonic()
    with canned.client(deadline_s=20, retry_after_max_s=0.7) as client:
        assert client.fetch(f"ETH.{A}").wallets.status.tolist() == ["ok"]
    assert time.monotonic() - begun >= 0.7


@pytest.mark.parametrize("status", [400, 404, 500, 501])
def test_lasting_failures_are_not_retried(canned, status):
    """They are reported at once."""
    canned.default = (status, {}, b"no")
    with canned.client(deadline_s=20) as client:
        client.fetch(f"ETH.{A}", on_failure="ignore")
    assert len(canned.paths) == 1


@pytest.mark.parametrize("wait_s, requested", [(0.01, 5), (200, 1)])
def test_retries_end(canned, monkeypatch, wait_s, requested):
    """A lasting failure is reported after five attempts, or before a wait beyond the deadline."""
    monkeypatch.setattr("walletframe.client.workers._FIRST_WAIT_S", wait_s)
    monkeypatch.setattr("walletframe.client.workers._MAX_WAIT_S", wait_s)
    canned.default = (503, {}, b"down")
    with canned.client(deadline_s=60) as client:
        details = client.fetch(f"ETH.{A}", on_failure="ignore")
    assert details.wallets.status.tolist() == ["service_error"]
    assert len(canned.paths) == requested


def test_an_answer_after_giving_up_changes_nothing(canned, monkeypatch):
    """After refusals have lasted too long, the rest is not requested."""
    monkeypatch.setattr("walletframe.client.workers._PATIENCE_S", 1)
    canned.add_reply(b"busy", status=429, Retry_After="0")
    canned.add_reply([b" "] * 30 + [answer(wallet(B))])
    with canned.client(workers=1) as client:
        details = client.fetch([f"ETH.{A}", f"ETH.{B}", f"ETH.{C}"], on_failure="ignore")
    assert details.wallets.status.tolist() == ["rate_limited", "ok", "rate_limited"]
    assert len(canned.paths) == 2


def test_cancelled_before_it_begins(canned):
    """There are no requests, and cached answers are not returned."""
    canned.default = (200, {}, answer(wallet()))
    cancel = Event()
    cancel.set()
    with canned.client() as client:
        client.fetch(f"ETH.{A}")
        details = client.fetch([f"ETH.{A}", f"ETH.{B}"], cancel=cancel, on_failure="ignore")
    assert details.wallets.status.tolist() == ["cancelled", "cancelled"]
    assert len(canned.paths) == 1


def test_cancelling_one_fetch_leaves_another_alone(canned):
    """Each aborts its own threads' requests."""
    canned.default = (200, {}, [b" "] * 15 + [answer(wallet())])
    cancel, ended = Event(), []
    with canned.client() as client:
        other = Thread(
            target=lambda: ended.append(
                client.fetch(f"ETH.{B}", cancel=cancel, on_failure="ignore", progress=False)
            )
        )
        when(lambda: len(canned.paths) == 2, cancel.set)
        other.start()
        details = client.fetch(f"ETH.{A}")
        other.join()
    assert details.wallets.status.tolist() == ["ok"]
    assert ended[0].wallets.status.tolist() == ["cancelled"]


def test_late_answers_are_not_returned(canned):
    """A disk may delay their caching; numbers that came later are returned."""
    canned.default = (200, {}, answer(wallet()))
    cancel, inside, release = Event(), Event(), Event()

    def hang(*_):
        inside.set()
        release.wait()

    one, two = WalletAddress.parse(f"ETH.{A}"), WalletAddress.parse(f"ETH.{B}")
    with canned.client(workers=1) as client:
        sending = RequestWorkers(
            client._session_and_limiter, client.settings, cancel, on_reply=hang
        )
        sending.enqueue({1: one})
        inside.wait()
        cancel.set()
        given_up = [arrival for arrival in sending.receive_replies() if arrival]
        release.set()
        sending.stop()
        for worker in sending._workers:
            worker.join()
        sending.enqueue({2: two})
        later = [arrival for arrival in sending.receive_replies() if arrival]
    assert [number for number, _ in given_up + later] == [1, 2]
    assert {reply.answer.status for _, reply in given_up + later} == {"cancelled"}


def test_another_thread_can_cancel(canned):
    """A hanging request is aborted, finished wallets are there, and no error is raised."""
    canned.add_reply(answer(wallet()))
    canned.add_reply([b" "] * 200 + [answer(wallet(B))])
    cancel = Event()
    when(lambda: len(canned.paths) == 2, cancel.set)
    begun = time.monotonic()
    with canned.client(workers=1) as client:
        details = client.fetch([f"ETH.{A}", f"ETH.{B}"], cancel=cancel, on_failure="ignore")
    assert time.monotonic() - begun < 15
    assert details.wallets.status.tolist() == ["ok", "cancelled"]
