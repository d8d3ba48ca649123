"""Changes between two fetches, compared with plain set arithmetic."""

import pandas as pd
import pytest
from addresses import UPPER_A, UPPER_B, A, B, C
from canned_service import answer
from canned_service import wallet as entry
from fetches import FETCHED_AT, fetched, token
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_holdings import UNKNOWN, amount, answers, by_wallet, fraction, row_key, side

from walletframe.address.forms import canonical_key
from walletframe.errors import (
    AmbiguousTokenError,
    AmountError,
    ColumnsError,
    InputWarning,
    SettingsError,
    SnapshotError,
    UnknownTokenError,
)
from walletframe.history import compare, compare_values, save, snapshot
from walletframe.pandas_versions import TEXT

COLUMNS = {
    "blockchain": str(TEXT),
    "address": str(TEXT),
    "symbol": str(TEXT),
    "token_address": str(TEXT),
    "token_blockchain": str(TEXT),
    "before": "amount",
    "after": "amount",
    "difference": "amount",
    "change": "category",
    "status_before": "category",
    "status_after": "category",
}


def expected(before, after, stale):
    """Return the rows of `compare`, computed wallet by wallet."""
    before, after = by_wallet(before), by_wallet(after)
    rows = {}
    for wallet in before.keys() | after.keys():
        (had, status_before), (has, status_after) = (
            side(before, wallet, stale[0]),
            side(after, wallet, stale[1]),
        )
        for key in (had.keys() | has.keys() or {None}) - {UNKNOWN}:
            then, status_then = amount(had, key, status_before)
            now, status_now = amount(has, key, status_after)
            if then is None or now is None:
                rows[wallet, key] = (then, now, None, "unknown", status_then, status_now)
            elif then != now:
                change = "new" if not then else "gone" if not now else None
                change = change or ("increased" if now > then else "decreased")
                rows[wallet, key] = (then, now, now - then, change, "ok", "ok")
    return rows


def found(changes):
    """Return the rows of a frame of changes as `expected` does, without unknown tokens."""
    rows = {}
    for row in changes[changes["symbol"].ne(UNKNOWN)].itertuples():
        amounts = map(fraction, (row.before, row.after, row.difference))
        rows[row_key(row)] = (*amounts, row.change, row.status_before, row.status_after)
    assert len(rows) == changes["symbol"].ne(UNKNOWN).sum()
    return rows


CASES = given(answers(), answers(), st.tuples(st.booleans(), st.booleans()))


@settings(deadline=None, max_examples=30)
@CASES
def test_changes_match_set_arithmetic(before, after, stale):
    """The table has exactly the expected rows, amounts, changes and statuses."""
    check_changes(before, after, stale)


@pytest.mark.stress
@pytest.mark.timeout(900)
@settings(deadline=None, max_examples=250)
@CASES
def test_many_changes_match_set_arithmetic(before, after, stale):
    """Hundreds of drawn cases match."""
    check_changes(before, after, stale)


def check_changes(before, after, stale):
    """Check the comparison of two fetches against plain sets."""
    frames = [
        fetched(each, source="stale" if old else "service")
        for each, old in zip((before, after), stale, strict=True)
    ]
    changes = compare(*frames)
    assert changes.dtypes.astype(str).to_dict() == COLUMNS
    assert changes.index.equals(pd.RangeIndex(len(changes)))
    assert found(changes) == expected(before, after, stale)
    strange = changes[changes["symbol"].eq(UNKNOWN)]
    assert len(strange) == sum(frame.holdings["symbol"].eq(UNKNOWN).sum() for frame in frames)
    assert strange["change"].eq("unknown").all()


def rows(before, after, **sides):
    """Compare two answers of one wallet, and return each token's change and amounts."""
    changes = compare(
        fetched({f"ETH.{UPPER_A}": before}), fetched({f"ETH.{UPPER_A}": after}, **sides)
    )
    picked = changes[["symbol", "before", "after", "difference", "change"]].astype(TEXT)
    return [tuple("NA" if pd.isna(cell) else cell for cell in row) for row in picked.to_numpy()]


