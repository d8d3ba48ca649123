"""Files of prices, by contract or asset, and folders of daily ones."""

import warnings
from datetime import date

import numpy as np
import pandas as pd
import pytest
from drawn_fetches import details_of

from walletframe.analysis import ParquetPrices, PriceHistorySource, PriceSource
from walletframe.analysis.valuation import value
from walletframe.errors import (
    POSITIONS_NOTE,
    ColumnsError,
    PricesError,
    PricesWarning,
    SettingsError,
    TokenListError,
)
from walletframe.exports import to_csv

ETHER = ("ETH", None, "ETH")
USDC = ("ETH", "0xA0", "USDC")
ON_BASE = ("BASE", "0xB0", "USDC")
TWIN = ("BASE", "0xB1", "USDbC")
SPAM = ("BSC", "0xbad", "=1+1")
HELD = [(ETHER, 25, 1), (USDC, 3, 0), (ON_BASE, 4, 0), (TWIN, 5, 0), (SPAM, 7, 0)]
HOLDINGS = details_of([(("ETH", "0x01"), HELD)]).holdings
ASSETS = pd.DataFrame(
    {
        "asset": ["ETH", "USDC", "USDC", "USDC", "DAI"],
        "token_blockchain": ["ETH", "ETH", "BASE", "BASE", "ETH"],
        "token_address": [None, "0xa0", "0xb0", "0xb1", "0xda"],
        "symbol": ["ETH", "USDC", "USDC", "USDbC", "DAI"],
        "kind": ["native", "canonical", "canonical", "bridged", "canonical"],
    }
)
NONE = np.nan


def units(prices, **options):
    """Return the price of each row."""
    return value(HOLDINGS, prices, **options)["unit_price"].tolist()


def test_people_s_spellings_of_heads_and_cells(tmp_path):
    """Spaces around text are ignored, and so is the case where it means nothing."""
    path = tmp_path / "p.csv"
    path.write_text(
        " Blockchain ,CONTRACT\t,Price , Currency\n eth ,, 2500 ,USD\nEth,\xa00XA0 ,1,USD \n"
    )
    valued = value(HOLDINGS, path)
    np.testing.assert_array_equal(valued["unit_price"], [2500, 1, NONE, NONE, NONE])
    assert valued["currency"].unique().tolist() == ["USD"]
    frame = pd.DataFrame({"Symbol ": ["USDbC"], "PRICE": [1]})
    assert units(frame, by_symbol=True)[3] == 1


def test_two_columns_of_one_name_are_refused():
    """One exact spelling among them is used."""
    twice = pd.DataFrame({"blockchain": ["ETH"], "contract": [None], "Price": [1], "PRICE ": [2]})
    with pytest.raises(PricesError, match="the prices have several columns with the name 'price'"):
        value(HOLDINGS, twice)
    assert units(twice.assign(price=3))[0] == 3
    with pytest.raises(PricesError, match="'price'"):
        value(HOLDINGS, twice.set_axis(["blockchain", "contract", "price", "price"], axis=1))


def test_unmatched_lines_are_reported(tmp_path):
    """By the line number of an editor, with the probable blockchain, if any."""
    path = tmp_path / "p.csv"
    path.write_text(
        'note,blockchain,contract,price\n"two\nlines",ETH,,2500\n\n,BSC,0xA0,1\n,SUI,,3\n'
    )
    with pytest.warns(PricesWarning) as caught:
        assert units(path)[:2] == [2500, pytest.approx(NONE, nan_ok=True)]
    assert str(caught[0].message).splitlines() == [
        "2 of 3 prices match no token in these holdings (listed by line number in p.csv):",
        "  5: ('BSC', '0xa0'), but this contract is held on ETH",
        "  6: ('SUI', None)",
    ]
    assert caught[0].filename == __file__


def test_ten_unmatched_lines_are_reported(tmp_path):
    """Rows of a Parquet file are numbered, too; the rest is counted."""
    others = [("ETH", f"0x{number:x}") for number in range(1, 31)]
    rows = pd.DataFrame([("ETH", "0xA0"), *others], columns=["blockchain", "contract"])
    rows.assign(price=1).to_parquet(tmp_path / "p.parquet")
    with pytest.warns(
        PricesWarning,
        match="30 of 31 prices match .*listed by row number in p.parquet, counted from 0",
    ) as it:
        value(HOLDINGS, tmp_path / "p.parquet")
    lines = str(it[0].message).splitlines()
    assert len(lines) == 12
    assert lines[1] == "  1: ('ETH', '0x1')"
    assert lines[-1] == "  … and 20 more"


