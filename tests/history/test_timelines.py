"""Holdings over time, compared with cells that are computed one by one."""

from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from addresses import A, B, C, D
from fetches import fetched, token
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_holdings import (
    UNKNOWN,
    amount,
    answers,
    by_wallet,
    fraction,
    readable_amounts,
    row_key,
    side,
)

from walletframe.errors import (
    AmbiguousTokenError,
    ColumnsError,
    InputWarning,
    SettingsError,
    SnapshotError,
    UnknownTokenError,
)
from walletframe.frames.details import WalletDetails
from walletframe.history import compare, compare_values, load, save, timeline, total_timeline
from walletframe.pandas_versions import TEXT

DAY = datetime(2026, 1, 31, 6, tzinfo=UTC)
DAYS = st.lists(answers().filter(bool), min_size=1, max_size=4)


def history_of(*answers):
    """Return a snapshot a day, as `load` would."""
    frames = [
        [
            frame.assign(snapshot=pd.Timestamp(DAY + timedelta(days=day)).as_unit("us"))
            for frame in fetched(each)
        ]
        for day, each in enumerate(answers)
    ]
    return WalletDetails(*(pd.concat(each) for each in zip(*frames, strict=True)))


def expected(days):
    """Return the cells of `timeline`: (day, wallet, token) to amount and status."""
    days = [by_wallet(each) for each in days]
    cells = {}
    for wallet in set().union(*days):
        course = [side(each, wallet, stale=False) for each in days]
        held = set().union(*(tokens for tokens, _ in course))
        for day, (tokens, status) in enumerate(course):
            for key in (held or ({None} if status != "ok" else set())) - {UNKNOWN}:
                if status != "not_asked":
                    cells[day, wallet, key] = amount(tokens, key, status)
    return cells


def sides(answers, wallets):
    """Return the tokens and the status of each wallet at one time."""
    return [side(answers, wallet, stale=False) for wallet in wallets]


def day_of(row):
    """Return the day of a row."""
    return (row.snapshot - pd.Timestamp(DAY)).days


@settings(deadline=None, max_examples=25)
@given(DAYS)
def test_every_cell_is_there(days):
    """Each token that a wallet ever held has an amount or a reason at each requested time."""
    lines = timeline(history_of(*days))
    result = {
        (day_of(row), *row_key(row)): (fraction(row.amount), row.status)
        for row in lines[lines["symbol"].ne(UNKNOWN)].itertuples()
    }
    assert len(result) == lines["symbol"].ne(UNKNOWN).sum()
    assert result == expected(days)


@settings(deadline=None, max_examples=25)
@given(DAYS)
def test_totals_sum_known_amounts(days):
    """Each token has its sum, unless no balance is readable, and the number of known holders."""
    everyone = set().union(*map(by_wallet, days))
    sums, known, requested = {}, {}, {}
    for key in {key for _, _, key in expected(days)} - {None}:
        chains = {key[0], *(wallet[0] for _, wallet, held in expected(days) if held == key)}
        wallets = {wallet for wallet in everyone if wallet[0] in chains}
        requested[key] = len(wallets)
        for day, each in enumerate(map(by_wallet, days)):
            course = sides(each, wallets)
            cells = [amount(tokens, key, status) for tokens, status in course]
            amounts = [result for result, status in cells if status == "ok"]
            lists = [answer for answer in map(each.get, wallets) if isinstance(answer, list)]
            read = [part for answer in lists for part in readable_amounts(answer, key)]
            is_listed = any(key in tokens for tokens, _ in course)
            sums[day, key] = sum(read) if read or (amounts and not is_listed) else None
            known[day, key] = len(amounts)
    totals = total_timeline(history_of(*days))
    rows = list(totals.assign(blockchain="", address="").itertuples())
    assert {(day_of(row), row_key(row)[1]): fraction(row.amount) for row in rows} == sums
    assert {(day_of(row), row_key(row)[1]): row.wallets_known for row in rows} == known
    assert {row_key(row)[1]: row.wallets for row in rows} == requested


HISTORY = history_of(
    {f"ETH.{A}": [token(raw=1)], f"ETH.{B}": [token(raw=5)]},
    {f"ETH.{A}": "failed", f"ETH.{B}": [token(raw=6), token(contract="0xScam", raw=7)]},
    {f"ETH.{A}": [], f"ETH.{B}": [token(raw=7)], f"ETH.{C}": []},
)


