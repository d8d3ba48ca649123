"""The explorer in a real browser: every step by mouse and by keyboard, in any width and colour."""

import re

import pandas as pd
import pytest
from addresses import B
from axe import violations
from bare_page import BarePage
from copied_code import executed_on
from fetches import failed
from hostile_symbols import hostile_holdings
from playwright.sync_api import expect
from table_page import wait_for_layout

from walletframe.frames.assembly import assemble
from walletframe.frames.details import WalletDetails
from walletframe.frames.schema import HOLDING_DTYPES
from walletframe.pickers import FetchPanel, HoldingsExplorer
from walletframe.service import SHOWCASE

NODES = ".js-plotly-plot g.slice"
HARMFUL = """() => [window.__ran || 0, ...document.querySelectorAll(
    'main :is(img, script, iframe, object, embed, foreignObject, a:not([class*="wf-"]))')]
    .filter(Boolean).map((each) => each.outerHTML || each)"""
SMALL = """() => [...document.querySelectorAll('main *')]
    .filter((each) => [...each.childNodes].some((part) => part.nodeType === 3 && part.data.trim()))
    .filter((each) => each.getBoundingClientRect().height > 1 && !each.closest('svg'))
    .filter((each) => parseFloat(getComputedStyle(each).fontSize) < 11)
    .map((each) => each.outerHTML)"""
WIDE = """() => [...document.querySelectorAll('main, main *:not(pre, .wf-unseen, .wf-unseen *)')]
    .filter((each) => !each.closest('svg') && each.clientWidth)
    .filter((each) => each.scrollWidth > each.clientWidth)
    .filter((each) => /auto|scroll/.test(getComputedStyle(each).overflowX))
    .map((each) => each.outerHTML.slice(0, 200))"""

HIGHER = """() => {
    const host = document.querySelector('main > div');
    host.style.overflow = 'auto';
    return host.scrollHeight - host.clientHeight;
}"""

LOW = """() => [...document.querySelectorAll('main :is(a, button, select, input, summary)')]
    .map((each) => [each, each.getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 1 && (width < 24 || height < 24))
    .map(([each]) => each.outerHTML)"""
LINES_OF_SUMMARY = """() => {
    document.querySelector('.wf-worth').textContent = '1,010,375,585.82 USD';
    const parts = [...document.querySelectorAll('.wf-summary > :not(.wf-counts)')];
    return parts.map((each) => each.getClientRects().length + (each.offsetHeight > 30));
}"""
CLIPBOARD = """() => Object.defineProperty(navigator, 'clipboard', {
    configurable: true,
    value: { writeText: async (text) => { window.copied = text; } },
})"""
NOTE_SCRIPTS = """() => {
    const make = URL.createObjectURL;
    window.rowsBeforePlotly = null;
    URL.createObjectURL = (blob) => {
        const rows = document.querySelectorAll('main .wf-row .wf-text');
        if (blob.size > 1e6) window.rowsBeforePlotly = rows.length;
        return make.call(URL, blob);
    };
}"""
PASTE = """(field, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text', text);
    const given = { clipboardData, bubbles: true, cancelable: true };
    field.dispatchEvent(new ClipboardEvent('paste', given));
}"""


@pytest.fixture(scope="module")
def details(service):
    """Fetch the showcase."""
    with service.client(cache="memory") as client:
        return client.fetch(list(SHOWCASE), on_failure="ignore", progress=False)


@pytest.fixture
def shown(shared_tab, details, client):
    """Show the explorer, and wait until it is drawn."""
    widget = HoldingsExplorer(details, client=client)
    widget.bare = BarePage(shared_tab.page, widget)
    settle(shared_tab.page)
    yield widget
    widget.close()


def settle(page):
    """Wait until chart and table are there."""
    wait_for_layout(page)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.locator("[aria-busy]")).to_have_count(0)
    expect(page.locator(".wf-waiting")).to_have_count(0)
    expect(page.locator(".wf-filter-said").first).not_to_be_empty()


