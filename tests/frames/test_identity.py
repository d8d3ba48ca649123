"""Identity of tokens and wallets, and how a caller names them."""

import ast
import pickle

import numpy as np
import pandas as pd
import pytest

from walletframe.errors import (
    AddressError,
    AmbiguousTokenError,
    ColumnsError,
    UnknownTokenError,
    UnknownWalletError,
)
from walletframe.frames.identity import encode_tokens, encode_wallets, token_key
from walletframe.frames.names import mask_of_token, mask_of_wallet, tokens_by_shared_symbol
from walletframe.pandas_versions import TEXT

HOLDINGS = pd.DataFrame(
    {
        "blockchain": ["ETH", "eth", "SOLANA", "SOLANA", "BSC"],
        "address": ["0xAB", "0xab", "9xQe", "9xqE", "0xAB"],
        "symbol": ["USDC", "USDC", "SOL", "USDC", "BNB"],
        "token_blockchain": ["ETH", "eth", "SOLANA", "SOLANA", "BSC"],
        "token_address": ["0xA0b8", "0XA0B8", None, "EPjF", None],
    },
    index=list("vwxyz"),
)


def test_tokens_are_identified_by_contract_and_blockchain():
    """Hex and identifiers ignore case; a native coin has no contract."""
    result = encode_tokens(HOLDINGS)
    assert result.keys == [("ETH", "0xa0b8"), ("SOLANA", None), ("SOLANA", "EPjF"), ("BSC", None)]
    assert result.codes.tolist() == [0, 0, 1, 2, 3]
    assert result.first.tolist() == [0, 2, 3, 4]


def test_wallets_are_identified_by_address_and_blockchain():
    """Base58 keeps its case; one address on two blockchains is two wallets."""
    result = encode_wallets(HOLDINGS)
    assert result.codes.tolist() == [0, 0, 1, 2, 3]
    assert result.keys[0] == ("ETH", "0xab")


@pytest.mark.parametrize("dtype", [TEXT, "object", "category", "string"], ids=str)
def test_identities_do_not_depend_on_text_dtypes(dtype):
    """A frame read from a file has other dtypes, and the same tokens."""
    stored = HOLDINGS.astype({"token_blockchain": dtype, "token_address": dtype})
    assert encode_tokens(stored).codes.tolist() == [0, 0, 1, 2, 3]
    assert encode_tokens(stored).keys == encode_tokens(HOLDINGS).keys


@pytest.mark.parametrize("dtype", [TEXT, "object"], ids=str)
def test_text_does_not_end_at_a_nul(dtype):
    """Two tokens, or two symbols, stay distinct."""
    texts = pd.Series(["0xab", "0xab\0", "0xab\0c", "0xab"]).astype(dtype)
    frame = pd.DataFrame({"token_blockchain": "ETH", "token_address": texts, "symbol": texts})
    tokens = encode_tokens(frame)
    assert tokens.codes.tolist() == [0, 1, 2, 0]
    assert {*tokens_by_shared_symbol(frame, tokens)} == set()


def test_no_rows_have_no_identities():
    """An empty frame is no special case."""
    result = encode_tokens(HOLDINGS.iloc[:0])
    assert (len(result.codes), result.keys, len(result.first)) == (0, [], 0)


def test_a_row_without_a_blockchain_is_a_token_of_its_own():
    """Each row without an identifier differs from all others."""
    frame = HOLDINGS.assign(token_blockchain=["ETH", None, "SOLANA", np.nan, "BSC"])
    keys = encode_tokens(frame).keys
    assert [key[0] for key in keys] == ["ETH", "", "SOLANA", "", "BSC"]
    assert len(set(keys)) == 5


@pytest.mark.parametrize(
    "token,rows",
    [
        ("SOL", "x"),
        (("ETH", "0xA0B8"), "vw"),
        (("eth", "0xa0b8"), "vw"),
        (("solana", None), "x"),
        (("SOLANA", "EPjF"), "y"),
    ],
)
def test_a_token_is_found_by_pair_or_by_its_own_symbol(token, rows):
    """Both forms of a token select its rows."""
    assert HOLDINGS.index[mask_of_token(HOLDINGS, token)].tolist() == list(rows)


@pytest.mark.parametrize("missing", [None, "", float("nan"), pd.NA, pd.NaT])
def test_a_pair_taken_from_a_frame_names_its_token(missing):
    """With any missing value as the contract, the pair is the native coin."""
    assert token_key(("solana", missing)) == ("SOLANA", None)
    assert token_key((missing, "0xAB")) == ("", "0xab")
    assert mask_of_token(HOLDINGS, ("SOLANA", missing)).tolist() == [
        False,
        False,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    "token", [None, 5, ("ETH",), ("ETH", "0x1", "0x2"), ("ETH", 5), ["ETH", []]]
)
def test_other_tokens_are_refused(token):
    """The hint explains the forms of a token."""
    with pytest.raises(UnknownTokenError, match=r"Hint: pass a token as \(blockchain, contract\)"):
        mask_of_token(HOLDINGS, token)


