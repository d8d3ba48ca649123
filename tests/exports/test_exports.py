"""Files for other programs, and the largest amounts."""

import json
import sys
from decimal import Decimal

import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pytest
from addresses import A
from fetches import fetched, token
from plain_process import printed

import walletframe as wf
from walletframe.client import fetch_wallets
from walletframe.errors import AmountError, ColumnsError, MissingExtraError
from walletframe.exports import to_json
from walletframe.pandas_versions import TEXT

TOP = 2**256 - 1
AMOUNTS = [Decimal(0), Decimal("0.000000000000000001"), Decimal(TOP), None]
FRAME = pd.DataFrame(
    {
        "symbol": pd.array(["=1+1", "a\nb\x00\u202e", None, "x" * 40_000], dtype=TEXT),
        "amount": pd.array([str(a) if a is not None else None for a in AMOUNTS], dtype="amount"),
        "fetched_at": pd.to_datetime(["2026-01-02T03:04:05.678901Z"] * 4, utc=True),
        "status": pd.Categorical(["ok", "ok", "failed", "ok"]),
    }
)
TEXTS = ["0", "0.000000000000000001", str(TOP), None]


def test_parquet_opens_in_pandas_without_walletframe(tmp_path):
    """Without walletframe, pandas reads exact text, and decimals if 38 digits suffice."""
    FRAME.wf.to_parquet(tmp_path / "f.parquet")
    code = (
        "import pandas, sys; frame = pandas.read_parquet(sys.argv[1]);"
        "texts = frame['amount_text'];"
        "print(texts.dropna().tolist(), texts.isna().tolist(), *frame['amount'])"
    )
    output = printed(code, tmp_path / "f.parquet")
    assert output == [f"{TEXTS[:3]} {[False, False, False, True]} 0E-18 1E-18 None None"]


def test_parquet_opens_in_polars_and_duckdb(tmp_path):
    """Both programs read exact text, and decimals if 38 digits suffice."""
    path = str(tmp_path / "f.parquet")
    FRAME.wf.to_parquet(path)
    frame = pl.read_parquet(path)
    assert frame["amount_text"].to_list() == TEXTS
    assert frame["amount"].sum() == frame["amount"].max() == Decimal("0.000000000000000001")
    rows = duckdb.sql(f"SELECT amount_text FROM '{path}'").fetchall()
    assert [row[0] for row in rows] == TEXTS
    total = duckdb.sql(f"SELECT sum(amount), max(amount) FROM '{path}'").fetchall()
    assert total == [(Decimal("0.000000000000000001"),) * 2]


def test_parquet_is_read_back_exactly(tmp_path):
    """Text becomes amounts again without loss."""
    FRAME.wf.to_parquet(tmp_path / "f.parquet")
    back = pd.read_parquet(tmp_path / "f.parquet")["amount_text"].astype("amount")
    assert back.tolist() == FRAME["amount"].tolist()


def test_csv_is_exact_and_disarmed(tmp_path):
    """Amounts are plain text; a formula begins with an apostrophe."""
    FRAME.wf.to_csv(tmp_path / "f.csv")
    back = pd.read_csv(tmp_path / "f.csv", dtype="str")
    assert back["amount"].tolist()[:3] == TEXTS[:3]
    assert back["amount"].isna().tolist() == [False, False, False, True]
    assert back["symbol"][0] == "'=1+1"


def test_pandas_own_csv_is_read_with_read_holdings(tmp_path):
    """The hint of the first table names the function, which reads the file exactly."""
    details = fetched({f"ETH.{A}": [token(raw=2**200)]})
    details.holdings.to_csv(tmp_path / "f.csv")
    with pytest.raises(AmountError, match=r"Hint: .*walletframe\.read_holdings\(path\)"):
        pd.read_csv(tmp_path / "f.csv").wf.totals()
    read = wf.read_holdings(tmp_path / "f.csv")
    assert read.wf.totals("token").equals(details.holdings.wf.totals("token"))


