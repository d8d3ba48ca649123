"""Reading a folder of small parts: the frames that were written, whole or in part."""

import shutil
from decimal import Decimal
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from addresses import UPPER_A, UPPER_B, A, B, C, D, whole
from drawn_fetches import details_of, fetches
from fetches import fetched, token
from hypothesis import given, settings
from hypothesis import strategies as st
from parted import write_parts

import walletframe as wf
from walletframe.amounts.arrow import read_decimals_or_texts
from walletframe.errors import AmbiguousTokenError, ColumnsError, DatasetError, UnknownTokenError
from walletframe.frames.names import mask_of_token

COLUMNS = ["blockchain", "address", "symbol", "token_address", "amount", "decimals"]
COLUMNS += ["raw_amount", "token_blockchain", "price"]
LARGEST = 2**256 - 1
HELD = {
    f"ETH.{UPPER_A}": [
        token("USDC", contract=whole("a0")),
        token("ETH", 10**18, 18, contract=None),
    ],
    "NEAR.bob": [],
    f"ETH.{UPPER_B}": [
        token("USDC", LARGEST, 18, contract=whole("A0").upper()),
        token("X", 1, 30, contract="0x1"),
    ],
    f"BSC.{C}": "failed",
    f"BSC.{D}": [token("USDC", 7, None, contract=whole("A0"), blockchain="BSC"), token("NA", 1, 0)],
}


def same(result, expected):
    """Check that two fetches are equal to the last bit."""
    for one, other in zip(result, expected, strict=True):
        pd.testing.assert_frame_equal(one, other)


@pytest.fixture
def details():
    """Return a fetch."""
    return fetched(HELD)


@pytest.fixture(params=[0, 1])
def folder(tmp_path, details, request):
    """Write the fetch into a folder of parts with at most two wallets."""
    return write_parts(tmp_path / "bulk", details, seed=request.param)


@settings(max_examples=20)  # each writes files
@given(fetch=fetches, seed=st.integers(0, 9), wallets=st.integers(1, 3), columns=st.data())
def test_written_frames_are_read_back(fetch, seed, wallets, columns):
    """The rows have the requested order and columns, for any parts."""
    details = details_of(fetch)
    names = columns.draw(st.lists(st.sampled_from(COLUMNS), unique=True))
    with TemporaryDirectory() as folder:
        write_parts(f"{folder}/bulk", details, seed=seed, wallets=wallets)
        same(wf.read_wallets(f"{folder}/bulk"), details)
        some = wf.read_wallets(f"{folder}/bulk", columns=names)
    same(some, (details.wallets, details.holdings[names]))


def test_columns_are_checked(folder, details):
    """A single column is read, and an unknown column is refused."""
    only = wf.read_wallets(folder, columns="amount").holdings
    pd.testing.assert_frame_equal(only, details.holdings[["amount"]])
    with pytest.raises(ColumnsError, match="amount_text"):
        wf.read_wallets(folder, columns=["amount", "amount_text"])


@pytest.mark.parametrize(
    "named", [("ETH", whole("A0")), ("BSC", whole("a0")), "ETH", ["NA", ("ETH", None)]]
)
@pytest.mark.parametrize("columns", [None, ["amount", "address"]])
def test_selected_tokens(folder, details, named, columns):
    """Only the tokens' rows are read, but all wallets with their numbers of balances."""
    result = wf.read_wallets(folder, tokens=named, columns=columns)
    marks = np.zeros(len(details.holdings), dtype=bool)
    for each in named if isinstance(named, list) else [named]:
        marks |= mask_of_token(details.holdings, each)
    expected = details.holdings[marks].reset_index(drop=True)
    same(result, (details.wallets, expected[columns or COLUMNS]))


def test_selected_tokens_of_selected_wallets(folder, details):
    """The rows have the order of the selected wallets."""
    result = wf.read_wallets(
        folder, wallets=[f"eth.{UPPER_B}", "NEAR.x.near", f"ETH.{A}"], tokens=("ETH", whole("A0"))
    )
    assert result.wallets.status.tolist() == ["ok", "not_cached", "ok"]
    assert result.holdings.address.tolist() == [UPPER_B, A]
    assert result.holdings.raw_amount.tolist() == [str(LARGEST), "1500000"]
    none = wf.read_wallets(folder, wallets="NEAR.bob", tokens=[("ETH", whole("A0"))])
    same(none, (details.wallets.iloc[[1]].reset_index(drop=True), details.holdings.iloc[:0]))


def test_a_symbol_is_matched_in_the_whole_folder(folder):
    """A symbol may be unambiguous in each part, but ambiguous in the folder."""
    with pytest.raises(AmbiguousTokenError, match="USDC"):
        wf.read_wallets(folder, tokens="USDC")
    with pytest.raises(AmbiguousTokenError, match="USDC"):
        wf.read_wallets(folder, wallets=f"ETH.{UPPER_A}", tokens=["ETH", "USDC"])
    with pytest.raises(UnknownTokenError, match="DAI"):
        wf.read_wallets(folder, tokens=["ETH", "DAI"])


def test_holdings_of_other_wallets_are_detected(tmp_path):
    """Swapped files with equal numbers of rows are refused."""
    write_parts(tmp_path, fetched({f"ETH.{A}": [token()], f"ETH.{B}": [token(raw=1)]}), wallets=1)
    first, second = sorted((tmp_path / "holdings").iterdir())
    shutil.copy(second, first)
    with pytest.raises(
        DatasetError, match=r"part-000001\.parquet in the folder .* do not belong together"
    ):
        wf.read_wallets(tmp_path)


def test_text_is_read_if_a_decimal_is_missing_or_rounded():
    """Text is only read for amounts that decimals can't store."""
    positions = []

    def texts(places):
        positions.append(places.tolist())
        return pa.array(["0.00000000000000000000001", None])

    decimals = pa.array([Decimal("-1.5"), Decimal(0), Decimal(2), None], pa.decimal128(38, 18))
    rounded = np.array([False, True, False, False])
    exact = read_decimals_or_texts(decimals, rounded, texts).exact()
    assert exact.integers.tolist() == [-15 * 10**22, 1, 2 * 10**23, 0]
    assert (exact.missing.tolist(), exact.scale, positions) == ([False] * 3 + [True], 23, [[1, 3]])
    result = read_decimals_or_texts(decimals[2:3], rounded[2:3], texts)
    assert result.exact().integers.tolist() == [2 * 10**18]
    assert len(positions) == 1


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("dictionaries", [True, False])
def test_files_in_many_groups_of_rows_are_read(folder, details, statistics, dictionaries):
    """Files without Arrow's schema, as another program may write them, are read."""
    plain = {"store_schema": False, "row_group_size": 1, "use_dictionary": dictionaries}
    for path in folder.glob("holdings/*"):
        table = pq.read_table(path, partitioning=None)
        pq.write_table(table, path, write_statistics=statistics, **plain)
    same(wf.read_wallets(folder), details)
