"""``df.wf.join``: a user's table beside a fetch."""

import pandas as pd
import pytest
from addresses import UPPER_C, C, base58, whole
from fetches import fetched, token

import walletframe as wf
from walletframe.errors import ArgumentError, ColumnsError, InputWarning, SettingsError

TOP = 2**256 - 1
SOLANA = base58("Xy")
DETAILS = fetched(
    {
        f"ETH.{whole('Ab')}": [token("ONE", TOP, 18), token("TWO", 2, 0)],
        f"SOLANA.{SOLANA}": [token("SOL", 5, 9, contract=None, blockchain="SOLANA")],
        f"BSC.{UPPER_C}": "failed",
    }
)
TABLE = pd.DataFrame(
    {
        "owner": ["Ann", "Ben", "Cid", "Dee", "Eve"],
        "address": [f" 0X{'aB':0>40}", base58("xy"), f"{SOLANA}\n", None, UPPER_C],
        "symbol": list("abcde"),
        "blockchain": ["eth", "Solana", " solana ", None, "Bsc"],
    },
    index=[9, 8, 7, 6, 5],
)


def joined(table, frame, *terms, unmatched=None, **more):
    """Join, and check the warning about unmatched rows."""
    if unmatched is None:
        return table.wf.join(frame, *terms, **more)
    with pytest.warns(InputWarning, match=unmatched) as caught:
        result = table.wf.join(frame, *terms, **more)
    assert (len(caught), caught[0].filename) == (1, __file__)
    return result


def test_all_rows_of_the_table_stay_in_their_order():
    """Each once for each match, by identity; base58 has case, hex does not."""
    result = joined(TABLE, DETAILS.holdings, unmatched=r"3 of 5 rows have no match \(1 can't be")
    assert result.index.tolist() == [0, 1, 2, 3, 4, 5]
    assert result.owner.tolist() == ["Ann", "Ann", "Ben", "Cid", "Dee", "Eve"]
    assert result.symbol.fillna("").tolist() == ["ONE", "TWO", "", "SOL", "", ""]
    assert result.amount.dtype == wf.AmountDtype()
    assert result.amount[0] == DETAILS.holdings.amount[0]
    assert result.raw_amount[0] == str(TOP)
    assert result.decimals.dtype == "Int16"


@pytest.mark.parametrize("names", [("blockChain", "walletAddress"), ("blockChain", "address")])
def test_columns_may_have_the_names_of_the_service(names):
    """The result has the names of the frame."""
    table = TABLE[["owner", "blockchain", "address"]].iloc[[0, 2, 4]]
    result = table.set_axis(["owner", *names], axis=1).wf.join(DETAILS.wallets)
    pd.testing.assert_frame_equal(result, table.wf.join(DETAILS.wallets))


def test_wallets_have_the_frames_spelling():
    """Unmatched ones have the table's, trimmed; so that the result can be joined again."""
    result = joined(TABLE, DETAILS.wallets, unmatched="2 of 5 rows")
    assert result.blockchain.fillna("").tolist() == ["ETH", "SOLANA", "SOLANA", "", "BSC"]
    assert result.address.fillna("").tolist() == [whole("Ab"), base58("xy"), SOLANA, "", UPPER_C]
    assert result.status.cat.categories.equals(DETAILS.wallets.status.cat.categories)
    assert result.columns[:4].tolist() == ["owner", "address", "symbol", "blockchain"]
    again = joined(result, DETAILS.holdings, "inner", unmatched="3 of 5 rows")
    assert again.owner.tolist() == ["Ann", "Ann", "Cid"]


