"""Wallets as people paste them, and messages about unreadable ones."""

import pytest
from addresses import NINE, ONE, THREE, TWO
from hypothesis import given
from hypothesis import strategies as st

from walletframe.address.lists import read_pasted


def names(text):
    """Return the wallets as text."""
    return [str(wallet) for wallet in read_pasted(text).wallets]


@pytest.mark.parametrize(
    "text",
    [
        f"ETH.{ONE}\nNEAR.alice.near",
        f"  ETH.{ONE}  \r\n\r\n NEAR.alice.near # a friend\n# nobody",
        f"ETH.{ONE}, NEAR.alice.near",
        f"ETH.{ONE}; NEAR.alice.near;",
        f"[\"ETH.{ONE}\", 'NEAR.alice.near']",
        f"ETH\t{ONE}\nNEAR\talice.near",
        f"ETH,{ONE}\nNEAR,alice.near",
        f"(ETH {ONE})\n`NEAR.alice.near`",
        f"ETH.{ONE}|NEAR.alice.near",
        f"| blockchain | address |\n|---|:--|\n| ETH | {ONE} |\n| NEAR | alice.near |",
        f"blockchain,address\nETH,{ONE}\nNEAR,alice.near",
        f"Address\nETH.{ONE}\nNEAR.alice.near",
        f"blockChain;walletAddress\nETH;{ONE}\nNEAR;alice.near",
        f"walletAddress\nETH.{ONE}\nNEAR.alice.near",
        f"- ETH.{ONE}\n• NEAR.alice.near",
        f"1. ETH.{ONE}\n(2) NEAR alice.near",
        f"1.ETH.{ONE}\n2)NEAR.alice.near",
        f"ETH: {ONE}\nNEAR - alice.near",
    ],
)
def test_common_forms(text):
    """Lines, lists in one line, Python lists and two columns are read alike."""
    assert names(text) == [f"ETH.{ONE}", "NEAR.alice.near"]
    assert read_pasted(text).problems == []


def test_each_bad_line_has_its_number_and_reason():
    """Good lines are read; bad ones are reported, and returned for correction."""
    result = read_pasted(f"ETH.{ONE}\nnonsense\n\nETH.0x2…9\nBSC.{THREE}")
    assert [str(wallet) for wallet in result.wallets] == [f"ETH.{ONE}", f"BSC.{THREE}"]
    assert [(line, text) for line, text, _ in result.problems] == [
        (2, "nonsense"),
        (4, "ETH.0x2…9"),
    ]
    assert "shortened" in result.problems[1][2]
    assert result.unreadable_lines == "nonsense\nETH.0x2…9"


def test_a_line_is_read_as_a_whole_or_not_at_all():
    """A corrected line counts once."""
    result = read_pasted(f"ETH.{ONE}, nonsense, ETH.{TWO}")
    assert (result.wallets, result.unreadable_lines) == ([], f"ETH.{ONE}, nonsense, ETH.{TWO}")


@pytest.mark.parametrize("text", [f"nonsense ETH.{ONE}", f"0x12 ETH.{ONE}"])
def test_text_beside_a_wallet_is_no_blockchain(text):
    """A complete wallet is not read as the address of the text before it."""
    [(_, piece, _)] = read_pasted(text).problems
    assert piece == text.split()[0]


def test_two_words_are_no_wallet():
    """Words between wallets are reported, not requested."""
    assert [text for _, text, _ in read_pasted(f"my wallets:\nETH.{ONE}").problems] == [
        "my",
        "wallets:",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "https://etherscan.io/address/0x1",
        "etherscan.io/address/0x1",
        "ETH https://etherscan.io/address/0x1",
        "<https://etherscan.io/address/0x1|etherscan.io/address/0x1>",
    ],
)
def test_links_are_no_wallets(text):
    """The page of an explorer does not name the identifier: a link is refused as one."""
    result = read_pasted(text)
    assert result.wallets == []
    assert all(reason.startswith("this is a link") for _, _, reason in result.problems)


@pytest.mark.parametrize(
    "text",
    ["Alice: 0x1", "ETH:0x1", "NEAR:alice.near", "bitcoincash:qz1", f"ETH.{ONE} … ETH.{NINE}"],
)
def test_ambiguous_text_is_refused(text):
    """Names, prefixes of an address, and omissions are reported, not guessed."""
    result = read_pasted(text)
    assert (result.wallets, result.unreadable_lines) == ([], text)


def test_addresses_keep_their_marks():
    """Slashes, plus signs and colons behind the first dot belong to the address."""
    assert names("TON.EQDa/x+ BCH.bitcoincash:qz") == ["TON.EQDa/x+", "BCH.bitcoincash:qz"]


def test_nothing():
    """Blank text holds no wallet and no problem."""
    assert (names(" \n# only a comment\n"), read_pasted("").problems) == ([], [])


@given(st.text())
def test_any_text_is_read_or_explained(text):
    """Nothing raises, and every problem names an existing line."""
    result = read_pasted(text)
    assert all(1 <= line <= len(text.splitlines()) for line, _, _ in result.problems)
    assert len(result.unreadable_lines.splitlines()) == len(
        {line for line, _, _ in result.problems}
    )
