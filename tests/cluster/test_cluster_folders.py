"""Folders of Parquet files as frames of Dask."""

from concurrent.futures import ThreadPoolExecutor

import dask
import pandas as pd
import pyarrow.parquet as pq
import pytest
from addresses import ONE, THREE, TWO, base58

import walletframe as wf
import walletframe.dask
from walletframe.errors import ArgumentError, DatasetError, FramesNeededError

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
LISTS = [
    [f"ETH.{ONE}", "NEAR.alice.near", "BTC.bc1qzyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3h8ffkz"],
    [],
    [f"eth.{TWO}", f"SOLANA.{base58('9xQe')}"],
]


@pytest.fixture(scope="module")
def service():
    """Start the sandbox."""
    with wf.sandbox() as started:
        yield started


@pytest.fixture
def folder(service, tmp_path):
    """Write a folder of three shards."""
    with service.client(cache=False) as client:
        for number, wallets in enumerate(LISTS):
            wf.fetch_to_parquet(wallets, tmp_path / f"shard-{number:03}", client=client)
    (tmp_path / "notes.txt").write_text("no shard")
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.fixture(autouse=True)
def here():
    """Compute in this thread, whatever an earlier test has started."""
    with dask.config.set(scheduler="sync"):
        yield


def test_shards_are_partitions(folder):
    """Each shard is read unchanged, in order, with the dtypes of the contract."""
    wallets, holdings, summary = walletframe.dask.open_wallets(folder)
    read = [wf.read_wallets(path) for path in sorted(folder.glob("shard-*"))]
    assert summary is None
    assert wallets.npartitions == holdings.npartitions == len(LISTS)
    pd.testing.assert_frame_equal(wallets.compute(), pd.concat([each.wallets for each in read]))
    pd.testing.assert_frame_equal(holdings.compute(), pd.concat([each.holdings for each in read]))
    assert holdings.dtypes.to_dict() == read[0].holdings.dtypes.to_dict()


@pytest.mark.filterwarnings("ignore::walletframe.errors.FetchWarning")
def test_one_unfinished_shard_is_stated(folder, service):
    """The coverage says so, also for other frames than those of the folder."""
    assert not walletframe.dask.open_wallets(folder).wf.coverage().unfinished
    with service.client(cache=False) as client, pytest.raises(ZeroDivisionError):
        wf.fetch_to_parquet((1 / 0 for _ in "a"), folder / "shard-000", client=client)
    opened = walletframe.dask.open_wallets(folder)
    assert opened.wf.coverage().unfinished
    assert opened.wf.without_spam().wf.totals().attrs["coverage"]["unfinished"]
    assert opened.holdings.wf.totals(wallets=opened.wallets).attrs["coverage"]["unfinished"]


def test_only_selected_columns_are_read(folder):
    """Others need not exist: here they are removed."""
    shard = folder / "shard-000"
    wanted = wf.read_wallets(shard).holdings["amount"].sum()
    for path in (shard / "holdings").iterdir():
        pq.write_table(pq.read_table(path).drop(["raw_amount"]), path)
    holdings = walletframe.dask.open_wallets(str(shard)).holdings
    assert holdings["amount"].sum().compute() == wanted
    with pytest.raises(KeyError, match="raw_amount"):
        holdings.compute()


def test_kept_columns_of_some_shards_are_in_all(service, tmp_path):
    """A shard without kept columns has them, too, without values."""
    requested = pd.DataFrame({"blockchain": "ETH", "address": [ONE], "owner": "Ann", "age": [3]})
    with service.client(cache=False) as client:
        wf.fetch_to_parquet([f"ETH.{TWO}"], tmp_path / "a", client=client)
        wf.fetch_to_parquet(requested, tmp_path / "b", client=client, keep=["owner", "age"])
    opened = walletframe.dask.open_wallets(tmp_path)
    wallets = opened.wallets
    assert wallets.compute()["owner"].isna().tolist() == [True, False]
    assert wallets.compute().dtypes.to_dict() == wallets.dtypes.to_dict()
    assert wallets.dtypes["age"] == "Int64"
    whole = wf.WalletDetails(wallets.compute(), opened.holdings.compute())
    for by in ("owner", ["age", "token"]):
        pd.testing.assert_frame_equal(opened.wf.totals(by), whole.wf.totals(by))


def test_changed_folder_is_refused(folder, service):
    """Partitions of two moments would not be one fetch."""
    opened = walletframe.dask.open_wallets(folder)
    assert len(opened.wallets.compute()) == len(opened.wallets)
    with service.client(cache=False) as client:
        wf.fetch_to_parquet([f"ETH.{THREE}"], folder / "shard-001", client=client)
    for frame in opened[:2]:
        with pytest.raises(DatasetError, match="shard-001 has changed since it was opened"):
            frame.compute()


def test_other_folders_are_refused(tmp_path):
    """The error names the folder."""
    for path in (tmp_path, tmp_path / "gone"):
        with pytest.raises(DatasetError, match="has no files written by fetch_to_parquet"):
            walletframe.dask.open_wallets(path)


def test_partitions_of_both_frames_may_differ(folder, service):
    """With fewer, or repeated wallets, holdings are searched; no wallet is lost."""
    opened = walletframe.dask.open_wallets(folder)
    whole = wf.WalletDetails(*(frame.compute() for frame in opened[:2]))
    some = opened._replace(holdings=opened.holdings.partitions[:2])
    held = some.holdings.compute()
    expected = held.wf.totals("wallet", wallets=whole)
    pd.testing.assert_frame_equal(some.wf.totals("wallet"), expected)
    turned = opened._replace(holdings=opened.holdings.partitions[::-1])
    for table in (turned.wf.totals, turned.wf.pivot, turned.wf.concentration):
        with pytest.raises(ArgumentError, match=r"(?s)partition . of wallets does not contain"):
            table()
    arguments = turned.wf.totals("wallet", wallets=opened.wallets)
    pd.testing.assert_frame_equal(arguments, whole.wf.totals("wallet"))
    with service.client(cache=False) as client:
        wf.fetch_to_parquet([f"ETH.{ONE}"], folder / "shard-003", client=client)
    with pytest.raises(ArgumentError, match="rows of 1 wallet are in several partitions"):
        walletframe.dask.open_wallets(folder).wf.totals()


def test_methods_that_need_frames_in_memory_raise(folder):
    """The hint for charts and overlap is to compute; a typo is a typo."""
    opened = walletframe.dask.open_wallets(folder)
    for accessor in (opened.wf, opened.holdings.wf):
        for name in ("plot", "overlap"):
            with pytest.raises(FramesNeededError, match=r"(?s)in a Dask DataFrame.*compute\(\)"):
                getattr(accessor, name)
        assert not hasattr(accessor, "tootals")


def test_folders_opened_in_threads_leave_dasks_settings_alone(folder):
    """Dask's settings are the process's: one thread must not restore another's."""
    with dask.config.set({"dataframe.convert-string": None}), ThreadPoolExecutor(8) as pool:
        list(pool.map(walletframe.dask.open_wallets, [folder] * 200))
        assert dask.config.get("dataframe.convert-string") is None
