"""When two rows are of one token or wallet, and how a caller names either."""

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
from walletframe.frames.identity import token_identities, token_key, wallet_identities
from walletframe.frames.names import find_token, find_wallet, shared_symbols
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


def test_tokens_are_told_by_contract_and_blockchain():
    """Hex and identifiers without case; a native coin is the one without a contract."""
    found = token_identities(HOLDINGS)
    assert found.keys == [("ETH", "0xa0b8"), ("SOLANA", None), ("SOLANA", "EPjF"), ("BSC", None)]
    assert found.codes.tolist() == [0, 0, 1, 2, 3]
    assert found.first.tolist() == [0, 2, 3, 4]


def test_wallets_are_told_by_address_and_blockchain():
    """Base58 keeps its case; one address on two blockchains is two wallets."""
    found = wallet_identities(HOLDINGS)
    assert found.codes.tolist() == [0, 0, 1, 2, 3]
    assert found.keys[0] == ("ETH", "0xab")


@pytest.mark.parametrize("dtype", [TEXT, "object", "category", "string"], ids=str)
def test_identities_do_not_depend_on_how_text_is_stored(dtype):
    """A frame read back from a file has other dtypes, and the same tokens."""
    stored = HOLDINGS.astype({"token_blockchain": dtype, "token_address": dtype})
    assert token_identities(stored).codes.tolist() == [0, 0, 1, 2, 3]
    assert token_identities(stored).keys == token_identities(HOLDINGS).keys


@pytest.mark.parametrize("dtype", [TEXT, "object"], ids=str)
def test_text_does_not_end_at_a_nul(dtype):
    """A stranger can't make one token, or one symbol, of two."""
    texts = pd.Series(["0xab", "0xab\0", "0xab\0c", "0xab"]).astype(dtype)
    frame = pd.DataFrame({"token_blockchain": "ETH", "token_address": texts, "symbol": texts})
    tokens = token_identities(frame)
    assert tokens.codes.tolist() == [0, 1, 2, 0]
    assert {*shared_symbols(frame, tokens)} == set()


def test_no_rows_have_no_identities():
    """An empty frame is no special case."""
    found = token_identities(HOLDINGS.iloc[:0])
    assert (len(found.codes), found.keys, len(found.first)) == (0, [], 0)


def test_a_row_without_a_blockchain_is_told_apart():
    """Each row without an identifier is of a token of its own, the same as no other."""
    frame = HOLDINGS.assign(token_blockchain=["ETH", None, "SOLANA", np.nan, "BSC"])
    keys = token_identities(frame).keys
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
    """Both forms of naming a token give its rows."""
    assert HOLDINGS.index[find_token(HOLDINGS, token)].tolist() == list(rows)


@pytest.mark.parametrize("missing", [None, "", float("nan"), pd.NA, pd.NaT])
def test_a_pair_taken_from_a_frame_names_its_token(missing):
    """Whatever a frame has in place of a contract, the pair is that of the native coin."""
    assert token_key(("solana", missing)) == ("SOLANA", None)
    assert token_key((missing, "0xAB")) == ("", "0xab")
    assert find_token(HOLDINGS, ("SOLANA", missing)).tolist() == [False, False, True, False, False]


@pytest.mark.parametrize(
    "token", [None, 5, ("ETH",), ("ETH", "0x1", "0x2"), ("ETH", 5), ["ETH", []]]
)
def test_what_is_no_pair_is_an_error_of_its_own(token):
    """The error says what a token is."""
    with pytest.raises(UnknownTokenError, match=r"Hint: a token is \(blockchain, contract\)"):
        find_token(HOLDINGS, token)


def test_a_shared_symbol_names_the_contracts():
    """Who gives a symbol is told which contracts bear it."""
    with pytest.raises(AmbiguousTokenError, match="0xa0b8") as caught:
        find_token(HOLDINGS, "USDC")
    assert caught.value.contracts == {"USDC": [("ETH", "0xa0b8"), ("SOLANA", "EPjF")]}


def test_a_shared_symbol_names_the_known_contract_first_and_marks_twins():
    """The hint gives what is to be pasted; another project of the same name is told as one."""
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
        find_token(frame, "USDC")
    real = ("ETH", usdc.lower())
    assert [key for key, _ in caught.value.contracts["USDC"]] == ["ETH", "POLYGON", "ETH"]
    assert caught.value.contracts["USDC"][0] == real
    told = str(caught.value)
    assert f"{real}: known: the USDC of its issuer" in told
    assert f"('POLYGON', '{bridged.lower()}'): known: bridged USDC" in told
    assert "('ETH', '0xab'): not on the packaged list: may be an imitation" in told
    assert told.endswith(f"such as token={real}")
    pasted = caught.value.hint.partition("token=")[2]
    assert find_token(frame, ast.literal_eval(pasted)).tolist() == [False, False, True]


def test_many_twins_are_cut_in_the_message_alone():
    """Ten of a symbol are shown; all are in the data."""
    frame = pd.DataFrame(
        {
            "symbol": "ETH",
            "token_blockchain": "ETH",
            "token_address": [*(f"0x{n:02}" for n in range(20)), None],
        }
    )
    with pytest.raises(AmbiguousTokenError, match=r"and 11 more \(see .contracts\)") as caught:
        find_token(frame, "ETH")
    assert len(caught.value.contracts["ETH"]) == 21
    assert "('ETH', None): the coin itself" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).contracts == caught.value.contracts


@pytest.mark.parametrize("token", ["usdc", ("ETH", "0x1"), ("SOLANA", "epjf"), ("ETH", None)])
def test_a_token_that_nobody_holds(token):
    """An unknown token is an error, not an empty answer."""
    with pytest.raises(UnknownTokenError, match="no row has the token"):
        find_token(HOLDINGS, token)


@pytest.mark.parametrize("wallet,rows", [("ETH.0xaB", "vw"), (("SOLANA", "9xqE"), "y")])
def test_a_wallet_is_found_by_text_or_pair(wallet, rows):
    """Both forms of naming a wallet give its rows."""
    assert HOLDINGS.index[find_wallet(HOLDINGS, wallet)].tolist() == list(rows)


def test_a_wallet_that_is_not_there():
    """An unknown wallet and one that can't be read are errors of their own."""
    with pytest.raises(UnknownWalletError, match=r"NEAR\.alice"):
        find_wallet(HOLDINGS, "NEAR.alice")
    with pytest.raises(AddressError):
        find_wallet(HOLDINGS, "0xAB")


def test_missing_columns_are_named():
    """All of them, at once."""
    with pytest.raises(ColumnsError, match=r"'token_blockchain', 'token_address'"):
        find_token(HOLDINGS[["symbol"]], "USDC")


def test_a_known_token_of_another_project_is_told_as_one():
    """And a coin as the coin itself."""
    listed, own = ("ARBITRUM", "0xD74f5255D557944cf7Dd0E45FF521520002D5748"), ("ARBITRUM", None)
    frame = pd.DataFrame([listed, own], columns=["token_blockchain", "token_address"])
    with pytest.raises(AmbiguousTokenError) as caught:
        find_token(frame.assign(symbol="USDS"), "USDS")
    assert f"('ARBITRUM', '{listed[1].lower()}'): known: Sperax USD, another project" in str(
        caught.value
    )
    assert f"{own}: the coin itself" in str(caught.value)
