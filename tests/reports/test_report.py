"""The content of reports on real and made-up fetches, and the file of a report."""

import re
import sys
from html import unescape

import pandas as pd
import plotly.io as pio
import pytest
from addresses import A, B, C, D
from fetches import fetched, token
from hostile_symbols import SYMBOLS

import walletframe as wf
from walletframe.errors import (
    InputWarning,
    MissingExtraError,
    SettingsError,
    SnapshotError,
    SpamWarning,
)
from walletframe.frames.details import WalletDetails
from walletframe.history import save, snapshot
from walletframe.numerals import money
from walletframe.pandas_versions import TEXT
from walletframe.reports.composition import Grouping, compose
from walletframe.wire.answer import NO_LIST

NOW = pd.Timestamp("2026-02-01", tz="UTC")
AS_OF = "As of 2026-01-31 05:59 UTC."
ASSET_COLUMNS = ["asset", "token_blockchain", "token_address"]
USDC = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
SOME = {
    f"ETH.{A}": [
        token("USDC", 5_000_001, contract=USDC),
        token("FOO", 10**25 + 1, 18, contract="0xF"),
    ],
    f"ETH.{B}": [token("USDC", 2, contract=USDC.lower())],
    f"BSC.{C}": "timeout",
    f"BSC.{D}": None,
}
AS_OF = "As of 2026-01-31 05:59 UTC."


def content_of(details, before=None, **by):
    """Return the content of a report on a fetch, with totals by some names."""
    grouping = Grouping(**by)
    return compose(details, before=before, title="Token holdings", made_at=NOW, grouping=grouping)


def listing(content, anchor):
    """Return the texts of a table, row by row, or None if there is no such table."""
    result = [each for each in content.listings if each.table.name == anchor]
    if not result:
        return None
    table = result[0].table
    return [
        {name: cell.text for name, cell in zip(table.columns, row, strict=True)}
        for row in table.rows
    ]


def plain_text(path):
    """Return a report in Markdown without HTML entities."""
    return re.sub(r"&#(\d+);", lambda result: chr(int(result[1])), path.read_text(encoding="utf-8"))


def test_totals_are_exact_and_by_asset():
    """Each asset's sum has every digit; two spellings of a contract count as one."""
    content = content_of(fetched(SOME))
    rows = {row["asset"]: row for row in listing(content, "totals")}
    assert rows["USDC"]["amount"] == "5.000003"
    assert rows["FOO"]["amount"] == "10,000,000.000000000000000001"
    assert (rows["USDC"]["holders"], rows["USDC"]["contracts"]) == ("2", "1")
    assert "Totals by asset" in {each.heading for each in content.listings}


def test_assets_are_added_up_in_tables_and_charts(tmp_path):
    """Bridged versions and own contracts count on request, imitations never."""
    bridged = "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174"
    held = {
        f"ETH.{A}": [token("USDC", 1_000_000, contract=USDC)],
        f"POLYGON.{B}": [
            token("USDC.e", 2_000_000, contract=bridged, blockchain="POLYGON"),
            token("USDC", 4_000_000, contract="0xbad", blockchain="POLYGON"),
        ],
    }
    wallets, holdings = fetched(held)
    details = WalletDetails(wallets, holdings.assign(is_spam=False, spam_reasons=None))
    fake = "USDC (POLYGON 0xbad)"
    own = pd.DataFrame([["Dollars", "POLYGON", "0xbad"]], columns=ASSET_COLUMNS)
    for options, sums in (
        ({}, {"USDC": "1", "USDC.e": "2", fake: "4"}),
        ({"bridged": True}, {"USDC": "3", fake: "4"}),
        ({"assets": own}, {"USDC": "1", "USDC.e": "2", "Dollars": "4"}),
    ):
        content = content_of(details, **options)
        rows = listing(content, "totals")
        assert {row["asset"]: row["amount"] for row in rows} == sums
        titles = [chart.title for chart in content.charts]
        assert titles == ["Holdings by wallet", "Holdings by asset"]
        wallets, assets = (chart.figure for chart in content.charts)
        labels = {text.replace("<br>", " ") for text in assets.layout.yaxis.ticktext}
        assert {trace.name for trace in wallets.data} == {*sums} == labels
    text = plain_text(wf.report(details, tmp_path / "r.md", bridged=True))
    assert "| USDC | 3 | 2 | 2 |" in text


def test_unknown_wallets_come_first_and_are_not_empty():
    """The first screen counts unknown wallets; the table begins with them and their reasons."""
    content = content_of(fetched(SOME))
    assert content.scope == "4 wallets on 2 blockchains: 2 ok, 1 failed, 1 timeout"
    assert content.notes == (f"Not counted: 2 of 4 wallets unknown. {AS_OF}",)
    rows = listing(content, "wallets")
    assert [row["balances"] for row in rows] == ["unknown", "unknown", "2", "1"]
    assert [row["reason"] for row in rows[:2]] == ["it was not to be had", NO_LIST]


def test_unreadable_amounts_are_counted():
    """The first screen and the totals count unreadable amounts."""
    content = content_of(fetched({f"ETH.{A}": [token("AAA", 5, None), token("B", contract="0xB")]}))
    assert content.notes[0] == f"Not counted: 1 balance of unknown amount. {AS_OF}"
    rows = {row["asset"]: row["amounts unknown"] for row in listing(content, "totals")}
    assert rows == {"AAA": "1", "B": "0"}


def test_a_complete_fetch_has_no_gaps():
    """A complete answer is not called incomplete."""
    content = content_of(fetched({f"ETH.{A}": [token()]}))
    assert content.notes == (f"The only balance of 1 wallet is counted. {AS_OF}",)


def test_nothing_known_is_not_zero():
    """Without a known wallet, the total is unknown, with and without prices."""
    details = fetched({f"ETH.{A}": "failed"})
    assert content_of(details).total == "unknown"
    valued = details._replace(holdings=details.holdings.assign(value=0.0))
    assert content_of(valued).total == "unknown"


def test_out_of_date_answers_are_on_the_first_screen():
    """An older answer counts, and a note states this."""
    [note] = content_of(fetched({f"ETH.{A}": [token()]}, source="stale")).notes
    assert note.endswith(f" of 1 wallet is counted. 1 wallet shows an older answer. {AS_OF}")


