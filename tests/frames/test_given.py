"""Arguments that are a fetch, one of its frames, or a client, in every function with one."""

import pandas as pd
import pytest
from addresses import A, B
from fetches import fetched, token

import walletframe as wf
from walletframe import history
from walletframe.errors import ArgumentError
from walletframe.frames.details import WalletDetails

DETAILS = fetched({f"ETH.{A}": [token()], f"ETH.{B}": []}, source="service")
OTHER = fetched({f"ETH.{A}": [token(raw=7)], f"ETH.{B}": []})
WALLETS, HOLDINGS = DETAILS
MOMENT = {"snapshot": pd.Timestamp("2026-01-31", tz="UTC").as_unit("us")}
NODE = "http://127.0.0.1:1"  # the port is closed, and gets no request


def widget(kind, *args, **more):
    """Make a widget and close it."""
    made = kind(*args, **more)
    made.close()
    return kind


TAKE_DETAILS = {
    "save": lambda given, path: history.save(given, folder=path, at="2026-01-31T06:00Z"),
    "compare, before": lambda given, path: len(history.compare(given, OTHER)),
    "compare, after": lambda given, path: len(history.compare(OTHER, given)),
    "timeline": lambda given, path: history.timeline(_in_time(given)).to_csv(),
    "total_timeline": lambda given, path: history.total_timeline(_in_time(given)).to_csv(),
    "report": lambda given, path: wf.report(given, path / "r.md").name,
    "report, before": lambda given, path: wf.report(OTHER, path / "r.md", before=given).name,
    "HoldingsExplorer": lambda given, path: widget(wf.HoldingsExplorer, given),
}
TAKE_WALLETS = {
    "totals": lambda given: HOLDINGS.wf.totals(wallets=given).to_csv(),
    "share": lambda given: HOLDINGS.wf.share("TKN", wallets=given).to_csv(),
    "pivot": lambda given: HOLDINGS.wf.pivot(wallets=given).to_csv(),  # noqa: PD010 - not pandas's
    "concentration": lambda given: HOLDINGS.wf.concentration(wallets=given).to_csv(),
    "overlap": lambda given: HOLDINGS.wf.overlap(wallets=given).to_csv(),
    "treemap": lambda given: HOLDINGS.wf.plot.treemap(wallets=given).to_json(),
    "bar": lambda given: HOLDINGS.wf.plot.bar(wallets=given).to_json(),
    "heatmap": lambda given: HOLDINGS.wf.plot.heatmap(wallets=given).to_json(),
    "lorenz": lambda given: HOLDINGS.wf.plot.lorenz("TKN", wallets=given).to_json(),
    "pie": lambda given: HOLDINGS.wf.plot.pie(f"ETH.{A}", wallets=given).to_json(),
}
TAKE_HOLDINGS = {
    "crosscheck": lambda given: wf.crosscheck(given, rpc_url=NODE, chain_ids={"X": 1}).to_csv(),
    "TokenPicker": lambda given: widget(wf.TokenPicker, given),
}
TAKE_A_CLIENT = {
    "fetch_wallets": lambda given, path: wf.fetch_wallets("NEAR.bob", client=given),
    "fetch_to_parquet": lambda given, path: wf.fetch_to_parquet("NEAR.bob", path, client=given),
    "wf.fetch": lambda given, path: WALLETS.wf.fetch(client=given),
    "FetchPanel": lambda given, path: wf.FetchPanel(client=given),
    "HoldingsExplorer": lambda given, path: wf.HoldingsExplorer(DETAILS, client=given),
}


def _in_time(argument):
    """Add a snapshot to frames; return other objects unchanged."""
    if not isinstance(argument, tuple) or len(argument) != 2:
        return argument
    frames = [frame.assign(**MOMENT) if hasattr(frame, "assign") else frame for frame in argument]
    return WalletDetails(*frames) if isinstance(argument, WalletDetails) else tuple(frames)


def each_of(functions):
    """Parametrize a test with some functions."""
    return pytest.mark.parametrize("take", functions.values(), ids=functions)