def test_excel_is_exact_and_harmless(tmp_path):
    """Amounts have text, formulas are escaped, and so are control characters; times are UTC."""
    FRAME.wf.to_excel(tmp_path / "f.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "f.xlsx").active
    rows = list(sheet.iter_rows(min_row=2))
    assert [row[2].value for row in rows] == TEXTS
    assert not [cell for row in rows for cell in row if cell.data_type == "f"]
    assert rows[1][0].value == r"'a\u000ab\u0000\u202e"
    assert len(rows[3][0].value) <= 32_767
    assert rows[0][3].value.isoformat()[:19] == "2026-01-02T03:04:05"


def test_excel_has_zoned_times_in_utc(tmp_path):
    """Times of a zone are written in UTC, in a column of any dtype."""
    times = [pd.Timestamp("2026-01-02 03:04:05", tz="Europe/Paris"), None]
    pd.DataFrame({"fetched_at": pd.Series(times, dtype=object)}).wf.to_excel(tmp_path / "f.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "f.xlsx").active
    assert sheet["A2"].value.isoformat()[:19] == "2026-01-02T02:04:05"


def test_excel_has_numbers_to_sort_by(tmp_path):
    """Amounts are the nearest numbers, exact text beside them, and the headings stay in sight."""
    FRAME.wf.to_excel(tmp_path / "f.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "f.xlsx").active
    assert [cell.value for cell in sheet[1]][1:3] == ["amount", "amount_text"]
    assert [row[1].value for row in sheet.iter_rows(min_row=2)] == [0, 1e-18, float(TOP), None]
    assert sheet.freeze_panes == "A2"


def test_excel_links_only_to_the_web(tmp_path):
    """Only columns of links have links, and only to http or https."""
    links = ["https://e.example/x", "javascript:alert(1)", "http://e.example/y", "file:///etc"]
    frame = FRAME.assign(explorer_url=links, symbol="https://scam.example")
    frame.wf.to_excel(tmp_path / "f.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "f.xlsx").active
    rows = list(sheet.iter_rows(min_row=2))
    result = [[cell.hyperlink.target for cell in row if cell.hyperlink] for row in rows]
    assert result == [["https://e.example/x"], [], ["http://e.example/y"], []]


def test_excel_has_every_amount_of_a_fetch_to_the_last_digit(tmp_path, client):
    """All holdings of the sandbox, hostile symbols and uint256 included, are read back."""
    holdings = fetch_wallets([f"ETH.0x{digit * 40}" for digit in "123456"], client=client).holdings
    holdings.wf.to_excel(tmp_path / "f.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "f.xlsx").active
    heads, *rows = sheet.iter_rows()
    place = [cell.value for cell in heads].index("amount_text")
    texts = [None if pd.isna(amount) else str(amount) for amount in holdings["amount"]]
    assert [row[place].value for row in rows] == texts
    assert not [cell for row in rows for cell in row if cell.data_type == "f"]


def test_csv_has_floats_without_exponents(tmp_path):
    """A small price is written with all its digits, and is read back unchanged."""
    prices = [1.234567890123e-11, 5.0, float("nan"), 1e22]
    pd.DataFrame({"price": prices}).wf.to_csv(tmp_path / "f.csv")
    words = (tmp_path / "f.csv").read_text().split()
    assert words[1:] == ["0.00000000001234567890123", "5.0", '""', "10000000000000000000000.0"]
    written = [word for word in words[1:] if word != '""']
    assert list(map(float, written)) == [price for price in prices if not pd.isna(price)]


def test_excel_without_openpyxl_names_the_extra(tmp_path, monkeypatch):
    """The error has the command that installs the extra."""
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"walletframe\[excel\]"):
        FRAME.wf.to_excel(tmp_path / "f.xlsx")


def test_json_holds_several_frames(tmp_path):
    """Each frame is a list of records with exact amounts as text."""
    to_json({"a": FRAME, "b": FRAME.head(0)}, tmp_path / "f.json")
    whole = json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))
    assert [row["amount"] for row in whole["a"]] == TEXTS
    assert whole["b"] == []


def test_json_keeps_small_prices(tmp_path):
    """A float is read back unchanged, and a missing one is null."""
    prices = [1.234567890123e-11, 1e-300, 0.1, float("nan")]
    to_json({"a": pd.DataFrame({"price": prices})}, tmp_path / "f.json")
    back = [row["price"] for row in json.loads((tmp_path / "f.json").read_text())["a"]]
    assert back == [*prices[:3], None]


def test_formulas_are_disarmed_everywhere(tmp_path):
    """Formulas in labels and in columns of any type are escaped."""
    evil = "=HYPERLINK(1)"
    frame = pd.DataFrame(
        {
            "object": pd.Series([evil, 5], dtype="object"),
            "category": pd.Categorical([evil, "x"]),
            evil: [1, 2],
            0: pd.array([evil, None], dtype=TEXT),
        }
    )
    frame.wf.to_csv(tmp_path / "f.csv")
    assert (tmp_path / "f.csv").read_text().splitlines() == [
        f'object,category,"\'{evil}",0',
        f'"\'{evil}","\'{evil}",1,"\'{evil}"',
        "5,x,2,",
    ]
    frame.wf.to_excel(tmp_path / "f.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "f.xlsx").active
    assert not [cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]


def test_frame_without_columns_is_written(tmp_path):
    """An empty frame is no error."""
    pd.DataFrame().wf.to_csv(tmp_path / "f.csv")
    assert (tmp_path / "f.csv").read_text().strip() == ""
    pd.DataFrame().wf.to_excel(tmp_path / "f.xlsx")
    assert pd.read_excel(tmp_path / "f.xlsx").empty


def test_top_is_exact_where_floats_are_equal():
    """Amounts that differ in the last digit are ordered; equal ones keep their order."""
    amounts = pd.array([str(TOP - 1), str(TOP), None, str(TOP), "5"], dtype="amount")
    frame = pd.DataFrame({"amount": amounts})
    assert frame.wf.top(3).index.tolist() == [1, 3, 0]
    assert frame["amount"].wf.top(10).index.tolist() == [1, 3, 0, 4]


@pytest.mark.parametrize("dtype", ["float64", "Int64", "int64"])
def test_top_takes_numbers_of_another_column(dtype):
    """Equal values keep their order, and missing ones are left out."""
    column = pd.Series([5, 7, 5, 9], dtype=dtype)
    frame = pd.DataFrame({"value": column if dtype == "int64" else column.where(column < 9)})
    best = [3, 1, 0] if dtype == "int64" else [1, 0, 2]
    assert (
        frame.set_axis(list("aaaa"))
        .wf.top(3, by="value")
        .equals(frame.set_axis(list("aaaa")).iloc[best])
    )
    assert frame.wf.top(-1, by="value").empty


def test_top_needs_amounts():
    """For a missing column and another type the error has a hint."""
    for wrong in (pd.DataFrame({"amount": [1.5]}), pd.DataFrame({"amount": ["1.5"]})):
        with pytest.raises(AmountError, match="astype"):
            wrong.wf.top()
    with pytest.raises(AmountError, match="astype"):
        pd.DataFrame({"value": ["1"]}).wf.top(by="value")
    with pytest.raises(ColumnsError, match="'amount'"):
        pd.DataFrame({"x": [1]}).wf.top()
    with pytest.raises(AmountError, match="astype"):
        pd.Series([1.5]).wf.top()
