"""Amounts in Dask: equal to pandas and exact, with threads here and on a cluster's workers."""

import pickle
import subprocess
import sys

import dask
import dask.dataframe as dd
import pandas as pd
import pytest
from cluster_fetches import local_cluster
from dask.base import tokenize

from walletframe import AmountArray
from walletframe.dask import divisions
from walletframe.errors import AmountError
from walletframe.pandas_versions import TEXT

ROWS = 240
RAW = [[2**256 - 1, 10**27 + row, row % 7, None, 5][row % 5] for row in range(ROWS)]
FRAME = pd.DataFrame(
    {
        "key": pd.Series(list("abcdef") * 40, dtype=TEXT),
        "row": range(ROWS),
        "amount": AmountArray.from_raw(RAW, 18),
    }
)
KNOWN = FRAME.dropna()
OTHER = KNOWN.drop_duplicates("amount")[["amount"]].head(30).assign(n=range(30))
REDUCTIONS = ("sum", "max", "min", "count", "mean", "nunique")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def settings():
    """Use pandas's own text columns in Dask, so that results can be compared."""
    with dask.config.set({"dataframe.convert-string": False}):
        yield


@pytest.fixture(scope="module")
def cluster():
    """Start two worker processes."""
    with local_cluster() as client:
        yield client


def parts(frame=FRAME, count=4):
    """Split a frame into parts."""
    return dd.from_pandas(frame, npartitions=count)


def in_order(frame):
    """Sort a frame, for comparison."""
    return frame.sort_values(frame.columns.tolist()).reset_index(drop=True)


def check_calls():
    """Compare reductions, groups, merges and sorting with pandas."""
    frame, groups = parts(), FRAME.groupby("key")["amount"]
    for name in REDUCTIONS:
        assert getattr(frame["amount"], name)().compute() == getattr(FRAME["amount"], name)()
    for name in ("sum", "max", "mean"):
        result = getattr(frame.groupby("key")["amount"], name)().compute().sort_index()
        pd.testing.assert_series_equal(result, getattr(groups, name)())
    pd.testing.assert_frame_equal((frame[frame["amount"] > 1]).compute(), FRAME[FRAME.amount > 1])
    merged = frame.merge(parts(OTHER, 2), on="amount").compute()
    pd.testing.assert_frame_equal(in_order(merged), in_order(FRAME.merge(OTHER, on="amount")))
    counts = frame["amount"].value_counts().compute()
    assert counts.index.dtype == "amount"
    assert counts.sort_index().tolist() == FRAME["amount"].value_counts().sort_index().tolist()


def check_index():
    """Compare an index of amounts with pandas's."""
    known = parts(KNOWN)
    indexed = known.set_index("amount", divisions=divisions(known["amount"]))
    assert indexed.npartitions > 1
    wanted = KNOWN.set_index("amount").sort_index()
    assert indexed.compute().index.equals(wanted.index)
    pd.testing.assert_frame_equal(
        in_order(indexed.reset_index().compute()[FRAME.columns]), in_order(KNOWN)
    )
    assert indexed.loc[1:2].compute().equals(wanted.loc[1:2])


def check_parquet(folder):
    """Write Parquet, and read it again."""
    parts().to_parquet(folder)
    read = dd.read_parquet(folder)
    assert read["amount"].sum().compute() == FRAME["amount"].sum()
    pd.testing.assert_frame_equal(in_order(read.compute()), in_order(FRAME))


def check_shuffle(method):
    """Move rows between partitions, by text and by amounts."""
    for by in ("key", "amount"):
        moved = parts().shuffle(by, shuffle_method=method).compute()
        pd.testing.assert_frame_equal(in_order(moved), in_order(FRAME))


def test_calls():
    """Every call equals pandas's."""
    check_calls()


def test_an_index_of_amounts():
    """It is divided by exact amounts; Dask's default of floats is refused."""
    check_index()
    with pytest.raises(AmountError, match="not an exact amount"):
        parts(KNOWN).set_index("amount").npartitions  # noqa: B018 - a property that computes


def test_divisions_of_few_amounts():
    """One amount makes one part; none is an error."""
    one = pd.Series(["2", None, "2"], dtype="amount")
    assert divisions(parts(one, 1)) == [2, 2]
    with pytest.raises(AmountError, match="the column has no known amounts"):
        divisions(parts(one[1:2], 1))


def test_parquet(tmp_path):
    """Files keep the type."""
    check_parquet(tmp_path)


def test_an_index_in_parquet_by_arrows_reader(tmp_path):
    """Dask's other reader makes text of it, as pyarrow does of an index."""
    KNOWN.set_index("amount").to_parquet(tmp_path / "known.parquet")
    read = dd.read_parquet(tmp_path / "known.parquet", filesystem="arrow")
    assert read.index.dtype == read.compute().index.dtype == "amount"


@pytest.mark.parametrize("method", ["tasks", "disk"])
def test_shuffles(method):
    """Both ways to move rows in one process keep amounts."""
    check_shuffle(method)


def test_tokens_are_the_same_in_every_process():
    """They depend on the content alone."""
    code = (
        "import pandas as pd, walletframe.dask; from dask.base import tokenize\n"
        "array = pd.array(['1.5', None], dtype='amount')\n"
        "print(tokenize(array), tokenize(array[0]), tokenize(pd.Series(array)))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    array = pd.array(["1.5", None], dtype="amount")
    result = [tokenize(array), tokenize(array[0]), tokenize(pd.Series(array))]
    assert result == printed.stdout.split()
    assert tokenize(array) == tokenize(array[:]) != tokenize(array[::-1])


def test_pickles_register_the_type():
    """A process that unpickles amounts imports the module."""
    sent = pickle.dumps(FRAME)
    code = (
        "import pickle, sys; frame = pickle.loads(sys.stdin.buffer.read())\n"
        "print('walletframe.dask' in sys.modules, frame['amount'].sum())"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], input=sent, capture_output=True, check=True
    )
    assert printed.stdout.decode().split() == ["True", str(FRAME["amount"].sum())]


def test_tables_without_amounts_are_dasks():
    """Frames of text are unchanged; so is text beside amounts."""
    for meta in (FRAME[["key"]], FRAME):
        arrow = meta.assign(key=meta["key"].astype(pd.StringDtype("pyarrow")))
        for kept in (meta, arrow):
            table = dd.dispatch.to_pyarrow_table_dispatch(kept)
            made = dd.dispatch.from_pyarrow_table_dispatch(kept, table)
            pd.testing.assert_frame_equal(made, kept)


def test_without_dask():
    """The error says how to install it."""
    code = "import sys; sys.modules['dask'] = None; import walletframe.dask"
    command = [sys.executable, "-c", code]
    printed = subprocess.run(command, check=False, capture_output=True, text=True)
    assert 'pip install "dask[dataframe]>=' in printed.stderr


@pytest.mark.stress
def test_on_a_cluster(cluster, tmp_path):
    """Workers that never imported the module compute the same; rows move by tasks, disk and p2p."""
    check_calls()
    check_index()
    check_parquet(tmp_path)
    for method in ("tasks", "disk", "p2p"):
        check_shuffle(method)
