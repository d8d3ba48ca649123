"""Writes docs/amounts.md, the table of all calls: ``python tests/amounts/calls/page.py``.

The script judges all calls with the installed pandas, and stores the verdicts. The page is made
from the stored verdicts of all versions of pandas.
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
"""The verdict if an older pandas lacks the method."""

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

The result is exact, and amounts stay amounts.
""",
    NEAREST: """\
## The nearest float64

The result is the float64 that is nearest to the exact value.
""",
    NO_DIGITS: """\
## Correct even with floats

The result is correct, and would also be correct after `.astype(float)`.
""",
    OBJECTS: """\
## Objects

The values are exact, but the result has the dtype object. Before you add, convert the result with
`wf.as_amounts`: pandas rounds sums of Decimal objects to 28 digits.
""",
    FLOATS: """\
## Computed with floats

The result is the same as after `.astype(float)`. Small differences between large amounts are lost,
so counts, ranks and sort orders can be wrong.
""",
    CLOSE: """\
## Floats with a small error

The relative error of the result is below 10^-12.
""",
    WRONG: """\
## Silently wrong

There is no error, but the result is wrong. It also differs from the result after `.astype(float)`.
""",
    REFUSED: """\
## Refused with a hint

The call raises an error of walletframe. Its hint says what to use instead.
""",
    RAISES: """\
## Raises

The call raises an error of pandas or of another library.
""",
}
_INTRODUCTION = """\
# What each call does to amounts

<!-- Made by tests/amounts/calls/page.py, which runs every call; don't edit. -->

This page lists what each public pandas method does to amounts, with pandas {release}. It also lists
many calls of other libraries, in their newest versions.

The columns for older versions of pandas state only differences. They were made with the oldest
supported versions of the other libraries. In these columns, `exact`, `objects`, `floats` (*Computed
with floats*), `wrong`, `refused` and `raises` are sections of this page. `absent` means that the
method does not exist.

Each call was run exactly as shown, and each value in the result was compared with the exact
value. A call is in the section of its worst result for these inputs:

- amounts that differ only in the 34th digit;
- very large amounts beside very small ones (2^256-1 and 0.3; 10^33 and 2);
- different amounts that have the same float64 (2^53 and 2^53+1);
- amounts in a range where floats are coarse, and random amounts;
- any of these amounts with some NA;
- amounts with some zeros, and amounts with some negative amounts.

The column *except* lists inputs for which a call raises an error.

In the calls, `s` and `t` are Series of amounts, `df` is a DataFrame of `s` and `t`, and `other` is
`df` with swapped columns. `i` is an Index of amounts, `g` a SeriesGroupBy, and `dg` a
DataFrameGroupBy. `r` is `s.rolling(2)`, `x` is `s.expanding()`, `w` is `s.ewm(alpha=0.5)`, and `rs`
is a resampler of `s` by day. `one` and `two` are single amounts. A name without parentheses is a
property, or a method that is called without arguments.

These methods were not tried, since they need other packages or files:
{not_tried}.
"""


def calls():
    """Return the listed calls, and calls without arguments for all other names of pandas."""
    result = listed(_HERE / "pandas.txt")
    known = {(call.holder, call.name) for call in result}
    for holder, (variable, owner) in _PANDAS.items():
        for name in public(owner):
            if (holder, name) not in known:
                is_method = callable(inspect.getattr_static(owner, name)) or holder == "pandas"
                result.append(Call(holder, name, f"{variable}.{name}" + "()" * is_method))
        result = [call for call in result if call.holder != holder or hasattr_(owner, call.name)]
    return result + listed(_HERE / "others.txt")


def hasattr_(owner, name):
    """Return whether this pandas has a name; ``plot.bar`` is a method of an accessor."""
    return hasattr(owner, name.partition(".")[0])


def public(owner):
    """Return the public names of a class or module, except those without amounts."""
    left_out = _TAKE_NO_AMOUNTS | _NOT_TRIED
    names = [name for name in dir(owner) if name[0] != "_" and name not in left_out]
    if inspect.ismodule(owner):
        return [name for name in names if inspect.isfunction(getattr(owner, name))]
    return [name for name in names if name != "plot"]