def test_a_line_is_ready_for_a_chart():
    """Rows are sorted by wallet, token and time; a failure is NA, a missing token is 0."""
    lines = timeline(HISTORY, token=("ETH", "0xTOKEN"))
    assert lines.dtypes.astype(str).to_dict() == {
        "snapshot": "datetime64[us, UTC]",
        "blockchain": str(TEXT),
        "address": str(TEXT),
        "symbol": str(TEXT),
        "token_address": str(TEXT),
        "token_blockchain": str(TEXT),
        "amount": "amount",
        "status": "category",
    }
    assert lines["address"].tolist() == [A] * 3 + [B] * 3
    assert lines["amount"].astype(TEXT).fillna("gap").tolist() == (
        ["0.000001", "gap", "0", "0.000005", "0.000006", "0.000007"]
    )
    assert lines["status"].tolist() == ["ok", "failed", "ok", "ok", "ok", "ok"]


def test_a_wallet_requested_later_begins_later():
    """A wallet has no rows before its first request; totals count the wallet as unknown."""
    lines = timeline(HISTORY)
    assert not (lines["address"] == C).any()
    totals = total_timeline(HISTORY, token=("ETH", "0xToken"))
    assert totals["wallets_known"].tolist() == [2, 1, 3]
    assert totals["wallets"].tolist() == [3, 3, 3]
    assert totals["amount"].astype(TEXT).tolist() == ["0.000006", "0.000006", "0.000007"]


def test_totals_have_their_dtypes():
    """Totals have the same columns and dtypes with and without rows."""
    wanted = {
        "snapshot": "datetime64[us, UTC]",
        "symbol": str(TEXT),
        "token_address": str(TEXT),
        "token_blockchain": str(TEXT),
        "amount": "amount",
        "wallets_known": "int64",
        "wallets": "int64",
    }
    empty = WalletDetails(HISTORY.wallets.head(0), HISTORY.holdings.head(0))
    for history in (HISTORY, empty):
        assert total_timeline(history).dtypes.astype(str).to_dict() == wanted
    assert timeline(empty).dtypes.equals(timeline(HISTORY).dtypes)


def test_one_token_is_chosen_by_contract_or_by_its_own_symbol():
    """A shared symbol names the contracts; an unknown token is an error."""
    assert len(timeline(HISTORY, token=("eth", "0xscam"))) == 4
    with pytest.raises(AmbiguousTokenError, match="0xscam"):
        timeline(HISTORY, token="TKN")
    with pytest.raises(UnknownTokenError):
        total_timeline(HISTORY, token=("ETH", None))


def test_saved_snapshots_make_a_timeline(tmp_path):
    """The timeline of one wallet from disk has its saved amounts."""
    for day, raw in enumerate((1, 2)):
        details = fetched({f"ETH.{A}": [token(raw=raw)], f"ETH.{B}": [token()]})
        save(details, folder=tmp_path, at=DAY + timedelta(days=day))
    lines = timeline(load(wallets=f"ETH.{A}", folder=tmp_path))
    assert lines["snapshot"].tolist() == [DAY, DAY + timedelta(days=1)]
    assert lines["amount"].astype(TEXT).tolist() == ["0.000001", "0.000002"]


@pytest.mark.parametrize("requested", [0, 1, 2])
def test_holdings_without_a_request_at_their_time_are_refused(requested):
    """Such holdings are an error, and are added to no other time or token."""
    history = history_of(*[{f"ETH.{A}": [token(), token(contract="0xOther")]}] * 3)
    some = history.wallets.iloc[3 - requested :]
    with pytest.raises(SnapshotError, match="has holdings but no row in wallets"):
        total_timeline(history._replace(wallets=some))


def test_frames_without_a_snapshot_are_refused():
    """A single fetch has no time axis."""
    with pytest.raises(ColumnsError, match="'snapshot'"):
        timeline(fetched({f"ETH.{A}": []}))