def errors(visit):
    """Return the page's errors."""
    return [message for message in visit.messages if not message.startswith("warning")]


def test_the_trip_by_mouse(shared_tab, shown):
    """The largest holder of USDC; spam; a wallet; by value; and the code, which runs."""
    page = shared_tab.page
    page.get_by_role("button", name="Tokens").click()
    search = page.get_by_role("combobox", name="Find tokens")
    expect(search).to_be_focused()
    search.fill("usdc")
    expect(page.get_by_text("6 of 42 match")).to_be_visible()
    page.get_by_role("button", name="Select all 6 that match").click()
    expect(page.get_by_role("button", name="Tokens")).to_contain_text("6 selected")
    expect(page.get_by_role("button", name=re.compile("^Wallets"))).to_contain_text("6 of 14")
    settle(page)
    first = page.locator(".wf-row").first
    expect(first).to_contain_text("BSC.0x1111…1111")
    page.get_by_role("button", name="Tokens").click()
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.get_by_role("button", name="Tokens")).to_contain_text("42 of 52")
    page.get_by_role("button", name="Included").click()
    page.get_by_role("button", name="Show 10 spam tokens").click()
    expect(page.get_by_text("58 balances")).to_be_visible()
    page.get_by_role("button", name="Hide 10 spam tokens").click()
    expect(page.get_by_text("48 balances")).to_be_visible()
    page.locator(NODES, has_text="0x1111…1111").first.click(position={"x": 20, "y": 8})
    expect(page.get_by_role("navigation")).to_contain_text("0x1111…1111")
    settle(page)
    assert set(shown.shown.holdings.address) == {"0x" + "1" * 40}
    page.get_by_role("columnheader", name="amount").get_by_role("button").click()
    settle(page)
    before = page.locator(".wf-table").bounding_box()
    page.evaluate(CLIPBOARD)
    page.get_by_role("button", name="Copy code").click()
    expect(page.get_by_text("Copied details.wf.where(…) and the chart")).to_be_visible()
    assert page.locator(".wf-table").bounding_box() == before, "a toast pushes nothing down"
    code = page.evaluate("window.copied")
    assert code == shown.code
    made = executed_on(shown.details, code)
    assert made["shown"].holdings["symbol"].tolist() == shown.shown.holdings["symbol"].tolist()
    assert (shared_tab.outside_requests, errors(shared_tab), shown._alert) == ([], [], "")


def test_the_trip_by_keyboard(shared_tab, shown):
    """Tab and Enter reach everything; Escape leads out again."""
    page = shared_tab.page

    def reach(name):
        for _ in range(60):
            page.keyboard.press("Tab")
            message = page.evaluate(
                "(({ localName, ariaLabel, textContent }) =>"
                " localName === 'body' ? '' : ariaLabel ?? textContent)(document.activeElement)"
            )
            if name in (message or ""):
                return
        raise AssertionError(f"{name} was not reached")

    reach("Tokens")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Find tokens")).to_be_focused()
    page.keyboard.type("wbtc")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Tokens")).to_contain_text("1 selected")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Tokens")).to_be_focused()
    expect(page.get_by_role("combobox", name="Find tokens")).not_to_be_visible()
    page.evaluate("document.activeElement.blur()")
    reach("Download")
    page.keyboard.press("Space")
    reach("CSV")
    with page.expect_download() as caught:
        page.keyboard.press("Enter")
    assert caught.value.suggested_filename == "holdings.csv"
    assert b"WBTC" in caught.value.path().read_bytes()
    assert (shared_tab.outside_requests, errors(shared_tab)) == ([], [])


def test_rows_come_before_plotly(visit, details):
    """The table can be read while plotly.js takes the page half a second."""
    visit.page.evaluate(NOTE_SCRIPTS)
    widget = HoldingsExplorer(details)
    BarePage(visit.page, widget)
    settle(visit.page)
    assert visit.page.evaluate("rowsBeforePlotly") > 20
    widget.close()


