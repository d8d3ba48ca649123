"""Echoes: the key is removed from a server's text, in each form, and nothing else is."""

import string

import pytest
from addresses import A
from canned_service import answer, wallet
from hypothesis import given
from hypothesis import strategies as st
from leak_scan import ECHOES, KEY, echoes, traces

from walletframe.settings.key import ApiKey
from walletframe.transport.keyed import scrubber

KEYS = st.text(min_size=8).filter(lambda key: key.isprintable() and key == key.strip())
ODD = st.text(string.punctuation + "aé€😀", min_size=8)


def _bytes(form):
    return form if isinstance(form, bytes) else form.encode()


@pytest.mark.parametrize("form", ECHOES)
def test_each_form_is_removed(form):
    """The text around it stays in its position."""
    echo = _bytes(ECHOES[form])
    text = scrubber(ApiKey(KEY))(b"<p>" + echo + b"</p>")
    assert traces(text) == []
    assert (text[:3], text[-4:], len(text)) == (b"<p>", b"</p>", len(echo) + 7)


@given(KEYS | ODD)
def test_any_key_is_removed(key):
    """Each form of a key of any characters becomes asterisks."""
    scrub = scrubber(ApiKey(key))
    for form, echo in echoes(key).items():
        text = _bytes(echo).removeprefix("\ufeff".encode("utf-16-le"))
        left = scrub(b"apiKey=" + text).removeprefix(b"apiKey=")
        assert set(left) <= set(b"*\0"), form


@given(st.binary())
def test_other_text_is_unchanged(message):
    """Text without the key is unchanged."""
    assert scrubber(ApiKey(KEY))(message) == message


def test_an_answer_stays_an_answer():
    """A key of common letters changes no answer that does not hold it."""
    body = answer(wallet())
    assert scrubber(ApiKey("explorer-example"))(body) == body


@pytest.mark.parametrize("sign", ["=", "%3D"])
@pytest.mark.parametrize("name, key", [("apiKey", "ETH"), ("APIKEY", "eTh"), ("apikey", "~+!")])
def test_a_short_key_is_removed_behind_its_name_only(name, key, sign):
    """Elsewhere it could be any word."""
    text = f"{key} is not allowed: ?address=ETH.{A}&{name}{sign}{key}".encode()
    assert scrubber(ApiKey(key))(text) == text[:-3] + b"***"
