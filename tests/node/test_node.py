"""Balances straight from a real node: exact, at one block, in few requests."""

import pandas as pd
import pytest
from anvil import MULTICALL3

import walletframe as wf
from walletframe.errors import AddressError, FetchWarning, MissingExtraError, SettingsError
from walletframe.node.balances import BALANCE_DTYPES
from walletframe.node.request import NodeOptions
from walletframe.service.ledger import CHAINS

ANN, BEN, CAT = (f"0x{digit * 40}" for digit in "abc")
WALLETS = [f"ETH.{owner}" for owner in (ANN, BEN, CAT)]
TOP = 2**256 - 1
ABSENT = "0x" + "9" * 40
NOWHERE = "http://127.0.0.1:1"


def partly_unknown(node, wallets, token=None, **options):
    """Request balances, some of which are unknown, and return the frame."""
    with pytest.warns(FetchWarning, match="not known"):
        return wf.token_balance(wallets, token, rpc_url=node.url, **options)


@pytest.mark.parametrize("decimals", [0, 6, 18, 24])
def test_balances_are_exact(chain, decimals):
    """They are equal to the last base unit, with any decimals."""
    token = chain.token([ANN, BEN], 10**24 + 1, decimals=decimals)
    frame = wf.token_balance(WALLETS, token.address, rpc_url=chain.url)
    raw = [10**24 + 1, 2 * (10**24 + 1), 0]
    assert frame.raw_amount.tolist() == [str(each) for each in raw]
    assert frame.amount.array.raw(decimals).tolist() == raw
    assert frame.decimals.tolist() == [decimals] * 3


def test_largest_amount_is_exact(chain):
    """All of uint256 fits."""
    token = chain.token([ANN], TOP, decimals=77)
    frame = wf.token_balance(WALLETS[0], token.address, rpc_url=chain.url)
    assert frame.raw_amount.item() == str(TOP)
    assert frame.amount.array.raw(77).tolist() == [TOP]


def test_native_coin_is_exact(chain):
    """To the last wei, with the blockchain's name of it."""
    chain.fund(ANN, 10**27 + 1)
    frame = wf.token_balance(WALLETS[:2], None, rpc_url=chain.url)
    assert frame.amount.astype("str").tolist() == ["1000000000.000000000000000001", "0"]
    assert frame.symbol.tolist() == ["ETH", "ETH"]
    assert frame.token_address.isna().all()


def test_columns_are_those_of_holdings_and_the_block(chain):
    """Each dtype is kept, for no wallet as for one."""
    token = chain.token([ANN], 5).address
    one = wf.token_balance(WALLETS[0], token, rpc_url=chain.url)
    for frame in (one, wf.token_balance([], token, rpc_url=NOWHERE)):
        assert dict(frame.dtypes) == BALANCE_DTYPES
    row = one.iloc[0]
    assert row.tolist()[:4] == ["ETH", ANN, "TKN", token]
    assert (row.token_blockchain, row.block, row.status) == ("ETH", chain.block, "ok")
    assert pd.isna(row.price)
    assert pd.isna(row.error)


def test_balances_at_an_old_block_and_the_latest(chain):
    """Before and after a transfer, each for all wallets."""
    token = chain.token([chain.rich], 100)
    before = chain.block
    after = token.send("transfer(address,uint256)", ANN, 30)
    wallets = [f"ETH.{chain.rich}", WALLETS[0]]
    for block, expected in ((before, [100, 0]), (after, [70, 30]), (None, [70, 30])):
        frame = wf.token_balance(wallets, token.address, rpc_url=chain.url, block=block)
        assert frame.raw_amount.astype("int").tolist() == expected
        assert frame.block.tolist() == [block or after] * 2


def test_contract_that_refuses_harms_one_wallet(chain):
    """The reason is one harmless line, the amount unknown, the others are complete."""
    picky = chain.deploy("Picky", BEN, kinds=["address"])
    frame = partly_unknown(chain, WALLETS, picky.address)
    assert frame.status.tolist() == ["ok", "reverted", "ok"]
    assert frame.raw_amount.isna().tolist() == [False, True, False]
    assert frame.amount.isna().tolist() == [False, True, False]
    assert "not of <b>this</b> one" in frame.error[1]
    assert frame.error[1].isprintable()


