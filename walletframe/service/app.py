"""The FastAPI application that simulates the service, with access control and a local server.

The service does not document error codes and error bodies, so the sandbox defines its own. No body
quotes the request, since the request contains the key. The server runs in a thread. It logs nothing
to the console, installs no signal handler, and does not use the caller's event loop.
"""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import threading
import time
import tomllib
from collections import Counter
from fractions import Fraction
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec
import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response
from limits import RateLimitItem, RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException as AnyHTTPException

from walletframe.address.forms import WalletAddress
from walletframe.errors import AddressError
from walletframe.service.ledger import GENERATOR_VERSION, HashRandom, Ledger, make_wallet_detail
from walletframe.service.options import BASES, TEST_KEY_PER_SECOND, AcceptedKey, Behaviour
from walletframe.settings.key import is_local_host
from walletframe.wire import schemas

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send


HOST = "127.0.0.1"
_JSON = "application/json"
_SIMULATED_HEADER = "X-Walletframe-Simulated"
_THREAD_NAME = "walletframe-sandbox"
_SCHEMA = "#/components/schemas/"
_OWN_STATUS = "The service's documentation does not list this status; the sandbox defines it."
_TEXTS = tomllib.loads(files(__package__).joinpath("openapi.toml").read_text(encoding="utf-8"))
_OK, _LIMITED = "200", "429"
_MAX_WINDOW_S = 50
_SCHEMAS = ("ProblemAnswer", "WalletDetailsAnswer")  # answers to refused and to valid requests
_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {
        "description": meaning if status == _OK else f"{meaning} {_OWN_STATUS}",
        "headers": {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in _TEXTS["headers"].items()
            if name != "Retry-After" or status == _LIMITED
        },
        "content": {_JSON: {"schema": {"$ref": f"{_SCHEMA}{_SCHEMAS[status == _OK]}"}}},
    }
    for status, meaning in _TEXTS["statuses"].items()
}


class Problem(msgspec.Struct, frozen=True):
    """An error, with an HTTP status, a code for programs and a message for people."""

    status: int
    code: str
    message: str


class ProblemAnswer(msgspec.Struct, frozen=True):
    """The body of every answer to a refused request."""

    error: Problem


NO_ADDRESS = Problem(400, "no_address", "The query parameter `address` is missing.")
NO_KEY = Problem(401, "no_key", "The query parameter apiKey is missing.")
UNKNOWN_KEY = Problem(401, "unknown_key", "The API key is not known.")
WRONG_BASE = Problem(403, "wrong_base", "The API key is not for this base URL.")
NO_SUCH_PATH = Problem(404, "no_such_path", "This path does not exist.")
NOT_ALLOWED = Problem(405, "not_allowed", "Only GET is allowed here.")
WRONG_HOST = Problem(421, "wrong_host", "The Host header is not for this machine.")
LIMITED_IP = Problem(429, "limited_ip", "Too many requests from this IP address.")
LIMITED_KEY = Problem(429, "limited_key", "Too many requests with this API key.")
BROKEN = Problem(500, "broken", "The sandbox could not answer; its ledger may be faulty.")


def _http_error(problem: Problem, headers: dict[str, str] | None = None) -> HTTPException:
    return HTTPException(problem.status, problem, headers)


