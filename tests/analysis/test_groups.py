"""Groups by any columns of wallets or holdings."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from drawn_fetches import (
    details_of,
    fetches,
    fractions,
    key,
    known_for,
    known_of,
    optional,
    rows_of,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st

from walletframe.analysis.distribution import concentration, overlap, pivot, share
from walletframe.analysis.sums import totals
from walletframe.analysis.valuation import value
from walletframe.errors import ColumnsError, SettingsError, SnapshotError
from walletframe.frames.asset_list import assets
from walletframe.frames.groups import make_groups
from walletframe.frames.positions import encode_holdings, read_positions
from walletframe.pandas_versions import TEXT

NAMES = ["token", "asset", "wallet", "blockchain", "owner", "team", "bag"]
OWN = pd.DataFrame(
    [
        ["Dollars", "eth", "0xA0", None],
        ["Dollars", "BSC", "0xa0", None],
        ["Dollars", "SOLANA", "EPjF", "bridged"],
        ["Dollars", "SOLANA", "epjf", None],
        ["Dollars", "NEAR", "usd", None],
    ],
    columns=["asset", "token_blockchain", "token_address", "kind"],
)
ETHER, DOLLARS = ("ETH", None, "ETH"), ("ETH", "0xA0", "USDC")
FETCH = [
    (("ETH", "0x01"), [(ETHER, 10**18 + 1, 18), (DOLLARS, 2, 0)]),
    (("ETH", "0x02"), [(ETHER, 3 * 10**18, 18), (ETHER, 0, None)]),
    (("BSC", "0x03"), []),
    (("ETH", "0x04"), "failed"),
    (("NEAR", "alice.near"), "failed"),
    (("ETH", "0x05"), [(ETHER, 2**256 - 1, 18)]),
]
OWNERS = ["Ada", "Ada", "Ada", "Ada", "Ben", None]
WALLETS, HOLDINGS = details_of(FETCH)
REQUESTED = WALLETS.assign(owner=OWNERS)
TWO_OF_ONE = (
    [(("SOLANA", "9xQe"), [(("SOLANA", "EPjF", "A"), 1, 0), (("SOLANA", "epjf", "B"), 2, 0)])],
    [(None, None)],
    [True] * 2,
)
OWNED = (FETCH, [(owner, None) for owner in OWNERS], [True] * 5)

owners = st.sampled_from(["Ada", "Ben", "<b>Ada</b>", None])
teams = st.sampled_from([1, 2, None])
asked_for = st.lists(st.sampled_from(NAMES), min_size=1, unique=True)


@st.composite
def labelled(draw):
    """Draw a fetch, its user's columns of wallets, and a column of the user's balances."""
    fetch = draw(fetches)
    known = [(draw(owners), draw(teams)) for _ in fetch]
    return fetch, known, [draw(st.booleans()) for _ in rows_of(fetch)]


def frames_of(drawn):
    """Return the frames of a labelled fetch."""
    fetch, known, bags = drawn
    wallets, holdings = details_of(fetch)
    people, teams = zip(*known, strict=True) if known else ((), ())
    kept = {"owner": pd.array(people, dtype=TEXT), "team": pd.array(teams, dtype="Int64")}
    return wallets.assign(**kept), holdings.assign(bag=pd.array(bags, dtype=bool))


def parts_of(drawn, assets):
    """Return the labels of each wallet, and of each balance, by name."""
    fetch, known, bags = drawn
    of_wallets = {
        wallet: {"wallet": wallet, "blockchain": wallet[0], "owner": owner, "team": team}
        for wallet, (owner, team) in zip(known_of(fetch), known, strict=True)
    }
    of_rows = [
        {
            **of_wallets[row.wallet],
            "token": row.token,
            "asset": assets.get(row.token, row.token),
            "bag": bag,
        }
        for row, bag in zip(rows_of(fetch), bags, strict=True)
    ]
    return of_wallets, of_rows


def assets_of(*, bridged):
    """Return the asset of each listed contract, and the blockchains of each asset."""
    listed = assets(OWN)
    listed = listed[(listed["kind"] != "bridged") | bridged]
    result, homes = {}, {}
    for row in listed.astype(object).where(listed.notna(), None).itertuples():
        result[key(row.token_blockchain, row.token_address)] = row.asset
        homes.setdefault(row.asset, set()).add(row.token_blockchain)
    return result, homes


def names_of(table, by, named):
    """Return the names of a table's groups as `parts_of` returns them."""
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    for row in rows:
        chain, contract = row.get("token_blockchain"), row.get("token_address")
        row["token"] = None if chain is None else key(chain, contract)
        row["asset"] = named.get(row.get("asset"))
        row["wallet"] = key(row["blockchain"], row["address"]) if "address" in row else None
        row["blockchain"] = (
            row["wallet"][0] if row["wallet"] else key(row.get("blockchain") or "", None)[0]
        )
    return [tuple(row[name] for name in by) for row in rows]


