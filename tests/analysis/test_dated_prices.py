"""Values over time: each snapshot at the prices of its day, from wherever they are."""

from contextlib import nullcontext
from datetime import date

import numpy as np
import pandas as pd
import pytest
from drawn_fetches import details_of

from walletframe.analysis import ParquetPrices, PriceHistory
from walletframe.analysis.valuation import value
from walletframe.errors import ColumnsError, PricesError, PricesWarning, SettingsError
from walletframe.pandas_versions import TEXT

HELD = [(("ETH", None, "ETH"), 25, 1), (("ETH", "0xA0", "USDC"), 3, 0)]
HOLDINGS = details_of([(("ETH", "0x01"), HELD)]).holdings
TIMES = [pd.Timestamp(f"2026-01-{day}T12:00Z") for day in (29, 30, 31)]
HISTORY = pd.concat([HOLDINGS.assign(snapshot=time) for time in TIMES], ignore_index=True)
DATED = pd.DataFrame(
    {
        "Date": ["2026-01-30", "2026-01-29", "2026-01-30T11:00Z", "2026-01-30T13:00Z"],
        "token_blockchain": "ETH",
        "token_address": [None, None, "0xa0", "0xa0"],
        "price": [3.0, 2.0, 5.0, 7.0],
        "currency": "USD",
    }
).astype({"token_address": TEXT})
NONE = np.nan
UNITS = [2, NONE, 3, 5, NONE, NONE]  # of ether and dollars, three times
LAST_DAY = r"1 of 3 snapshots has no value: there is no price of the day; .* 2026-01-31$"
ASSETS = pd.DataFrame({"asset": ["USDC"], "token_blockchain": ["ETH"], "token_address": ["0xa0"]})


def units(prices, history=HISTORY, **options):
    """Give the price of each row, as of its snapshot."""
    return value(history, prices, at="snapshot", **options)["unit_price"].to_numpy()


class Recorded:
    """A source that has the rows above, and remembers what it was asked for."""

    def price_history(self, tokens, since, until):
        """Give what it has."""
        self.asked = (len(tokens), since, until)
        return DATED


@pytest.fixture(params=["a frame", "a CSV", "a Parquet file", "a folder", "a source"])
def prices(request, tmp_path):
    """Give the same prices in each form that has dates."""
    path = tmp_path / {"a CSV": "p.csv", "a folder": "q.parquet"}.get(request.param, "p.parquet")
    match request.param:
        case "a frame":
            return DATED
        case "a source":
            return Recorded()
        case "a CSV":
            DATED.to_csv(path, index=False)
        case _:
            DATED.rename(columns=str.lower).to_parquet(path)
    return tmp_path if request.param == "a folder" else str(path)


def test_each_snapshot_has_the_prices_of_its_day(prices):
    """The last up to its time, of whatever form; and no price of another day."""
    with pytest.warns(PricesWarning, match=LAST_DAY):
        valued = HISTORY.wf.value(prices, at="snapshot")
    np.testing.assert_array_equal(valued["unit_price"], UNITS)
    assert valued["currency"].unique().tolist() == ["USD"]
    same = value(HISTORY.iloc[2:4], {("ETH", None): 3, ("ETH", "0xa0"): 5})
    assert valued["value"][2:4].tolist() == same["value"].tolist()


@pytest.mark.parametrize("order", [[5, 0, 3, 1, 4, 2], [0, 0, 1]])
def test_rows_may_be_in_any_order(order):
    """Each keeps its own price, and its place."""
    rows = HISTORY.iloc[order].assign(
        snapshot=lambda frame: frame["snapshot"].dt.tz_convert("Asia/Tokyo")
    )
    with pytest.warns(PricesWarning, match=LAST_DAY) if 5 in order else nullcontext():
        found = value(rows, DATED, at="snapshot")
    np.testing.assert_array_equal(found["unit_price"], np.take(UNITS, order))
    assert found.index.tolist() == order


def test_a_source_is_asked_for_the_days_of_the_snapshots():
    """Once, for each token held."""
    source = Recorded()
    assert isinstance(source, PriceHistory)
    with pytest.warns(PricesWarning):
        units(source)
    assert source.asked == (2, date(2026, 1, 29), date(2026, 1, 31))
    assert len(units(source, HISTORY.head(0))) == 0


def test_the_day_of_a_folder_does_not_matter_here(tmp_path):
    """Nor how old a price may be elsewhere: it is of the snapshot's day or of none."""
    DATED.rename(columns=str.lower).to_parquet(tmp_path / "p.parquet")
    with pytest.warns(PricesWarning, match=LAST_DAY):
        found = units(ParquetPrices(tmp_path, on="2026-01-31", max_age_days=30))
    np.testing.assert_array_equal(found, UNITS)


