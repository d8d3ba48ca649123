"""Tables on a cluster of processes: parts are sent, and so are errors."""

import pickle

import dask.dataframe as dd
import pandas as pd
import pytest
from addresses import whole
from cluster_fetches import local_cluster
from drawn_fetches import TOKENS, details_of
from parted import write_parts

import walletframe.dask
from walletframe.errors import AmountError, DatasetError

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
FETCH = [
    (("ETH", whole("Aa")), [(TOKENS[0], 10**18, 18), (TOKENS[4], 2, 0)]),
    (("BSC", whole("aa")), "failed"),
    (("NEAR", "alice.near"), [(TOKENS[1], 1, 18), (TOKENS[6], 3, None), (TOKENS[7], 2**255, 6)]),
    (("SOLANA", "9xQe"), [(TOKENS[7], 5, 6)]),
]


@pytest.fixture(scope="module", autouse=True)
def workers():
    """Start two worker processes."""
    with local_cluster() as client:
        yield client


@pytest.fixture
def opened(tmp_path):
    """Return a fetch, and the opened folder of its shards."""
    details = details_of(FETCH)
    for number in range(len(FETCH)):
        write_parts(tmp_path / f"shard-{number}", details_of(FETCH[number : number + 1]))
    return details, walletframe.dask.open_wallets(tmp_path), tmp_path


def test_tables_are_those_of_pandas(opened):
    """Two workers read the shards, and their results are merged here."""
    details, cluster, _ = opened
    for by in ("token", "wallet", ["blockchain", "token"]):
        pd.testing.assert_frame_equal(cluster.wf.totals(by), details.wf.totals(by))
    prices = {("ETH", "0xa0"): 1 / 3, ("SOLANA", "epjf"): 0.1}
    valued, expected = (each.wf.value(prices) for each in (cluster, details))
    for table in ("concentration", "pivot"):
        result = getattr(valued.wf, table)()
        pd.testing.assert_frame_equal(result, getattr(expected.wf, table)())
    flagged = valued.wf.flag_spam(threshold=0.3).holdings.compute().reset_index(drop=True)
    pd.testing.assert_frame_equal(flagged, expected.wf.flag_spam(threshold=0.3).holdings)


def test_rows_are_brought_together_on_workers(opened):
    """A join of two frames in partitions keeps the dtypes that Arrow does not have."""
    details, cluster, _ = opened
    mine = pd.DataFrame({"wallet": [f"eth.{whole('AA')}", "NEAR.alice.near"], "n": [1, 2]})
    for number in (0, 1):
        result = dd.from_pandas(mine, npartitions=2).wf.join(cluster[number], "right", on="wallet")
        expected = mine.wf.join(details[number], "right", on="wallet").astype({"wallet": "string"})
        order = ["address", *expected.columns.intersection(["symbol"])]
        result, expected = (
            each.sort_values(order).reset_index(drop=True) for each in (result.compute(), expected)
        )
        pd.testing.assert_frame_equal(result, expected)


def test_errors_are_sent_complete(opened):
    """A worker's error is raised here, unchanged."""
    _, cluster, folder = opened
    path = folder / "shard-2" / "wallets" / "part-000002.parquet"
    path.write_bytes(b"no Parquet")
    with pytest.raises(DatasetError, match="shard-2 has changed") as caught:
        cluster.wf.totals()
    assert caught.value.hint == "open the folder again"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    with pytest.raises(AmountError):
        cluster._replace(holdings=cluster.holdings.assign(amount=1.5)).wf.totals()
