"""What tables count and leave out: the line below a table, its attrs, and `coverage`."""

import json
from dataclasses import asdict, replace

import pandas as pd
import pytest
from drawn_fetches import details_of
from test_assets import FAKE, ON_BASE, ON_ETH, TWIN

import walletframe as wf
from walletframe.frames.results import Coverage, ResultTable

ETHER = ("ETH", None, "ETH")
PARTS = [
    (("ETH", "0xa"), [(ON_ETH, 1_500_000, 6), (ETHER, 2 * 10**18, 18), (FAKE, 1, 78)]),
    (("BASE", "0xa"), [(ON_BASE, 2_000_001, 6), (FAKE, 10**30, 18)]),
    (("POLYGON", "0xb"), [(TWIN, 4 * 10**6, 6), (TWIN, 0, 6)]),
    (("ARBITRUM", "0xd"), "failed"),
]


@pytest.fixture
def details():
    """Return a fetch with failed, stale, unreadable and bridged parts."""
    fetch = details_of(PARTS)
    wallets = fetch.wallets.copy()
    wallets["source"] = wallets["source"].astype(object)
    wallets.loc[1, "source"] = "stale"
    return wf.WalletDetails(wallets, fetch.holdings)


ALL = Coverage(4, 3, 1, balances=7, amount_na=1, unpriced=0, filtered=0)


@pytest.mark.parametrize("name", ["totals", "pivot", "concentration", "overlap"])
def test_tables_of_everything_state_the_same(details, name):
    """The attrs are plain numbers and text, and the line below the rows says what is left out."""
    table = getattr(details.wf, name)()
    assert table.attrs["coverage"] == {**asdict(ALL), "rows": len(table)}
    assert json.loads(json.dumps(table.attrs)) == table.attrs
    line = "Not counted: 1 of 4 wallets, whose balances are unknown; 1 balance of unknown amount."
    assert repr(table).endswith(f"\n\n{line}")
    assert table._repr_html_().endswith(f"<p>{line}</p>")


def test_coverage_is_that_of_the_tables(details):
    """So is that of a folder."""
    assert details.wf.coverage() == ALL
    assert str(details.wf.coverage()) in repr(details.wf.totals())


def test_dropped_rows_are_filtered_out(details):
    """The service listed more balances than the holdings have."""
    few = wf.WalletDetails(details.wallets, details.holdings[details.holdings.symbol != "ETH"])
    assert few.wf.coverage() == replace(ALL, balances=6, filtered=1)
    assert "1 balance that were filtered out" not in str(few.wf.coverage())
    assert "; 1 filtered balance." in str(few.wf.coverage())


@pytest.mark.parametrize("name", ["share", "concentration"])
def test_bridged_versions_are_named(details, name):
    """Only contracts that are held count; with bridged=True, nothing is left out."""
    measure = getattr(details.wf, name)
    stated = measure("USDC").attrs["coverage"]
    assert (stated["bridged"], stated["bridged_amount"]) == (1, "4")
    assert (stated["balances"], stated["filtered"]) == (2, 0)
    assert "4 in 1 bridged version (bridged=True)" in repr(measure("USDC"))
    assert measure("USDC", bridged=True).attrs["coverage"]["bridged"] == 0
    assert measure(token=ON_ETH[:2]).attrs["coverage"]["bridged"] == 0


def test_values_without_a_price_are_counted(details):
    """They are counted in amounts, but not in values."""
    valued = details.wf.value({("ETH", None): 2}, currency="USD")
    assert valued.wf.coverage().unpriced == 5
    assert "the value of 5 balances without a price" in repr(valued.wf.totals())


def test_without_wallets_failures_are_not_known(details):
    """The line says so."""
    with pytest.warns(wf.errors.InputWarning):
        table = details.holdings.wf.totals()
    assert table.attrs["coverage"]["wallets_asked"] == 0
    assert "failed wallets, if there are any (pass wallets=…)" in repr(table)


def test_nothing_is_left_out():
    """The line counts everything."""
    one = details_of(PARTS[1:2])
    assert repr(one.wf.totals()).endswith("\n\nAll 2 balances of 1 wallet are counted.")


def test_operations_return_plain_frames(details):
    """A table whose rows were changed has no line."""
    table = details.wf.totals()
    assert type(table) is ResultTable
    for changed in (table.head(1), table.copy(), table.sort_values("amount"), table[["asset"]]):
        assert type(changed) is pd.DataFrame
    table.loc[len(table)] = table.loc[0]
    assert "Not counted" not in repr(table)
    assert "Not counted" not in table._repr_html_()


def test_options_of_pandas_are_kept(details):
    """Without HTML in notebooks, there is none."""
    with pd.option_context("display.notebook_repr_html", False):  # noqa: FBT003 - as pandas takes it
        assert details.wf.totals()._repr_html_() is None


def test_parquet_keeps_the_coverage(details, tmp_path):
    """The attrs are in the file."""
    table = details.wf.totals()
    table.drop(columns="amount").to_parquet(tmp_path / "totals.parquet")
    assert pd.read_parquet(tmp_path / "totals.parquet").attrs["coverage"] == table.attrs["coverage"]


def test_folders_state_the_same(tmp_path):
    """Also for one asset, whose rows alone are read."""
    wallets = [
        f"{chain}.0x{digit * 40}" for chain in ("ETH", "BASE", "ARBITRUM") for digit in "6cdf3"
    ]
    with wf.sandbox() as service, service.client(cache=False) as client:
        wf.fetch_to_parquet(wallets, tmp_path, client=client, on_failure="ignore")
    stored, held = wf.open_wallets(tmp_path).wf, wf.read_wallets(tmp_path).wf
    assert stored.coverage() == held.coverage()
    calls = [("totals",), ("pivot", 3), ("share", "USDC"), ("concentration",)]
    for name, *arguments in [*calls, ("concentration", "ETH")]:
        tables = [getattr(frame, name)(*arguments) for frame in (stored, held)]
        assert tables[0].attrs == tables[1].attrs
    filtered = [frame.without_spam().wf.share("USDC").attrs for frame in (stored, held)]
    assert filtered[0] == filtered[1]
    assert held.share("USDC").attrs["coverage"]["bridged"] == 1
