"""The whole trip in JupyterLab and a real browser: paste, fetch, cancel, pick, see, download."""

import io
import re
from contextlib import contextmanager

import pandas as pd
import pytest
from chromium import Visit
from hostile_symbols import SYMBOLS
from lab_server import ROOT, SUPPORT, notebook_of, open_and_run
from playwright.sync_api import expect

from walletframe.analysis.selection import Selection
from walletframe.client import fetch_wallets
from walletframe.pickers.data import ExplorerData

NOTEBOOK = "03-pickers-and-explorer"
MANY = [f"POLYGON.0x{number:040x}" for number in range(1, 41)]
SETUP = f"""
import sys
sys.path.insert(0, {str(SUPPORT)!r})
import plotly.io as pio
from fetches import made_up_details
from hostile_symbols import hostile_holdings
import walletframe as wf
from walletframe.frames.assembly import assemble
from walletframe.frames.schema import HOLDING_DTYPES
from walletframe.frames.details import WalletDetails
frame = hostile_holdings().reindex(columns=list(HOLDING_DTYPES)).astype(HOLDING_DTYPES)
strange = WalletDetails(assemble([]).wallets, frame)
details = made_up_details(100, wallets=5, tokens=5)
"""
CELLS = {
    "plain": "wf.HoldingsExplorer(details)",
    "hostile": "wf.HoldingsExplorer(strange, prepare=lambda rows: rows.assign(is_spam=False))",
    "painted": "pio.templates.default = 'plotly_white'; wf.HoldingsExplorer(details)",
}
HARMFUL = """() => [
    ...document.querySelectorAll('.jp-OutputArea-output :is(img, script, iframe, svg[onload])'),
    ...document.querySelectorAll('.jp-OutputArea-output a:not(.wf-file)'),
    ...document.querySelectorAll('.jp-OutputArea-output :is(mjx-container, .MathJax, marquee)'),
].filter(each => !each.closest('.js-plotly-plot') && !each.matches(
    '.wf-saved img[src^="data:image/webp;"]:not([onerror], [onload])'
)).map(each => each.outerHTML)"""
TO_THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
PAINTED = """() => [...document.querySelectorAll('.wf .js-plotly-plot')].map(plot => [
    getComputedStyle(plot.querySelector('.infolayer text, .slicetext')).fill,
    getComputedStyle(plot.closest('.wf')).backgroundColor,
])"""


@pytest.fixture(scope="module")
def lab(lab_server):
    """Serve the explorer's notebook, and one with plain, hostile and odd holdings."""
    trip = (ROOT / "notebooks" / f"{NOTEBOOK}.ipynb").read_text(encoding="utf-8")
    several = notebook_of(SETUP, *CELLS.values(), "strange")
    with lab_server.serving(**{NOTEBOOK: trip, "several": several}) as address:
        yield address


@contextmanager
def wide_tab(chromium):
    """Open a tab of a usual width."""
    with chromium.new_context(viewport={"width": 1280, "height": 1400}) as context:
        yield Visit(context.new_page())


@pytest.fixture
def wide(chromium):
    """Open a wide tab."""
    with wide_tab(chromium) as visit:
        yield visit


@pytest.fixture(scope="module")
def several(chromium, lab):
    """Show several explorers on one page."""
    with wide_tab(chromium) as visit:
        open_and_run(visit.page, lab, "several.ipynb")
        for name in CELLS:
            expect(shown(visit.page, name)).to_be_visible()
        yield visit


def shown(page, name):
    """Return one of several explorers."""
    cell = page.locator(".jp-CodeCell").nth([*CELLS].index(name) + 1)
    return cell.locator(".wf", has=page.locator(".js-plotly-plot .main-svg"))


def errors(visit):
    """Return the page's errors."""
    return [message for message in visit.messages if not message.startswith("warning")]


def output(page, text):
    """Return the output of the cell that begins with a text."""
    cell = page.locator(".jp-CodeCell", has=page.locator(".jp-InputArea-editor", has_text=text))
    return cell.first.locator(".jp-OutputArea-output", has=page.locator(".wf")).first


def fetch_and_cancel(panel):
    """Paste, correct a bad line, fetch, cancel, and fetch the rest."""
    panel.get_by_label("Paste wallets").fill("\n".join(["nonsense", *MANY]))
    panel.get_by_role("button", name="Fetch").click()
    expect(panel.get_by_role("alert").first).to_contain_text("Line 1: nonsense: there is no dot")
    expect(panel.get_by_label("Paste wallets")).to_have_value("nonsense")
    panel.get_by_label("Paste wallets").fill("")
    panel.get_by_role("button", name="Fetch").click()
    expect(panel).to_contain_text("of 45 wallets, about")
    panel.get_by_role("button", name="Cancel").click()
    expect(panel).to_contain_text(re.compile(r"\d+ cancelled: cancelled before"))
    panel.get_by_role("button", name=re.compile("Retry")).click()
    expect(panel).to_contain_text("45 wallets on 4 blockchains: 42 ok, 3 failed")


