"""Network faults: the one place that translates other libraries' exceptions and HTTP statuses."""

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

_QUOTED = 160
_LONGEST_BODY = 100_000
_MESSAGE_FIELDS = ("message", "detail", "error")
_REFUSED = {
    "service": "the key was refused (check it and key_kind)",
    "node": "the node refused the request (check the key in its URL)",
}
_UNREACHABLE: dict[type[Exception], str] = {
    exceptions.InvalidSchema: "a SOCKS proxy is set, which needs PySocks: pip install pysocks",
    exceptions.SSLError: "the {server}'s certificate could not be verified",
    exceptions.ProxyError: "the proxy did not let the request through",
    exceptions.ChunkedEncodingError: "the connection broke in the middle of the answer",
    exceptions.InvalidHeader: "the headers of the answer contradict each other",
    ValueError: "the address of the {server}, or of a proxy, is not valid",
    Exception: "the {server} could not be reached",
}


def fault_outcome(fault: Exception, timeout_s: float, server: Server = "service") -> Outcome:
    """Translate an exception of requests; its own text is not shown, since it quotes the URL.

    >>> fault_outcome(requests.ConnectTimeout(), 60).error
    'no answer within 60 s'
    """
    if isinstance(fault, requests.Timeout):
        return Outcome(Status.TIMEOUT, f"no answer within {round(timeout_s, 2):g} s")
    innermost: object = fault
    inner: object = fault
    while isinstance(fault, exceptions.SSLError) and isinstance(inner, BaseException):
        innermost, inner = inner, getattr(inner, "reason", None) or next(iter(inner.args), None)
    is_missing = isinstance(fault, OSError) and not isinstance(fault, requests.RequestException)
    if is_missing or getattr(innermost, "library", None) == "X509":  # the libraries wrap it
        check = "check REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE"
        return Outcome(Status.UNREACHABLE, f"the trusted certificates can't be read ({check})")
    if isinstance(fault, exceptions.ContentDecodingError):
        return Outcome(Status.INVALID, "the answer's compression is broken")
    message = next(text for kind, text in _UNREACHABLE.items() if isinstance(fault, kind))
    return Outcome(Status.UNREACHABLE, message.format(server=server))


def is_passing(fault: Exception, *, reached: bool = False) -> bool:
    """Return whether a retry may succeed, as after a timeout or a broken connection."""
    if isinstance(fault, (requests.Timeout, exceptions.ChunkedEncodingError)):
        return True
    if isinstance(fault, (exceptions.SSLError, exceptions.ProxyError)):
        return False
    reason = getattr(fault.args[0] if fault.args else None, "reason", None)
    connected = not isinstance(reason, NewConnectionError)  # else a wrong address, unless reached
    return isinstance(fault, requests.ConnectionError) and (connected or reached)


def reason_of(body: bytes) -> bytes:
    """Return the message in an error's JSON, unescaped since it may echo the key; else all."""
    if len(body) > _LONGEST_BODY or not body.lstrip().startswith(b"{"):
        return body
    try:
        problem = json.loads(body)
    except (ValueError, RecursionError):
        return body
    objects = [each for each in (problem, problem.get("error")) if isinstance(each, dict)]
    values = (each.get(name) for each in objects for name in _MESSAGE_FIELDS)
    message = next((text for text in values if isinstance(text, str) and text.strip()), None)
    return body if message is None else message.encode(errors="replace")


def status_outcome(status: int, body: bytes, server: Server = "service") -> Outcome:
    """Translate an HTTP status other than 200, and quote the start of the body, made harmless.

    >>> status_outcome(404, b"no such path").error
    "answered 404 Not Found: 'no such path'"
    """
    name = next((known.phrase for known in HTTPStatus if known == status), "")
    quote = safe_line(body[:1000].decode(errors="replace"), _QUOTED)
    answered = f"answered {status} {name}".rstrip() + (f": {quote!r}" if quote else "")
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return Outcome(Status.REJECTED, f"{_REFUSED[server]}: {answered}")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Outcome(Status.RATE_LIMITED, answered)
    if status // 100 == 3 and status != HTTPStatus.NOT_MODIFIED:  # noqa: PLR2004 - redirects
        refused = f"answered {status}: redirects are refused, to protect the key"
        return Outcome(Status.REJECTED, refused)
    if status // 100 == 4:  # noqa: PLR2004 - the class of the caller's errors
        return Outcome(Status.REJECTED, answered)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Outcome(Status.SERVICE_ERROR, answered)
    return Outcome(Status.INVALID, f"answered {status} {name}".rstrip() + ", which holds no answer")
