"""Every table, chart, report, widget and command states the coverage of the rows that it shows.

One fetch has a failed, a stale and an unreadable part, a bridged version, spam, and a balance
without a price. The public methods are enumerated, so a new one has to state its coverage, too.
"""

import inspect
import json
import warnings
from dataclasses import asdict, replace
from threading import Thread

import pandas as pd
import pytest
from addresses import A, B
from canned_service import Canned, answer, balance, wallet
from click.testing import CliRunner

import walletframe as wf
from walletframe import charts
from walletframe.accessor.delegation import Delegate
from walletframe.accessor.holdings import DetailsAccessor, PlotAccessor
from walletframe.analysis.selection import Selection
from walletframe.cli import main
from walletframe.cli.files import write_details
from walletframe.frames.results import Coverage
from walletframe.pickers.chart import CHARTS, ChartOptions, draw_chart
from walletframe.pickers.data import ExplorerData, status_message, summary_parts
from walletframe.reports.composition import Grouping, compose

DAY = pd.Timestamp("2026-01-31", tz="UTC")
USDC = {"symbol": "USDC", "address": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"}
TWIN = {"symbol": "USDC.e", "address": "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174"}
SPAM = {"symbol": "Visit usdcgift.com to claim", "address": "0xbad"}
FIRST = [
    balance(**USDC) | {"price": 1},
    balance(symbol="ETH", address=None) | {"price": 2000},
    balance(**SPAM),
    balance(decimals=None),
]
BRIDGED = [balance("4000000", **TWIN, blockchain="POLYGON") | {"price": 1}]
ALL = Coverage(3, 2, 1, balances=5, amount_na=1, unpriced=1, filtered=0)
OF_USDC = Coverage(3, 2, 1, 1, 0, 0, 0, bridged=1, bridged_amount="4")
OF_ONE_WALLET = Coverage(1, 1, 0, balances=4, amount_na=1, unpriced=1, filtered=0)
DROPPED = {"filtered": 1, "filtered_reasons": "1 spam balance"}
DROPPED_AS_SPAM = "1 balance dropped as spam"
FILTERED = {"balances": 4, "unpriced": 0, **DROPPED}
OF_ETHEREUM = Coverage(1, 1, 0, balances=4, amount_na=1, unpriced=1, filtered=0)
SELECTED_ETHEREUM = replace(OF_ETHEREUM, selected="blockchain='ETH'")


def unfinished(fetch):
    """Return the fetch with the mark of an interrupted folder."""
    wallets = fetch.wallets.copy()
    wallets.attrs["unfinished"] = [7, 10]
    return fetch._replace(wallets=wallets)


SELECTED = {  # how to select rows; the coverage of everything, of USDC and of one wallet
    "all": (lambda fetch: fetch, ALL, OF_USDC, OF_ETHEREUM),
    "without spam": (
        lambda fetch: fetch.wf.without_spam(),
        replace(ALL, **FILTERED),
        replace(OF_USDC, **DROPPED),
        replace(OF_ETHEREUM, **FILTERED | {"balances": 3, "filtered_reasons": DROPPED_AS_SPAM}),
    ),
    "one blockchain": (
        lambda fetch: fetch.wf.where(blockchain="ETH"),
        SELECTED_ETHEREUM,
        replace(SELECTED_ETHEREUM, balances=1, amount_na=0, unpriced=0),
        SELECTED_ETHEREUM,
    ),
    "unfinished": (
        unfinished,
        *(replace(each, unfinished="7 of 10 wallets") for each in (ALL, OF_USDC, OF_ETHEREUM)),
    ),
}
ARGUMENTS = {
    "share": {"asset": "USDC"},
    "lorenz": {"asset": "USDC"},
    "pie": {"wallet": f"ETH.{A}"},
    "value": {"currency": "USD"},
}
ADDING = [
    name
    for name, command in main.commands.items()
    if any(parameter.name == "by" for parameter in command.params)
]
NO_TABLES = {
    "explain_spam": "reasons, without amounts",
    "token_labels": "a name for each row",
    "waterfall": "changes between two fetches, which count their own unknown wallets",
    "token_colors": "a color for each token",
}


@pytest.fixture(scope="module")
def fetch():
    """Return the valued fetch; the wallet with the bridged version answered only at first."""
    wallets = [f"ETH.{A}", f"POLYGON.{A}", f"BASE.{B}"]
    with Canned() as server, warnings.catch_warnings():
        warnings.simplefilter("ignore", wf.errors.WalletframeWarning)
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        server.add_reply(answer(wallet(A, "POLYGON", balances=BRIDGED)))
        server.add_reply(answer(wallet(A, balances=FIRST)))
        server.add_reply(b"", status=500)
        server.add_reply(answer(wallet(B, "BASE", failed=True)))
        with server.client(workers=1) as client:
            client.fetch(wallets[1:2])
            details = client.fetch(wallets, refresh=True)
        server.shutdown()
    return details.wf.value(currency="USD")


@pytest.fixture(params=SELECTED)
def selected(request, fetch):
    """Return a selection, and the coverage of its tables: everything, USDC, one wallet."""
    select, *coverages = SELECTED[request.param]
    details = select(fetch)
    known = details.wallets[details.wallets["status"] == "ok"]
    as_of = f"{known['fetched_at'].min():%Y-%m-%d %H:%M} UTC"
    return details, *(replace(each, as_of=as_of) for each in coverages)


def methods(accessor):
    """Return the names of the public methods that are made from functions."""
    return sorted(
        name
        for name, each in inspect.getmembers_static(accessor)
        if isinstance(each, Delegate) and name not in NO_TABLES
    )


def call(accessor, name):
    """Call a method. Return its result, and whether it is of everything, USDC or one wallet."""
    arguments = ARGUMENTS.get(name, {})
    kind = 1 if "asset" in arguments else 2 if "wallet" in arguments else 0
    return getattr(accessor, name)(**arguments), kind


def noted(figure):
    """Return the notes of a chart."""
    return {*figure.layout.meta["about"]}


@pytest.mark.parametrize("name", methods(DetailsAccessor))
def test_tables(selected, name):
    """In their attrs, which are plain, and below their rows."""
    details, *coverages = selected
    result, kind = call(details.wf, name)
    expected = coverages[kind]
    if name == "top":  # it leaves out what it can't rank
        expected = replace(expected, balances=expected.balances - expected.amount_na)
    elif name in {"totals", "concentration", "pivot"}:  # bridged versions have rows of their own
        expected = replace(
            expected, bridged_separate=int("POLYGON" in {*details.wallets.blockchain})
        )
    elif name == "without_spam" and not expected.filtered:
        expected = replace(expected, balances=expected.balances - 1, unpriced=0, **DROPPED)
    if name == "explore":
        assert str(expected) in status_message(*result.details)["lines"]
    elif not isinstance(result, pd.DataFrame):
        assert (result if name == "coverage" else result.wf.coverage()) == expected
    else:
        assert result.attrs["coverage"] == {**asdict(expected), "rows": len(result)}
        assert json.loads(json.dumps(result.attrs)) == result.attrs
        assert f"\n\n{expected}\n" in repr(result)
        assert f"<p>{expected}</p>" in result._repr_html_()


@pytest.mark.parametrize("name", methods(PlotAccessor))
def test_charts(selected, name):
    """In their notes. Snapshots of a timeline are those of one fetch here."""
    details, *coverages = selected
    frames = [frame.assign(snapshot=DAY) if name == "timeline" else frame for frame in details]
    figure, kind = call(wf.WalletDetails(*frames).wf.plot, name)
    expected = coverages[kind]
    if name == "timeline":  # an out-of-date answer is older than its snapshot
        fresh = expected.wallets_ok - expected.wallets_stale
        expected = replace(expected, wallets_ok=fresh, wallets_stale=0)
    assert {*expected.sentences()} <= noted(figure)


@pytest.mark.parametrize("name", methods(PlotAccessor))
def test_charts_of_an_asset(selected, name):
    """They state what the tables of the asset state."""
    details, _, of_usdc, _ = selected
    chart = getattr(details.wf.plot, name)
    if "asset" not in inspect.signature(chart).parameters or name == "timeline":
        return
    assert {*of_usdc.sentences()} <= noted(chart(asset="USDC"))
    stated = details.wf.concentration("USDC").attrs["coverage"]
    assert stated == {**asdict(of_usdc), "rows": 1}


def test_every_chart_is_a_method():
    """So the charts above are all."""
    functions = inspect.getmembers(charts, inspect.isfunction)
    drawn = {name for name, each in functions if each.__annotations__.get("return") == "go.Figure"}
    assert drawn - {*NO_TABLES} == {*methods(PlotAccessor)}


@pytest.mark.parametrize("chart", CHARTS)
def test_explorer(selected, chart):
    """In the notes of each chart, which draws the selected rows."""
    details, *coverages = selected
    shown = ExplorerData(details).select_holdings(Selection(spam=None))
    kind = {"wallet": 2, "token": 1}.get(CHARTS[chart].needs, 0)
    picture = draw_chart(shown, ChartOptions(chart, per_asset=True))
    assert {*coverages[kind].sentences()} <= {*picture.notes}
    known = summary_parts(shown)["known"]
    assert known.endswith(" (the fetch has not finished)") is bool(coverages[0].unfinished)


@pytest.mark.parametrize("index", [0, 1])
def test_changes_of_an_unfinished_fetch(fetch, index):
    """In the tables, and in the notes of the chart."""
    results, token = [fetch, fetch], ("ETH", USDC["address"])
    results[index] = unfinished(fetch)
    by_asset, changes = (wf.history.compare(*results, **each) for each in ({"by": "asset"}, {}))
    for table in (by_asset, changes, wf.history.compare_values(*results)):
        assert "\nNot counted: 7 of 10 wallets not fetched yet (the fetch has n" in repr(table)
    notes = noted(wf.history.compare(*results, token=token).wf.plot.waterfall())
    assert "7 of 10 wallets not fetched yet (the fetch has not finished)" in str(notes)
    assert "not fetched" not in repr(wf.history.compare(fetch, fetch))


def test_limits_are_stated(fetch):
    """A pivot table and a ranking count the balances that they leave out."""
    pivot, top = (each.attrs["coverage"] for each in (fetch.wf.pivot(1), fetch.wf.top(1)))  # noqa: PD010 - the accessor's method, not pandas's
    assert (pivot["balances"], pivot["beyond_limit"]) == (1, 4)
    assert (top["balances"], top["beyond_limit"]) == (1, 3)
    assert "; 3 balances beyond the limit." in repr(fetch.wf.top(1))


def test_report(selected):
    """On the first screen, without spam, which has a table of its own."""
    details, everything, *_ = selected
    content = compose(details, before=None, title="", made_at=DAY, grouping=Grouping())
    assert content.notes[0] == str(replace(everything, unpriced=0, **DROPPED))


@pytest.mark.parametrize("command", ADDING)
def test_shell(selected, tmp_path, command):
    """On the last line of each command that adds up."""
    details, everything, *_ = selected
    write_details(details, tmp_path / "fetch.csv")
    arguments = [command, str(tmp_path / "fetch.csv")]
    arguments += ["--output", str(tmp_path / "report.md")] if command == "report" else []
    printed = CliRunner().invoke(main, arguments).output
    without_spam = replace(everything, unpriced=0, **DROPPED)
    if everything.filtered:  # files of tables contain neither the reason nor the conditions
        without_spam = replace(everything, filtered_reasons="")
    without_spam = replace(without_spam, selected="", unfinished="")
    if command == "totals":  # by asset
        bridged = "POLYGON" in {*details.wallets.blockchain}
        without_spam = replace(without_spam, bridged_separate=int(bridged))
    stated = str(without_spam).replace("bridged=True", "--bridged")
    assert printed.splitlines()[-1] == stated


def test_changed_tables_state_nothing(fetch):
    """The line is of the rows as they were."""
    line, table = str(fetch.wf.coverage()), fetch.wf.totals()
    assert line in repr(table)
    for changed in (table.head(1), table.query("holders > 9"), pd.concat([table, table])):
        assert line not in repr(changed)
    del table["asset"]
    assert line in repr(table)
    table.loc[len(table)] = table.loc[0]
    assert line not in repr(table)
