"""The table in a real browser: exact numbers at any width, keyboard, copying, hostile symbols."""

import re

import pandas as pd
import pytest
from axe import violations
from chromium import Visit
from fetches import made_up_details
from hostile_symbols import hostile_holdings
from lab_server import SUPPORT, notebook_of, open_and_run
from playwright.sync_api import expect
from table_page import MISPLACED, column, settle, show_table

from walletframe.analysis.valuation import value
from walletframe.service import SHOWCASE, sandbox

LARGEST = str(2**256 - 1)
ODD = [LARGEST, f"-{LARGEST}", "0." + "0" * 76 + "7", "-0.000000000000000001", "0", None]
ODD += ["123456789012345678", "1234567.5", "999999.999999999999999999", "0.05", "-12"]
POINTS = """() => {
    const found = {};
    for (const part of document.querySelectorAll('.wf-row:not([hidden]) .wf-fraction')) {
        const cell = part.closest('.wf-cell');
        const place = cell.getAttribute('aria-colindex');
        (found[place] ??= new Set()).add(Math.round(part.getBoundingClientRect().left * 4));
    }
    return Object.values(found).map(each => each.size);
}"""
SMALLEST = """() => Math.min(...[...document.querySelectorAll('.wf *')].filter(
    each => [...each.childNodes].some(child => child.nodeType === 3 && child.data.trim())
).map(each => parseFloat(getComputedStyle(each).fontSize)))"""
JUMP = """async (tops) => {
    const grid = document.querySelector('.wf-grid');
    const seen = { blank: 0, waiting: 0 };
    for (const top of tops) {
        grid.scrollTop = top;
        await new Promise(requestAnimationFrame); // scroll events come before it
        for (const cell of grid.querySelectorAll('.wf-row:not([hidden]) > .wf-cell')) {
            seen.blank += !cell.hasChildNodes();
            seen.waiting += cell.classList.contains('wf-waiting');
        }
    }
    return seen;
}"""
GO_TO_END = """() => {
    const grid = document.querySelector('.wf-grid');
    const given = { key: 'End', ctrlKey: true, bubbles: true };
    grid.dispatchEvent(new KeyboardEvent('keydown', given));
    return grid.getAttribute('aria-activedescendant');
}"""
ELEMENTS = ".wf :is(b, i, img, script, iframe, svg, style, a:not(.wf-out))"
LAB = f"""
import sys
sys.path.insert(0, {str(SUPPORT)!r})
from fetches import made_up_details
from hostile_symbols import hostile_holdings
from table_widget import TableWidget
from walletframe.analysis.valuation import value
details = made_up_details(5_000, wallets=50, tokens=200)
pane = TableWidget(value(details.holdings, currency="USD"), details.wallets)
mixed = TableWidget(value(details.holdings, currency="USD"), details.wallets)
strange = TableWidget(hostile_holdings())
"""
MIXED = 'mixed.show(details.holdings.assign(value=1.0, currency=["USD", "EUR"] * 2_500))'
PANES = ["pane", "mixed", "strange"]


def odd_holdings():
    """Return amounts and values of every size, of one wallet."""
    holdings = made_up_details(len(ODD), wallets=1, tokens=5).holdings
    amounts = pd.array(ODD, dtype="amount")
    values = [1e22, -1e22, 0.0004, -0.002, 0.0, float("nan"), 1234567.891, 12.0, 0.01, 5.5, -3.25]
    return holdings.assign(amount=amounts, value=values, currency="USD", unit_price=values[::-1])


@pytest.fixture(scope="module")
def showcase():
    """Return the holdings of the README, valued."""
    with sandbox() as service, service.client(cache=False) as client:
        details = client.fetch(SHOWCASE, on_failure="ignore")
    wallets = details.wallets.assign(owner="The treasury of the foundation")
    return wallets, value(details.holdings, currency="USD")


@pytest.fixture
def tab(chromium):
    """Open a tab that may read the clipboard."""
    granted = ["clipboard-read", "clipboard-write"]
    with chromium.new_context(viewport={"width": 1200, "height": 800}) as context:
        context.grant_permissions(granted)
        yield Visit(context.new_page())


