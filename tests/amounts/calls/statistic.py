"""Exact results: statistics of fractions, in the shapes that pandas returns.

Roots have 250 digits. The result of too few values is None.
"""

import re
from collections import Counter
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from math import inf

import pandas as pd

__all__ = [
    "by_group",
    "change",
    "columns",
    "correlation",
    "counts",
    "covariance",
    "cube_root",
    "described",
    "each",
    "elementwise",
    "grouped",
    "halves",
    "histogram",
    "kendall",
    "logarithm",
    "matrix",
    "missing",
    "power_of_e",
    "quotient",
    "root",
    "running",
    "spearman",
    "stat",
    "text_of",
    "texts_of",
    "together",
    "top_of_groups",
    "weighted",
    "window_ranks",
    "windowed",
    "windows_of_two",
    "written",
]

_WIDE = Context(prec=250)


def missing(value):
    """Return whether a value is missing."""
    return bool(pd.isna(value))


def _known(values):
    return [value for value in values if not missing(value)]


def root(value):
    """Return a square root to 250 digits; None of negative values."""
    if missing(value) or value < 0:
        return None
    quotient = _WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(_WIDE.sqrt(quotient))


def _mean(values):
    return sum(values, Fraction(0)) / len(values) if values else None


def _quantile(values, q):
    if not values:
        return None
    ordered = sorted(values)
    place = (len(values) - 1) * Fraction(q)
    below, above = ordered[int(place)], ordered[min(int(place) + 1, len(values) - 1)]
    return below + (above - below) * (place - int(place))


def _moment(values, power):
    mean = _mean(values)
    return sum(((value - mean) ** power for value in values), Fraction(0))


def _var(values):
    return _moment(values, 2) / (len(values) - 1) if len(values) > 1 else None


def _skew(values):
    n = len(values)
    if n < 3:
        return None
    square = _moment(values, 2)
    if not square:
        return Fraction(0)
    return n * root(Fraction(n - 1)) / (n - 2) * _moment(values, 3) / (square * root(square))


def _kurt(values):
    n = len(values)
    if n < 4:
        return None
    square = _moment(values, 2)
    if not square:
        return Fraction(0)
    above = Fraction(n * (n + 1) * (n - 1), (n - 2) * (n - 3)) * _moment(values, 4) / square**2
    return above - Fraction(3 * (n - 1) ** 2, (n - 2) * (n - 3))


STATISTICS = {
    "sum": lambda values: sum(values, Fraction(0)),
    "min": lambda values: min(values, default=None),
    "max": lambda values: max(values, default=None),
    "first": lambda values: values[0] if values else None,
    "last": lambda values: values[-1] if values else None,
    "count": len,
    "nunique": lambda values: len(set(values)),
    "mean": _mean,
    "median": lambda values: _quantile(values, 0.5),
    "quantile": lambda values, q=0.25: _quantile(values, q),
    "upper": lambda values: _quantile(values, 0.75),
    "var": _var,
    "std": lambda values: None if len(values) < 2 else root(_var(values)),
    "sem": lambda values: None if len(values) < 2 else root(_var(values) / len(values)),
    "skew": _skew,
    "kurt": _kurt,
}
_DESCRIBED = ["count", "mean", "std", "min", "quantile", "median", "upper", "max"]
_LABELS = ["count", "mean", "std", "min", "25%", "50%", "75%", "max"]


def stat(holder, name, **options):
    """Compute a statistic of a column, of each column, group or window."""

    def one(values):
        return STATISTICS[name](_known(values), **options)

    if isinstance(holder, pd.Series | pd.Index):
        return one(holder)
    if isinstance(holder, pd.DataFrame):
        return pd.Series({label: one(column) for label, column in holder.items()}, dtype=object)
    if isinstance(holder, pd.api.typing.SeriesGroupBy | pd.api.typing.Resampler):
        return pd.Series({key: one(part) for key, part in holder}, dtype=object)
    if isinstance(holder, pd.api.typing.DataFrameGroupBy):
        parts = {key: {c: one(part[c]) for c in _columns(holder)} for key, part in holder}
        return pd.DataFrame.from_dict(parts, orient="index", dtype=object)
    return _of_windows(holder, one)


def _columns(groups):
    selected = groups.obj.columns if groups._selection is None else groups._selection
    return [c for c in selected if c not in groups.exclusions]


def _of_windows(holder, compute):
    """Compute for each window that has enough values."""
    if isinstance(holder.obj, pd.DataFrame):
        columns = {c: _of_windows(_alike(holder, c), compute) for c in holder.obj}
        return pd.DataFrame(columns, dtype=object)
    result = [None if len(_known(part)) < _least(holder) else compute(part) for part in holder]
    return pd.Series(result, holder.obj.index, dtype=object)