def holders():
    """Return the holders of the calls, pandas's first."""
    return list(dict.fromkeys([*_PANDAS, *(call.holder for call in calls())]))


@cache
def verdicts(holder):
    """Judge the calls of a holder."""
    mpl.use("agg")
    return {(holder, call.code): judged(call) for call in calls() if call.holder == holder}


def kept():
    """Read the verdicts for each version of pandas, the newest first."""
    releases = sorted((_numbers(file.stem) for file in _VERDICTS.glob("*.txt")), reverse=True)
    result = {release: _read(release) for release in releases}
    return {release: {**result[releases[0]], **own} for release, own in result.items()}


def installed():
    """Return the newest version with verdicts that is not newer than the installed pandas."""
    return max(release for release in kept() if release <= _numbers(pd.__version__))


def _numbers(release):
    return tuple(int(part) for part in release.split(".")[:2])


def _name(release):
    return ".".join(map(str, release))


def _read(release):
    """Read verdicts: all for the newest pandas, only differing ones for older versions."""
    text = (_VERDICTS / f"{_name(release)}.txt").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines()]
    return {(holder, code): Verdict(kind, where) for kind, where, holder, code in lines}


def write():
    """Write the page, and the verdicts of the installed pandas that differ from the newest."""
    release, newest = _numbers(pd.__version__), max(kept(), default=(0, 0))
    known = _read(newest) if release < newest else {}
    result = {key: verdict for holder in holders() for key, verdict in verdicts(holder).items()}
    differing = {key: result.get(key, Verdict(ABSENT)) for key in {**known, **result}}
    lines = [
        f"{verdict.kind}\t{verdict.where}\t{holder}\t{code}\n"
        for (holder, code), verdict in differing.items()
        if verdict != known.get((holder, code))
    ]
    (_VERDICTS / f"{_name(release)}.txt").write_text("".join(lines), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


@cache
def advice():
    """Return the patterns of calls, and the advice for them."""
    lines = (_HERE / "advice.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(" -> ") for line in lines if line and not line.startswith("#"))


def advised(holder, code, verdict):
    """Return the first pattern that a call matches, or "" if it needs no advice."""
    if verdict.kind not in {OBJECTS, FLOATS, CLOSE, WRONG, RAISES}:
        return ""
    return next((pattern for pattern in advice() if re.search(pattern, f"{holder}: {code}")), None)


def page():
    """Return the text of the page."""
    result = kept()
    newest, *older = result
    names = fill(", ".join(f"`{name}`" for name in sorted(_NOT_TRIED)), 100)
    parts = [_INTRODUCTION.format(release=_name(newest), not_tried=names)]
    for kind, section in _SECTIONS.items():
        keys = [key for key, verdict in result[newest].items() if verdict.kind == kind]
        rows = {key: [release[key] for release in result.values()] for key in keys}
        parts.append(f"{section}\n{_table(rows, older)}")
    return "\n".join(parts)


def _table(rows, older):
    """Return a table without empty columns; calls with equal cells share a row."""
    together = defaultdict(list)
    for (holder, code), (verdict, *others) in rows.items():
        differing = ["" if other == verdict else _cell(holder, code, other) for other in others]
        instead = _instead(holder, code, verdict)
        together[holder, verdict.where, instead, *differing].append(_shown(holder, code))
    headers = ("called on", "calls", "except", "use instead")
    table = [(*headers, *(f"pandas {_name(release)}" for release in older))]
    places = holders()
    for (holder, *rest), shown in sorted(together.items(), key=lambda row: places.index(row[0][0])):
        table.append((holder, ", ".join(f"`{call}`" for call in sorted(shown)), *rest))
    columns = [column for column in zip(*table, strict=True) if any(column[1:])]
    lines = [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
    return "\n".join([lines[0], "|---" * len(columns) + "|", *lines[1:]]) + "\n"


def _cell(holder, code, verdict):
    parts = verdict.kind, verdict.where, _instead(holder, code, verdict)
    return "; ".join(filter(None, parts)).replace("; exact without NA", " with NA")


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