@pytest.mark.parametrize("argument", [HOLDINGS, [*DETAILS], ("ETH", A), WalletDetails(1, 2), 5])
@each_of(TAKE_DETAILS)
def test_other_arguments_than_a_fetch_are_refused(take, argument, tmp_path):
    """A DataFrame, a list, another tuple: the error has the type, and a hint."""
    with pytest.raises(
        ArgumentError,
        match=r"must be the result of a fetch(.|\n)*wf\.read_wallets.*\(wallets, holdings\)",
    ):
        take(argument, tmp_path)
    assert [*tmp_path.iterdir()] == []


@each_of(TAKE_DETAILS)
def test_swapped_frames_are_refused(take, tmp_path):
    """The message does not mention missing columns, which would confuse."""
    with pytest.raises(ArgumentError, match="are in the wrong order"):
        take((HOLDINGS, WALLETS), tmp_path)


@each_of(TAKE_DETAILS)
def test_the_pair_of_frames_is_a_fetch(take, tmp_path):
    """The frames of `wallets, holdings = fetch_wallets(…)` can be passed as a pair."""
    folders = tmp_path / "pair", tmp_path / "whole"
    for folder in folders:
        folder.mkdir()
    pair, whole = map(take, (tuple(DETAILS), DETAILS), folders)
    assert pair == whole


@pytest.mark.parametrize("argument", [[f"ETH.{A}"], f"ETH.{A}", ("ETH", A), {"ETH": A}, 5])
@each_of(TAKE_WALLETS)
def test_other_arguments_than_wallets_are_refused(take, argument):
    """A list of addresses, above all."""
    with pytest.raises(
        ArgumentError, match=r"wallets of type .* are not supported(.|\n)*DataFrame \.wallets"
    ):
        take(argument)


@each_of(TAKE_WALLETS)
def test_a_fetch_is_accepted_as_its_wallets(take):
    """A WalletDetails and the pair work."""
    assert take(DETAILS) == take(tuple(DETAILS)) == take(WALLETS)


@pytest.mark.parametrize("argument", [[HOLDINGS], "ETH", ("ETH", None), {"ETH": A}, None])
@each_of(TAKE_HOLDINGS)
def test_other_arguments_than_holdings_are_refused(take, argument):
    """Before any request."""
    with pytest.raises(
        ArgumentError, match=r"holdings of type .* are not supported(.|\n)*DataFrame \.holdings"
    ):
        take(argument)


@pytest.mark.filterwarnings("ignore::walletframe.errors.FetchWarning")
@each_of(TAKE_HOLDINGS)
def test_a_fetch_is_accepted_as_its_holdings(take):
    """A WalletDetails and the pair work."""
    assert take(DETAILS) == take(tuple(DETAILS)) == take(HOLDINGS)


@pytest.mark.parametrize("kind", [wf.WalletPicker, wf.BlockchainPicker, wf.FetchPanel])
def test_pickers_take_the_pair_of_frames(kind):
    """They take the whole fetch, too."""
    result = []
    for argument in (DETAILS, tuple(DETAILS)):
        made = kind(argument)
        result.append([str(each) for each in (getattr(made, "_options", None) or [made.details])])
        made.close()
    assert result[0] == result[1] != []


@pytest.mark.parametrize("argument", [5, [1, 2], [None]])
def test_other_arguments_than_blockchains_are_refused(argument):
    """Before there is any widget."""
    with pytest.raises(ArgumentError, match="not a list of blockchain identifiers"):
        wf.BlockchainPicker(argument)


@pytest.mark.parametrize("argument", ["x", 5, wf.Settings(), wf.Client])
@each_of(TAKE_A_CLIENT)
def test_other_arguments_than_a_client_are_refused(take, argument, tmp_path):
    """At once, not when a button is pressed."""
    with pytest.raises(
        ArgumentError, match=r"client of type \w+ is not supported(.|\n)*Hint: pass"
    ):
        take(argument, tmp_path)


def test_other_arguments_than_settings_are_refused_without_quoting():
    """It may be the key, which is in no frame of the traceback."""
    key = "a-key-in-the-wrong-place"
    with pytest.raises(ArgumentError, match="are not supported") as caught:
        wf.Client(key)
    assert [entry for entry in caught.traceback[1:] if key in str(entry.frame.f_locals)] == []
    assert key not in str(caught.value)