def test_changes_without_prices_are_those_of_compare():
    """An earlier fetch adds a table of exact differences, with unknown differences at the end."""
    before = fetched({f"ETH.{A}": [token("USDC", 1, contract=USDC)], f"BSC.{C}": [token()]})
    content = content_of(fetched(SOME), before)
    rows = listing(content, "changes")
    assert [row["kind"] for row in rows[:2]] == ["increased", "new"]
    assert rows[0]["difference"] == "5"
    assert {row["kind"] for row in rows[2:]} == {"unknown"}
    assert content.change == ("Amounts since 2026-01-31 05:59 UTC: 1 new, 1 increased, 3 unknown.")
    assert content.notes[1] == "Not compared: 2 balances of 2 wallets not known at both times."
    assert listing(content_of(fetched(SOME)), "changes") is None


def usdc_of(amounts, **owners):
    """Return a fetch of owners' USDC in cents."""
    held = {
        f"ETH.0x{owner}": [token("USDC", cents, 2, contract=USDC)]
        for owner, cents in amounts.items()
    }
    wallets, holdings = fetched(held | owners)
    return WalletDetails(wallets.assign(owner=wallets["address"]), holdings)


@pytest.mark.parametrize("by", ["owner", "wallet", "asset", "token"])
def test_a_single_asset_without_prices_has_its_exact_amount(by):
    """In the headline and in the row Total, with the unknown wallets in the line of the table."""
    failed = {"ETH.0xDee": "timeout"}
    later = usdc_of({"Ada": 10**25 + 1, "Bo": 200, "Cy": 5}, **failed)
    content = content_of(later, by=by)
    total = "100,000,000,000,000,000,000,002.06"
    assert content.total == f"{total} USDC"
    assert content.notes == (f"Not counted: 1 of 4 wallets unknown. {AS_OF}",)
    assert [cell.text for cell in content.groups.table.rows[-1]] == ["Total", total, "100%"]
    assert [*content.groups.table.columns][1:] == ["amount", "share"]


@pytest.mark.parametrize("by", ["owner", "wallet", "asset", "token"])
def test_the_change_of_a_single_asset_is_that_of_compare(by):
    """Amount after minus amount before, of the wallets that are known at both times."""
    before = usdc_of({"Ada": 100, "Bo": 200, "Cy": 300, "Dee": 7})
    later = usdc_of({"Ada": 10**25 + 1, "Bo": 200, "Cy": 5}, **{"ETH.0xDee": "timeout"})
    content = content_of(later, before, by=by)
    [row] = wf.history.compare(before, later, by="asset").to_dict("records")
    assert content.change == (
        "Up 99,999,999,999,999,999,999,996.06 USDC since 2026-01-31 05:59 UTC, "
        "from 6 to 100,000,000,000,000,000,000,002.06 (3 of 4 known)."
    )
    change = f"+{row['difference']:,f} ({row['wallets_known']} of {row['wallets']} known)"
    rows = [[cell.text for cell in row] for row in content.groups.table.rows]
    assert rows[-1][2] == change
    changes = [each[2] for each in rows[1:-1]]
    assert changes == (["0", "-2.95", "unknown"] if by in {"owner", "wallet"} else [])
    assert content.notes[1] == ("Not compared: 1 balance of 1 wallet not known at both times.")


def test_a_single_asset_may_be_unchanged_or_unknown():
    """Neither is 0 if no wallet is known at both times; another asset of the past counts."""
    some = usdc_of({"Ada": 5})
    assert content_of(some, some).change == "Unchanged since 2026-01-31 05:59 UTC."
    assert content_of(some, some).groups.table.rows[-1][2].text == "0"
    unknown = fetched({f"ETH.{A}": [token("USDC", 5, None, contract=USDC)]})
    assert content_of(unknown).total == "unknown amount of USDC"
    content = content_of(unknown, unknown)
    assert content.change == "The change since 2026-01-31 05:59 UTC is unknown."
    assert [cell.text for cell in content.groups.table.rows[-1][1:]] == ["unknown"] * 3
    both = fetched({"ETH.0xAda": [token("USDC", 5, 2, contract=USDC), token()]})
    assert content_of(some, both).change == "Amounts since 2026-01-31 05:59 UTC: 1 gone."


def test_a_selected_asset_that_no_wallet_holds_has_the_amount_0():
    """With its change; unknown if no wallet that could hold it is known."""
    days = [{f"ETH.{A}": held, f"NEAR.{B}": []} for held in ([], [token()], "failed")]
    chosen = [*days[0]]
    fetches = [fetched(day | {f"ETH.{C}": [token()]}) for day in days]
    gone, held, failed = (each.wf.where(asset="TKN", wallet=chosen) for each in fetches)
    assert content_of(gone).total == "0 TKN"
    assert content_of(gone, held).change.startswith("Down 1.5 TKN since ")
    assert content_of(failed).total == "unknown amount of TKN"


def test_the_rest_of_many_groups_states_its_known_wallets():
    """Its sum may be 0, like that of a group with a known wallet."""
    held = {f"ETH.0x{number:040x}": [token(raw=number)] for number in range(1, 9)}
    details = fetched(held | {f"ETH.{A}": [], f"ETH.{B}": "failed"})
    rest, total = content_of(details.wf.where(token="TKN"), by="wallet").groups.table.rows[-2:]
    assert [cell.text for cell in rest][:2] == ["2 others (1 of 2 known)", "0"]
    assert total[1].text == "0.000036"


def test_the_row_total_is_not_counted_as_a_row(tmp_path):
    """Neither is it counted for readers that hear the page."""
    text = wf.report(BEFORE, tmp_path / "r.html").read_text(encoding="utf-8")
    groups = text.partition('class="groups">')[2].partition("</table>")[0]
    assert "Total" in groups
    assert not re.search(r"\d+ of \d+ rows", groups)


def owned_at(prices, amounts, **owners):
    """Return a fetch of ETH and USDC of two owners, in whole tokens, at these prices in USD."""
    held = {
        f"ETH.0x{owner}": [
            token("ETH", int(eth * 100), 2, contract=None),
            token("USDC", int(usdc * 100), 2, contract=USDC),
        ]
        for owner, (eth, usdc) in amounts.items()
    }
    wallets, holdings = fetched(held | owners)
    names = wallets["address"].str.removeprefix("0x")
    priced = holdings.assign(price=holdings["symbol"].map(prices)).wf.value(currency="USD")
    return WalletDetails(wallets.assign(owner=names), priced)


BEFORE = owned_at({"ETH": 3_000, "USDC": 1}, {"Ada": (100, 500), "Bo": (10, 0)})
AFTER = owned_at({"ETH": 3_500, "USDC": 1}, {"Ada": (110, 800), "Bo": (0, 0), "Cy": (0, 9)})


