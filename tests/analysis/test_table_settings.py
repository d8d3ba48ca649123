"""The settings for tables and charts: prices and their order, own assets, spam lists, colours."""

from html import unescape

import numpy as np
import pandas as pd
import pytest
from drawn_fetches import details_of

import walletframe as wf
from walletframe import charts
from walletframe.analysis.chunked import GroupSpec
from walletframe.analysis.selection import Selection
from walletframe.analysis.spam.flags import explain_spam, flag_spam, without_spam
from walletframe.analysis.sums import totals
from walletframe.analysis.valuation import value
from walletframe.errors import PricesError, PricesWarning, SettingsError, TokenListError
from walletframe.frames.asset_list import assets
from walletframe.pickers.data import ExplorerData, summary_parts
from walletframe.pickers.picker import row_values_and_phrase

USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
ETHER = ("ETH", None, "ETH")
DOLLAR = ("ETH", USDC, "USDC")
OWN = ("ETH", "0xee", "OWN")
SCAM = ("ETH", "0xbad", "visit scam.com to claim")
PRICES = "token_blockchain,token_address,price\nETH,,2000\n"


@pytest.fixture
def details():
    """Return a fetch of four tokens; the service sends two prices."""
    held = [(ETHER, 2, 0), (DOLLAR, 3, 0), (OWN, 5, 0), (SCAM, 7, 0)]
    fetch = details_of([(("ETH", "0x01"), held)])
    return fetch._replace(holdings=fetch.holdings.assign(price=[1900.0, 1.0, np.nan, np.nan]))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder, text, **files):
    """Write a settings file, and CSV files beside it."""
    (folder / "walletframe.toml").write_text(text, encoding="utf-8")
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")


class TestPrices:
    """The first entry that knows a token wins."""

    def test_a_list_of_prices(self, details, folder):
        """The column price_source has the entry of each price."""
        write(folder, "", mine=PRICES)
        valued = value(details.holdings, ["mine.csv", "service"], currency="USD")
        assert valued["unit_price"].fillna(-1).tolist() == [2000, 1, -1, -1]
        assert valued["price_source"].astype(object).fillna("").tolist() == [
            "mine.csv",
            "service",
            "",
            "",
        ]
        assert valued["currency"].tolist() == ["USD"] * 4
        turned = value(valued, ["service", {OWN[:2]: 7}, {("ETH", None): 1}])
        assert turned["unit_price"].fillna(-1).tolist() == [1900, 1, 7, -1]
        assert turned["price_source"][2] == "your prices"
        assert "price_source" not in value(turned, "service")
        stated = "Prices: mine.csv for 1 token, the service for 1 token."
        fetch = wf.WalletDetails(details.wallets, valued)
        assert stated in repr(fetch.wf.totals())
        assert stated in fetch.wf.plot.treemap().layout.meta["about"]
        report = wf.report(fetch, folder / "r.md").read_text(encoding="utf-8")
        assert stated in unescape(report)
        assert stated in repr(wf.history.compare_values(fetch, fetch))
        assert "Prices" not in repr(fetch.wf.share("ETH"))
        fetch = wf.WalletDetails(details.wallets, turned)
        stated = "Prices: the service for 2 tokens, your prices for 1 token."
        assert stated in repr(fetch.wf.totals())

    def test_a_folder_has_the_same_prices(self, details, folder):
        """With its chunks, and after another valuation."""
        write(folder, "", mine=PRICES)
        with wf.sandbox() as service, service.client() as client:
            wallets = ["ETH.0x" + "1" * 40, "ETH.0x" + "2" * 40, "NEAR.alice.near"]
            wf.fetch_to_parquet(wallets, "bulk", client=client)
        stored, held = wf.open_wallets("bulk"), wf.read_wallets("bulk").holdings
        for prices in (["mine.csv", "service"], ["service", {"USDC": 1}], "service", "mine.csv"):
            stored = stored.wf.value(prices, currency="USD")
            valued = value(held, prices, currency="USD")
            read = stored.wf.where().holdings[["unit_price", "value", "currency"]]
            assert isinstance(prices, list) == ("price_source" in stored.holdings.template.holdings)
            table = totals(valued, wallets=stored.wallets)
            pd.testing.assert_frame_equal(stored.wf.totals(), table)
            assert stored.wf.totals().attrs == table.attrs
            assert not read["unit_price"].isna().all()

    def test_the_settings_are_the_default(self, details, folder):
        """Without a warning of prices of tokens that are not held."""
        write(
            folder,
            'currency = "USD"\nprices = ["mine.csv", "service"]',
            mine=f"{PRICES}BSC,0x5,7\n",
        )
        valued = value(details.holdings)
        assert valued["price_source"][0] == "mine.csv"
        assert valued["currency"][0] == "USD"
        with pytest.warns(PricesWarning, match="no token in these holdings"):
            value(details.holdings, "mine.csv")
        sent = value(details.holdings, "service")
        assert (sent["unit_price"][0], sent["currency"][0]) == (1900, "USD")

    def test_currencies_of_a_list_agree(self, details):
        """The currency of the settings is for prices that don't state one."""
        euros = pd.DataFrame({"asset": ["ETH"], "price": [9.0], "currency": ["EUR"]})
        message = "some prices are in 'EUR', and the service's have no currency"
        with pytest.raises(PricesError, match=message) as caught:
            value(details.holdings, [euros, "service"])
        assert caught.value.hint == "add currency='EUR' if all prices are in this currency"
        assert value(details.holdings, [euros, "service"], currency="EUR")["currency"][0] == "EUR"
        wf.configure(currency="USD")
        assert value(details.holdings, euros)["currency"][0] == "EUR"
        with pytest.raises(PricesError, match="2 currencies: 'EUR', 'USD'"):
            value(details.holdings, [euros, "service"])

    def test_an_empty_list_is_refused(self, details):
        """It has no prices."""
        with pytest.raises(PricesError, match="list of prices is empty"):
            value(details.holdings, [])

    def test_widgets_and_reports_use_them(self, details, folder):
        """Their texts name the source of the prices."""
        assert row_values_and_phrase(details.holdings)[1] == "value at the service's prices"
        wf.configure(prices={OWN[:2]: 7, ("ETH", None): 2000})
        own = ExplorerData(details)
        assert summary_parts(own.select_holdings(Selection()))["prices"] == "your own prices"
        assert own.row_values.tolist()[2] == 35
        values, unit = row_values_and_phrase(details.holdings)
        assert (values.tolist()[2], unit) == (35, "value at your prices")
        text = wf.report(details, folder / "r.md").read_text(encoding="utf-8")
        assert "author of this report chose the prices" in text
        wf.configure(currency="USD")
        sent = ExplorerData(details)
        assert summary_parts(sent.select_holdings(Selection()))["prices"] == "the service's prices"


