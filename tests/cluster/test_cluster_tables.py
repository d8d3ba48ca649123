"""Tables of frames in partitions equal pandas's on the same rows, to the last bit."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from drawn_fetches import TOKENS, details_of, fetches_of
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import outcome, same
from parted import write_parts

import walletframe as wf
import walletframe.dask
from walletframe.dask.holdings import folders_of_frames
from walletframe.errors import (
    ArgumentError,
    ColumnsError,
    SettingsError,
    SnapshotError,
    UnknownWalletError,
)
from walletframe.frames.schema import normalize_blockchains

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore:a table of holdings alone"
)
UNKNOWN = [(None, None, "USDC"), (None, "0xa0", "claim at x.io"), ("eth", "0xA0", None)]
fetches = fetches_of(TOKENS + UNKNOWN)
NAMES = ["token", "asset", "wallet", "blockchain", "symbol", "decimals", "token_blockchain"]
cuts = st.lists(st.sampled_from([*NAMES, "owner"]), min_size=1, max_size=3, unique=True)


@pytest.fixture(autouse=True, scope="module")
def here():
    """Compute in this thread, with pandas's own text columns in Dask."""
    alone = {"scheduler": "sync", "num_workers": 1, "dataframe.convert-string": False}
    with dask.config.set(alone):  # several shards in a block
        yield


def parts_of(holdings, seed, count):
    """Partition wallets in any order; some partitions may be empty."""
    draw = np.random.default_rng(seed)
    codes, _ = pd.factorize(holdings["blockchain"] + "." + holdings["address"].str.lower())
    owners = draw.integers(0, count, codes.max(initial=-1) + 1)[codes]
    return dd.from_map(lambda number: holdings[owners == number], range(count), meta=holdings[:0])


def both(fetch, seed, count):
    """Return wallets, one of which has an owner, partitions of holdings, and pandas's frame."""
    wallets, holdings = details_of(fetch)
    wallets = wallets.assign(owner=(["Ann", None, "Bob"] * 2)[: len(wallets)])
    chains = holdings["token_blockchain"]
    small = chains.where(np.arange(len(chains)) % 3 > 0, chains.str.lower())
    held = parts_of(holdings.assign(token_blockchain=small), seed, count)
    return wallets, held, held.compute()


@settings(max_examples=40, deadline=None)
@given(
    fetch=fetches,
    seed=st.integers(0, 9),
    count=st.integers(1, 3),
    by=cuts,
    with_wallets=st.booleans(),
)
def test_totals(fetch, seed, count, by, with_wallets):
    """By any columns, in any partitions."""
    wallets, held, whole = both(fetch, seed, count)
    requested = wallets if with_wallets else None
    result = outcome(lambda: held.wf.totals(by, wallets=requested))
    same(result, outcome(lambda: whole.wf.totals(by, wallets=requested)))


def test_snapshots_in_different_partitions():
    """Their sums are refused, even if no partition has two of them; values and flags are not."""
    fetch = [(("ETH", f"0x0{digit}"), [(("ETH", None, "ETH"), 5, 18)]) for digit in (1, 2)]
    wallets, holdings = details_of(fetch)
    days = pd.to_datetime(["2026-01-30", "2026-01-31"], utc=True)
    frame = holdings.assign(snapshot=days[(holdings["address"] == "0x02").astype(int)])
    held = dd.from_map(lambda place: frame[place : place + 1], range(2), meta=frame[:0])
    for requested in (None, wallets):
        with pytest.raises(SnapshotError, match="of 2 snapshots"):
            held.wf.totals(wallets=requested)
    with pytest.raises(SettingsError, match="'snapshot' needs the balances in memory"):
        held.wf.totals("snapshot")
    whole = dd.from_pandas(frame, npartitions=1)
    valued = whole.wf.value({("ETH", None): 2500}).wf.flag_spam().compute()
    assert valued["snapshot"].nunique() == len(valued) == 2
    assert len(held[held["snapshot"] == days[0]].wf.totals()) == 1


METHODS = {"totals": {}, "share": {"token": "USDC"}, "pivot": {"n": 2, "by": "wallet"}}


@settings(max_examples=25, deadline=None)
@given(fetch=fetches, size=st.integers(1, 3), by=cuts, method=st.sampled_from([*METHODS]))
def test_shards_of_a_folder(fetch, size, by, method):
    """Blocks are read and added up, and blockchains normalized; not after rows were dropped."""
    with TemporaryDirectory() as folder:
        for start in range(0, len(fetch) + 1, size):
            shard = details_of(fetch[start : start + size])
            write_parts(Path(folder) / f"shard-{start}", shard, seed=size)
        opened = walletframe.dask.open_wallets(folder)
        whole = wf.WalletDetails(*normalize_blockchains(*(frame.compute() for frame in opened[:2])))
        assert folders_of_frames(opened.wallets, opened.holdings)
        assert not folders_of_frames(opened.wallets, opened.holdings[opened.holdings["amount"] > 0])
        tables = (getattr(each.wf, method) for each in (opened, whole))
        own = {"by": by, **METHODS[method]}
        result, expected = (outcome(partial(table, **own)) for table in tables)
    same(result, expected)