def test_pictures_can_be_downloaded(shared_tab, shown):
    """The chart in view, as PNG and SVG."""
    page = shared_tab.page
    page.get_by_role("button", name="Download").click()
    for kind, begin in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with page.expect_download() as caught:
            page.get_by_role("button", name=kind).click()
        assert caught.value.suggested_filename == f"chart.{kind.lower()}"
        picture = caught.value.path().read_bytes()
        assert picture.startswith(begin)
        link = page.get_by_role("link", name=f"Download chart.{kind.lower()}")
        expect(link).to_contain_text(f"({len(picture) / 1000:.0f} kB)")  # of the file


def test_a_cell_selects_its_wallet(shared_tab, shown):
    """A button selects the wallet of the cell alone."""
    page = shared_tab.page
    page.locator(".wf-row .wf-cell").first.click()
    page.get_by_role("button", name="Show only this wallet").click()
    expect(page.get_by_role("button", name=re.compile("^Wallets"))).to_contain_text("1 selected")
    assert len(shown.shown.wallets) == 1


def test_a_pasted_list_selects_its_wallets(shared_tab, shown):
    """A field of one line would join the list to a text that matches nothing."""
    page = shared_tab.page
    page.get_by_role("button", name=re.compile("^Wallets")).click()
    search = page.get_by_role("combobox", name="Find wallets")
    expect(page.get_by_text("14 to choose from", exact=True)).to_be_visible()
    search.evaluate(PASTE, f"alice.near\nETH\t0x{'8' * 40}\nNEAR.nobody.near")
    expect(page.get_by_role("button", name=re.compile("^Wallets"))).to_contain_text("2 selected")
    expect(page.get_by_text("No option is named NEAR.n…near.")).to_be_visible()
    settle(page)
    expect(page.get_by_text("No option is named NEAR.n…near.")).to_be_visible()
    assert {*shown.shown.wallets.address} == {"alice.near", "0x" + "8" * 40}
    search.fill("bsc")
    expect(page.get_by_text("No option is named")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_at_most_one_line_is_before_the_chart(shared_tab, shown, width, scheme):
    """Filters and choices share one line; on a phone, one button opens them."""
    page = shared_tab.page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 844})
    settle(page)
    top, title = (
        page.locator(name).bounding_box() for name in (".wf-explorer-top", ".wf-chart-title")
    )
    assert top["height"] < 36
    assert 0 < title["y"] - top["y"] - top["height"] < 40
    plot = page.locator(".wf-chart-plot").bounding_box()
    assert plot["y"] < (844 * 0.3 if width == 390 else 170)
    assert page.evaluate(LOW) == []
    view = page.get_by_role("button", name="View")
    assert view.count() == (width == 390)
    if width == 390:
        view.click()
        expect(page.get_by_role("combobox", name="Chart", exact=True)).to_be_visible()
        page.get_by_role("button", name="Included").click()
        box = page.get_by_role("group", name="Included").bounding_box()
        assert 0 <= box["x"] < box["x"] + box["width"] <= width
        assert page.evaluate(LOW) == []
        page.get_by_role("combobox", name="Chart", exact=True).select_option("Heatmap")
        expect(page.locator(".heatmaplayer")).to_be_visible()
        expect(view).to_be_focused()
        assert page.locator(".wf-chart-plot").bounding_box()["y"] < 844 * 0.3, "it hides the bar"
        column, row = (page.locator(f".{axis}tick").last.bounding_box() for axis in "xy")
        assert column["y"] + column["height"] <= row["y"]


