"""`compare_values`: changes of value, split into prices and amounts."""

import re

import pandas as pd
import pytest
from addresses import A, B, C
from canned_service import balance
from fetches import failed, record

import walletframe as wf
from walletframe.errors import ColumnsError, InputWarning, PricesError, PricesWarning, SnapshotError
from walletframe.frames.assembly import assemble
from walletframe.history import compare, compare_values
from walletframe.numerals import counted_noun

ETHER = {"symbol": "ETH", "address": None}
OWNERS = ["Ada", "Ada", "Bob"]


def fetched(amounts, day, price, currency="USD"):
    """Return a valued fetch of wallets with these amounts of ether; None means failed."""
    records = [
        failed(address)
        if amount is None
        else record(address, balances=[balance(str(amount * 10**18), **ETHER, decimals=18)])
        for address, amount in zip((A, B, C), amounts, strict=True)
    ]
    wallets, holdings = assemble(records)
    moment = pd.Timestamp(day, tz="UTC")
    details = wf.WalletDetails(wallets.assign(fetched_at=moment, owner=OWNERS), holdings)
    return details.wf.value({"ETH": price}, currency=currency)


def test_a_change_is_split_into_prices_and_amounts():
    """Only wallets that are known at both times count; the others are counted as unknown."""
    days = fetched([1, 2, 5], "2026-01-30", 100), fetched([3, None, None], "2026-01-31", 150)
    table = compare_values(*days, by=["owner", "asset"])
    numbers = ["before", "after", "difference", "from_prices", "from_amounts"]
    assert table.loc[0, numbers].tolist() == [100, 450, 350, 50, 300]
    assert table.loc[1, numbers].isna().all()
    assert table[["owner", "currency", "wallets_known", "wallets"]].to_numpy().tolist() == [
        ["Ada", "USD", 1, 2],
        ["Bob", "USD", 0, 1],
    ]
    line = "\nNot compared: 2 wallets (700 USD before), whose value is unknown at one time or both."
    assert line in repr(table)


def test_the_largest_changes_include_losses():
    """They keep the line below the table, which counts them, and the display of money."""
    days = fetched([1000, 2, 5], "2026-01-30", 100), fetched([3, 9, 5], "2026-01-31", 100)
    for table in (compare_values(*days, by="wallet"), wf.history.compare(*days)):
        largest = table.wf.top(1, by="difference")
        assert float(largest["difference"].item()) in (-99_700, -997)
        assert f"{counted_noun(len(table) - 1, 'row')} beyond the limit" in repr(largest)
        assert "beyond the limit" not in repr(table.wf.top(3, by="difference"))
    assert "-99,700.00" in repr(compare_values(*days, by="wallet").wf.top(1, by="difference"))


def test_a_wallet_of_only_one_fetch_is_unknown():
    """Its earlier value is not a loss."""
    days = fetched([1, 2, 5], "2026-01-30", 100), fetched([1, 2, 5], "2026-01-31", 100)
    fewer = wf.WalletDetails(days[1].wallets[:2], days[1].holdings[:2])
    table = compare_values(days[0], fewer, by="owner")
    assert table["difference"].fillna(-1).tolist() == [0, -1]
    assert table["wallets"].tolist() == [2, 1]
    line = "Not compared: 1 wallet (500 USD before) only in the earlier list."
    assert table.attrs["coverage"]["not_compared"] in line
    assert f"\n{line}" in repr(table)


def test_wallets_that_are_not_compared_have_values_at_later_prices():
    """If the earlier fetch has no values, as balances that are compared."""
    later = fetched([1, 2, None], "2026-01-31", 150)
    earlier = fetched([1, 2, 5], "2026-01-30", 100)
    bare = earlier._replace(holdings=earlier.holdings.drop(columns=["value", "currency"]))
    with pytest.warns(PricesWarning):
        table = compare_values(bare, later)
    assert "Not compared: 1 wallet (750 USD before), whose value is unknown" in repr(table)


def test_filters_of_both_fetches_are_stated():
    """In the words of `compare`."""
    days = fetched([1, 2, 5], "2026-01-30", 100), fetched([3, 2, 5], "2026-01-31", 150)
    hint = ", so 0 may be a dropped balance, and sums may be too low."
    small = [each.wf.where(small=310, owner="Ada") for each in days]
    stated = (
        "\nSelected: owner='Ada', small=310. Not counted: before: 2 small balances (300.00 USD); "
        f"after: 1 small balance (300.00 USD){hint}"
    )
    for table in (compare_values(*small), wf.history.compare(*small, by="asset")):
        assert stated in repr(table)
    deny = {"deny": [("ETH", None)]}
    spam = [each.wf.without_spam(**deny) for each in days]
    stated = "before: 3 spam balances (800.00 USD); after: 3 spam balances (1,500.00 USD)."
    assert f"\nNot counted: {stated}" in repr(compare_values(*spam))