def _alike(windows, column):
    series = windows.obj[column]
    return series.rolling(2) if _least(windows) > 1 else series.expanding()


def _least(windows):
    return 2 if isinstance(windows, pd.api.typing.Rolling) else 1


def together(holder, names, labels=None):
    """Compute several statistics of a column or a frame, with their names or labels."""
    rows = {label: stat(holder, name) for label, name in zip(labels or names, names, strict=True)}
    if isinstance(holder, pd.Series):
        return pd.Series(rows, dtype=object)
    return pd.DataFrame.from_dict(rows, orient="index")


def described(holder):
    """Compute the statistics of describe."""
    return together(holder, _DESCRIBED, _LABELS)


def grouped(groups, names):
    """Compute several statistics of groups, the columns of each group side by side."""
    if isinstance(groups, pd.api.typing.DataFrameGroupBy):
        parts = {c: grouped(groups[c], names) for c in _columns(groups)}
        return pd.concat(parts, axis=1)
    columns = {
        _LABELS[_DESCRIBED.index(n)] if len(names) == 8 else n: stat(groups, n) for n in names
    }
    return pd.DataFrame(columns, dtype=object)


def counts(windows):
    """Count the values of windows that have enough rows."""
    result = [len(_known(part)) if len(part) >= _least(windows) else None for part in windows]
    return pd.Series(result, windows.obj.index, dtype=object)


def windowed(windows, names):
    """Compute several statistics of windows."""
    return pd.DataFrame({name: stat(windows, name) for name in names}, dtype=object)


def by_group(groups, compute):
    """Compute for the rows of each group, and put them back in order."""
    parts = [compute(part) for _, part in groups]
    return pd.concat(parts).loc[groups.obj.index]


def running(holder, name):
    """Compute running sums or extremes, missing where a value is."""
    if isinstance(holder, pd.DataFrame):
        return pd.DataFrame({c: running(holder[c], name) for c in holder}, dtype=object)
    result, values = [], []
    for value in holder:
        values += _known([value])
        result.append(None if missing(value) else STATISTICS[name](values))
    return pd.Series(result, holder.index, dtype=object)


def elementwise(left, right, compute):
    """Compute a value for each pair of values; missing on one side is missing."""
    if isinstance(left, pd.DataFrame):
        return pd.DataFrame(
            {c: elementwise(left[c], right[c], compute) for c in left}, dtype=object
        )
    pairs = zip(left, right, strict=True)
    result = [None if missing(a) or missing(b) else compute(a, b) for a, b in pairs]
    return pd.Series(result, left.index, dtype=object)


def quotient(above, below):
    """Divide as floats do: 0/0 has no value, and all else over 0 is infinite."""
    if not below:
        return above * inf if above else None
    return above / below


def change(before, after):
    """Compute the change as a share of the earlier value."""
    return quotient(after - before, before)


def each(holder, compute):
    """Compute a result for each value that is not missing."""
    result = [None if missing(value) else compute(value) for value in holder]
    return pd.Series(result, holder.index, dtype=object)


def _pairs(left, right):
    pairs = zip(left, right, strict=True)
    return [(a, b) for a, b in pairs if not missing(a) and not missing(b)]


def covariance(left, right):
    """Compute the covariance of the pairs without a missing value."""
    pairs = _pairs(left, right)
    if len(pairs) < 2:
        return None
    a, b = _mean([a for a, _ in pairs]), _mean([b for _, b in pairs])
    return sum(((x - a) * (y - b) for x, y in pairs), Fraction(0)) / (len(pairs) - 1)


def correlation(left, right):
    """Compute Pearson's correlation of the pairs without gaps; None if a side is constant."""
    pairs = _pairs(left, right)
    a, b = [a for a, _ in pairs], [b for _, b in pairs]
    square = _var(a) and _var(b) and _var(a) * _var(b)
    if not square:
        return None
    result = covariance(a, b)
    return result / root(square)


def spearman(left, right):
    """Correlate ranks."""
    pairs = _pairs(left, right)
    a, b = (
        pd.Series(list(side), dtype=object).rank().map(Fraction)
        for side in zip(*pairs, strict=True)
    )
    return correlation(a, b)


def kendall(left, right):
    """Compute Kendall's tau-b."""
    pairs = _pairs(left, right)
    signs = [
        ((a > c) - (a < c), (b > d) - (b < d))
        for i, (a, b) in enumerate(pairs)
        for c, d in pairs[:i]
    ]
    above = sum(x * y for x, y in signs)
    square = sum(x * x for x, _ in signs) * sum(y * y for _, y in signs)
    return above / root(Fraction(square))