def test_a_selection_adds_no_line(shared_tab, details):
    """The path begins the title, and choices that do not apply are hidden."""
    page = shared_tab.page
    page.set_viewport_size({"width": 1024, "height": 844})
    owners = [["Ada", "Ben"][row % 2] for row in range(len(details.wallets))]
    owned = details._replace(wallets=details.wallets.assign(owner=owners))
    widget = HoldingsExplorer(owned)
    BarePage(page, widget)
    settle(page)
    top, plot = page.locator(".wf-explorer-top"), page.locator(".wf-chart-plot")
    height, before = top.bounding_box()["height"], plot.bounding_box()["y"]
    page.locator(NODES, has_text="ETH").first.click(position={"x": 8, "y": 6})
    expect(page.get_by_role("navigation").locator("[aria-current]")).to_have_text("ETH")
    settle(page)
    after = top.bounding_box()["height"], plot.bounding_box()["y"]
    assert after == pytest.approx((height, before), abs=1)
    group = page.get_by_role("combobox", name="Group by", exact=True).first
    expect(group.locator("option")).to_have_text(["by blockchain", "by owner"])
    page.locator(".wf-row .wf-cell").first.click()
    page.get_by_role("button", name="Show only this wallet").click()
    settle(page)
    expect(page.get_by_role("group", name="Chart").get_by_role("combobox")).to_have_count(3)
    assert top.bounding_box()["height"] == height
    widget.close()


@pytest.mark.parametrize("width", [390, 1024])
def test_buttons_stay_below_the_chart(shared_tab, shown, width):
    """A note opens below the buttons; the next click ends a toast."""
    page = shared_tab.page
    page.set_viewport_size({"width": width, "height": 844})
    settle(page)
    copy = page.get_by_role("button", name="Copy code")
    before = copy.bounding_box()
    for section in ("About this chart", "About these wallets"):
        page.get_by_text(section).click()
        assert copy.bounding_box() == pytest.approx(before, abs=1)
    page.evaluate(CLIPBOARD)
    copy.click()
    expect(page.get_by_text("Copied details.wf.where(…)")).to_be_visible()
    page.get_by_role("columnheader").first.click()
    expect(page.get_by_text("Copied details.wf.where(…)")).to_have_count(0, timeout=2_000)


def test_the_summary_breaks_between_its_parts(shared_tab, shown):
    """At any width, no frame or phrase is broken, even beside a long sum."""
    page = shared_tab.page
    for width in range(320, 800, 30):
        page.set_viewport_size({"width": width, "height": 844})
        settle(page)
        assert {*page.evaluate(LINES_OF_SUMMARY)} == {1}


def test_a_heading_sorts_wherever_it_is_clicked(shared_tab, shown):
    """The button fills its heading."""
    page = shared_tab.page
    heading = page.get_by_role("columnheader", name="token")
    box = heading.bounding_box()
    heading.click(position={"x": box["width"] - 3, "y": box["height"] - 3})
    expect(heading).to_have_attribute("aria-sort", "ascending")


def test_if_all_failed_one_button_asks_again(shared_tab, client):
    """The reason and the button are in place of the tools and the table."""
    page = shared_tab.page
    details = client.fetch(["AVAX_CCHAIN.0x" + "7" * 40], on_failure="ignore", progress=False)
    widget = HoldingsExplorer(details, client=client)
    bare = BarePage(page, widget)
    expect(page.get_by_role("heading", name="No wallet could be read", exact=True)).to_be_visible()
    expect(page.get_by_text("1 failed: ")).to_be_visible()
    expect(page.locator(".wf-worth")).to_have_count(0)
    for name in ("Wallets", "Included", "View"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("grid")).to_have_count(0)
    page.get_by_role("button", name="Retry 1 unknown wallet").click()
    if running := widget._thread:  # it may have ended before the click returned
        running.join(20)
    bare.send_changes()
    expect(page.get_by_role("button", name="Retry 1 unknown wallet")).to_be_enabled()
    assert (violations(page), errors(shared_tab), widget._alert) == ([], [], "")
    widget.close()