def test_by_asset_and_by_symbol():
    """A token's own price of the day comes before its asset's."""
    of_assets = DATED.assign(
        asset=[None, None, "usdc", None],
        token_blockchain=["ETH", "ETH", None, "ETH"],
        token_address=[None, None, None, "0xa0"],
    )
    more = pd.DataFrame({"date": ["2026-01-29"], "asset": ["USDC"], "price": [1.0]})
    given = pd.concat([of_assets.rename(columns={"Date": "date"}).drop(columns="currency"), more])
    with pytest.warns(PricesWarning, match=LAST_DAY):
        found = units(given, assets=ASSETS)
    np.testing.assert_array_equal(found, [2, 1, 3, 5, NONE, NONE])
    own = given.assign(date=given["date"].replace("2026-01-30T13:00Z", "2026-01-30"))
    with pytest.warns(PricesWarning, match=LAST_DAY):
        np.testing.assert_array_equal(units(own, assets=ASSETS), [2, 1, 3, 7, NONE, NONE])
    symbols = pd.DataFrame({"symbol": ["USDC", "USDC"], "date": ["2026-01-30", "2026-01-31"]})
    with pytest.warns(PricesWarning, match="2026-01-29"):
        found = units(symbols.assign(price=[1, 2]), by_symbol=True)
    np.testing.assert_array_equal(found, [NONE, NONE, NONE, 1, NONE, 2])


def test_the_services_own_prices_are_of_each_snapshot():
    """Of the time at which they were sent."""
    sent = HISTORY.assign(price=[1, 2, 3, 4, 5, 6.5])
    np.testing.assert_array_equal(units(None, sent), [1, 2, 3, 4, 5, 6.5])


def test_prices_of_other_tokens_or_of_other_days_are_told(tmp_path):
    """None for any token held; for some, but of no snapshot's day; lines of a file for nothing."""
    with pytest.warns(PricesWarning, match="no price matches a token in .*4 prices given"):
        units(DATED.assign(token_blockchain="BSC"))
    with pytest.warns(PricesWarning, match="3 of 3 snapshots have no value.* 2026-01-29$"):
        units(DATED.assign(Date="2025-01-31", token_address=["", "0xa0", "0xa1", "0xa2"]))
    DATED.assign(token_address=["", "", "0xa0", "0xb0"]).to_csv(tmp_path / "p.csv", index=False)
    with pytest.warns(PricesWarning) as caught:
        units(tmp_path / "p.csv")
    assert str(caught[0].message).splitlines()[1:] == ["  5: ('ETH', '0xb0')"]
    assert len(caught) == 2


@pytest.mark.parametrize(
    "prices,at,error,text",
    [
        ({("ETH", None): 1}, "snapshot", PricesError, "need their dates"),
        (object(), "snapshot", PricesError, "the method price_history"),
        (DATED.drop(columns="Date"), "snapshot", ColumnsError, "'date'"),
        (DATED.assign(Date=20260131), "snapshot", PricesError, "date is int64"),
        (DATED.assign(Date="2026-01-31"), "snapshot", PricesError, "1: .*is priced already, at 0"),
        (DATED.assign(Date=["2026-01-31", "", "soon", "2026-02-30"]), "snapshot", PricesError,
         "3 prices can't be used"),
        (DATED, None, PricesError, 'of several days are for at="snapshot"'),
        (DATED, "today", SettingsError, "'today'"),
    ],
    ids=["a mapping", "no source", "no dates", "numbers", "twice", "no days", "no at", "when"],
)  # fmt: skip
def test_dated_prices_that_can_not_be_used_are_told(prices, at, error, text):
    """What is missing, or can't be read."""
    with pytest.raises(error, match=text):
        HISTORY.wf.value(prices, at=at)


def test_a_folder_with_what_is_no_date(tmp_path):
    """Is refused, and says which."""
    DATED.assign(Date="2026-01-31 soon").rename(columns=str.lower).to_parquet(
        tmp_path / "p.parquet"
    )
    with pytest.raises(PricesError, match="'2026-01-31 soon' is not a date"):
        units(tmp_path)


def test_holdings_without_snapshots_are_refused():
    """Since nothing tells the time."""
    with pytest.raises(ColumnsError, match="'snapshot'"):
        value(HOLDINGS, DATED, at="snapshot")
