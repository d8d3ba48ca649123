"""``ddf.wf.fetch`` on workers that are processes: results, refusals, and its end."""

import os
import re
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace

import dask.dataframe as dd
import pandas as pd
import pytest
import requests_cache
from addresses import A
from canned_service import KEY
from cluster_fetches import (
    ENVIRONMENT,
    WORKERS,
    check,
    frame,
    local_cluster,
    repeated_requests,
    rows,
    settings,
    wallet_names,
)
from fast_service import fast_service

import walletframe as wf
from walletframe.bulk.dataset import DatasetWriter
from walletframe.dask import open_wallets
from walletframe.dask.rate import RateLimiterPlugin
from walletframe.dask.shards import LOCK_TIMEOUT_S, cancel_worker_shards, worker_problem
from walletframe.dask.shards import _registered_cancel_event as ending
from walletframe.errors import (
    AddressError,
    ArgumentError,
    ClusterError,
    ColumnsError,
    DatasetError,
    FetchError,
    FetchInterrupted,
    FetchWarning,
    InputWarning,
    SettingsError,
)

TOKENS = 3
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def server():
    """Start one fast server for the whole module."""
    with fast_service(tokens=TOKENS) as running:
        yield running


@pytest.fixture
def fast(server):
    """Return the server, reset."""
    server.forget()
    return server


@pytest.fixture(scope="module")
def cluster():
    """Start two worker processes."""
    with local_cluster() as client:
        yield client


@pytest.fixture
def folder(tmp_path):
    """Return the path of a folder that does not exist yet."""
    return tmp_path / "bulk"


def in_order(frame):
    """Compute a frame and sort it, without its times."""
    whole = frame.compute() if isinstance(frame, dd.DataFrame) else frame
    whole = whole.drop(columns="fetched_at", errors="ignore")
    return whole.sort_values("address", kind="stable", ignore_index=True)


class TestFetch:
    """Results of a fetch."""

    def test_equals_a_fetch_on_one_machine(self, cluster, fast, folder, tmp_path):
        """The same wallets with kept columns, positions in the list, balances and summary."""
        requested, owners = wallet_names(60), ["Ann", "Bob"] * 30
        table = frame(requested, owner=owners)
        own = settings(fast)
        result = table.wf.fetch(folder, keep="owner", settings=own, shards=5, on_failure="ignore")
        with wf.Client(own, api_key=KEY) as client:
            expected = wf.fetch_to_parquet(
                table.compute(), tmp_path / "one", keep="owner", client=client, on_failure="ignore"
            )
        one = wf.read_wallets(tmp_path / "one")
        pd.testing.assert_frame_equal(in_order(result.wallets), in_order(one.wallets))
        pd.testing.assert_frame_equal(in_order(result.holdings), in_order(one.holdings))
        places = rows(folder, "wallets", "position, 'ETH.' || address")
        assert sorted(places) == [each for each in enumerate(requested) if each[1].endswith("cafe")]
        for name in ("wallets", "statuses", "reasons", "balances", "resumed", "service"):
            assert getattr(result.summary, name) == getattr(expected, name)
        assert result.summary.folder == folder
        assert result.wallets.npartitions == 5

    def test_a_second_call_requests_only_failures(self, cluster, fast, folder):
        """Wallets are in their folders; the bar starts at the earlier count."""
        requested, own, seen = wallet_names(60), settings(fast), []
        with pytest.warns(FetchWarning, match="6 of 60 wallets are not ok"):
            frame(requested).wf.fetch(folder, settings=own, shards=5)
        fast.heal()
        again = frame(requested).wf.fetch(
            folder, settings=own, shards=5, progress=lambda *progress: seen.append(progress)
        )
        assert (again.summary.resumed, again.summary.ok_count) == (54, 60)
        assert seen[-1] == (60, 60, {"ok": 60})
        assert repeated_requests(fast) == 0
        check(folder, requested, TOKENS)
        assert open_wallets(folder).summary is None

    def test_names_of_blockchains_can_be_fixed(self, cluster, fast, folder):
        """As on one machine."""
        table = frame([each.replace("ETH", "Ethereum") for each in wallet_names(3)])
        with pytest.warns(InputWarning, match=r"replaced 'Ethereum' with ETH \(3 rows\)"):
            result = table.wf.fetch(folder, settings=settings(fast), shards=2, fix=True)
        assert result.summary.ok_count == 3

    def test_columns_may_have_the_names_of_the_service(self, cluster, fast, folder):
        """A frame of pandas has them, too; no other column is computed but kept ones."""
        named = pd.DataFrame({"walletAddress": [A], "owner": "Ann", "blockChain": "ETH"})
        table = dd.from_pandas(named.assign(more=1), npartitions=1)
        result = table.wf.fetch(folder, keep="owner", settings=settings(fast), on_failure="ignore")
        [row] = result.wallets.compute()[["blockchain", "address", "owner"]].to_numpy().tolist()
        assert row == ["ETH", A, "Ann"]

    def test_an_empty_list(self, cluster, fast, folder):
        """The result is two empty frames."""
        result = frame([]).wf.fetch(folder, settings=settings(fast), shards=5)
        assert [len(each) for each in result[:2]] == [0, 0]

    def test_a_bar(self, cluster, fast, folder, capsys):
        """It has the finished wallets, the rate, the failures and the workers."""
        frame(wallet_names(40)).wf.fetch(
            folder, settings=settings(fast), shards=2, progress=True, on_failure="ignore"
        )
        last = capsys.readouterr().err.splitlines()[-1]
        assert "40/40" in last
        assert "failed=4" in last
        assert "workers=" in last

    def test_the_default_client_has_the_settings(self, cluster, fast, folder):
        """`configure` sets them; the key is the workers' own."""
        wf.configure(key_kind="private", base_url=fast.base_url, cache=False)
        assert frame(wallet_names(3)).wf.fetch(folder, shards=1).summary.ok_count == 3

    def test_failures_raise_on_request(self, cluster, fast, folder):
        """The error has the summary."""
        with pytest.raises(FetchError, match="1 of 8 wallets is not ok") as caught:
            frame(wallet_names(8)).wf.fetch(folder, settings=settings(fast), on_failure="raise")
        assert caught.value.details.ok_count == 7

    def test_a_refused_key_ends_it(self, cluster, canned, folder):
        """The other wallets are not requested."""
        canned.default = (401, {}, b"no")
        requested = wallet_names(3_000)
        with pytest.warns(FetchWarning, match="has not finished"):
            result = frame(requested).wf.fetch(
                folder, settings=settings(canned, workers=1), shards=100, on_failure="ignore"
            )
        assert result.summary.key_rejected
        assert result.summary.statuses["cancelled"] > 0
        assert sum(result.summary.statuses.values()) == 3_000