def test_the_first_screen_has_total_change_and_share():
    """The change is split into prices (times earlier amounts) and amounts."""
    content = content_of(AFTER, BEFORE)
    assert content.total == "385,809.00 USD"
    assert content.change == (
        "Up 55,300 USD (+16.7%) since 2026-01-31 05:59 UTC: ETH +55,000 (from prices); "
        "USDC +300 (from amounts). Not compared: 1 wallet (9.00 USD now) only in the later list."
    )
    assert [*content.notes[1:]] == ["The earlier total is 330,500.00 USD."]
    rows = [[cell.text for cell in row] for row in content.groups.table.rows]
    assert rows == [
        ["Ada", "385,800.00", "+85,300.00", ">99.9%"],
        ["Cy", "9.00", "unknown", "<0.1%"],
        ["Bo", "0.00", "-30,000.00", "0%"],
        ["Total", "385,809.00", "+55,300.00 (2 of 3 known)", "100%"],
    ]
    assert [*content.groups.table.columns] == ["owner", "value", "change", "share"]
    assert content.groups.heading == "By owner"


def test_the_table_of_changes_is_by_group_and_asset_largest_first():
    """Each change is the sum of its parts; unchanged balances are left out."""
    rows = listing(content_of(AFTER, BEFORE), "changes")
    assert [[*row.values()] for row in rows] == [
        ["Ada", "ETH", "+85,000.00", "+50,000.00", "+35,000.00", "300,000.00", "385,000.00"],
        ["Bo", "ETH", "-30,000.00", "+5,000.00", "-35,000.00", "30,000.00", "0.00"],
        ["Ada", "USDC", "+300.00", "0.00", "+300.00", "500.00", "800.00"],
    ]
    assert [*rows[0]] == [
        "owner", "asset", "change", "from prices", "from amounts", "before", "after",
    ]  # fmt: skip


def test_the_sentence_splits_a_change_into_price_and_amount():
    """The part of the price is the earlier amount's change; the rest is the amount's part."""
    before = owned_at({"ETH": 3_000}, {"Ada": (100, 0)})
    after = owned_at({"ETH": 3_500}, {"Ada": (110, 0)})
    assert content_of(after, before).change.endswith(
        "UTC: ETH +85,000 (from prices 50,000, from amounts 35,000)."
    )


def test_gone_and_other_groups_are_in_the_total_change():
    """A group that only the earlier fetch has counts, and groups beyond the limit are added up."""
    amounts = {f"O{number}": (number, 0) for number in range(10)}
    prices = {"ETH": 1, "USDC": 1}
    held = AFTER.holdings[AFTER.holdings["symbol"] == "USDC"]
    gone = WalletDetails(AFTER.wallets.assign(tokens=[1, 1, 1]), held)
    content = content_of(gone, BEFORE, by=["owner", "asset"])
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in content.groups.table.rows}
    assert rows["Ada · ETH"] == ["0.00", "-300,000.00", "0%"]
    assert rows["Total"] == ["809.00", "-329,700.00 (2 of 3 known)", "100%"]
    assert content.change.startswith("Down 329,700 USD (-99.8%)")
    content = content_of(owned_at(prices, amounts), owned_at(prices, amounts))
    assert content.change == "Unchanged since 2026-01-31 05:59 UTC."
    others, total = ([cell.text for cell in row] for row in content.groups.table.rows[-2:])
    assert others == ["2 others", "1.00", "0.00", "2.2%"]
    assert total == ["Total", "45.00", "0.00", "100%"]


def test_a_large_change_of_a_small_group_is_shown():
    """The rows are chosen by the larger of value and change, and stay in the order of values."""
    prices, amounts = {"ETH": 1, "USDC": 1}, {f"O{number}": (number, 0) for number in range(10)}
    later = owned_at(prices, amounts)
    content = content_of(later, owned_at(prices, {**amounts, "O1": (900, 0)}))
    first, *numbers = zip(*content.groups.table.rows, strict=True)
    names = [f"O{number}" for number in (9, 8, 7, 6, 5, 4, 3, 1)]
    assert [each.text for each in first] == [*names, "2 others", "Total"]
    assert numbers[1][7].text == "-899.00"


def test_the_sentence_names_three_assets_and_adds_up_the_others():
    """The sentence names assets by the size of their changes."""

    def priced(factor):
        held = [token(f"T{place}", 10**place, 0, contract=f"0x{place}") for place in range(1, 6)]
        wallets, holdings = fetched({f"ETH.{A}": held})
        return WalletDetails(wallets, holdings.assign(price=float(factor)))

    change = content_of(priced(2), priced(1)).change
    assert change.startswith("Up 111,110 (+100.0%) since")
    assert change.endswith("T5 +100,000 (from prices); T4 +10,000 (from prices); "
                           "T3 +1,000 (from prices); 2 other assets +110.")  # fmt: skip


def test_an_earlier_fetch_without_values_is_valued_at_the_later_prices():
    """Then only amounts change, and a note states this."""
    unvalued = fetched({"ETH.0xAda": [token("USDC", 50_000, 2, contract=USDC)]})
    content = content_of(AFTER, unvalued)
    assert content.change.endswith(
        "ETH +385,000 (from amounts); USDC +300 (from amounts). "
        "Not compared: 2 wallets (9.00 USD now) only in the later list."
    )
    assert content.notes[1] == (
        "Valued at the later prices, for lack of earlier ones: 1 balance (500 USD before)."
    )


def test_the_change_does_not_depend_on_who_added_the_values():
    """The earlier amounts have the prices of their own answers, so sold tokens count."""
    kept = ["value", "currency", "unit_price"]
    before, after = (
        each._replace(holdings=each.holdings.drop(columns=kept)) for each in (BEFORE, AFTER)
    )
    held = after.holdings[after.holdings["symbol"] == "USDC"]
    sold = WalletDetails(after.wallets.assign(tokens=[1, 1, 1]), held)
    for later, unvalued in ((AFTER, after), (sold.wf.value(currency="USD"), sold)):
        both, *others = (
            content_of(*pair)
            for pair in ((later, BEFORE), (later, before), (unvalued, before), (unvalued, BEFORE))
        )
        assert "ETH" in both.change
        for other in others:
            assert other.change.replace(" USD", "") == both.change.replace(" USD", "")
            assert listing(other, "changes") == listing(both, "changes")
            assert other.groups == both.groups


