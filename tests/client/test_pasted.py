"""Wallets as people paste them, and messages about unreadable ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from walletframe.address.lists import read_pasted


def names(text):
    """Return the wallets as text."""
    return [str(wallet) for wallet in read_pasted(text).wallets]


@pytest.mark.parametrize(
    "text",
    [
        "ETH.0x1\nNEAR.alice.near",
        "  ETH.0x1  \r\n\r\n NEAR.alice.near # a friend\n# nobody",
        "ETH.0x1, NEAR.alice.near",
        "ETH.0x1; NEAR.alice.near;",
        "[\"ETH.0x1\", 'NEAR.alice.near']",
        "ETH\t0x1\nNEAR\talice.near",
        "ETH,0x1\nNEAR,alice.near",
        "(ETH 0x1)\n`NEAR.alice.near`",
        "ETH.0x1|NEAR.alice.near",
        "| blockchain | address |\n|---|:--|\n| ETH | 0x1 |\n| NEAR | alice.near |",
        "blockchain,address\nETH,0x1\nNEAR,alice.near",
        "Address\nETH.0x1\nNEAR.alice.near",
        "blockChain;walletAddress\nETH;0x1\nNEAR;alice.near",
        "walletAddress\nETH.0x1\nNEAR.alice.near",
        "- ETH.0x1\n• NEAR.alice.near",
        "1. ETH.0x1\n(2) NEAR alice.near",
        "1.ETH.0x1\n2)NEAR.alice.near",
        "ETH: 0x1\nNEAR - alice.near",
    ],
)
def test_common_forms(text):
    """Lines, lists in one line, Python lists and two columns are read alike."""
    assert names(text) == ["ETH.0x1", "NEAR.alice.near"]
    assert read_pasted(text).problems == []


def test_each_bad_line_has_its_number_and_reason():
    """Good lines are read; bad ones are reported, and returned for correction."""
    result = read_pasted("ETH.0x1\nnonsense\n\nETH.0x2…9\nBSC.0x3")
    assert [str(wallet) for wallet in result.wallets] == ["ETH.0x1", "BSC.0x3"]
    assert [(line, text) for line, text, _ in result.problems] == [
        (2, "nonsense"),
        (4, "ETH.0x2…9"),
    ]
    assert "shortened" in result.problems[1][2]
    assert result.unreadable_lines == "nonsense\nETH.0x2…9"


def test_a_line_is_read_as_a_whole_or_not_at_all():
    """A corrected line counts once."""
    result = read_pasted("ETH.0x1, nonsense, ETH.0x2")
    assert (result.wallets, result.unreadable_lines) == ([], "ETH.0x1, nonsense, ETH.0x2")


@pytest.mark.parametrize("text", ["nonsense ETH.0x1", "0x12 ETH.0x1"])
def test_text_beside_a_wallet_is_no_blockchain(text):
    """A complete wallet is not read as the address of the text before it."""
    [(_, piece, _)] = read_pasted(text).problems
    assert piece == text.split()[0]


def test_two_words_are_no_wallet():
    """Words between wallets are reported, not requested."""
    assert [text for _, text, _ in read_pasted("my wallets:\nETH.0x1").problems] == [
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
    "text", ["Alice: 0x1", "ETH:0x1", "NEAR:alice.near", "bitcoincash:qz1", "ETH.0x1 … ETH.0x9"]
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
