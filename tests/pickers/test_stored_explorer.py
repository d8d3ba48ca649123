"""The explorer of a folder shows what that of its frames does."""

import json
import re
from threading import Event

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from copied_code import executed
from drawn_fetches import TOKENS, details_of, fetches_of
from hypothesis import given, settings
from hypothesis import strategies as st
from ipywidgets.widgets.widget import _instances
from parted import in_parts
from widgets import Line, Page, answers, ask, wait

import walletframe as wf
from walletframe.frames import WalletDetails
from walletframe.pickers import HoldingsExplorer
from walletframe.pickers.cut import Cut
from walletframe.pickers.folder import Folder
from walletframe.pickers.portfolio import Portfolio, Selection
from walletframe.pickers.widget import LOCK, NotReadError
from walletframe.service import SHOWCASE


@pytest.fixture(autouse=True)
def nothing_left():
    """Expect that every test closes the widgets that it opens."""
    before = set(_instances)
    yield
    assert set(_instances) == before


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
    assert "fill in: what was done to the folder" in explorer.code
    explorer.close()


def test_code_reads_the_folder(both):
    """Lines that need no fetch."""
    frames, folder = both
    names = executed(folder.code)
    assert len(names["shown"]) == len(frames.shown.holdings)


def test_refresh_leaves_a_folder_as_it_is(both, details):
    """And says what does that; the explorer can still be given something else."""
    _, folder = both
    folder.refresh()
    assert "Refresh leaves a folder as it is" in Page(folder).alert()
    folder.details = details
    assert folder.details is details


@pytest.fixture
def large(stored, monkeypatch):
    """Give the explorer of a folder of which only few balances are read at a time."""
    monkeypatch.setattr("walletframe.pickers.reading.MOST_ROWS", 2)
    monkeypatch.setattr("walletframe.pickers.folder.MOST_ROWS", 2)
    explorer = HoldingsExplorer(stored)
    yield explorer
    explorer.close()


PICKED = [
    {},
    {"spam": True},
    {"dust": False},
    {"pick": {"of": "blockchains", "values": ["ETH"]}},
    {"pick": {"of": "labels", "values": [["owner", "Ada"]]}},
    {"pick": {"of": "tokens", "values": [["ETH", None]]}},
    {"group": "owner", "chart": "Heatmap"},
    {"group": "owner", "chart": "Bars by wallet", "thing": "assets"},
]
TABLES = [{"kind": "rows", "by": by} for by in ("token", "wallet", "owner", "asset", "blockchain")]
LEFT = {"kind": "remaining", "of": ["wallets", "tokens", "blockchains", "labels"]}
LISTS = [{"kind": f"options {kind}"} for kind in LEFT["of"]]
OWN = {"view", "rows", "offered", "edition", "table", "measures", "groups"}  # of each explorer


@pytest.mark.parametrize("picked", PICKED)
def test_sums_of_a_folder_are_those_of_its_frames(both, large, picked):
    """The picture of many balances, their tables, and what the pickers leave each other."""
    asked = {"kind": "chart", "chart": "Bars by blockchain", **picked}
    questions = [asked, *TABLES, LEFT, *LISTS]
    answers(large, {"kind": "chart"})
    expected, found = (answers(each, *questions) for each in (both[0], large))
    *found[0]["about"], last = found[0]["about"]
    assert last.startswith("Sums of ")
    for one, other in zip(found, expected, strict=True):
        ours, theirs = (json.loads(json.dumps(each)) for each in (one, other))
        assert {name: ours[name] for name in ours.keys() - OWN} == {
            name: theirs[name] for name in theirs.keys() - OWN
        }
    figures = [json.dumps(Page(each).plotted()["data"]) for each in (large, both[0])]
    ours, theirs = (re.sub(r"\d+\.\d+", lambda found: found[0][:14], each) for each in figures)
    assert ours == theirs  # but for the last digits, since sums of sums are added up


