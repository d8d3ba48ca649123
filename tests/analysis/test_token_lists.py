"""Callers' token lists: files in Uniswap's format, frames, pairs."""

import json

import pandas as pd
import pytest

from walletframe.analysis import read_token_list
from walletframe.analysis.spam.flags import flag_spam
from walletframe.analysis.token_lists import parse_tokens
from walletframe.errors import ColumnsError, TokenListError
from walletframe.pandas_versions import TEXT

DAI = "0x6B175474E89094C44Da98b954EedeAC495271d0F"


def entry(**changes):
    """Return an entry in the format."""
    return {"chainId": 1, "address": DAI, "symbol": "DAI", "decimals": 18, "name": "Dai"} | changes


def test_a_file_is_read(tmp_path):
    """Tokens have one row each, in order, with the service's own identifiers."""
    path = tmp_path / "mine.tokenlist.json"
    path.write_text(json.dumps({"name": "Mine", "tokens": [entry(), entry(chainId=137)]}))
    frame = read_token_list(path)
    assert frame["token_blockchain"].tolist() == ["ETH", "POLYGON"]
    assert frame.dtypes.tolist() == [TEXT] * 3
    assert frame.equals(read_token_list(str(path)))


def test_unknown_chains_keep_their_number():
    """They are kept; a caller can name a chain."""
    whole = {"tokens": [entry(chainId=77777777), entry()]}
    assert read_token_list(whole)["token_blockchain"].tolist() == ["77777777", "ETH"]
    named = read_token_list(whole, blockchains={77777777: "MINE", 1: "ETHEREUM"})
    assert named["token_blockchain"].tolist() == ["MINE", "ETHEREUM"]


def test_an_empty_list_is_a_list():
    """It has the columns, and no row."""
    assert read_token_list({"tokens": []}).columns.tolist()[0] == "token_blockchain"


@pytest.mark.parametrize(
    "bad,reason",
    [
        ("DAI", "it is not a JSON object"),
        (entry(chainId="1"), "chainId"),
        (entry(chainId=True), "chainId"),
        (entry(address=None), "address"),
        (entry(address=""), "empty"),
        (entry(symbol=5), "symbol"),
    ],
)
def test_all_bad_entries_are_named(bad, reason):
    """The error has their positions."""
    with pytest.raises(TokenListError, match=reason) as caught:
        read_token_list({"tokens": [bad, entry(), bad]})
    assert [place for place, _, _ in caught.value.problems] == [0, 2]


@pytest.mark.parametrize("text", ["{", "[]", '{"tokens": {}}', '"tokens"'])
def test_other_files_are_refused(tmp_path, text):
    """A file without JSON, or without a list of tokens, is refused."""
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(TokenListError, match="Uniswap"):
        read_token_list(path)
    with pytest.raises(FileNotFoundError):
        read_token_list(tmp_path / "none.json")


def test_frames_and_pairs_are_lists():
    """A frame needs the two columns; a native coin has no contract."""
    frame = pd.DataFrame({"token_blockchain": ["ETH"] * 3, "token_address": [DAI, DAI, None]})
    assert parse_tokens(frame) == [(("ETH", DAI), None), (("ETH", None), None)]
    assert parse_tokens(frame.assign(symbol="X"))[0] == (("ETH", DAI), "X")
    assert parse_tokens(key for key in [("ETH", DAI)]) == [(("ETH", DAI), None)]
    assert parse_tokens(None) == []
    with pytest.raises(ColumnsError, match="token_address"):
        parse_tokens(frame[["token_blockchain"]])


def test_empty_rows_are_skipped():
    """Empty rows are skipped in frames and in lists."""
    frame = pd.DataFrame({"token_blockchain": ["ETH", None, " "], "token_address": [DAI, None, ""]})
    assert parse_tokens(frame) == [(("ETH", DAI), None)]
    assert parse_tokens([None, ("ETH", DAI), ("", None), float("nan")]) == [(("ETH", DAI), None)]


def test_surrounding_white_space_is_ignored():
    """In identifiers, and in contracts."""
    denied = [(" eth", f" {DAI.upper().replace('0X', '0x')}\n")]
    holdings = pd.DataFrame(
        {
            "blockchain": ["ETH"],
            "address": ["0xa"],
            "symbol": ["X"],
            "token_blockchain": ["ETH"],
            "token_address": [DAI],
            "amount": pd.array(["1"], dtype="amount"),
            "raw_amount": ["1"],
        }
    )
    assert flag_spam(holdings, deny=denied).is_spam.tolist() == [True]


def test_all_bad_pairs_are_named():
    """A symbol is no token, and a number is no contract."""
    with pytest.raises(TokenListError) as caught:
        parse_tokens([("ETH", DAI), "USDC", ("ETH",), ("ETH", 5), (None, DAI)])
    assert [place for place, _, _ in caught.value.problems] == [1, 2, 3, 4]
