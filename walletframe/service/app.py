"""A FastAPI application that imitates the service, with random failures, and its local server.

The server runs in a thread of this process. It logs nothing to the console, installs no signal
handler, and does not use the caller's event loop.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
import tomllib
from collections import Counter
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec
import uvicorn
from fastapi import FastAPI, Request, Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from walletframe.address.forms import WalletAddress
from walletframe.errors import AddressError
from walletframe.service import gate as problems
from walletframe.service.gate import Problem, ProblemAnswer, http_error
from walletframe.service.ledger import GENERATOR_VERSION, HashRandom, make_wallet_detail
from walletframe.service.options import BASES
from walletframe.settings.key import is_local_host
from walletframe.wire import schemas

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from walletframe.service.gate import Gate
    from walletframe.service.ledger import Ledger
    from walletframe.service.options import Behaviour

HOST = "127.0.0.1"
_JSON = "application/json"
_THREAD_NAME = "walletframe-sandbox"
_SCHEMA = "#/components/schemas/"
_OWN_STATUS = "The service's document does not show this status; the sandbox defines it."
_TEXTS = tomllib.loads(files(__package__).joinpath("openapi.toml").read_text(encoding="utf-8"))
_OK, _LIMITED = "200", "429"
_SCHEMAS = ("ProblemAnswer", "WalletDetailsAnswer")  # for refused and valid requests
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


def create_app(ledger: Ledger, behaviour: Behaviour, gate: Gate) -> FastAPI:
    """Return an application with the endpoint at both base URLs, and an OpenAPI document."""
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
    app.add_middleware(_HostCheckMiddleware)
    for kind in (HTTPException, Exception):
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
    """The endpoint. A wallet's failures depend on the seed and on the wallet's earlier requests."""

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
        """Return one entry per wallet, in order. A wallet that fails does so in all spellings."""
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
        raise http_error(problems.NO_ADDRESS)
    wallets: dict[WalletAddress, None] = {}
    for position, text in enumerate(texts):
        try:
            wallets[WalletAddress.parse(text)] = None
        except AddressError as error:
            message = f"Address parameter {position} (counted from 0): {error.problems[0][2]}."
            raise http_error(Problem(400, "bad_address", message)) from None
    return list(wallets)


class _HostCheckMiddleware:
    """Middleware that rejects requests with a foreign Host header, to prevent DNS rebinding."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._app
        if scope["type"] == "http" and not is_local_host(Headers(scope=scope).get("Host", "")):
            answer = _problem_response(problems.WRONG_HOST, {})
        await answer(scope, receive, send)


async def _answer_preflight(request: Request) -> Response:
    granted = _cors_headers(request)
    if not granted:
        return _cors_response(request, problems.NOT_ALLOWED, {"Allow": "GET"})
    headers = granted | {"Access-Control-Allow-Methods": "GET"}
    if requested := request.headers.get("Access-Control-Request-Headers"):
        headers["Access-Control-Allow-Headers"] = requested
    return Response(status_code=204, headers=headers)


def _cors_headers(request: Request) -> dict[str, str]:
    """Return CORS headers if the request's origin is registered for its key."""
    key = request.app.state.gate.find_key(request.query_params.get(schemas.KEY_PARAMETER))
    if key is None or key.origin is None or key.origin != request.headers.get("Origin"):
        return {}
    return {
        "Access-Control-Allow-Origin": key.origin,
        "Access-Control-Expose-Headers": "Retry-After, X-Walletframe-Simulated",
        "Vary": "Origin",
    }


async def _handle_error(request: Request, error: Any) -> Response:
    if not isinstance(error, HTTPException):
        return _cors_response(request, problems.BROKEN, {})
    problem: Any = error.detail
    if not isinstance(problem, Problem):
        is_missing = error.status_code == HTTPStatus.NOT_FOUND
        problem = problems.NO_SUCH_PATH if is_missing else problems.NOT_ALLOWED
    return _cors_response(request, problem, error.headers or {})


def _cors_response(request: Request, problem: Problem, headers: Mapping[str, str]) -> Response:
    return _problem_response(problem, {**headers, **_cors_headers(request)})


def _problem_response(problem: Problem, headers: Mapping[str, str]) -> Response:
    body = msgspec.json.encode(ProblemAnswer(problem))
    return Response(body, status_code=problem.status, media_type=_JSON, headers=headers)


class LoopbackServer:
    """A server on localhost that runs from its creation until `stop`."""

    def __init__(self, app: FastAPI, *, port: int, headers: list[tuple[str, str]]) -> None:
        self._socket = socket.create_server((HOST, port))
        self.port: int = self._socket.getsockname()[1]
        for name in ("uvicorn.error", "uvicorn.access", "uvicorn.asgi", "asyncio"):
            logging.getLogger(name).addFilter(_is_from_other_thread)
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
            headers=headers,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=1 << 20,
        )
        self._server = uvicorn.Server(config)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run_server, name=_THREAD_NAME, daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.002)

    def _run_server(self) -> None:
        try:
            self._server.run([self._socket])
        finally:
            self._ended.set()

    def wait(self) -> None:
        """Block until another thread stops the server."""
        # After an interrupt, `Thread.join` would treat the thread as ended.
        while not self._ended.wait(0.2):
            pass

    def stop(self) -> None:
        """Stop the server, and wait until its thread has ended and its socket is closed."""
        self._server.should_exit = True
        self._ended.wait()
        self._thread.join()
        self._socket.close()


def _is_from_other_thread(record: logging.LogRecord) -> bool:
    return record.threadName != _THREAD_NAME
