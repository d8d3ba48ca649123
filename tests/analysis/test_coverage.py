"""What tables count and leave out: the line below a table, its attrs, and `coverage`."""

import json
import re
from contextlib import nullcontext
from dataclasses import asdict, replace
from decimal import Decimal

import pandas as pd
import pytest
from drawn_fetches import details_of
from test_assets import FAKE, ON_BASE, ON_ETH, TWIN

import walletframe as wf
from walletframe.analysis.distribution import pivot
from walletframe.errors import FetchWarning
from walletframe.frames.results import Coverage, ResultTable, with_coverage

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


AS_OF = "2026-01-31 05:59 UTC"
ALL = Coverage(4, 3, 1, balances=7, amount_na=1, unpriced=0, filtered=0, as_of=AS_OF)


@pytest.mark.parametrize("name", ["totals", "pivot", "concentration", "overlap"])
def test_tables_of_everything_state_the_same(details, name):
    """The attrs are plain numbers and text, and the line below the rows says what is left out."""
    table = getattr(details.wf, name)()
    expected = ALL if name == "overlap" else replace(ALL, bridged_separate=1)
    assert table.attrs["coverage"] == {**asdict(expected), "rows": len(table)}
    assert json.loads(json.dumps(table.attrs)) == table.attrs
    line = (
        "Not counted: 1 of 4 wallets unknown; 1 balance of unknown amount. "
        f"1 wallet shows an older answer. As of {AS_OF}."
    )
    if name != "overlap":
        line += " 1 bridged version is listed separately (bridged=True adds it to its asset)."
    assert f"\n\n{line}\n" in f"{table!r}\n"
    assert f"<p>{line}</p>" in table._repr_html_()


def test_coverage_is_that_of_the_tables(details):
    """So is that of a folder."""
    assert details.wf.coverage() == ALL
    assert str(details.wf.coverage()) in repr(details.wf.totals())


@pytest.mark.parametrize(
    "write, as_of",
    [
        (lambda times: times.astype(str), AS_OF),
        (lambda times: times.dt.tz_localize(None), AS_OF),
        (lambda times: times.dt.tz_convert("Asia/Tokyo"), AS_OF),
        (lambda times: times.dt.strftime("%d.%m.%Y"), ""),
        (lambda times: times.isna(), ""),
        (lambda times: times.where(times.isna()), ""),
    ],
    ids=["text", "without a zone", "another zone", "other text", "no times", "missing"],
)
def test_times_may_come_from_a_file(details, write, as_of):
    """Times that can't be read, or are missing, leave out the time and nothing else."""
    wallets = details.wallets.assign(fetched_at=write(details.wallets["fetched_at"]))
    expected = replace(ALL, as_of=as_of)
    assert details.holdings.wf.coverage(wallets=wallets) == expected
    without = wallets.drop(columns="fetched_at")
    assert details.holdings.wf.coverage(wallets=without) == replace(ALL, as_of="")


def test_dropped_rows_are_filtered_out(details):
    """The service listed more balances than the holdings have."""
    few = wf.WalletDetails(details.wallets, details.holdings[details.holdings.symbol != "ETH"])
    assert few.wf.coverage() == replace(ALL, balances=6, filtered=1)
    assert "; 1 dropped balance. " in str(few.wf.coverage())


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


def test_separate_bridged_versions_are_counted(details):
    """Only in tables of assets: rows of tokens are separate anyway, and owners have no assets."""
    options = [
        {},
        {"by": ["asset", "wallet"]},
        {"bridged": True},
        {"by": "token"},
        {"by": "wallet"},
    ]
    tables = [details.wf.totals(**each) for each in options]
    assert [each.attrs["coverage"]["bridged_separate"] for each in tables] == [1, 1, 0, 0, 0]


def test_the_amount_of_bridged_versions_is_a_number(details):
    """Exact in the attrs, and with thousands separators in the line."""
    more = details.holdings.assign(amount=details.holdings["amount"] * 1000)
    table = wf.WalletDetails(details.wallets, more).wf.share("USDC")
    assert Decimal(table.attrs["coverage"]["bridged_amount"]) == 4000
    assert "Not counted: 4,000 in 1 bridged version" in repr(table)


def test_the_first_rows_of_totals_state_what_is_beyond(details):
    """A changed table has no line, and so have its first rows."""
    table = details.wf.totals()
    ranked = table.wf.top(1)
    stated = replace(ALL, balances=2, amount_na=0, beyond_limit=5, bridged_separate=1)
    held = int(ranked["balances"].sum()), int(ranked["amount_na"].sum())
    stated = replace(stated, balances=held[0], amount_na=held[1], beyond_limit=7 - held[0])
    assert ranked.attrs["coverage"] == {**asdict(stated), "rows": 1}
    assert "balances beyond the limit" in repr(ranked)
    assert "Not counted" not in repr(table.head(2).wf.top(1, by="holders"))


