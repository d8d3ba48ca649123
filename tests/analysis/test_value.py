"""All forms of prices, refused if unusable, and values."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from drawn_fetches import TOKENS, details_of, fetches, key, nearest, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from walletframe.analysis import PriceSource
from walletframe.analysis.sums import totals
from walletframe.analysis.valuation import value
from walletframe.errors import (
    AmbiguousTokenError,
    AmountError,
    ColumnsError,
    PricesError,
    PricesWarning,
)
from walletframe.exports import to_parquet

ETHER = ("ETH", None, "ETH")
USDC = ("ETH", "0xA0", "USDC")
SPAM = ("BSC", "0xbad", "NA")
HOLDINGS = details_of([(("ETH", "0x01"), [(ETHER, 25, 1), (USDC, 3, 0), (SPAM, 7, 0)])]).holdings
TABLE = pd.DataFrame(
    {
        "token_blockchain": ["eth", "ETH", "BSC"],
        "token_address": [None, "0xa0", "0xother"],
        "price": [2000.5, 1, 9],
    }
)
HELD = TABLE.head(2)
FORMS = {
    "a mapping": {("ETH", None): 2000.5, ("eth", "0XA0"): 1},
    "exact numbers": {("ETH", ""): Decimal("2000.5"), ("ETH", "0xA0"): "1"},
    "NumPy's numbers": {("ETH", np.nan): np.float32(2000.5), ("ETH", "0xA0"): np.int64(1)},
    "a frame": TABLE,
    "a frame with other names": TABLE.set_axis(["blockchain", "contract", "price"], axis=1),
    "a Series": TABLE.set_index(["token_blockchain", "token_address"])["price"],
    "amounts": TABLE.astype({"price": "str"}).astype({"price": "amount"}),
}


@pytest.mark.parametrize("prices", FORMS.values(), ids=FORMS)
def test_all_forms_of_prices_have_equal_values(prices):
    """Contracts and blockchains match without case; an unpriced token is NA, not 0."""
    valued = value(HOLDINGS, prices, currency="USD")
    assert valued.columns.tolist() == [*HOLDINGS.columns, "unit_price", "value", "currency"]
    np.testing.assert_array_equal(valued["value"], [5001.25, 3, np.nan])
    np.testing.assert_array_equal(valued["unit_price"], [2000.5, 1, np.nan])
    assert valued["currency"].tolist() == ["USD"] * 3
    assert valued[HOLDINGS.columns].equals(HOLDINGS)


@pytest.mark.filterwarnings(
    "ignore::walletframe.errors.PricesWarning"
)  # drawn prices may match nothing
@settings(max_examples=60, deadline=None)
@given(
    fetch=fetches,
    prices=st.dictionaries(
        st.sampled_from(TOKENS).map(lambda token: key(*token[:2])), st.floats(0, 1e30)
    ),
)
def test_values_are_the_nearest_to_the_exact_product(fetch, prices):
    """The product of any amount and a float is rounded once."""
    result = value(details_of(fetch).holdings, prices)["value"]
    wanted = [
        np.nan
        if row.amount is None or row.token not in prices
        else nearest(row.amount * Fraction(prices[row.token]))
        for row in rows_of(fetch)
    ]
    np.testing.assert_array_equal(result, wanted)


def test_the_services_own_prices():
    """They are used without `prices`; the currency is the caller's."""
    priced = HOLDINGS.assign(price=[2.0, np.nan, 0.0])
    valued = value(priced)
    np.testing.assert_array_equal(valued["value"], [5, np.nan, 0])
    assert valued["currency"].isna().all()
    assert value(priced, currency="USD")["currency"].unique().tolist() == ["USD"]
    with pytest.raises(PricesError, match=r"1: '-1\.0': it is negative"):
        value(HOLDINGS.assign(price=[2, -1, np.inf]))
    with pytest.raises(ColumnsError, match="'price'"):
        value(HOLDINGS.drop(columns="price"))