def test_symbol_of_bytes32_and_absurd_decimals(chain):
    """The symbol is read; without usable decimals base units alone are known."""
    ancient = chain.deploy("Ancient").address
    frame = wf.token_balance(WALLETS[:2], ancient, rpc_url=chain.url)
    assert frame.symbol.tolist() == ["MKR", "MKR"]
    assert frame.raw_amount.tolist() == ["5", "5"]
    assert frame.amount.isna().all()
    assert frame.decimals.isna().all()
    assert frame.status.tolist() == ["ok", "ok"]


def test_contract_without_a_symbol(chain):
    """The balance is known all the same."""
    frame = wf.token_balance(WALLETS[:2], chain.deploy("Bare").address, rpc_url=chain.url)
    assert frame.symbol.isna().all()
    assert frame.decimals.isna().all()
    assert frame.raw_amount.tolist() == ["5", "5"]


def test_empty_answer_is_not_zero(chain):
    """A silent contract and a missing one have an unknown balance."""
    for contract in (chain.deploy("Silent").address, ABSENT):
        frame = partly_unknown(chain, WALLETS[:2], contract)
        assert frame.status.tolist() == ["invalid", "invalid"]
        assert frame.raw_amount.isna().all()
        assert "is the contract a token" in frame.error[0]


def test_hostile_symbol_is_kept_as_sent(chain):
    """The column has the contract's text; a symbol of a megabyte is missing."""
    hostile = "<script>=1+1\x00\u202e$x$\n"
    token = chain.token(symbol=hostile).address
    assert wf.token_balance(WALLETS[0], token, rpc_url=chain.url).symbol.item() == hostile
    long = chain.token(symbol="x" * 1_001).address
    assert wf.token_balance(WALLETS[0], long, rpc_url=chain.url).symbol.isna().all()


THOUSAND = [f"0x{number:040x}" for number in range(0x1000, 0x1000 + 1_000)]


@pytest.mark.parametrize("coin", [True, False])
def test_thousand_wallets_take_few_round_trips(chain, relay, coin):
    """At most 20 requests, each balance its own."""
    token = None if coin else chain.token(THOUSAND, 3, decimals=0).address
    frame = wf.token_balance([f"ETH.{owner}" for owner in THOUSAND], token, rpc_url=relay.url)
    expected = [0] * 1_000 if coin else range(3, 3_003, 3)
    assert frame.raw_amount.tolist() == [str(each) for each in expected]
    assert len(relay.requests) <= 14
    assert frame.block.eq(frame.block[0]).all()


def test_thousand_refusals_take_few_round_trips(chain, relay):
    """At most 20 requests, even if one way is tried and then the other."""
    token = chain.deploy("Glutton").address
    frame = partly_unknown(relay, [f"ETH.{owner}" for owner in THOUSAND], token)
    assert frame.status.tolist() == ["reverted"] * 1_000
    assert len(relay.requests) <= 17


@pytest.mark.parametrize("name", ["Silent", "Picky", "Bare"])
def test_another_contract_at_the_address_of_multicall3(bare_chain, name):
    """Its answer is not trusted; the balances are requested one by one."""
    args, kinds = ([ANN], ["address"]) if name == "Picky" else ([], [])
    bare_chain.set_code(MULTICALL3, name, *args, kinds=kinds)
    token = bare_chain.token([ANN, BEN], 7).address
    frame = wf.token_balance(WALLETS, token, rpc_url=bare_chain.url)
    bare_chain.set_code(MULTICALL3)
    assert frame.raw_amount.tolist() == ["7", "14", "0"]


def test_each_wallet_is_requested_once(chain, relay):
    """Two spellings of one wallet are one row, in the first spelling."""
    spellings = [f"ETH.{ANN}", f"eth.{ANN.upper()}", {"blockchain": "ETH", "address": ANN}]
    frame = wf.token_balance(spellings, None, rpc_url=relay.url)
    assert frame.address.tolist() == [ANN]