def test_answers_are_displayed_first(details):
    """After the groups come amount and value; in a script, no column is left out."""
    prices = {"USDC": 1_000_000}
    table = details.wf.value(prices, currency="USD").wf.totals(by=["asset", "wallet"])
    answers = ["asset", "blockchain", "address", "amount", "value", "currency"]
    with pd.option_context("display.max_columns", 0, "display.width", 80):
        text, ranked = repr(table), repr(table.head(3))
        counts = repr(details.wf.totals(by="wallet"))
    assert " ... " not in f"{text}{counts}"
    heads = [name for name in re.findall(r"[a-z]+", text) if name in answers]
    assert heads[: len(answers)] == answers
    assert re.search(r" \d,\d{3},\d{3}\.\d\d ", text)
    assert "e+" not in text
    assert "..." in ranked  # as pandas displays a DataFrame
    assert [*table.columns[:5]] == [*answers[:4], "contracts"]
    with pd.option_context("display.max_rows", 1, "display.large_repr", "info"):
        assert "Data columns" in repr(table)


def test_values_without_a_price_are_counted(details):
    """They are counted in amounts, but not in values."""
    valued = details.wf.value({("ETH", None): 2}, currency="USD")
    assert valued.wf.coverage().unpriced == 5
    assert "the value of 5 balances without a price" in repr(valued.wf.totals())


def test_without_wallets_failures_are_not_known(details, monkeypatch):
    """The line says so."""
    monkeypatch.setattr("walletframe.notice._warned", set())
    with pytest.warns(wf.errors.InputWarning):
        table = details.holdings.wf.totals()
    assert table.attrs["coverage"]["wallets_asked"] == 0
    assert "failed wallets, if any (pass wallets=…)" in repr(table)


def test_unknown_wallets_on_unlisted_blockchains_may_hold_any_token():
    """A misspelled name may mean any blockchain, so all tables count its unknown wallets."""
    fetch = details_of([
        (("ETH", "0xa"), [(ON_ETH, 5, 0)]),
        (("ETHERUM", "0xb"), "failed"),
        (("ETHERUM", "0xc"), [(("ETHERUM", "0xd", "NEW"), 1, 0)]),
        (("DASH", "Xa"), "failed"),
    ])  # fmt: skip
    totals = fetch.wf.totals().set_index("asset").loc["USDC"]
    assert (totals["wallets_ok"], totals["wallets_asked"]) == (1, 2)
    share = fetch.wf.share("USDC")
    assert share["address"].tolist() == ["0xa", "0xb"]
    notes = fetch.wf.plot.bar(asset="USDC").layout.meta["about"]
    changes = wf.history.compare(fetch, fetch, asset="USDC")
    for stated in (repr(share), repr(changes), repr(fetch.wf.concentration("USDC")), str(notes)):
        assert "1 of 2 wallets unknown" in stated
    changes = wf.history.compare(fetch, fetch, by="asset", asset="USDC")
    assert changes[["wallets_known", "wallets"]].to_numpy().tolist() == [[1, 2]]
    table = fetch.wf.pivot()  # noqa: PD010 - the accessor's method, not pandas's
    assert table["USDC"].isna().tolist() == [False, True, False, True]


def test_nothing_is_left_out():
    """The line counts everything."""
    one = details_of(PARTS[1:2])
    line = f"All 2 balances of 1 wallet are counted. As of {AS_OF}."
    assert f"\n\n{line}\n" in repr(one.wf.totals())


def test_operations_return_plain_frames(details):
    """A table whose rows were changed has no line."""
    table = details.wf.totals()
    assert type(table) is ResultTable
    for changed in (table.head(1), table.copy(), table.sort_values("amount"), table[["asset"]]):
        assert type(changed) is pd.DataFrame
    table.columns = ["balances"] * len(table.columns)
    assert "Not counted" not in repr(table)
    table = details.wf.totals()
    table.loc[len(table)] = table.loc[0]
    assert "Not counted" not in repr(table)
    assert "Not counted" not in table._repr_html_()


def test_few_columns_are_displayed(details):
    """Counts are left out, and so is what is 0 or the same for all rows; a line names them."""
    with pd.option_context("display.width", 200, "display.max_columns", 20):
        text, whole = repr(details.wf.totals()), repr(details_of(PARTS[1:2]).wf.totals())
        one_row = repr(details.wf.where(blockchain="ARBITRUM").wf.totals("blockchain"))
    completeness = ["amount_na", "wallets_ok", "wallets_stale", "wallets_asked"]
    assert text.split("\n")[0].split() == ["asset", "amount", "holders", *completeness]
    counts = "Columns not displayed: contracts, blockchains, balances"
    assert text.endswith(f"\nAmounts are rounded for display. {counts}.")
    assert one_row.split("\n")[0].split()[-2:] == ["wallets_ok", "wallets_asked"]
    assert whole.split("\n")[0].split() == ["asset", "amount", "holders"]
    assert whole.endswith(f"{counts}, amount_na, wallets_stale, wallets_ok, wallets_asked.")