@pytest.mark.parametrize(
    "how, owners",
    [
        ("inner", ["Ann", "Ann", "Cid"]),
        ("left", ["Ann", "Ann", "Ben", "Cid", "Dee", "Eve"]),
        ("right", ["", "Cid", "Ann", "Ann"]),
        ("outer", ["Ann", "Ann", "Ben", "Cid", "Dee", "Eve", ""]),
    ],
)
def test_how_selects_rows(how, owners):
    """The rows are those of pandas's merge; with right in the order of the frame."""
    other = DETAILS.holdings.iloc[[1, 2, 0]]
    frame = pd.concat([other.assign(address=[whole("ff"), SOLANA, whole("Ab")]), other.iloc[[2]]])
    result = joined(TABLE, frame, how, unmatched="3 of 5 rows have no match")
    assert result.owner.fillna("").tolist() == owners


@pytest.mark.parametrize("names", [["wallet"], ["n", "wallet", "site"]])
def test_wallets_in_one_column(names):
    """It is found if it is the only one with wallets of known blockchains."""
    table = pd.DataFrame(
        {"n": [1, 2], "wallet": [f"eth.{whole('AB')}", f" BSC.{C} "], "site": ["a.com", "b"]}
    )
    result = table[names].wf.join(DETAILS.wallets)
    assert result.columns[: len(names) + 2].tolist() == [*names, "blockchain", "address"]
    assert result.status.tolist() == ["ok", "failed"]
    assert result.wallet.tolist() == table.wallet.tolist()


def test_the_column_can_be_named():
    """If there are several; another column called address is unchanged."""
    table = pd.DataFrame(
        {"a": [f"ETH.{whole('ab')}"], "b": [f"BSC.{C}"], "address": ["Main Street"]}
    )
    with pytest.raises(ColumnsError, match="lacks 'blockchain'") as caught:
        table.wf.join(DETAILS.wallets)
    assert 'on="wallet"' in caught.value.hint
    result = table.wf.join(DETAILS.wallets, on="b")
    assert result.address.item() == UPPER_C
    assert result.address_yours.item() == "Main Street"
    with pytest.raises(ColumnsError, match="'c'"):
        table.wf.join(DETAILS.wallets, on="c")


def test_common_columns_get_suffixes():
    """Those of the fetch keep their names, which the accessor needs."""
    frame = DETAILS.holdings
    result = joined(TABLE, frame, "inner", unmatched="3 of 5")
    assert result.symbol_yours.tolist() == ["a", "a", "c"]
    assert len(result.wf.totals(by="token")) == 2
    other = joined(TABLE, frame, "inner", suffixes=("", "_held"), unmatched="3 of 5")
    assert other.symbol_held.tolist() == ["ONE", "TWO", "SOL"]
    with pytest.raises(SettingsError, match="'symbol'"):
        TABLE.wf.join(frame, suffixes=("", ""))


def test_empty_frames_have_all_columns():
    """No rows on either side."""
    assert TABLE.head(0).wf.join(DETAILS.holdings).shape == (0, 11)
    result = joined(TABLE, DETAILS.holdings.head(0), unmatched="5 of 5 rows have no match")
    assert result.amount.isna().all()
    assert result.amount.dtype == wf.AmountDtype()


def test_other_arguments_are_refused():
    """A whole fetch is two frames; the table and the frame need their columns."""
    with pytest.raises(ArgumentError, match="WalletDetails"):
        TABLE.wf.join(DETAILS)
    with pytest.raises(ColumnsError, match="lacks 'address'"):
        TABLE.wf.join(DETAILS.wallets.drop(columns="address"))
    with pytest.raises(ColumnsError, match="lacks 'blockchain', 'address'"):
        TABLE[["owner"]].wf.join(DETAILS.wallets)
    with pytest.raises(SettingsError, match="how='cross' is not supported"):
        TABLE.wf.join(DETAILS.wallets, "cross")


def test_a_wallet_in_several_rows_is_stated():
    """Sums of balances would count it repeatedly; a join with the wallets adds up nothing."""
    table = TABLE.iloc[[0, 0, 2]]
    match = "^1 wallet is in several rows of your table, so sums"
    result = joined(table, DETAILS.holdings, unmatched=match)
    assert result.symbol.tolist() == ["ONE", "TWO", "ONE", "TWO", "SOL"]
    assert len(joined(table, DETAILS.wallets)) == 3