def test_wallets_of_another_blockchain_are_not_requested(chain):
    """The chain id is checked for each wallet; the others are complete."""
    chain.fund(ANN, 5)
    frame = partly_unknown(chain, [f"BSC.{ANN}", f"eth.{ANN}"])
    assert frame.status.tolist() == ["other_chain", "ok"]
    assert frame.raw_amount.fillna("-").tolist() == ["-", "5"]
    assert frame.block.isna().tolist() == [True, False]
    assert frame.error[0] == "the node has chain id 1, but BSC has chain id 56"


def test_node_of_another_blockchain_gets_one_request(bare_chain, relay):
    """Its chain id is enough."""
    frame = partly_unknown(relay, [f"POLYGON.{ANN}", f"GNOSIS.{ANN}"])
    assert frame.status.tolist() == ["other_chain"] * 2
    assert len(relay.requests) == 1


def test_blockchains_can_be_named(chain):
    """Any identifier, with its chain id, in any case; it also replaces a known one."""
    ids = {"Home": 1, "eth": 5}
    frame = partly_unknown(chain, [f"HOME.{ANN}", f"ETH.{ANN}"], chain_ids=ids)
    assert frame.status.tolist() == ["ok", "other_chain"]
    assert frame.symbol.isna().tolist() == [True, True]


def test_blockchains_of_the_sandbox_are_known():
    """Each that has contracts with hex addresses, and its coin by the same name."""
    names = {name: chain.coin.symbol for name, chain in CHAINS.items() if chain.form == "hex"}
    assert {name: NodeOptions(None, None, 30).coins[name] for name in names} == names


def test_unknown_blockchains_are_named_first():
    """Before any request, with a hint."""
    wallets = [f"HOME.{ANN}", f"ETH.{ANN}", f"AWAY.{ANN}"]
    with pytest.raises(SettingsError, match=r"'AWAY', 'HOME'(?s:.)*chain_ids="):
        wf.token_balance(wallets, None, rpc_url=NOWHERE)


def test_block_that_is_not_there_yet(chain):
    """The future has no balances."""
    frame = partly_unknown(chain, WALLETS, block=10**6)
    assert frame.status.tolist() == ["no_block"] * 3
    assert frame.amount.isna().all()
    assert "1000000" in frame.error[0]


def test_unreadable_wallets_are_reported_together():
    """Each with its position, those of other kinds of blockchains among them."""
    with pytest.raises(AddressError, match="EVM") as caught:
        wf.token_balance([f"ETH.{ANN}", "NEAR.alice.near", "ETH.0x12"], None, rpc_url=NOWHERE)
    assert [place for place, _, _ in caught.value.problems] == [1, 2]


@pytest.mark.parametrize(
    "token,options,named",
    [
        ("USDC", {}, r"token is not an EVM address \(0x and 40 hex digits\): 'USDC'"),
        (5, {}, r"token is not an EVM address \(0x and 40 hex digits\): '5'"),
        (None, {"block": -1}, "block is not valid: -1"),
        (None, {"block": True}, "block is not valid: True"),
        (None, {"block": 2**63}, "block is not valid: 9223372036854775808"),
        (None, {"timeout_s": 0}, "timeout_s is not valid: 0"),
        (None, {"timeout_s": "5"}, "timeout_s is not valid: '5'"),
        (
            None,
            {"chain_ids": {"X": "1", "Y": 0}},
            r"chain_ids has invalid values: 'X': '1', 'Y': 0",
        ),
    ],
)
def test_unusable_options_are_refused(token, options, named):
    """Each is named, before any request."""
    with pytest.raises(SettingsError, match=named):
        wf.token_balance(WALLETS, token, rpc_url=NOWHERE, **options)


def test_missing_extra_is_named(monkeypatch):
    """The error has the command that installs it."""
    monkeypatch.setitem(__import__("sys").modules, "eth_abi", None)
    with pytest.raises(MissingExtraError, match=r"walletframe\[node\]"):
        wf.token_balance(WALLETS, None, rpc_url=NOWHERE)