def asset_labels(holdings, listed, **options):
    """Return the token of each asset's name; an unlisted token is named with its contract."""
    named = {}
    for row in totals(holdings, ["token", "asset"], **options).to_dict("records"):
        contract = None if pd.isna(row["token_address"]) else row["token_address"]
        token = key(row["token_blockchain"], contract)
        assert named.setdefault(row["asset"], listed.get(token, token)) == listed.get(token, token)
    return named


def of_wallets_alone(by):
    """Return the names that belong to wallets."""
    return [name for name in by if name not in ("token", "asset", "bag")]


def grouped(by, balances, of_wallets):
    """Group balances by their labels; each set of wallets has a group, even an empty one."""
    groups = {}
    for row, labels in balances:
        groups.setdefault(tuple(labels[name] for name in by), []).append(row)
    whose = of_wallets_alone(by)
    taken = {
        tuple(part for name, part in zip(by, group, strict=True) if name in whose)
        for group in groups
    }
    for labels in of_wallets.values() if whose else ():
        if tuple(labels[name] for name in whose) not in taken:
            groups.setdefault(tuple(labels.get(name) for name in by), [])
    return groups


@settings(max_examples=30, deadline=None)
@given(drawn=labelled(), by=asked_for, bridged=st.booleans())
@example(drawn=OWNED, by=["owner", "token"], bridged=True)
@example(drawn=OWNED, by=["owner"], bridged=False)
@example(drawn=OWNED, by=["asset"], bridged=False)
@example(drawn=OWNED, by=["asset", "bag"], bridged=False)
@example(drawn=TWO_OF_ONE, by=["asset"], bridged=True)
def test_totals_by_any_columns_match_plain_integers(drawn, by, bridged):
    """Each group is there once, with its amounts, counts and known wallets."""
    fetch, _, _ = drawn
    wallets, holdings = frames_of(drawn)
    listed, homes = assets_of(bridged=bridged)
    of_wallets, of_rows = parts_of(drawn, listed)
    options = {"assets": OWN, "bridged": bridged}
    named = asset_labels(holdings, listed, **options)
    groups = grouped(by, zip(rows_of(fetch), of_rows, strict=True), of_wallets)
    whose = of_wallets_alone(by)

    table = totals(holdings, by, wallets=wallets, **options if "asset" in by else {})
    result = names_of(table, by, named)
    assert sorted(map(repr, result)) == sorted(map(repr, groups))
    for group, row in zip(result, table.to_dict("records"), strict=True):
        here, rows = dict(zip(by, group, strict=True)), groups[group]
        sums = [each.amount for each in rows if each.amount is not None]
        thing = here.get("token") or here.get("asset")
        chains = homes.get(thing) or {thing and thing[0]}
        chains = chains | {
            each.wallet[0]
            for each in rows_of(fetch)
            if thing in (each.token, listed.get(each.token))
        }
        known = known_of(fetch) if thing is None else known_for(fetch, rows)
        states = [
            known[wallet]
            for wallet, labels in of_wallets.items()
            if all(labels[name] == here[name] for name in whose)
            and (thing is None or {"wallet", "blockchain"} & {*by} or wallet[0] in chains)
        ]
        assert (row["wallets_ok"], row["wallets_asked"]) == (sum(states), len(states))
        if rows or any(states):
            assert (row["balances"], row["amount_na"]) == (len(rows), len(rows) - len(sums))
        else:
            assert pd.isna(row["balances"])
        if {"token", "asset"} & {*by}:
            assert fractions(pd.Series([row["amount"]], dtype="amount")) == [
                sum(sums) if sums or (not rows and any(states)) else None
            ]
        if "asset" in by and sums:
            held = {each.token for each in rows if each.amount}
            assert row["contracts"] == len(held)
            assert row["blockchains"] == len({token[0] for token in held})