def matrix(frame, compute):
    """Compute for each pair of columns."""
    rows = {a: {b: compute(frame[a], frame[b]) for b in frame} for a in frame}
    return pd.DataFrame.from_dict(rows, orient="index")


def windows_of_two(windows, other, compute):
    """Compute for each window and the same rows of another column, where both have enough."""
    least = _least(windows)
    parts = [(part, other.loc[part.index]) for part in windows]
    result = [compute(*pair) if len(_pairs(*pair)) >= least else None for pair in parts]
    return pd.Series(result, windows.obj.index, dtype=object)


def window_ranks(windows):
    """Rank the last value of each window among its values."""
    return _of_windows(windows, lambda part: part.rank().iloc[-1])


def weighted(series, name, other=None):
    """Compute exponentially weighted statistics with alpha 1/2, as pandas defines them."""
    if isinstance(series, pd.DataFrame):
        return pd.DataFrame({c: weighted(series[c], name) for c in series}, dtype=object)
    other = series if other is None else other
    result = [_weighted(series.iloc[:n], other.iloc[:n], name) for n in range(1, len(series) + 1)]
    return pd.Series(result, series.index, dtype=object)


def _weighted(left, right, name):
    rows = [
        (Fraction(1, 2 ** (len(left) - 1 - place)), a, b)
        for place, (a, b) in enumerate(zip(left, right, strict=True))
        if not missing(a) and not missing(b)
    ]
    if not rows:
        return None
    total, squares = sum(w for w, _, _ in rows), sum(w * w for w, _, _ in rows)
    if name == "sum":
        return sum(w * a for w, a, _ in rows)
    if name == "mean":
        return sum(w * a for w, a, _ in rows) / total

    def cov(rows):
        x, y = sum(w * a for w, a, _ in rows) / total, sum(w * b for w, _, b in rows) / total
        return sum(w * (a - x) * (b - y) for w, a, b in rows) / total

    if total * total == squares:
        return None
    correction = total * total / (total * total - squares)
    if name == "corr":
        square = cov([(w, a, a) for w, a, _ in rows]) * cov([(w, b, b) for w, _, b in rows])
        return cov(rows) / root(square) if square else None
    return root(cov(rows) * correction) if name == "std" else cov(rows) * correction


def logarithm(value, base="e"):
    """Return a logarithm to 250 digits; None of negative values."""
    if missing(value) or value < 0:
        return None
    if not value:
        return -inf
    number = _WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(_WIDE.ln(number)) / Fraction(_WIDE.ln(Decimal(base)) if base != "e" else 1)


def power_of_e(value):
    """Return e**x to 250 digits; infinity beyond the largest float."""
    if missing(value):
        return None
    if value > 10**3:
        return inf
    number = _WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(_WIDE.exp(number)) if value > -(10**3) else 0.0


def cube_root(value):
    """Return a cube root to 250 digits."""
    if missing(value) or not value:
        return value
    number = _WIDE.divide(Decimal(abs(value).numerator), Decimal(value.denominator))
    result = Fraction(_WIDE.power(number, _WIDE.divide(Decimal(1), Decimal(3))))
    return result if value > 0 else -result


def histogram(values):
    """Count the values in the lower and the upper half of their range."""
    values = _known(values)
    middle = (min(values) + max(values)) / 2
    return [sum(value < middle for value in values), sum(value >= middle for value in values)]


def halves(values):
    """Return for each value whether it is in the upper half of the range, as pandas.cut does."""
    middle = (values.min() + values.max()) / 2
    return pd.Series([None if missing(v) else int(v > middle) for v in values], values.index)


def columns(holder):
    """Return the values of a column, or of each column."""
    return [list(holder)] if isinstance(holder, pd.Series) else [list(holder[c]) for c in holder]


def written(holder):
    """Return the exact text of each value."""
    return holder.map(text_of)


def text_of(fraction):
    """Return the exact text of a fraction with finite decimals."""
    if missing(fraction):
        return fraction
    return f"{_WIDE.divide(Decimal(fraction.numerator), Decimal(fraction.denominator)):f}"


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Equal to a text that contains each of some numbers, as often as they are here."""

    numbers: list

    def __eq__(self, other):
        """Compare with a text, or with other numbers."""
        if isinstance(other, Texts):
            return self.numbers == other.numbers
        return not Counter(self.numbers) - Counter(re.findall(r"-?\d+(?:\.\d+)?", other))

    __hash__ = None


def texts_of(holder):
    """Return the numbers that the text of a column or a frame has to contain."""
    return Texts([text_of(value) for each in columns(holder) for value in _known(each)])


def top_of_groups(groups, largest):
    """Return the largest or the smallest row of each group."""
    parts = {k: p.sort_values(ascending=not largest, kind="stable").head(1) for k, p in groups}
    return pd.concat(parts)
