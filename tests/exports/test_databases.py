"""Frames in DuckDB, polars, SQLite and what SQLAlchemy reaches: amounts as text and as numbers."""

import sqlite3
from contextlib import closing
from decimal import Decimal

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sqlalchemy

import walletframe as wf

AMOUNTS = ["0.1", "1E-18", str(2**256 - 1), None]
TEXTS = ["0.1", "0.000000000000000001", str(2**256 - 1), None]
TOTAL = Decimal("0.100000000000000001")


@pytest.fixture
def frame():
    """Give amounts beside other columns, under an index that isn't from 0."""
    columns = {
        "symbol": ["ETH", None, "$x$", "'; drop table t; --"],
        "status": pd.Categorical(["ok", "ok", "failed", None]),
        "amount": pd.array(AMOUNTS, dtype="amount"),
        "decimals": pd.array([18, None, 0, 6], dtype="Int16"),
        "fetched_at": pd.to_datetime(["2026-01-01"] * 4, utc=True),
    }
    return pd.DataFrame(columns).set_axis([9, 8, 7, 6])


def test_arrow_tables(frame):
    """Text and decimals are side by side, of types that everyone has."""
    table = frame.wf.to_arrow()
    assert table.column_names[2:4] == ["amount", "amount_decimal"]
    assert table["amount"].type == pa.large_string()
    assert table["amount"].to_pylist() == TEXTS
    assert table["amount_decimal"].type == pa.decimal128(38, 18)
    assert table["amount_decimal"].null_count == 2


def test_duckdb(frame):
    """DuckDB finds the table by its name, and sums decimals."""
    held = frame.wf.to_arrow()
    found = duckdb.sql("select sum(amount_decimal), max(length(amount)) from held").fetchall()
    assert found == [(TOTAL, 78)]
    assert len(held) == 4


def test_polars(frame):
    """Polars takes the table, and the frame itself, whose amounts are an extension of text."""
    taken = pl.DataFrame(frame.wf.to_arrow())
    assert taken["amount_decimal"].sum() == TOTAL
    assert taken["amount"].to_list() == pl.DataFrame(frame)["amount"].to_list() == TEXTS


def test_sqlite(frame):
    """SQLite has text, and floats beside it; the amounts come back."""
    with closing(sqlite3.connect(":memory:")) as database:
        frame.wf.to_sql("t", database)
        rows = database.execute("select amount, amount_decimal, symbol from t").fetchall()
        floats = [0.1, 1e-18, None, None]
        assert rows == list(
            zip(TEXTS, floats, ["ETH", None, "$x$", "'; drop table t; --"], strict=True)
        )
        back = pd.read_sql("select * from t", database, dtype={"amount": "amount"})
        assert back["amount"].equals(frame["amount"].reset_index(drop=True))
        frame.wf.to_sql("t", database, if_exists="append")
        assert database.execute("select count(*) from t").fetchall() == [(8,)]
        with pytest.raises(ValueError, match="already exists"):
            frame.wf.to_sql("t", database)


@pytest.mark.filterwarnings("ignore:duckdb-engine doesn't yet support reflection")
def test_a_database_with_decimals(frame):
    """What SQLAlchemy reaches has decimals that can be summed."""
    engine = sqlalchemy.create_engine("duckdb:///:memory:")
    frame.wf.to_sql("t", engine)
    with engine.connect() as connection:
        query = sqlalchemy.text("select sum(amount_decimal), max(length(amount)) from t")
        assert connection.execute(query).fetchall() == [(TOTAL, 78)]


def test_sqlite_by_its_url(frame, tmp_path):
    """An URL of SQLAlchemy will do, and a column of that name is kept."""
    path = tmp_path / "holdings.db"
    frame.assign(amount_decimal="mine").wf.to_sql("t", f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as database:
        found = database.execute("select amount, amount_decimal from t").fetchall()
    assert found == [(text, "mine") for text in TEXTS]


def test_what_is_no_connection(frame):
    """Other databases take the Arrow table."""
    with pytest.raises(wf.ArgumentError, match=r"no connection[\s\S]*to_arrow"):
        frame.wf.to_sql("t", duckdb.connect())