holders_asked_for = st.lists(
    st.sampled_from([name for name in NAMES if name not in ("token", "asset")]),
    min_size=1,
    unique=True,
)


@settings(max_examples=20, deadline=None)
@given(drawn=labelled(), by=holders_asked_for, bridged=st.booleans())
@example(drawn=OWNED, by=["owner", "bag"], bridged=True)
def test_pivots_and_shares_of_assets_match_plain_integers(drawn, by, bridged):
    """A cell is the sum of known amounts, 0 where nothing is held, and NA if none is known."""
    fetch, _, _ = drawn
    wallets, holdings = frames_of(drawn)
    listed, homes = assets_of(bridged=bridged)
    of_wallets, of_rows = parts_of(drawn, listed)
    options = {"assets": OWN, "bridged": bridged, "wallets": wallets}
    named = asset_labels(holdings, listed, assets=OWN, bridged=bridged)
    balances = [*zip(rows_of(fetch), of_rows, strict=True)]
    able, groups = {}, grouped(by, balances, of_wallets)
    for thing in named.values():
        held = {row.wallet[0] for row, labels in balances if labels["asset"] == thing}
        able[thing] = held | (homes.get(thing) or {thing[0]})

    def members(group):
        here = dict(zip(by, group, strict=True))
        wanted = {name: here[name] for name in of_wallets_alone(by)}
        return [wallet for wallet, own in of_wallets.items() if wanted.items() <= own.items()]

    table, partial = pivot(holdings, None, by=[*by, "asset"], **options), 0
    result = names_of(table.index.to_frame(index=False), by, {}) if len(named) else [*groups]
    assert sorted(map(repr, result)) == sorted(map(repr, groups))
    for name, thing in named.items():
        cells = dict(zip(result, fractions(table[name]), strict=True))
        for group, rows in groups.items():
            mine = [row for row in rows if listed.get(row.token, row.token) == thing]
            read = [row.amount for row in mine if row.amount is not None]
            known = known_for(fetch, mine)
            states = [known[wallet] for wallet in members(group) if wallet[0] in able[thing]]
            every = [known_of(fetch)[wallet] for wallet in members(group)]
            is_known = bool(read) if mine else any(states) or (not states and any(every))
            assert cells[group] == (sum(read) if is_known else None)
            partial += bool(is_known) and not (all(states) and len(read) == len(mine))
    assert table.attrs["coverage"]["partial_cells"] == partial

    if "Dollars" in named:
        dollars = [(row, labels) for row, labels in balances if labels["asset"] == "Dollars"]
        shares = share(holdings, asset="Dollars", by=by, **options)
        expected = {
            group: rows
            for group, rows in grouped(by, dollars, of_wallets).items()
            if rows or any(wallet[0] in able["Dollars"] for wallet in members(group))
        }
        result = names_of(shares, by, {})
        assert sorted(map(repr, result)) == sorted(map(repr, expected))
        for group, amount in zip(result, fractions(shares["amount"]), strict=True):
            mine = [row.amount for row in expected[group] if row.amount is not None]
            requested = [each for each in members(group) if each[0] in able["Dollars"]]
            some = any(known_of(fetch)[each] for each in requested)
            known = mine if expected[group] else some
            assert amount == (sum(mine) if known else None)


