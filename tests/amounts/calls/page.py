"""Writes docs/amounts.md, the table of all calls: ``python tests/amounts/calls/page.py``."""

import inspect
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from judge import EXACT, FLOATS, NEAREST, OBJECTS, RAISES, Call, judged, listed

_HERE = Path(__file__).parent
PAGE = _HERE.parents[2] / "docs" / "amounts.md"
NEWEST = pd.__version__ >= "3.1"
"""Whether this pandas has the hooks that 3.0 lacks: the page is made with it."""

HOLDERS = {
    "Series": ("s", pd.Series),
    "DataFrame": ("df", pd.DataFrame),
    "Index": ("i", pd.Index),
    "SeriesGroupBy": ("g", pd.api.typing.SeriesGroupBy),
    "DataFrameGroupBy": ("dg", pd.api.typing.DataFrameGroupBy),
    "Rolling": ("r", pd.api.typing.Rolling),
    "Expanding": ("x", pd.api.typing.Expanding),
    "ExponentialMovingWindow": ("w", pd.api.typing.ExponentialMovingWindow),
    "Resampler": ("rs", pd.api.typing.Resampler),
    "pandas": ("pd", pd),
}
_TAKE_NO_AMOUNTS = {
    "wf", "col", "bdate_range", "date_range", "infer_freq", "interval_range", "period_range",
    "timedelta_range", "from_dummies", "describe_option", "get_option", "option_context",
    "reset_option", "set_option", "set_eng_float_format", "show_versions", "test",
}  # fmt: skip
_TITLES = {
    EXACT: "Exact",
    NEAREST: "The nearest float64",
    RAISES: "Raises",
    FLOATS: "Goes through floats",
    OBJECTS: "Gives objects",
}
_ABOUT = {
    EXACT: "The result is the exact one; amounts stay amounts.",
    NEAREST: "The result is a float64, and none is nearer to the exact value.",
    RAISES: "Nothing comes out.",
    FLOATS: "Floats are made of amounts before anything is computed. *off by* is the largest\n"
    "relative error in the data above: *last digits* is below 1e-12, *all* means that no digit\n"
    "is right, or that the answer is another one.",
    OBJECTS: "The values are exact, but no longer a column of amounts: pandas rounds sums of\n"
    "objects to 28 digits.",
}
_INTRODUCTION = """\
# What each call does to amounts

<!-- Made by tests/amounts/calls/page.py, which runs every call; don't edit. -->

Every public method of pandas, and calls of other libraries, run on three sets of amounts: some that
differ in the 34th digit, some beside a balance of 2^256-1 units, some where floats are coarsest;
each has missing ones, and each result is compared with the exact one. `s` and `t` are Series of
amounts, `df` has both as columns, `full` has none missing, `i` is an
Index, `g` and `dg` are groups, `r` windows of two rows, `x` growing
windows, `w` weighted ones, `rs` days, `one` and `two` amounts. A call that is neither exact nor the
nearest float64 has, beside it, what to write instead.

This is of pandas 3.1. With pandas 3.0, which lacks some hooks, plots with `plot` and quantiles of
groups raise, and what `apply`, `map` and `transform` return is a column of objects.
"""


def calls():
    """Give what the file lists, and the names of pandas that it doesn't, as they stand."""
    found = listed(_HERE / "pandas.txt")
    known = {(call.holder, call.name) for call in found}
    for holder, (variable, owner) in HOLDERS.items():
        for name in public(owner):
            if (holder, name) not in known:
                is_method = callable(inspect.getattr_static(owner, name)) or holder == "pandas"
                found.append(Call(holder, name, f"{variable}.{name}" + "()" * is_method))
        found = [call for call in found if call.holder != holder or hasattr_(owner, call.name)]
    return found + listed(_HERE / "others.txt")


def hasattr_(owner, name):
    """Tell whether this pandas has a name; ``plot.bar`` is one of an accessor."""
    return hasattr(owner, name.partition(".")[0])


def public(owner):
    """Give the names that are given amounts: all of a class, the functions of pandas."""
    names = [name for name in dir(owner) if name[0] != "_" and name not in _TAKE_NO_AMOUNTS]
    if inspect.ismodule(owner):
        return [name for name in names if inspect.isfunction(getattr(owner, name))]
    return [name for name in names if name != "plot"]


@cache
def verdicts():
    """Judge all calls."""
    mpl.use("agg")
    return [(call, judged(call)) for call in calls()]


def advice(*, oldest=False):
    """Give the patterns of calls, and what to write instead."""
    parts = (_HERE / "advice.txt").read_text(encoding="utf-8").split("[pandas 3.0]\n")
    lines = (parts[1] if oldest else parts[0]).splitlines()
    return dict(line.split(" -> ") for line in lines if line and not line.startswith("#"))


def advised(call):
    """Give the first pattern that a call matches, or None."""
    whole = f"{call.holder}.{call.name} {call.code}"
    patterns = [*advice(), *(() if NEWEST else advice(oldest=True))]
    return next((pattern for pattern in patterns if re.search(pattern, whole)), None)


def page():
    """Give the text of the page."""
    parts = [_INTRODUCTION]
    for kind, title in _TITLES.items():
        rows = [(call, verdict) for call, verdict in verdicts() if verdict.kind == kind]
        write = _names if kind in {EXACT, NEAREST} else _table
        parts.append(f"## {title}\n\n{_ABOUT[kind]}\n\n{write(rows)}")
    return "\n".join(parts)


def _names(rows):
    lines = ["| on | calls |", "|---|---|"]
    for holder in dict.fromkeys([*HOLDERS, *(call.holder for call, _ in rows)]):
        shown = sorted({_short(call) for call, _ in rows if call.holder == holder})
        if shown:
            lines.append(f"| {holder} | {', '.join(f'`{each}`' for each in shown)} |")
    return "\n".join(lines) + "\n"


def _short(call):
    """Give the name, or the code where other calls of that name are of another class."""
    kinds = {
        v.kind for each, v in verdicts() if (each.holder, each.name) == (call.holder, call.name)
    }
    return call.name if len(kinds) == 1 else _cell(call.code)


def _table(rows):
    lines = ["| on | calls | off by | instead |", "|---|---|---|---|"]
    texts, together = advice(), defaultdict(list)
    for call, verdict in rows:
        together[call.holder, _off(verdict), texts.get(advised(call), "")].append(call)
    for (holder, off, instead), alike in together.items():
        shown = ", ".join(f"`{each}`" for each in sorted(map(_short, alike)))
        lines.append(f"| {holder} | {shown} | {off} | {instead} |")
    return "\n".join(lines) + "\n"


def _cell(code):
    return code.replace("|", "\\|")


def _off(verdict):
    if not verdict.error:
        return ""
    if verdict.error < 1e-12:
        return "last digits"
    return f"{verdict.error:.0%}" if verdict.error < 0.5 else "all"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