@pytest.mark.parametrize(
    "before,after,row",
    [
        ([], [token(raw=1)], ("TKN", "0", "0.000001", "0.000001", "new")),
        ([token(raw=0)], [token(raw=1)], ("TKN", "0", "0.000001", "0.000001", "new")),
        ([token(raw=1)], [], ("TKN", "0.000001", "0", "-0.000001", "gone")),
        ([token(raw=1)], [token(raw=0)], ("TKN", "0.000001", "0", "-0.000001", "gone")),
        ([token(raw=1)], [token(raw=3)], ("TKN", "0.000001", "0.000003", "0.000002", "increased")),
        ([token(raw=3)], [token(raw=1)], ("TKN", "0.000003", "0.000001", "-0.000002", "decreased")),
        ([token()], "failed", ("TKN", "1.5", "NA", "NA", "unknown")),
        ("failed", [token()], ("TKN", "NA", "1.5", "NA", "unknown")),
        ([token()], None, ("TKN", "1.5", "NA", "NA", "unknown")),
        ([token()], [token(decimals=None)], ("TKN", "1.5", "NA", "NA", "unknown")),
        ([], "failed", ("NA", "0", "NA", "NA", "unknown")),
        ("failed", "failed", ("NA", "NA", "NA", "NA", "unknown")),
    ],
)
def test_each_kind_of_change(before, after, row):
    """A failure is never gone; an unlisted token and a listed zero mean the same."""
    assert rows(before, after) == [row]


def test_unknown_tokens_of_both_times_have_one_row_in_groups():
    """It says that the change is unknown. Tokens that look different have rows of their own."""
    held = (None, None, "?", 3, 0)
    sides = [fetched({f"ETH.{A}": [held, held, (None, None, more, 1, 0)]}) for more in ("a", "b")]
    for by, name in (("wallet", "symbol"), ("token", "symbol"), ("asset", "asset")):
        changes = compare(*sides, by=by)
        assert changes[name].str[0].tolist() == [*"??ab"]
        assert changes["change"].eq("unknown").all()
    assert len(compare(*sides)) == 6  # the amounts of both times


def test_unchanged_tokens_have_no_row():
    """Equal amounts with other decimals, split amounts, and listed zeros are no changes."""
    before = [token(raw=3, decimals=0), token("ZERO", 0, contract="0xZ")]
    after = [token(raw=1_000_000), token(raw=2_000_000)]
    assert rows(before, after) == []
    assert rows([], []) == []


def test_the_last_unit_is_a_change():
    """Amounts differ even if their floats are equal."""
    top = 2**256 - 1
    [row] = rows([token(raw=top - 1, decimals=18)], [token(raw=top, decimals=18)])
    assert row[3:] == ("0.000000000000000001", "increased")


def test_wallets_come_in_their_order():
    """Earlier wallets come first; tokens are in their listed order, in the latest spelling."""
    before = fetched(
        {f"ETH.{B}": [token("B")], f"ETH.{UPPER_A}": [token("A"), token("C", contract=C)]}
    )
    after = fetched(
        {"NEAR.new": [], f"ETH.{UPPER_B}": [token("D", contract="0xD")], f"ETH.{UPPER_A}": []}
    )
    changes = compare(before, after)
    assert list(zip(changes["address"], changes["symbol"].fillna("-"), strict=True)) == [
        (UPPER_B, "B"),
        (UPPER_B, "D"),
        (UPPER_A, "A"),
        (UPPER_A, "C"),
        ("new", "-"),
    ]
    assert changes["status_before"].tolist()[-1] == "not_asked"


def test_snapshots_are_compared_like_fetches(tmp_path):
    """Yesterday's snapshot is compared with a new fetch."""
    save(fetched({f"ETH.{UPPER_A}": [token(raw=1)]}), folder=tmp_path)
    after = fetched({f"ETH.{UPPER_A}": [token(raw=3)]})
    assert compare(snapshot(folder=tmp_path), after)["change"].tolist() == ["increased"]


