"""Views of a column: slices and copies, written through, read by other threads, and pickled."""

import copy
import copyreg
import pickle
import sys
from threading import Event, Thread

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import walletframe as wf
from walletframe.amounts.scalar import Amount

FINE = "0.000000000000000000001"


def column(*values):
    """Return an array of amounts."""
    return pd.array(list(values), dtype="amount")


def test_a_finer_amount_is_seen_by_every_view_with_its_mask():
    """A finer scale changes integers and mask together."""
    whole = column("1", None, "3")
    view = whole[:]
    whole[1] = "0.5"
    assert view.tolist() == whole.tolist() == [Amount("1"), Amount("0.5"), Amount("3")]


def test_views_write_to_each_other_after_the_scale_changed():
    """After a change of scale, all views share the same mask and integers."""
    whole = column(1, 2, 3)
    view = whole[:]
    whole[0] = "0.5"
    view[1] = pd.NA
    assert whole.tolist() == view.tolist() == [Amount("0.5"), pd.NA, Amount("3")]
    assert whole.sum() == Amount("3.5")


def test_a_frame_of_an_array_stays_consistent():
    """Pandas shares the array; both sides stay consistent."""
    whole = column("1", None, "3")
    series = pd.Series(whole, copy=False)
    whole[1] = "0.5"
    assert series.sum() in {Amount("4.5"), Amount("4")}
    assert series.isna().sum() == (series.sum() == Amount("4"))


slices = st.slices(8)


@given(outer=slices, inner=st.data(), value=st.sampled_from(["7", FINE, None]))
def test_slices_of_slices_are_those_of_a_list(outer, inner, value):
    """Any slice of any slice selects, and writes, the same positions as in a list."""
    amounts = column(*range(8))
    places = list(range(8))[outer]
    part = inner.draw(st.slices(len(places)) if places else st.just(slice(None)))
    view = amounts[outer][part]
    assert [int(amount) for amount in view] == places[part]
    view[:] = value
    written = set(places[part])
    expected = [pd.NA if value is None else Amount(value)]
    for place, amount in enumerate(amounts):
        wanted = expected[0] if place in written else Amount(place)
        assert amount is wanted or amount == wanted


@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, lambda array: array.copy()])
def test_copies_are_independent(take):
    """A copy and its original don't see each other's writes."""
    amounts = column("1", None)
    other = take(amounts)
    amounts[0] = FINE
    other[1] = "2"
    assert other.tolist() == [Amount("1"), Amount("2")]
    assert amounts.tolist() == [Amount(FINE), pd.NA]


def test_setting_from_an_overlapping_view():
    """The values to set are read before anything is written."""
    amounts = column(1, None, 3, None)
    amounts[1:] = amounts[:-1]
    assert amounts.tolist() == [Amount(1), Amount(1), pd.NA, Amount(3)]


@pytest.fixture
def restless():
    """Switch threads as often as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_a_reader_in_another_thread_never_sees_half_a_write(restless):
    """A sum is that before or after a write, whatever happens to the scale meanwhile."""
    done, seen = Event(), set()
    arrays = [column(*[1] * 5000) for _ in range(300)]

    def read():
        while not done.is_set():
            seen.update(str(array.sum()) for array in arrays)

    reader = Thread(target=read)
    reader.start()
    for array in arrays:
        array[7] = "0.001"
    done.set()
    reader.join()
    assert seen <= {"5000", "4999.001"}


def test_a_reader_in_another_thread_never_sees_a_missing_amount_as_zero(restless):
    """An amount that is becoming missing is never read as zero, if the scale is unchanged."""
    whole = column(*[5] * 100)
    view, done, seen = whole[::-1], Event(), set()

    def read():
        while not done.is_set():
            seen.update(map(str, [*view.tolist(), view[7], *view[[7, 7]], *view.dropna().unique()]))

    reader = Thread(target=read)
    reader.start()
    for _ in range(3000):
        whole[92] = pd.NA
        whole[92] = 5
    done.set()
    reader.join()
    assert seen <= {"5", "<NA>"}


def test_exact_values_are_a_snapshot():
    """Later writes don't change it; writing on costs no copy each time."""
    amounts = column(1, 2, 3)
    before = amounts.exact()
    amounts[0] = 7
    between = amounts[[0, 1]]
    amounts[1] = pd.NA
    assert (before.integers.tolist(), before.missing.any()) == ([1, 2, 3], False)
    assert between.tolist() == [Amount(7), Amount(2)]
    assert amounts.tolist() == [Amount(7), pd.NA, Amount(3)]


def test_a_pickled_view_holds_its_own_amounts_alone(monkeypatch):
    """A slice of a million rows is pickled without the others."""
    monkeypatch.delitem(copyreg.dispatch_table, wf.AmountArray, raising=False)  # that of Dask
    amounts = column(*range(10_000))
    small = pickle.dumps(amounts[5:7])
    assert len(small) < 1000
    assert pickle.loads(small).tolist() == [Amount(5), Amount(6)]