@pytest.mark.parametrize("by", ["", "wallet", "token", "blockchain"])
def test_no_number_is_truncated_at_any_width(tab, showcase, by):
    """From 360 to 1600 pixels nothing scrolls sideways, and every number is within its cell."""
    wallets, holdings = showcase
    show_table(tab.page, holdings, wallets)
    if by:
        tab.page.get_by_label("Group by").select_option(by)
        expect(tab.page.locator(".wf-said")).to_contain_text(by)
    for width in range(360, 1601, 62):
        tab.page.set_viewport_size({"width": width, "height": 800})
        settle(tab.page)
        assert tab.page.evaluate(MISPLACED) == []
        assert set(tab.page.evaluate(POINTS)) <= {1}
    assert (tab.outside_requests, tab.messages) == ([], [])


def test_numbers_of_any_size_fit_their_cells(tab):
    """Very large and small ones are rounded, with a sign of it; all align at the point."""
    show_table(tab.page, odd_holdings())
    for width in [*range(240, 1601, 68)]:
        tab.page.set_viewport_size({"width": width, "height": 800})
        settle(tab.page)
        assert tab.page.evaluate(MISPLACED) == []
        assert set(tab.page.evaluate(POINTS)) <= {1}
    assert tab.page.evaluate(SMALLEST) >= 11
    shown = tab.page.locator(".wf-near").all_text_contents()
    assert any(text.startswith("≈1.16e77") for text in shown)
    assert any(text.startswith("<0.") for text in shown)
    titles = tab.page.locator(".wf-number[title]").evaluate_all("all => all.map(one => one.title)")
    assert {LARGEST, f"-{LARGEST}", ODD[2]} <= {*titles}


def test_thin_spaces_are_not_copied(tab):
    """A selected number has all its digits, the hidden ones as well."""
    show_table(tab.page, odd_holdings().iloc[6:9])
    tab.page.set_viewport_size({"width": 360, "height": 800})
    settle(tab.page)
    selected = tab.page.locator(".wf-row:not([hidden]) .wf-number").evaluate_all("""all => all.map(
        cell => (getSelection().selectAllChildren(cell), getSelection().toString()))""")
    assert "123456789012345678" in selected
    assert "1234567.5" in selected
    assert "999999.999999999999999999" in selected


def test_cells_and_rows_are_copied_exactly(tab):
    """By the keyboard and by buttons; a row is copied as columns for a spreadsheet."""
    page = tab.page
    show_table(page, odd_holdings().assign(symbol="=1+1"))
    cell = page.locator(".wf-row[data-row='2'] .wf-cell").nth(4)
    cell.click()
    page.keyboard.press("Control+c")
    expect(page.locator(".wf-table > [role=status]")).to_have_text("Copied the cell")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator(".wf-detail-text").inner_text()
    page.get_by_role("button", name="Copy row").click()
    cells = page.evaluate("navigator.clipboard.readText()").split("\t")
    assert len(cells) == int(page.locator(".wf-grid").get_attribute("aria-colcount"))
    assert cells[1].startswith("'=1+1")
    assert cells[int(cell.get_attribute("aria-colindex")) - 1] == copied


