"""The page of calls is right about each call on the installed pandas."""

import re

import page
import pytest


@pytest.mark.stress
@pytest.mark.parametrize("holder", page.holders())
def test_each_call_matches_its_row(holder):
    """Each call returns the values, or raises the error, of its row, on all sets of data."""
    rows = page.kept()[page.installed()].items()
    expected = {key: verdict for key, verdict in rows if key[0] == holder}
    assert page.verdicts(holder) == {k: v for k, v in expected.items() if v.kind != page.ABSENT}


def test_page_is_up_to_date():
    """docs/amounts.md is the output of page.py."""
    assert page.PAGE.read_text(encoding="utf-8") == page.page()


def test_each_loss_has_advice():
    """Every call that loses digits or raises has a line of advice, and no other call has."""
    rows = {(*key, v) for release in page.kept().values() for key, v in release.items()}
    patterns = {page.advised(*row) for row in rows} - {""}
    assert patterns == {*page.advice()}


def test_calls_get_amounts_and_no_floats_or_text():
    """Each call gets the amounts themselves, unless it is about converting them."""
    names = {"astype", "to_numpy", "np.asarray"}
    made = [call for call in page.calls() if re.search("astype|to_numpy|float64", call.code)]
    assert {call.name for call in made} == names
