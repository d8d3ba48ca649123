"""``details.wf``: the calls of ``holdings.wf`` with both frames of a fetch."""

import inspect
import pickle
import warnings
from operator import attrgetter

import pandas as pd
import pytest
from addresses import FOUR, ONE, THREE, TWO
from fetches import fetched, token

from walletframe import notice
from walletframe.accessor import FrameAccessor
from walletframe.accessor.holdings import DetailsAccessor, PlotAccessor
from walletframe.errors import (
    ArgumentError,
    ColumnsError,
    FramesNeededError,
    InputWarning,
    SpamWarning,
)
from walletframe.frames.details import WalletDetails

COIN = token("ETH", 1, 0, contract=None)
BAIT = token("Visit usdcgift.com to claim", contract="0xbad")
DETAILS = fetched(
    {f"ETH.{ONE}": [COIN, BAIT], f"ETH.{TWO}": "failed", f"ETH.{THREE}": [COIN], f"ETH.{FOUR}": []}
)
WALLETS, HOLDINGS = DETAILS
MOMENT = pd.Timestamp("2026-01-31", tz="UTC")
IN_TIME = WalletDetails(*(frame.assign(snapshot=MOMENT) for frame in DETAILS))
NEEDED = {"wallet": f"ETH.{ONE}"}
OF_ONE = {"share": {"token": "ETH"}, "plot.lorenz": {"asset": "ETH"}}


OF_OTHERS = {"plot.waterfall", "explore"}  # of changes, and of a complete fetch


def calls():
    """Return the names of all calls of a fetch, those of its charts as ``plot.…``."""
    result = [("", DetailsAccessor), ("plot.", PlotAccessor)]
    return [
        prefix + name
        for prefix, accessor in result
        for name, _ in inspect.getmembers(accessor, inspect.isfunction)
        if name[0] != "_" and prefix + name not in OF_OTHERS
    ]


def plain(made):
    """Return the result of a call in a comparable form."""
    return made.to_json() if hasattr(made, "to_plotly_json") else made


@pytest.mark.filterwarnings("ignore::walletframe.errors.SpamWarning")
@pytest.mark.parametrize("name", calls())
def test_a_fetch_has_the_results_of_its_holdings_and_wallets(name):
    """It holds for each call; calls that change rows return a fetch with the same wallets."""
    ask, ask_rows = attrgetter(name)(IN_TIME.wf), attrgetter(name)(IN_TIME.holdings.wf)
    taken = inspect.signature(ask_rows).parameters.values()
    needed = [each for each in taken if each.default is each.empty and each.name != "labels"]
    options = {each.name: NEEDED[each.name] for each in needed}
    options |= OF_ONE.get(name, {})
    wallets = {"wallets": IN_TIME.wallets} if any(each.name == "wallets" for each in taken) else {}
    made, expected = plain(ask(**options)), plain(ask_rows(**options, **wallets))
    if isinstance(made, WalletDetails):
        assert name in {"value", "flag_spam", "where", "without_spam"}
        assert made.wallets.equals(IN_TIME.wallets)
        made = made.holdings
    if isinstance(expected, pd.DataFrame | pd.Series):
        assert made.equals(expected)
    else:
        assert made == expected


def test_a_chart_of_changes_needs_changes():
    """A fetch has none; the hint names the call that makes them."""
    with pytest.raises(ColumnsError, match="lacks 'before', 'difference', 'change'") as caught:
        DETAILS.wf.plot.waterfall()
    assert "compare(before, after).wf.plot.waterfall()" in caught.value.hint


def test_tables_of_a_fetch_have_its_completeness():
    """No argument is needed; passed wallets count instead."""
    counts = ["wallets_ok", "wallets_asked"]
    assert DETAILS.wf.totals()[counts].iloc[0].tolist() == [3, 4]
    assert DETAILS.wf.share("ETH")[counts].sum().tolist() == [3, 4]
    known = WALLETS[WALLETS.status == "ok"]
    assert DETAILS.wf.totals(wallets=known)[counts].iloc[0].tolist() == [3, 3]
    assert "1 of 4 wallets unknown" in DETAILS.wf.plot.bar().layout.title.subtitle.text


def test_results_can_be_chained():
    """From a fetch to a figure."""
    with pytest.warns(SpamWarning, match="1 row"):
        honest = DETAILS.wf.without_spam()
    assert honest.holdings.symbol.tolist() == ["ETH", "ETH"]
    valued = honest.wf.value({("ETH", None): 2500}, currency="USD")
    assert valued.wf.totals(by="blockchain").value.tolist() == [5000]
    assert "USD" in str(valued.wf.plot.treemap().layout.meta["about"])