def test_own_prices_of_the_later_amounts_are_not_mixed_with_the_service_prices():
    """Own prices may be in another currency, so they value both fetches."""
    before = BEFORE._replace(holdings=BEFORE.holdings.drop(columns=["value", "currency"]))
    content = content_of(AFTER.wf.value({"ETH": 10}, currency="EUR"), before)
    assert content.change == (
        "Unchanged since 2026-01-31 05:59 UTC. Not compared: 1 wallet (0.00 EUR now) only in the "
        "later list; 1 balance, whose value is unknown at one time or both."
    )
    assert content.notes[1] == (
        "Valued at the later prices, for lack of earlier ones: 2 balances (1,100 EUR before). "
        "To count unvalued balances, value `before` with the same prices."
    )


def test_unchanged_never_hides_wallets():
    """Added, removed and failed wallets are counted, with the values that are known."""
    prices, some = {"ETH": 1, "USDC": 1}, {"Ada": (100, 500), "Bo": (10, 0)}
    less = owned_at(prices, some)
    more = owned_at(prices, some | {"Cy": (900, 0)})
    failed = owned_at(prices, some, **{"ETH.0xCy": "timeout"})
    unknown = ", whose value is unknown at one time or both"
    part = "1,510.00 USD, of which 610.00 is compared"
    for after, before, known, earlier, reason in (
        (more, less, "900 USD now", "610.00 USD", " only in the later list"),
        (less, more, "900 USD before", part, " only in the earlier list"),
        (failed, more, "900 USD before", part, unknown),
    ):
        content = content_of(after, before)
        unchanged = "Unchanged since 2026-01-31 05:59 UTC."
        assert content.change == f"{unchanged} Not compared: 1 wallet ({known}){reason}."
        assert [*content.notes[1:]] == [f"The earlier total is {earlier}."]
        rows = {row[0].text: row[2].text for row in content.groups.table.rows}
        assert (rows["Cy"], rows["Total"]) == ("unknown", "0.00 (2 of 3 known)")
    up = content_of(owned_at({"ETH": 2, "USDC": 1}, some), more).change
    assert up.startswith("Up 110 USD (+18.0% of the compared 610) since 2026-01-31 05:59 UTC: ETH")
    content = content_of(failed, owned_at(prices, {"Cy": (900, 0)}))
    assert content.change == (
        "The change since 2026-01-31 05:59 UTC is unknown. Not compared: 2 wallets (610 USD now) "
        f"only in the later list; 1 wallet (900 USD before){unknown}."
    )
    assert content.groups.table.rows[-1][2].text == "unknown"


@pytest.mark.parametrize("by", ["owner", ["owner", "asset"]])
def test_groups_and_the_total_count_wallets_of_the_earlier_list(by):
    """An owner's removed wallet is counted in both; without values, the note is the same."""
    team = {"owner": ["Ada", "Ada", "Bo"]}
    before = owned_at({"ETH": 1, "USDC": 1}, {"A": (1, 0), "B": (5, 0), "C": (2, 0)})
    before = before._replace(wallets=before.wallets.assign(**team))
    after = WalletDetails(*(each[each["address"] != "0xB"] for each in before))
    content = content_of(after, before, by=by)
    rows = {row[0].text: row[2].text for row in content.groups.table.rows}
    ada, bo = ("Ada", "Bo") if by == "owner" else ("Ada · ETH", "Bo · ETH")
    assert (rows[ada], rows[bo]) == ("0.00 (1 of 2 known)", "0.00")
    assert rows["Total"] == "0.00 (2 of 3 known)"
    unvalued = [
        each._replace(holdings=each.holdings.drop(columns="value").assign(price=None))
        for each in (after, before)
    ]
    assert content.change.endswith(
        "Not compared: 1 wallet (5.00 USD before) only in the earlier list."
    )
    assert content_of(*unvalued, by=by).notes[-1] == "Only in the earlier list: 1 wallet."


def test_the_change_of_a_group_says_how_many_wallets_it_covers():
    """The row of other groups counts its wallets, too, unless a wallet is in several groups."""
    prices = {"ETH": 1, "USDC": 1}
    amounts = {f"{number:02}": (100 - number, 1) for number in range(20)}
    before = owned_at(prices, amounts, **{"ETH.0x01": "timeout", "ETH.0x19": "timeout"})
    wallets, holdings = owned_at(prices, amounts)
    after = WalletDetails(wallets.assign(owner=[f"O{n // 2}" for n in range(20)]), holdings)
    with pytest.warns(InputWarning, match="the 'owner' of 20 wallets changed") as warned:
        content = content_of(after, before)
    assert str(warned[0].message) in " ".join(content.notes)
    rows = {row[0].text: row[2].text for row in content.groups.table.rows}
    assert rows["O0"] == "0.00 (1 of 2 known)"
    assert rows["O1"] == "0.00"
    assert rows["2 others"] == "0.00 (3 of 4 known)"
    assert rows["Total"] == "0.00 (18 of 20 known)"
    before = before._replace(wallets=before.wallets.assign(owner=after.wallets["owner"]))
    by_asset = content_of(after, before, by=["owner", "asset"]).groups.table.rows
    assert [row[2].text for row in by_asset[-2:]] == ["0.00", "0.00 (18 of 20 known)"]


def test_other_selections_are_not_compared():
    """The report names both selections, and has no changes at all."""
    some = {"Ada": (100, 500), "Bo": (10, 0)}
    before = owned_at({"ETH": 3_000, "USDC": 1}, some | {"Cy": (5, 0)})
    before = before._replace(wallets=before.wallets.assign(owner=["Ada", "Bo", None]))
    after = owned_at({"ETH": 3_500, "USDC": 1}, some)
    hint = "To compare them, pass the same where(…) to both."
    selected = "is selected by owner='Ada'"
    cases = (
        (after.wf.where(owner="Ada"), before, f"has no selection, and the later fetch {selected}"),
        (after, before.wf.where(owner="Ada"), f"{selected}, and the later fetch has no selection"),
    )
    for later, earlier, text in cases:
        unvalued = [
            each._replace(holdings=each.holdings.drop(columns="value").assign(price=None))
            for each in (later, earlier)
        ]
        for pair in ((later, earlier), unvalued):
            content = content_of(*pair)
            assert content.change == f"Not comparable: the earlier fetch {text}. {hint}"
            expected = content_of(pair[0])._replace(change=content.change, made_at=content.made_at)
            assert content == expected
    reversed_order = [before.wf.where(owner="Ada").wf.where(asset="ETH")]
    reversed_order.append(after.wf.where(asset="ETH").wf.where(owner="Ada"))
    assert content_of(*reversed_order[::-1]).change.startswith("Up 50,000 USD")


