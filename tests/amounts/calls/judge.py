"""Runs calls on amounts and on fractions, and judges the exactness of the results.

A call is a line of code. Its names stand for columns, groups and windows of amounts in one world,
and of `fractions.Fraction` objects, which nothing rounds, in another.
"""

import io
import operator
import re
import sqlite3
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from math import inf, isfinite
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import statistic
from statistic import missing

from walletframe.amounts import AmountDtype

EXACT, NEAREST, OBJECTS = "exact", "nearest", "objects"
FLOATS, CLOSE, WRONG = "floats", "close", "wrong"
_FROM_BEST = [EXACT, NEAREST, OBJECTS, FLOATS, CLOSE, WRONG]
NO_DIGITS, REFUSED, RAISES = "no digits", "refused", "raises"
CLOSE_ERROR = 1e-12

_UINT256 = str(2**256 - 1)
_DRAW = Random(42)  # noqa: S311 - not a secret: every run needs the same test data


def _drawn():
    digits = f"{_DRAW.randrange(10 ** _DRAW.randrange(17, 28)):019}"
    return f"{digits[:-18]}.{digits[-18:]}"


def _beside(*last):
    return [f"1.{digit:033}" for digit in last]


def _less(*last):
    return [f"-{text}" for text in _beside(*last)]


_DATA = {
    # Floats can't tell these apart, Decimals of 28 digits can't add them, and logarithms are least.
    "near": (_beside(3, 1, 4, 0, 3, 5), _beside(7, 2, 4, 8, 1, 6)),
    # A spam balance of 2**256-1 units beside others.
    "spam": (
        [f"{_UINT256[:-18]}.{_UINT256[-18:]}", "1000000000000000", "0.3", "2.1", "5", "0.3"],
        ["0.3", "12.000000000000000001", "7", "1", "0.000001", "3"],
    ),
    "mixed": (
        [str(n) for n in (2**53 + 1, 2**53, 10**33, 2, 10**33 + 1, 3)],
        [str(n) for n in (2**53, 10**33, 2**53 + 1, 2, 10**33 - 1, 1)],
    ),
    # Just above 2**49, where floats are coarsest: three of them lose together more than the last
    # digit of their sum.
    "coarse": (
        [f"{2**49}.{digits}" for digits in ("06", "06", "06", "07", "05", "03")],
        [f"{2**49}.{digits}" for digits in ("052", "06", "053", "061", "05", "062")],
    ),
    "drawn": ([_drawn() for _ in range(6)], [_drawn() for _ in range(6)]),
}
_CONDITIONS = {
    "NA": [
        ([*s[:2], None, s[3], None, s[5]], [*t[:3], None, *t[4:]])
        for name, (s, t) in _DATA.items()
        if name != "coarse"
    ],
    "0": [([*s[:2], "0", s[3], "0", s[5]], [*t[:3], "0", *t[4:]]) for s, t in (_DATA["drawn"],)],
    # Their sums, means, medians and quantiles all but cancel, and log1p is largest beside -1.
    "negative amounts": [
        (
            [*_beside(3), *_less(1), *_beside(2), "-0.375", f"-0.{'9' * 33}", f"2.{'9' * 32}8"],
            [*_less(2), *_beside(7, 4), "-1", "-2", "0.5"],
        ),
        (
            [*_beside(3, 3), *_less(1, 1), "0.25", "-0.25"],
            [*_beside(7, 2), "-4", "8", "-1", "6"],
        ),
    ],
}
_KEYS = ["x", "y", "x", "y", "x", "y"]
_DAYS = pd.date_range("2026-01-01", periods=6)
_NAMES = {
    "s": lambda w: pd.Series(w.make(w.left), name="a"),
    "t": lambda w: pd.Series(w.make(w.right), name="b"),
    "df": lambda w: pd.DataFrame({"a": w.s, "b": w.t}),
    "other": lambda w: pd.DataFrame({"a": w.t, "b": w.s}),
    "i": lambda w: pd.Index(w.t.rename(None)),
    "one": lambda w: w.s[0],
    "two": lambda w: w.s[1],
    "keyed": lambda w: w.df.assign(key=_KEYS, n=range(6)),
    "ordered": lambda w: w.keyed[["a", "n"]].dropna().sort_values("a", kind="stable"),
    "with_floats": lambda w: w.df[["a"]].assign(f=0.5),
    "ints": lambda _: pd.Series(range(6)),
    "floats": lambda _: pd.Series([0.5] * 6),
    "mask": lambda _: pd.Series([True, False] * 3),
    "keys": lambda _: _KEYS,
    "days": lambda _: _DAYS,
    "daily": lambda _: lambda holder: holder.set_axis(_DAYS),
    "g": lambda w: w.s.groupby(_KEYS),
    "dg": lambda w: w.df.groupby(_KEYS),
    "r": lambda w: w.s.rolling(2),
    "r4": lambda w: w.s.rolling(4, min_periods=2),
    "x": lambda w: w.s.expanding(),
    "w": lambda w: w.s.ewm(alpha=0.5),
    "rs": lambda w: w.s.set_axis(_DAYS).resample("2D"),
    "texts": lambda w: w.left,
    "path": lambda w: lambda name: Path(w.folder, name),
    "database": lambda _: sqlite3.connect(":memory:"),
    "pd": lambda _: pd,
    "np": lambda _: np,
    "io": lambda _: io,
    "operator": lambda _: operator,
    "Fraction": lambda _: Fraction,
    **{name: lambda _, name=name: getattr(statistic, name) for name in statistic.__all__},
    **{
        name: lambda _, path=path: import_module(path)
        for name, path in {
            "duckdb": "duckdb",
            "json": "json",
            "math": "math",
            "nw": "narwhals",
            "pa": "pyarrow",
            "pickle": "pickle",
            "pl": "polars",
            "plt": "matplotlib.pyplot",
            "px": "plotly.express",
            "statistics": "statistics",
        }.items()
    },
}
"""What the names in a call stand for, in a world."""