@pytest.mark.parametrize("call", [compare_values, wf.history.compare])
def test_different_selections_are_refused(call):
    """As in a report: the other balances would seem new or gone. The order does not matter."""
    first, last = fetched([1, 2, 5], "2026-01-30", 100), fetched([3, 2, 5], "2026-01-31", 150)
    ada, bob, eth = {"owner": "Ada"}, {"owner": "Bob"}, {"asset": "ETH"}
    unselected = "the earlier fetch has no selection, and the later fetch is selected by"
    cases = (
        ((first, last.wf.where(**eth)), f"{unselected} asset='ETH'"),
        ((first, last.wf.where(small=400)), f"{unselected} small=400"),
        ((first.wf.where(**ada), last.wf.where(**bob)), "by owner='Ada', and the later fetch is "),
        (
            (first.wf.where(small=1), last.wf.where(small=100.5)),
            "by small=1, and the later fetch is selected by small=100.5",
        ),
    )
    for results, text in cases:
        with pytest.raises(SnapshotError, match=re.escape(text)) as raised:
            call(*results)
        assert raised.value.hint == "pass the same where(…) to both"
    assert call(first, last.wf.where(spam=False), by="asset")["difference"].notna().all()
    orders = first.wf.where(**ada).wf.where(**eth), last.wf.where(**eth).wf.where(**ada)
    assert "\nSelected: asset='ETH', owner='Ada'. " in repr(call(*orders, by="asset"))


def test_the_spelling_of_a_selection_does_not_matter():
    """Case, lists and their order. Long lists that differ are still different."""
    days = [fetched([1, 2, 5], f"2026-01-{day}", 100) for day in (30, 31)]
    wallets = [".".join(pair) for pair in days[0].holdings[["blockchain", "address"]].to_numpy()]
    spellings = (
        ({"asset": "ETH"}, {"asset": ["eth"]}, "asset='ETH'"),
        ({"blockchain": "ETH"}, {"blockchain": ["eth", "ETH"]}, "blockchain='ETH'"),
        ({"owner": ["Ada", "Bob"]}, {"owner": ["Bob", "Ada"]}, "owner=['Ada', 'Bob']"),
        ({"token": ("ETH", None)}, {"token": [("eth", "")]}, "token=('ETH', None)"),
        ({"wallet": wallets[0].upper()}, {"wallet": wallets[:1]}, f"wallet='{wallets[0]}'"),
        ({"search": "Ada eth"}, {"search": "ETH ada"}, "search='ada eth'"),
    )
    for *conditions, text in spellings:
        pair = [day.wf.where(**each) for day, each in zip(days, conditions, strict=True)]
        assert f"\nSelected: {text}. " in repr(wf.history.compare(*pair, by="asset"))
    first, last = (day.wf.where(wallet=wallets[:n]) for day, n in zip(days, (2, 3), strict=True))
    with pytest.raises(SnapshotError, match="different selections"):
        compare_values(first, last)


def test_bridged_versions_in_separate_rows_are_stated():
    """As below `totals`; other groups have no rows of assets."""
    twin = {"symbol": "WETH", "address": "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"}
    wallets, holdings = assemble([record(A, balances=[balance(**ETHER), balance(**twin)])])
    details = wf.WalletDetails(wallets, holdings).wf.value({"ETH": 1}, bridged=True)
    line = "1 bridged version is listed separately (bridged=True adds it to its asset)."
    for by in ("asset", ["wallet", "asset"]):
        assert line in repr(details.wf.totals(by))
        assert line in repr(compare_values(details, details, by=by))
    for options in ({"by": "wallet"}, {"by": "token"}, {"bridged": True}):
        assert "listed separately" not in repr(compare_values(details, details, **options))


def test_earlier_balances_without_values_have_the_later_prices():
    """Then nothing is due to prices."""
    days = fetched([1, 2, 5], "2026-01-30", 100), fetched([2, 2, 5], "2026-01-31", 150)
    columns = ["unit_price", "value", "currency"]
    earlier = days[0]._replace(holdings=days[0].holdings.drop(columns=columns))
    warning = "^balances of `before` without values are valued at the prices of `after`: 3 balances"
    with pytest.warns(PricesWarning, match=warning):
        [row] = compare_values(earlier, days[1]).to_dict("records")
    assert (row["asset"], row["difference"], row["from_prices"]) == ("ETH", 150, 0)
    with pytest.raises(ColumnsError, match=r"after.wf.value"):
        compare_values(days[0], days[1]._replace(holdings=earlier.holdings))


def valued(*balances):
    """Return a fetch of wallets of Ada, Ben and Cem, in which only ether has a price, of 1."""
    records = [record(each, balances=held) for each, held in zip((A, B, C), balances, strict=True)]
    wallets, holdings = assemble(records)
    values = holdings["amount"].astype("float64").where(holdings["symbol"] == "ETH")
    wallets = wallets.assign(owner=["Ada", "Ben", "Cem"])
    return wf.WalletDetails(wallets, holdings.assign(value=values, currency="USD"))


