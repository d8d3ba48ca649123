"""Files and other processes keep all digits, also of extreme amounts."""

import copy
import io
import multiprocessing
import pickle
from decimal import Context, Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.flight
import pyarrow.parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from plain_process import printed

from walletframe.amounts import AmountArray
from walletframe.amounts.arrow import to_portable_table
from walletframe.errors import AmountError, ArgumentError, SettingsError
from walletframe.pandas_versions import TEXT

LARGEST = 2**256 - 1
STEP, WIDE = Decimal("1e-18"), Context(prec=200)


def frame_at(decimals):
    """Return 0, one base unit, the largest uint256 and NA."""
    raw = ["0", "1", str(LARGEST), None, f"-{LARGEST}"]
    return pd.DataFrame({"amount": AmountArray.from_raw(raw, decimals), "row": range(5)})


@pytest.fixture(params=[0, 18, 77])
def frame(request):
    """Return a frame at 0, 18 or 77 decimals."""
    return frame_at(request.param)


@pytest.fixture
def frames():
    """Return all three frames, for tests that need a process of their own."""
    return {str(decimals): frame_at(decimals) for decimals in (0, 18, 77)}


def total(array):
    """Add up in another process."""
    return array.sum()


def test_csv(frame):
    """CSV contains plain text, which is read as amounts."""
    text = frame.to_csv(index=False)
    assert "E" not in text
    read = pd.read_csv(io.StringIO(text), dtype={"amount": "amount"})
    pd.testing.assert_frame_equal(read, frame)


@pytest.mark.parametrize("orient", ["records", "columns", "split"])
def test_json(frame, orient):
    """JSON contains text, since JSON numbers would be rounded."""
    text = frame.to_json(orient=orient)
    read = pd.read_json(io.StringIO(text), orient=orient, dtype={"amount": "amount"})
    pd.testing.assert_frame_equal(read, frame)


@pytest.mark.parametrize("refused", ["0.1", '"x"', "1e400"])
def test_json_with_a_value_that_is_no_amount(refused):
    """Pandas keeps a column unconverted after a ValueError; this error must be another one."""
    text = f'[{{"amount": "1.5"}}, {{"amount": {refused}}}]'
    with pytest.raises(AmountError, match="at position 1"):
        pd.read_json(io.StringIO(text), dtype={"amount": "amount"})


def test_parquet_and_feather(frame, tmp_path):
    """Files that pandas writes are read as amounts."""
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_feather(tmp_path / "a.feather")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "a.parquet"), frame)
    pd.testing.assert_frame_equal(pd.read_feather(tmp_path / "a.feather"), frame)


def test_an_index_of_amounts(frame, tmp_path):
    """Parquet, Feather and Arrow tables keep the type of an index, too."""
    keyed = frame.dropna().set_index("amount")
    keyed.to_parquet(tmp_path / "a.parquet")
    keyed.to_feather(tmp_path / "a.feather")
    table = pa.Table.from_pandas(keyed)
    for read in (
        pd.read_parquet(tmp_path / "a.parquet"),
        pd.read_feather(tmp_path / "a.feather"),
        table.to_pandas(),
    ):
        pd.testing.assert_frame_equal(read, keyed)
    assert table.to_pandas(ignore_metadata=True)["amount"].dtype == "amount"


def test_arrow_tables_keep_the_type(frame):
    """The type survives Arrow's own files and chunks, and has a hash, which shuffles need."""
    table = pa.Table.from_pandas(frame)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    read = pa.ipc.open_stream(sink.getvalue()).read_all()
    assert {read.schema.field("amount").type: 1} == {table.schema.field("amount").type: 1}
    pd.testing.assert_frame_equal(read.to_pandas(), frame)


class TableServer(pyarrow.flight.FlightServerBase):
    """A server that sends one table to every client."""

    def __init__(self, table):
        super().__init__("grpc://127.0.0.1:0")
        self.table = table

    def do_get(self, context, ticket):
        """Send the table; Flight fixes this name."""
        return pyarrow.flight.RecordBatchStream(self.table)


def test_flight_keeps_the_type(frame):
    """A table sent over Arrow's own protocol has a column of amounts."""
    with (
        TableServer(pa.Table.from_pandas(frame)) as server,
        pyarrow.flight.connect(f"grpc://127.0.0.1:{server.port}") as client,
    ):
        read = client.do_get(pyarrow.flight.Ticket(b"")).read_all()
    pd.testing.assert_frame_equal(read.to_pandas(), frame)


