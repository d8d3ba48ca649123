"""A column of amounts beside Decimal objects and Arrow decimal256, 1,000,000 rows each.

Every figure is a median of paired runs in one process: the contestants take turns, and what is
counted is the processor's time, so that a busy machine slows nobody. No time is asserted.
"""

import decimal
import pickle
import time
from statistics import median

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from walletframe.amounts import AmountArray
from walletframe.amounts.values import read

ROWS = 1_000_000
GROUPS = 5_000
REPEATS = 3
DECIMALS = (6, 8, 9, 18)
ARROW = pd.ArrowDtype(pa.decimal256(76, 18))

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def rows():
    """Give base units of up to 27 digits as strings, their decimals, and group keys."""
    random = np.random.default_rng(0)
    digits = random.integers(1, 10**9, ROWS).astype(object) * 10**18 + random.integers(
        0, 10**18, ROWS
    )
    lengths = random.integers(6, 28, ROWS)
    raw = [str(number)[:length] for number, length in zip(digits, lengths, strict=True)]
    return raw, random.choice(DECIMALS, ROWS), random.integers(0, GROUPS, ROWS)


@pytest.fixture(scope="module", autouse=True)
def wide_context():
    """Let Decimal objects be right: with 28 digits their sums would be rounded."""
    with decimal.localcontext() as context:
        context.prec = 200
        yield


@pytest.fixture(scope="module")
def columns(rows):
    """Give the same amounts in the three forms."""
    amounts = pd.Series(AmountArray.from_raw(rows[0], rows[1]))
    return {
        "amount": amounts,
        "Decimal": pd.Series(amounts.array.to_decimal()),
        "decimal256": amounts.astype(ARROW),
    }


def rounds(contestants):
    """Give the seconds of each contestant in several rounds, taking turns, after one to warm up."""
    found = {name: [] for name in contestants}
    for _ in range(1 + REPEATS):
        for name, run in contestants.items():
            start = time.process_time()
            run()
            found[name].append(time.process_time() - start)
    return {name: seconds[1:] for name, seconds in found.items()}


def show(what, contestants, limit=""):
    """Print milliseconds and how amounts compare, each the median of the rounds."""
    seconds = rounds(contestants)
    ours, *others = seconds
    figures = ", ".join(f"{name} {1000 * median(each):.0f} ms" for name, each in seconds.items())
    pairs = {name: zip(seconds[ours], seconds[name], strict=True) for name in others}
    ratios = ", ".join(
        f"{median(own / other for own, other in pair):.2f} of {name}"
        for name, pair in pairs.items()
    )
    print(f"{what}: {figures}; {ratios}{f' ({limit})' if limit else ''}")


def decimals_from(raw, decimals):
    """Make exact Decimal objects."""
    powers = {places: decimal.Decimal(10) ** -places for places in DECIMALS}
    return pd.Series(
        [
            decimal.Decimal(digits) * powers[places]
            for digits, places in zip(raw, decimals, strict=True)
        ]
    )


def test_making(rows):
    """From the service's strings, and with one token of 77 decimals among them."""
    raw, decimals, _ = rows
    listed = decimals.tolist()
    show(
        "from strings",
        {
            "amount": lambda: AmountArray.from_raw(raw, listed),
            "Decimal": lambda: decimals_from(raw, listed),
        },
        "at most 0.70 of Decimal",
    )


def test_one_token_with_77_decimals(rows, columns):
    """What the finest token costs all others."""
    raw, decimals, keys = rows
    finest = decimals.copy()
    finest[0] = 77
    fine = pd.Series(AmountArray.from_raw(raw, finest))
    column = columns["amount"]
    pairs = {
        "from strings": (
            lambda: AmountArray.from_raw(raw, finest),
            lambda: AmountArray.from_raw(raw, decimals),
        ),
        "sum": (fine.sum, column.sum),
        "groupby sum": (lambda: fine.groupby(keys).sum(), lambda: column.groupby(keys).sum()),
        "cumsum": (fine.cumsum, column.cumsum),
        "compare": (lambda: fine > 5, lambda: column > 5),
        "sort": (fine.sort_values, column.sort_values),
        "to float64": (lambda: fine.astype(float), lambda: column.astype(float)),
        "to text": (fine.array.to_arrow, column.array.to_arrow),
    }
    for what, (with_77, without) in pairs.items():
        show(f"77 decimals, {what}", {"with": with_77, "without": without}, "at most 1.50")