def test_a_shared_symbol_names_the_contracts():
    """The error for a symbol lists its contracts."""
    with pytest.raises(AmbiguousTokenError, match="0xa0b8") as caught:
        mask_of_token(HOLDINGS, "USDC")
    assert caught.value.contracts == {"USDC": [("ETH", "0xa0b8"), ("SOLANA", "EPjF")]}


def test_a_shared_symbol_names_the_known_contract_first_and_marks_bridged():
    """The hint can be pasted; another project's namesake is marked."""
    usdc = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
    bridged, other = "0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174", "0xab"
    frame = pd.DataFrame(
        {
            "symbol": "USDC",
            "token_blockchain": ["ETH", "POLYGON", "ETH"],
            "token_address": [other, bridged, usdc],
        }
    )
    with pytest.raises(AmbiguousTokenError) as caught:
        mask_of_token(frame, "USDC")
    real = ("ETH", usdc.lower())
    assert [key for key, _ in caught.value.contracts["USDC"]] == ["ETH", "POLYGON", "ETH"]
    assert caught.value.contracts["USDC"][0] == real
    message = str(caught.value)
    assert f"{real}: known: the USDC of its issuer" in message
    assert f"('POLYGON', '{bridged.lower()}'): known: bridged USDC" in message
    assert "('ETH', '0xab'): not on walletframe's list: may be an imitation" in message
    assert message.endswith(f"such as token={real}")
    pasted = caught.value.hint.partition("token=")[2]
    assert mask_of_token(frame, ast.literal_eval(pasted)).tolist() == [False, False, True]


def test_a_bridged_version_comes_after_all_contracts_of_the_issuer():
    """The packaged list has BSC before ARBITRUM."""
    keys = [
        ("BSC", "0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d"),
        ("ARBITRUM", "0xaf88d065e77c8cc2239327c5edb3a432268e5831"),
    ]
    frame = pd.DataFrame(keys, columns=["token_blockchain", "token_address"]).assign(symbol="USDC")
    with pytest.raises(AmbiguousTokenError) as caught:
        mask_of_token(frame, "USDC")
    assert caught.value.contracts["USDC"] == keys[::-1]


def test_many_contracts_are_shortened_in_the_message_alone():
    """Ten of a symbol are shown; all are in the data."""
    frame = pd.DataFrame(
        {
            "symbol": "ETH",
            "token_blockchain": "ETH",
            "token_address": [*(f"0x{n:02}" for n in range(20)), None],
        }
    )
    with pytest.raises(AmbiguousTokenError, match=r"and 11 more \(see .contracts\)") as caught:
        mask_of_token(frame, "ETH")
    assert len(caught.value.contracts["ETH"]) == 21
    assert "('ETH', None): the native coin" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).contracts == caught.value.contracts


@pytest.mark.parametrize("token", ["usdc", ("ETH", "0x1"), ("SOLANA", "epjf"), ("ETH", None)])
def test_an_unheld_token_is_refused(token):
    """An unknown token is an error, not an empty result."""
    with pytest.raises(UnknownTokenError, match="no row has the token"):
        mask_of_token(HOLDINGS, token)


@pytest.mark.parametrize("wallet,rows", [("ETH.0xaB", "vw"), (("SOLANA", "9xqE"), "y")])
def test_a_wallet_is_found_by_text_or_pair(wallet, rows):
    """Both forms of a wallet select its rows."""
    assert HOLDINGS.index[mask_of_wallet(HOLDINGS, wallet)].tolist() == list(rows)


def test_an_unknown_wallet_is_refused():
    """An unknown wallet and an unreadable one have different errors."""
    with pytest.raises(UnknownWalletError, match=r"NEAR\.alice"):
        mask_of_wallet(HOLDINGS, "NEAR.alice")
    with pytest.raises(AddressError):
        mask_of_wallet(HOLDINGS, "0xAB")


def test_missing_columns_are_named():
    """All of them, together."""
    with pytest.raises(ColumnsError, match=r"'token_blockchain', 'token_address'"):
        mask_of_token(HOLDINGS[["symbol"]], "USDC")


def test_a_known_token_of_another_project_is_marked():
    """A coin is marked as the coin itself."""
    listed, own = ("ARBITRUM", "0xD74f5255D557944cf7Dd0E45FF521520002D5748"), ("ARBITRUM", None)
    frame = pd.DataFrame([listed, own], columns=["token_blockchain", "token_address"])
    with pytest.raises(AmbiguousTokenError) as caught:
        mask_of_token(frame.assign(symbol="USDS"), "USDS")
    note = "known: Sperax USD; another project uses this symbol too"
    assert f"('ARBITRUM', '{listed[1].lower()}'): {note}" in str(caught.value)
    assert f"{own}: the native coin" in str(caught.value)