@pytest.mark.parametrize("least", [1, "1"])
def test_filters_do_not_compare_amounts_as_text(frame, tmp_path, least):
    """Arrow raises an error instead of comparing text, in which 10 is below 9."""
    frame.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(pa.ArrowNotImplementedError, match=r"walletframe\.amount"):
        pd.read_parquet(tmp_path / "a.parquet", filters=[("amount", ">", least)])


def test_files_are_text_to_others(frames, tmp_path):
    """DuckDB, and Arrow without the registered type, read amounts as text."""
    paths = [str(tmp_path / f"{name}.parquet") for name in frames]
    texts = [frame["amount"].array.to_arrow().to_pylist() for frame in frames.values()]
    for path, frame, text in zip(paths, frames.values(), texts, strict=True):
        frame.to_parquet(path)
        assert duckdb.sql(f"select amount from '{path}'").fetchall() == [(each,) for each in text]
    code = (
        "import sys, pyarrow.parquet as pq\n"
        "for path in sys.argv[1:]:\n"
        "    column = pq.read_table(path)['amount']; print(column.type, *column.to_pylist())"
    )
    lines = printed(code, *paths)
    assert [line.split() for line in lines] == [["large_string", *map(str, each)] for each in texts]


def test_copies_and_pickles(frame):
    """Copies and pickles are independent and keep all digits."""
    for twin in (copy.copy(frame), copy.deepcopy(frame), pickle.loads(pickle.dumps(frame))):
        pd.testing.assert_frame_equal(twin, frame)
    array = frame["amount"].array
    twin = copy.deepcopy(array)
    twin[0] = 5
    assert array[0] == 0
    scalar = array[1]
    assert pickle.loads(pickle.dumps(scalar)) == copy.deepcopy(scalar) == scalar


def test_other_processes(frames):
    """Arrays go to other processes and amounts come back."""
    columns = [frame["amount"] for frame in frames.values()]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        result = pool.map(total, [column.array for column in columns])
    assert result == [column.sum() for column in columns]


def test_other_dtypes(frame):
    """Text, objects and categories are converted back to amounts."""
    column = frame["amount"]
    for dtype in (TEXT, "string", object, "category", pd.ArrowDtype(pa.string())):
        assert column.astype(dtype).astype("amount").equals(column)
    assert column.array.to_arrow(pa.string()).type == pa.string()
    assert np.array(column.array, dtype=str)[3] == "<NA>"


@pytest.mark.parametrize("kind", [pa.decimal128(38, 18), pa.decimal256(76, 30)])
def test_arrow_decimals(kind):
    """Decimals of Arrow hold an amount that fits, and are read back."""
    column = pd.Series(["1.5", "1e-18", None, "-99999999999999999999"], dtype="amount")
    decimals = column.astype(pd.ArrowDtype(kind))
    assert decimals.dtype == pd.ArrowDtype(kind)
    assert decimals.astype("amount").equals(column)
    assert column.array.to_arrow(pa.decimal128(38, 18)).to_pylist()[1] == Decimal("1e-18")
    coarser = AmountArray.from_raw([150], 2).to_arrow(pa.decimal128(38, 1))
    assert coarser.to_pylist() == [Decimal("1.5")]


def test_numbers():
    """Whole amounts become integers of many kinds; floats are the nearest ones."""
    whole = pd.Series(["12", None, "-7"], dtype="amount")
    assert whole.astype("Int64").tolist() == [12, pd.NA, -7]
    assert whole.astype(pd.ArrowDtype(pa.int64())).tolist() == [12, pd.NA, -7]
    assert whole.dropna().astype("int8").tolist() == [12, -7]
    assert whole.astype("Float32").dtype == "Float32"
    assert whole.astype(pd.ArrowDtype(pa.float64())).dtype == pd.ArrowDtype(pa.float64())
    assert whole.to_numpy(float, na_value=-1).tolist() == [12, -1, -7]
    assert whole.array.to_numpy().tolist() == [12, pd.NA, -7]
    assert whole.astype("float32").tolist()[0] == 12
    assert pd.Series([LARGEST], dtype="amount").astype("float32")[0] == np.inf
    assert whole.array.astype("amount", copy=False) is whole.array
    assert np.asarray(whole.array, dtype="U5").tolist() == ["12", "<NA>", "-7"]
    assert pa.array(whole.array, type=pa.float64()).to_pylist() == [12, None, -7]
    assert whole.array.to_decimal().tolist() == [Decimal(12), None, Decimal(-7)]