def test_reductions(rows, columns):
    """Sum, grouped sum and running sum."""
    keys = rows[2]
    show("sum", {name: column.sum for name, column in columns.items()}, "at most 0.35 of Decimal")
    grouped = {name: column.groupby(keys) for name, column in columns.items()}
    show(
        "groupby sum",
        {name: group.sum for name, group in grouped.items()},
        "at most 0.80 of Decimal",
    )
    both = {name: columns[name] for name in ("amount", "Decimal")}
    show(
        "cumsum", {name: column.cumsum for name, column in both.items()}, "at most 0.40 of Decimal"
    )


def test_order(columns):
    """Comparing with a number, and sorting."""
    number = decimal.Decimal(10**6)
    show(
        "compare",
        {name: lambda column=column: column > number for name, column in columns.items()},
        "at most 0.40 of Decimal",
    )
    both = {name: columns[name] for name in ("amount", "decimal256")}
    show("sort", {name: column.sort_values for name, column in both.items()}, "at most 1.00")


def test_conversions(columns):
    """To float64, hashing and text, beside the best techniques known."""
    both = {name: columns[name] for name in ("amount", "decimal256")}
    show(
        "to float64",
        {name: lambda column=column: column.astype(float) for name, column in both.items()},
        "at most 0.30",
    )
    integers, scale = columns["amount"].array.exact()[::2]
    show(
        "hash",
        {
            "amount": lambda: pd.util.hash_array(columns["amount"].array),
            "hash(int)": lambda: list(map(hash, integers)),
        },
        "at most 2.00",
    )
    texts = columns["amount"].array.to_arrow().to_pylist()
    show(
        "parse text",
        {"amount": lambda: read(texts), "partition and int": lambda: best_parsing(texts, scale)},
        "at most 2.00",
    )


def test_as_objects_and_text(columns):
    """Scalars, text in and out, CSV and what a notebook shows, beside Decimal objects."""
    both = {name: columns[name] for name in ("amount", "Decimal")}
    texts = columns["amount"].array.to_arrow().to_pylist()
    reading = {
        "amount": lambda: pd.Series(texts, dtype="amount"),
        "Decimal": lambda: pd.Series(list(map(decimal.Decimal, texts))),
    }
    show("from text", reading, "aim: 1.0")
    for what, limit in (
        ("to_list", "40"),
        ("to_csv", "1.5"),
        ("factorize", "1.0"),
        ("unique", "1.0"),
    ):
        show(what, {name: getattr(each, what) for name, each in both.items()}, f"aim: {limit}")
    writing = {name: lambda each=each: each.astype("str") for name, each in both.items()}
    show("text out", writing, "aim: 1.2")
    frames = {name: each.to_frame() for name, each in both.items()}
    show("repr", {name: lambda each=each: repr(each) for name, each in frames.items()}, "aim: 1")


def test_merge(columns):
    """On a key of 100,000 amounts."""
    places = np.random.default_rng(1).integers(0, 100_000, ROWS)
    runs = {}
    for name in ("amount", "Decimal"):
        keys = columns[name][~columns["amount"].duplicated()].iloc[:100_000]
        left = pd.DataFrame({"key": keys.array[places], "x": 1})
        right = pd.DataFrame({"key": keys.array, "y": 2})
        runs[name] = lambda left=left, right=right: left.merge(right, on="key")
    show("merge", runs, "aim: 2.5")


def test_files(columns, tmp_path):
    """Parquet beside decimal128, and a pickle's size and time."""
    narrow = columns["Decimal"].where(columns["amount"] < 10**19)
    frames = {
        "amount": columns["amount"].to_frame("a"),
        "decimal128": narrow.astype(pd.ArrowDtype(pa.decimal128(38, 18))).to_frame("a"),
    }
    path = tmp_path / "a.parquet"
    writing = {name: lambda each=each: each.to_parquet(path) for name, each in frames.items()}
    show("to_parquet", writing, "aim: 4")
    array = columns["amount"].array
    integers = array.exact().integers.tolist()
    packing = {"amount": lambda: pickle.dumps(array, 5), "list": lambda: pickle.dumps(integers, 5)}
    show("pickle", packing, f"{len(pickle.dumps(array, 5)) / ROWS:.1f} bytes a row, aim: 20")


def best_parsing(texts, scale):
    """Read plain text that is known to be right."""
    powers = [10**places for places in range(scale + 1)]
    parts = (text.partition(".") for text in texts)
    return [int(whole + part) * powers[scale - len(part)] for whole, _, part in parts]
