"""The node as the reference of the service: the sandbox serves balances of a real chain."""

import pandas as pd
import pytest

import walletframe as wf
from walletframe.errors import ColumnsError, FetchWarning
from walletframe.node.balances import AGREEMENT_DTYPES
from walletframe.service import sandbox

# Some balances of these ledgers have no decimals.
pytestmark = pytest.mark.filterwarnings(
    "ignore:[0-9]+ of [0-9]+ balances:walletframe.errors.AnswerWarning"
)

OWNERS = [f"0x{number:040x}" for number in range(0x3000, 0x3004)]
WALLETS = [f"ETH.{owner}" for owner in OWNERS]
TOP = 2**256 - 1


@pytest.fixture
def ledger(chain):
    """Return four wallets' holdings of the native coin and of three tokens, read from the chain."""
    for place, owner in enumerate(OWNERS):
        chain.fund(owner, 10**18 + place)
    tokens = [
        chain.token(OWNERS[:3], 10**6, symbol="USDC", decimals=6).address,
        chain.token(OWNERS[:1], TOP, symbol="USDC", decimals=0).address,
        chain.deploy("Ancient").address,
    ]
    return pd.concat(
        [wf.token_balance(WALLETS, token, rpc_url=chain.url) for token in [None, *tokens]],
        ignore_index=True,
    )


def served(ledger):
    """Return the service's holdings of a ledger."""
    with sandbox(ledger=ledger) as service, service.client(cache=False) as client:
        wallets = ledger[["blockchain", "address"]]
        return client.fetch(wallets.drop_duplicates(), progress=False).holdings


def changed(ledger, changes):
    """Return a ledger with other base units in some rows."""
    raw = [str(int(value) + changes.get(row, 0)) for row, value in ledger.raw_amount.items()]
    return ledger.assign(raw_amount=raw)


def test_honest_service_agrees(chain, ledger):
    """Every balance is equal to the last base unit, at a block."""
    holdings = served(ledger)
    frame = wf.crosscheck(holdings, rpc_url=chain.url)
    assert len(frame) == 16
    assert frame.status.tolist() == ["agree"] * 16
    assert frame.node_raw_amount.tolist() == holdings.raw_amount.tolist()
    assert frame.difference.tolist() == [0] * 16
    assert frame.block.tolist() == [chain.block] * 16


def test_exactly_the_differences_are_found(chain, ledger):
    """In base units, for balances of any size."""
    changes = {0: 1, 3: -1, 5: 10**6, 8: -1, 9: 7, 15: 10**70}
    holdings = served(changed(ledger, changes))
    frame = wf.crosscheck(holdings, rpc_url=chain.url)
    token = ledger.token_address.fillna("")
    expected = {
        (ledger.address[row], token[row]): difference for row, difference in changes.items()
    }
    differ = frame[frame.status == "differ"]
    keys = zip(differ.address, differ.token_address.fillna(""), strict=True)
    assert dict(zip(keys, differ.difference.array.raw(0), strict=True)) == expected
    assert (frame.status != "differ").sum() == (frame.status == "agree").sum()


def test_index_and_order_are_those_of_the_holdings(chain, ledger):
    """A comparison can be joined; repeated rows are requested once."""
    holdings = pd.concat([served(ledger).tail(2)] * 2).set_index(pd.Index(list("wxyz")))
    frame = wf.crosscheck(holdings, rpc_url=chain.url)
    assert dict(frame.dtypes) == AGREEMENT_DTYPES
    assert frame.index.tolist() == list("wxyz")
    assert frame.address.tolist() == holdings.address.tolist()


def test_block_of_the_past_can_be_compared(chain, ledger):
    """Later transfers are differences at the latest block alone."""
    holdings, before = served(ledger), chain.block
    chain.call("anvil_mine", "0x1")
    chain.fund(OWNERS[0], 5)
    then = wf.crosscheck(holdings, rpc_url=chain.url, block=before)
    now = wf.crosscheck(holdings, rpc_url=chain.url)
    assert (then.status == "agree").all()
    assert now.status.tolist().count("differ") == 1
    assert (now.block > then.block).all()


