"""``details.wf``: the calls of ``holdings.wf`` with both frames of a fetch given."""

import inspect
import pickle
import warnings
from operator import attrgetter

import pandas as pd
import pytest
from fetches import fetched, token

from walletframe import notice
from walletframe.accessor import FrameAccessor
from walletframe.accessor.details import DetailsAccessor
from walletframe.accessor.holdings import PlotAccessor
from walletframe.errors import ArgumentError, ColumnsError, InputWarning, SpamWarning
from walletframe.frames.details import WalletDetails

COIN = token("ETH", 1, 0, contract=None)
BAIT = token("Visit usdcgift.com to claim", contract="0xbad")
DETAILS = fetched({"ETH.0x1": [COIN, BAIT], "ETH.0x2": "failed", "ETH.0x3": [COIN], "ETH.0x4": []})
WALLETS, HOLDINGS = DETAILS
MOMENT = pd.Timestamp("2026-01-31", tz="UTC")
IN_TIME = WalletDetails(*(frame.assign(snapshot=MOMENT) for frame in DETAILS))
NEEDED = {"token": "ETH", "wallet": "ETH.0x1"}
OF_ONE = {"share": {"token": "ETH"}}  # which needs a token or an asset


OF_CHANGES = {"plot.waterfall"}


def calls():
    """Return the names of all calls of a fetch, those of its charts as ``plot.…``."""
    found = [("", DetailsAccessor), ("plot.", PlotAccessor)]
    return [
        prefix + name
        for prefix, accessor in found
        for name, _ in inspect.getmembers(accessor, inspect.isfunction)
        if name[0] != "_" and prefix + name not in OF_CHANGES
    ]


def plain(made):
    """Return what a call made so that it can be compared."""
    return made.to_json() if hasattr(made, "to_plotly_json") else made


@pytest.mark.filterwarnings("ignore::walletframe.errors.SpamWarning")
@pytest.mark.parametrize("name", calls())
def test_a_fetch_answers_as_its_holdings_do_given_its_wallets(name):
    """Each call alike; those that change rows give a fetch with the same wallets."""
    ask, ask_rows = attrgetter(name)(IN_TIME.wf), attrgetter(name)(IN_TIME.holdings.wf)
    taken = inspect.signature(ask_rows).parameters.values()
    needed = [each for each in taken if each.default is each.empty and each.name != "labels"]
    given = {each.name: NEEDED[each.name] for each in needed}
    given |= OF_ONE.get(name, {})
    wallets = {"wallets": IN_TIME.wallets} if any(each.name == "wallets" for each in taken) else {}
    made, expected = plain(ask(**given)), plain(ask_rows(**given, **wallets))
    if isinstance(made, WalletDetails):
        assert name in {"value", "flag_spam", "where", "without_spam"}
        assert made.wallets.equals(IN_TIME.wallets)
        made = made.holdings
    if isinstance(expected, pd.DataFrame | pd.Series):
        assert made.equals(expected)
    else:
        assert made == expected


def test_what_is_drawn_of_changes_says_where_they_come_from():
    """A fetch has none."""
    with pytest.raises(ColumnsError, match="lacks 'before', 'difference', 'change'") as caught:
        DETAILS.wf.plot.waterfall()
    assert "compare(before, after).wf.plot.waterfall()" in caught.value.hint


def test_tables_of_a_fetch_say_how_complete_they_are():
    """Without anybody passing the wallets; those that are passed count instead."""
    counts = ["wallets_ok", "wallets_asked"]
    assert DETAILS.wf.totals()[counts].iloc[0].tolist() == [3, 4]
    assert DETAILS.wf.share("ETH")[counts].iloc[0].tolist() == [3, 4]
    known = WALLETS[WALLETS.status == "ok"]
    assert DETAILS.wf.totals(wallets=known)[counts].iloc[0].tolist() == [3, 3]
    assert "3 of 4 wallets known" in DETAILS.wf.plot.bar().layout.title.subtitle.text


def test_what_changes_rows_can_be_asked_on():
    """A chain of calls, from a fetch to a figure."""
    with pytest.warns(SpamWarning, match="1 row"):
        honest = DETAILS.wf.without_spam()
    assert honest.holdings.symbol.tolist() == ["ETH", "ETH"]
    valued = honest.wf.value({("ETH", None): 2500}, currency="USD")
    assert valued.wf.totals(by="blockchain").value.tolist() == [5000]
    assert "USD" in valued.wf.plot.treemap().layout.title.subtitle.text


def test_a_fetch_stays_a_plain_pair():
    """It unpacks, pickles and compares as a tuple of two frames, and `df.wf` is as it was."""
    wallets, holdings = DETAILS
    assert (len(DETAILS), DETAILS._fields) == (2, ("wallets", "holdings"))
    assert wallets is DETAILS.wallets
    assert isinstance(holdings.wf, FrameAccessor)
    again = pickle.loads(pickle.dumps(DETAILS))
    assert again.wf.totals().equals(DETAILS.wf.totals())


def test_what_is_no_fetch_has_no_accessor():
    """The frames the wrong way round, or something else in their place."""
    with pytest.raises(ArgumentError, match="the wrong way round"):
        _ = WalletDetails(HOLDINGS, WALLETS).wf
    with pytest.raises(ArgumentError, match="a whole fetch is needed"):
        _ = WalletDetails(1, 2).wf


@pytest.fixture
def _nothing_said(monkeypatch):
    monkeypatch.setattr(notice, "_warned", set())


@pytest.mark.usefixtures("_nothing_said")
def test_a_table_of_holdings_alone_says_once_that_it_cannot_tell_how_complete_it_is():
    """At the caller's line, in a session the first time; one that has wallets doesn't."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        DETAILS.wf.totals()
        HOLDINGS.wf.share("ETH", wallets=WALLETS)
        HOLDINGS.wf.plot.bar()
        assert caught == []
        HOLDINGS.wf.totals()
        HOLDINGS.wf.share("ETH")
    [said] = caught
    assert (said.category, said.filename) == (InputWarning, __file__)
    assert "so that completeness is unknown" in str(said.message)


@pytest.mark.usefixtures("_nothing_said")
def test_that_a_table_is_of_holdings_alone_is_no_error():
    """Whatever the filters of warnings: a table was asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(HOLDINGS.wf.totals()) == 2