def test_groups_count_their_known_wallets():
    """3 of 4 wallets of owner Ada are known, none of Ben's, and one without an owner."""
    table = totals(HOLDINGS, "owner", wallets=REQUESTED)
    assert table["owner"].fillna("-").tolist() == ["Ada", "Ben", "-"]
    assert optional(table["wallets_ok"]) == [3, 0, 1]
    assert optional(table["wallets_asked"]) == [4, 1, 1]
    assert optional(table["balances"]) == [4, None, 1]
    assert optional(table["tokens"]) == [2, None, 1]
    assert optional(table["holders"]) == [2, None, 1]


def test_tokens_of_owners_count_the_wallets_that_could_hold_them():
    """Wallets on other blockchains don't count; an owner without a token has a row as well."""
    table = totals(HOLDINGS, ["owner", "token"], wallets=REQUESTED)
    ether = table[table["token_address"].isna() & table["symbol"].notna()]
    assert [str(each) for each in ether["amount"]] == [
        "4.000000000000000001",
        "115792089237316195423570985008687907853269984665640564039457.584007913129639935",
    ]
    assert optional(ether["wallets_asked"]) == [3, 1]
    assert optional(table[table["owner"] == "Ben"]["wallets_asked"]) == [1]


def test_balances_are_grouped_by_their_own_columns():
    """It works without `wallets`, and with it counts all requested wallets."""
    flagged = HOLDINGS.assign(
        is_good=[True, False, True, True, False], price=[1.5, 2, np.nan, 2, 2]
    )
    assert optional(totals(flagged, "is_good")["balances"]) == [3, 2]
    table = totals(flagged, ["price", "is_good"], wallets=REQUESTED)
    assert table["price"].tolist()[:2] == [1.5, 2]
    assert len(table) == 4
    assert set(optional(table["wallets_asked"])) == {6}
    crossed = totals(flagged, ["owner", "is_good"], wallets=REQUESTED)
    assert str(crossed["is_good"].dtype) == "boolean"
    assert crossed["is_good"].isna().tolist() == [False, False, True, False]


def test_kept_columns_come_from_wallets():
    """A fetch works, too; a column of both frames is taken from wallets, which are complete."""
    both = HOLDINGS.assign(owner="someone")
    assert totals(both, "owner", wallets=(REQUESTED, both))["owner"].tolist()[:2] == ["Ada", "Ben"]
    assert totals(both, "owner")["owner"].tolist() == ["someone"]


@pytest.mark.parametrize(
    "by", ["owner", "status", ["wallet", "owner"], "amount", ["value"], [[]], None]
)
def test_other_names_to_group_by_are_refused(by):
    """Kept columns without `wallets`, and names of results, are refused; the hint lists choices."""
    valued = value(HOLDINGS, {ETHER[:2]: 1})
    with pytest.raises(SettingsError, match=r"a column of holdings, or an extra column of wallets"):
        totals(valued, by)
    if "owner" not in (by or ()):
        with pytest.raises(SettingsError, match=r"\(owner\)"):
            totals(valued, by, wallets=REQUESTED)


def test_the_first_missing_column_is_named():
    """The message has no name that a call adds by itself."""
    with pytest.raises(SettingsError, match=r"^there is no column 'ownr' to group by\n"):
        share(HOLDINGS, asset="USDC", by=["wallet", "ownr", "tean"])


@pytest.mark.parametrize("by", [["wallet", "address"], ["symbol", "token_address"]])
def test_duplicate_columns_are_refused(by):
    """A column that another name includes is refused, too."""
    with pytest.raises(SettingsError, match="two columns"):
        totals(details_of(FETCH[:1]).holdings, by)


def test_unusable_columns_are_refused():
    """Lists can't be compared, and two columns of one name are ambiguous."""
    listed = HOLDINGS.assign(tags=[["a"]] * len(HOLDINGS))
    with pytest.raises(SettingsError, match="'tags' contains lists or other unhashable values"):
        totals(listed, "tags")
    double = pd.concat([listed[["tags"]], listed], axis=1)
    with pytest.raises(SettingsError, match="several columns with the name 'tags'"):
        totals(double, "tags")


