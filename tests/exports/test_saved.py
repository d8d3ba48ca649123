"""Our files: `read_holdings` returns the same frame, other programs the same rows."""

import csv
import sys

import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from addresses import A, B
from fetches import fetched, token
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from test_cells import HOSTILE

import walletframe as wf
from walletframe.cli.files import write_details
from walletframe.errors import ColumnsError, DatasetError, MissingExtraError, SettingsError
from walletframe.exports import to_json
from walletframe.pandas_versions import TEXT
from walletframe.text import escape_csv_cell, unescape_cell

FORGED = "x\rETH,0xA,USDC,0x7,1000000,6,1000000000000,ETH,"
WORDS = [
    "NA",
    "null",
    "",
    "nan",
    "#REF!",
    "#N/A",
    "=1+1",
    "'=1",
    "None",
    "1e5",
    "007",
    "True",
    FORGED,
]
TEXTS = st.text(st.sampled_from(HOSTILE) | st.characters(exclude_categories=["Cs"]), max_size=12)
WRITERS = {
    ".csv": lambda frame, path: frame.wf.to_csv(path),
    ".csv.gz": lambda frame, path: frame.wf.to_csv(path),
    ".tsv": lambda frame, path: frame.wf.to_csv(path),
    ".TSV.gz": lambda frame, path: frame.wf.to_csv(path),
    ".parquet": lambda frame, path: frame.wf.to_parquet(path),
    ".xlsx": lambda frame, path: frame.wf.to_excel(path),
    ".json": lambda frame, path: to_json({"holdings": frame}, path),
}
quick = settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def holdings_of(texts):
    """Return holdings with texts as symbols and contracts, and amounts and prices of any kind."""
    plain = fetched({f"ETH.{A}": [token()] * len(texts)}).holdings
    amounts = ["0.000000000000000001", str(2**256 - 1), None]
    return plain.assign(
        symbol=pd.array(texts, dtype=TEXT),
        token_address=pd.array([text or None for text in texts], dtype=TEXT),
        amount=pd.array([amounts[n % 3] for n in range(len(texts))], dtype="amount"),
        price=[[1.234567890123e-11, None, 1e22][n % 3] for n in range(len(texts))],
    ).astype({"price": "float64"})


@pytest.mark.parametrize("suffix", WRITERS)
@given(texts=st.lists(TEXTS, max_size=4))
@example(texts=WORDS)
@quick
def test_holdings_are_read_back_exactly(tmp_path, suffix, texts):
    """Every text, amount and type, and missing values."""
    frame, path = holdings_of(texts), tmp_path / f"h{suffix}"
    WRITERS[suffix](frame, path)
    assert_frame_equal(wf.read_holdings(path), frame, check_exact=True)


@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
@example(texts=WORDS)
@example(texts=["-INFINITY"])
@quick
def test_other_programs_read_the_same_rows(tmp_path, texts):
    """Python's csv, pandas, polars and DuckDB need no options."""
    frame, path = holdings_of(texts), tmp_path / "h.csv"
    frame.wf.to_csv(path)
    cells = [escape_csv_cell(text) for text in texts]
    with path.open(encoding="utf-8", newline="") as file:
        assert [row[2] for row in csv.reader(file)][1:] == cells
    assert pd.read_csv(path, dtype="str", keep_default_na=False)["symbol"].tolist() == cells
    result = pl.read_csv(path, infer_schema=False)["symbol"].to_list()
    assert [cell or "" for cell in result] == cells
    rows = duckdb.sql(f"SELECT symbol FROM read_csv('{path}', all_varchar=true)").fetchall()
    # DuckDB takes the apostrophe before a number for an escape character.
    assert [unescape_cell(row[0] or "") for row in rows] == texts