class TestRefused:
    """Refusals before any request."""

    @pytest.fixture(autouse=True)
    def no_requests(self, fast):
        """Check that there was no request."""
        yield
        assert not fast.request_counts()

    def test_another_number_of_shards(self, cluster, fast, folder):
        """Wallets would be expected in other folders."""
        own = settings(fast)
        frame([]).wf.fetch(folder, settings=own, shards=5)
        with pytest.raises(DatasetError, match=r"has 5 shards, not 6[^$]*Hint: pass shards=5"):
            frame(wallet_names(3)).wf.fetch(folder, settings=own, shards=6)
        with pytest.raises(DatasetError, match="fetched from the service"):
            frame(wallet_names(3)).wf.fetch(folder, settings=settings(fast, service="b"), shards=5)

    @pytest.mark.filterwarnings("ignore:.*has not finished:walletframe.errors.FetchWarning")
    def test_other_numbers_of_shards_at_once(self, cluster, fast, tmp_path):
        """Callers with the first one's number go on; the others are refused."""
        numbers, own = [5, 6, 5, 7], settings(fast)
        together = Barrier(len(numbers))

        def fetch(folder, place, shards):
            own_frame = pd.DataFrame({f"wallet {place}": []})  # Dask mixes up equal ones of threads
            requested = dd.from_pandas(own_frame, npartitions=3)
            together.wait(100)
            try:
                requested.wf.fetch(folder, settings=own, shards=shards)
            except DatasetError as refused:
                return int(re.search(r"has (\d) shards, not \d", str(refused))[1])
            return shards

        with ThreadPoolExecutor(len(numbers)) as threads:
            for place in range(25):
                folder = tmp_path / str(place)
                calls = [threads.submit(fetch, folder, *each) for each in enumerate(numbers)]
                assert len({call.result() for call in calls}) == 1

    @pytest.mark.parametrize("marker", ['{"format": 2}', "{", "[]", '{"format": 1}'])
    def test_a_marker_of_another_format(self, cluster, fast, folder, marker):
        """The format of a later walletframe, or a broken marker."""
        frame([]).wf.fetch(folder, settings=settings(fast), shards=5)
        (folder / ".walletframe" / "shards.json").write_text(marker)
        with pytest.raises(DatasetError, match=r"format 2|is not valid"):
            frame(wallet_names(3)).wf.fetch(folder, settings=settings(fast), shards=5)

    def test_a_folder_of_other_files(self, cluster, fast, folder):
        """The folder of a run on one machine is one, too."""
        with wf.Client(settings(fast), api_key=KEY) as client:
            wf.fetch_to_parquet([], folder, client=client)
        with pytest.raises(DatasetError, match="has other files: 'failed'"):
            frame(wallet_names(3)).wf.fetch(folder, settings=settings(fast))

    def test_wallets_and_columns(self, cluster, fast, folder):
        """They are reported together, as on one machine."""
        own = settings(fast)
        with pytest.raises(AddressError) as caught:
            frame(["nonsense", f"ETH.{A}", "ETH.0x12"]).wf.fetch(folder, settings=own)
        assert [place for place, _, _ in caught.value.problems] == [0, 2]
        with pytest.raises(ColumnsError, match="owner"):
            frame(wallet_names(3)).wf.fetch(folder, settings=own, keep="owner")
        two = dd.from_pandas(pd.DataFrame({"a": ["x"], "b": ["y"]}), npartitions=1)
        with pytest.raises(ColumnsError, match="blockchain"):
            two.wf.fetch(folder, settings=own)
        assert not folder.exists()

    def test_options(self, cluster, fast, folder):
        """A wrong number of shards, folder, or settings."""
        wallets = frame(wallet_names(3))
        for shards in (0, 10_001, True, "many"):
            with pytest.raises(ArgumentError, match="shards"):
                wallets.wf.fetch(folder, settings=settings(fast), shards=shards)
        with pytest.raises(DatasetError, match="is a URL"):
            wallets.wf.fetch("s3://bucket/run", settings=settings(fast))
        with pytest.raises(ArgumentError, match="are not supported"):
            wallets.wf.fetch(folder, settings="private")
        backend = requests_cache.SQLiteCache(":memory:", serializer="json")
        with pytest.raises(SettingsError, match="can't be sent to workers"):
            wallets.wf.fetch(folder, settings=settings(fast, cache=backend))
        assert not folder.exists()


