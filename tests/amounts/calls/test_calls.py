"""The table of all calls holds on the pandas that is installed: none is silent, none unlisted."""

import re

import page
import pytest
from judge import EXACT, NEAREST, RAISES


@pytest.fixture(scope="module")
def verdicts():
    """Judge all calls, once."""
    return page.verdicts()


def test_every_public_name_is_called(verdicts):
    """A name that needs arguments has a line that gives them."""
    unlisted = [
        call
        for call, verdict in verdicts
        if verdict.kind == RAISES and re.search("missing .* required", verdict.words)
    ]
    assert unlisted == []


def test_no_call_is_silent(verdicts):
    """What is neither exact nor nearest has a line that says what to write instead."""
    lossy = [call for call, verdict in verdicts if verdict.kind not in {EXACT, NEAREST}]
    assert [call for call in lossy if page.advised(call) is None] == []
    assert not page.NEWEST or {page.advised(call) for call in lossy} == {*page.advice()}


def test_the_page_says_so():
    """docs/amounts.md is what page.py makes of the newest pandas."""
    made = page.PAGE.read_text(encoding="utf-8")
    assert made == page.page() or not page.NEWEST