def test_rows_of_one_wallet_have_to_agree():
    """A missing label agrees with any; two different ones are refused with the wallet."""
    again = WALLETS.iloc[:1].assign(owner=None)
    table = totals(HOLDINGS, "owner", wallets=pd.concat([again, REQUESTED]))
    assert optional(table["wallets_asked"]) == [4, 1, 1]
    other = pd.concat([REQUESTED, again.assign(owner="Eve")])
    with pytest.raises(SettingsError, match=r"several values for 'ETH\.0x01'"):
        totals(HOLDINGS, "owner", wallets=other)


def in_time(*owned):
    """Return a history of the fetch, with the owners of each time."""
    moments = pd.date_range("2026-01-30", periods=len(owned), tz="UTC").as_unit("us")
    wallets = [
        WALLETS.assign(snapshot=at, owner=who) for at, who in zip(moments, owned, strict=True)
    ]
    holdings = [HOLDINGS.assign(snapshot=at) for at in moments]
    return pd.concat(wallets, ignore_index=True), pd.concat(holdings, ignore_index=True)


def test_snapshots_are_grouped_separately():
    """Each has its own wallets, owners and counts, as if it were alone."""
    wallets, holdings = in_time(OWNERS, OWNERS[::-1])
    for by in (["snapshot", "owner"], ["snapshot", "wallet", "token"], ["snapshot", "token"]):
        table = totals(holdings, by, wallets=wallets)
        rest = [name for name in by if name != "snapshot"]
        for place, (moment, whose) in enumerate([*wallets.groupby("snapshot")]):
            alone = totals(HOLDINGS, rest, wallets=whose.drop(columns="snapshot"))
            here = (
                table[table["snapshot"] == moment].drop(columns="snapshot").reset_index(drop=True)
            )
            pd.testing.assert_frame_equal(here, pd.DataFrame(alone), obj=f"{by} {place}")
    assert len(totals(read_positions(encode_holdings(holdings), wallets), "snapshot")) == 2
    assert len(totals(encode_holdings(holdings), "snapshot", wallets=wallets)) == 2
    assert optional(totals(holdings, "snapshot")["holders"]) == [3, 3]
    assert optional(totals(holdings, "snapshot", wallets=REQUESTED)["wallets_asked"]) == [6, 6]
    for by in ("owner", "asset"):
        with pytest.raises(SnapshotError, match=r"rows of 2 snapshots can't be added up"):
            totals(holdings, by, wallets=wallets)
    for requested in (None, REQUESTED):
        with pytest.raises(ColumnsError, match="snapshot"):
            totals(HOLDINGS, "snapshot", wallets=requested)


def test_shares_of_owners():
    """Shares are exact, with each owner's wallets that could hold the token."""
    fetch = [*FETCH[:5], (("ETH", "0x05"), [(ETHER, 4 * 10**18 + 1, 18)])]
    wallets, holdings = details_of(fetch)
    table = share(holdings, "ETH", by="owner", wallets=wallets.assign(owner=OWNERS))
    assert table["owner"].fillna("-").tolist() == ["Ada", "-"]
    assert table["share"].tolist() == [0.5, 0.5]
    assert optional(table["amount_na"]) == [1, 0]
    assert (optional(table["wallets_ok"]), optional(table["wallets_asked"])) == ([1, 1], [3, 1])
    lost = wallets.assign(owner=["Ada", "Ada", "Ada", "Eve", "Ben", None])
    unknown = share(holdings, "ETH", by=["owner"], wallets=lost).set_index("owner").loc["Eve"]
    assert pd.isna(unknown["amount"])
    assert (unknown["wallets_ok"], unknown["wallets_asked"]) == (0, 1)