@pytest.mark.parametrize("dtype", ["string", "object", "category"])
def test_changes_do_not_depend_on_text_dtypes(dtype):
    """Frames from files have other dtypes, but the same changes."""
    before, after = (
        fetched({f"ETH.{UPPER_A}": [token(raw=1)], f"ETH.{UPPER_B}": "failed"}),
        fetched({}),
    )
    texts = ["blockchain", "address", "status", "source", "service"]
    stored = before._replace(wallets=before.wallets.astype(dict.fromkeys(texts, dtype)))
    assert compare(stored, after).equals(compare(before, after))


@pytest.mark.parametrize("swapped", [False, True])
def test_one_answer_in_two_snapshots_is_unknown_in_the_later(tmp_path, swapped):
    """Without a request in between, it is unknown; a new equal answer is unchanged."""
    answers = {f"ETH.{UPPER_A}": [token()], f"ETH.{UPPER_B}": [token()]}
    save(fetched(answers), folder=tmp_path)
    cached = fetched(answers, source="cache").wallets
    cached.loc[1, "fetched_at"] += pd.Timedelta(hours=1)
    save(fetched(answers)._replace(wallets=cached), folder=tmp_path)
    days = snapshot(FETCHED_AT, folder=tmp_path), snapshot(folder=tmp_path)
    changes = compare(*(reversed(days) if swapped else days))
    assert changes["address"].tolist() == [UPPER_A]
    statuses = changes["status_before"].item(), changes["status_after"].item()
    assert statuses == (("stale", "ok") if swapped else ("ok", "stale"))


def test_a_failed_refresh_is_not_unchanged(canned, tmp_path):
    """A cached answer of any age proves nothing, in fetches and in snapshots."""
    canned.add_reply(answer(entry()))
    canned.default = (500, {}, b"down")
    with canned.client() as client:
        before = client.fetch(f"ETH.{A}")
        after = client.fetch(f"ETH.{A}", refresh=True, on_failure="ignore")
    assert after.wf.totals()["wallets_stale"].tolist() == [1]
    assert compare(before, before).empty
    assert compare(before, after)["status_after"].tolist() == ["stale"]
    save(before, folder=tmp_path, at="2026-01-30T06:00Z")
    save(after, folder=tmp_path, at="2026-01-31T06:00Z")
    days = [snapshot(day, folder=tmp_path) for day in ("2026-01-30", "2026-01-31")]
    assert compare(*days)["status_after"].tolist() == ["stale"]


def test_a_snapshot_is_not_compared_with_itself(tmp_path):
    """Without a request in between, a comparison proves nothing."""
    save(fetched({f"ETH.{UPPER_A}": [token()]}), folder=tmp_path)
    with pytest.raises(SnapshotError, match="before and after are the same snapshot, of 20"):
        compare(snapshot("today", folder=tmp_path), snapshot(folder=tmp_path))


def test_frames_of_no_single_time_are_refused():
    """The error names a repeated wallet, holdings without a wallet, or an unknown status."""
    details = fetched({f"ETH.{UPPER_A}": [token()]})
    twice = details._replace(wallets=pd.concat([details.wallets, details.wallets]))
    with pytest.raises(SnapshotError, match=rf"the wallet 'ETH\.{UPPER_A}' has more than one row"):
        compare(twice, details)
    with pytest.raises(SnapshotError, match="has holdings but no row in wallets"):
        compare(details, details._replace(wallets=details.wallets.head(0)))
    odd = details.wallets.astype({"status": TEXT}).assign(status="fine")
    with pytest.raises(SnapshotError, match="'fine' is not a wallet status"):
        compare(details._replace(wallets=odd), details)


