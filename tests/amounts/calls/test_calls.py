"""The page of calls says what each call does on the pandas that is installed."""

import re

import page
import pytest


@pytest.mark.stress
@pytest.mark.parametrize("holder", page.holders())
def test_each_call_is_what_the_page_says(holder):
    """Each gives the values, or the error, of its row, on all sets of data."""
    rows = page.kept()[page.installed()].items()
    said = {key: verdict for key, verdict in rows if key[0] == holder}
    assert page.verdicts(holder) == {k: v for k, v in said.items() if v.kind != page.ABSENT}


def test_the_page_is_made_of_the_verdicts():
    """docs/amounts.md is what page.py writes."""
    assert page.PAGE.read_text(encoding="utf-8") == page.page()


def test_each_loss_has_advice():
    """What loses digits or raises has a line that says what to write instead, and no other has."""
    rows = {(*key, v) for release in page.kept().values() for key, v in release.items()}
    patterns = {page.advised(*row) for row in rows} - {""}
    assert patterns == {*page.advice()}


def test_no_call_is_made_of_floats_or_text():
    """Each gets the amounts themselves, unless converting them is its own name."""
    names = {"astype", "to_numpy", "np.asarray"}
    made = [call for call in page.calls() if re.search("astype|to_numpy|float64", call.code)]
    assert {call.name for call in made} == names