def test_a_removed_wallet_without_owner_has_a_row():
    """Its unknown change is not left out."""
    before = owned_at({"ETH": 1, "USDC": 1}, {"Ada": (1, 0), "Bo": (2, 0)})
    before = before._replace(wallets=before.wallets.assign(owner=["Ada", None]))
    after = owned_at({"ETH": 1, "USDC": 1}, {"Ada": (1, 0)})
    rows = {row[0].text: row[2].text for row in content_of(after, before).groups.table.rows}
    assert rows == {"Ada": "0.00", "no owner": "unknown", "Total": "0.00 (1 of 2 known)"}


def test_the_change_of_a_group_without_known_values_is_unknown():
    """A balance of an unknown value is not 0, neither in the row nor in the sentence."""
    priced, unpriced = {"ETH": 3_000, "USDC": None}, {"ETH": None, "USDC": None}
    amounts = {"Ada": (1, 0), "Bo": (0, 7)}
    content = content_of(owned_at(priced, amounts), owned_at(priced, amounts))
    rows = {row[0].text: row[2].text for row in content.groups.table.rows}
    assert rows == {"Ada": "0.00", "Bo": "unknown", "Total": "0.00"}
    amounts = {f"O{number}": (number + 1, 0) for number in range(10)}
    content = content_of(owned_at(unpriced, amounts), owned_at(unpriced, amounts))
    assert content.change.startswith("The change since 2026-01-31 05:59 UTC is unknown. ")
    assert {row[2].text for row in content.groups.table.rows} == {"unknown"}


def test_balances_dropped_from_one_fetch_are_named_for_a_reader():
    """The number of the dropped balances, once. Small ones are another selection."""
    amounts = {"Ada": (1, 500), "Bo": (2, 9)}
    days = [owned_at({"ETH": price, "USDC": 1}, amounts) for price in (1_000, 1_100)]
    small = days[0].wf.where(small=100)
    assert content_of(days[1], small).change.startswith(
        "Not comparable: the earlier fetch is selected by small=100, and the later fetch has no "
    )
    assert content_of(days[1].wf.where(small=100), small).change.startswith("Up 300 USD (+8.6%)")
    assert content_of(days[1].wf.where(spam=False), days[0]).change.startswith("Up 300 USD (")
    days[0] = days[0]._replace(holdings=days[0].holdings[days[0].holdings["value"] > 9])
    sentence = (
        "The earlier fetch leaves out 1 dropped balance, so 1 balance of the later fetch "
        "may not really be new."
    )
    with pytest.warns(InputWarning, match=re.escape(sentence)):
        notes = content_of(days[1], days[0]).notes
    assert notes[1] == sentence


def test_a_tiny_change_has_no_sign():
    """A negative zero is written as zero."""
    before = owned_at({"ETH": 0.1 + 0.2, "USDC": 1}, {"Ada": (1, 0)})
    after = owned_at({"ETH": 0.3, "USDC": 1}, {"Ada": (1, 9)})
    text = str(listing(content_of(after, before, by=["owner"]), "changes"))
    assert "-0" not in text
    assert money(-0.0) == "0.00"


def test_a_total_without_currency_says_so(tmp_path):
    """The remark is beside the total, with the source of the prices."""
    wallets, holdings = fetched({f"ETH.{A}": [token()]})
    sent = WalletDetails(wallets, holdings.assign(price=2.0))
    assert content_of(sent).currency_note == "(the service's prices, currency not stated)"
    own = sent.wf.value({("ETH", "0xtoken"): 1})
    assert content_of(own).currency_note == "(currency not stated)"
    assert content_of(sent.wf.value(currency="USD")).currency_note == ""
    for name in ("r.md", "r.html"):
        text = wf.report(sent, tmp_path / name).read_text(encoding="utf-8")
        assert "(the service's prices, currency not stated)" in unescape(text)


def test_a_balance_without_an_earlier_price_has_the_later_one():
    """A new price is no gain; without its later price, a balance is left out."""
    priced = owned_at({"ETH": 1_000, "USDC": 1}, {"Ada": (100, 500), "Bo": (10, 0)})
    unpriced = owned_at({"ETH": None, "USDC": 1}, {"Ada": (100, 500), "Bo": (10, 0)})
    content = content_of(AFTER, unpriced)
    assert content.change.endswith(
        " UTC: USDC +300 (from amounts). "
        "Not compared: 1 wallet (9.00 USD now) only in the later list."
    )
    assert content.notes[1] == (
        "Valued at the later prices, for lack of earlier ones: 2 balances (385,000 USD before). "
        "The earlier total is 500.00 USD."
    )
    content = content_of(unpriced, priced)
    assert content.change == (
        "Unchanged since 2026-01-31 05:59 UTC. Not compared: 2 balances (110,000 USD before), "
        "whose value is unknown at one time or both."
    )


def test_groups_with_unknown_wallets_say_how_many_are_known():
    """The count is beside the group's name; the total of the known wallets is shown."""
    details = owned_at({"ETH": 1, "USDC": 1}, {"Ada": (1, 1)}, **{"ETH.0xB": "timeout"})
    details = details._replace(wallets=details.wallets.assign(owner="Ada"))
    assert content_of(details).groups.table.rows[0][0].text == "Ada (1 of 2 known)"


def test_totals_have_subtotals():
    """The values of each owner's assets are added up, the largest owner first."""
    rows = listing(content_of(AFTER), "subtotals")
    assert [(row["owner"], row["asset"], row["value"]) for row in rows] == [
        ("Ada", "subtotal", "385,800.00"),
        ("Ada", "ETH", "385,000.00"),
        ("Ada", "USDC", "800.00"),
        ("Cy", "subtotal", "9.00"),
        ("Cy", "USDC", "9.00"),
        ("Cy", "ETH", "0.00"),
        ("Bo", "subtotal", "0.00"),
        ("Bo", "ETH", "0.00"),
        ("Bo", "USDC", "0.00"),
    ]
    assert rows[0]["amount"] == ""