def test_simulated_holdings_are_compared_with_simulated_ones():
    """A comparison with real holdings is refused."""
    simulated = fetched({f"ETH.{UPPER_A}": [token(raw=1)]}, service="sandbox")
    with pytest.raises(SnapshotError, match="simulated"):
        compare(simulated, fetched({f"ETH.{UPPER_A}": [token()]}))
    assert compare(simulated, fetched({f"ETH.{UPPER_A}": []}, service="sandbox")).shape == (1, 11)


def test_frames_of_other_columns_are_refused():
    """Missing columns are named; floats are no amounts."""
    details = fetched({f"ETH.{UPPER_A}": [token()]})
    with pytest.raises(ColumnsError, match="'token_address'"):
        compare(details, details._replace(holdings=details.holdings.drop(columns="token_address")))
    with pytest.raises(ColumnsError, match="'service'"):
        compare(details._replace(wallets=details.wallets.drop(columns="service")), details)
    with pytest.raises(AmountError, match="astype"):
        compare(details._replace(holdings=details.holdings.assign(amount=1.5)), details)


def test_one_token_keeps_every_unknown_wallet():
    """A failed wallet may have held the token, even if it was not listed before."""
    before = fetched({f"ETH.{A}": [token("USDC")], f"ETH.{B}": [token("DAI", contract="0xd")]})
    after = fetched({f"ETH.{A}": [token("USDC", 9)], f"ETH.{B}": "failed"})
    changes = compare(before, after, token="USDC")
    assert changes["change"].tolist() == ["decreased", "unknown"]
    assert changes["address"].tolist() == [A, B]
    with pytest.raises(UnknownTokenError):
        compare(before, after, token="usdc")
    assert compare(before, after, token=("eth", "0xD"))["change"].tolist() == ["unknown"]


def owned(details, **owners):
    """Add a column of owners."""
    names = [owners.get(address) for address in details.wallets["address"]]
    return details._replace(wallets=details.wallets.assign(owner=pd.array(names, dtype=TEXT)))


def test_changes_are_summed_by_owner_and_token():
    """Amounts that are known at both times are summed exactly, and wallets are counted."""
    usdc = "0xUsdc"
    before = fetched(
        {
            f"ETH.{UPPER_A}": [token("USDC", 5, contract=usdc), token("OLD", 1)],
            f"ETH.{UPPER_B}": [token("USDC", 2**256 - 1, contract=usdc)],
            f"ETH.{C}": [token("USDC", 7, contract=usdc)],
            "NEAR.d.near": "failed",
        }
    )
    after = fetched(
        {
            f"ETH.{UPPER_A}": [token("USDC", 8, contract=usdc), token("OLD", 1)],
            f"ETH.{UPPER_B}": [token("USDC", 2**256 - 2, contract=usdc)],
            f"ETH.{C}": "failed",
            "NEAR.d.near": [],
        }
    )
    who = {UPPER_A: "Ada", UPPER_B: "Bo", C: "Ada"}
    result = compare(owned(before, **who), owned(after, **who), by="owner", token=("ETH", usdc))
    rows = result[["owner", "symbol", "change", "wallets_known", "wallets"]].astype(object)
    assert rows.where(rows.notna(), None).to_numpy().tolist() == [
        ["Ada", "USDC", "increased", 1, 2],
        ["Bo", "USDC", "decreased", 1, 1],
    ]
    assert result["difference"].astype(TEXT).tolist()[:2] == ["0.000003", "-0.000001"]
    total = compare(before, after, by="token", token=("ETH", usdc))
    assert total["difference"].astype(TEXT).tolist()[0] == "0.000002"
    assert total[["wallets_known", "wallets"]].to_numpy().tolist()[0] == [2, 3]
    both = compare(owned(before, **who), after, by=["blockchain", "owner"])
    assert [*both.columns[:3]] == ["blockchain", "owner", "symbol"]
    assert both["owner"].dropna().tolist() == ["Ada", "Bo"]
    one = compare(before, after, by="wallet")
    assert one["address"].tolist() == [UPPER_A, UPPER_B, C, "d.near"]
    assert compare(fetched({}), fetched({}), by="token").empty