def test_unheld_symbols_of_a_file_are_reported(tmp_path):
    """They are escaped, since anyone may have written them."""
    (tmp_path / "p.csv").write_text("symbol,price\nETH,1\n\x1b[31mEVIL\u202e,2\n", encoding="utf-8")
    with pytest.warns(PricesWarning, match=r"3: '\[31mEVIL'$"):
        value(HOLDINGS, tmp_path / "p.csv", by_symbol=True)


def test_bad_prices_of_a_file_are_reported_by_line(tmp_path):
    """The line numbers are those of unmatched lines."""
    path = tmp_path / "p.csv"
    path.write_text("blockchain,contract,price\nETH,,1\n\nETH,0xa0,x\nETH,,2\n")
    with pytest.raises(PricesError, match=r"listed by line number in p\.csv") as caught:
        value(HOLDINGS, path)
    assert [place for place, _, _ in caught.value.problems] == [4, 5]
    assert "already has a price: see number 2" in str(caught.value)
    path.write_text("blockchain,contract,price\nETH,,1,000\n")
    with pytest.raises(PricesError, match="line 2 has 4 cells, but the header has 3"):
        value(HOLDINGS, path)
    path.write_text("price,blockchain,contract\n2500,ETH\n")
    assert units(path)[0] == 2500


def test_our_own_csv_is_read_back(tmp_path):
    """Text that was escaped for spreadsheets is the symbol again."""
    prices = pd.DataFrame({"symbol": ["=1+1", "ETH"], "price": [0.5, 2500.25]})
    to_csv(prices, tmp_path / "p.csv")
    assert "'=1+1" in (tmp_path / "p.csv").read_text()
    assert units(tmp_path / "p.csv", by_symbol=True)[4] == 0.5


@pytest.mark.parametrize(
    "prices",
    [
        {"usdc ": 1, "ETH": 2500},
        pd.Series({"USDC": 1, "eth": 2500}),
        pd.DataFrame({" Asset": ["USDC", None, "Eth"], "price": [1, None, 2500]}),
        pd.DataFrame(
            {"asset": ["USDC", None], "blockchain": [None, "ETH"], "contract": None}
        ).assign(price=[1, 2500]),
    ],
    ids=["a mapping", "a Series", "a frame", "a frame with contracts, too"],
)
def test_prices_by_asset(prices):
    """A price holds on every blockchain, but for bridged tokens only on request."""
    np.testing.assert_array_equal(units(prices, assets=ASSETS), [2500, 1, 1, NONE, NONE])
    np.testing.assert_array_equal(units(prices, assets=ASSETS, bridged=True), [2500, 1, 1, 1, NONE])


def test_a_tokens_own_price_comes_before_its_assets():
    """A token's own price comes first in any order of the prices."""
    own = {("BASE", "0xB0"): 0.99, "USDC": 1, ("BASE", "0xb1"): 0.98}
    assert units(own, assets=ASSETS.drop(columns="kind"))[1:4] == [1, 0.99, 0.98]


def test_bridged_versions_at_another_price_are_reported_once(monkeypatch):
    """Not if they get the asset's price, their own, or none."""
    monkeypatch.setattr("walletframe.notice._warned", set())
    others, own = {("BASE", "0xb1"): 0.9}, {"usdc": 1, ("BASE", "0xb1"): 0.98}
    with warnings.catch_warnings(record=True, action="always") as caught:
        assert units([own, others], assets=ASSETS)[3] == 0.98
        assert units([{"usdc": 1}, others], assets=ASSETS, bridged=True)[3] == 1
        units({"usdc": 1}, assets=ASSETS)
        assert not caught
        assert units([{"usdc": 1}, others], assets=ASSETS)[1:4] == [1, 1, 0.9]
        units([{"usdc": 1}, others], assets=ASSETS)
    [warning] = caught
    assert str(warning.message) == (
        "the price of USDC in your list is not used for 1 bridged version, which may get another "
        "price; pass bridged=True to value an asset and its bridged versions at one price"
    )


