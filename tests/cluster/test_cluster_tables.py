"""Tables of frames in partitions: what pandas gives of the same rows, to the last bit."""

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
from walletframe.dask.holdings import folders_of
from walletframe.errors import (
    ArgumentError,
    ColumnsError,
    SettingsError,
    UnknownWalletError,
)
from walletframe.frames.contract import normalize_blockchains

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore:a table of holdings alone"
)
UNKNOWN = [(None, None, "USDC"), (None, "0xa0", "claim at x.io"), ("eth", "0xA0", None)]
fetches = fetches_of(TOKENS + UNKNOWN)
NAMES = ["token", "asset", "wallet", "blockchain", "symbol", "decimals", "token_blockchain"]
cuts = st.lists(st.sampled_from([*NAMES, "owner"]), min_size=1, max_size=3, unique=True)


@pytest.fixture(autouse=True, scope="module")
def here():
    """Compute in this thread, and let Dask keep pandas's own text columns."""
    alone = {"scheduler": "sync", "num_workers": 1, "dataframe.convert-string": False}
    with dask.config.set(alone):  # several shards in a piece
        yield


def parts_of(holdings, seed, count):
    """Put wallets into so many partitions, in any order, some of which may be without any."""
    draw = np.random.default_rng(seed)
    codes, _ = pd.factorize(holdings["blockchain"] + "." + holdings["address"].str.lower())
    owners = draw.integers(0, count, codes.max(initial=-1) + 1)[codes]
    return dd.from_map(lambda number: holdings[owners == number], range(count), meta=holdings[:0])


def both(fetch, seed, count):
    """Give wallets, one of which has an owner, partitions of holdings, and what pandas has."""
    wallets, holdings = details_of(fetch)
    wallets = wallets.assign(owner=(["Ann", None, "Bob"] * 2)[: len(wallets)])
    chains = holdings["token_blockchain"]
    small = chains.where(np.arange(len(chains)) % 3 > 0, chains.str.lower())
    held = parts_of(holdings.assign(token_blockchain=small), seed, count)
    return wallets, held, held.compute()


@settings(max_examples=40, deadline=None)
@given(fetch=fetches, seed=st.integers(0, 9), count=st.integers(1, 3), by=cuts, told=st.booleans())
def test_totals(fetch, seed, count, by, told):
    """By anything, whatever is in which partition."""
    wallets, held, whole = both(fetch, seed, count)
    asked = wallets if told else None
    found = outcome(lambda: held.wf.totals(by, wallets=asked))
    same(found, outcome(lambda: whole.wf.totals(by, wallets=asked)))


ASKED = {"totals": {}, "share": {"token": "USDC"}, "pivot": {"n": 2, "by": "wallet"}}


@settings(max_examples=25, deadline=None)
@given(fetch=fetches, size=st.integers(1, 3), by=cuts, asked=st.sampled_from([*ASKED]))
def test_shards_of_a_folder(fetch, size, by, asked):
    """Blocks are read and added up, and blockchains written alike; not where rows were left out."""
    with TemporaryDirectory() as folder:
        for start in range(0, len(fetch) + 1, size):
            shard = details_of(fetch[start : start + size])
            write_parts(Path(folder) / f"shard-{start}", shard, seed=size)
        opened = walletframe.dask.open_wallets(folder)
        whole = wf.WalletDetails(*normalize_blockchains(*(frame.compute() for frame in opened[:2])))
        assert folders_of(opened.wallets, opened.holdings)
        assert not folders_of(opened.wallets, opened.holdings[opened.holdings["amount"] > 0])
        tables = (getattr(each.wf, asked) for each in (opened, whole))
        own = {"by": by, **ASKED[asked]}
        found, expected = (outcome(partial(table, **own)) for table in tables)
    same(found, expected)


NAMED = [{"token": "USDC"}, {"token": ("ETH", "0xA0")}, {"asset": "ETH"}, {"asset": "USDC"}, {}]
whose = st.sampled_from(["wallet", ["blockchain", "asset"], ["wallet", "decimals"], "owner"])


