"""Errors of what is given a secret: what they still tell, and what they no longer do."""

import traceback

import pytest

from walletframe.errors import SettingsError
from walletframe.frameless import frameless


@frameless
def read(secret, fault):
    """Fail with a secret at hand, and with a cause that holds it."""
    try:
        int(secret)
    except ValueError as cause:
        raise fault from cause


def seen(error):
    """Return all of an error with the locals of its frames but this test's own."""
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    own = [frame for frame in told.stack if frame.name == "wrapper"]
    assert own
    return "".join(told.format_exception_only()) + repr([frame.locals for frame in own])


@pytest.mark.parametrize("fault", [SettingsError("no"), KeyboardInterrupt(), TypeError("no")])
def test_no_frame_and_no_cause_shows_what_was_given(fault):
    """The error is the same object, as if it had been raised at the boundary."""
    with pytest.raises(type(fault)) as caught:
        read("hidden", fault)
    assert caught.value is fault
    assert "hidden" not in seen(fault)
    assert (fault.__cause__, fault.__context__) == (None, None)


def test_an_unforeseen_error_says_which_lines_it_passed():
    """Without their variables; an error of the library's own explains itself."""
    unforeseen, own = TypeError("no"), SettingsError("no")
    for fault in (unforeseen, own):
        with pytest.raises(type(fault)):
            read("x", fault)
    [note] = unforeseen.__notes__
    assert "raise fault from cause" in note
    assert not hasattr(own, "__notes__")


def test_the_callers_own_context_stays():
    """What the caller was handling has its traceback, and is told as the context."""
    fault, handled = SettingsError("no"), LookupError("mine")
    with pytest.raises(SettingsError):
        _fail_while_handling(handled, fault)
    assert fault.__context__ is handled
    assert handled.__traceback__ is not None


def _fail_while_handling(handled, fault):
    try:
        raise handled
    except LookupError:
        read("x", fault)


def test_what_does_not_fail_is_as_before():
    """Its result, its name and its signature."""
    assert frameless(max)(2, 3) == 3
    assert (read.__name__, read.__wrapped__.__name__) == ("read", "read")
