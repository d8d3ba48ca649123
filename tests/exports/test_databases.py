"""Frames in DuckDB, polars, SQLite and SQLAlchemy's databases: amounts as numbers and as text."""

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

AMOUNTS = ["9", "100", "1E-18", "12.345678901234567890123456", str(2**256 - 1), None]
TEXTS = [*AMOUNTS[:2], "0.000000000000000001", *AMOUNTS[3:]]
NEAR = Decimal("12.345678901234567890")  # the nearest with 18 of 24 decimals
DECIMALS = [Decimal(9), Decimal(100), Decimal("1e-18"), NEAR, None, None]
TOTAL = Decimal("121.345678901234567891")
SORTED = [*sorted(DECIMALS[:4]), None, None]


@pytest.fixture
def frame():
    """Return amounts beside other columns, under an index that isn't from 0."""
    columns = {
        "symbol": ["ETH", None, "$x$", "'; drop table t; --", "A", "B"],
        "status": pd.Categorical(["ok", "ok", "failed", None, "ok", "ok"]),
        "amount": pd.array(AMOUNTS, dtype="amount"),
        "decimals": pd.array([18, None, 0, 24, 0, 6], dtype="Int16"),
        "fetched_at": pd.to_datetime(["2026-01-01"] * 6, utc=True),
    }
    return pd.DataFrame(columns).set_axis([9, 8, 7, 6, 5, 4])


def test_arrow_tables(frame):
    """Decimals and text are side by side, of standard types."""
    table = frame.wf.to_arrow()
    assert table.column_names[2:4] == ["amount", "amount_text"]
    assert table["amount_text"].type == pa.large_string()
    assert table["amount_text"].to_pylist() == TEXTS
    assert table["amount"].type == pa.decimal128(38, 18)
    assert table["amount"].to_pylist() == DECIMALS


def test_duckdb(frame):
    """DuckDB finds the table by its name, and orders and adds up numbers."""
    held = frame.wf.to_arrow()
    result = duckdb.sql("select max(amount), sum(amount), max(length(amount_text)) from held")
    assert result.fetchall() == [(100, TOTAL, 78)]
    ordered = duckdb.sql("select amount from held order by amount nulls last").fetchall()
    assert [amount for (amount,) in ordered] == SORTED
    assert len(held) == 6


def test_polars(frame):
    """Polars orders and adds up the table's numbers; the frame itself becomes text."""
    taken = pl.DataFrame(frame.wf.to_arrow())
    assert (taken["amount"].max(), taken["amount"].sum()) == (100, TOTAL)
    assert taken.sort("amount", nulls_last=True)["amount"].to_list() == SORTED
    assert taken["amount_text"].to_list() == pl.DataFrame(frame)["amount"].to_list() == TEXTS


def test_sqlite(frame):
    """SQLite has the nearest floats, and text beside them; amounts are read back."""
    with closing(sqlite3.connect(":memory:")) as database:
        frame.wf.to_sql("t", database)
        rows = database.execute("select amount, amount_text, symbol from t").fetchall()
        floats = [9.0, 100.0, 1e-18, 12.345678901234567, float(2**256 - 1), None]
        assert rows == [
            *zip(
                floats,
                TEXTS,
                frame["symbol"].astype(object).replace({float("nan"): None}),
                strict=True,
            )
        ]
        back = pd.read_sql("select * from t", database, dtype={"amount_text": "amount"})
        assert back["amount_text"].tolist() == frame["amount"].tolist()
        frame.wf.to_sql("t", database, if_exists="append")
        assert database.execute("select count(*) from t").fetchall() == [(12,)]
        with pytest.raises(ValueError, match="already exists"):
            frame.wf.to_sql("t", database)


@pytest.mark.filterwarnings("ignore:duckdb-engine doesn't yet support reflection")
def test_a_database_with_decimals(frame):
    """SQLAlchemy's databases have decimals that are ordered and added up."""
    engine = sqlalchemy.create_engine("duckdb:///:memory:")
    frame.wf.to_sql("t", engine)
    with engine.connect() as connection:
        query = sqlalchemy.text("select max(amount), sum(amount), max(length(amount_text)) from t")
        assert connection.execute(query).fetchall() == [(100, TOTAL, 78)]
        kinds = sqlalchemy.text(
            "select data_type from duckdb_columns() where column_name = 'amount'"
        )
        assert connection.execute(kinds).fetchall() == [("DECIMAL(38,18)",)]
    engine.dispose()


def test_sqlite_by_its_url(frame, tmp_path):
    """With a URL or an engine of SQLAlchemy, SQLite gets floats."""
    url = f"sqlite:///{tmp_path / 'holdings.db'}"
    frame.wf.to_sql("t", url)
    engine = sqlalchemy.create_engine(url)
    frame.wf.to_sql("t", engine, if_exists="append")
    engine.dispose()
    with closing(sqlite3.connect(tmp_path / "holdings.db")) as database:
        kinds = {name: kind for _, name, kind, *_ in database.execute("pragma table_info(t)")}
        result = database.execute("select amount, amount_text from t").fetchall()
    assert (kinds["amount"], kinds["amount_text"]) == ("FLOAT", "TEXT")
    assert (
        result
        == [*zip(frame["amount"].astype(float).replace(float("nan"), None), TEXTS, strict=True)] * 2
    )


@pytest.mark.parametrize("write", ["to_arrow", "to_parquet", "to_sql", "to_excel"])
def test_a_column_named_like_exact_text_is_refused(frame, tmp_path, write):
    """Nothing is written, and the error has a hint."""
    frame = frame.assign(amount_text="mine")
    path = tmp_path / "file"
    options = {"to_arrow": (), "to_sql": ("t", f"sqlite:///{path}")}.get(write, (path,))
    with pytest.raises(wf.errors.SettingsError, match=r"'amount_text'[\s\S]*rename\(columns="):
        getattr(frame.wf, write)(*options)
    assert not path.exists()


def test_columns_of_several_types_are_named(frame, tmp_path):
    """If Arrow has no type for them, the error names the types, with a hint."""
    mixed = frame.assign(mine=["a", 1, 2.5, None, True, 7])
    for write in (mixed.wf.to_arrow, lambda: mixed.wf.to_parquet(tmp_path / "f.parquet")):
        with pytest.raises(
            wf.errors.ArgumentError,
            match=r"'mine', with values of type bool, float, int, str, [\s\S]*astype",
        ):
            write()
    assert [*tmp_path.iterdir()] == []


def test_other_connections_are_refused(frame):
    """The hint is the Arrow table."""
    with pytest.raises(
        wf.errors.ArgumentError, match=r"a connection of type \w+ is not supported[\s\S]*to_arrow"
    ):
        frame.wf.to_sql("t", duckdb.connect())