@pytest.mark.parametrize(
    "pick",
    [
        {"of": "wallets", "values": [str(SHOWCASE[0])]},
        {"of": "wallets", "values": [str(SHOWCASE[4])]},  # which holds spam
        {"of": "tokens", "values": [["ETH", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"]]},
    ],
)
def test_few_balances_are_shown_one_by_one(both, large, monkeypatch, pick):
    """As those of the frames are, with code that makes them."""
    monkeypatch.setattr("walletframe.pickers.folder.MOST_ROWS", 60)
    questions = [{"kind": "chart", "pick": pick}, {"kind": "rows"}, LEFT, {"kind": "status"}]
    answers(large, {"kind": "chart"})
    expected, found = (answers(each, *questions) for each in (both[0], large))
    for each in (expected[1], found[1]):  # bars, and room for digits, are those of all in frames
        each["columns"] = [column["label"] for column in each["columns"]]
        for cells in each["cells"].values():
            cells.pop("bar", None)
    for one, other in zip(found, expected, strict=True):
        assert {name: one[name] for name in one.keys() - OWN} == {
            name: other[name] for name in other.keys() - OWN
        }
    pd.testing.assert_frame_equal(
        large.shown.holdings.reset_index(drop=True),
        both[0].shown.holdings.reset_index(drop=True),
    )
    names = executed(large.code)
    assert len(names["shown"]) == len(large.shown.holdings)
    large.save("CSV")
    assert large._alert == ""


def test_what_a_folder_is_too_large_for_is_said(large):
    """With what to do in its place."""
    with pytest.raises(wf.WalletframeError, match="too many to be had one by one"):
        _ = large.shown  # waits until it is read
    [said, status] = answers(large, {"kind": "chart", "chart": "Heatmap"}, {"kind": "status"})
    assert said["reason"].startswith("No such chart of ")
    assert "pick wallets or tokens to see single ones" in said["reason"]
    assert status["lines"][0].startswith("14 wallets on 12 blockchains")
    large.save("CSV")
    assert "too many to be had one by one" in large._alert
    assert "stored.wf.value().wf.without_spam().wf.totals" in large.code
    names = executed(large.code)
    assert len(names["shown"]) > 0


def of_two(service, tmp_path, monkeypatch, priced):
    """Write a folder of two wallets with other prices, of which none are read one by one."""
    for name in ("reading", "folder"):
        monkeypatch.setattr(f"walletframe.pickers.{name}.MOST_ROWS", 3)
    folder = tmp_path / "bulk"
    with service.client(cache="memory") as client:
        wf.fetch_to_parquet(["NEAR.alice.near", "ETH.0x1"], folder, client=client)
    for path in (folder / "holdings").iterdir():
        table = pq.read_table(path, partitioning=None)
        place = table.column_names.index("price")
        pq.write_table(table.set_column(place, "price", priced(table)), path)
    return folder


def unpriced(table):
    """Give none a price."""
    return pa.nulls(len(table), pa.float64())


def test_a_folder_without_prices(service, tmp_path, monkeypatch):
    """Has a chart where one token is picked; what was flagged or valued before is as it was."""
    folder = of_two(
        service, tmp_path, monkeypatch, lambda table: pa.nulls(len(table), pa.float64())
    )
    stored = wf.open_wallets(folder)
    explorer = HoldingsExplorer(stored.wf.flag_spam(deny=[("NEAR", None)]))
    [said] = answers(explorer, {"kind": "chart"})
    assert "of which no values are known" in said["reason"]
    assert said["spam"]["text"] != ""
    pick = {"of": "tokens", "values": [["ETH", None]]}
    [said] = answers(explorer, {"kind": "chart", "pick": pick})
    assert said["measure"] == "amounts"
    explorer.details = stored.wf.value({("ETH", None): 3000}, currency="EUR")
    [said] = answers(explorer, {"kind": "chart"})
    assert said["summary"]["prices"] == "prices of your own"
    assert said["summary"]["value"].endswith(" EUR")
    explorer.close()


def test_prepare_takes_no_folder(stored, large):
    """What it would do can be done to the folder."""
    with pytest.raises(wf.WalletframeError, match="in memory"):
        HoldingsExplorer(stored, prepare=lambda holdings: holdings)
    assert large.details is stored


def test_a_newer_pick_wins(large, monkeypatch):
    """What is read for another one is left, and both questions are answered with the newer."""
    begun, going = Event(), Event()
    read = Cut.over

    def over(cut, work, names=()):
        for done in read(cut, work, names):
            yield done
            begun.set()
            assert going.wait(60)

    monkeypatch.setattr(Cut, "over", over)
    large.comm = line = Line(large.comm.comm_id)
    for number in range(2):
        large._handle_custom_msg({"kind": "chart", "n": number, "spam": number == 1}, [])
        assert begun.wait(60)
    going.set()
    wait()
    said = [message["data"].get("content", {}) for message in line.taken()]
    assert {each["n"]: each["spam"]["shown"] for each in said if "n" in each} == {0: True, 1: True}


def test_other_details_while_it_reads(large, details, monkeypatch):
    """Whatever was asked of the folder is answered with these."""
    read = Cut.over

    def over(cut, work, names=()):
        large.details = details
        yield from read(cut, work, names)

    monkeypatch.setattr(Cut, "over", over)
    [said, rows] = answers(large, {"kind": "chart"}, {"kind": "rows"})
    assert said["measures"][-1] == ["balances", "number of balances"]
    assert rows["groups"][0] == {"name": "", "label": ""}


def test_other_details_before_it_reads(large, details):
    """Nothing of the folder is read."""
    with LOCK:
        large._handle_custom_msg({"kind": "chart", "n": 1}, [])
        large.details = details
    wait()
    assert Page(large).look()["measures"][-1] == ["balances", "number of balances"]


def test_not_all_that_was_read_is_kept(large, monkeypatch):
    """What was seen long ago is read again."""
    monkeypatch.setattr("walletframe.pickers.folder._KEPT", 6)
    seen = [
        answers(large, {"kind": "chart", "pick": {"of": "blockchains", "values": [chain]}})
        for chain in ("ETH", "BSC", "ETH")
    ]
    assert seen[0][0]["summary"] == seen[2][0]["summary"]


def test_a_saved_notebook_has_what_is_known_without_reading(large, capsys):
    """How complete it is."""
    large._ipython_display_()
    assert "14 wallets on 12 blockchains" in capsys.readouterr().out


def test_prices_that_are_none(service, tmp_path, monkeypatch):
    """Are told, and nothing is valued."""
    folder = of_two(service, tmp_path, monkeypatch, lambda table: pa.array([-1.0] * len(table)))
    explorer = HoldingsExplorer(wf.open_wallets(folder))
    [said] = answers(explorer, {"kind": "chart"})
    assert "can't be used" in said["summary"]["unpriced"]
    explorer.close()


unknown = fetches_of([*TOKENS, (None, None, "USDC"), (None, "0xa0", "claim at x.io")])


@settings(max_examples=25)
@given(unknown, st.booleans(), st.booleans())
def test_what_is_left_out_is_counted_as_of_frames(fetch, spam, dust):
    """Spam tokens, those without a name among them, and dust."""
    wallets, holdings = details_of(fetch)
    holdings = holdings.assign(price=[[0.001, 2.0][n % 2] for n in range(len(holdings))])
    details, selection = WalletDetails(wallets, holdings), Selection(spam=spam, dust=dust)
    folder = Folder(in_parts(details))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("walletframe.pickers.folder.MOST_ROWS", -1)
        while (found := selected(folder, selection)) is None:
            folder.load(lambda: None)
    expected = Portfolio(details).select(selection)
    for name in ("spam_tokens", "dust_balances"):
        assert getattr(found, name) == getattr(expected, name)
    assert found.summed.balances == len(expected.held.holdings)
    assert found.dust_value == pytest.approx(expected.dust_value)


def selected(folder, selection):
    """Return what is selected, or None where it is to be read first."""
    try:
        return folder.select(selection)
    except NotReadError:
        return None


def test_cancelled(large, monkeypatch):
    """What was selected before is shown again; before anything was, that is told."""
    read = Cut.over

    def over(cut, work, names=()):
        large.cancel()
        yield from read(cut, work, names)

    with monkeypatch.context() as patch:
        patch.setattr(Cut, "over", over)
        large.comm = line = Line(large.comm.comm_id)
        large._handle_custom_msg({"kind": "chart", "n": 1}, [])
        wait()
        said = [message["data"].get("content", {}) for message in line.taken()]
        assert {"kind": "chart", "n": 1, "failed": True} in said
        assert "reading the folder was cancelled" in large._alert
        with pytest.raises(wf.WalletframeError, match="cancelled"):
            _ = large.code

    answers(large, {"kind": "chart"})
    monkeypatch.setattr(Cut, "over", over)
    large._handle_custom_msg({"kind": "chart", "n": 1, "dust": False}, [])
    wait()
    assert "cancelled" in large._alert
    assert Page(large).look()["dust"]["shown"]


def test_a_broken_folder(service, tmp_path, monkeypatch):
    """Is told, to the page and to Python."""
    folder = of_two(service, tmp_path, monkeypatch, lambda table: table["price"])
    explorer = HoldingsExplorer(wf.open_wallets(folder))
    for path in (folder / "holdings").iterdir():
        path.unlink()
    with pytest.raises(wf.WalletframeError, match="part"):
        _ = explorer.shown
    assert "part" in explorer._alert
    explorer.close()