def test_pivots_of_owners_have_the_sums_of_totals():
    """A cell is 0 if nobody holds any, and NA if no wallet that could hold some is known."""
    table = pivot(HOLDINGS, by="owner", wallets=REQUESTED)
    assert table.index.fillna("-").tolist() == ["Ada", "Ben", "-"]
    assert table.isna().to_numpy().tolist() == [[False, False], [True, True], [False, False]]
    sums = totals(HOLDINGS, ["owner", "asset"], wallets=REQUESTED).set_index(["owner", "asset"])
    for asset in table.columns:
        assert table.loc["Ada", asset] == sums.loc[("Ada", asset), "amount"]
    stated = table.attrs["coverage"]
    assert (stated["balances"], stated["amount_na"], stated["partial_cells"]) == (5, 1, 2)
    assert "2 cells may be larger, since a wallet or a balance is unknown." in repr(table)
    on_two = REQUESTED.replace({"blockchain": {"NEAR": "BSC"}, "address": {"alice.near": "0x06"}})
    table = pivot(HOLDINGS, by="blockchain", wallets=on_two)
    assert table.attrs["coverage"]["partial_cells"] == 2  # the failed BSC wallet can't hold any
    known = REQUESTED.assign(owner=["Ada", "Eve", "Ada", "Eve", "Ada", "Ada"])
    table = pivot(HOLDINGS, by=["owner", "blockchain"], wallets=known)
    assert table.index.names == ["owner", "blockchain"]
    whole = table.loc["Ada", "ETH"]
    assert str(whole["ETH"]) == (
        "115792089237316195423570985008687907853269984665640564039458.584007913129639936"
    )
    by_owner = pivot(HOLDINGS, by="owner", wallets=known)
    assert by_owner.loc["Ada"].equals(whole.set_axis(by_owner.columns)), (
        "a lost NEAR wallet is no ETH"
    )
    assert by_owner.loc["Eve"].tolist() == [3, 0]  # and an unreadable balance


def test_concentration_and_overlap_of_owners():
    """Two wallets of one owner are one holder."""
    fetch = [(("ETH", f"0x{n}"), [(ETHER, amount, 0)]) for n, amount in enumerate([1, 2, 3])]
    wallets, holdings = details_of(fetch)
    requested = wallets.assign(owner=["Ada", "Ada", None])
    assert concentration(holdings, by="owner", wallets=requested)["gini"].item() == 0
    assert concentration(holdings, "ETH", by="owner", wallets=requested)["herfindahl"].item() == 0.5
    pairs = overlap(holdings, by="owner", wallets=requested)
    assert pairs[["owner", "other_owner"]].fillna("-").to_numpy().tolist() == [["Ada", "-"]]
    assert pairs["jaccard"].item() == 1


@pytest.mark.parametrize(
    "ask,by",
    [
        (lambda by: pivot(HOLDINGS, by=by), ["token", "asset"]),
        (lambda by: concentration(HOLDINGS, by=by), ["wallet", "asset", "symbol"]),
        (lambda by: overlap(HOLDINGS, by=by), ["asset", "token"]),
        (lambda by: share(HOLDINGS, "ETH", by=by), "token"),
        (lambda by: share(HOLDINGS, token="ETH", by=by), ["wallet", "asset"]),
        (lambda by: concentration(HOLDINGS, "ETH", by=by), "token"),
    ],
)
def test_tokens_and_assets_are_not_counted_together(ask, by):
    """A holder's tokens are counted apart, or by asset."""
    with pytest.raises(SettingsError, match="by='token' and by='asset' can't be combined here"):
        ask(by)


def test_group_codes_for_charts():
    """Each row has a code, each group its labels, and each wallet its set."""
    positions, groups = make_groups(read_positions(HOLDINGS, REQUESTED), ["owner", "symbol"])
    assert groups.labels.columns.tolist() == [
        "owner",
        "token_blockchain",
        "token_address",
        "symbol",
    ]
    assert groups.labels.iloc[groups.codes]["owner"].fillna("-").tolist() == ["Ada"] * 4 + ["-"]
    assert groups.wallet_set_codes.tolist() == [0, 0, 0, 0, 1, 2]
    assert len(groups) == len(groups.labels) == 4
    assert all(one <= other for one, other in pairwise(groups.wallet_sets))
    assert positions.has_wallets
