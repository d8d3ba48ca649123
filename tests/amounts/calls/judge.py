"""Runs calls on amounts and on fractions, and says how exact the amounts came out.

A call is a line of code. Its names stand for columns, groups and windows of amounts in one world,
and of `fractions.Fraction` objects, which nothing rounds, in another.
"""

import io
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
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import statistic
from statistic import missing

from walletframe.amounts import AmountDtype

EXACT, NEAREST, RAISES, FLOATS, OBJECTS = "exact", "nearest", "raises", "floats", "objects"
_FROM_BEST = [EXACT, NEAREST, OBJECTS, FLOATS, RAISES]

_LARGE = "1000000000000000.00000000000000000"
_UINT256 = str(2**256 - 1)
_DATA = {
    # Floats can't tell these apart, and Decimals of 28 digits can't add them.
    "near": (
        [f"{_LARGE}3", f"{_LARGE}1", None, f"{_LARGE}2", f"{_LARGE}3", f"{_LARGE}5"],
        [f"{_LARGE}7", f"{_LARGE}2", f"{_LARGE}4", None, f"{_LARGE}1", f"{_LARGE}6"],
    ),
    # A spam balance of 2**256-1 units beside others.
    "wide": (
        [f"{_UINT256[:-18]}.{_UINT256[-18:]}", "1000000000000000", "0.3", "2.1", None, "0.3"],
        ["0.3", "12.000000000000000001", "7", None, "0.000001", "3"],
    ),
    # Just above 2**49, where floats are coarsest: what three of them lose is more than the last
    # digit of their sum.
    "binary": (
        [f"{2**49}.06", f"{2**49}.06", f"{2**49}.06", None, f"{2**49}.05", f"{2**49}.03"],
        [f"{2**49}.052", f"{2**49}.06", None, f"{2**49}.061", f"{2**49}.05", f"{2**49}.062"],
    ),
}
_KEYS = ["x", "y", "x", "y", "x", "y"]
_DAYS = pd.date_range("2026-01-01", periods=6)
_NAMES = {
    "s": lambda w: pd.Series(w.make(w.left), name="a"),
    "t": lambda w: pd.Series(w.make(w.right), name="b"),
    "df": lambda w: pd.DataFrame({"a": w.s, "b": w.t}),
    "full": lambda w: w.t.dropna().reset_index(drop=True),
    "i": lambda w: pd.Index(w.full),
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
    "every_text": lambda w: EveryText(w.left),
    "path": lambda w: lambda name: Path(w.folder, name),
    "database": lambda _: sqlite3.connect(":memory:"),
    "pd": lambda _: pd,
    "np": lambda _: np,
    "io": lambda _: io,
    "Fraction": lambda _: Fraction,
    **{name: lambda _, name=name: getattr(statistic, name) for name in statistic.__all__},
    **{
        name: lambda _, path=path: import_module(path)
        for name, path in {
            "duckdb": "duckdb",
            "json": "json",
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


@dataclass(frozen=True, slots=True)
class Call:
    """A line of code under a public name, what gives the same from fractions, and advice."""

    holder: str
    name: str
    code: str
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The class of a call, its largest relative error, and the words of an exception."""

    kind: str
    error: float = 0.0
    words: str = ""


class World:
    """Columns of one kind, and what is made of them when a call names it."""

    def __init__(self, texts, make, folder):
        (self.left, self.right), self.make, self.folder = texts, make, folder

    def __getattr__(self, name):
        """Make what a name stands for, once."""
        if name not in _NAMES:
            raise AttributeError(name)
        value = vars(self)[name] = _NAMES[name](self)
        return value

    def run(self, code):
        """Run statements, and give the value of the last one."""
        names = {name: getattr(self, name) for name in re.findall(r"\w+", code) if name in _NAMES}
        *before, last = code.split("; ")
        try:
            exec("\n".join([*before, f"found = ({last})"]), names)  # noqa: S102  lines of our files
            return names["found"]
        finally:
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")
            if "database" in vars(self):
                self.database.close()


def _amounts(texts):
    return pd.array(texts, dtype=AmountDtype())


def _fractions(texts):
    values = [np.nan if text is None else Fraction(text) for text in texts]
    return np.array(values, dtype=object)


@dataclass(frozen=True)
class EveryText:
    """Equal to each text in which all amounts stand with all their digits."""

    texts: list

    def is_in(self, found):
        """Tell whether all of them are there."""
        return isinstance(found, str) and all(text in found for text in self.texts if text)


def judged(call):
    """Give the worst verdict of a call over all sets of data."""
    with TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        verdicts = [_judged(call, texts, folder) for texts in _DATA.values()]
    return max(verdicts, key=lambda verdict: (_FROM_BEST.index(verdict.kind), verdict.error))


def _judged(call, texts, folder):
    try:
        found = World(texts, _amounts, folder).run(call.code)
    except SyntaxError:
        raise
    except Exception as fault:  # noqa: BLE001  whatever a call raises is judged
        return Verdict(RAISES, words=f"{type(fault).__name__}: {fault}".split("\n")[0])
    try:
        wanted = World(texts, _fractions, folder).run(call.reference or call.code)
        if isinstance(wanted, EveryText):
            return Verdict(EXACT) if wanted.is_in(found) else Verdict(FLOATS, inf)
        return _compared(found, wanted)
    except Exception as fault:
        fault.add_note(f"what comes out exactly is unknown: {call}")
        raise


def _compared(found, wanted):
    ours, theirs = list(leaves(found)), list(leaves(wanted))
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} values, and not {len(theirs)}: {ours} {theirs}")
    pairs = list(zip(ours, theirs, strict=True))
    error = max((_error(*pair) for pair in pairs), default=0.0)
    if _holds_objects(found):
        return Verdict(OBJECTS, error)
    if error:
        return Verdict(FLOATS, error)
    inexact = any(isinstance(leaf, float) and isinstance(exact, Fraction) for leaf, exact in pairs)
    return Verdict(NEAREST if inexact else EXACT)


def _error(found, wanted):
    """Give the relative error of a value; 0 if it is equal, or the nearest float."""
    if found == wanted:
        return 0.0
    numbers = isinstance(found, float | Fraction) and isinstance(wanted, float | Fraction)
    if not numbers or (isinstance(found, float) and found == _nearest(wanted)):
        return 0.0 if numbers else inf
    if not isfinite(found) or not isfinite(wanted) or not wanted:
        return inf
    return float(abs(Fraction(found) / Fraction(wanted) - 1))


def _nearest(exact):
    try:
        return exact.numerator / exact.denominator if isinstance(exact, Fraction) else exact
    except OverflowError:
        return inf if exact > 0 else -inf


def leaves(value):
    """Give the values in a result, its labels too, as comparable ones."""
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
    if isinstance(value, str | bool | Fraction):
        return value
    if value is None or (pd.api.types.is_scalar(value) and missing(value)):
        return None
    if isinstance(value, Decimal | int):
        return Fraction(value)
    if isinstance(value, float):
        return value
    known = isinstance(value, pd.Timestamp | pd.Timedelta | pd.Interval | pd.Period)
    return str(value) if known else type(value).__name__


def _holds_objects(value):
    """Tell whether amounts have become objects, on which pandas computes as it likes."""
    if isinstance(value, pd.DataFrame):
        return any(_holds_objects(value.iloc[:, place]) for place in range(value.shape[1]))
    if isinstance(value, tuple | list):
        return any(map(_holds_objects, value))
    if isinstance(value, pd.Series | pd.Index | np.ndarray) and value.dtype == object:
        return any(isinstance(each, Decimal) for each in np.ravel(value))
    return False


def listed(path):
    """Read the calls of a file: one a line, under their holders, of which each has them all."""
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