@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
@example(texts=["x;=1+1;y", 'x;"=1', "a\t=1", FORGED])
@quick
def test_no_spreadsheet_finds_a_formula(tmp_path, texts):
    """Cells are no formulas for any separator of the spreadsheet."""
    path = tmp_path / "h.csv"
    holdings_of(texts).wf.to_csv(path)
    for separator in ",;|\t":
        with path.open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file, delimiter=separator) for cell in row]
        assert not [cell for cell in cells if cell.lstrip(' "').startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize("suffix", WRITERS)
def test_added_columns_are_read_back(tmp_path, suffix):
    """Values, flags and the user's columns."""
    frame = holdings_of(["USDC", "=1", ""]).wf.value({("ETH", "USDC"): 1.5}).wf.flag_spam()
    frame = frame.assign(name=pd.array(["a\nb", None, ""], dtype=TEXT))
    WRITERS[suffix](frame, tmp_path / f"h{suffix}")
    assert_frame_equal(wf.read_holdings(tmp_path / f"h{suffix}"), frame, check_exact=True)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_files_of_the_shell_are_read_back(tmp_path, suffix):
    """Holdings and, if there are any, the wallets beside them."""
    details = fetched({f"ETH.{A}": [token("=1\r2")], f"ETH.{B}": [], "NEAR.b.near": "failed"})
    write_details(details, tmp_path / f"h{suffix}")
    back = wf.read_holdings(tmp_path / f"h{suffix}")
    assert_frame_equal(back, details.holdings, check_exact=True)
    if suffix != ".json":
        beside = str(tmp_path / f"h.wallets{suffix}")
        assert_frame_equal(wf.read_holdings(beside), details.wallets, check_exact=True)


def test_wallets_of_an_excel_file_are_read_back(tmp_path):
    """Times are exact to the millisecond."""
    wallets = fetched({f"ETH.{A}": [token()], "NEAR.b.near": "failed"}).wallets
    wallets.wf.to_excel(tmp_path / "w.xlsx")
    assert_frame_equal(wf.read_holdings(tmp_path / "w.xlsx"), wallets, check_exact=True)


def test_statuses_of_a_node_are_read_back(tmp_path):
    """Statuses that no fetch has are text, not missing."""
    frame = holdings_of(["A", "B"]).assign(status=pd.array(["reverted", "ok"], dtype=TEXT))
    frame.wf.to_csv(tmp_path / "b.csv")
    assert wf.read_holdings(tmp_path / "b.csv")["status"].tolist() == ["reverted", "ok"]


def test_a_users_column_is_unchanged(tmp_path):
    """A column with the name of one of ours and other content is unchanged, too."""
    own = {"value": ["high", "low"], "is_spam": ["maybe", None], "a_text": ["1", "z"]}
    own |= {"b_text": ["1", "3"], "c": ["1", "2"], "c_text": ["1", "2"]}
    texts = {name: pd.array(cells, dtype=TEXT) for name, cells in own.items()}
    frame = holdings_of(["A", "B"]).assign(**texts, a=[1, 2], b=[1, 2])
    frame.wf.to_parquet(tmp_path / "b.parquet")
    assert_frame_equal(wf.read_holdings(tmp_path / "b.parquet"), frame)
    frame.drop(columns=["value", "is_spam"]).wf.to_excel(tmp_path / "b.xlsx")
    back = wf.read_holdings(tmp_path / "b.xlsx")
    assert_frame_equal(back, frame.drop(columns=["value", "is_spam"]))
    texts = frame.drop(columns=["a", "b"])
    texts.wf.to_csv(tmp_path / "b.csv")
    assert_frame_equal(wf.read_holdings(tmp_path / "b.csv"), texts)


@pytest.mark.parametrize("amounts", [[None, None], ["1e-77", 2**256 - 1], [2**53 + 1, None]])
def test_amounts_of_any_size_are_read_back_from_spreadsheets(tmp_path, amounts):
    """Missing amounts, and amounts with more than 15 digits, are read back."""
    frame = holdings_of(["A", "B"]).assign(amount=pd.array(amounts, dtype="amount"))
    frame.wf.to_excel(tmp_path / "h.xlsx")
    assert_frame_equal(wf.read_holdings(tmp_path / "h.xlsx"), frame)


def test_a_changed_number_in_a_spreadsheet_is_refused(tmp_path):
    """If the exact text has another amount, an error is raised."""
    holdings_of(["A"]).wf.to_excel(tmp_path / "h.xlsx")
    book = openpyxl.load_workbook(tmp_path / "h.xlsx")
    [cell] = [column[1] for column in book.active.columns if column[0].value == "amount"]
    cell.value = 2.5
    book.save(tmp_path / "h.xlsx")
    with pytest.raises(DatasetError, match="the column 'amount'"):
        wf.read_holdings(tmp_path / "h.xlsx")


def test_whole_numbers_with_gaps_are_read_back(tmp_path):
    """Integers are read to the last digit, and booleans as booleans."""
    large = pd.array([2**53 + 1, None], dtype="Int64")
    frame = holdings_of(["A", "B"]).assign(id=large, seen=pd.array([True, None], dtype="boolean"))
    frame.wf.to_parquet(tmp_path / "h.parquet")
    assert_frame_equal(wf.read_holdings(tmp_path / "h.parquet"), frame)
    frame.set_index("id").to_parquet(tmp_path / "p.parquet")  # by plain pandas
    assert wf.read_holdings(tmp_path / "p.parquet")["seen"].tolist() == [True, pd.NA]


def test_categories_are_read_back_in_their_order(tmp_path):
    """Parquet has them in the order of their first rows."""
    sizes = pd.Categorical(["large", "small"], categories=["small", "large"], ordered=True)
    holdings_of(["A", "B"]).assign(size=sizes).wf.to_parquet(tmp_path / "h.parquet")
    back = wf.read_holdings(tmp_path / "h.parquet")["size"]
    assert (back.tolist(), back.cat.ordered) == (["large", "small"], False)


@pytest.mark.parametrize("dtype", [TEXT, "category", pd.ArrowDtype(pa.string())], ids=str)
def test_text_of_any_dtype_is_harmless(tmp_path, dtype):
    """Arrow's own strings of `dtype_backend="pyarrow"` too."""
    frame = holdings_of(["=1+1", 'a,"b'])
    frame["symbol"] = frame["symbol"].astype(dtype)
    frame["step"] = pd.interval_range(0, 2)
    frame.wf.to_csv(tmp_path / "h.csv")
    back = wf.read_holdings(tmp_path / "h.csv")
    assert back["symbol"].tolist() == ["=1+1", 'a,"b']
    assert back["step"].tolist() == ["(0, 1]", "(1, 2]"]
    assert "'=1+1" in (tmp_path / "h.csv").read_text()
    frame.wf.to_excel(tmp_path / "h.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "h.xlsx").worksheets[0]
    assert "f" not in {cell.data_type for row in sheet.iter_rows() for cell in row}


def test_a_symbol_of_a_megabyte_is_read_back(tmp_path):
    """Cells may have any length."""
    frame = holdings_of(["x\r" * 500_000])
    frame.wf.to_csv(tmp_path / "h.csv")
    assert_frame_equal(wf.read_holdings(tmp_path / "h.csv"), frame)


@pytest.mark.parametrize(
    "name, content, error, message",
    [
        ("h.txt", b"", SettingsError, r"a file whose name ends in \.csv"),
        ("h.csv", b"", DatasetError, r"h\.csv' can't be read|h\.csv can't be read"),
        ("h.csv", b"\xff\xfe", DatasetError, "can't be read"),
        ("h.csv", b"a,b\n1,2\n", ColumnsError, "lacks 'blockchain'"),
        ("h.csv.gz", b"no gzip", DatasetError, "can't be read"),
        ("h.json", b"{}", ColumnsError, "lacks 'blockchain'"),
        ("h.json", b"[1", DatasetError, "can't be read"),
        ("h.xlsx", b"PK", DatasetError, "can't be read"),
        ("h.parquet", b"PAR1", DatasetError, "can't be read"),
    ],
)
def test_other_files_are_refused(tmp_path, name, content, error, message):
    """The errors of other libraries are translated."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=message):
        wf.read_holdings(tmp_path / name)


def test_a_missing_file_raises_pythons_error(tmp_path):
    """A FileNotFoundError is raised."""
    for suffix in WRITERS:
        with pytest.raises(FileNotFoundError):
            wf.read_holdings(tmp_path / f"gone{suffix}")


def test_a_broken_column_is_named(tmp_path):
    """Invalid amounts of an edited file are refused."""
    frame = holdings_of(["A"])
    frame.astype({"amount": "str"}).assign(amount="much").wf.to_csv(tmp_path / "h.csv")
    with pytest.raises(DatasetError, match="the column 'amount'"):
        wf.read_holdings(tmp_path / "h.csv")


def test_excel_files_need_their_extra(tmp_path, monkeypatch):
    """The error has the command that installs the extra."""
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "h.xlsx").write_bytes(b"")
    with pytest.raises(MissingExtraError, match=r"walletframe\[excel\]"):
        wf.read_holdings(tmp_path / "h.xlsx")


def test_a_csv_is_compressed_by_gzip_alone(tmp_path):
    """Another suffix is refused instead of writing an uncompressed file."""
    with pytest.raises(SettingsError, match=r"\.gz"):
        holdings_of(["A"]).wf.to_csv(tmp_path / "h.csv.zip")


def test_a_csv_by_plain_pandas_is_read_too(tmp_path):
    """A contract whose text means missing elsewhere stays a contract."""
    frame = holdings_of(["NA", "null", "=1", "#N/A"])
    frame.to_csv(tmp_path / "h.csv", index=False)
    assert_frame_equal(wf.read_holdings(tmp_path / "h.csv"), frame, check_exact=True)