def test_unmatched_assets_are_reported(tmp_path):
    """Unheld assets of a file are reported, and unlisted ones of any form."""
    (tmp_path / "p.csv").write_text("asset,price\nUSDC,1\nDAI,1\nUSDX,1\n")
    with pytest.warns(PricesWarning) as caught:
        value(HOLDINGS, tmp_path / "p.csv", assets=ASSETS)
    assert str(caught[0].message).splitlines()[1:] == [
        "  3: 'DAI'",
        "  4: 'USDX' is not a known asset",
    ]
    with pytest.warns(PricesWarning, match="1 of 3 prices matches .*\n  2: 'USDX' is not a known"):
        value(HOLDINGS, {"USDC": 1, "DAI": 1, "USDX": 1}, assets=ASSETS)


def test_unknown_assets_in_a_list_are_reported(tmp_path):
    """Another entry's price would hide the typo; an asset that is only not held is no typo."""
    (tmp_path / "p.csv").write_text("asset,price\nDAI,1\n ETHH ,3000\n")
    prices = [tmp_path / "p.csv", {"usdc": 1}, {"Usdx": 1}]
    with pytest.warns(PricesWarning) as caught:
        value(HOLDINGS, prices, assets=ASSETS, bridged=True)
    assert [str(each.message).splitlines() for each in caught] == [
        [
            "1 of 2 prices matches no known asset (listed by line number in p.csv):",
            "  3: 'ETHH' is not a known asset",
        ],
        [
            f"1 of 1 price matches no known asset ({POSITIONS_NOTE}):",
            "  0: 'Usdx' is not a known asset",
        ],
    ]
    symbols = [{"ETHH": 1}, {"ETH": 2}]
    assert units(symbols, by_symbol=True)[0] == 2


def test_the_packaged_assets_are_known_without_a_list():
    """Assets are known in any of their spellings; bridged tokens on request."""
    usdc, ether = "0xa0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", None
    held = [(("ETH", usdc, "USDC"), 1, 0), (("BASE", ether, "ETH"), 2, 0)]
    weth = ("ETH", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "WETH")
    holdings = details_of([(("ETH", "0x01"), [*held, (weth, 3, 0)])]).holdings
    prices = {"usdc": 1, "ETH": 2500}
    assert value(holdings, prices)["unit_price"].tolist()[:2] == [1, 2500]
    assert value(holdings, prices, bridged=True)["unit_price"].tolist() == [1, 2500, 2500]
    own = pd.DataFrame({"asset": ["USDC"], "token_blockchain": "ETH", "token_address": [weth[1]]})
    assert value(holdings, {"USDC": 7}, assets=own)["unit_price"].tolist()[2] == 7


def test_assets_that_contradict_are_refused():
    """One token in two assets, names that differ by case, and other non-names are refused."""
    both = pd.concat([ASSETS, ASSETS.head(1).assign(asset="Ether")])
    with pytest.raises(TokenListError, match=r"5: .* row 0 lists it as native ETH"):
        value(HOLDINGS, {"USDC": 1}, assets=both)
    with pytest.raises(PricesError, match="already has a price: see number 0"):
        value(HOLDINGS, {"USDC": 1, "usdc": 2})
    for wrong in ({"assets": ASSETS}, {"bridged": True}):
        with pytest.raises(SettingsError, match="by_symbol=True can't be combined"):
            value(HOLDINGS, {"USDC": 1}, by_symbol=True, **wrong)
    with pytest.raises(PricesError, match=r"the key ' ' is .* nor the name of an asset"):
        value(HOLDINGS, {" ": 1})


def daily(folder, days, prices, **columns):
    """Write the prices of ether and of dollars of some days."""
    tokens = {"token_blockchain": ["ETH", "eth"], "token_address": [None, "0xA0"]}
    frames = [
        pd.DataFrame(tokens).assign(date=day, price=[of, 1.0])
        for day, of in zip(days, prices, strict=True)
    ]
    pd.concat(frames).assign(**columns).to_parquet(folder)