def test_data_is_written_beside_the_report(tmp_path):
    """All rows are written exactly to files that the report names."""
    many = [token(f"T{number}", contract=f"0x{number:040x}") for number in range(120)]
    details = fetched({f"ETH.{A}": many})
    path = wf.report(details, tmp_path / "r.md", before=fetched({f"ETH.{A}": []}), data=True)
    names = ["r-changes.csv", "r-holdings.csv", "r-wallets.csv"]
    assert sorted(each.name for each in tmp_path.glob("r-*.csv")) == names
    assert len(wf.read_holdings(tmp_path / "r-holdings.csv")) == 120
    assert len(pd.read_csv(tmp_path / "r-changes.csv")) == 120
    for before in (None, details.wf.where(token="T1")):  # another selection is not compared
        wf.report(details, tmp_path / "s.md", before=before, data=True)
        assert not (tmp_path / "s-changes.csv").exists()
    files = "The files beside this report have the data of all tables: r-holdings.csv"
    assert f"95 rows are not shown. {files}" in plain_text(path)


def test_spam_dropped_from_one_side_is_no_change():
    """Spam of one fetch is left out of both, except for tokens that the later fetch trusts."""
    scam = token("visit usdcgift.com to claim", 10**30, contract="0xbad")
    coin = token("USDC", 1, contract=USDC)
    before = fetched({f"ETH.{A}": [coin, scam]})
    with pytest.warns(SpamWarning):
        dropped = before.wf.without_spam()
    for after in (dropped, fetched({f"ETH.{A}": [coin]}), before):
        content = content_of(after, before.wf.flag_spam() if after is before else before)
        [changes] = [each for each in content.listings if each.table.name == "changes"]
        assert not changes.table.rows
    for trust in (before.wf.flag_spam, before.wf.without_spam):
        gone = content_of(trust(allow=[("ETH", "0xbad")]), fetched({f"ETH.{A}": [coin]}))
        assert [row["kind"] for row in listing(gone, "changes")] == ["new"]
        assert gone.notes[0].startswith("All 2 balances")


def test_what_filters_dropped_from_the_earlier_fetch_is_stated():
    """With its value, since a fall may seem to be a rise."""
    deny = {"deny": [("ETH", USDC)]}
    results = [each.wf.without_spam(**deny) for each in (AFTER, BEFORE)]
    notes = content_of(*results).notes
    earlier = "Not counted in the earlier fetch: 2 spam balances (500.00 USD)."
    assert notes[-1] == f"The earlier total is 330,000.00 USD. {earlier}"
    assert "Not counted: 3 spam balances (809.00 USD)." in notes[0]
    results = [
        wf.WalletDetails(each.wallets, each.holdings.drop(columns=["price", "value"]))
        for each in results
    ]
    assert content_of(*results).notes[-1] == earlier
    after = AFTER.wf.flag_spam(**deny)
    either = earlier.replace(").", ") marked in either fetch.")
    assert content_of(after, BEFORE).notes[-1] == f"The earlier total is 330,000.00 USD. {either}"
    held = [token(decimals=None), token("?", contract=None, blockchain=None)]
    days = [fetched({f"ETH.{A}": each, f"ETH.{B}": "failed"}) for each in (held, [token()])]
    earlier, later = (day.wf.where(asset="TKN") for day in days)
    texts = "2 of 2 wallets unknown; 1 balance whose token is unknown; 1 balance of unknown amount"
    assert content_of(later, earlier).notes[-1] == f"Not counted in the earlier fetch: {texts}."
    held = {f"ETH.{A}": [token(), token("FOO", contract="0xf")]}
    valued = fetched(held).wf.value({("ETH", "0xToken"): 1})
    notes = content_of(valued, valued).notes
    assert "in the earlier fetch: the value of 1 balance without a price." in notes[-1]


@pytest.mark.filterwarnings("ignore:.*the same cached answer:walletframe.errors.InputWarning")
def test_a_report_names_the_time_of_the_snapshot(tmp_path):
    """The snapshot's time may differ from the time of its newest answer."""
    save(fetched(SOME), folder=tmp_path, at="2026-01-30T06:00Z")
    change = content_of(fetched(SOME), snapshot(folder=tmp_path)).change
    assert change.startswith("Amounts since 2026-01-30 06:00 UTC: ")


def test_rows_without_a_token_have_no_name():
    """An unknown wallet's change is not a change of a native coin."""
    before = fetched({f"BSC.{C}": "failed"})
    content = content_of(fetched({f"BSC.{C}": "timeout"}), before, by=["wallet", "token"])
    row = listing(content, "changes")[0]
    assert (row["symbol"], row["contract"]) == ("", "")


def test_simulated_and_real_holdings_are_not_compared():
    """The error is the same as in `compare`."""
    before = fetched(SOME, service="sandbox")
    with pytest.raises(SnapshotError, match="simulated"):
        content_of(fetched(SOME), before)


def test_spam_is_listed_separately():
    """Suspected spam is in no total and no chart, but in a separate table with reasons."""
    scam = token("visit usdcgift.com to claim", 10**30, contract="0xbad")
    content = content_of(fetched({f"ETH.{A}": [token("USDC", 1, contract=USDC), scam]}))
    assert [row["asset"] for row in listing(content, "totals")] == ["USDC"]
    (row,) = listing(content, "spam")
    assert row["contract"] == "0xbad"
    assert "domain" in row["why"]
    assert any("1 balance of 1 token" in line and "spam" in line for line in content.methods)
    [note] = content.notes
    assert note == f"Not counted: 1 spam balance. {AS_OF}"


def test_the_value_of_spam_is_stated():
    """A price of the user's own for what looks like spam is not lost in silence."""
    scam = token("visit usdcgift.com to claim", 2, contract="0xbad")
    details = fetched({f"ETH.{A}": [token("USDC", 1, contract=USDC), scam]})
    prices = {("ETH", USDC): 1, ("ETH", "0xbad"): 100}
    content = content_of(details.wf.value(prices, currency="USD"))
    assert content.notes[0].startswith("Not counted: 1 spam balance (0.0002 USD). ")


def test_own_flags_and_values_are_kept():
    """The report uses existing flags and values."""
    details = fetched({f"ETH.{A}": [token("AAA", 1), token("BBB", 3, contract="0xB")]})
    holdings = details.holdings.assign(
        is_spam=[True, False], spam_reasons="denied", value=[1.0, 0.0001], currency="EUR"
    )
    content = content_of(details._replace(holdings=holdings))
    assert [row["token"] for row in listing(content, "spam")] == ["AAA"]
    assert [row["value"] for row in listing(content, "totals")] == ["0.0001"]
    assert content.total == "0.0001 EUR"


