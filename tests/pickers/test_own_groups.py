"""The explorer by kept columns of wallets, and by asset."""

import json

import pandas as pd
import pytest
from copied_code import executed_on
from widgets import MODELS, Page, ask, wait

from walletframe.pandas_versions import TEXT
from walletframe.pickers import HoldingsExplorer
from walletframe.service import SHOWCASE

OWNERS = ["Ada", "Ben", "Ada", None, "<b>$x</b>"]


@pytest.fixture(scope="module")
def details(service):
    """Return the wallets of the showcase, with kept owners and levels."""
    people = pd.DataFrame({"wallet": [str(wallet) for wallet in SHOWCASE]})
    people["owner"] = [OWNERS[place % 5] for place in range(len(people))]
    people["level"] = [place % 2 for place in range(len(people))]
    people["name"] = [f"number {place}" for place in range(len(people))]
    with service.client(cache="memory") as client:
        return people.wf.fetch(keep=["owner", "level", "name"], client=client, on_failure="ignore")


@pytest.fixture
def explorer(details, client):
    """Return an explorer of them, and check that it leaves nothing."""
    before = set(MODELS)
    opened = HoldingsExplorer(details, client=client)
    yield opened
    opened.close()
    assert set(MODELS) == before


def choose(explorer, *labels):
    """Choose labels."""
    return Page(explorer).choose("labels", *labels)


def test_labels_select_wallets(explorer, details):
    """Any of one column, and each of several; a missing value is a label, too."""
    owners = details.wallets.owner
    choose(explorer, ("owner", "Ada"), ("owner", ""))
    assert explorer.shown.wallets.equals(details.wallets[owners.isna() | (owners == "Ada")])
    choose(explorer, ("owner", "Ada"), ("level", "1"))
    levels = details.wallets.level
    assert explorer.shown.wallets.equals(details.wallets[(owners == "Ada") & (levels == 1)])
    requested = set(explorer.shown.wallets.address)
    assert set(explorer.shown.holdings.address) <= requested
    assert "Ada · owner" in Page(explorer).listed("Labels")
    answer = choose(explorer, ("owner", ""))
    assert "no owner · owner" in Page(explorer).listed("Labels")
    assert answer["crumbs"] == ["no owner"]


