"""The rate of a cluster, which its scheduler limits: the limit, batches of permits, and its end."""

import time
from collections import Counter
from contextlib import contextmanager
from importlib.metadata import version
from threading import Event, Thread

import dask
import pytest
from cluster_fetches import check, frame, local_cluster, settings, wallet_names
from distributed import Client, LocalCluster
from fast_service import fast_service
from permit_takers import count_permits, permit_comes

import walletframe as wf
from walletframe.dask.rate import RateLimiterPlugin, WorkerRateLimiter
from walletframe.transport.rate import START_RATE, TEST_START_RATE, RateState, state_to_json

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.timeout(300),
]


@contextmanager
def running():
    """Start a scheduler that limits rates, and two workers, all in this process."""
    own = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=False, **own) as cluster:
        with Client(cluster) as client:
            client.register_plugin(RateLimiterPlugin(version("walletframe")))
        yield cluster


@pytest.fixture(scope="module")
def cluster():
    """Start one for the whole module; each test uses another service."""
    with running() as started:
        yield started


@contextmanager
def opened(cluster, service, *, rate=None, kind="private"):
    """Open a limiter on each worker."""
    own = {"key_kind": kind, "base_url": "https://api.example", "service": service}
    chosen = wf.Settings.isolated(**own, requests_per_second=rate)
    limiters = [WorkerRateLimiter(chosen, each) for each in cluster.workers.values()]
    try:
        yield limiters
    finally:
        for limiter in limiters:
            limiter.close()


def times(limiters, seconds):
    """Take all available permits, on eight threads for each limiter; return when."""
    end, result = time.monotonic() + seconds, [[] for _ in limiters]

    def take(limiter, own):
        while limiter.wait_for_permit(Event(), end):
            own.append(time.monotonic())
            limiter.note_answer()

    threads = [
        Thread(target=take, args=each)
        for each in zip(limiters, result, strict=True)
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return result


def by_second(moments):
    """Count moments in each whole second from the first on."""
    return Counter(int(each - min(moments)) for each in moments)


def test_workers_together_keep_the_limit_with_few_messages(cluster, monkeypatch):
    """In any second they send no more than one alone would, and each has a part."""
    handlers, messages = cluster.scheduler.handlers, []
    permits = handlers["walletframe_permits"]

    async def counted(**message):
        messages.append(message)
        return await permits(**message)

    monkeypatch.setitem(handlers, "walletframe_permits", counted)
    with opened(cluster, "limit", rate=100) as limiters:
        one, other = times(limiters, 3)
    assert one
    assert other
    assert max(by_second(one + other).values()) <= 112
    assert len(messages) < len(one + other) / 2


def test_answers_of_all_raise_the_rate(cluster):
    """It doubles as in one process, with the answers of all."""
    with opened(cluster, "rises") as limiters:
        result = [times(limiters, 0.5) for _ in range(8)]
    assert sum(len(each) for each in result[-1]) > START_RATE


def test_a_refusal_pauses_and_slows_down_the_whole_cluster(cluster):
    """Later workers too; another service is not affected."""
    with opened(cluster, "refuses") as [one, other]:
        assert permit_comes(other)
        one.note_refusal(30)
        assert count_permits(other, 0.5) == count_permits(one, 0.1) == 0
    with opened(cluster, "refuses") as [later, _], opened(cluster, "another") as [elsewhere, _]:
        assert count_permits(later, 0.3) == 0
        assert permit_comes(elsewhere)
        later.note_refusal(0)
        assert later.last_state.rate < START_RATE / 2


def test_a_slow_rate_is_one_for_all(cluster):
    """A distant permit is not handed out early."""
    with opened(cluster, "slow", rate=0.02) as [one, other]:
        assert permit_comes(one)
        assert count_permits(other, 0.5) == count_permits(one, 0.1) == 0


def test_missed_permits_are_not_made_up_for(cluster):
    """After a pause of its own a worker goes on at the rate, and not faster."""
    with opened(cluster, "late", rate=50) as [one, _]:
        assert permit_comes(one)
        assert permit_comes(one)
        time.sleep(1.2)
        assert count_permits(one, 0.2) <= 12


def test_the_settings_of_the_last_fetch_count(cluster):
    """An earlier configured rate is no discovered one, and a test key has its own."""
    for rate, kind, begun in (
        (0.01, "private", 0.01),
        (None, "private", START_RATE),
        (None, "test", TEST_START_RATE),
    ):
        with opened(cluster, "settings", rate=rate, kind=kind) as [one, _]:
            one.note_refusal(0)
            assert begun / 4 < one.last_state.rate * 2 <= begun * 1.8


def test_returned_permits_are_for_others(cluster):
    """They are not lost to the rate: the next one is due as early as the first of them."""
    initial = state_to_json(RateState(rate=50, fixed=True))

    async def ask(dask_scheduler):
        call = dask_scheduler.handlers
        message = {"limit_key": "back private", "initial": initial, "answers": 0, "unused": 0}
        batch = await call["walletframe_permits"](100, message)
        later = await call["walletframe_permits"](1, message)
        call["walletframe_closed"](message | {"unused": 6})
        again = await call["walletframe_permits"](1, message)
        return [each["waits_s"] for each in (batch, later, again)]

    with Client(cluster) as client:
        batch, later, again = client.run_on_scheduler(ask)
    assert batch == pytest.approx([0, 0.02, 0.04, 0.06, 0.08])
    assert 0 <= again[0] <= 0.02
    assert later[0] > again[0]


def test_without_the_scheduler_each_keeps_its_share_of_the_last_rate():
    """And the last pause: none goes on at the whole rate."""
    briefly = dask.config.set(
        {"distributed.comm.timeouts.connect": "1s"}
    )  # closing it sends it a message
    with briefly, running() as cluster, opened(cluster, "gone", rate=40) as [one, other]:
        assert permit_comes(one)
        assert permit_comes(other)
        other.note_refusal(2)
        paused_until = time.time() + 1.5
        cluster.sync(cluster.scheduler.close)
        assert permit_comes(other)
        assert time.time() >= paused_until
        for limiter in (one, other):
            limiter.note_refusal(0)
        result = times([one, other], 2)
        assert [limiter.last_state.rate for limiter in (one, other)] == [20, 20]
        assert all(1 <= max(by_second(each).values()) <= 23 for each in result)


@pytest.mark.parametrize(
    "kind, rate, count, most", [("private", 100, 300, 112), ("test", None, 6, 3)]
)
def test_a_fetch_keeps_the_limit(tmp_path, kind, rate, count, most):
    """The limit of a key with a known rate, and the low one of a test key, on two processes."""
    requested = [name for name in wallet_names(2 * count) if name.endswith("cafe")][:count]
    own = {"key_kind": kind, "requests_per_second": rate}
    with fast_service(tokens=1) as server, local_cluster():
        result = frame(requested).wf.fetch(
            tmp_path / "f", settings=settings(server, **own), shards=6
        )
        moments = server.times()
    assert result.summary.ok_count == len(moments) == count
    check(tmp_path / "f", requested, 1)
    assert max(by_second(moments).values()) <= most