def test_an_asset_is_one_line_of_all_its_contracts():
    """Contracts are summed at each time; only possible holders have rows."""
    usdc = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
    base = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
    both = [
        token("USDC", 5, contract=usdc),
        token("USDC", 2, contract=base, blockchain="BASE"),
    ]
    history = history_of(
        {f"ETH.{A}": both, "BASE.0xT": [], "BTC.c": "failed"},
        {f"ETH.{A}": both[:1], "BASE.0xT": "failed", "BTC.c": "failed"},
    )
    lines = timeline(history, asset="USDC")
    shown = lines[["address", "asset", "amount", "status"]].astype(TEXT).fillna("NA")
    assert shown.to_numpy().tolist() == [
        [A, "USDC", "0.000007", "ok"],
        [A, "USDC", "0.000005", "ok"],
        ["0xT", "USDC", "NA", "failed"],
    ]
    totals = total_timeline(history, asset="USDC")
    assert totals["amount"].astype(TEXT).tolist() == ["0.000007", "0.000005"]
    assert totals[["wallets_known", "wallets"]].to_numpy().tolist() == [[2, 2], [1, 2]]
    assert [*totals.columns[:3]] == ["snapshot", "asset", "amount"]
    with pytest.raises(SettingsError, match="bridged"):
        timeline(history, bridged=True)


@settings(deadline=None, max_examples=15)
@given(DAYS)
def test_totals_of_groups_are_the_totals_of_their_wallets(days):
    """Totals by wallet are those of a fetch; totals by owner count each wallet once."""
    history = history_of(*days)
    totals = total_timeline(history, by="wallet")
    lines = timeline(history)[lambda lines: lines["symbol"].notna() & (lines["symbol"] != UNKNOWN)]
    cells = {}
    for row in lines.itertuples():
        place, answers = (day_of(row), *row_key(row)), by_wallet(days[day_of(row)])
        partial = readable_amounts(answers[place[1]], place[2]) if row.status == "no_amount" else []
        cells[place] = sum(partial) if partial else fraction(row.amount)
    rows = {(day_of(row), *row_key(row)): fraction(row.amount) for row in totals.itertuples()}
    assert {place: rows[place] for place in cells} == cells
    assert not {amount for place, amount in rows.items() if place not in cells} - {None}

    everyone = history._replace(wallets=history.wallets.assign(owner="everyone"))
    same = total_timeline(everyone, by="owner").drop(columns="owner")
    totals = total_timeline(history)
    assert same["amount"].equals(totals["amount"])
    assert (same["wallets_known"] == totals["wallets_known"]).all()


def owned_history():
    """Return a history of two owners; a wallet of the second owner is never known."""
    history = history_of(
        {f"ETH.{A}": [token(raw=1), token(contract="0xB", raw=2)], f"ETH.{C}": "failed"},
        {f"ETH.{A}": [token(raw=3), token(contract="0xB", decimals=None)], f"ETH.{C}": "failed"},
    )
    owners = history.wallets["address"].map({A: "Ada", C: "Ben"})
    return history._replace(wallets=history.wallets.assign(owner=owners))


def test_totals_by_owner():
    """A chosen token has a row for each possible owner, or NA if it is unknown."""
    totals = total_timeline(owned_history(), by="owner", token=("ETH", "0xToken"))
    assert [*totals.columns[:3]] == ["snapshot", "owner", "symbol"]
    shown = totals[["owner", "amount", "wallets_known", "wallets"]].astype(TEXT).fillna("NA")
    assert shown.to_numpy().tolist() == [
        ["Ada", "0.000001", "1", "1"],
        ["Ada", "0.000003", "1", "1"],
        ["Ben", "NA", "0", "1"],
        ["Ben", "NA", "0", "1"],
    ]


def test_a_wallet_counts_for_its_last_owner_at_all_times():
    """Tables warn about it, and the chart has a note."""
    wallets, holdings = owned_history()
    history = WalletDetails(wallets.assign(owner=["Ben", "Ben", "Ada", "Ben"]), holdings)
    note = r"The last labels apply at all times: the 'owner' of 1 wallet changed\."
    with pytest.warns(InputWarning, match=note):
        totals = total_timeline(history, by="owner", token=("ETH", "0xToken"))
    assert totals["owner"].tolist() == ["Ada", "Ada", "Ben", "Ben"]
    valued = history.wf.value({("ETH", "0xToken"): 2})
    days = [
        WalletDetails(*(frame[frame["snapshot"] == day] for frame in valued))
        for day in wallets["snapshot"].unique()
    ]
    with pytest.warns(InputWarning, match=note):
        assert compare(*days, by="owner")["owner"].unique().tolist() == ["Ada", "Ben"]
    with pytest.warns(InputWarning, match=note):
        assert compare_values(*days, by="owner")["owner"].tolist() == ["Ada", "Ben"]
    about = valued.wf.plot.timeline(by="owner").layout.meta["about"]
    assert note.replace("\\", "") in about


