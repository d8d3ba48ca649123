"""Writes docs/amounts.md, the table of all calls: ``python tests/amounts/calls/page.py``.

It judges the calls with the pandas that is installed, and keeps the verdicts beside those of other
versions of pandas, from which the page is made.
"""

import inspect
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from textwrap import fill

import matplotlib as mpl
import pandas as pd
from judge import (
    CLOSE,
    EXACT,
    FLOATS,
    NEAREST,
    NO_DIGITS,
    OBJECTS,
    RAISES,
    REFUSED,
    WRONG,
    Call,
    Verdict,
    judged,
    listed,
)

_HERE = Path(__file__).parent
_VERDICTS = _HERE / "verdicts"
PAGE = _HERE.parents[2] / "docs" / "amounts.md"
ABSENT = "absent"
"""What a call is where an older pandas lacks the method."""

_PANDAS = {
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
    "attrs", "dtype", "dtypes", "exclusions", "flags", "inferred_type", "info", "memory_usage",
    "nbytes", "wf", "col", "bdate_range", "date_range", "infer_freq", "interval_range",
    "period_range", "timedelta_range", "from_dummies", "describe_option", "get_option",
    "option_context", "reset_option", "set_option", "set_eng_float_format", "show_versions", "test",
}  # fmt: skip
_NOT_TRIED = {
    "online", "read_clipboard", "read_hdf", "read_html", "read_iceberg", "read_sas", "read_spss",
    "read_sql_table", "to_clipboard", "to_hdf", "to_iceberg", "to_xarray",
}  # fmt: skip
_SECTIONS = {
    EXACT: """\
## Exact

The result is the exact one, and amounts stay amounts.
""",
    NEAREST: """\
## The nearest float64

The result is a float64, and none is nearer to the exact value.
""",
    NO_DIGITS: """\
## No digits needed

The result is right, and would be right if each amount were its nearest float64.
""",
    OBJECTS: """\
## Objects

The values are exact, but no longer a column of amounts: pandas rounds sums of objects to 28 digits.
""",
    FLOATS: """\
## What floats say

The result is that of `.astype(float)`: pandas, or another library, takes the nearest float64 of
each amount. Small differences of large amounts lose all their digits, and what is counted, ranked
or sorted can be another answer.
""",
    CLOSE: """\
## Floats that miss the last digits

The relative error is below 10^-12.
""",
    WRONG: """\
## Wrong in silence

Amounts become floats or text before anything is computed. Small differences of large amounts lose
all their digits, and what is counted, ranked or sorted can be another answer.
""",
    REFUSED: """\
## Refused with a hint

The error says what to write instead.
""",
    RAISES: """\
## Raises

The error is that of pandas, or of another library.
""",
}
_INTRODUCTION = """\
# What each call does to amounts

<!-- Made by tests/amounts/calls/page.py, which runs every call; don't edit. -->

Every public method of pandas, and calls of other libraries, with pandas {release} and the newest
versions of the others. A column says what differs with an older pandas and the oldest versions of
the others. Each call was run as it stands here, and each value in its result was compared with the
exact one. It stands in the section of its worst result on these amounts:

- some that differ in the 34th digit, 2^256-1 units beside 0.3, 2^53+1 beside 2^53 and 10^33 beside
  2, some where floats are coarsest, and random ones;
- the same with NA among them;
- some with 0 and some with negative amounts among them.

`s` and `t` are Series of amounts, `df` has both as columns and `other` has them swapped, `i` is an
Index, `g` and `dg` are groups, `r` windows of two rows, `x` growing windows, `w` weighted ones,
`rs` days, `one` and `two` amounts. A bare name is the method without arguments.

Not tried, since they need other packages or files:
{not_tried}.
"""


def calls():
    """Return the calls that the files list, and bare ones for names of pandas that they don't."""
    found = listed(_HERE / "pandas.txt")
    known = {(call.holder, call.name) for call in found}
    for holder, (variable, owner) in _PANDAS.items():
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
    """Return the names that take amounts: all of a class, the functions of pandas."""
    left_out = _TAKE_NO_AMOUNTS | _NOT_TRIED
    names = [name for name in dir(owner) if name[0] != "_" and name not in left_out]
    if inspect.ismodule(owner):
        return [name for name in names if inspect.isfunction(getattr(owner, name))]
    return [name for name in names if name != "plot"]


def holders():
    """Return what calls are made on, pandas's first."""
    return list(dict.fromkeys([*_PANDAS, *(call.holder for call in calls())]))