USDC, ON_BASE, TWIN = (
    "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    "0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA",
)


def dollars(ethereum, base, twin=0):
    """List balances of the same asset in three contracts on two blockchains."""
    amounts = [(USDC, "ETH", ethereum), (ON_BASE, "BASE", base), (TWIN, "BASE", twin)]
    return [
        token("USDC", raw or 1, raw and 6, contract=contract, blockchain=chain)
        for contract, chain, raw in amounts
        if raw != 0
    ]


def test_what_unknown_wallets_may_hold_is_not_gone():
    """In a group with an unknown wallet, nothing is gone, new, or a known change of 0."""
    tokens = [token(name, contract=f"0x{name}") for name in "ABC"]
    before = fetched({f"ETH.{A}": tokens[:1] + tokens[2:], f"ETH.{B}": "failed"})
    after = fetched({f"ETH.{A}": tokens[1:], f"ETH.{B}": [tokens[2]]})
    of_ada = (owned(each, **{A: "Ada", B: "Ada"}) for each in (before, after))
    changes = compare(*of_ada, by="owner").set_index("symbol")
    assert changes["change"].to_dict() == {"A": "decreased", "B": "increased", "C": "unknown"}
    assert changes["difference"].isna().to_dict() == {"A": False, "B": False, "C": True}


def test_changes_are_summed_by_asset():
    """Sums include all contracts, and bridged versions on request."""
    before = fetched(
        {
            f"ETH.{UPPER_A}": dollars(1, 2, 4),
            f"BASE.{UPPER_B}": dollars(0, 10**30),
            "NEAR.c.near": [],
        }
    )
    after = fetched(
        {
            f"ETH.{UPPER_A}": dollars(2, 4, 5),
            f"BASE.{UPPER_B}": dollars(0, 10**30 - 1),
            "NEAR.c.near": [],
        }
    )
    result = compare(before, after, by="asset")
    assert [*result.columns] == [
        *["asset", "before", "after", "difference", "change", "wallets_known", "wallets"]
    ]
    assert result["asset"].tolist() == ["USDC", "USDC (BASE 0xd9aa…b6ca)"]
    assert result["difference"].astype(TEXT).tolist() == ["0.000002", "0.000001"]
    assert result[["wallets_known", "wallets"]].iloc[0].tolist() == [3, 3]  # it is on NEAR, too
    together = compare(before, after, by="asset", bridged=True)
    assert together["difference"].astype(TEXT).tolist() == ["0.000003"]
    who = {UPPER_A: "Ada", UPPER_B: "Bo", "c.near": "Bo"}
    owners = compare(owned(before, **who), owned(after, **who), by=["asset", "owner"])
    assert owners[owners["asset"] == "USDC"]["owner"].tolist() == ["Ada", "Bo"]
    both = compare(before, after, by=["asset", "token"])
    assert both[both["asset"] == "USDC"]["token_blockchain"].tolist() == ["ETH", "BASE"]
    partly = fetched(
        {f"ETH.{UPPER_A}": dollars(2, None), f"BASE.{UPPER_B}": "failed", "NEAR.c.near": []}
    )
    lost = compare(before, partly, by="asset", bridged=True)
    assert lost["change"].tolist() == ["unknown"]
    assert lost[["wallets_known", "wallets"]].iloc[0].tolist() == [1, 3]
    own = pd.DataFrame({"asset": ["MINE"], "token_blockchain": "ETH", "token_address": [USDC]})
    assert "MINE" in compare(before, after, by="asset", assets=own)["asset"].tolist()
    for wrong in ({"assets": own}, {"bridged": True, "by": "token"}):
        with pytest.raises(SettingsError, match="applies only to tables of assets"):
            compare(before, after, **wrong)