class Gate:
    """Access control by API key, base URL and rate limit."""

    def __init__(self, requests_per_second: float | None, keys: Iterable[AcceptedKey]) -> None:
        self._keys = {known.key: known for known in keys}
        self._storage = MemoryStorage()
        self._limiter = MovingWindowRateLimiter(self._storage)
        self._limit: RateLimitItem | None = None
        if requests_per_second is not None:
            rate = Fraction(requests_per_second).limit_denominator(_MAX_WINDOW_S)
            self._limit = RateLimitItemPerSecond(rate.numerator, rate.denominator)
        self._test_limit = RateLimitItemPerSecond(TEST_KEY_PER_SECOND)

    def check_access(self, key_text: str | None, base_kind: str, ip_address: str) -> None:
        """Raise an HTTP error for a wrong key, a wrong base URL or too many requests."""
        self._enforce_limit(self._limit, LIMITED_IP, "ip", ip_address)
        key = self.find_key(key_text)
        if key is None:
            raise _http_error(UNKNOWN_KEY if key_text else NO_KEY)
        if key.kind not in (base_kind, "test"):
            raise _http_error(WRONG_BASE)
        limit = self._test_limit if key.kind == "test" else self._limit
        self._enforce_limit(limit, LIMITED_KEY, "key", key.key)

    def find_key(self, key_text: str | None) -> AcceptedKey | None:
        """Return the key with this text, or None for a missing or unknown text."""
        return self._keys.get(key_text or "")

    def close(self) -> None:
        """Wait until the clean-up thread of the library `limits` has ended."""
        self._storage.timer.join()

    def _enforce_limit(self, limit: RateLimitItem | None, problem: Problem, *caller: str) -> None:
        if limit is None or self._limiter.hit(limit, *caller):
            return
        wait_s = self._limiter.get_window_stats(limit, *caller).reset_time - time.time()
        raise _http_error(problem, {"Retry-After": str(max(1, math.ceil(wait_s)))})


