"""Values over time: each snapshot at the prices of its day, from any source."""

from contextlib import nullcontext
from datetime import date

import numpy as np
import pandas as pd
import pytest
from drawn_fetches import details_of

from walletframe.analysis import ParquetPrices, PriceHistorySource
from walletframe.analysis.valuation import value
from walletframe.errors import ColumnsError, PricesError, PricesWarning, SettingsError
from walletframe.pandas_versions import TEXT
from walletframe.settings.tables import read_table_defaults, set_table_defaults

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
LAST_DAY = r"1 of 3 snapshots has no value, because there are no prices for the day; .* 2026-01-31$"
ASSETS = pd.DataFrame({"asset": ["USDC"], "token_blockchain": ["ETH"], "token_address": ["0xa0"]})


def units(prices, history=HISTORY, **options):
    """Return the price of each row, as of its snapshot."""
    return value(history, prices, at="snapshot", **options)["unit_price"].to_numpy()


class Recorded:
    """A source that has the rows above, and records its requests."""

    def price_history(self, tokens, since, until):
        """Return the rows."""
        self.requested = (len(tokens), since, until)
        return DATED


@pytest.fixture(params=["a frame", "a CSV", "a Parquet file", "a folder", "a source"])
def prices(request, tmp_path):
    """Return the same prices in each form that has dates."""
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
    """The last price up to a snapshot's time is used, in every form; and none of another day."""
    with pytest.warns(PricesWarning, match=LAST_DAY):
        valued = HISTORY.wf.value(prices, at="snapshot")
    np.testing.assert_array_equal(valued["unit_price"], UNITS)
    assert valued["currency"].unique().tolist() == ["USD"]
    same = value(HISTORY.iloc[2:4], {("ETH", None): 3, ("ETH", "0xa0"): 5})
    assert valued["value"][2:4].tolist() == same["value"].tolist()


@pytest.mark.parametrize("order", [[5, 0, 3, 1, 4, 2], [0, 0, 1]])
def test_rows_may_be_in_any_order(order):
    """Each row keeps its own price, and its position."""
    rows = HISTORY.iloc[order].assign(
        snapshot=lambda frame: frame["snapshot"].dt.tz_convert("Asia/Tokyo")
    )
    with pytest.warns(PricesWarning, match=LAST_DAY) if 5 in order else nullcontext():
        result = value(rows, DATED, at="snapshot")
    np.testing.assert_array_equal(result["unit_price"], np.take(UNITS, order))
    assert result.index.tolist() == order


def test_a_source_gets_the_days_of_the_snapshots():
    """There is one request, for each token held."""
    source = Recorded()
    assert isinstance(source, PriceHistorySource)
    with pytest.warns(PricesWarning):
        units(source)
    assert source.requested == (2, date(2026, 1, 29), date(2026, 1, 31))
    assert len(units(source, HISTORY.head(0))) == 0


def test_options_of_a_folder_are_ignored(tmp_path):
    """A price is of the snapshot's day, for any `on` and `max_age_days`."""
    DATED.rename(columns=str.lower).to_parquet(tmp_path / "p.parquet")
    with pytest.warns(PricesWarning, match=LAST_DAY):
        result = units(ParquetPrices(tmp_path, on="2026-01-31", max_age_days=30))
    np.testing.assert_array_equal(result, UNITS)