def test_fetches_are_not_added():
    """A sum of tuples would have four frames."""
    with pytest.raises(ArgumentError, match="fetches can't be added") as caught:
        DETAILS + DETAILS
    assert "only failed wallets are requested" in caught.value.hint


def test_a_fetch_stays_a_plain_pair():
    """It unpacks, pickles and compares as a tuple of two frames, and `df.wf` is unchanged."""
    wallets, holdings = DETAILS
    assert (len(DETAILS), DETAILS._fields) == (2, ("wallets", "holdings"))
    assert wallets is DETAILS.wallets
    assert isinstance(holdings.wf, FrameAccessor)
    again = pickle.loads(pickle.dumps(DETAILS))
    assert again.wf.totals().equals(DETAILS.wf.totals())


def test_other_tuples_have_no_accessor():
    """Swapped frames, or other objects."""
    with pytest.raises(ArgumentError, match="are in the wrong order"):
        _ = WalletDetails(HOLDINGS, WALLETS).wf
    with pytest.raises(ArgumentError, match="must be the result of a fetch"):
        _ = WalletDetails(1, 2).wf


@pytest.fixture
def _nothing_warned(monkeypatch):
    monkeypatch.setattr(notice, "_warned", set())


@pytest.mark.usefixtures("_nothing_warned")
def test_a_table_of_holdings_alone_warns_once_about_completeness():
    """At the caller's line, once in a session; not for a table with wallets."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        DETAILS.wf.totals()
        HOLDINGS.wf.share("ETH", wallets=WALLETS)
        HOLDINGS.wf.plot.bar()
        assert caught == []
        HOLDINGS.wf.totals()
        HOLDINGS.wf.share("ETH")
    [text] = caught
    assert (text.category, text.filename) == (InputWarning, __file__)
    assert "so completeness is unknown" in str(text.message)


@pytest.mark.usefixtures("_nothing_warned")
def test_a_table_of_holdings_alone_is_no_error():
    """The table is returned with any filters of warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(HOLDINGS.wf.totals()) == 2


@pytest.mark.parametrize("name", ["head", "amount", "iloc"])
def test_a_fetch_is_no_frame(name):
    """The error names the two frames, and `hasattr` still answers."""
    with pytest.raises(FramesNeededError, match=rf"'{name}'(?s:.*)details\.holdings\.head\(\)"):
        getattr(DETAILS, name)
    assert not hasattr(DETAILS, name)


@pytest.mark.parametrize("key", ["amount", ["amount"], HOLDINGS.amount > 0])
def test_a_fetch_has_no_columns(key):
    """The error names the two frames; positions are those of a tuple."""
    with pytest.raises(ArgumentError, match=r'(?s)has no item.*details\.holdings\["amount"\]'):
        DETAILS[key]
    assert (DETAILS[0], DETAILS[-1:]) == (WALLETS, (HOLDINGS,))
    with pytest.raises(IndexError):
        DETAILS[2]


def test_methods_of_one_frame_name_both_frames():
    """The error of a method of DataFrames says what to type."""
    expected = "use details.holdings.wf.to_csv or details.wallets.wf.to_csv"
    with pytest.raises(FramesNeededError, match=expected):
        DETAILS.wf.to_csv("both.csv")
    with pytest.raises(AttributeError, match="no attribute 'to_cvs'"):
        _ = DETAILS.wf.to_cvs


@pytest.mark.parametrize("name", ["plot.lorenz", "share"])
@pytest.mark.parametrize("data", [DETAILS, HOLDINGS], ids=["fetch", "holdings"])
def test_errors_about_arguments_list_the_arguments(data, name):
    """They hold for charts and tables."""
    prefix, hint = f"^{name.split('.')[-1]}: ", "\n\nHint: the arguments are asset, token, "
    with pytest.raises(ArgumentError, match=f"{prefix}got an unexpected .*'owner'{hint}"):
        attrgetter(name)(data.wf)("ETH", owner="Ada")
    with pytest.raises(ArgumentError, match=f"{prefix}too many positional arguments{hint}"):
        attrgetter(name)(data.wf)(*range(9))


def test_explore_opens_the_explorer():
    """It is the widget with this fetch and the options, and is imported by the call."""
    explorer = DETAILS.wf.explore(prepare=lambda holdings: holdings.head(1))
    assert type(explorer).__name__ == "HoldingsExplorer"
    assert explorer.details == DETAILS
    assert len(explorer.shown.holdings) == 1
    explorer.close()