def test_one_asset_is_all_its_contracts_and_possible_holders():
    """An unknown wallet counts if it could hold the asset."""
    requested = {
        f"ETH.{UPPER_A}": dollars(1, 2),
        f"BASE.{UPPER_B}": dollars(0, 5),
        "BTC.d": "failed",
    }
    before = fetched(requested | {"BASE.0xT": []})
    after = fetched(requested | {f"ETH.{UPPER_A}": dollars(2, 4), "BASE.0xT": "failed"})
    result = compare(before, after, asset="USDC")
    assert [*result.columns[:5]] == ["blockchain", "address", "asset", "before", "after"]
    assert result["asset"].tolist() == ["USDC", "USDC"]
    assert result["difference"].astype(TEXT).tolist()[:1] == ["0.000003"]
    assert result[["address", "change"]].to_numpy().tolist() == [
        [UPPER_A, "increased"],
        ["0xT", "unknown"],
    ]
    assert (str(result["before"].iloc[1]), result["status_after"].iloc[1]) == ("0", "failed")
    sides = [owned(each, **{"0xT": "Treasury", UPPER_A: "Ada"}) for each in (before, after)]
    by_owner = compare(*sides, asset="USDC", by="owner")
    assert by_owner.equals(compare(*sides, asset="USDC", by=["owner", "asset"]))
    counts = ["owner", "asset", "change", "wallets_known", "wallets"]
    assert by_owner[counts].to_numpy().tolist() == [
        ["Ada", "USDC", "increased", 1, 1],
        ["Treasury", "USDC", "unknown", 0, 1],
    ]
    contracts = compare(*sides, asset="USDC", by="token")
    assert contracts["token_blockchain"].dropna().tolist() == ["ETH", "BASE"]


@pytest.mark.parametrize("twin", [0, 1])
def test_changes_of_a_selected_asset_have_no_row_without_asset(twin):
    """Unknown wallets are in the rows of the asset. Its bridged versions count if selected."""
    first, last = (dollars(raw, raw, twin * raw) for raw in (10**6, 3 * 10**6))
    held = {f"ETH.{UPPER_A}": first, f"ETH.{UPPER_B}": [], "BTC.c": "failed"}
    days = [fetched(held), fetched(held | {f"ETH.{UPPER_A}": last, f"ETH.{UPPER_B}": "failed"})]
    days = [owned(each, **{UPPER_A: "Ada", UPPER_B: "Ada", "c": "Cem"}) for each in days]
    days = [each.wf.where(asset="USDC", bridged=bool(twin)) for each in days]
    valued = [each._replace(holdings=each.holdings.assign(value=1.0)) for each in days]
    tables = [compare(*days, by=by) for by in ("asset", ["owner", "asset"], "owner")]
    for table in (*tables, compare_values(*valued)):
        assert table["asset"].tolist() == ["USDC"]
        assert table[["wallets_known", "wallets"]].to_numpy().tolist() == [[1, 2]]
    assert tables[1][["before", "after"]].to_numpy().tolist() == [[2 + twin, 3 * (2 + twin)]]
    assert tables[1].equals(tables[2])
    of_token = [each.wf.where(token=("BASE", ON_BASE)) for each in days]
    table = compare(*of_token, by="owner")
    assert (table["token_address"].tolist(), table["change"].tolist()) == ([ON_BASE], ["increased"])


def test_an_asset_is_suggested_for_a_shared_symbol():
    """A token beside an asset, or a list of assets without one, is refused."""
    side = fetched({f"ETH.{UPPER_A}": dollars(1, 2), f"BASE.{UPPER_B}": dollars(0, 5)})
    with pytest.raises(
        AmbiguousTokenError, match=r"add up all contracts of the asset with asset='USDC'"
    ):
        compare(side, side, token="USDC")
    with pytest.raises(SettingsError, match="combined"):
        compare(side, side, token="USDC", asset="USDC")
    with pytest.raises(SettingsError, match="bridged"):
        compare(side, side, bridged=True)