def test_refresh_shows_its_progress(shared_tab, shown, details):
    """The page follows the result."""
    page = shared_tab.page
    page.get_by_role("button", name="Refresh").click()
    shown._thread.join(20)
    shown.bare.send_changes()
    expect(page.get_by_role("button", name="Retry all 2 unknown wallets")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    settle(page)
    assert shown.details is not details
    page.get_by_text("About these wallets").click()
    expect(page.get_by_role("table", name="Wallets with an error message")).to_contain_text(
        "failed"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_is_accessible(shared_tab, shown, scheme, width):
    """Axe finds nothing, with everything open; no text is small."""
    page = shared_tab.page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    assert violations(page) == []
    if width == 360:
        page.get_by_role("button", name="View").click()
    page.get_by_role("button", name="Tokens").click()
    page.locator(".wf-option").first.click()
    page.get_by_role("button", name="Included").click()
    page.get_by_role("button", name="Download").first.click()
    page.get_by_text("About these wallets").click()
    expect(page.get_by_role("table", name="Wallets with an error message")).to_have_count(1)
    settle(page)
    assert violations(page) == []
    assert page.evaluate(SMALL) == []


@pytest.mark.parametrize("width", [360, 600, 900, 1200, 1600])
def test_it_fits_any_page(shared_tab, shown, width):
    """Nothing scrolls sideways on a narrow page, with pickers open or not."""
    page = shared_tab.page
    page.set_viewport_size({"width": width, "height": 900})
    if width == 360:
        page.get_by_role("button", name="View").click()
    for name in ("Wallets", "Tokens", "Blockchains"):
        page.get_by_role("button", name=re.compile(f"^{name}")).click()
        expect(page.get_by_role("combobox", name=re.compile(name.lower()))).to_be_visible()
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(WIDE) == []
        assert page.evaluate(HIGHER) == 0, "a notebook's output would scroll by that much"
    page.get_by_text("About these wallets").click()
    headings = page.get_by_role("table", name="Wallets with an error message").get_by_role(
        "columnheader"
    )
    expect(headings).to_have_count(6)
    assert page.evaluate(WIDE) == []
    heads = headings.evaluate_all("all => all.map(e => e.clientHeight)")
    assert width < 900 or max(heads) < 30, "a word is broken"


def test_hostile_symbols_are_text(shared_tab):
    """Symbols are text in every part of the page."""
    frame = hostile_holdings().reindex(columns=list(HOLDING_DTYPES)).astype(HOLDING_DTYPES)
    known = frame[["blockchain", "address"]].drop_duplicates().assign(status="ok", tokens=1)
    unknown = assemble([failed(B, error="<img src=x>")]).wallets
    details = WalletDetails(pd.concat([unknown, known]).astype(unknown.dtypes), frame)
    widget, page = (
        HoldingsExplorer(details, prepare=lambda holdings: holdings.assign(is_spam=False)),
        shared_tab.page,
    )
    BarePage(page, widget)
    settle(page)
    page.get_by_role("button", name="Tokens").click()
    page.get_by_role("button", name=re.compile("Select all")).click()
    page.get_by_text("About these wallets").click()
    page.get_by_role("button", name="Copy code").click()
    expect(page.get_by_role("table", name="Wallets with an error message")).to_contain_text(
        "<img src=x>"
    )
    settle(page)
    assert page.evaluate(HARMFUL) == []
    assert (shared_tab.outside_requests, errors(shared_tab), widget._alert) == ([], [], "")
    widget.close()


def test_the_panel(shared_tab, client):
    """Paste, fetch, and read the result, in the explorer's style."""
    panel, page = FetchPanel(client=client), shared_tab.page
    bare = BarePage(page, panel)
    assert violations(page) == []
    page.get_by_label("Paste wallets").fill("NEAR.alice.near\nnonsense")
    page.get_by_role("button", name="Fetch").click()
    expect(page.get_by_role("alert").first).to_contain_text("Line 1: nonsense")
    page.get_by_label("Paste wallets").fill("AVAX_CCHAIN.0x" + "7" * 40)
    page.get_by_role("button", name="Fetch").click()
    panel._thread.join(20)
    bare.send_changes()
    expect(page.get_by_text("2 wallets on 2 blockchains: 1 ok, 1 failed")).to_be_visible()
    expect(page.get_by_role("button", name="Retry 1 unknown wallet")).to_be_visible()
    page.emulate_media(color_scheme="dark")
    assert violations(page) == []
    assert (shared_tab.outside_requests, errors(shared_tab), panel._alert) == ([], [], "")
    panel.close()
