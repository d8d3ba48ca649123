"""Amounts for hypothesis: up to 2**256 base units, 0 to 77 decimals, some of them missing."""

from fractions import Fraction

from hypothesis import strategies as st

from walletframe.amounts import AmountArray

LARGEST = 2**256 - 1

integers = st.one_of(
    st.integers(-LARGEST, LARGEST),
    st.integers(-(10**20), 10**20),
    st.sampled_from([0, 1, -1, LARGEST, 2**53 + 1, 10**18]),
)
decimals = st.one_of(st.integers(0, 77), st.sampled_from([0, 6, 18, 77]))
pairs = st.tuples(integers, decimals)
columns = st.lists(st.one_of(st.none(), pairs, pairs, pairs), max_size=12)
full_columns = st.lists(pairs, min_size=1, max_size=12)
floats = st.floats(allow_nan=False, allow_infinity=False)


def _written(sign, digits, decimals, power):
    """Write digits with a decimal point, and an exponent."""
    if decimals is None:
        return f"{sign}{digits}{power}"
    whole = len(digits) - min(decimals, len(digits))
    return f"{sign}{digits[:whole]}.{digits[whole:]}{power}"


notations = st.builds(
    _written,
    st.sampled_from(["", "", "-", "+"]),
    st.one_of(
        st.integers(0, 10**18).map(str),
        st.integers(0, 10**80).map(str),
        st.sampled_from(["0", "1", "007", "1000", "0" * 60 + "5"]),
    ),
    st.none() | st.integers(0, 20) | st.integers(0, 77),
    st.just("") | st.sampled_from(["e0", "E+007"]) | st.integers(-60, 90).map("e{:+}".format),
).filter(lambda text: (Fraction(text) * 10**77).denominator == 1)
"""Text of amounts in every notation, plain and scientific."""


def array_of(column):
    """Return an array of amounts from pairs (base units, decimals). None means missing."""
    return AmountArray.from_raw(
        [None if pair is None else pair[0] for pair in column],
        [0 if pair is None else pair[1] for pair in column],
    )


def fractions_of(column):
    """Return the same amounts as fractions. None means missing."""
    return [None if pair is None else Fraction(pair[0], 10 ** pair[1]) for pair in column]


def exact_values(array):
    """Return an array's amounts as fractions. None means missing."""
    return [None if value is None else Fraction(value) for value in array.to_decimal()]


def nearest(fraction):
    """Return the float64 nearest to a fraction."""
    try:
        return fraction.numerator / fraction.denominator
    except OverflowError:
        return float("inf") if fraction > 0 else float("-inf")