def test_a_wallet_that_cannot_hold_the_token_is_not_unknown():
    """For one token, the wallets of its blockchain and its holders count."""
    requested = {f"ETH.{UPPER_A}": [token("USDC", 1)], f"ETH.{UPPER_B}": [], "BTC.c": "failed"}
    changes = compare(
        fetched(requested), fetched(requested | {f"ETH.{UPPER_B}": "failed"}), token="USDC"
    )
    assert changes[["address", "symbol"]].to_numpy().tolist() == [[UPPER_B, "USDC"]]
    assert compare(fetched(requested), fetched(requested), token="USDC", by="blockchain").empty


def test_rows_dropped_from_one_side_are_reported():
    """A warning names rows dropped from one fetch, unless dropping them has no effect."""
    details = fetched({f"ETH.{UPPER_A}": [token(raw=1), token("SCAM", contract="0xbad")]})
    less = details._replace(holdings=details.holdings.iloc[:1])
    with pytest.warns(
        InputWarning,
        match=r"^The later fetch leaves out 1 dropped balance, so 1 balance of the earlier fetch "
        r"may not really be gone\. Pass complete frames, or drop the same tokens from both\.$",
    ):
        assert compare(details, less)["change"].tolist() == ["gone"]
    with pytest.warns(
        InputWarning,
        match=r"^The earlier fetch leaves out .* may not really be new.* drop the same tokens",
    ):
        compare(less, details)
    assert compare(less, less).empty
    assert compare(details, less, token="TKN").empty
    odd = [token("?", contract=None, blockchain=None), token("A", contract="0xa")]
    days = [fetched({f"ETH.{UPPER_A}": [token(raw=raw)], f"ETH.{UPPER_B}": odd}) for raw in (1, 0)]
    text = "1 balance not selected, so 1 balance of the earlier"
    with pytest.warns(InputWarning, match=f"^The later fetch leaves out {text}"):
        changes = compare(days[0].wf.where(token="TKN"), days[1].wf.where(token="TKN", spam=False))
    assert "2 balances whose token is unknown; " in repr(changes)
    assert "1 balance not selected.\n" in repr(changes)


def test_a_group_whose_only_holder_is_unknown_has_no_amounts():
    """Its other wallets' 0 is not the owner's amount."""
    held = {f"ETH.{UPPER_A}": [token()], f"ETH.{UPPER_B}": []}
    days = [fetched(held), fetched(held | {f"ETH.{UPPER_A}": "failed"})]
    days = [owned(each, **{UPPER_A: "Eve", UPPER_B: "Eve"}) for each in days]
    [row] = compare(*days, token="TKN", by="owner").to_dict("records")
    assert pd.isna([row["before"], row["after"], row["difference"]]).all()
    assert (row["change"], row["wallets_known"], row["wallets"]) == ("unknown", 1, 2)


def test_other_columns_to_group_by_are_refused():
    """The error lists the supported names, including the user's own columns."""
    details = owned(fetched({f"ETH.{UPPER_A}": []}), **{UPPER_A: "Ada"})
    with pytest.raises(SettingsError, match=r"(?s)'team'.*an extra column of wallets \(owner\)"):
        compare(details, details, by="team")


@settings(max_examples=25, deadline=None)
@given(answers(), answers())
def test_sums_of_changes_are_those_of_the_changes(before, after):
    """The sums by token equal the sums of the wallets' rows."""
    one, other = fetched(before), fetched(after)
    result = compare(one, other, by="token").dropna(subset="token_blockchain")
    wanted = {}
    for row in compare(one, other).itertuples():
        if not pd.isna(row.difference):
            wanted.setdefault(row_key(row)[1], []).append(fraction(row.difference))
    sums = {token: sum(differences) for token, differences in wanted.items()}
    text = {}
    for row in result[result["difference"].notna()].itertuples():
        contract = "" if pd.isna(row.token_address) else row.token_address
        text[canonical_key(row.token_blockchain, contract)] = fraction(row.difference)
    assert {token: each for token, each in text.items() if each} == {
        token: each for token, each in sums.items() if each
    }
    assert (result["wallets_known"] <= result["wallets"]).all()