def test_the_keyboard_alone(tab):
    """Search, group, sort, move, read a row in full, and follow its links."""
    page = tab.page
    details = made_up_details(2_000, wallets=20, tokens=100)
    links = [f"https://scan.example/{address}" for address in details.wallets["address"]]
    holdings = value(details.holdings)
    show_table(page, holdings, details.wallets.assign(explorer_url=links))
    page.keyboard.press("Tab")
    page.keyboard.type("eth.0x")
    expect(page.locator(".wf-said")).to_have_text(re.compile(r"^\d+ of 2,000 balances match$"))
    page.keyboard.press("Escape")
    expect(page.locator(".wf-said")).to_have_text("2,000 balances")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent").strip("↑↓") == "amount":
            break
    page.keyboard.press("Enter")
    sorts = page.get_by_role("columnheader", name="amount")
    expect(sorts).to_have_attribute("aria-sort", "descending")
    page.keyboard.press("Enter")
    expect(sorts).to_have_attribute("aria-sort", "ascending")
    settle(page)
    wanted = holdings["amount"].sort_values().map(str).tolist()
    shown = [text.replace("…", "") for text in column(page, "amount")]
    assert all(whole.startswith(text) for text, whole in zip(shown, wanted, strict=False))
    grid = page.locator(".wf-grid")
    page.keyboard.press("Shift+Tab")
    grid.focus()
    page.keyboard.press("Control+End")
    settle(page)
    active = grid.get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").locator("..").get_attribute("aria-rowindex") == "2001"
    expect(page.locator(f"#{active}")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert page.locator(".wf-detail-row dt").all_text_contents()[:2] == ["wallet", "token"]
    expect(page.locator(".wf-detail a").first).to_have_attribute("href", re.compile("scan.example"))
    page.keyboard.press("Control+Home")
    settle(page)
    assert grid.evaluate("grid => grid.scrollTop") == 0
    assert (tab.outside_requests, tab.messages) == ([], [])


def test_cells_are_never_blank(tab):
    """While a thumb is dragged, cells keep a faint older text until their own is there."""
    show_table(tab.page, made_up_details(5_000, wallets=50, tokens=200).holdings)
    seen = tab.page.evaluate(JUMP, [30_000, 90_000, 60_000, 120_000, 75_000])
    assert seen["blank"] == 0 < seen["waiting"]
    settle(tab.page)
    amounts = column(tab.page, "amount")
    assert len({*amounts}) == len(amounts)
    assert tab.page.evaluate(GO_TO_END) is None, "a screen reader would read the older text"
    settle(tab.page)
    active = tab.page.locator(".wf-grid").get_attribute("aria-activedescendant")
    assert tab.page.locator(f"#{active}").is_visible()


def test_headings_keep_the_focus(tab):
    """At another width, a focused heading stays focused."""
    page = tab.page
    show_table(page, odd_holdings())
    page.get_by_role("button", name="amount").focus()
    page.set_viewport_size({"width": 400, "height": 800})
    settle(page)
    expect(page.get_by_role("button", name="amount")).to_be_focused()
    expect(page.get_by_label("Sort by")).to_be_visible()
    page.get_by_label("Sort by").select_option("+price")
    expect(page.locator(".wf-said")).to_have_text("11 balances")


def test_a_cell_selects_its_wallet_token_or_blockchain(tab, showcase):
    """The button follows the last cell; a number selects nothing."""
    page = tab.page
    wallets, holdings = showcase
    show_table(page, holdings, wallets)
    place = 3
    cells = page.locator(f".wf-row[data-row='{place}'] .wf-cell")
    cells.nth(1).click()
    page.get_by_role("button", name="Show only this token").click()
    picked = page.evaluate("window.picked")
    key = page.answers.selection_field_and_key(picked)
    assert (picked["row"], picked["sort"]) == (place, "value")
    row = holdings.sort_values("value", ascending=False, kind="stable").iloc[place]
    assert key == ("tokens", (row["token_blockchain"], row["token_address"].lower()))
    page.locator(f".wf-row[data-row='{place}'] .wf-number").first.click()
    expect(page.get_by_role("button", name="Show only this")).to_be_hidden()


def test_a_busy_kernel_is_shown(tab):
    """There is a message; the old rows stay until the answer comes."""
    page = tab.page
    show_table(page, odd_holdings())
    page.evaluate("""() => {
        const answer = window.answer;
        const free = new Promise(done => (window.free = done));
        window.answer = async said => (await free, answer(said));
    }""")
    page.get_by_role("button", name="amount").click()
    expect(page.locator(".wf-said")).to_have_text("Waiting for the kernel …")
    assert page.locator(".wf-row:not([hidden])").count() == len(ODD)
    page.evaluate("window.free()")
    expect(page.locator(".wf-said")).to_have_text("11 balances")
    sorts = page.get_by_role("columnheader", name="amount")
    expect(sorts).to_have_attribute("aria-sort", "descending")


def test_an_empty_result_is_shown(tab):
    """In the count, and in place of the rows."""
    show_table(tab.page, odd_holdings())
    tab.page.get_by_label("Search the table").fill("nowhere")
    expect(tab.page.locator(".wf-said")).to_have_text("0 of 11 balances match")
    expect(tab.page.get_by_text("No row matches.")).to_be_visible()


def test_hostile_symbols_are_text(tab):
    """Rows, details and titles have no element, no script, no request."""
    page = tab.page
    show_table(page, hostile_holdings())
    for by in ["", "token", "wallet", "blockchain"]:
        page.get_by_label("Group by").select_option(by)
        settle(page)
        page.locator(".wf-row:not([hidden]) .wf-cell").first.click()
        if not by:
            page.get_by_role("button", name="Full row").click()
        count = int(page.locator(".wf-grid").get_attribute("aria-rowcount")) - 1
        for _ in range(count):
            page.keyboard.press("ArrowDown")
        settle(page)
        assert page.locator(ELEMENTS).count() == 0
    assert page.evaluate("window.__ran || 0") == 0
    assert (tab.outside_requests, tab.messages) == ([], [])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_is_accessible(tab, showcase, scheme, width):
    """Axe finds nothing, in one line and in two, for any selection, search or detail."""
    page = tab.page
    page.set_viewport_size({"width": width, "height": 800})
    wallets, holdings = showcase
    show_table(page, holdings, wallets, scheme=scheme)
    assert violations(page) == []
    page.locator(".wf-row:not([hidden]) .wf-cell").nth(1).click()
    page.get_by_role("button", name="Full row").click()
    assert violations(page) == []
    page.get_by_label("Search the table").fill("nowhere")
    expect(page.get_by_text("No row matches.")).to_be_visible()
    assert violations(page) == []


@pytest.fixture(scope="module")
def lab(lab_server, chromium):
    """Show the table as a widget in a notebook, three times."""
    notebook = notebook_of(LAB, *PANES, MIXED)
    with (
        lab_server.serving(tables=notebook) as address,
        chromium.new_context(viewport={"width": 1200, "height": 800}) as context,
    ):
        visit = Visit(context.new_page())
        open_and_run(visit.page, address, "tables.ipynb")
        yield visit


def pane_of(lab, name):
    """Return one of the tables."""
    return lab.page.locator(".jp-CodeCell").nth(PANES.index(name) + 1).locator(".wf")


def test_in_jupyterlab(lab):
    """A kernel answers; the notebook's keys leave the table alone."""
    page, pane = lab.page, pane_of(lab, "pane")
    expect(pane.locator(".wf-said")).to_have_text("5,000 balances")
    grid = pane.locator(".wf-grid")
    for width in (360, 900, 1600):
        before = grid.evaluate("each => each.clientWidth")
        page.set_viewport_size({"width": width, "height": 800})
        expect(grid).not_to_have_js_property("clientWidth", before)
        settle(page)
        assert [each for each in pane.evaluate(MISPLACED) if "page" not in each] == []
    pane.locator(".wf-row:not([hidden]) .wf-cell").first.click()
    cells = page.locator(".jp-Cell").count()
    for key in ("ArrowDown", "a", "d", "d", "x", "Enter", "PageDown", "ArrowRight"):
        page.keyboard.press(key)
    settle(page)
    expect(grid).to_be_focused()
    assert page.locator(".jp-Cell").count() == cells
    assert pane.locator(".wf-here").count() == 1
    pane.get_by_label("Group by").select_option("token")
    expect(pane.locator(".wf-said")).to_contain_text("tokens")
    assert lab.outside_requests == []
    assert [message for message in lab.messages if not message.startswith("warning")] == []


def test_errors_are_shown_in_jupyterlab(lab):
    """If a sum is impossible, the widget says so; the rows stay."""
    pane = pane_of(lab, "mixed")
    expect(pane.get_by_role("columnheader", name="currency")).to_be_visible()
    pane.get_by_label("Group by").select_option("wallet")
    expect(pane.get_by_role("alert").filter(has_text="2 currencies")).to_be_visible()
    assert pane.locator(".wf-row:not([hidden])").count() > 5


def test_hostile_symbols_in_jupyterlab(lab):
    """JupyterLab shows no element and no formula."""
    expect(pane_of(lab, "strange").locator(".wf-said")).to_have_text("80 balances")
    assert lab.page.locator(f"{ELEMENTS}, .wf mjx-container").count() == 0
    assert lab.page.evaluate("window.__ran || 0") == 0
    assert lab.outside_requests == []
