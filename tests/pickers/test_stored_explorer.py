"""The explorer of a folder equals that of its frames."""

import pandas as pd
import pytest
from copied_code import executed
from widgets import MODELS, Page, ask

import walletframe as wf
from walletframe.pickers import HoldingsExplorer
from walletframe.service import SHOWCASE


@pytest.fixture(autouse=True)
def nothing_left():
    """Check that a test closes its widgets."""
    before = set(MODELS)
    yield
    assert set(MODELS) == before


@pytest.fixture(scope="module")
def stored(service, tmp_path_factory):
    """Return a folder of the showcase's wallets, some with an owner; two of them failed."""
    owners = [["Ada", "Bob", None][place % 3] for place in range(len(SHOWCASE))]
    requested = pd.DataFrame({"wallet": [*map(str, SHOWCASE)], "owner": owners})
    folder = tmp_path_factory.mktemp("stored") / "bulk"
    with service.client(cache="memory") as client:
        for some in (requested[:5], requested[5:9], requested[9:]):  # a part each
            options = {"keep": ["owner"], "client": client, "on_failure": "ignore"}
            wf.fetch_to_parquet(some, folder, progress=False, **options)
    return wf.open_wallets(folder)


@pytest.fixture(scope="module")
def details(stored):
    """Return the frames of the folder."""
    return wf.read_wallets(stored.holdings.root)


@pytest.fixture
def both(details, stored):
    """Return the explorers of the frames and of the folder."""
    explorers = HoldingsExplorer(details), HoldingsExplorer(stored)
    yield explorers
    for explorer in explorers:
        explorer.close()


def page_data(explorer, **query):
    """Return the page's data, but for the names of this view."""
    page = Page(explorer)
    answer = page.look(**query)
    picture = {
        name: answer[name] for name in answer.keys() - {"view", "rows", "data_id", "edition"}
    }
    tables = [ask(explorer, "rows", by=by) for by in ("", "token", "wallet", "owner")]
    left = ask(explorer, "remaining", open=["wallets", "tokens", "blockchains", "labels"])
    return picture, [(each["cells"], each["counted"]) for each in tables], left, page.status()


@pytest.mark.parametrize(
    "requested",
    [
        {},
        {"spam": True},
        {"small": False},
        {"pick": {"filter": "blockchains", "values": ["ETH"]}},
        {"pick": {"filter": "labels", "values": [["owner", "Ada"]]}},
        {"chart": "Bars", "group": "owner"},
    ],
)
def test_a_folder_is_shown_as_its_frames(both, requested):
    """The picture, the tables, and the remaining options."""
    of_frames, of_folder = (page_data(explorer, **requested) for explorer in both)
    assert of_folder == of_frames


def test_changes_of_a_folder_are_shown(stored):
    """Its own values, and its dropped rows."""
    prices = {("ETH", None): 3_000}
    valued = stored.wf.value(prices, currency="EUR").wf.flag_spam(deny=[("ETH", None)])
    explorer = HoldingsExplorer(valued)
    answer = Page(explorer).look(spam=True)
    assert answer["summary"]["value"].endswith(" EUR")
    assert answer["summary"]["prices"] == "your own prices"
    assert explorer.shown.holdings["is_spam"].any()
    explorer.close()


def test_the_code_reads_the_folder(both, stored):
    """It selects the shown rows of the changed folder, and draws them."""
    _, folder = both
    folder.details = stored.wf.value({("ETH", None): 3_000}, currency="EUR")
    Page(folder).look(small=False, pick={"filter": "labels", "values": [["owner", "Ada"]]})
    made = executed(folder.code, {"stored": folder.details})
    pd.testing.assert_frame_equal(made["shown"].holdings, folder.shown.holdings)
    assert made["shown"].wallets.equals(folder.shown.wallets)
    assert made["figure"].data


def test_refresh_leaves_a_folder_unchanged(both, details):
    """There is a hint; the explorer can still get other details."""
    _, folder = both
    folder.refresh()
    assert (
        "Refresh is not available for holdings that are stored in a folder" in Page(folder).alert()
    )
    folder.details = details
    assert folder.details is details


def test_a_folder_that_is_too_large_is_refused(stored):
    """The error has a call that reads a part, and the user's limit."""
    count = len(wf.read_wallets(stored.holdings.root).holdings)
    with pytest.raises(wf.errors.ArgumentError) as error:
        HoldingsExplorer(stored, max_balances=count - 1)
    for text in (f"{count:,} balances", "stored.wf.where(owner=…)", "read_wallets", "max_balances"):
        assert text in str(error.value)
    HoldingsExplorer(stored, max_balances=count).close()


def test_later_details_that_are_too_large_are_refused(details, stored):
    """The widget has the message, and the old view."""
    explorer = HoldingsExplorer(details, max_balances=2)
    explorer.details = stored
    assert "but the explorer reads at most 2" in Page(explorer).alert()
    assert len(Page(explorer).look(spam=True)["figure"]["data"]) > 0
    explorer.close()


def test_prepare_is_applied_to_a_folder(stored):
    """Frames and folders are treated alike."""
    explorer = HoldingsExplorer(stored, prepare=lambda holdings: holdings.assign(value=2.0))
    assert set(explorer.shown.holdings["value"]) == {2.0}
    explorer.close()


def test_a_broken_folder_is_reported(service, tmp_path):
    """The widget shows the error."""
    with service.client(cache="memory") as client:
        wf.fetch_to_parquet(["NEAR.alice.near"], tmp_path / "bulk", client=client)
    stored = wf.open_wallets(tmp_path / "bulk")
    for path in (tmp_path / "bulk" / "holdings").iterdir():
        path.unlink()
    with pytest.raises(wf.errors.DatasetError, match="part"):
        HoldingsExplorer(stored)
