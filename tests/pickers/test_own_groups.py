"""The explorer by what a user says of wallets, and by asset."""

import json

import pandas as pd
import pytest
from ipywidgets.widgets.widget import _instances
from widgets import Page, wait

from walletframe.errors import ArgumentError
from walletframe.pickers import HoldingsExplorer
from walletframe.pickers.labels import LabelPicker
from walletframe.service import SHOWCASE

OWNERS = ["Ada", "Ben", "Ada", None, "<b>$x</b>"]


@pytest.fixture(scope="module")
def details(service):
    """Give the wallets of the showcase, whose owners and levels are kept."""
    people = pd.DataFrame({"wallet": [str(wallet) for wallet in SHOWCASE]})
    people["owner"] = [OWNERS[place % 5] for place in range(len(people))]
    people["level"] = [place % 2 for place in range(len(people))]
    people["name"] = [f"number {place}" for place in range(len(people))]
    with service.client(cache="memory") as client:
        return people.wf.fetch(keep=["owner", "level", "name"], client=client, on_failure="ignore")


@pytest.fixture
def explorer(details, client):
    """Give an explorer of them, and expect that nothing of it is left."""
    before = set(_instances)
    opened = HoldingsExplorer(details, client=client)
    yield opened
    opened.close()
    assert set(_instances) == before


def choose(explorer, *labels):
    """Choose labels, and wait until what is shown follows."""
    Page(explorer).part(LabelPicker).value = labels
    wait()


def drawn(explorer):
    """Return the chart."""
    return Page(explorer).chart()["application/vnd.plotly.v1+json"]


def test_labels_choose_wallets(explorer, details):
    """Any of one column, and each of several; what is missing is a label, too."""
    owners = details.wallets.owner
    choose(explorer, ("owner", "Ada"), ("owner", ""))
    assert explorer.shown.wallets.equals(details.wallets[owners.isna() | (owners == "Ada")])
    choose(explorer, ("owner", "Ada"), ("level", "1"))
    levels = details.wallets.level
    assert explorer.shown.wallets.equals(details.wallets[(owners == "Ada") & (levels == 1)])
    asked = set(explorer.shown.wallets.address)
    assert set(explorer.shown.holdings.address) <= asked
    assert "Ada · owner" in Page(explorer).listed("Labels")


@pytest.mark.parametrize("chart", ["Treemap", "Sunburst", "Bars by wallet", "Bars by blockchain"])
@pytest.mark.parametrize("things", ["tokens", "assets"])
def test_charts_by_a_kept_column(explorer, details, chart, things):
    """Each says so, and its code makes the same of the same rows."""
    page = Page(explorer)
    for button in (chart, "owner", things):
        page.click(button)
    choose(explorer, ("owner", "Ada"), ("owner", "<b>$x</b>"), ("owner", ""))
    assert page.alert() == ""
    assert "owner" in drawn(explorer)["layout"]["title"]["text"]
    made = {"details": details}
    exec(explorer.code, made)  # noqa: S102 - our own text
    assert json.loads(made["figure"].to_json()) == drawn(explorer)
    pd.testing.assert_frame_equal(made["shown"], explorer.shown.holdings)
    pd.testing.assert_frame_equal(made["wallets"], explorer.shown.wallets)


def test_without_kept_columns_there_is_nothing_to_choose(explorer, details):
    """Names tell single wallets, so they make no groups; what is gone is chosen no more."""
    page = Page(explorer)
    page.click("owner")
    choose(explorer, ("owner", "Ada"))
    explorer.details = details._replace(wallets=details.wallets.drop(columns=["owner", "level"]))
    wait()
    assert len(explorer.shown.wallets) == len(details.wallets)
    assert "<b>owner" not in page.html()
    with pytest.raises(ValueError, match="got 0"):
        page.part(LabelPicker)


def test_refresh_keeps_what_was_kept(explorer, details):
    """Of wallets that were asked anew, and of those that could not be."""
    explorer.refresh()
    wait()
    kept = ["owner", "level", "name"]
    pd.testing.assert_frame_equal(explorer.details.wallets[kept], details.wallets[kept])
    assert (explorer.details.wallets["source"] == "service").any()


def test_what_is_no_label_is_refused(details):
    """With what one is."""
    picker = LabelPicker(details)
    with pytest.raises(ArgumentError, match="is no label"):
        picker.value = [("owner", "Zoe")]
    picker.close()