@cache
def verdicts(holder):
    """Judge the calls of a holder."""
    mpl.use("agg")
    return {(holder, call.code): judged(call) for call in calls() if call.holder == holder}


def kept():
    """Read the verdicts for each version of pandas, the newest first."""
    releases = sorted((_numbers(file.stem) for file in _VERDICTS.glob("*.txt")), reverse=True)
    found = {release: _read(release) for release in releases}
    return {release: {**found[releases[0]], **own} for release, own in found.items()}


def installed():
    """Return the version of pandas whose verdicts are those of the installed one."""
    return max(release for release in kept() if release <= _numbers(pd.__version__))


def _numbers(release):
    return tuple(int(part) for part in release.split(".")[:2])


def _name(release):
    return ".".join(map(str, release))


def _read(release):
    """Read a file: all verdicts for the newest pandas, and for others those that differ."""
    text = (_VERDICTS / f"{_name(release)}.txt").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines()]
    return {(holder, code): Verdict(kind, where) for kind, where, holder, code in lines}


def write():
    """Write the page, and the verdicts for the installed pandas, where the newest has others."""
    release, newest = _numbers(pd.__version__), max(kept(), default=(0, 0))
    known = _read(newest) if release < newest else {}
    found = {key: verdict for holder in holders() for key, verdict in verdicts(holder).items()}
    differing = {key: found.get(key, Verdict(ABSENT)) for key in {**known, **found}}
    lines = [
        f"{verdict.kind}\t{verdict.where}\t{holder}\t{code}\n"
        for (holder, code), verdict in differing.items()
        if verdict != known.get((holder, code))
    ]
    (_VERDICTS / f"{_name(release)}.txt").write_text("".join(lines), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


@cache
def advice():
    """Return the patterns of calls, and what to write instead."""
    lines = (_HERE / "advice.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(" -> ") for line in lines if line and not line.startswith("#"))


def advised(holder, code, verdict):
    """Return the first pattern that a call matches, "" where it needs no advice."""
    if verdict.kind not in {OBJECTS, FLOATS, CLOSE, WRONG, RAISES}:
        return ""
    return next((pattern for pattern in advice() if re.search(pattern, f"{holder}: {code}")), None)


def page():
    """Return the text of the page."""
    found = kept()
    newest, *older = found
    names = fill(", ".join(f"`{name}`" for name in sorted(_NOT_TRIED)), 100)
    parts = [_INTRODUCTION.format(release=_name(newest), not_tried=names)]
    for kind, section in _SECTIONS.items():
        keys = [key for key, verdict in found[newest].items() if verdict.kind == kind]
        rows = {key: [release[key] for release in found.values()] for key in keys}
        parts.append(f"{section}\n{_table(rows, older)}")
    return "\n".join(parts)


def _table(rows, older):
    """Return a table without empty columns; calls that differ in nothing else are one row."""
    together = defaultdict(list)
    for (holder, code), (verdict, *others) in rows.items():
        differing = ["" if other == verdict else _cell(holder, code, other) for other in others]
        instead = _instead(holder, code, verdict)
        together[holder, verdict.where, instead, *differing].append(_shown(holder, code))
    table = [("on", "calls", "but", "instead", *(f"pandas {_name(release)}" for release in older))]
    places = holders()
    for (holder, *rest), shown in sorted(together.items(), key=lambda row: places.index(row[0][0])):
        table.append((holder, ", ".join(f"`{call}`" for call in sorted(shown)), *rest))
    columns = [column for column in zip(*table, strict=True) if any(column[1:])]
    lines = [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
    return "\n".join([lines[0], "|---" * len(columns) + "|", *lines[1:]]) + "\n"


def _cell(holder, code, verdict):
    return "; ".join(filter(None, (verdict.kind, verdict.where, _instead(holder, code, verdict))))


def _instead(holder, code, verdict):
    return {"": "", **advice()}[advised(holder, code, verdict)]


def _shown(holder, code):
    """Return a call without its holder's variable."""
    variable, _ = _PANDAS.get(holder, ("", None))
    if code.startswith(f"{variable}.") and ";" not in code:
        code = code.removeprefix(f"{variable}.")
        code = code.removesuffix("()") if code.count("(") == 1 else code
    return code.replace("|", "\\|")


if __name__ == "__main__":
    _VERDICTS.mkdir(exist_ok=True)
    write()