def pick(explorer, what, text):
    """Open a picker, type into its search, and press Enter."""
    explorer.get_by_role("button", name=what.capitalize(), exact=False).first.click()
    expect(explorer.get_by_label(f"Find {what}")).to_be_focused()
    explorer.page.keyboard.type(text)
    explorer.page.keyboard.press("Enter")


def test_the_whole_trip(lab, wide, service):
    """Every step of an exploring person; nothing leaves this machine, and there is no error."""
    page = wide.page
    open_and_run(page, lab, f"{NOTEBOOK}.ipynb")
    panel, explorer = output(page, "panel = "), output(page, "explorer = wf")
    expect(explorer.locator(".js-plotly-plot .treemaplayer .surface").first).to_be_visible()
    fetch_and_cancel(panel)
    expect(explorer).to_contain_text("42 of 45 wallets are known")
    title = explorer.locator(".wf-chart-title")
    before = title.text_content()
    pick(explorer, "blockchains", "polyg")
    expect(explorer).to_contain_text("39 of 41 wallets are known")
    pick(explorer, "tokens", "usdt polygon")
    expect(title).not_to_have_text(before)
    expect(explorer.locator(".wf-row:not([hidden])").first).to_contain_text("USDT")
    explorer.get_by_role("button", name="Download").click()
    with page.expect_download() as caught:
        explorer.get_by_role("button", name="CSV").click()
    csv = pd.read_csv(io.BytesIO(caught.value.path().read_bytes()), dtype="str")
    requested = ["POLYGON.0x" + "3" * 40, *MANY]
    with service.client(cache="memory") as client:
        details = fetch_wallets(requested, client=client, on_failure="ignore")
    usdt = ("POLYGON", "0xc2132d05d31c914a87c6611c10748aeb04b58e8f")
    held = ExplorerData(details).select_holdings(Selection(tokens=(usdt,))).held.holdings
    assert csv.amount.tolist() == [str(amount) for amount in held.amount]
    assert csv.address.tolist() == held.address.tolist()
    assert (wide.outside_requests, errors(wide)) == ([], [])


def test_hostile_symbols_in_the_page(several):
    """No untrusted element is in any output, and no formula."""
    page = several.page
    explorer = shown(page, "hostile")
    explorer.get_by_role("button", name="Tokens").click()
    tokens = explorer.get_by_role("listbox", name="Tokens").get_by_role("option")
    for symbol in ("<b>USDC</b>", SYMBOLS["two dollars"]):
        explorer.get_by_label("Find tokens").fill(symbol)
        expect(tokens.first.locator(".wf-option-name")).to_have_text(symbol)
    assert page.evaluate(HARMFUL) == []
    assert page.evaluate("window.__ran || 0") == 0
    assert (several.outside_requests, errors(several)) == ([], [])


def test_clicks_add_and_the_keyboard_stays(several):
    """A click adds; JupyterLab leaves the arrow keys and the buttons' keys to the explorer."""
    page = several.page
    explorer = shown(page, "plain")
    explorer.get_by_role("button", name=re.compile("^Wallets")).press("Enter")
    listed = explorer.get_by_role("listbox", name="Wallets")
    wallets, chosen = listed.get_by_role("option"), listed.get_by_role("option", selected=True)
    for count, place in enumerate((0, 2, 3), 1):
        wallets.nth(place).click()
        expect(chosen).to_have_count(count)
    wallets.nth(2).click()
    expect(chosen).to_have_count(2)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(wallets.nth(3)).to_have_attribute("aria-selected", "false")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(explorer.get_by_role("button", name=re.compile("^Wallets"))).to_be_focused()
    cells = page.locator(".jp-Cell")
    before = cells.count()
    for part in (explorer.locator("select").first, explorer.locator("summary").first):
        part.focus()
        page.keyboard.press("b")  # JupyterLab adds a cell
        page.keyboard.press("Tab")
    expect(cells).to_have_count(before)
    assert (several.outside_requests, errors(several)) == ([], [])


def test_charts_follow_the_page(several):
    """Text and background change with JupyterLab's theme, unless the user chose a template."""
    page = several.page
    expect(page.locator(".wf .js-plotly-plot .main-svg:first-child")).to_have_count(len(CELLS))
    for theme, light in (("JupyterLab Dark", "false"), ("JupyterLab Light", "true")):
        page.evaluate(TO_THEME, theme)
        page.wait_for_function(f"document.body.dataset.jpThemeLight === '{light}'")
        is_dark = f"(+/\\d+/.exec(({PAINTED})()[0][1])[0] < 100)"
        page.wait_for_function(f"{is_dark} === {str(light == 'false').lower()}")
    assert (several.outside_requests, errors(several)) == ([], [])
