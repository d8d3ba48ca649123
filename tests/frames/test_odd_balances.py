"""Unreadable balances, from the socket to every table: each costs itself, and is reported."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pandas as pd
import pytest
from addresses import A, B
from canned_service import answer, balance, wallet

import walletframe as wf
from walletframe import charts
from walletframe.analysis.distribution import concentration, overlap, pivot, share, token_labels
from walletframe.analysis.spam.flags import explain_spam, flag_spam
from walletframe.analysis.sums import totals
from walletframe.analysis.valuation import value
from walletframe.errors import AnswerWarning, FetchWarning, PricesWarning, UnknownTokenError
from walletframe.frames.details import WalletDetails
from walletframe.frames.display import details_html, details_markdown
from walletframe.frames.known import summary_lines
from walletframe.history import compare, load, save, timeline, total_timeline
from walletframe.pickers import HoldingsExplorer, TokenPicker
from walletframe.reports.composition import Grouping, compose

DAY = datetime(2026, 1, 31, 6, tzinfo=UTC)
DECIMALS = (0, 2, 6, 8, 9, 10, 12, 18, 25)
PRICED = {"price": 2.0}


def unknown(amount="5000000", **asset):
    """Return a balance of an unknown token."""
    return balance(amount, **{"blockchain": None, "address": None, "symbol": "TKN"} | asset)


def recorded(number):
    """Return a balance as live services of this kind send it, by its number."""
    raw = 10**number // 7
    sent = balance(
        raw if number % 2 else str(raw),
        DECIMALS[number % len(DECIMALS)],
        address=f"0x{number:040x}" if number else None,
        symbol=None if number % 10 == 3 else f"T{number}",
    )
    return sent | {"price": None if number % 3 else 0.5}


def fetch(canned, *entries, warned=True):
    """Fetch ETH wallets with some unreadable balances."""
    canned.replies.extend((200, {}, answer(entry)) for entry in entries)
    requested = [f"{entry['blockChain']}.{entry['address']}" for entry in entries]
    with canned.client(workers=1) as client:
        if not warned:
            return client.fetch(requested, on_failure="ignore")
        with pytest.warns(AnswerWarning) as result:
            details = client.fetch(requested, on_failure="ignore")
        assert len(result) == 1
        return details


@pytest.fixture
def details(canned):
    """Return two wallets with a good balance, two of unknown tokens and one of no amount each."""
    held = [
        balance("1500000") | PRICED,
        unknown() | PRICED,
        unknown(address="0xToken") | PRICED,
        balance("0x1f", symbol=None, address="0xOther"),
    ]
    return fetch(canned, wallet(A, balances=held), wallet(B, balances=held))


def test_a_recorded_wallet_is_complete(canned):
    """Integers and texts, null symbols and prices: 297 balances, exact, without a warning."""
    sent = [recorded(number) for number in range(297)]
    wallets, holdings = fetch(canned, wallet(balances=sent), warned=False)
    assert (wallets["status"].item(), wallets["tokens"].item()) == ("ok", 297)
    assert wallets["error"].isna().all()
    for number, result in enumerate(holdings["amount"]):
        assert Fraction(result) == Fraction(10**number // 7, 10 ** DECIMALS[number % 9])
    assert holdings["symbol"].isna().sum() == 30
    assert holdings["price"].notna().sum() == 99


def test_a_recorded_wallet_on_18_blockchains(canned):
    """Some blockchains fail, some have no list, some null decimals: the others are complete."""
    odd = recorded(7) | {"amount": {"amount": "7", "decimals": None}}
    names = wf.blockchains().dropna(subset="chain_id").blockchain[:18]
    entries = [
        wallet(A, name, balances=[recorded(place), odd]) for place, name in enumerate(names[:13])
    ]
    entries += [
        wallet(A, name, balances=None, failed=place > 1) for place, name in enumerate(names[13:])
    ]
    wallets, holdings = fetch(canned, *entries)
    assert wallets["status"].tolist() == ["ok"] * 13 + ["failed"] * 5
    assert set(wallets["error"][:13]) == {"1 of 2 balances could not be read"}
    assert holdings["amount"].isna().sum() == 13
    assert wallets["tokens"].isna().sum() == 5


def test_one_warning_has_the_counts(details, canned):
    """How many balances of how many wallets; the cached answer warns, too."""
    canned.add_reply(answer(wallet(balances=[balance(), unknown(), balance(None)])))
    with canned.client() as client:
        for source in ("service", "cache"):
            with pytest.warns(AnswerWarning, match="2 of 3 balances, in 1 wallet,") as result:
                wallets, _ = client.fetch(f"ETH.{A}")
            assert len(result) == 1
            assert wallets["source"].item() == source
            assert wallets["error"].item() == "2 of 3 balances could not be read"


def test_an_older_answer_keeps_its_own_flaws(canned):
    """The reason for its use comes first, then its unreadable part."""
    canned.add_reply(answer(wallet(balances=[unknown()])))
    canned.default = (200, {}, answer(wallet(failed=True)))
    with canned.client() as client:
        with pytest.warns(AnswerWarning):
            client.fetch(f"ETH.{A}")
        with pytest.warns((AnswerWarning, FetchWarning)) as result:
            details = client.fetch(f"ETH.{A}", refresh=True)
    assert {each.category for each in result} == {AnswerWarning, FetchWarning}
    assert details.wallets["error"].item().startswith("not refreshed: ")
    assert details.wallets["error"].item().endswith("; 1 of 1 balance could not be read")
    assert "1 wallet shows an older answer" in "; ".join(summary_lines(*details))


def test_flaws_alone_are_no_failure(details):
    """A partly readable wallet is ok, and no older answer is used."""
    text = "; ".join(summary_lines(*details))
    assert "2 ok" in text
    assert "6 of 8 balances are unreadable" in text
    assert "older" not in text


def test_unknown_tokens_are_never_added_together(details):
    """Each has its row in totals, its column in a pivot and its own name; none is native."""
    wallets, holdings = details
    table = totals(holdings, wallets=wallets)
    assert table["balances"].tolist() == [2, 1, 1, 2, 1, 1]
    assert table["amount"].astype("str").tolist()[:2] == ["3", "5"]
    assert table["amount_na"].tolist() == [0, 0, 0, 2, 0, 0]
    labels = token_labels(holdings)
    assert labels.nunique() == 6
    assert not labels.str.contains("native").any()
    assert pivot(holdings, None, wallets=wallets).shape == (2, 6)
    assert overlap(holdings, by="token")["tokens_both"].tolist() == [1]
    assert overlap(holdings)["assets_both"].tolist() == [1]
    assert totals(holdings, "token", wallets=wallets)["amount"].equals(table["amount"])


def test_unknown_tokens_are_never_priced(details):
    """Neither by the service, nor by symbol, nor by a price source."""

    class Source:
        def prices(self, tokens):
            assert tokens["token_blockchain"].notna().all()
            return {("ETH", "0xToken"): 2}

    holdings = details.holdings
    for valued in (
        value(holdings),
        value(holdings, {"TKN": 2}, by_symbol=True),
        value(holdings, {("ETH", "0xToken"): 2}),
        value(holdings, Source()),
    ):
        assert valued["value"].fillna(-1).tolist() == [3, -1, -1, -1] * 2
    assert value(holdings)["price"][1] == 2.0
    with pytest.warns(PricesWarning, match=r"such as \('ETH', '0xother'\)"):
        value(holdings[::-1], {("ETH", "0xdead"): 2})


def test_a_symbol_is_that_of_the_known_token(details):
    """An unknown token shares no symbol, and has no name."""
    assert share(details.holdings, "TKN")["amount"].tolist() == [Decimal("1.5")] * 2
    alone = details.holdings[details.holdings["token_blockchain"].isna()]
    for named in ("TKN", (None, None), ("", None), (None, "0xToken")):
        with pytest.raises(UnknownTokenError):
            share(alone, named)


def test_unknown_tokens_are_never_compared(details, tmp_path):
    """Each has an unknown change. Listed tokens of their wallets have not changed."""
    for day in (0, 1):
        save(details, folder=tmp_path, at=DAY + timedelta(days=day))
    history = load(folder=tmp_path)
    changes = compare(details, details)
    assert set(changes["change"]) == {"unknown"}
    pairs = changes[["status_before", "status_after"]].astype(str).value_counts()
    assert pairs.to_dict() == {
        ("ok", "unknown_token"): 4,
        ("unknown_token", "ok"): 4,
        ("no_amount", "no_amount"): 2,
    }
    lines = timeline(history)
    counts = lines["status"].value_counts()
    assert counts[["ok", "unknown_token", "no_amount"]].tolist() == [12, 0, 4]
    assert len(lines) == 16
    assert total_timeline(history)["token_blockchain"].notna().all()
    assert total_timeline(history)["wallets_known"].tolist() == [2, 2, 0, 0]


def test_nothing_raises_over_odd_balances(details):
    """Every table, chart, report, picker and display takes frames with them."""
    wallets, holdings = details
    for chart in (charts.treemap, charts.sunburst, charts.bar, charts.heatmap):
        assert "native" not in chart(holdings, wallets=wallets).to_json()
    charts.pie(holdings, f"ETH.{A}", wallets=wallets)
    charts.treemap(value(holdings), wallets=wallets)
    concentration(holdings)
    assert not flag_spam(holdings).empty
    explain_spam(holdings)
    shown = details_html(*details) + details_markdown(*details)
    assert "unreadable: 0x1f" in repr(details)
    assert "unknown token" in shown
    content = compose(details, before=details, title="x", made_at=DAY, grouping=Grouping())
    assert content.notes[0].startswith("Not counted: 2 balances of unknown amount;")
    picker, explorer = TokenPicker(details), HoldingsExplorer(details)
    assert len(explorer.shown.holdings) == 8
    explorer.close()
    picker.value = [("ETH", "0xother")]
    assert len(picker.value) == 1
    picker.close()
    empty = WalletDetails(wallets.iloc[:0], holdings.iloc[:0])
    assert compare(empty, details)["change"].eq("unknown").all()
    assert isinstance(pd.concat([holdings, holdings])["amount"].sum(), Decimal)


def test_an_amount_without_raw_text_is_shown_as_unknown(details):
    """The column of raw amounts is empty as well."""
    raw = details.holdings["raw_amount"]
    holdings = details.holdings.assign(raw_amount=raw.where(details.holdings["amount"].notna()))
    shown = repr(WalletDetails(details.wallets, holdings))
    assert "unreadable: 0x1f" not in shown
    assert " unknown " in shown