def test_tables_have_a_limit_and_say_so():
    """The first rows of a long table are shown, with the number of left-out rows."""
    many = [token(f"T{number}", contract=f"0x{number:040x}") for number in range(120)]
    content = content_of(fetched({f"ETH.{A}": many}))
    result = {each.table.name: each.table for each in content.listings}
    assert (len(result["totals"].rows), result["totals"].left_out) == (25, 95)
    assert (len(result["holdings"].rows), result["holdings"].left_out) == (25, 95)


@pytest.mark.parametrize("by", ["wallet", "owner", "asset", "token", ["owner", "token"]])
def test_one_look_is_one_asset_in_both_charts(by):
    """Even if the charts draw different assets, no two assets have the same colour and pattern."""
    held = {
        f"ETH.0x{number:040x}": [
            token("USDC", 10**9 * number, contract=USDC),
            *(
                token(f"T{n}", 10**9 * (n % 7 + n * number % 5), contract=f"0x{n}")
                for n in range(30)
            ),
        ]
        for number in range(1, 9)
    }
    details = fetched(held)
    owners = details.wallets.assign(owner=["Ada", "Bo"] * 4)
    values = details.holdings.assign(value=details.holdings["amount"].astype("float64"))
    keys, drawn = {}, set()
    for chart in content_of(WalletDetails(owners, values), by=by).charts:
        for trace in chart.figure.data:
            look = trace.marker.color, trace.marker.pattern.shape
            if isinstance(look[0], str):
                rows = [(*look, trace.name)]
            else:
                names = [text.partition("</b>")[0].removeprefix("<b>") for text in trace.hovertext]
                rows = zip(*look, names, strict=False)
            for color, shape, name in rows:
                drawn.add(name)
                if "Other" not in name and "other" not in name:
                    assert keys.setdefault((color, shape), name) == name
    assert len(drawn) > 6


@pytest.mark.parametrize(
    "answers,charts",
    [
        ({f"ETH.{A}": []}, 0),
        ({f"ETH.{A}": "failed"}, 0),
        ({f"ETH.{A}": [token(), token("B", contract="0xB")]}, 1),
        ({f"ETH.{A}": [token()], f"ETH.{B}": [token()]}, 2),
    ],
)
def test_charts_fit_the_data(answers, charts):
    """No chart without holdings, one chart for one wallet, otherwise two charts."""
    assert len(content_of(fetched(answers)).charts) == charts


def test_charts_keep_a_users_template(monkeypatch):
    """A report uses the user's template, too."""
    monkeypatch.setattr(pio.templates, "default", "plotly_dark")
    [chart] = content_of(fetched({f"ETH.{A}": [token(), token("B", contract="0xB")]})).charts
    assert chart.figure.layout.template == pio.templates["plotly_dark"]


def test_no_wallets_make_a_report(tmp_path):
    """The document states that there are no wallets."""
    details = fetched({})
    assert "0 wallets on 0 blockchains" in plain_text(wf.report(details, tmp_path / "r.md"))
    assert "<h1>" in wf.report(details, tmp_path / "r.html").read_text(encoding="utf-8")


def test_markdown_has_the_same_content(tmp_path):
    """Markdown has every cell, the gaps, the methods, and the mark of simulated data."""
    details = fetched(SOME, service="sandbox")
    text = plain_text(wf.report(details, tmp_path / "r.md", title="For *Ada*"))
    content = content_of(details)
    cells = [cell.text for each in content.listings for row in each.table.rows for cell in row]
    assert [each for each in (*cells, *content.notes, *content.methods) if each not in text] == []
    assert text.startswith("# For *Ada*\n")
    assert text.count("Simulated data") >= 2


def test_markdown_has_no_untrusted_markup(tmp_path):
    """A symbol adds no tag, link, formula or code."""
    balances = [
        token(symbol, 7, contract=f"0x{place:040x}")
        for place, symbol in enumerate(SYMBOLS.values())
    ]
    text = wf.report(fetched({f"ETH.{A}": balances}), tmp_path / "r.md").read_text(encoding="utf-8")
    own = re.sub(r"https://explorer\.example/x", "", text)
    own = own.replace("](<>)", "").replace(f"[{A}", "")
    assert not set("<>`$[]") & set(own)


def test_file_is_replaced_as_a_whole(tmp_path, monkeypatch):
    """If writing fails, the old file stays, and nothing is left beside it."""
    path = tmp_path / "r.md"
    path.write_text("old")
    monkeypatch.setattr("pathlib.Path.replace", _refuse)
    with pytest.raises(OSError, match="no space"):
        wf.report(fetched(SOME), path)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["r.md"]


def _refuse(*_):
    raise OSError("no space")


@pytest.mark.parametrize("suffix", [".html", ".md"])
def test_it_is_written_for_people_without_python(tmp_path, suffix):
    """There is no code, and no word with an underscore."""
    many = [token(f"T{number}", contract=f"0x{number:040x}") for number in range(120)]
    spam = token("a promo https://evil.example", 10**40, contract="0xbad")
    details = fetched({f"ETH.{A}": [*many, spam], f"BSC.{C}": "rate_limited"})
    before = fetched({f"ETH.{A}": many[:3], f"BSC.{C}": "service_error"})
    text = wf.report(details, tmp_path / f"r{suffix}", before=before).read_text(encoding="utf-8")
    texts = re.sub(r"<(style|script)\b.*?</\1>|<[^>]*>|&#\d+;", " ", text, flags=re.DOTALL)
    hint = "To get files of all rows, write this report with data=True, or --data in a shell."
    assert f"rows are not shown. {hint}" in unescape(text)
    assert not re.findall(r"\w\(|\w\.wf\b|\bwf\.|\b[a-z]+_[a-z]+\b", texts)


@pytest.mark.parametrize(
    "columns,message",
    [
        ({}, "no prices"),
        ({"price": 2.0}, "The service sent the prices"),
        (
            {"price": 2.0, "unit_price": 2.0, "value": 3.0, "currency": "USD"},
            "without stating their currency. The author of this report chose the currency.",
        ),
        ({"value": 3.0}, "The author of this report chose the prices"),
    ],
)
def test_methods_name_the_source_of_prices(columns, message):
    """The methods name no source, the service, or the report's author."""
    details = fetched({f"ETH.{A}": [token()]})
    content = content_of(details._replace(holdings=details.holdings.assign(**columns)))
    assert message in " ".join(content.methods)


