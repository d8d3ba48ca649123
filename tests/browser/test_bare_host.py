"""Each widget in a host with anywidget's specified functions alone: clicked, typed into."""

import json

import pytest
from frontends import serving
from playwright.sync_api import expect
from widgets import wait_for

WIDGETS = ("blockchains", "wallets", "tokens", "panel", "fetched", "explorer")
SETUP = """
import json
from pathlib import Path
import walletframe as wf
from walletframe.service import SHOWCASE, sandbox

client = sandbox().client(cache="memory")
details = client.fetch([*SHOWCASE], on_failure="ignore", progress=False)
blockchains, wallets = wf.BlockchainPicker(details), wf.WalletPicker(details)
tokens, panel = wf.TokenPicker(details), wf.FetchPanel(client=client)
fetched = wf.TokenPicker(panel.details, description="Fetched tokens")
explorer = wf.HoldingsExplorer(details, client=client)
picked = {}

def note(change):
    picked[change.owner.description] = change.new
    new = Path(__file__).with_name("new.json")
    new.write_text(json.dumps(picked))
    new.replace(new.with_name("picked.json"))  # the reader finds a whole file

def narrow(change):
    held = details.holdings
    tokens.narrow(held[held.blockchain.isin(change.new)] if change.new else None)

for each in (blockchains, wallets, tokens, fetched):
    each.observe(note, "value")
blockchains.observe(narrow, "value")
panel.observe(lambda change: fetched.offer(change.new), "details")
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """Serve one of each; return the address, and the file of the selection in Python."""
    folder = tmp_path_factory.mktemp("bare")
    with serving("bare", folder, SETUP, ", ".join(WIDGETS)) as address:
        yield address, folder / "picked.json"


@pytest.fixture
def shown(host, visit):
    """Open the page, return its widgets by name, and check that no error occurs."""
    visit.open(host[0])
    roots = visit.page.locator("main > div")
    expect(roots).to_have_count(len(WIDGETS))
    yield {name: roots.nth(place) for place, name in enumerate(WIDGETS)}
    errors = [message for message in visit.messages if message.startswith("error")]
    assert (visit.outside_requests, errors) == ([], [])


def wait_for_selection(host, **picked):
    """Wait until Python has a selection."""
    wait_for(lambda: host[1].exists() and json.loads(host[1].read_text()).items() >= picked.items())


def pick(root, things, text):
    """Type into a picker's search, and click the first result."""
    root.get_by_role("combobox", name=f"Find {things}").fill(text)
    root.locator(".wf-option").first.click()


def test_pickers_pick(host, shown):
    """Clicks and pasted text reach Python, and Python's filter reaches the page."""
    blockchains, wallets, tokens = (shown[name] for name in WIDGETS[:3])
    expect(tokens).to_contain_text("52 to choose from")
    pick(blockchains, "blockchains", "near")
    wait_for_selection(host, Blockchains=["NEAR"])
    expect(tokens).not_to_contain_text("52 to choose from")
    pick(tokens, "tokens", "near")
    wait_for_selection(host, Tokens=[["NEAR", None]])
    wallets.get_by_label("Paste wallets").fill("NEAR.bob.near\nnonsense")
    wallets.get_by_role("button", name="Add wallets").click()
    expect(wallets.get_by_role("alert").first).to_contain_text("nonsense: there is no dot")
    wait_for_selection(host, Wallets=["NEAR.bob.near"])
    chosen = wallets.get_by_role("group", name="Selected wallets").get_by_role("button")
    chosen.last.click()
    wait_for_selection(host, Wallets=[])


def test_the_panel_fetches(host, shown):
    """The panel fetches from the sandbox, on its own thread; another picker offers the result."""
    panel, fetched = shown["panel"], shown["fetched"]
    panel.get_by_label("Paste wallets").fill("NEAR.alice.near\nAVAX_CCHAIN.0x" + "7" * 40)
    panel.get_by_role("button", name="Fetch").click()
    expect(panel).to_contain_text("2 wallets on 2 blockchains: 1 ok, 1 failed")
    expect(panel.get_by_role("button", name="Retry 1 unknown wallet")).to_be_visible()
    expect(panel.get_by_role("button", name="Cancel")).to_be_hidden()
    pick(fetched, "fetched tokens", "near")
    wait_for_selection(host, **{"Fetched tokens": [["NEAR", None]]})


def test_the_explorer_explores(shown):
    """A filter and a click in the chart leave fewer rows, and files of them are downloaded."""
    explorer, page = shown["explorer"], shown["explorer"].page
    nodes = explorer.locator(".js-plotly-plot g.slice")
    expect(explorer).to_contain_text("48 balances")
    nodes.filter(has_text="0x1111…1111").first.click(position={"x": 20, "y": 8})
    expect(explorer.get_by_role("navigation")).to_contain_text("0x1111…1111")
    expect(explorer).not_to_contain_text("48 balances")
    explorer.get_by_role("button", name="Tokens").click()
    pick(explorer, "tokens", "usdc")
    expect(explorer).to_contain_text("1 balance")
    explorer.get_by_role("button", name="Download").first.click()
    for name, starts in (("CSV", b"blockchain,"), ("PNG", b"\x89PNG"), ("Report", b"<!")):
        with page.expect_download() as caught:
            explorer.get_by_role("button", name=name, exact=True).click()
        assert caught.value.path().read_bytes().startswith(starts)
    explorer.get_by_role("button", name="Copy code").click()
    expect(explorer.get_by_text("Copied details.wf.where(…) and the chart")).to_be_visible()
    explorer.get_by_role("button", name="Refresh").click()
    expect(explorer.get_by_role("button", name="Retry all 2 unknown wallets")).to_be_visible()