class TestSpam:
    """Lists as `explain_spam` writes them."""

    def test_an_explanation_is_a_list(self, details, folder):
        """Its CSV file denies the tokens, or allows them."""
        found = explain_spam(details.holdings)
        found.to_csv("plain.csv", index=False)
        found.wf.to_csv("escaped.csv")
        for name in ("plain.csv", "escaped.csv"):
            assert flag_spam(details.holdings)["is_spam"].tolist() == [False] * 3 + [True]
            assert not flag_spam(details.holdings, allow=name)["is_spam"].any()
        native = "token_blockchain,token_address\nETH,\n"
        write(folder, 'spam_deny = "deny.csv"\nspam_allow = "plain.csv"', deny=native)
        wf.configure()
        assert flag_spam(details.holdings)["is_spam"].tolist() == [True] + [False] * 3
        assert flag_spam(details.holdings, deny=[])["is_spam"].tolist() == [False] * 4
        with pytest.warns(match="1 row"):
            assert len(without_spam(details.holdings)) == 3
        assert len(details.wf.where(spam=True).holdings) == 1

    def test_files_that_are_no_lists(self, folder, details):
        """The error names the file."""
        write(folder, "", empty="")
        with pytest.raises(TokenListError, match=r"empty\.csv"):
            flag_spam(details.holdings, deny="empty.csv")


class TestAssets:
    """Own contracts count in all tables by asset."""

    def test_own_assets(self, details, folder):
        """As with assets=…, which replaces them."""
        own = "asset,token_blockchain,token_address\nMine,ETH,0xee\n"
        write(folder, 'assets = "own.csv"', own=own)
        assert assets()["asset"].iloc[-1] == "Mine"
        assert "Mine" in totals(details.holdings, "asset")["asset"].tolist()
        none = pd.DataFrame(columns=["asset", "token_blockchain", "token_address"])
        assert "Mine" not in totals(details.holdings, "asset", assets=none)["asset"].tolist()
        wf.configure(prices={"Mine": 3})
        assert value(details.holdings)["unit_price"][2] == 3

    def test_workers_use_the_assets_of_the_caller(self):
        """Whatever the settings of their own processes are."""
        assert GroupSpec(["asset"]).assets.empty
        own = pd.DataFrame({"asset": ["Mine"], "token_blockchain": "ETH", "token_address": "0xee"})
        wf.configure(assets=own)
        assert GroupSpec(["asset"]).assets is own
        assert GroupSpec(["token"]).assets is None


class TestColors:
    """The colours of assets, in all charts."""

    def test_colors(self, details, folder):
        """By asset and by token; the other tokens keep their own."""
        before = charts.token_colors(details.holdings)
        write(folder, '[colors]\nusdc = "#123456"')
        wf.configure()
        colors = charts.token_colors(details.holdings)
        assert colors == before | {("ETH", USDC.lower()): "#123456"}
        for by in ("token", "asset"):
            figure = charts.bar(value(details.holdings), by=["wallet", by])
            shown = {trace.name: trace.marker.color for trace in figure.data}
            assert shown["USDC"] == "#123456"
            assert shown["ETH"] == before["ETH", None]

    def test_a_missing_file_of_prices(self, details, folder):
        """The message names the setting, also for a file in a list."""
        for text in ('prices = "none.csv"', 'prices = ["service", "none.csv"]'):
            write(folder, text)
            wf.configure()
            with pytest.raises(SettingsError, match=r"none\.csv' in the setting `prices` does not"):
                value(details.holdings)

    def test_a_color_by_name(self):
        """The message names the asset and its colour."""
        with pytest.raises(SettingsError, match="'ETH' has the colour 'red'"):
            wf.configure(colors={"USDC": "#123456", "ETH": "red"})

    def test_an_unknown_asset(self, details):
        """The message names it."""
        wf.configure(colors={"USCD": "#123456"})
        with pytest.raises(
            SettingsError, match="'USCD' in the setting `colors` is not a known asset"
        ):
            charts.token_colors(details.holdings)