def test_a_second_valuation_replaces_the_first():
    """Prices of another day leave nothing of the old ones."""
    again = value(value(HOLDINGS, FORMS["a frame"], currency="USD"), {("ETH", None): 2})
    assert again.columns.is_unique
    np.testing.assert_array_equal(again["value"], [5, np.nan, np.nan])
    assert again["currency"].isna().all()


BAD = {("ETH", None): 1, "ETH": 2, ("ETH", ""): 3, ("ETH", "0x1"): -1, ("ETH", "0x2"): np.nan} | {
    ("ETH", "0x3"): np.inf,
    ("ETH", "0x4"): "dear",
    ("ETH", "0x5"): None,
    ("ETH", "0x6"): True,
    ("ETH", "0x7"): 10**400,
    ("", "0x8"): 1,
    ("ETH", 9): 1,
    ("ETH", "0x10"): "1_0",
}


def test_all_bad_prices_are_reported_at_once():
    """The error has the position and the reason of each."""
    with pytest.raises(PricesError, match="11 prices can't be used") as caught:
        value(HOLDINGS, BAD)
    neither = "neither (blockchain, contract) nor the name of an asset"
    assert {place: reason for place, _, reason in caught.value.problems} == {
        2: "('ETH', '') already has a price: see number 0",
        3: "the price of ('ETH', '0x1') is negative",
        4: "the price of ('ETH', '0x2') is not a number",
        5: "the price of ('ETH', '0x3') is infinite",
        6: "the price of ('ETH', '0x4') is not a number",
        7: "the price of ('ETH', '0x5') is not a number",
        8: "the price of ('ETH', '0x6') is not a number",
        9: "the price of ('ETH', '0x7') is infinite",
        10: f"the key ('', '0x8') is {neither}",
        11: f"the key ('ETH', 9) is {neither}",
        12: "the price of ('ETH', '0x10') is not a number",
    }
    assert "leave out" in caught.value.hint


def test_symbols_match_on_request_only():
    """And only a symbol of one contract; otherwise it is an asset's."""
    fake = HOLDINGS.assign(token_address="0xfake")
    with pytest.warns(PricesWarning, match=r"\(1 price given\): .* by asset, such as 'USDC'"):
        assert value(fake, {"ETH": 2})["value"].isna().all()
    with pytest.warns(PricesWarning, match="0: 'DEAR' is not a known asset"):
        value(HOLDINGS, {"DEAR": 2})
    valued = value(HOLDINGS, pd.Series({"ETH": 2, "DAI": 1}), by_symbol=True)
    np.testing.assert_array_equal(valued["value"], [5, np.nan, np.nan])
    with pytest.raises(PricesError, match="is not a symbol"):
        value(HOLDINGS, {("ETH", None): 2}, by_symbol=True)


def test_a_shared_symbol_has_no_price():
    """A fake USDC gets no price; unpriced symbols may be shared."""
    held = [(USDC, 1, 0), (("BSC", "0xbad", "USDC"), 10**9, 0), (ETHER, 2, 0)]
    holdings = details_of([(("ETH", "0x01"), held)]).holdings
    with pytest.raises(AmbiguousTokenError, match="0xbad") as caught:
        value(holdings, {"USDC": 1, "ETH": 2}, by_symbol=True)
    assert list(caught.value.contracts) == ["USDC"]
    valued = value(holdings, {"ETH": 2}, by_symbol=True)
    np.testing.assert_array_equal(valued["value"], [np.nan, np.nan, 4])


def test_a_missing_symbol_has_no_price():
    """In frames from elsewhere."""
    holdings = HOLDINGS.assign(symbol=["ETH", None, "NA"])
    valued = value(holdings, pd.DataFrame({"symbol": ["ETH"], "price": [2]}), by_symbol=True)
    np.testing.assert_array_equal(valued["value"], [5, np.nan, np.nan])


