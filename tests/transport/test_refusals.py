"""A service's reasons for a refusal: its own words, short, clean and without the key."""

import json

import pytest
from addresses import A
from canned_service import KEY

LONG = "the key has expired; " + "renew it with the provider. " * 20


def refused(canned, body, status=403):
    """Return a wallet's reason after a refusal."""
    canned.add_reply(body, status=status)
    with canned.client(deadline_s=0) as client:
        return client.fetch(f"ETH.{A}", on_failure="ignore", progress=False).wallets.error.item()


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
def test_the_message_of_a_json_object_is_quoted_alone(canned, problem, status):
    """The object would be truncated in the middle."""
    reason = refused(canned, json.dumps(problem).encode(), status)
    assert reason.startswith(
        "the service rejected the API key (check the key and key_kind): it answered 40"
    )
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
def test_other_bodies_are_quoted(canned, body):
    """Cleaned and shortened."""
    reason = refused(canned, body)
    assert body[:5].decode() in reason
    assert len(reason) < 300


def test_other_statuses_are_named(canned):
    """With their number and their phrase."""
    named = "the service answered 404 Not Found: 'no such path'"
    assert refused(canned, b"no such path", 404) == named


def test_messages_are_shortened_and_cleaned(canned):
    """They are untrusted text."""
    reason = refused(canned, json.dumps({"message": "\x1b[31m\u202e\n" + LONG}).encode())
    assert reason.isprintable()
    assert "[31m the key has expired" in reason
    assert len(reason) < 300


def test_an_escaped_key_is_masked_after_unescaping(canned):
    """JSON may escape any letter, and quoting the plain body would keep the escape."""
    escaped = "".join(f"\\u{ord(char):04x}" for char in KEY)
    reason = refused(canned, f'{{"message": "no such key: {escaped}"}}'.encode())
    assert reason.endswith(f"'no such key: {'*' * len(KEY)}'")


def test_a_lone_surrogate_is_harmless(canned):
    """JSON can write one, and UTF-8 can't."""
    assert refused(canned, b'{"message": "no such \\ud800key"}').endswith(": 'no such ?key'")