NAMED = [{"token": "USDC"}, {"token": ("ETH", "0xA0")}, {"asset": "ETH"}, {"asset": "USDC"}, {}]
GROUPS = ["wallet", ["blockchain", "asset"], ["wallet", "decimals"], "owner", ["owner", "token"]]
whose = st.sampled_from(GROUPS)


@settings(max_examples=40, deadline=None)
@given(
    fetch=fetches,
    seed=st.integers(0, 9),
    count=st.integers(1, 3),
    named=st.sampled_from(NAMED),
    by=whose,
    with_wallets=st.booleans(),
)
def test_one_token(fetch, seed, count, named, by, with_wallets):
    """Shares and concentration of one token or asset, by any spelling, or of all."""
    wallets, held, whole = both(fetch, seed, count)
    own = {"by": by, "wallets": wallets if with_wallets else None, **named}
    same(outcome(lambda: held.wf.share(**own)), outcome(lambda: whole.wf.share(**own)))
    result = outcome(lambda: held.wf.concentration(top=1, **own))
    same(result, outcome(lambda: whole.wf.concentration(top=1, **own)))


@settings(max_examples=40, deadline=None)
@given(
    fetch=fetches,
    seed=st.integers(0, 9),
    count=st.integers(1, 3),
    n=st.integers(0, 4),
    by=st.sampled_from(["wallet", "blockchain", ["wallet", "asset"], "token", "owner"]),
    with_wallets=st.booleans(),
)
def test_pivot(fetch, seed, count, n, by, with_wallets):
    """The table has the foremost assets or tokens, with their labels among all."""
    wallets, held, whole = both(fetch, seed, count)
    own = {"by": by, "wallets": wallets if with_wallets else None}
    result, expected = (outcome(partial(frame.wf.pivot, n, **own)) for frame in (held, whole))
    same(result, expected)


FEW = [(("ETH", "0xAa"), [(TOKENS[0], 1, 0), (TOKENS[4], 2, 0)]), (("BSC", "0xaa"), "failed")]


@pytest.mark.parametrize("again", ["0xAa", "0XAA", " 0xaa"])
def test_wallet_in_two_partitions_is_refused(again):
    """It would count twice: the error names it, and the call that brings its rows together."""
    wallets, holdings = details_of(FEW)
    holdings["address"] = ["0xAa", again]
    held = dd.from_pandas(holdings, npartitions=2)
    assert held.npartitions == 2
    with pytest.raises(
        ArgumentError, match=r"rows of 1 wallet are.*'ETH\.0xAa' is in partitions 0 and 1"
    ) as result:
        held.wf.totals(wallets=wallets)
    call = str(result.value).rpartition("into one partition: ")[2]
    together = eval(call, {"holdings": held})  # noqa: S307 - as a person runs it
    expected = holdings.wf.totals("wallet", wallets=wallets)
    pd.testing.assert_frame_equal(together.wf.totals("wallet", wallets=wallets), expected)


def test_wallets_may_be_partitions_or_a_whole_fetch():
    """A wallet that is not among them is refused, and so are other frames."""
    details = details_of(FEW)
    held = dd.from_pandas(details.holdings, npartitions=1)
    expected = details.wf.totals()
    few = details.wallets.drop(columns="fetched_at")
    partitions = [dd.from_pandas(frame, npartitions=2) for frame in (details.wallets, few)]
    for wallets in (*partitions, details, tuple(details)):
        pd.testing.assert_frame_equal(held.wf.totals(wallets=wallets), expected)
    with pytest.raises(UnknownWalletError, match="ETH"):
        held.wf.totals(wallets=details.wallets[1:])
    with pytest.raises(ColumnsError, match="amount"):
        held.drop(columns="amount").wf.totals(wallets=details)
    with pytest.raises(SettingsError, match="grouping by 'snapshot' needs the balances in memory"):
        held.wf.share("USDC", by="snapshot")
    with pytest.raises(ArgumentError, match="of type str"):
        held.wf.totals(wallets="wallets")


def test_one_token_of_all_holders():
    """Without the wallets, the rows alone count."""
    _, held, whole = both(FEW, 0, 2)
    for options in ({"token": "USDC"}, {"asset": TOKENS[0][:2]}, {"by": "token"}, {}):
        expected = whole.wf.concentration(**options)
        pd.testing.assert_frame_equal(held.wf.concentration(**options), expected)
