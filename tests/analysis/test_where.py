"""`where` selects the rows that the explorer shows, of frames and of folders."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from addresses import A, B, C, D
from canned_service import balance
from drawn_fetches import TOKENS, WALLETS, details_of, fetches_of
from fetches import failed, fetched, record, token
from hypothesis import given, settings
from hypothesis import strategies as st
from parted import in_parts, write_parts
from widgets import ask

import walletframe as wf
from walletframe.accessor.folder import StoredWallets
from walletframe.errors import (
    AddressError,
    AmbiguousTokenError,
    ColumnsError,
    InputWarning,
    SettingsError,
    UnknownBlockchainError,
    UnknownTokenError,
    UnknownWalletError,
)
from walletframe.frames.assembly import assemble
from walletframe.pandas_versions import TEXT
from walletframe.pickers import HoldingsExplorer

OWNERS = ["Ada", None, "Bob"]
SEARCHES = ["", "usdc", "ETH 0xa", "alice", "ada", "(eth", "claim x.io", "unknown", "…"]


def kept(details):
    """Add owners, numbers and prices, some of which are missing."""
    wallets, holdings = details
    places, rows = np.arange(len(wallets)), np.arange(len(holdings))
    own = {"owner": pd.array([OWNERS[n % 3] for n in places], dtype=TEXT), "level": places % 2}
    prices = np.array([0.001, 2.0, np.nan])[rows % 3]
    return details._replace(wallets=wallets.assign(**own), holdings=holdings.assign(price=prices))


def some(values):
    """Draw none or some of the values."""
    return st.lists(st.sampled_from(values), max_size=2, unique=True)


picks = st.fixed_dictionaries(
    {
        "blockchains": some(["ETH", "BSC", "NEAR", "SOLANA"]),
        "wallets": some([".".join(wallet) for wallet in WALLETS]),
        "tokens": some([token[:2] for token in TOKENS]),
        "labels": some([("owner", "Ada"), ("owner", "Bob"), ("owner", "")]),
    }
)
switches = st.fixed_dictionaries({"spam": st.booleans(), "small": st.booleans()})
FETCHES = fetches_of([*TOKENS, (None, "0xa0", "claim at x.io")])


@settings(max_examples=20, deadline=None)
@given(FETCHES, picks, switches, st.sampled_from(SEARCHES), st.booleans())
def test_where_selects_the_explorer_s_rows(fetch, picked, switched, search, is_stored):
    """For every selection, filter and search: the same rows, and the same wallets."""
    details = kept(details_of(fetch))
    explored = StoredWallets(in_parts(details)) if is_stored else details
    explorer = HoldingsExplorer(explored)
    for kind, values in picked.items():
        ask(explorer, "chart", pick={"of": kind, "values": values})
    answer = ask(explorer, "chart", **switched)["chosen"]
    chosen = {
        "blockchain": answer["blockchains"],
        "wallet": answer["wallets"],
        "token": [*map(tuple, answer["tokens"])],
        "owner": [text or None for _, text in answer["labels"]],
    }
    filters = {name: values for name, values in chosen.items() if values}
    filters["spam"] = None if switched["spam"] else False
    filters["small"] = None if switched["small"] else 1
    result, shown = explored.wf.where(**filters), explorer.shown
    pd.testing.assert_frame_equal(result.wallets, shown.wallets)
    pd.testing.assert_frame_equal(
        result.holdings.reset_index(drop=True),
        shown.holdings[result.holdings.columns].reset_index(drop=True),
    )
    table = ask(explorer, "rows", find=search, count=400)
    amounts = [".".join(filter(None, each)) for each in parts(table)]
    held = explored.wf.where(**filters, search=search).holdings["amount"]
    assert sorted(amounts) == sorted("" if pd.isna(each) else str(each) for each in held)
    explorer.close()


def parts(table):
    """Return both parts of each displayed amount."""
    cells = table["cells"]["amount"]
    return zip(cells["integer"], cells["fraction"], strict=True)


@pytest.fixture(scope="module")
def details():
    """Return two owners' wallets, one of which failed, with exact amounts."""
    many = balance(str(2**256 - 1), decimals=18) | {"price": 2.0}
    usdc = balance("7", symbol="USDC", address="0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
    twin = balance("9", symbol="USDC.e", address="0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174")
    spam = balance("5", symbol="claim at x.io", address="0xbad")
    records = [
        record(A, balances=[many, usdc | {"price": 1e-9}, spam]),
        record(B, balances=[usdc, twin]),
        failed(C),
    ]
    wallets, holdings = assemble(records)
    people = {"owner": pd.array(["Ada", "Bob", "Ada"], dtype="str"), "level": [1, 2, 1]}
    return wf.WalletDetails(wallets.assign(**people), holdings)


@pytest.fixture
def stored(details, tmp_path):
    """Return a folder of the same, with a part for each wallet."""
    bare = details._replace(wallets=details.wallets.drop(columns=["owner", "level"]))
    return wf.open_wallets(write_parts(tmp_path / "bulk", bare, wallets=1))


def test_a_fetch_stays_a_fetch(details):
    """The owner's wallets are kept, a failed one among them; amounts are exact."""
    result = details.wf.where(owner="Ada", token=("ETH", "0xbad"))
    assert result.wallets["address"].tolist() == [A, C]
    assert isinstance(result, wf.WalletDetails)
    [amount] = details.wf.where(owner="Ada", search="tkn").holdings["amount"]
    assert str(amount).replace(".", "") == str(2**256 - 1)


def test_labels_match_by_value_or_text(details):
    """Labels of wallets, or of holdings: one or several, and missing ones."""
    for level in (1, "1", [1, 1], ("1",)):
        assert details.wf.where(level=level).wallets["address"].tolist() == [A, C]
    for unknown in ({"owner": "Zoe"}, {"level": [1, 7]}, {"owner": ["Ada", "ada"]}):
        with pytest.raises(SettingsError, match="no row has") as raised:
            details.wf.where(**unknown)
        assert "choose from: '" in raised.value.hint
    flagged = details.wf.flag_spam()
    assert set(flagged.wf.where(is_spam=True).holdings["symbol"]) == {"TKN", "claim at x.io"}
    unknown = details._replace(wallets=details.wallets.assign(owner=[None, "Bob", "Bob"]))
    assert unknown.wf.where(owner=[None]).wallets["address"].tolist() == [A]


def test_currencies_are_searched_if_there_are_several(details):
    """The table has their column in that case."""
    mixed = details.holdings.assign(value=1.0, currency=["USD", "EUR", "USD", "EUR", "USD"])
    assert mixed.wf.where(search="eur").index.tolist() == [1, 3]
    assert mixed.assign(currency="EUR").wf.where(search="eur").empty


@pytest.mark.parametrize("name", ["rows", "names", "held", "holdings", "self", "accessor", "by"])
def test_a_label_may_have_any_name(details, name):
    """No inner argument shadows it."""
    named = details._replace(wallets=details.wallets.rename(columns={"owner": name}))
    assert named.wf.where(**{name: "Bob"}).wallets["address"].tolist() == [B]
    joined = details.holdings.copy()
    joined[name] = "Bob"
    assert joined.wf.where(**{name: "Bob"}).equals(joined)


def test_holdings_alone(details):
    """Rows keep their index, and are selected by their own columns."""
    joined = details.holdings.assign(owner=["Ada"] * 3 + ["Bob"] * 2)
    result = joined.wf.where(owner="Bob", search="usdc")
    pd.testing.assert_frame_equal(result, joined.iloc[3:])
    assert joined.wf.where(wallet=("eth", B.upper())).equals(joined.iloc[3:])
    assert joined.iloc[:0].wf.where().equals(joined.iloc[:0])


def test_spam(details):
    """Spam alone, or all but spam; by the column, if there is one."""
    assert details.wf.where(spam=True).holdings["symbol"].tolist() == ["TKN", "claim at x.io"]
    assert len(details.wf.where(spam=False).holdings) == len(details.holdings) - 2
    mine = details._replace(holdings=details.holdings.assign(is_spam=[True, None, *[False] * 3]))
    assert mine.wf.where(spam=True).holdings.index.tolist() == [0]
    rescued = details.wf.without_spam(allow=[("ETH", "0xbad")]).wf.where(wallet=f"ETH.{A}")
    assert rescued.wf.where(spam=False).holdings["symbol"].tolist() == ["USDC", "claim at x.io"]


def test_small(details):
    """By values, or the service's prices; unpriced rows stay."""
    assert details.wf.where(small=1).holdings.index.tolist() == [0, 2, 3, 4]
    valued = details._replace(holdings=details.holdings.assign(value=[1.0, 2, 3, 4, np.nan]))
    assert valued.wf.where(small=3).holdings.index.tolist() == [2, 3, 4]


def test_assets(details):
    """All contracts of an asset match, and bridged ones on request."""
    assert set(details.wf.where(asset="USDC").holdings["symbol"]) == {"USDC"}
    own = pd.DataFrame({"asset": ["mine"], "token_blockchain": ["ETH"], "token_address": ["0xBAD"]})
    assert details.wf.where(asset=["mine"], assets=own).holdings["symbol"].item()[:5] == "claim"


def test_bridged_versions_are_not_dropped_in_silence():
    """A warning counts them, unless they are selected; those of other assets don't count."""
    weth = balance("2", symbol="WETH", address="0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
    held = wf.WalletDetails(*assemble([record(A, balances=[balance("1", address=None), weth])]))
    lacked = "^the result lacks 0.000002 in 1 bridged version"
    expected = f"{lacked}; pass bridged=True to include all versions"
    with pytest.warns(InputWarning, match=expected):
        ether = held.wf.where(asset="ETH")
    assert len(ether.holdings) == 1
    assert (
        str(ether.wf.totals().attrs["coverage"]["filtered_reasons"])
        == "0.000002 in 1 bridged version"
    )
    both = held.wf.where(asset="ETH", bridged=True)
    assert len(both.holdings) == 2
    assert both.wf.totals()["asset"].tolist() == ["ETH"]
    assert both.wf.share("ETH").equals(both.wf.share("ETH", bridged=True))
    assert both.wf.plot.bar(asset="ETH").data[0].x == (0.000003,)


@pytest.mark.filterwarnings("ignore:the result lacks")
def test_bridged_versions_count_in_any_order_of_conditions():
    """Those of the selected assets and wallets, added up exactly for a single asset."""
    usdc = token("USDC", 1, 0, contract="0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
    weth = token("WETH", 3, 0, contract="0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
    in_polygon = "POLYGON", "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174", "USDC.e", 2, 0
    in_base = "BASE", "0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA", "USDbC", 10**40, 0
    held = {f"ETH.{A}": [usdc, weth, token("ETH", 1, 0, contract=None)]}
    wallets, holdings = fetched(held | {f"POLYGON.{B}": [in_polygon], f"BASE.{C}": [in_base]})
    details = wf.WalletDetails(wallets.assign(owner=["Ada", "Bob", "Ada"]), holdings)
    both, usdc = {"asset": ["ETH", "USDC"]}, {"asset": "USDC"}
    large = "10,000,000,000,000,000,000,000,000,000,000,000,000,00"
    for *steps, text in (
        (usdc, f"{large}2 in 2 bridged versions; 2 balances not selected"),
        (both, "3 bridged versions"),
        (both, usdc, f"{large}2 in 2 bridged versions; 2 balances not selected"),
        (both, {"asset": "ETH"}, "3 in 1 bridged version; 3 balances not selected"),
        (usdc, {"token": "USDC"}, "4 balances not selected"),
        ({"search": "usdc"} | usdc, "2 in 1 bridged version; 3 balances not selected"),
        ({"search": "usdc"}, usdc, "2 in 1 bridged version; 3 balances not selected"),
        (usdc, {"search": "usdc"}, "4 balances dropped as bridged, or not selected"),
        (usdc, {"owner": "Bob"}, "2 in 1 bridged version"),
        ({"owner": "Bob"} | usdc, "2 in 1 bridged version"),
        (usdc, {"owner": "Ada"}, f"{large}0 in 1 bridged version; 2 balances not selected"),
        (usdc, {"wallet": f"ETH.{A}"}, "2 balances not selected"),
    ):
        selected = details
        for step in steps:
            selected = selected.wf.where(**step)
        assert f". Not counted: {text}. As of" in str(selected.wf.coverage())
    drawn = details.wf.where(**usdc).wf.plot.pie(f"ETH.{A}")
    assert "bridged" not in str(drawn.layout.meta)


@pytest.mark.filterwarnings("ignore:the result lacks", "ignore:.*probably spam")
def test_chained_selections_have_the_tables_of_one_selection():
    """In any order; only reasons of earlier dropped rows may lack counts."""
    contract = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
    usdc, unread = (token("USDC", 5, decimals, contract=contract) for decimals in (0, None))
    ether, unknown = token("ETH", contract=None), token("?", contract=None, blockchain=None)
    held = {
        f"ETH.{A}": [ether, usdc, token("claim x.io", contract="0x1")],
        f"ETH.{B}": [unread, unknown],
        f"POLYGON.{C}": [("POLYGON", "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174", "USDC.e", 9, 0)],
        f"BASE.{D}": "failed",
    }
    wallets, holdings = fetched(held)
    details = wf.WalletDetails(wallets.assign(owner=["Ada", "Ada", "Bob", "Bob"]), holdings)
    conditions = [{"asset": "USDC"}, {"owner": "Ada"}, {"search": "usd"}, {"wallet": f"ETH.{A}"}]
    for first, second in permutations([*conditions, {"spam": False}, {"blockchain": "ETH"}], 2):
        chained = details.wf.where(**first).wf.where(**second).wf
        whole = details.wf.where(**first, **second).wf
        for by in ("owner", "asset", "wallet"):
            pd.testing.assert_frame_equal(chained.totals(by), whole.totals(by))
        stated, expected = (replace(each.coverage(), selected="") for each in (chained, whole))
        if " dropped as " in stated.filtered_reasons:
            expected = replace(expected, filtered_reasons=stated.filtered_reasons)
        assert stated == expected


@pytest.mark.filterwarnings("ignore:the result lacks")
def test_many_bridged_versions_are_recorded_together():
    """By blockchain; a later selection of wallets names the reason without a count."""
    usdc = "POLYGON", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", "USDC", 1, 0
    bridged = "POLYGON", "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174", "USDC.e", 2, 0
    held = {f"POLYGON.0x{number:040x}": [usdc, bridged] for number in range(1_001)}
    selected = fetched(held).wf.where(asset="USDC")
    for each in (selected, selected.wf.where(blockchain="POLYGON")):
        assert "Not counted: 2,002 in 1 bridged version. " in str(each.wf.coverage())
    one = str(selected.wf.where(wallet=next(iter(held))).wf.coverage())
    assert "Not counted: 1 balance dropped as bridged, or not selected. " in one


def test_balances_of_unknown_tokens_are_counted(details):
    """They may be of the selected token. Balances of other owners don't count."""
    missing = details.holdings["symbol"].eq("claim at x.io") | details.holdings["symbol"].eq("TKN")
    columns = {
        name: details.holdings[name].mask(missing) for name in ("token_blockchain", "token_address")
    }
    unknown = details._replace(holdings=details.holdings.assign(**columns))
    text = "; 2 balances whose token is unknown; 1 balance not selected. "
    selected = unknown.wf.where(asset="USDC", bridged=True)
    assert text in str(selected.wf.totals("owner"))
    assert "unknown;" not in str(unknown.wf.where(asset="USDC", owner="Bob", bridged=True))
    shares = [each.wf.share("USDC", by="owner", bridged=True) for each in (unknown, selected)]
    pd.testing.assert_frame_equal(*shares)
    for each in (selected, selected.wf.where(level=[1, 2])):
        assert each.wf.totals("owner")["wallets_ok"].tolist() == [1, 1]


def test_a_minimum_value_without_prices_warns():
    """No balance has a value, so that all are selected."""
    details = fetched({f"ETH.{A}": [token()]})
    with pytest.warns(InputWarning, match=r"^small=… drops no balance, since no balance has"):
        assert len(details.wf.where(small=5).holdings) == 1


def test_unknown_tokens_count_in_any_order_of_conditions():
    """Those of the selected wallets that could hold the token."""
    unknown = token("?", contract=None, blockchain=None)
    answers = {f"ETH.{A}": [token(), unknown], f"ETH.{B}": [token("DAI", contract="0xd"), unknown]}
    details = fetched(
        answers | {f"BSC.{C}": [token("BNB", contract=None, blockchain="BSC"), unknown]}
    )
    details = details._replace(wallets=details.wallets.assign(owner=["Ada", "Bob", "Cem"]))
    for *steps, count in (
        ({"token": "TKN"}, 2),
        ({"token": ["TKN", "BNB"]}, 3),
        ({"token": ["TKN", "BNB"]}, {"token": "TKN"}, 2),
        ({"token": "TKN", "owner": "Bob"}, 1),
        ({"search": "tkn"}, 3),
        ({"search": "tkn"}, {"token": "TKN"}, 2),
        ({"token": "TKN"}, {"search": "tkn"}, 2),
        ({"token": ["TKN", "DAI"]}, {"search": "tkn"}, 2),
        ({"token": "TKN"}, {"owner": "Bob"}, 1),
        ({"token": "TKN"}, {"wallet": f"ETH.{B}"}, 1),
        ({"token": "TKN"}, {"blockchain": "BSC"}, 0),
    ):
        selected = details
        for step in steps:
            selected = selected.wf.where(**step)
        stated = selected.wf.totals("owner").attrs["coverage"]
        assert (steps, stated["unknown_tokens"]) == (steps, count)
    assert (
        details.wf.where(token=["TKN", "BNB"])
        .wf.share(token="TKN")
        .attrs["coverage"]["unknown_tokens"]
        == 2
    )


def test_wallets_that_cannot_hold_the_token_are_not_counted():
    """Even if they failed. Their owners have the known amount 0."""
    unknown = token("?", contract=None, blockchain=None)
    answers = {
        f"ETH.{A}": [token("ETH", contract=None)],
        f"ETH.{B}": [unknown],
        f"NEAR.{C}": "timeout",
    }
    details = fetched(answers | {f"BTC.{D}": [unknown]})
    owners = details.wallets.assign(owner=["Ada", "Bob", "Cem", "Dee"])
    owners.loc[3, "fetched_at"] -= pd.Timedelta("30D")
    selected = details._replace(wallets=owners).wf.where(asset="ETH")
    line = "1 balance whose token is unknown; 1 balance not selected. As of 2026-01-31 05:59 UTC."
    assert line in str(selected.wf.coverage())  # not those of the Bitcoin wallet
    for each in (selected, selected.wf.where(owner=["Bob", "Cem", "Dee"])):
        table = each.wf.totals("owner").set_index("owner")[["amount", "wallets_ok"]]
        assert table["wallets_ok"].tolist()[-3:] == [1, 0, 0]
        assert table["amount"].tolist()[-3:] == [0, 0, 0]
        assert table["wallets_ok"].sum() == each.wf.coverage().wallets_asked


def test_an_unreadable_amount_of_the_selected_token_is_unknown():
    """In tables without tokens, too: the only balance of a wallet is not 0."""
    unread = token(decimals=None)
    wallets, holdings = fetched({f"ETH.{A}": [unread], f"ETH.{B}": [token()]}).wf.where(asset="TKN")
    of_owner = wallets.assign(owner="Ada")
    table = holdings.wf.totals("wallet", wallets=wallets)
    assert table["amount"].isna().tolist() == [True, False]
    for by in ("owner", ["owner", "asset"]):
        row = holdings.wf.totals(by, wallets=of_owner).iloc[0]
        assert row[["wallets_ok", "wallets_asked", "amount_na"]].tolist() == [1, 2, 1]
    partly = fetched({f"ETH.{A}": [unread, token()]}).wf.where(asset="TKN").wf.totals()
    assert partly.attrs["coverage"]["as_of"] == "2026-01-31 05:59 UTC"  # of the readable part


def test_an_unreadable_amount_of_one_contract_leaves_the_others_known():
    """Although they are contracts of one asset on one blockchain."""
    own = pd.DataFrame(
        {"asset": "mine", "token_blockchain": "ETH", "token_address": ["0xa", "0xb"]}
    )
    held = [token(contract="0xa"), token(contract="0xb", decimals=None)]
    answers = {f"ETH.{A}": held, f"ETH.{B}": [], f"BTC.{C}": "failed"}
    selected = fetched(answers).wf.where(asset="mine", assets=own)
    table = selected.wf.totals("token")
    assert table[["wallets_ok", "wallets_asked"]].to_numpy().tolist() == [[2, 2], [1, 2]]
    for result in (table, selected.wf.totals(assets=own), selected.wf.share("mine", assets=own)):
        assert "Not counted: 1 of 2 wallets unknown; 1 balance of unknown" in repr(result)


def test_parquet_files_record_which_wallets_can_hold_the_token(tmp_path):
    """A failed wallet on another blockchain has a known 0 after reading, too."""
    wallets, holdings = fetched({f"ETH.{A}": [token()], f"BSC.{B}": "failed"}).wf.where(token="TKN")
    table, path = holdings.wf.totals("wallet", wallets=wallets), tmp_path / "h.parquet"
    assert table[["wallets_ok", "wallets_asked"]].to_numpy().tolist() == [[1, 1], [0, 0]]
    assert table["amount"].tolist() == [1.5, 0]
    for write, read in (
        (holdings.to_parquet, pd.read_parquet),
        (holdings.wf.to_parquet, wf.read_holdings),
    ):
        write(path)
        assert repr(read(path).wf.totals("wallet", wallets=wallets)) == repr(table)


def test_the_reasons_of_dropped_balances_are_stated(details):
    """With their values; after another change of the rows, or of the wallets, only a count."""
    columns = {"value": [0.5, 2, 3, 930, np.nan], "is_spam": [False, False, False, True, False]}
    valued = details._replace(holdings=details.holdings.assign(**columns, currency="USD"))
    clean = valued.wf.where(spam=False, small=1)
    reasons = "1 spam balance (930.00 USD); 1 small balance (0.50 USD)"
    assert f"; {reasons}. " in str(clean.wf.coverage())
    claims = str(clean.wf.where(search="claim").wf.coverage())
    assert claims.startswith("Selected: small=1, search='claim'. Not counted: ")
    assert "; 4 balances dropped as small or spam, or not selected. " in claims
    assert f"; {reasons}. " in str(valued.wf.where(spam=False).wf.where(small=1).wf.coverage())
    for first, second in (({"small": 1}, {"asset": "USDC"}), ({"spam": False}, {"owner": "Bob"})):
        chained = valued.wf.where(**first).wf.where(**second).wf.coverage()
        whole = valued.wf.where(**first | second).wf.coverage()
        assert chained.filtered == whole.filtered
        assert f" dropped as {'small' if 'small' in first else 'spam'}" in chained.filtered_reasons
    only_spam = record(B, balances=[balance("5", symbol="claim at x.io", address="0xbad")])
    genuine = wf.WalletDetails(*assemble([record(A), only_spam])).wf.where(spam=False)
    assert "1 spam balance" in str(genuine.wf.coverage())
    narrowed = genuine._replace(wallets=genuine.wallets[:1])
    assert str(narrowed.wf.coverage()).startswith("The only balance of 1 wallet is counted.")
    fewer = clean._replace(holdings=clean.holdings[1:])
    assert "3 dropped balances" in str(fewer.wf.coverage())
    of_wallet = clean.wf.where(wallet=f"ETH.{A}")
    assert "Not counted: 1 balance dropped as small or spam. " in str(of_wallet.wf.coverage())
    searched = str(of_wallet.wf.where(search="claim").wf.coverage())
    assert "balances dropped as small or spam, or not selected. " in searched
    columns = {"value": 1.0, "is_spam": [False, False, False, True, True]}
    mixed = details.holdings.assign(**columns, currency=["USD", "USD", "USD", "USD", "EUR"])
    genuine = details._replace(holdings=mixed).wf.where(spam=False)
    assert "; 2 spam balances. " in str(genuine.wf.coverage())


@pytest.mark.parametrize(
    "filters, error, message",
    [
        ({"ownr": "Ada"}, ColumnsError, "'owner', 'level'"),
        ({"wallet": f"ETH.{D}"}, UnknownWalletError, f"ETH.{D}"),
        ({"wallet": D}, AddressError, D),
        ({"blockchain": ["ETH", "BSC"]}, UnknownBlockchainError, "BSC"),
        ({"token": "DAI"}, UnknownTokenError, "DAI"),
        ({"token": (("ETH", None), ("BSC", None))}, UnknownTokenError, "oken=list.picker.value"),
        ({"asset": "DAI"}, UnknownTokenError, "DAI"),
        ({"token": "USDC", "asset": "USDC"}, SettingsError, "can't be combined"),
        ({"bridged": True}, SettingsError, "asset="),
        ({"assets": "mine.csv"}, SettingsError, "asset="),
        ({"wallet": []}, SettingsError, "the list wallet=… is empty"),
        ({"token": []}, SettingsError, "the list token=… is empty"),
        ({"owner": []}, SettingsError, "the list owner=… is empty"),
    ],
)
def test_unknown_values_are_refused(details, filters, error, message):
    """The error names the value."""
    with pytest.raises(error, match=message):
        details.wf.where(**filters)


def test_a_symbol_of_several_tokens_is_an_error(details):
    """The error names their contracts."""
    holdings = details.holdings.assign(symbol="SAME")
    with pytest.raises(AmbiguousTokenError, match="0xbad"):
        holdings.wf.where(token="SAME")


def test_only_selected_parts_of_a_folder_are_read(stored, details):
    """Other wallets' parts may be missing; the columns are those of the folder."""
    expected = details.holdings.iloc[3:].reset_index(drop=True)
    paths = sorted((stored.holdings.root / "holdings").iterdir())
    for path in paths:
        content = path.read_bytes()
        path.unlink()
        try:
            result = stored.wf.where(wallet=f"ETH.{B}")
        except wf.errors.DatasetError:
            path.write_bytes(content)
    pd.testing.assert_frame_equal(result.holdings, expected)
    assert len([path for path in paths if path.exists()]) == 1


def test_a_folder_judges_spam_by_all_of_its_balances(stored, details):
    """So are symbols and assets; the folder's added columns are kept."""
    for filters in (
        {"spam": False, "small": 1},
        {"spam": True},
        {"token": "USDC.e"},
        {"asset": "USDC", "search": B},
    ):
        expected, result = (each.wf.where(**filters) for each in (details, stored))
        frame = expected.holdings.reset_index(drop=True)
        pd.testing.assert_frame_equal(result.holdings, frame)
        assert str(result.wf.coverage()) == str(expected.wf.coverage())
    flagged = stored.wf.flag_spam().wf.value({("ETH", "0xbad"): 3})
    result = flagged.wf.where(spam=True, token=("ETH", "0xbad")).holdings
    assert result[["is_spam", "unit_price"]].to_numpy().tolist() == [[True, 3.0]]
