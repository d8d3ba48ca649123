"""What a service says when it refuses: its own words, short, clean and without the key."""

import json

import pytest
from canned_service import KEY

LONG = "the key has expired; " + "renew it with the provider. " * 20


def refused(canned, body, status=403):
    """Return the reason that a wallet has after a refusal."""
    canned.say(body, status=status)
    with canned.client(deadline_s=0) as client:
        return client.fetch("ETH.0xa", on_failure="ignore", progress=False).wallets.error.item()


@pytest.mark.parametrize(
    "problem",
    [
        {"message": "no such key"},
        {"timestamp": "2026-01-31", "status": 403, "error": "Forbidden", "message": "no such key"},
        {"detail": "no such key", "error": "forbidden", "type": "about:blank"},
        {"error": "no such key"},
        {"error": {"code": 7, "message": "no such key"}},
        {"message": None, "detail": [], "error": {"message": " ", "detail": "no such key"}},
        {"trace": "x" * 5_000, "message": "no such key"},
    ],
)
@pytest.mark.parametrize("status", [401, 403])
def test_the_words_of_a_json_object_are_quoted_alone(canned, problem, status):
    """Not the object, which would be cut in the middle."""
    reason = refused(canned, json.dumps(problem).encode(), status)
    assert reason.startswith("the key was refused (check it and key_kind): answered 40")
    assert reason.endswith(": 'no such key'")


@pytest.mark.parametrize(
    "body",
    [
        b'{"code": 7, "reasons": ["no such key"]}',
        b'{"message": 7, "error": null}',
        b'["no such key"]',
        b'{"message": "no such key',
        b"<h1>no such key</h1>",
        b"no such key \xff",
        b'{"a":' * 20_000 + b"1",
    ],
)
def test_what_has_no_such_words_is_quoted_as_it_is(canned, body):
    """Cleaned and cut short."""
    reason = refused(canned, body)
    assert body[:5].decode() in reason
    assert len(reason) < 300


def test_words_are_cut_and_cleaned(canned):
    """They are a stranger's."""
    reason = refused(canned, json.dumps({"message": "\x1b[31m\u202e\n" + LONG}).encode())
    assert reason.isprintable()
    assert "[31m the key has expired" in reason
    assert len(reason) < 300


def test_an_escaped_key_is_masked_where_its_escapes_are_undone(canned):
    """JSON may write any letter as an escape, which no body that is quoted as it is would undo."""
    escaped = "".join(f"\\u{ord(char):04x}" for char in KEY)
    reason = refused(canned, f'{{"message": "no such key: {escaped}"}}'.encode())
    assert reason.endswith(f"'no such key: {'*' * len(KEY)}'")


def test_a_lone_surrogate_does_no_harm(canned):
    """JSON can write one, and UTF-8 can't."""
    assert refused(canned, b'{"message": "no such \\ud800key"}').endswith(": 'no such ?key'")