def test_by_asset_and_by_symbol():
    """A token's own price of the day comes before its asset's."""
    of_assets = DATED.assign(
        asset=[None, None, "usdc", None],
        token_blockchain=["ETH", "ETH", None, "ETH"],
        token_address=[None, None, None, "0xa0"],
    )
    more = pd.DataFrame({"date": ["2026-01-29"], "asset": ["USDC"], "price": [1.0]})
    arguments = pd.concat(
        [of_assets.rename(columns={"Date": "date"}).drop(columns="currency"), more]
    )
    with pytest.warns(PricesWarning, match=LAST_DAY):
        result = units(arguments, assets=ASSETS)
    np.testing.assert_array_equal(result, [2, 1, 3, 5, NONE, NONE])
    own = arguments.assign(date=arguments["date"].replace("2026-01-30T13:00Z", "2026-01-30"))
    with pytest.warns(PricesWarning, match=LAST_DAY):
        np.testing.assert_array_equal(units(own, assets=ASSETS), [2, 1, 3, 7, NONE, NONE])
    symbols = pd.DataFrame({"symbol": ["USDC", "USDC"], "date": ["2026-01-30", "2026-01-31"]})
    with pytest.warns(PricesWarning, match="2026-01-29"):
        result = units(symbols.assign(price=[1, 2]), by_symbol=True)
    np.testing.assert_array_equal(result, [NONE, NONE, NONE, 1, NONE, 2])


def test_the_services_own_prices_are_of_each_snapshot():
    """A price sent by the service counts at the time of its snapshot."""
    sent = HISTORY.assign(price=[1, 2, 3, 4, 5, 6.5])
    np.testing.assert_array_equal(units(None, sent), [1, 2, 3, 4, 5, 6.5])


def test_unused_prices_are_reported(tmp_path):
    """A warning reports unheld tokens, days without a snapshot, and unused lines of a file."""
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
        ({("ETH", None): 1}, "snapshot", PricesError, "prices=… has no dates"),
        (object(), "snapshot", PricesError, "the method price_history"),
        (DATED.drop(columns="Date"), "snapshot", ColumnsError, "'date'"),
        (DATED.assign(Date=20260131), "snapshot", PricesError,
         "the column .date. must contain dates or text, but has the dtype int64"),
        (DATED.assign(Date="2026-01-31"), "snapshot", PricesError,
         "1: .*already has a price: see number 0"),
        (DATED.assign(Date=["2026-01-31", "", "soon", "2026-02-30"]), "snapshot", PricesError,
         "3 prices can't be used"),
        (DATED, None, PricesError, 'of several days, also pass at="snapshot"'),
        (DATED, "today", SettingsError, "'today'"),
    ],
    ids=["a mapping", "no source", "no dates", "numbers", "twice", "no days", "no at", "when"],
)  # fmt: skip
def test_unusable_dated_prices_are_refused(prices, at, error, text):
    """The error says whether something is missing or unreadable."""
    with pytest.raises(error, match=text):
        HISTORY.wf.value(prices, at=at)


def test_a_folder_with_a_bad_date_is_refused(tmp_path):
    """The error quotes the text."""
    DATED.assign(Date="2026-01-31 soon").rename(columns=str.lower).to_parquet(
        tmp_path / "p.parquet"
    )
    with pytest.raises(PricesError, match="'2026-01-31 soon' is not a date"):
        units(tmp_path)


def test_holdings_without_snapshots_are_refused():
    """There is no other column with a time."""
    with pytest.raises(ColumnsError, match="'snapshot'"):
        value(HOLDINGS, DATED, at="snapshot")


def test_prices_from_the_settings_value_each_snapshot(tmp_path, monkeypatch):
    """A dated file does, also before the service's prices; one without dates names the setting."""
    monkeypatch.chdir(tmp_path)
    DATED.to_csv("dated.csv", index=False)
    DATED.iloc[:1].drop(columns="Date").to_csv("today.csv", index=False)
    settings = tmp_path / "walletframe.toml"
    settings.write_text('prices = ["dated.csv", "service"]', encoding="utf-8")
    history = HISTORY.assign(price=9.0)
    valued = value(history, at="snapshot", currency="USD")
    assert valued["unit_price"].tolist() == [2, 9, 3, 5, 9, 9]
    settings.write_text('prices = ["today.csv", "service"]', encoding="utf-8")
    set_table_defaults(read_table_defaults(None, {}))
    with pytest.raises(ColumnsError, match=r"'date'(?s:.*)the setting `prices` is used"):
        value(history, at="snapshot")
    assert value(history, "service", at="snapshot")["unit_price"].eq(9).all()