def test_totals_by_asset():
    """An unreadable contract makes its wallet unknown, but other contracts are added up."""
    own = pd.DataFrame(
        {"asset": "COIN", "token_blockchain": "ETH", "token_address": ["0xToken", "0xB"]}
    )
    for options in ({"by": "asset"}, {"asset": "COIN"}, {"by": ["asset"], "asset": "COIN"}):
        totals = total_timeline(owned_history(), assets=own, **options)
        assert totals["asset"].tolist() == ["COIN"] * 2
        assert totals["amount"].astype(TEXT).fillna("NA").tolist() == ["0.000003", "0.000003"]
        assert totals[["wallets_known", "wallets"]].to_numpy().tolist() == [[1, 2], [0, 2]]
    contracts = total_timeline(owned_history(), by="token", asset="COIN", assets=own)
    assert contracts["token_address"].tolist() == ["0xToken"] * 2 + ["0xB"] * 2


def test_other_groups_of_totals_are_refused():
    """The error names an unknown column and the existing columns."""
    with pytest.raises(SettingsError, match=r"by='team' is not supported(?s:.*)\(owner\)"):
        total_timeline(owned_history(), by="team")


def test_a_selected_token_has_the_same_possible_holders_in_tables_by_asset():
    """A wallet on another blockchain of the asset could hold another contract only."""
    days = [{f"ETH.{A}": [token("ETH", n, contract=None)], f"BASE.{C}": "failed"} for n in (1, 2)]
    selected = [fetched(day).wf.where(token=("ETH", None)) for day in days]
    for by in ("asset", "token"):
        for table in (selected[0].wf.totals(by=by), compare(*selected, by=by)):
            assert (table.iloc[0, -1], table.attrs["coverage"]["wallets_asked"]) == (1, 1)


def test_a_selection_of_an_asset_has_the_timelines_and_changes_of_all_holdings():
    """Balances of unknown tokens are left out; wallets that can't hold the asset are known."""
    unknown, coins = token("?", contract=None, blockchain=None), [token("ETH", 1, contract=None)]
    before = {f"ETH.{A}": coins, f"ETH.{B}": coins, f"ETH.{D}": coins, f"NEAR.{C}": "timeout"}
    more = [token("ETH", 2, contract=None)]
    days = [
        before,
        before | {f"ETH.{A}": more, f"ETH.{B}": [unknown], f"ETH.{D}": [*more, unknown]},
    ]
    history = history_of(*days)
    selected = history.wf.where(asset="ETH")
    for by in ("wallet", None):
        shown = [total_timeline(history, asset="ETH", by=by), total_timeline(selected, by=by)]
        pd.testing.assert_frame_equal(*map(pd.DataFrame, shown))
        assert [each.attrs["coverage"]["unknown_tokens"] for each in shown] == [2, 2]
    both = [fetched(day, at=DAY + timedelta(days=n)) for n, day in enumerate(days)]
    changes = [
        compare(*pair, by=["wallet", "asset"], **options)
        for pair, options in [
            (both, {"asset": "ETH"}),
            ([each.wf.where(asset="ETH") for each in both], {}),
        ]
    ]
    assert (
        changes[1]["change"].tolist()
        == changes[0]["change"].tolist()
        == ["increased", "gone", "increased"]
    )
    assert [each.attrs["coverage"]["unknown_tokens"] for each in changes] == [2, 2]
    selected = [each.wf.where(asset="ETH") for each in both]
    pd.testing.assert_frame_equal(compare(*selected), compare(*both, asset="ETH"))
    valued = [each.wf.where(asset="ETH").wf.value({"ETH": 1}) for each in both]
    assert compare_values(*valued, by="wallet")["wallets_known"].tolist() == [1, 1, 1, 0]
    changes = compare_values(*valued)
    counts = [changes.attrs["coverage"][name] for name in ("wallets_ok", "wallets_asked")]
    assert counts == changes.iloc[0][["wallets_known", "wallets"]].tolist() == [3, 3]
