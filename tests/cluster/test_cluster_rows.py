"""Values, spam and joins in partitions equal pandas's on the same rows, to the last bit."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from addresses import whole
from drawn_fetches import TOKENS, details_of, fetches_of
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import outcome, same

import walletframe.dask  # noqa: F401 - registers ddf.wf
from walletframe.errors import (
    ArgumentError,
    ColumnsError,
    InputWarning,
    PricesError,
    SettingsError,
    SpamWarning,
)
from walletframe.pandas_versions import TEXT

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning",
    "ignore::DeprecationWarning",
    "ignore::walletframe.errors.PricesWarning",
    "ignore::walletframe.errors.SpamWarning",
)
UNKNOWN = [(None, None, "USDC"), (None, "0xa0", "claim at x.io"), ("eth", "0xA0", None)]
fetches = fetches_of(TOKENS + UNKNOWN)
drawn = {"fetch": fetches, "seed": st.integers(0, 9), "count": st.integers(1, 3)}


@pytest.fixture(autouse=True, scope="module")
def here():
    """Compute in this thread, with pandas's own text columns in Dask."""
    with dask.config.set({"scheduler": "sync", "dataframe.convert-string": False}):
        yield


def parts_of(frame, codes, seed, count):
    """Partition rows by code."""
    draw = np.random.default_rng(seed)
    owners = draw.integers(0, count, codes.max(initial=-1) + 1)[codes]
    return dd.from_map(lambda number: frame[owners == number], range(count), meta=frame[:0])


def both(fetch, seed, count):
    """Return wallets, partitions of holdings, some priced by the service, and pandas's frame."""
    wallets, holdings = details_of(fetch)
    numbers = np.arange(len(holdings))
    priced = holdings.assign(price=np.where(numbers % 3, np.nan, numbers / 7))
    codes, _ = pd.factorize(holdings["blockchain"] + "." + holdings["address"].str.lower())
    held = parts_of(priced, codes, seed, count)
    return wallets, held, held.compute()


PRICES = [
    {},
    {"prices": [{("ETH", "0xa0"): 2}, "service", {("ETH", None): 3}]},
    {"prices": {("ETH", "0xa0"): 1 / 3, ("SOLANA", "EPjF"): 7, ("ETH", None): 1e300}},
    {"prices": {"ETH": 0.1, "NA": 2}, "by_symbol": True, "currency": "EUR"},
    {"prices": {"USDC": 1.1}, "bridged": True},
]


@settings(max_examples=40, deadline=None)
@given(**drawn, prices=st.sampled_from(PRICES))
def test_values(fetch, seed, count, prices):
    """Prices of tokens, symbols, assets, or the service; and sums of values."""
    wallets, held, whole = both(fetch, seed, count)
    result, expected = (outcome(lambda f=f: f.wf.value(**prices)) for f in (held, whole))
    same(result, expected)
    if isinstance(expected, pd.DataFrame):
        for by in ("wallet", ["asset", "blockchain"]):
            requested = {"by": by, "wallets": wallets}
            same(result.wf.totals(**requested), expected.wf.totals(**requested))


SCAM = ("SOLANA", "epjf")


@settings(max_examples=40, deadline=None)
@given(**drawn, deny=st.booleans())
def test_spam(fetch, seed, count, deny):
    """A token is judged by all partitions, an unknown one by its row."""
    wallets, held, whole = both(fetch, seed, count)
    own = {"deny": [SCAM] if deny else None, "threshold": 0.3}
    result, expected = (frame.wf.flag_spam(**own) for frame in (held, whole))
    same(result, expected)
    same(result.partitions[-1], result.compute()[len(result) - len(result.partitions[-1]) :])
    requested = {"by": ["is_spam", "token"], "wallets": wallets}
    same(result.wf.totals(**requested), expected.wf.totals(**requested))
    same(held.wf.without_spam(**own), whole.wf.without_spam(**own))
    same(held.wf.without_spam(**own).wf.without_spam(), whole.wf.without_spam(**own))
    same(result.wf.without_spam(), expected.wf.without_spam())
    explained = held.wf.explain_spam(everything=True, **own)
    same(explained, whole.wf.explain_spam(everything=True, **own))


FETCH = [
    (("ETH", whole("Aa")), [(TOKENS[0], 1, 0), (TOKENS[7], 2, 0)]),
    (("BSC", whole("aa")), "failed"),
]


def test_unusable_prices_are_refused():
    """By their positions among all rows."""
    holdings = details_of(FETCH).holdings.assign(price=[1.0, -1.0])
    with pytest.raises(PricesError) as caught:
        dd.from_pandas(holdings, npartitions=2).wf.value()
    assert caught.value.problems[0][0] == 1
    with pytest.raises(ColumnsError, match="price"):
        dd.from_pandas(holdings.drop(columns="price"), npartitions=2).wf.value()


def test_another_valuation_replaces_the_sources_of_prices():
    """A list of prices has the column price_source, and other prices don't."""
    holdings = details_of([(("ETH", "0xa"), [(TOKENS[0], 1, 0)])]).holdings
    held = dd.from_pandas(holdings.assign(price=1.0), npartitions=1).wf.value(["service"])
    assert held.compute()["price_source"].tolist() == ["service"]
    assert "price_source" not in held.wf.value("service").compute()


