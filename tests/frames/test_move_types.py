"""Types of Move, such as 0x2::sui::SUI: their names have case, the hex before them has none."""

import dask.dataframe as dd
import pandas as pd
import pytest
from fetches import FETCHED_AT, fetched, token
from hypothesis import given
from hypothesis import strategies as st
from parted import write_parts

import walletframe as wf
import walletframe.dask
from walletframe import history
from walletframe.frames.identity import encode_tokens, token_key

COIN, OTHER = "0xabc::coin::COIN", "0xabc::coin::Coin"
SPELLINGS = [COIN, OTHER, "0XABC::coin::COIN", "0xAbC::coin::Coin"]
HOLDERS = {
    f"SUI.0x{number}": [token("TKN", 10**6 * number, contract=contract, blockchain="SUI")]
    for number, contract in enumerate(SPELLINGS, 1)
}
HELD = {COIN: 1 + 3, OTHER: 2 + 4}
PRICES = {("SUI", OTHER): 10}
LIST = pd.DataFrame({"asset": ["Mine"], "token_blockchain": ["SUI"], "token_address": [OTHER]})


@pytest.fixture
def details():
    """Return a fetch of four holders, each with one of the two tokens in another spelling."""
    return fetched(HOLDERS)


def by_token(table, column="amount"):
    """Return a column of a table by the type of its row, in its first spelling."""
    return dict(zip(table["token_address"], table[column].astype(int), strict=True))


@given(st.from_regex(r"0[xX][0-9a-fA-F]{1,64}(::[a-zA-Z_][a-zA-Z0-9_]*){0,2}", fullmatch=True))
def test_case_counts_after_the_account(contract):
    """A key has the names as written, and hex in lower case."""
    account, colons, names = contract.partition("::")
    assert token_key(("SUI", contract)) == ("SUI", account.lower() + colons + names)


def test_names_that_differ_by_case_are_two_tokens(details):
    """In rows, sums, the table of wallets, and shares."""
    tokens = encode_tokens(details.holdings)
    assert tokens.keys == [("SUI", COIN), ("SUI", OTHER)]
    assert tokens.codes.tolist() == [0, 1, 0, 1]
    assert by_token(details.wf.totals("token")) == HELD
    assert len(details.wf.overlap()) == 2  # of six pairs of wallets
    shares = details.wf.share(("sui", "0XABC::coin::Coin"))
    assert shares["address"].tolist()[:2] == ["0x4", "0x2"]
    assert shares["amount"].astype(int).tolist() == [4, 2, 0, 0]


def test_folders_and_dask_distinguish_them(details, tmp_path):
    """Part by part, as the whole frame does."""
    stored = wf.open_wallets(write_parts(tmp_path, details, wallets=1))
    assert by_token(stored.wf.totals("token")) == HELD
    parts = dd.from_pandas(details.holdings, npartitions=3)
    assert by_token(parts.wf.totals("token", wallets=details.wallets)) == HELD


def test_histories_distinguish_them(details, tmp_path):
    """One in the place of the other is another token."""
    later = fetched({"SUI.0x1": HOLDERS["SUI.0x2"]})
    changes = history.compare(fetched({"SUI.0x1": HOLDERS["SUI.0x1"]}), later)
    assert dict(zip(changes["token_address"], changes["change"], strict=True)) == {
        COIN: "gone",
        OTHER: "new",
    }
    history.save(details, folder=tmp_path, at=FETCHED_AT)
    lines = history.total_timeline(history.load(folder=tmp_path))
    assert by_token(lines) == HELD


def test_prices_lists_and_assets_match_one_of_them(details):
    """A price, a list of spam and an asset match the named type."""
    worth = details.wf.value(PRICES).holdings
    assert worth["value"].fillna(0).tolist() == [0, 20, 0, 40]
    flagged = details.wf.flag_spam(deny=[("SUI", OTHER)], allow=[("SUI", COIN)]).holdings
    assert flagged["is_spam"].tolist() == [False, True, False, True]
    assets = details.wf.totals(by="asset", assets=LIST).set_index("asset")["amount"].astype(int)
    assert assets["Mine"] == HELD[OTHER]