def spoil(what, place):
    """Break a worker's setup; it runs there."""
    module = import_module("walletframe.dask.shards")
    sys.modules["kept aside"] = module
    spoilt = {
        "the key": lambda: os.environ.pop("WALLETFRAME_API_KEY"),
        "a key for this address": lambda: os.environ.update(WALLETFRAME_BASE_URL="https://other"),
        "a sound environment": lambda: os.environ.update(WALLETFRAME_WORKERS="many"),
        "this release": lambda: setattr(module, "version", lambda _: "0.0.9"),
        "walletframe": lambda: sys.modules.update({module.__name__: None}),
        "the folder": lambda: os.chdir(place),
    }
    spoilt[what]()


def mend():
    """Restore a worker's setup."""
    module = sys.modules.pop("kept aside")
    sys.modules[module.__name__] = module
    module.version = version
    os.environ.update(ENVIRONMENT)
    for name in ("BASE_URL", "WORKERS"):
        os.environ.pop(f"WALLETFRAME_{name}", None)


LACKS = {
    "the key": "in its environment, api_key is not set",
    "a key for this address": "in its environment, api_key is not set",
    "a sound environment": "in its environment, WALLETFRAME_WORKERS is not valid: 'many'",
    "this release": r"the worker runs walletframe 0\.0\.9, but this machine runs",
    "walletframe": "the worker can't run walletframe: .*walletframe",
    "the folder": "the worker can't access your machine's folder ",
}


