"""The explorer in Notebook 7, Voilà and marimo: it fits any width, and untrusted text is text."""

import json

import pytest
from chromium import Visit
from frontends import FRONTENDS, open_widget, serving
from lab_server import SUPPORT
from playwright.sync_api import expect
from table_page import MISPLACED, wait_for_layout

SETUP = f"""
import sys
sys.path.insert(0, {str(SUPPORT)!r})
from fetches import made_up_details
from hostile_symbols import hostile_holdings
import pandas as pd
import walletframe as wf
from walletframe.frames.schema import HOLDING_DTYPES
from walletframe.frames.details import WalletDetails
details = made_up_details(400, wallets=8, tokens=60)
strange = hostile_holdings().reindex(columns=list(HOLDING_DTYPES)).astype(HOLDING_DTYPES)
holdings = pd.concat([strange, details.holdings], ignore_index=True)
details = WalletDetails(details.wallets, holdings)
explorer = wf.HoldingsExplorer(details, prepare=lambda holdings: holdings.assign(is_spam=False))
"""
HARMFUL = """(root) => [window.__ran || 0, ...root.querySelectorAll(
    ':is(img, script, iframe, object, embed, foreignObject, a:not([class*="wf-"]))')]
    .filter(Boolean).map((each) => each.outerHTML || each)"""
SIDEWAYS = """(root) => [root, ...root.querySelectorAll('*:not(pre, .wf-unseen, .wf-unseen *)')]
    .filter((each) => !each.closest('svg') && each.clientWidth)
    .filter((each) => each.scrollWidth > each.clientWidth)
    .filter((each) => /auto|scroll/.test(getComputedStyle(each).overflowX))
    .map((each) => each.outerHTML.slice(0, 200))"""
OF_VOILA = "https://cdn.jsdelivr.net/npm/@fortawesome/"  # its own page requests icons


@pytest.fixture(scope="module", params=FRONTENDS)
def frontend(request, tmp_path_factory):
    """Serve the explorer."""
    folder = tmp_path_factory.mktemp(request.param)
    with serving(request.param, folder, SETUP, "explorer") as address:
        yield request.param, address


@pytest.fixture
def wide(chromium):
    """Open a tab of a usual width."""
    with chromium.new_context(viewport={"width": 1280, "height": 1000}) as context:
        yield Visit(context.new_page())


def test_it_is_complete_at_any_width(frontend, wide):
    """Nothing scrolls sideways, no number is truncated, no symbol acts, and a click selects."""
    page = wide.page
    open_widget(page, *frontend)
    explorer = page.locator(".wf", has=page.locator(".js-plotly-plot .main-svg"))
    expect(explorer).to_be_visible()
    wide.messages.clear()  # messages of the frontends' own scripts
    for width in (1600, 1280, 900, 600, 360):
        page.set_viewport_size({"width": width, "height": 1000})
        wait_for_layout(page)
        expect(explorer.locator(".wf-waiting")).to_have_count(0)
        assert explorer.evaluate(MISPLACED) == []
        assert explorer.evaluate(SIDEWAYS) == []
    explorer.get_by_role("button", name="View").click()
    explorer.get_by_role("button", name="Tokens").click()
    explorer.get_by_label("Find tokens").fill("<b>USDC</b>")
    tokens = explorer.get_by_role("listbox", name="Tokens").get_by_role("option")
    expect(tokens.first.locator(".wf-option-name")).to_have_text("<b>USDC</b>")
    tokens.first.click()
    expect(explorer.locator(".wf-row:not([hidden])")).to_have_count(1)
    assert explorer.evaluate(HARMFUL) == []
    assert [each for each in wide.outside_requests if not each.startswith(OF_VOILA)] == []
    assert [message for message in wide.messages if message.startswith("error")] == []


def test_a_notebook_saves_a_picture_of_the_chart(wide, tmp_path):
    """Notebook 7 does, as JupyterLab does."""
    with serving("notebook", tmp_path, SETUP, "explorer") as address:
        open_widget(wide.page, "notebook", address)
        expect(wide.page.locator(".wf-saved img")).to_have_count(1)
        wide.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    saved = json.loads((tmp_path / "shown.ipynb").read_text(encoding="utf-8"))
    html = "".join(saved["cells"][1]["outputs"][0]["data"]["text/html"])
    assert 'alt="Chart of holdings' in html