def test_currencies_are_named_once():
    """By the prices, or by the caller; a contradiction is refused."""
    named = TABLE.assign(currency="EUR")
    assert value(HOLDINGS, named)["currency"].unique().tolist() == ["EUR"]
    assert value(HOLDINGS, named, currency="EUR")["currency"].unique().tolist() == ["EUR"]
    nameless = TABLE.assign(currency=None)
    assert value(HOLDINGS, nameless, currency="USD")["currency"].unique().tolist() == ["USD"]
    with pytest.raises(PricesError, match="'EUR', not in 'USD'"):
        value(HOLDINGS, named, currency="USD")
    for other, message in (
        ("USD", "2 currencies: 'EUR', 'USD'"),
        (None, "some prices are in 'EUR', and others have no currency"),
        (" ", "some prices are in 'EUR', and others have no currency"),
    ):
        with pytest.raises(PricesError, match=message):
            value(HOLDINGS, TABLE.assign(currency=["EUR", "EUR", other]))


class Oracle:
    """A source of prices that records its requests."""

    def prices(self, tokens):
        """Price everything at 1."""
        self.requested = tokens
        return tokens.assign(price=1)


def test_any_price_source_works():
    """It gets one request, for the distinct tokens, and needs one method."""
    oracle = Oracle()
    assert isinstance(oracle, PriceSource)
    valued = value(pd.concat([HOLDINGS, HOLDINGS]), oracle)
    assert valued["value"].tolist() == [2.5, 3, 7] * 2
    assert oracle.requested.columns.tolist() == ["token_blockchain", "token_address", "symbol"]
    assert oracle.requested["token_address"].fillna("-").tolist() == ["-", "0xA0", "0xbad"]


@pytest.mark.parametrize("prices", [[1, 2], 5, object()])
def test_other_forms_of_prices_are_refused(prices):
    """The hint lists the forms."""
    with pytest.raises(PricesError, match=r"prices of type \w+ are not supported") as caught:
        value(HOLDINGS, prices)
    assert "a mapping {(blockchain, contract): price}" in caught.value.hint


def test_frames_without_columns_are_refused():
    """Both of prices and of holdings."""
    with pytest.raises(ColumnsError, match="lacks 'token_address', 'price'"):
        value(HOLDINGS, TABLE[["token_blockchain"]])
    with pytest.raises(ColumnsError, match="lacks 'symbol'"):
        value(HOLDINGS, TABLE, by_symbol=True)
    with pytest.raises(ColumnsError, match="lacks 'symbol'"):
        value(HOLDINGS.drop(columns="symbol"), TABLE)
    with pytest.raises(AmountError, match="does not contain amounts"):
        value(HOLDINGS.astype({"amount": float}), TABLE)


def test_files_of_prices(tmp_path):
    """CSV and Parquet, by text or path, are read to the last digit."""
    dear = HELD.assign(price=[0.1 + 0.2, 1e-18], currency="USD")
    dear.to_csv(tmp_path / "p.csv", index=False)
    dear.to_parquet(tmp_path / "p.PARQUET")
    for path in (str(tmp_path / "p.csv"), tmp_path / "p.PARQUET"):
        valued = value(HOLDINGS, path)
        np.testing.assert_array_equal(valued["unit_price"], [0.1 + 0.2, 1e-18, np.nan])
        assert valued["currency"].tolist() == ["USD"] * 3


def test_text_in_files_is_read_literally(tmp_path):
    """A token named NA has its price; a byte order mark does no harm."""
    (tmp_path / "p.csv").write_text("\ufeffsymbol,price\nNA,2\nnull,3\n", encoding="utf-8")
    with pytest.warns(PricesWarning, match="3: 'null'"):
        valued = value(HOLDINGS, tmp_path / "p.csv", by_symbol=True)
    np.testing.assert_array_equal(valued["value"], [np.nan, np.nan, 14])


def test_exact_prices_in_files(tmp_path):
    """Exact text of Parquet is read, even if the decimals beside it are 0 or null."""
    prices = FORMS["amounts"].head(2)
    to_parquet(prices, tmp_path / "p.parquet")
    np.testing.assert_array_equal(
        value(HOLDINGS, tmp_path / "p.parquet")["value"], [5001.25, 3, np.nan]
    )
    extreme = prices.assign(price=pd.array(["1e-20", "3e20"], dtype="amount"))
    to_parquet(extreme, tmp_path / "p.parquet")
    result = value(HOLDINGS, tmp_path / "p.parquet")
    pd.testing.assert_frame_equal(result, value(HOLDINGS, extreme))
    assert result["value"].gt(0).tolist() == [True, True, False]