@settings(max_examples=40, deadline=None)
@given(
    fetch=fetches,
    seed=st.integers(0, 9),
    count=st.integers(1, 3),
    named=st.sampled_from(NAMED),
    by=whose,
    told=st.booleans(),
)
def test_one_token(fetch, seed, count, named, by, told):
    """Shares and concentration of one, whatever it is called, or of all."""
    wallets, held, whole = both(fetch, seed, count)
    own = {"by": by, "wallets": wallets if told else None, **named}
    same(outcome(lambda: held.wf.share(**own)), outcome(lambda: whole.wf.share(**own)))
    found = outcome(lambda: held.wf.concentration(top=1, **own))
    same(found, outcome(lambda: whole.wf.concentration(top=1, **own)))


@settings(max_examples=40, deadline=None)
@given(
    fetch=fetches,
    seed=st.integers(0, 9),
    count=st.integers(1, 3),
    n=st.integers(0, 4),
    by=st.sampled_from(["wallet", "blockchain", ["wallet", "asset"], "token", "owner"]),
    told=st.booleans(),
)
def test_pivot(fetch, seed, count, n, by, told):
    """Of the foremost tokens, by their names among all."""
    wallets, held, whole = both(fetch, seed, count)
    own = {"by": by, "wallets": wallets if told else None}
    found, expected = (outcome(partial(frame.wf.pivot, n, **own)) for frame in (held, whole))
    same(found, expected)


FEW = [(("ETH", "0xAa"), [(TOKENS[0], 1, 0), (TOKENS[4], 2, 0)]), (("BSC", "0xaa"), "failed")]


@pytest.mark.parametrize("again", ["0xAa", "0XAA", " 0xaa"])
def test_wallet_in_two_partitions_is_refused(again):
    """It would be counted twice: the error names it, and gives what brings its rows together."""
    wallets, holdings = details_of(FEW)
    holdings["address"] = ["0xAa", again]
    held = dd.from_pandas(holdings, npartitions=2)
    assert held.npartitions == 2
    with pytest.raises(ArgumentError, match=r"1 wallet with.*'ETH\.0xAa' in 0 and 1") as found:
        held.wf.totals(wallets=wallets)
    call = str(found.value).rpartition("whatever its spelling: ")[2]
    together = eval(call, {"holdings": held})  # noqa: S307 - as a person runs it
    expected = holdings.wf.totals("wallet", wallets=wallets)
    pd.testing.assert_frame_equal(together.wf.totals("wallet", wallets=wallets), expected)


def test_wallets_may_be_in_partitions_or_a_whole_fetch():
    """Wherever they are; a wallet that is not among them is refused, as are other frames."""
    details = details_of(FEW)
    held = dd.from_pandas(details.holdings, npartitions=1)
    expected = details.wf.totals()
    for wallets in (dd.from_pandas(details.wallets, npartitions=2), details, tuple(details)):
        pd.testing.assert_frame_equal(held.wf.totals(wallets=wallets), expected)
    with pytest.raises(UnknownWalletError, match="ETH"):
        held.wf.totals(wallets=details.wallets[1:])
    with pytest.raises(ColumnsError, match="amount"):
        held.drop(columns="amount").wf.totals(wallets=details)
    with pytest.raises(SettingsError, match="by='snapshot' needs balances in memory"):
        held.wf.share("USDC", by="snapshot")
    with pytest.raises(ArgumentError, match="of type str"):
        held.wf.totals(wallets="wallets")


def test_one_token_of_all_who_hold_some():
    """Without the wallets, the rows alone count."""
    _, held, whole = both(FEW, 0, 2)
    pd.testing.assert_frame_equal(held.wf.concentration("USDC"), whole.wf.concentration("USDC"))
    pd.testing.assert_frame_equal(held.wf.concentration(), whole.wf.concentration())
