"""The explorer of a folder of many balances in a real browser: it says that it reads, then what."""

import pytest
from bare_page import BarePage
from playwright.sync_api import expect
from widgets import wait

import walletframe as wf
from walletframe.pickers import HoldingsExplorer
from walletframe.service import SHOWCASE


@pytest.fixture
def folder(service, tmp_path, monkeypatch):
    """Give a folder of more balances than are read."""
    for name in ("reading", "folder"):
        monkeypatch.setattr(f"walletframe.pickers.{name}.MOST_ROWS", 30)
    with service.client(cache="memory") as client:
        wf.fetch_to_parquet(SHOWCASE, tmp_path / "bulk", client=client, on_failure="ignore")
    return wf.open_wallets(tmp_path / "bulk")


@pytest.fixture
def shown(visit, folder):
    """Show its explorer, which has been read."""
    explorer = HoldingsExplorer(folder)
    explorer.bare = BarePage(visit.page, explorer)
    read(visit.page, explorer)
    yield explorer
    explorer.close()


def read(page, explorer):
    """Wait until what was asked is read, and the page has the answers, and then those behind."""
    while (
        page.locator("[aria-busy], .wf-waiting").count()
        or not page.locator(".wf-filter-said:not(:empty)").count()
    ):
        wait()
        explorer.bare.follow()
    expect(page.locator(".wf-fetch-far")).to_be_hidden()


def test_a_folder_is_explored(visit, shown):
    """Sums first, by token; then the balances of one wallet, one by one."""
    page = visit.page
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.get_by_text("Holdings by blockchain and token")).to_be_visible()
    expect(page.get_by_text("42 tokens")).to_be_visible()
    page.get_by_role("button", name="Wallets all").click()
    page.get_by_role("combobox", name="Find wallets").fill(SHOWCASE[0].address)
    page.keyboard.press("Enter")
    read(page, shown)
    expect(page.get_by_role("button", name="Wallets 1")).to_contain_text("1 chosen")
    page.get_by_label("Group by").last.select_option("")
    of_one = shown.shown.holdings
    assert of_one["address"].nunique() == 1
    expect(page.get_by_text(f"{len(of_one)} balances", exact=True).first).to_be_visible()
    page.set_viewport_size({"width": 360, "height": 1200})
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert [said for said in visit.said if not said.startswith("warning")] == []