def test_amounts_are_displayed_with_six_digits(details):
    """In text and in HTML; digits before the decimal point are never rounded."""
    amounts = ["123456789.987", "1234.56789", "900000", "0.000001234567", "-0.5", "0", None]
    table = details.wf.totals().head(0).reindex(range(7))
    table["amount"] = pd.array(amounts, dtype="amount")
    shown = with_coverage(table[["asset", "amount"]], ALL)
    for drawn in (repr(shown), shown._repr_html_()):
        for text in ("123,456,790", "1,234.57", "900,000", "0.00000123457", "-0.5", "NA"):
            assert text in drawn
        assert "987" not in drawn
    with pd.option_context("display.float_format", "{:.1f}".format):
        assert "123456789.987" in repr(shown)
        assert "rounded" not in repr(shown)
    assert shown["amount"][0] == Decimal("123456789.987")


def test_columns_are_formatted_if_others_are_cut(details):
    """Amounts have six digits, and shares are numbers, on both sides of the gap."""
    with pd.option_context("display.max_columns", 4):
        text = repr(details.wf.share("USDC"))
    assert " ... " in text
    assert "Amounts are rounded for display." in text


def test_assets_with_the_names_of_columns_are_displayed(details):
    """A pivot has a column for each of them."""
    table = pivot(details.holdings, wallets=details.wallets).rename(columns={"ETH": "balances"})
    assert "balances" in repr(with_coverage(table, ALL)).split("\n")[0]


def test_options_of_pandas_are_kept(details):
    """Without HTML in notebooks, there is none."""
    with pd.option_context("display.notebook_repr_html", False):  # noqa: FBT003 - pandas takes options and values by position
        assert details.wf.totals()._repr_html_() is None


def test_parquet_keeps_the_coverage(details, tmp_path):
    """The attrs are in the file."""
    table = details.wf.totals()
    table.drop(columns="amount").to_parquet(tmp_path / "totals.parquet")
    assert pd.read_parquet(tmp_path / "totals.parquet").attrs["coverage"] == table.attrs["coverage"]


@pytest.mark.parametrize("interrupted", [False, True])
def test_folders_state_the_same(tmp_path, interrupted):
    """Also for one asset, whose rows alone are read, and if wallets are not fetched yet."""
    wallets = [
        f"{chain}.0x{digit * 40}" for chain in ("ETH", "BASE", "ARBITRUM") for digit in "6cdf3"
    ]
    with wf.sandbox() as service, service.client(cache=False) as client:
        wf.fetch_to_parquet(wallets, tmp_path, client=client, on_failure="ignore")
        if interrupted:
            with pytest.raises(ZeroDivisionError):
                wf.fetch_to_parquet((1 / 0 for _ in wallets), tmp_path, client=client)
    with pytest.warns(FetchWarning) if interrupted else nullcontext():
        stored, held = wf.open_wallets(tmp_path), wf.read_wallets(tmp_path)
        listed = wf.read_wallets(tmp_path, wallets=wallets).wf.coverage()
    note = "Not counted: some wallets not fetched yet (the fetch has not finished); "
    line, missing = (
        "\nThe fetch has not finished, and lacks some wallets.\n",
        "some wallets" * interrupted,
    )
    assert all((line in repr(each)) is interrupted for each in (stored, held))
    report = wf.report(held, tmp_path / "report.md").read_text(encoding="utf-8")
    assert ("wallets not fetched yet" in report) is interrupted
    stored, held = stored.wf, held.wf
    assert stored.coverage() == held.coverage() == replace(listed, unfinished=missing)
    assert str(held.coverage()).startswith(note) is interrupted
    calls = [("totals",), ("pivot", 3), ("share", "USDC"), ("concentration",)]
    for name, *arguments in [*calls, ("concentration", "ETH")]:
        tables = [getattr(frame, name)(*arguments) for frame in (stored, held)]
        assert tables[0].attrs == tables[1].attrs
    valued = (frame.value(currency="USD").wf for frame in (stored, held))
    stored, held = (frame.without_spam(deny=[("ETH", None)]).wf for frame in valued)
    for name, *arguments in calls:
        tables = [getattr(frame, name)(*arguments) for frame in (stored, held)]
        assert tables[0].attrs == tables[1].attrs
    selected = [frame.where(asset="USDC", bridged=True).wf.coverage() for frame in (stored, held)]
    assert selected[0] == selected[1]
    reason = f"{selected[0].filtered} balances dropped as spam, or not selected"
    assert selected[0].filtered_reasons == reason  # the spam may be of other assets
    assert held.share("USDC").attrs["coverage"]["bridged"] == 1
    assert selected[0].unfinished == missing