def test_files_without_prices_are_refused(tmp_path):
    """Each error says what is wrong with the file."""
    (tmp_path / "p.csv").write_text("")
    (tmp_path / "p.parquet").write_text("no Parquet")
    for name in ("p.csv", "p.parquet"):
        with pytest.raises(PricesError, match="can't be read"):
            value(HOLDINGS, tmp_path / name)
    (tmp_path / "p.csv").write_text("token_blockchain,token_address,price\nETH,,\nETH,0x1,x\n")
    with pytest.raises(PricesError, match=r"3: 'x': the price of \('ETH', '0x1'\) is not a number"):
        value(HOLDINGS, tmp_path / "p.csv")
    with pytest.raises(PricesError, match=r"is not a \.csv or \.parquet file"):
        value(HOLDINGS, "prices.xlsx")
    with pytest.raises(FileNotFoundError):
        value(HOLDINGS, tmp_path / "gone.csv")


@pytest.mark.parametrize(
    "prices, by_symbol, message",
    [
        ({("ETH", "0xdead"): 1}, False, r"\(1 price given\): .*, such as \('ETH', None\)"),
        (
            {("BSC", None): 1, ("BSC", "0xA0"): 1},
            False,
            r"no price matches a token in these holdings \(2 prices given\)",
        ),
        ({}, False, "0 prices given"),
        ({"eth": 2}, True, "spelled as in the holdings, such as 'ETH'"),
    ],
)
def test_prices_of_unheld_tokens_are_reported(prices, by_symbol, message):
    """If all values are NaN, a warning explains how prices match, with an example."""
    with pytest.warns(PricesWarning, match=message) as caught:
        valued = value(HOLDINGS, prices, by_symbol=by_symbol)
    assert valued["value"].isna().all()
    assert caught[0].filename == __file__


def test_a_list_with_one_match_is_no_warning():
    """One price that fits is enough, even of an unknown amount."""
    prices = {("ETH", f"0x{number:x}"): 1 for number in range(500)}
    unknown = HOLDINGS.assign(amount=pd.array([None] * 3, dtype="amount"))
    assert value(unknown, prices)["unit_price"].notna().sum() == 1


def test_a_hostile_symbol_is_escaped_in_the_warning():
    """It is the example."""
    holdings = HOLDINGS.assign(symbol="\x1b[31mEV\u202eIL\n")
    with pytest.warns(PricesWarning, match=r"such as '\[31mEVIL'$"):
        value(holdings.head(1), {"x": 1}, by_symbol=True)


def test_no_rows_have_no_value():
    """The columns and dtypes are the same."""
    empty = value(HOLDINGS.head(0), TABLE, currency="USD")
    assert empty.dtypes.equals(value(HOLDINGS, TABLE, currency="USD").dtypes)
    assert totals(empty)["value"].dtype == "float64"


@pytest.mark.parametrize("name", [None, "prices.csv"])
def test_people_s_spellings_of_prices(tmp_path, name):
    """Empty rows are skipped, white space is ignored, and positions stay."""
    table = pd.DataFrame(
        {
            "token_blockchain": [" eth", None, "ETH ", " "],
            "token_address": [" 0xa0 ", None, None, ""],
            "price": ["1 ", None, " 2500", None],
            "currency": ["USD", None, "USD ", None],
        }
    )
    prices = table if name is None else tmp_path / name
    if name:
        table.to_csv(prices, index=False)
    valued = value(HOLDINGS, prices)
    assert valued.currency.unique().tolist() == ["USD"]
    assert valued.unit_price.tolist()[:2] == [2500.0, 1.0]
    with pytest.raises(PricesError) as caught:
        value(HOLDINGS, table.assign(price=["1", None, "x", None]))
    assert [place for place, _, _ in caught.value.problems] == [2]
    by_symbol = value(HOLDINGS, {" USDC": 3}, by_symbol=True)
    assert by_symbol.unit_price.dropna().tolist() == [3.0]