def portable(frame, path):
    """Write a table without walletframe's types."""
    pa.parquet.write_table(to_portable_table(frame), path)
    return path


def test_portable_tables_have_decimals_and_text(frame):
    """Every amount is text, and the nearest decimal where 20 digits before the point hold it."""
    table = to_portable_table(frame)
    assert table.column_names == ["amount", "amount_text", "row"]
    assert b"pandas" not in (table.schema.metadata or {})
    assert AmountArray._from_sequence(table["amount_text"].to_pylist()).equals(
        frame["amount"].array
    )
    assert table["amount"].type == pa.decimal128(38, 18)
    for decimal, exact in zip(
        table["amount"].to_pylist(), frame["amount"].array.to_decimal(), strict=True
    ):
        held = exact is not None and abs(exact) < 10**20
        assert decimal == (exact.quantize(STEP, context=WIDE) if held else None)


@given(st.integers(-(10**60), 10**60), st.integers(0, 77))
@example(5, 19)
@example(15, 19)
@example(-25, 19)
@example(10**38 - 1, 18)
@example(10**38, 18)
@example(10**39 - 1, 19)
def test_decimals_are_the_nearest(integer, scale):
    """Decimals are rounded half to even; one with more than 20 digits before the point is null."""
    array = AmountArray.from_raw([integer, None], scale)
    units = round(Fraction(integer, 10**scale) * 10**18)
    result = to_portable_table(pd.DataFrame({"amount": array}))["amount"].to_pylist()
    nearest = WIDE.scaleb(units, -18) if abs(units) < 10**38 else None
    assert result == [nearest, None]


@pytest.mark.parametrize("own", ["amount_text", "d_text"])
def test_column_named_like_exact_text_is_refused(frame, own):
    """A column named like exact text is refused beside amounts and beside decimals."""
    decimals = pd.array([Decimal(1)] * 5, dtype=pd.ArrowDtype(pa.decimal128(38, 18)))
    with pytest.raises(SettingsError, match=rf"frame.rename\(columns=\{{'{own}': …"):
        to_portable_table(frame.assign(d=decimals, **{own: "mine"}))
    names = to_portable_table(frame.assign(d=decimals)).column_names
    assert names == ["amount", "amount_text", "row", "d"]


def test_a_column_without_a_type_is_named():
    """The error names the types of its values, and has a hint."""
    for values, kinds in ([["a", 1], "int, str"], [[2**70], "int"], [[1j], "complex"]):
        frame = pd.DataFrame({"mine": pd.Series(values, dtype=object)})
        with pytest.raises(
            ArgumentError, match=rf"'mine', with values of type {kinds}, [\s\S]*astype"
        ):
            to_portable_table(frame)


def test_portable_files_open_in_pandas_without_walletframe(frames, tmp_path):
    """Pandas without walletframe reads exact text and decimals."""
    paths = [str(portable(frame, tmp_path / name)) for name, frame in frames.items()]
    code = (
        "import sys, pandas as pd\n"
        "for path in sys.argv[1:]: print(*pd.read_parquet(path)['amount_text'].fillna('NA'))"
    )
    assert [line.split() for line in printed(code, *paths)] == [
        [text or "NA" for text in frame["amount"].array.to_arrow().to_pylist()]
        for frame in frames.values()
    ]


def test_arrow_floats_are_no_amounts():
    """A file whose column of amounts has become floats is refused."""
    with pytest.raises(AmountError, match=r"0\.5"):
        pd.array(pd.array([0.5], dtype=pd.ArrowDtype(pa.float64())), dtype="amount")
    dtype = pd.api.types.pandas_dtype("amount")
    with pytest.raises(AmountError, match=r"0\.5"):
        dtype.__from_arrow__(pa.chunked_array([[0.5]]))
    assert dtype.__from_arrow__(pa.array([1, None])).tolist() == [1, pd.NA]
    assert dtype.__from_arrow__(pa.array([Decimal("1.5")])).tolist() == [Decimal("1.5")]