class TestWorkers:
    """Workers that can't fetch are named before any request."""

    @pytest.mark.parametrize("what", LACKS)
    def test_the_broken_worker_is_named(self, cluster, fast, tmp_path, monkeypatch, what):
        """And not the other; with its fault, and the needs of each."""
        for name in ("here", "there"):
            (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / "here")
        own = settings(fast)
        wrong, sound = cluster.nthreads()
        cluster.run(os.chdir, tmp_path / "here")
        cluster.run(spoil, what, tmp_path / "there", workers=[wrong])
        with pytest.raises(ClusterError) as caught:
            frame(wallet_names(5)).wf.fetch("/proc/self/cwd/bulk", settings=own)
        cluster.run(mend, workers=[wrong])
        assert not fast.request_counts()
        assert caught.match(f"1 of 2 workers can't fetch, so no request was sent:\n  {wrong}: ")
        assert caught.match(LACKS[what])
        assert sound not in str(caught.value)
        left = {path.name for path in Path("bulk/.walletframe").iterdir()}
        assert left - {"shards.lock"} == {"shards.json"}

    def test_a_workers_report_of_itself(self, tmp_path, monkeypatch):
        """It is empty, with a sign, if the worker could fetch, or else its fault."""
        requested = wf.Settings(key_kind="private", base_url="https://api.example", cache=False)
        sign, worker = tmp_path / "sign", SimpleNamespace(address="tcp://10.0.0.1:1")
        assert "api_key is not set" in worker_problem(
            version("walletframe"), requested, sign, worker
        )
        monkeypatch.setenv("WALLETFRAME_API_KEY", KEY)
        assert "the worker can't access your machine's folder" in worker_problem(
            version("walletframe"), requested, sign, worker
        )
        sign.touch()
        assert worker_problem(version("walletframe"), requested, sign, worker) == ""
        assert len(list(tmp_path.glob("sign-*"))) == 1
        assert "but this machine runs 9" in worker_problem("9", requested, sign, worker)

    def test_they_end_current_and_later_work(self):
        """Another fetch is not affected."""
        with ending("one") as first, ending("another") as other:
            cancel_worker_shards("one")
            assert first.is_set()
            with ending("one") as later:
                assert later.is_set()
            assert not other.is_set()

    def test_their_files_have_to_be_visible_here(self, cluster, fast, folder, monkeypatch):
        """Both ways: a drive that takes no files from here is not shared."""
        module = import_module("walletframe.dask.shards")
        monkeypatch.setattr(
            module, "_probe_path_of_worker", lambda sign, _: sign.with_name("elsewhere")
        )
        with pytest.raises(ClusterError, match=r"2 of 2 workers.*\n.*not visible here"):
            frame(wallet_names(5)).wf.fetch(folder, settings=settings(fast))
        assert not fast.request_counts()

    def test_a_scheduler_of_another_release_is_named(self, cluster, fast, folder, monkeypatch):
        """Before any request: it keeps the pace."""
        monkeypatch.setattr("walletframe.dask.rate.version", lambda _: "0.0.9")
        cluster.unregister_scheduler_plugin(RateLimiterPlugin.name)
        with pytest.raises(
            ClusterError,
            match=r"no request was sent: the scheduler runs walletframe 0\.0\.9",
        ):
            frame(wallet_names(5)).wf.fetch(folder, settings=settings(fast))
        assert not fast.request_counts()


def lose_patience(seconds):
    """Shorten the patience."""
    import_module("walletframe.dask.shards").LOCK_TIMEOUT_S = seconds


class TestEnds:
    """Unsuccessful ends."""

    def test_an_error_of_a_worker_is_complete(self, cluster, fast, folder):
        """With its hint; the other shards end first, and can be resumed."""
        own = settings(fast)
        frame([]).wf.fetch(folder, settings=own, shards=5)
        broken = folder / "shard-003" / ".walletframe" / "dataset.json"
        broken.parent.mkdir(parents=True)
        broken.write_text("{")
        with pytest.raises(
            DatasetError,
            match=r"shard-003 can't be used, since its file dataset\.json is not valid",
        ) as caught:
            frame(wallet_names(60)).wf.fetch(folder, settings=own, shards=5)
        assert "Hint: choose another folder" in str(caught.value)
        broken.unlink()
        frame(wallet_names(60)).wf.fetch(folder, settings=own, shards=5, on_failure="ignore")
        assert repeated_requests(fast) <= 2 * WORKERS  # requests under way in the others

    def test_a_locked_shard_is_awaited_then_named(self, cluster, fast, folder):
        """A worker that was given up may still write there."""
        own = settings(fast)
        cluster.run(lose_patience, 0.05)
        frame([]).wf.fetch(folder, settings=own, shards=1)
        with (
            DatasetWriter(folder / "shard-000", own.service),
            pytest.raises(DatasetError, match=f"process {os.getpid()} on .*shard-000"),
        ):
            frame(wallet_names(5)).wf.fetch(folder, settings=own, shards=1)
        cluster.run(lose_patience, LOCK_TIMEOUT_S)
        assert frame(wallet_names(5)).wf.fetch(folder, settings=own, shards=1).summary.ok_count == 5

    def test_an_interrupt_leaves_nothing_incomplete(self, cluster, fast, folder):
        """When it is raised no worker writes; the next call requests the rest."""
        requested, own = wallet_names(3_000), settings(fast)

        def interrupt(done, *_):
            if done and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.raise_signal(signal.SIGINT)

        with pytest.raises(FetchInterrupted) as caught:
            frame(requested).wf.fetch(folder, settings=own, shards=6, progress=interrupt)
        summary = caught.value.details
        assert 0 < summary.ok_count == len(rows(folder, "wallets", "position"))
        assert sum(summary.statuses.values()) == summary.wallets == 3_000
        fast.heal()
        again = frame(requested).wf.fetch(folder, settings=own, shards=6).summary
        assert again.resumed >= summary.ok_count  # answers after the interrupt are kept as well
        assert repeated_requests(fast) <= 2 * WORKERS
        check(folder, requested, TOKENS)

    def test_a_callable_that_raises_ends_it(self, cluster, fast, folder):
        """Its error is raised."""
        with pytest.raises(ZeroDivisionError):
            frame(wallet_names(3_000)).wf.fetch(
                folder, settings=settings(fast), shards=6, progress=lambda *_: 1 / 0
            )