def test_currencies_are_never_added():
    """In any partitions."""
    wallets, holdings = details_of([FETCH[0], (("NEAR", "alice.near"), FETCH[0][1])])
    valued = holdings.assign(value=1.0, currency=["USD", "USD", "EUR", "EUR"])
    with pytest.raises(PricesError, match="2 currencies"):
        dd.from_pandas(valued, npartitions=2).wf.totals(wallets=wallets)


def test_dropped_rows_are_reported():
    """Rows of all partitions are counted together; bad lists are refused before any computation."""
    held = dd.from_pandas(details_of(FETCH).holdings, npartitions=2)
    with pytest.warns(SpamWarning, match="2 rows of 2 tokens"):
        held.wf.without_spam(deny=[TOKENS[0][:2], TOKENS[7][:2]])
    valued = held.wf.value({TOKENS[0][:2]: 3, TOKENS[7][:2]: 4}, currency="USD")
    kept = valued.wf.without_spam(deny=[TOKENS[0][:2]], allow=[TOKENS[7][:2]])
    for each in (kept, kept.compute()):
        assert "Not counted: 1 spam balance (3.00 USD);" in str(each.wf.coverage())
    assert "spam" not in str(kept[kept["amount"] > 2].wf.coverage())  # other rows are absent, too
    own = held.assign(is_spam=held["amount"] > 1).wf.without_spam().compute()
    assert own["amount"].astype(int).tolist() == [1]
    in_two = valued.assign(currency=valued["address"])  # the values are never added
    in_two.wf.without_spam()
    with pytest.raises(SettingsError, match="threshold"):
        held.wf.explain_spam(threshold=2)
    with pytest.raises(ColumnsError, match="raw_amount"):
        held.drop(columns="raw_amount").wf.flag_spam()


MINE = pd.DataFrame(
    {
        "name": ["a", "b", "c", "d", "e"],
        "wallet": [
            f"eth.{whole('AA')}",
            f" BSC.{whole('aa')} ",
            "nothing",
            f"ETH.{whole('dd')}",
            f"ETH.{whole('aa')}",
        ],
        "status": range(5),
    }
).astype({"wallet": TEXT, "name": TEXT})


@pytest.mark.filterwarnings("ignore::walletframe.errors.InputWarning")
@pytest.mark.parametrize("how", ["left", "inner", "right", "outer"])
@pytest.mark.parametrize("parts", [0, 1, 3])
def test_join(how, parts):
    """Rows of one wallet are joined from any partitions."""
    details = details_of(FETCH)
    mine = dd.from_pandas(MINE, npartitions=2)
    for frame in details:
        other = dd.from_pandas(frame, npartitions=parts) if parts else frame
        result = mine.wf.join(other, how, on="wallet")
        expected = MINE.wf.join(frame, how, on="wallet")
        assert result.dtypes.to_dict() == expected.dtypes.to_dict()
        order = ["name", "blockchain", "address", *expected.columns.intersection(["symbol"])]
        result, expected = (
            each.sort_values(order, kind="stable").reset_index(drop=True)
            for each in (result.compute(), expected)
        )
        pd.testing.assert_frame_equal(result, expected)


def test_a_wallet_in_several_rows_is_stated():
    """In any partitions. The wallets of the balances are only computed if one is repeated."""
    frame, computed = details_of(FETCH).holdings, []

    def read(number):
        computed.append(number)
        return frame

    def join(rows, other):
        dd.from_pandas(rows, npartitions=2).wf.join(other, on="wallet")

    for other in (frame, dd.from_map(read, [0], meta=frame[:0])):
        with pytest.warns(InputWarning, match="^1 wallet is in several rows of your table, so"):
            join(MINE, other)
        join(MINE.iloc[[3, 3]], other)  # no row has this wallet
        computed.clear()
        join(MINE.head(4), other)
        assert not computed


def test_join_of_two_columns_keeps_rows_in_order():
    """The user's table with a frame in memory."""
    wallets = details_of(FETCH).wallets
    mine = pd.DataFrame(
        {"address": [whole("AA"), whole("aa")], "blockchain": ["eth", "bsc"]}
    ).astype(TEXT)
    result = dd.from_pandas(mine, npartitions=2).wf.join(wallets).compute().reset_index(drop=True)
    pd.testing.assert_frame_equal(result, mine.wf.join(wallets))
    theirs = mine.set_axis(["walletAddress", "blockChain"], axis=1)
    again = dd.from_pandas(theirs, npartitions=2).wf.join(wallets).compute()
    pd.testing.assert_frame_equal(again.reset_index(drop=True), result)


def test_other_joins_are_refused():
    """At once, and not on a worker."""
    mine, wallets = dd.from_pandas(MINE, npartitions=2), details_of(FETCH).wallets
    with pytest.raises(ColumnsError, match="on="):
        mine.wf.join(wallets)
    with pytest.raises(SettingsError, match="how"):
        mine.wf.join(wallets, "both", on="wallet")
    with pytest.raises(ArgumentError, match="a join with an object of type str is not supported"):
        mine.wf.join("wallets", on="wallet")
