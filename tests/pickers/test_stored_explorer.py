"""The explorer of a folder shows what that of its frames does."""

import pandas as pd
import pytest
from copied_code import executed
from widgets import MODELS, Page, ask

import walletframe as wf
from walletframe.pickers import HoldingsExplorer
from walletframe.service import SHOWCASE


@pytest.fixture(autouse=True)
def nothing_left():
    """Expect that every test closes the widgets that it opens."""
    before = set(MODELS)
    yield
    assert set(MODELS) == before


@pytest.fixture(scope="module")
def stored(service, tmp_path_factory):
    """Give a folder of the wallets of the showcase, some with an owner; two of them failed."""
    owners = [["Ada", "Bob", None][place % 3] for place in range(len(SHOWCASE))]
    asked = pd.DataFrame({"wallet": [*map(str, SHOWCASE)], "owner": owners})
    folder = tmp_path_factory.mktemp("stored") / "bulk"
    with service.client(cache="memory") as client:
        for some in (asked[:5], asked[5:9], asked[9:]):  # a part each
            given = {"keep": ["owner"], "client": client, "on_failure": "ignore"}
            wf.fetch_to_parquet(some, folder, progress=False, **given)
    return wf.open_wallets(folder)


@pytest.fixture(scope="module")
def details(stored):
    """Give the frames of the folder."""
    return wf.read_wallets(stored.holdings.root)


@pytest.fixture
def both(details, stored):
    """Give the explorers of the frames and of the folder."""
    explorers = HoldingsExplorer(details), HoldingsExplorer(stored)
    yield explorers
    for explorer in explorers:
        explorer.close()


def seen(explorer, **asked):
    """Return what a page is told, but for the names of this view."""
    page = Page(explorer)
    said = page.look(**asked)
    told = {name: said[name] for name in said.keys() - {"view", "rows", "offered", "edition"}}
    tables = [ask(explorer, "rows", by=by) for by in ("", "token", "wallet", "owner")]
    left = ask(explorer, "remaining", of=["wallets", "tokens", "blockchains", "labels"])
    return told, [(each["cells"], each["counted"]) for each in tables], left, page.status()


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"spam": True},
        {"dust": False},
        {"pick": {"of": "blockchains", "values": ["ETH"]}},
        {"pick": {"of": "labels", "values": [["owner", "Ada"]]}},
        {"chart": "Bars by blockchain", "group": "owner"},
    ],
)
def test_a_folder_is_seen_as_its_frames_are(both, asked):
    """The picture, the tables, and what the pickers leave each other."""
    of_frames, of_folder = (seen(explorer, **asked) for explorer in both)
    assert of_folder == of_frames


def test_what_was_done_to_a_folder_is_seen(stored):
    """Its own values, and without what was left out."""
    prices = {("ETH", None): 3_000}
    valued = stored.wf.value(prices, currency="EUR").wf.flag_spam(deny=[("ETH", None)])
    explorer = HoldingsExplorer(valued)
    said = Page(explorer).look(spam=True)
    assert said["summary"]["value"].endswith(" EUR")
    assert said["summary"]["prices"] == "prices of your own"
    assert explorer.shown.holdings["is_spam"].any()
    explorer.close()


def test_the_code_reads_the_folder(both, stored):
    """It selects the rows that are shown of what was done to the folder, and draws them."""
    _, folder = both
    folder.details = stored.wf.value({("ETH", None): 3_000}, currency="EUR")
    Page(folder).look(dust=False, pick={"of": "labels", "values": [["owner", "Ada"]]})
    made = executed(folder.code, {"stored": folder.details})
    pd.testing.assert_frame_equal(made["shown"].holdings, folder.shown.holdings)
    assert made["shown"].wallets.equals(folder.shown.wallets)
    assert made["figure"].data


def test_refresh_leaves_a_folder_as_it_is(both, details):
    """And says what does that; the explorer can still be given something else."""
    _, folder = both
    folder.refresh()
    assert "Refresh does not change a folder" in Page(folder).alert()
    folder.details = details
    assert folder.details is details


def test_a_folder_that_is_too_large_is_refused(stored):
    """The error names what reads a part of it, and the bound is the user's."""
    count = len(wf.read_wallets(stored.holdings.root).holdings)
    with pytest.raises(wf.errors.ArgumentError) as error:
        HoldingsExplorer(stored, max_balances=count - 1)
    for said in (f"{count:,} balances", "stored.wf.where(owner=…)", "read_wallets", "max_balances"):
        assert said in str(error.value)
    HoldingsExplorer(stored, max_balances=count).close()


def test_other_details_that_are_too_large_are_told(details, stored):
    """In the widget, which shows what it did."""
    explorer = HoldingsExplorer(details, max_balances=2)
    explorer.details = stored
    assert "and the explorer takes 2" in Page(explorer).alert()
    assert len(Page(explorer).look(spam=True)["figure"]["data"]) > 0
    explorer.close()


def test_prepare_is_done_to_a_folder(stored):
    """As to frames."""
    explorer = HoldingsExplorer(stored, prepare=lambda holdings: holdings.assign(value=2.0))
    assert set(explorer.shown.holdings["value"]) == {2.0}
    explorer.close()


def test_a_broken_folder(service, tmp_path):
    """Is told."""
    with service.client(cache="memory") as client:
        wf.fetch_to_parquet(["NEAR.alice.near"], tmp_path / "bulk", client=client)
    stored = wf.open_wallets(tmp_path / "bulk")
    for path in (tmp_path / "bulk" / "holdings").iterdir():
        path.unlink()
    with pytest.raises(wf.errors.DatasetError, match="part"):
        HoldingsExplorer(stored)