DAYS = ["2026-01-29", "2026-01-30", "2026-01-31"]


@pytest.mark.parametrize(
    "days",
    [
        DAYS,
        [date.fromisoformat(day) for day in DAYS],
        [pd.Timestamp(day) + pd.Timedelta("5h") for day in DAYS],
        [pd.Timestamp(f"{day}T23:30", tz="UTC").tz_convert("America/New_York") for day in DAYS],
        [f"{day}T12:00:00Z" for day in DAYS],
    ],
    ids=["text", "days", "times", "times of another zone", "texts of times"],
)
def test_prices_of_a_day(tmp_path, days):
    """The last price up to the day, in UTC, or the newest without a day."""
    daily(tmp_path / "p.parquet", days, [2300.0, 2400.0, 2500.0], currency="USD")
    source = ParquetPrices(tmp_path)
    assert isinstance(source, PriceSource)
    assert isinstance(source, PriceHistorySource)
    assert units(source)[:2] == [2500, 1]
    assert units(ParquetPrices(tmp_path, on="2026-01-30"))[:2] == [2400, 1]
    assert units(ParquetPrices(tmp_path, on=date(2026, 2, 3)))[0] == 2500
    assert value(HOLDINGS, str(tmp_path))["currency"].unique().tolist() == ["USD"]
    result = source.price_history(HOLDINGS, date(2026, 1, 29), date(2026, 1, 30))
    assert result["date"].dt.strftime("%Y-%m-%d").unique().tolist() == DAYS[:2]
    assert result.columns.tolist() == [
        "token_blockchain",
        "token_address",
        "date",
        "price",
        "currency",
    ]


def test_old_prices_are_none(tmp_path):
    """A token whose last price is older than allowed has no value."""
    daily(tmp_path / "p.parquet", DAYS, [2300.0, 2400.0, 2500.0])
    with pytest.warns(PricesWarning, match="0 prices given"):
        value(HOLDINGS, ParquetPrices(tmp_path, on="2026-02-09"))
    assert units(ParquetPrices(tmp_path, on="2026-02-09", max_age_days=9))[0] == 2500


def test_folders_named_by_day(tmp_path):
    """Folders as DuckDB, Spark and polars write them are read."""
    for day, price in zip(DAYS, [1.0, 2.0, 3.0], strict=True):
        (tmp_path / f"date={day}").mkdir()
        rows = pd.DataFrame({"token_blockchain": ["ETH"], "token_address": [""], "price": price})
        rows.to_parquet(tmp_path / f"date={day}" / "part-0.parquet")
    assert units(ParquetPrices(tmp_path, on=DAYS[1]))[0] == 2


def test_a_day_with_two_prices_is_refused(tmp_path):
    """The same price twice is one."""
    daily(tmp_path / "p.parquet", ["2026-01-31", "2026-01-31"], [2400.0, 2400.0])
    assert units(ParquetPrices(tmp_path))[0] == 2400
    daily(tmp_path / "q.parquet", ["2026-01-31"], [2500.0])
    with pytest.raises(PricesError, match="already has a price"):
        value(HOLDINGS, ParquetPrices(tmp_path))


def test_folders_without_daily_prices(tmp_path):
    """Each error says what is wrong with the folder."""
    with pytest.raises(ColumnsError, match="lacks 'token_blockchain', 'token_address', 'date'"):
        value(HOLDINGS, tmp_path)
    with pytest.raises(FileNotFoundError):
        value(HOLDINGS, ParquetPrices(tmp_path / "none"))
    (tmp_path / "p.parquet").write_text("no Parquet")
    with pytest.raises(PricesError, match="can't be read"):
        value(HOLDINGS, tmp_path)
    daily(tmp_path / "p.parquet", [20260131], [1.0])
    with pytest.raises(
        PricesError, match="the column 'date' must contain dates or text, but has the dtype int64"
    ):
        value(HOLDINGS, tmp_path)
    daily(tmp_path / "p.parquet", ["2026-01-31"], [1.0])
    pd.read_parquet(tmp_path / "p.parquet").head(0).to_parquet(tmp_path / "p.parquet")
    with pytest.warns(PricesWarning, match="0 prices given"):
        value(HOLDINGS, tmp_path)