def test_digits_are_grouped_and_complete(tmp_path):
    """Amounts have all digits; very long symbols are shortened, even if they are digits."""
    long = token("7" * 5_000, 2**256 - 1, 18, contract="0xL")
    details = fetched({f"ETH.{A}": [token("USDC", 1_234_567_890_123), long]})
    text = wf.report(details, tmp_path / "r.html").read_text(encoding="utf-8")
    body = re.sub(r"<[^>]*>", "", text[text.index('id="totals"') : text.index('id="methods"')])
    assert "1,234,567.890123" in body
    assert f"{2**256 // 10**18:,}" in body
    assert "7" * 30 not in body
    assert "7" * 30 not in plain_text(wf.report(details, tmp_path / "r.md"))


@pytest.mark.parametrize("name", ["r.docx", "r", "r.html.gz"])
def test_other_files_are_refused_before_any_work(tmp_path, name):
    """The error lists the suffixes."""
    with pytest.raises(SettingsError, match=r"\.html, \.md or \.pdf"):
        wf.report(fetched(SOME), tmp_path / name)


def test_other_kinds_of_images_are_refused(tmp_path):
    """The error lists the kinds, and nothing is written."""
    with pytest.raises(SettingsError, match='use images="interactive" or images="static"'):
        wf.report(fetched(SOME), tmp_path / "r.html", images="animated")
    assert [*tmp_path.iterdir()] == []


def test_a_report_without_charts_needs_no_pictures(client, tmp_path, monkeypatch):
    """Without charts, nothing is drawn, so no package is required."""
    monkeypatch.setitem(sys.modules, "kaleido", None)
    path = wf.report(client.fetch([]), tmp_path / "r.html", images="static")
    assert "<img" not in path.read_text()


def test_pictures_without_the_package_name_the_extra(tmp_path, monkeypatch):
    """The error names the extra, and nothing is written."""
    monkeypatch.setitem(sys.modules, "kaleido", None)
    with pytest.raises(MissingExtraError, match=r"walletframe\[images\]"):
        wf.report(fetched(SOME), tmp_path / "r.html", images="static")
    assert [*tmp_path.iterdir()] == []


def test_pictures_without_a_browser_are_refused(tmp_path, monkeypatch):
    """A missing browser, or a wrong path to one, is an error; nothing is written."""
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "chromium"))
    with pytest.raises(MissingExtraError, match="but none was found"):
        wf.report(fetched(SOME), tmp_path / "r.html", images="static")
    assert [*tmp_path.iterdir()] == []


def test_it_has_neither_the_key_nor_remote_addresses(service, client, tmp_path):
    """The page names no servers except explorers in links, and does not contain the key."""
    details = client.fetch(["ETH.0x" + "1" * 40, "NEAR.alice.near"])
    text = wf.report(details, tmp_path / "r.html").read_text(encoding="utf-8")
    assert service.settings().api_key.reveal() not in text
    own = text[: text.index("<script>")]
    assert not re.search(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=", text)
    assert set(re.findall(r"https?://([^/\"]+)", own)) <= set(
        details.wallets["explorer_url"].str.split("/").str[2]
    )
    assert len(text) < 6_000_000


def owned():
    """Return holdings of owners: Ben is unknown, and one wallet has no owner."""
    details = fetched(SOME)
    owners = pd.array(["Ada", None, "Ada", "Ben"], dtype=TEXT)
    return details._replace(wallets=details.wallets.assign(owner=owners, reason="why <b>not</b>"))


def test_totals_by_any_columns():
    """Totals by owner have a table with known wallets, and a chart."""
    content = content_of(owned(), by=["owner", "asset"])
    rows = {(row["owner"], row["asset"]): row for row in listing(content, "subtotals")}
    assert rows["Ada", "USDC"]["amount"] == "5.000001"
    assert rows["Ada", "USDC"]["wallets known"] == "1 of 1"
    assert rows["no owner", "USDC"]["amount"] == "0.000002"
    assert rows["Ben", ""]["amount"] == "unknown"
    assert rows["Ben", ""]["wallets known"] == "0 of 1"
    assert content.listings[0].heading == "Totals by owner and asset"
    assert content.charts[0].title == "Holdings by owner and asset"


def test_totals_by_tokens_have_their_contracts():
    """Totals by token have contracts, and the largest value first."""
    details = owned()
    details = details._replace(holdings=details.holdings.assign(value=[1.0, 9.0, 2.0]))
    rows = listing(content_of(details, by=["owner", "token"]), "subtotals")
    result = [
        (row["symbol"], row["contract"], row["value"]) for row in rows if row["owner"] == "Ada"
    ]
    assert result == [("subtotal", "", "10.00"), ("FOO", "0xF", "9.00"), ("USDC", USDC, "1.00")]


def test_empty_groups_are_not_drawn():
    """Empty groups are in the table, but not in the chart."""
    details = fetched({f"BSC.{C}": "timeout"})
    details = details._replace(wallets=details.wallets.assign(owner="Ada"))
    content = content_of(details, by="owner")
    assert content.charts == ()
    assert listing(content, "subtotals")[0]["wallets known"] == "0 of 1"


def test_kept_columns_are_in_the_table_of_wallets(tmp_path):
    """Extra columns have their own escaped names as headings."""
    details, column = owned(), "<b onload='x'>|$x$"
    details = details._replace(wallets=details.wallets.assign(**{column: "1"}))
    rows = listing(content_of(details), "wallets")
    assert rows[0]["reason"] != "why <b>not</b>" == rows[0]["reason (2)"]
    assert {row["owner"] for row in rows} == {"Ada", "", "Ben"}
    for path in (tmp_path / "of.html", tmp_path / "of.md"):
        text = wf.report(details, path, by=["owner", column]).read_text(encoding="utf-8")
        assert "<b onload" not in text
        assert "|$x$" not in text
    assert "Totals by owner and" in plain_text(tmp_path / "of.md")


def test_other_totals_are_refused(tmp_path):
    """Unsupported totals are refused before anything is written."""
    with pytest.raises(SettingsError, match="there is no column 'bla' to group by"):
        wf.report(owned(), tmp_path / "of.md", by="bla")
    assert not [*tmp_path.iterdir()]


def test_excel_has_the_kept_columns(tmp_path):
    """The wallets of a fetch are written with all columns."""
    owned().wallets.wf.to_excel(tmp_path / "wallets.xlsx")
    written = pd.read_excel(tmp_path / "wallets.xlsx")
    assert written["owner"].tolist()[0] == "Ada"
    assert "reason" in written