def row(**cells):
    """Return a row of holdings."""
    own = {"blockchain": "ETH", "address": OWNERS[0], "symbol": "ETH", "token_address": None}
    return own | {"raw_amount": "5", "token_blockchain": "ETH"} | cells


@pytest.mark.parametrize(
    "cells,reason",
    [
        (
            {"blockchain": "BSC", "token_blockchain": "BSC"},
            "the node has chain id 1, but BSC has chain id",
        ),
        ({"blockchain": "NEAR", "token_blockchain": "NEAR"}, "no chain id is known for NEAR"),
        ({"token_blockchain": "BSC"}, "the token and the wallet are on different blockchains"),
        ({"token_blockchain": None, "token_address": None}, "the token is unknown"),
        ({"address": "alice.near"}, "the wallet or the token does not have an EVM address"),
        ({"token_address": ""}, "the wallet or the token does not have an EVM address"),
        ({"token_address": "0x12"}, "the wallet or the token does not have an EVM address"),
        ({"raw_amount": None}, "raw_amount is not a number"),
        ({"raw_amount": "-5"}, "raw_amount is not a number"),
        ({"raw_amount": "9" * 5_000}, "raw_amount is not a number"),
        ({"token_address": "0x" + "9" * 40}, "is the contract a token"),
    ],
)
def test_incomparable_rows_are_unknown(bare_chain, cells, reason):
    """They have the reason, are neither agreed nor differing, and the others are compared."""
    bare_chain.fund(OWNERS[0], 5)
    holdings = pd.DataFrame([row(**cells), row()])
    with pytest.warns(FetchWarning, match="1 of 2 balances is not known"):
        frame = wf.crosscheck(holdings, rpc_url=bare_chain.url)
    assert frame.status.tolist() == ["unknown", "agree"]
    assert reason in frame.error[0]
    assert frame.difference.isna().tolist() == [True, False]


def test_contract_that_burns_all_gas_harms_no_other(chain):
    """The calls after it are known, with any rest of gas."""
    glutton, heavy = chain.deploy("Glutton").address, chain.deploy("Heavy").address
    for count in range(1, 9):
        greedy = [row(address=f"0x{owner:040x}", token_address=glutton) for owner in range(count)]
        holdings = pd.DataFrame([*greedy, row(token_address=heavy)])
        with pytest.warns(FetchWarning, match=f"{count} of {count + 1}"):
            frame = wf.crosscheck(holdings, rpc_url=chain.url)
        assert frame.status.tolist() == ["unknown"] * count + ["agree"]


def test_node_that_is_down_makes_all_unknown():
    """Every row is unknown."""
    with pytest.warns(FetchWarning, match="could not be reached"):
        frame = wf.crosscheck(pd.DataFrame([row()] * 2), rpc_url="http://127.0.0.1:1")
    assert frame.status.tolist() == ["unknown"] * 2


def test_missing_columns_are_named():
    """With any other columns."""
    with pytest.raises(ColumnsError, match="'raw_amount'"):
        wf.crosscheck(pd.DataFrame([row()]).drop(columns="raw_amount"), rpc_url="http://[::1]:1")


def test_many_balances_take_few_requests(chain, relay):
    """Tokens and coins of all wallets are sent together."""
    owners = [f"0x{number:040x}" for number in range(0x4000, 0x4000 + 300)]
    token = chain.token(owners, 2).address
    rows = [row(address=owner, raw_amount="0") for owner in owners]
    rows += [
        row(address=owner, token_address=token, raw_amount=str(2 * place))
        for place, owner in enumerate(owners, 1)
    ]
    frame = wf.crosscheck(pd.DataFrame(rows), rpc_url=relay.url)
    assert (frame.status == "agree").all()
    assert len(relay.requests) <= 10
