"""Errors of functions with a secret argument: what they show, and what they hide."""

import traceback

import pytest

from walletframe.errors import SettingsError
from walletframe.tracebacks import strip_tracebacks


@strip_tracebacks
def read(secret, fault):
    """Raise with a secret in a variable, and with a cause that holds it."""
    try:
        int(secret)
    except ValueError as cause:
        raise fault from cause


def text_of(error):
    """Return all text of an error with the locals of its frames but this test's own."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    own = [frame for frame in shown.stack if frame.name == "wrapper"]
    assert own
    return "".join(shown.format_exception_only()) + repr([frame.locals for frame in own])


@pytest.mark.parametrize("fault", [SettingsError("no"), KeyboardInterrupt(), TypeError("no")])
def test_no_frame_and_no_cause_shows_the_argument(fault):
    """The error is the same object, as if it had been raised at the boundary."""
    with pytest.raises(type(fault)) as caught:
        read("hidden", fault)
    assert caught.value is fault
    assert "hidden" not in text_of(fault)
    assert (fault.__cause__, fault.__context__) == (None, None)


def test_an_unforeseen_error_lists_its_lines():
    """Without their variables; an error of the library's own needs none."""
    unforeseen, own = TypeError("no"), SettingsError("no")
    for fault in (unforeseen, own):
        with pytest.raises(type(fault)):
            read("x", fault)
    [note] = unforeseen.__notes__
    assert "raise fault from cause" in note
    assert not hasattr(own, "__notes__")


def test_the_callers_own_context_stays():
    """The exception that the caller was handling keeps its traceback, and is the context."""
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


def test_a_successful_call_is_unchanged():
    """Its result, its name and its signature."""
    assert strip_tracebacks(max)(2, 3) == 3
    assert (read.__name__, read.__wrapped__.__name__) == ("read", "read")