_COPIED = {"s", "t", "df", "other", "keyed"}
_MADE = {}  # each world gets a copy: a call may write into it


@dataclass(frozen=True, slots=True)
class Call:
    """A line of code under a public name, and the code that computes the same from fractions."""

    holder: str
    name: str
    code: str
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The class of a call over all sets of data, and the sets on which it has another class."""

    kind: str
    where: str = ""


class World:
    """Columns of one kind, and the objects that a call names, made from them on first use."""

    def __init__(self, texts, make, folder):
        (self.left, self.right), self.make, self.folder = texts, make, folder

    def __getattr__(self, name):
        """Return the object of a name, made on first use."""
        if name not in _NAMES:
            raise AttributeError(name)
        made = (self.make, id(self.left), name)
        if name not in _COPIED:
            value = _NAMES[name](self)
        elif made in _MADE:
            value = _MADE[made].copy()
        else:
            value = _NAMES[name](self)
            _MADE[made] = value.copy()
        vars(self)[name] = value
        return value

    def run(self, code):
        """Run statements, and return the value of the last one."""
        names = {name: getattr(self, name) for name in re.findall(r"\w+", code) if name in _NAMES}
        *before, last = code.split("; ")
        try:
            exec("\n".join([*before, f"found = ({last})"]), names)  # noqa: S102 - the code is in this folder, none comes from outside
            return names["found"]
        finally:
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")
            if "database" in vars(self):
                self.database.close()


def _amounts(texts):
    return pd.array(texts, dtype=AmountDtype())


def _objects(of_text):
    def make(texts):
        return np.array([np.nan if text is None else of_text(text) for text in texts], object)

    return make


_fractions = _objects(Fraction)
_rounded = _objects(lambda text: Fraction(float(text)))


def _floats(texts):
    return np.array([np.nan if text is None else float(text) for text in texts])


def judged(call):
    """Return the verdict of a call over all sets of data."""
    with TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        kinds = {
            condition: {_judged(call, texts, folder) for texts in sets}
            for condition, sets in {"": _DATA.values(), **_CONDITIONS}.items()
        }
        worst = {condition: _worst(some) for condition, some in kinds.items()}
        kind = _worst(worst.values()) or (RAISES if RAISES in kinds[""] else REFUSED)
        if kind == EXACT and not _is_moved(call, folder):
            kind = NO_DIGITS
    return Verdict(kind, _where(kinds, worst, kind))


def _worst(kinds):
    return max((kind for kind in kinds if kind in _FROM_BEST), key=_FROM_BEST.index, default=None)


def _where(kinds, worst, kind):
    """Return the data on which the class is another one, as text."""
    parts = []
    if kind in {OBJECTS, CLOSE, WRONG} and worst[""] not in {kind, None}:
        spoilers = [condition for condition, other in worst.items() if other == kind]
        parts.append(f"{worst['']} without {' or '.join(spoilers)}")
    for fault in (REFUSED, RAISES):
        where = [condition for condition, some in kinds.items() if fault in some]
        if where and fault != kind:
            data = f"with {' and '.join(where)}" if where[0] else "on some amounts"
            parts.append(f"{fault} {data}")
    return "; ".join(parts)


def _is_moved(call, folder):
    """Return whether the exact result changes if amounts are rounded to floats."""
    code = call.reference or call.code
    for texts in _DATA.values():
        exact = list(leaves(World(texts, _fractions, folder).run(code)))
        try:
            rounded = list(leaves(World(texts, _rounded, folder).run(code)))
        except Exception:  # noqa: BLE001 - any error shows that rounding matters
            return True
        if exact != rounded:
            return True
    return False


def _judged(call, texts, folder):
    try:
        result = World(texts, _amounts, folder).run(call.code)
    except SyntaxError:
        raise
    except Exception as fault:  # noqa: BLE001 - any error of pandas is the verdict on the call
        return REFUSED if "\nHint: " in str(fault) else RAISES
    try:
        wanted = World(texts, _fractions, folder).run(call.reference or call.code)
        kind = _compared(result, wanted)
        if kind in {CLOSE, WRONG} and _as_floats(call, texts, folder, result, wanted):
            kind = FLOATS
    except Exception as fault:
        fault.add_note(f"what comes out exactly is unknown: {call}")
        raise
    return kind


def _compared(result, wanted):
    ours, theirs = list(leaves(result)), list(leaves(wanted))
    if len(ours) != len(theirs) or not ours:
        raise ValueError(f"{len(ours)} values, and not {len(theirs)}: {ours} {theirs}")
    pairs = list(zip(ours, theirs, strict=True))
    error = max(_error(*pair) for pair in pairs)
    if error:
        return CLOSE if error < CLOSE_ERROR else WRONG
    if _holds_objects(result):
        return OBJECTS
    inexact = any(isinstance(leaf, float) and isinstance(exact, Fraction) for leaf, exact in pairs)
    return NEAREST if inexact else EXACT


def _as_floats(call, texts, folder, result, wanted):
    """Return whether inexact values equal the results of the same call on the nearest floats."""
    try:
        near = list(leaves(World(texts, _floats, folder).run(call.code)))
    except Exception:  # noqa: BLE001 - any error shows that floats have no such call
        return False
    ours, exact = list(leaves(result)), list(leaves(wanted))
    return len(near) == len(ours) and all(
        not _error(one, right) or _error(one, other) < CLOSE_ERROR
        for one, other, right in zip(ours, near, exact, strict=True)
    )


def _error(result, wanted):
    """Return the relative error of a value; 0 if it is equal, or the nearest float."""
    if result == wanted:
        return 0.0
    numbers = isinstance(result, float | Fraction) and isinstance(wanted, float | Fraction)
    if not numbers or (isinstance(result, float) and result == _nearest(wanted)):
        return 0.0 if numbers else inf
    if not isfinite(result) or not isfinite(wanted) or not wanted:
        return inf
    return float(abs(Fraction(result) / Fraction(wanted) - 1))


def _nearest(exact):
    try:
        return exact.numerator / exact.denominator if isinstance(exact, Fraction) else exact
    except OverflowError:
        return inf if exact > 0 else -inf


def leaves(value):
    """Return the values in a result, its labels too, in a comparable form."""
    if isinstance(value, pd.DataFrame):
        value = [value.index, value.columns, *(column.array for _, column in value.items())]
    elif isinstance(value, pd.Series):
        value = [value.index, value.array]
    elif isinstance(value, Mapping):
        value = list(value.items())
    if isinstance(value, str | bytes) or not pd.api.types.is_list_like(value):
        yield _leaf(value)
    elif isinstance(value, np.ndarray):
        for each in value.ravel().tolist():
            yield from leaves(each)
    else:
        for each in value:
            yield from leaves(each)


def _leaf(value):
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | bool | Fraction | statistic.Texts):
        return value
    if value is None or (pd.api.types.is_scalar(value) and missing(value)):
        return None
    if isinstance(value, Decimal | int):
        return Fraction(value)
    if isinstance(value, float):
        return value
    if isinstance(value, pd.Timestamp | pd.Timedelta | pd.Interval | pd.Period | slice):
        return str(value)
    raise TypeError(f"a {type(value).__name__} can't be compared")


def _holds_objects(value):
    """Return whether amounts have become objects, on which pandas computes as it likes."""
    if isinstance(value, pd.DataFrame):
        return any(_holds_objects(value.iloc[:, place]) for place in range(value.shape[1]))
    if isinstance(value, tuple | list):
        return any(map(_holds_objects, value))
    if isinstance(value, pd.Series | pd.Index | np.ndarray) and value.dtype == object:
        return any(isinstance(each, Decimal) for each in np.ravel(value))
    return False


def listed(path):
    """Read the calls of a file: one in each line, below the holders that all have them."""
    calls, holders = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            holders = [part.strip("[] ").split() for part in line.split("] [")]
        elif line and not line.startswith("#"):
            name, _, rest = line.partition(": ")
            code, _, reference = rest.partition("  ==  ")
            calls += [
                Call(holder, name, _filled(code, *variables), _filled(reference, *variables))
                for holder, *variables in holders
            ]
    return calls


def _filled(code, ours="", other=""):
    return re.sub(r"\bY\b", other, re.sub(r"\bX\b", ours, code))