@pytest.mark.parametrize("chart", ["Treemap", "Sunburst", "Bars", "Heatmap"])
@pytest.mark.parametrize("things", ["tokens", "assets"])
def test_charts_by_a_kept_column(explorer, details, chart, things):
    """Each names it, and its code makes the same of the same rows."""
    Page(explorer).look(chart=chart, group="owner", combine=things)
    answer = choose(explorer, ("owner", "Ada"), ("owner", "<b>$x</b>"), ("owner", ""))
    assert Page(explorer).alert() == ""
    assert "owner" in answer["title"]
    made = executed_on(details, explorer.code)
    assert json.loads(made["figure"].to_json())["data"] == answer["figure"]["data"]
    for one, other in zip(made["shown"], explorer.shown, strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_the_heading_names_levels_that_a_shortened_title_lacks(details):
    """The columns are those of the chart, even if its title is cut."""
    name = "responsible_department"
    wallets = details.wallets.rename(columns={"owner": name})
    explorer = HoldingsExplorer(details._replace(wallets=wallets))
    Page(explorer).look(group=name)
    answer = Page(explorer).choose("blockchains", "ETH")
    assert answer["heading"].endswith(f" by {name}, wallet and asset")
    explorer.close()


def test_the_code_names_kept_columns(service, client):
    """With missing labels, times or numbers, and columns of any name."""
    people = pd.DataFrame({"wallet": [str(wallet) for wallet in SHOWCASE[:3]]})
    people["owner"] = ["Ada", None, "Ben"]
    people["since"] = pd.to_datetime(["2026-01-31", None, "2026-02-01"])
    people["most"] = [float("inf"), 0.5, None]
    people["level"] = pd.array([1, None, 3], dtype="Int64")
    people["cost centre"] = ["a", "b", None]
    keep = ["owner", "since", "most", "level", "cost centre"]
    explorer = HoldingsExplorer(people.wf.fetch(keep=keep, client=client, on_failure="ignore"))
    for labels in (
        [("since", "2026-01-31"), ("level", "1")],
        [("owner", ""), ("most", "0.5")],
        [("cost centre", ""), ("most", "")],
    ):
        choose(explorer, *labels)
        made = executed_on(explorer.details, explorer.code)["shown"]
        assert made.wallets.equals(explorer.shown.wallets)
        assert len(made.wallets) == 1
    explorer.close()


def node_of(answer, depth):
    """Return the id of the first node of a ring that is one group."""
    return next(each for each in answer["figure"]["data"][0]["ids"] if each.startswith(f"{depth}."))


@pytest.mark.parametrize("chart", ["Treemap", "Sunburst"])
@pytest.mark.parametrize("things", ["tokens", "assets"])
def test_a_click_on_a_node_selects_it(explorer, details, chart, things):
    """A label; a wallet in it; then its token, or all contracts of its asset."""
    page = Page(explorer)
    answer = page.look(chart=chart, group="owner", combine=things)
    click = {"id": node_of(answer, 0)}
    [chosen] = page.look(click=click, view=answer["view"])["chosen"]["labels"]
    owners = explorer.shown.wallets.owner.astype(TEXT).fillna("")
    assert [*chosen] == ["owner", owners.iloc[0]]
    assert set(owners) == {chosen[1]}
    page.look(back=0)
    answer = page.look()
    answer = page.look(click={"id": node_of(answer, 1)}, view=answer["view"])
    [wallet] = answer["chosen"]["wallets"]
    assert set(explorer.shown.holdings.address) == {wallet.partition(".")[2]}
    page.look(back=0)
    answer = page.look()
    answer = page.look(click={"id": node_of(answer, 2)}, view=answer["view"])
    [wallet] = answer["chosen"]["wallets"]
    assert set(explorer.shown.holdings.address) == {wallet.partition(".")[2]}
    assert answer["chosen"]["tokens"]
    others = {"id": f"o{node_of(answer, 0)}"}
    assert page.look(click=others, view=answer["view"])["chosen"] == answer["chosen"]
    assert page.alert() == ""


def test_a_click_on_a_bar_a_cell_or_the_legend_selects(explorer, details):
    """A bar of an owner, and of a blockchain; a cell both; an asset all contracts."""
    page = Page(explorer)
    answer = page.look(chart="Bars", group="owner", combine="assets")
    bar = {"trace": 0, "point": 0}
    assert len(page.look(click=bar, view=answer["view"])["chosen"]["labels"]) == 1
    answer = page.look(back=0)
    names = [trace["name"] for trace in answer["figure"]["data"]]
    legend = {"token": names.index("ETH")}
    chosen = page.look(click=legend, view=answer["view"])["chosen"]["tokens"]
    assert len(chosen) > 1
    assert len(set(explorer.shown.holdings.token_blockchain)) > 1
    assert set(explorer.shown.holdings.symbol) == {"ETH"}
    page.look(back=0)
    answer = page.look(group="blockchain")
    assert answer["title"] == "Holdings by blockchain"
    chosen = page.look(click=bar, view=answer["view"])["chosen"]
    assert (len(chosen["labels"]), len(chosen["blockchains"])) == (0, 1)
    page.look(back=0)
    answer = page.look(chart="Heatmap", group="owner")
    chosen = page.look(click={"trace": 0, "point": [0, 0]}, view=answer["view"])["chosen"]
    assert len(chosen["labels"]) == 1
    assert len(chosen["tokens"]) >= 1
    assert page.alert() == ""


def test_without_kept_columns_there_are_no_groups(explorer, details):
    """Names identify single wallets, so they make no groups; a removed column is deselected."""
    page = Page(explorer)
    page.look(group="owner")
    choose(explorer, ("owner", "Ada"))
    explorer.details = details._replace(wallets=details.wallets.drop(columns=["owner", "level"]))
    answer = page.look()
    assert len(explorer.shown.wallets) == len(details.wallets)
    assert "owner" not in answer["title"]
    assert [name for name, _ in answer["groups"]] == ["blockchain"]
    assert page.look(group="owner")["group"] == "blockchain"  # a page may still have the old ones
    assert ask(explorer, "remaining")["counts"]["labels"]["all"] == 0


def test_labels_filter(explorer, details):
    """Labels of remaining wallets, and the wallets that have them."""
    choose(explorer, ("owner", "Ada"))
    counts = ask(explorer, "remaining")["counts"]
    assert counts["wallets"]["remaining"] == (details.wallets.owner == "Ada").sum()
    Page(explorer).choose("wallets", *Page(explorer).look()["chosen"]["wallets"])
    Page(explorer).choose("labels")
    Page(explorer).pick("Tokens", 0)
    holders = set(explorer.shown.holdings.address)
    owners = details.wallets[details.wallets.address.isin(holders)]
    left = ask(explorer, "options labels")
    kept = {tuple(left["values"][place]) for place in left["remaining"]["indices"]}
    assert {label for column, label in kept if column == "owner"} <= {
        "" if pd.isna(owner) else owner for owner in owners.owner
    }


def test_refresh_keeps_kept_columns(explorer, details):
    """Wallets with new answers and without have them."""
    Page(explorer).look(group="owner")
    explorer.refresh()
    wait()
    assert "owner" in Page(explorer).look()["title"]
    kept = ["owner", "level", "name"]
    pd.testing.assert_frame_equal(explorer.details.wallets[kept], details.wallets[kept])
    assert (explorer.details.wallets["source"] == "service").any()


def test_an_unknown_label_is_ignored(explorer):
    """A page's label that is not offered selects nothing."""
    assert choose(explorer, ("owner", "Zoe"))["chosen"]["labels"] == []