def test_a_group_without_known_values_is_unknown():
    """It is not 0, as in `totals`; a group that holds nothing has 0."""
    coin, other = balance(f"{10**18}", **ETHER, decimals=18), balance(symbol="B", address="0xB")
    days = valued([coin], [other], []), valued([coin, other], [other], [])
    table = compare_values(*days, by="owner").set_index("owner").sort_index()
    assert table["wallets_known"].tolist() == [1, 1, 1]
    assert table[["difference", "from_prices", "from_amounts"]].isna().all(axis=1).tolist() == [
        False,
        True,
        False,
    ]
    for side, details in zip(("before", "after"), days, strict=True):
        assert table[side].fillna(-1).tolist() == [1, -1, 0]
        assert details.wf.totals(by="owner")["value"].fillna(-1).tolist() == [1, -1, 0]
    sold = compare_values(valued([coin], [], []), valued([other], [], []), by="owner")
    assert sold[["before", "after", "difference"]].fillna(-9).iloc[0].tolist() == [1, -9, -1]
    by_asset = compare_values(*days).set_index("asset")[["before", "after", "difference"]]
    assert by_asset.fillna(-1).to_numpy().tolist() == [[1, 1, 0], [-1, -1, -1]]


def test_all_groupings_have_the_same_total():
    """An owner's unknown token hides no change of the owner's other tokens."""
    nameless = {"asset": None, "amount": {"amount": "5", "decimals": 0}}
    coins = [balance(f"{count}{'0' * 18}", **ETHER, decimals=18) for count in (1, 3)]
    days = valued([coins[0]], [nameless], []), valued([coins[1]], [nameless, coins[1]], [])
    groupings = ("owner", "wallet", "asset", "blockchain", ["owner", "asset"])
    sums = {str(by): compare_values(*days, by=by)["difference"].sum() for by in groupings}
    assert {*sums.values()} == {5}, sums


def test_an_unknown_token_counts_once():
    """Although it can't be identified at the other time."""
    nameless = {"asset": None, "amount": {"amount": "5", "decimals": 0}}
    days = valued([nameless], [], []), valued([nameless], [nameless], [])
    table = compare_values(*days)
    assert "Not compared: 2 balances, whose value is unknown at one time or both." in repr(table)
    assert table[["before", "after", "difference"]].isna().all(axis=None)
    coins = [balance(f"{count}{'0' * 18}", **ETHER, decimals=18) for count in (1, 3)]
    days = valued([coins[0], nameless], [], []), valued([coins[1], nameless], [], [])
    values = compare_values(*days).set_index("asset")
    assert values.loc["ETH", ["difference", "wallets_known", "wallets"]].tolist() == [2, 3, 3]
    amounts = compare(*days, by="asset").set_index("asset")
    counted = [each["wallets_known"].drop("ETH").tolist() for each in (values, amounts)]
    assert counted == [[2, 2], [2]]  # by asset, `compare` has one row for both times


@pytest.mark.parametrize("order", [1, -1])
def test_a_wallet_with_an_unreadable_amount_is_unknown_by_asset(order):
    """At either time, as in `totals`. By owner, the wallet's other balances count."""
    coin, unread = (balance("1", **ETHER, decimals=decimals) for decimals in (0, None))
    days = [valued([coin], [coin], []), valued([coin], [unread], [])][::order]
    assert compare_values(*days)[["wallets_known", "wallets"]].to_numpy().tolist() == [[2, 3]]
    assert compare_values(*days, by="owner")["wallets_known"].tolist() == [1, 1, 1]


def test_currencies_and_snapshots_are_not_mixed():
    """An error says what to do."""
    first = fetched([1, 2, 5], "2026-01-30", 100)
    with pytest.raises(PricesError, match="2 currencies: 'USD', 'EUR'"):
        compare_values(first, fetched([1, 2, 5], "2026-01-31", 100, "EUR"))
    day = first.wallets["fetched_at"]
    snapshot = wf.WalletDetails(*(frame.assign(snapshot=day[0]) for frame in first))
    with pytest.raises(SnapshotError, match="the same snapshot"):
        compare_values(snapshot, snapshot)


def test_only_one_filtered_fetch_is_incomplete():
    """Its missing balances would seem gone; spam, and wallets that both lack, count in neither."""
    days = fetched([1, 2, 5], "2026-01-30", 100), fetched([3, 2, 5], "2026-01-31", 150)
    note = (
        r"^The later fetch leaves out 1 dropped balance, so 1 balance of the earlier fetch may not "
        r"really be gone\. Pass complete frames, or drop the same tokens from both\.$"
    )
    large = days[1].holdings[days[1].holdings["value"] >= 400]
    with pytest.warns(InputWarning, match=note):
        compare_values(days[0], days[1]._replace(holdings=large))
    filtered = [each.wf.where(small=400) for each in days]
    assert len(compare_values(*filtered))
    assert len(compare_values(days[0].wf.without_spam(), days[1]))
