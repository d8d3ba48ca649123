"""The translation of HTTP statuses and of other libraries' exceptions to outcomes."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Literal, TypeAlias

import requests
from requests import exceptions
from urllib3.exceptions import NewConnectionError

from walletframe.text import safe_line
from walletframe.wire.outcome import Outcome, Status

Server: TypeAlias = Literal["service", "node"]

_MAX_JSON_BYTES = 100_000
_REJECTIONS = {
    "service": "the service rejected the API key (check the key and key_kind)",
    "node": "the node rejected the request (check the key in the node's URL)",
}
_MESSAGES: dict[type[Exception], str] = {
    exceptions.InvalidSchema: "a SOCKS proxy is set, but it needs PySocks: pip install pysocks",
    exceptions.SSLError: "the {server}'s certificate could not be verified",
    exceptions.ProxyError: "the proxy did not let the request through",
    exceptions.ChunkedEncodingError: "the connection was closed in the middle of the answer",
    exceptions.InvalidHeader: "the headers of the answer contradict each other",
    ValueError: "the URL of the {server} or of a proxy is not valid",
    Exception: "the {server} could not be reached",
}


def fault_outcome(fault: Exception, timeout_s: float, server: Server = "service") -> Outcome:
    """Return the outcome for an exception. Omit the exception's text, which has the URL."""
    if isinstance(fault, requests.Timeout):
        return Outcome(Status.TIMEOUT, f"no answer within {round(timeout_s, 2):g} s")
    cause: object = fault
    inner: object = fault
    while isinstance(fault, exceptions.SSLError) and isinstance(inner, BaseException):
        cause, inner = inner, getattr(inner, "reason", None) or next(iter(inner.args), None)
    is_file_error = isinstance(fault, OSError) and not isinstance(fault, requests.RequestException)
    # urllib3 and requests wrap errors of OpenSSL's library X509.
    if is_file_error or getattr(cause, "library", None) == "X509":
        hint = "check REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE"
        return Outcome(Status.UNREACHABLE, f"the trusted certificates can't be read ({hint})")
    if isinstance(fault, exceptions.ContentDecodingError):
        return Outcome(Status.INVALID, "the answer could not be decompressed")
    message = next(text for kind, text in _MESSAGES.items() if isinstance(fault, kind))
    return Outcome(Status.UNREACHABLE, message.format(server=server))


def is_retryable(fault: Exception, *, server_was_reached: bool = False) -> bool:
    """Return whether to retry. Failed connections are final if the server was never reached."""
    if isinstance(fault, (requests.Timeout, exceptions.ChunkedEncodingError)):
        return True
    if isinstance(fault, (exceptions.SSLError, exceptions.ProxyError)):
        return False
    reason = getattr(fault.args[0] if fault.args else None, "reason", None)
    has_connected = not isinstance(reason, NewConnectionError)  # otherwise the URL may be wrong
    return isinstance(fault, requests.ConnectionError) and (has_connected or server_was_reached)


def json_error_message_or_body(body: bytes) -> bytes:
    """Return the message in a JSON error, or the whole body if there is no message."""
    if len(body) > _MAX_JSON_BYTES or not body.lstrip().startswith(b"{"):
        return body
    try:
        problem = json.loads(body)
    except (ValueError, RecursionError):
        return body
    objects = [value for value in (problem, problem.get("error")) if isinstance(value, dict)]
    values = (fields.get(name) for fields in objects for name in ("message", "detail", "error"))
    message = next((text for text in values if isinstance(text, str) and text.strip()), None)
    return body if message is None else message.encode(errors="replace")


def status_outcome(status: int, body: bytes, server: Server = "service") -> Outcome:
    """Return the outcome for a status other than 200. The outcome quotes the body in one line."""
    phrase = next((known.phrase for known in HTTPStatus if known == status), "")
    quote = safe_line(body[:1000].decode(errors="replace"), 150)
    answered = f"answered {status} {phrase}".rstrip()
    quoted = answered + (f": {quote!r}" if quote else "")
    message = f"the {server} {quoted}"
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return Outcome(Status.REJECTED, f"{_REJECTIONS[server]}: it {quoted}")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Outcome(Status.RATE_LIMITED, message)
    if status // 100 == 3 and status != HTTPStatus.NOT_MODIFIED:  # noqa: PLR2004 - redirects
        reason = "redirects are not followed, to protect the key"
        return Outcome(Status.REJECTED, f"the {server} answered {status}: {reason}")
    if status // 100 == 4:  # noqa: PLR2004 - client errors
        return Outcome(Status.REJECTED, message)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Outcome(Status.SERVICE_ERROR, message)
    return Outcome(Status.INVALID, f"the {server} {answered} instead of 200 OK")