def create_app(ledger: Ledger, behaviour: Behaviour, gate: Gate) -> FastAPI:
    """Return an application with a private and a public base URL, and an OpenAPI document."""
    app = FastAPI(
        title=_TEXTS["title"],
        version=f"sandbox-{GENERATOR_VERSION}",
        description=_TEXTS["description"],
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    endpoint = _WalletEndpoint(ledger, behaviour, gate)
    for base in BASES:
        path = f"/{base}{schemas.DETAILS_PATH}"
        app.add_api_route(
            path,
            endpoint.answer_request,
            operation_id=f"wallet_details_{base}",
            summary=f"Get wallet details ({base} base URL)",
            responses=_RESPONSES,
            response_class=Response,
            openapi_extra=_TEXTS["operation"],
        )
        app.add_api_route(path, _answer_preflight, methods=["OPTIONS"], include_in_schema=False)
    app.state.gate = gate
    app.add_middleware(_reject_foreign_hosts)
    for kind in (AnyHTTPException, Exception):
        app.add_exception_handler(kind, _handle_error)
    generate = app.openapi
    app.openapi = lambda: _with_answer_schemas(generate())  # type: ignore[method-assign]  # as in FastAPI's manual
    return app


def _with_answer_schemas(document: dict[str, Any]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components(
        [schemas.WalletDetailsAnswer, ProblemAnswer], ref_template=_SCHEMA + "{name}"
    )
    for schema in components.values():
        schema["description"] = schema["description"].partition("\n")[0]
        # For msgspec, fields with a default are optional, but the sandbox omits only prices.
        schema["required"] = [name for name in schema["properties"] if name != "price"]
        for field in schema["properties"].values():
            field.pop("default", None)
    return document | {"components": {"schemas": components}}


class _WalletEndpoint:
    """The endpoint. The seed and a wallet's earlier requests decide whether the wallet fails."""

    def __init__(self, ledger: Ledger, behaviour: Behaviour, gate: Gate) -> None:
        self._ledger, self._behaviour, self._gate = ledger, behaviour, gate
        self._request_counts: Counter[WalletAddress] = Counter()

    async def answer_request(self, request: Request) -> Response:
        host = request.client.host if request.client else ""
        base_kind = request.url.path.split("/")[1]
        self._gate.check_access(request.query_params.get(schemas.KEY_PARAMETER), base_kind, host)
        wallets = _parse_distinct_wallets(request.query_params.getlist(schemas.ADDRESS_PARAMETER))
        await asyncio.sleep(self._behaviour.latency_s * len(wallets))
        answer = msgspec.json.encode(self._make_answer(wallets))
        return Response(answer, media_type=_JSON, headers=_cors_headers(request))

    def _make_answer(self, wallets: Sequence[WalletAddress]) -> schemas.WalletDetailsAnswer:
        """Return one entry per wallet, in order. If a wallet fails, all its spellings fail."""
        failing = {}
        for wallet in {wallet.canonical for wallet in wallets}:
            rng = HashRandom("failure", self._behaviour.seed, wallet, self._request_counts[wallet])
            self._request_counts[wallet] += 1
            failing[wallet] = rng.bernoulli(self._behaviour.failure_share)
        return schemas.WalletDetailsAnswer(
            [
                make_wallet_detail(wallet, None, failed=True)
                if failing[wallet.canonical]
                else self._ledger.detail(wallet)
                for wallet in wallets
            ]
        )


def _parse_distinct_wallets(texts: Sequence[str]) -> list[WalletAddress]:
    if not texts:
        raise _http_error(NO_ADDRESS)
    wallets: dict[WalletAddress, None] = {}
    for position, text in enumerate(texts):
        try:
            wallets[WalletAddress.parse(text)] = None
        except AddressError as error:
            message = f"Address parameter {position} (counted from 0): {error.problems[0][2]}."
            raise _http_error(Problem(400, "bad_address", message)) from None
    return list(wallets)


def _reject_foreign_hosts(app: ASGIApp) -> ASGIApp:
    """Return middleware that rejects foreign Host headers, to prevent DNS rebinding."""

    async def check_host(scope: Scope, receive: Receive, send: Send) -> None:
        is_foreign = not is_local_host(Headers(scope=scope).get("Host", ""))
        answer = _problem_response(WRONG_HOST, {}) if is_foreign else app
        await answer(scope, receive, send)

    return check_host


async def _answer_preflight(request: Request) -> Response:
    granted = _cors_headers(request)
    if not granted:
        return _cors_response(request, NOT_ALLOWED, {"Allow": "GET"})
    headers = granted | {"Access-Control-Allow-Methods": "GET"}
    if requested := request.headers.get("Access-Control-Request-Headers"):
        headers["Access-Control-Allow-Headers"] = requested
    return Response(status_code=204, headers=headers)


def _cors_headers(request: Request) -> dict[str, str]:
    key = request.app.state.gate.find_key(request.query_params.get(schemas.KEY_PARAMETER))
    if key is None or key.origin is None or key.origin != request.headers.get("Origin"):
        return {}
    return {
        "Access-Control-Allow-Origin": key.origin,
        "Access-Control-Expose-Headers": f"Retry-After, {_SIMULATED_HEADER}",
        "Vary": "Origin",
    }


async def _handle_error(request: Request, error: Any) -> Response:
    if not isinstance(error, AnyHTTPException):
        return _cors_response(request, BROKEN, {})
    problem: Any = error.detail
    if not isinstance(problem, Problem):
        problem = NO_SUCH_PATH if error.status_code == HTTPStatus.NOT_FOUND else NOT_ALLOWED
    return _cors_response(request, problem, error.headers or {})


def _cors_response(request: Request, problem: Problem, headers: Mapping[str, str]) -> Response:
    return _problem_response(problem, {**headers, **_cors_headers(request)})


def _problem_response(problem: Problem, headers: Mapping[str, str]) -> Response:
    body = msgspec.json.encode(ProblemAnswer(problem))
    return Response(body, status_code=problem.status, media_type=_JSON, headers=headers)


class LoopbackServer:
    """A server on localhost. It starts when it is created, and runs until `stop` is called."""

    def __init__(self, app: FastAPI, *, port: int) -> None:
        self._socket = socket.create_server((HOST, port))
        self.port: int = self._socket.getsockname()[1]
        for name in ("uvicorn.error", "uvicorn.access", "uvicorn.asgi", "asyncio"):
            logging.getLogger(name).addFilter(_is_not_from_service_thread)
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            headers=[(_SIMULATED_HEADER, "true")],
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=1 << 20,
        )
        self._server = uvicorn.Server(config)
        run, args = self._server.run, ([self._socket],)
        self._thread = threading.Thread(target=run, args=args, name=_THREAD_NAME, daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.002)

    def wait(self) -> None:
        """Block until another thread stops the server."""
        # After an interrupt, `Thread.join` would treat the thread as ended.
        while not self._server.should_exit:
            time.sleep(0.2)

    def stop(self) -> None:
        """Stop the server, and wait until its thread has ended and its socket is closed."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


def _is_not_from_service_thread(record: logging.LogRecord) -> bool:
    return record.threadName != _THREAD_NAME
