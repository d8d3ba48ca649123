"""The endpoint as a FastAPI application, with random failures, served on loopback.

The server runs in a thread of this process: it logs nothing to the console, installs no signal
handler, and does not touch the caller's event loop.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections import Counter
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
from walletframe.service.ledger import GENERATOR_VERSION, HashRandom, detail_of
from walletframe.service.options import BASES, TEST_KEY_PER_SECOND
from walletframe.settings.key import is_this_machine
from walletframe.wire import shapes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from walletframe.service.gate import Gate
    from walletframe.service.ledger import Ledger
    from walletframe.service.options import Behaviour

HOST = "127.0.0.1"
_JSON = "application/json"
_THREAD_NAME = "walletframe-sandbox"
_LONGEST_REQUEST = 1 << 20
_LOGGERS = ("uvicorn.error", "uvicorn.access", "uvicorn.asgi", "asyncio")
_DESCRIPTION = (
    "Simulated or recorded holdings; no real service is asked. The service's document shows no "
    "version, no status but 200 and no error body: those here are the sandbox's own choice."
)
_SCHEMA = "#/components/schemas/"
_CHOSEN = "The sandbox's own choice: "
_OWN_STATUS = "The service's document does not show this status: it is the sandbox's own choice."

_MEANINGS = {
    200: "The wallets.",
    400: "An address is missing, has no dot, or has an empty part.",
    401: "The key is missing or not known.",
    403: "The key is known, but belongs to the other base address.",
    404: "There is nothing at this path.",
    405: "The method is not GET, or the preflight names an origin that the key has not registered.",
    421: "The Host header does not name this machine: localhost, 127.0.0.1 or [::1].",
    429: "A limit of the IP address or of the key is exceeded; Retry-After says when to ask again.",
    500: "The sandbox could not answer.",
}

_OPERATION: dict[str, Any] = {
    "description": (
        "Returns all tokens and balances, and the explorer URL, for the given wallet addresses. "
        "One entry for each wallet asked for. The native coin has asset.address null. "
        "A wallet whose data can't be retrieved has failed true in an answer with status 200. "
        "A web page may read the answer if its domain is registered for the key (CORS).\n\n"
        f"Limits: per IP address and per key; the test key {TEST_KEY_PER_SECOND} requests a "
        f"second. {_CHOSEN}these numbers, a moving window, and the order of the "
        "checks (the address's limit, key, base address, the key's limit, addresses). "
        f"{_CHOSEN}an entry on an unknown blockchain has failed true."
    ),
    "parameters": [
        {
            "name": shapes.ADDRESS_PARAMETER,
            "in": "query",
            "required": True,
            "description": (
                "<BLOCKCHAIN>.<WALLET_ADDRESS>, the blockchain identifier and the address joined "
                f"by a dot. {_CHOSEN}several wallets are several such parameters, answered in "
                "their order, equal ones once; each is split at its first dot."
            ),
            "schema": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "style": "form",
            "explode": True,
        },
        {
            "name": shapes.KEY_PARAMETER,
            "in": "query",
            "required": True,
            "description": (
                "The caller's API key. A private key belongs to the private base address, a "
                f"public key to the public one. {_CHOSEN}the test key is taken at both."
            ),
            "schema": {"type": "string"},
        },
    ],
}
_HEADERS = {
    "X-Walletframe-Simulated": "true: not a real service's data",
    "Retry-After": "Whole seconds to wait.",
}
_OK, _LIMITED = 200, 429
_SHAPES = ("ProblemAnswer", "WalletDetailsAnswer")  # of a refusal, of wallets
_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {
        "description": meaning if status == _OK else f"{meaning} {_OWN_STATUS}",
        "headers": {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in _HEADERS.items()
            if name != "Retry-After" or status == _LIMITED
        },
        "content": {_JSON: {"schema": {"$ref": f"{_SCHEMA}{_SHAPES[status == _OK]}"}}},
    }
    for status, meaning in _MEANINGS.items()
}


def create_app(ledger: Ledger, behaviour: Behaviour, gate: Gate) -> FastAPI:
    """Return the application: the endpoint under both base addresses, and its OpenAPI document."""
    app = FastAPI(
        title="Wallet balance service (walletframe's sandbox, simulated data)",
        version=f"sandbox-{GENERATOR_VERSION}",
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    endpoint = _WalletEndpoint(ledger, behaviour, gate)
    for base in BASES:
        path = f"/{base}{shapes.DETAILS_PATH}"
        app.add_api_route(
            path,
            endpoint.details,
            operation_id=f"wallet_details_{base}",
            summary=f"Get wallet details ({base} base address)",
            responses=_RESPONSES,
            response_class=Response,
            response_model=None,
            openapi_extra=_OPERATION,
        )
        app.add_api_route(
            path, _preflight, methods=["OPTIONS"], response_model=None, include_in_schema=False
        )
    app.state.gate = gate
    app.add_middleware(_HostCheckMiddleware)
    for kind in (HTTPException, Exception):
        app.add_exception_handler(kind, _handle_error)
    generate = app.openapi
    app.openapi = lambda: _with_components(generate())  # type: ignore[method-assign]
    return app


def _with_components(document: dict[str, Any]) -> dict[str, Any]:
    """Return FastAPI's OpenAPI document with the schemas of the endpoint's answers."""
    _, schemas = msgspec.json.schema_components(
        [shapes.WalletDetailsAnswer, ProblemAnswer], ref_template=_SCHEMA + "{name}"
    )
    for schema in schemas.values():
        schema["description"] = schema["description"].partition("\n")[0]
        # msgspec calls fields with a default optional, but the sandbox omits only prices.
        schema["required"] = [name for name in schema["properties"] if name != "price"]
        for field in schema["properties"].values():
            field.pop("default", None)
    return document | {"components": {"schemas": schemas}}


class _WalletEndpoint:
    """The endpoint, which counts the requests for each wallet.

    The seed, the address and that count decide whether a wallet fails: so a retry can succeed, and
    a second run fails in the same way.
    """

    def __init__(self, ledger: Ledger, behaviour: Behaviour, gate: Gate) -> None:
        self._ledger, self._behaviour, self._gate = ledger, behaviour, gate
        self._request_counts: Counter[WalletAddress] = Counter()

    async def details(self, request: Request) -> Response:
        """Answer a request; its path begins with the kind of its base address."""
        host = request.client.host if request.client else ""
        base = request.url.path.split("/")[1]
        self._gate.admit(request.query_params.get(shapes.KEY_PARAMETER), base, host)
        wallets = _addresses(request.query_params.getlist(shapes.ADDRESS_PARAMETER))
        await asyncio.sleep(self._behaviour.latency_s * len(wallets))
        answer = msgspec.json.encode(self._answer(wallets))
        return Response(answer, media_type=_JSON, headers=_cors_headers(request))

    def _answer(self, wallets: Sequence[WalletAddress]) -> shapes.WalletDetailsAnswer:
        """Return one entry for each wallet, in order; spellings of one wallet fail together."""
        failing = {}
        for wallet in {wallet.canonical for wallet in wallets}:
            rng = HashRandom("failure", self._behaviour.seed, wallet, self._request_counts[wallet])
            self._request_counts[wallet] += 1
            failing[wallet] = rng.bernoulli(self._behaviour.failure_share)
        return shapes.WalletDetailsAnswer(
            [
                detail_of(wallet, None, failed=True)
                if failing[wallet.canonical]
                else self._ledger.detail(wallet)
                for wallet in wallets
            ]
        )


def _addresses(texts: Sequence[str]) -> list[WalletAddress]:
    """Return the wallets of the address parameters, in their order, without equal texts."""
    if not texts:
        raise http_error(problems.NO_ADDRESS)
    wallets: dict[WalletAddress, None] = {}
    for position, text in enumerate(texts):
        try:
            wallets[WalletAddress.parse(text)] = None
        except AddressError as error:
            message = f"Address parameter {position} (from 0): {error.problems[0][2]}."
            raise http_error(Problem(400, "bad_address", message)) from None
    return list(wallets)


class _HostCheckMiddleware:
    """Middleware that rejects Host headers of other machines, against DNS rebinding."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._app
        if scope["type"] == "http" and not is_this_machine(Headers(scope=scope).get("Host", "")):
            answer = _answer(problems.WRONG_HOST, {})
        await answer(scope, receive, send)


async def _preflight(request: Request) -> Response:
    granted = _cors_headers(request)
    if not granted:
        return _refusal(request, problems.NOT_ALLOWED, {"Allow": "GET"})
    requested = request.headers.get("Access-Control-Request-Headers")
    allowed = {"Access-Control-Allow-Headers": requested} if requested else {}
    return Response(
        status_code=204, headers=granted | {"Access-Control-Allow-Methods": "GET"} | allowed
    )


def _cors_headers(request: Request) -> dict[str, str]:
    """Return CORS headers if the request's origin is registered for its key, else none."""
    key = request.app.state.gate.find(request.query_params.get(shapes.KEY_PARAMETER))
    origin = request.headers.get("Origin")
    if key is None or key.domain is None or key.domain != origin:
        return {}
    return {
        "Access-Control-Allow-Origin": key.domain,
        "Access-Control-Expose-Headers": "Retry-After, X-Walletframe-Simulated",
        "Vary": "Origin",
    }


async def _handle_error(request: Request, error: Any) -> Response:
    """Answer a request that the gate refused, that has no route, or that raised an exception."""
    if not isinstance(error, HTTPException):
        return _refusal(request, problems.BROKEN, {})
    problem: Any = error.detail
    if not isinstance(problem, Problem):
        problem = problems.NO_SUCH_PATH if error.status_code == 404 else problems.NOT_ALLOWED  # noqa: PLR2004 - the status that says so
    return _refusal(request, problem, error.headers or {})


def _refusal(request: Request, problem: Problem, headers: Mapping[str, str]) -> Response:
    return _answer(problem, {**headers, **_cors_headers(request)})


def _answer(problem: Problem, headers: Mapping[str, str]) -> Response:
    body = msgspec.json.encode(ProblemAnswer(problem))
    return Response(body, status_code=problem.status, media_type=_JSON, headers=headers)


class LoopbackServer:
    """A server on loopback that runs from its creation until `stop`; port 0 picks a free port."""

    def __init__(self, app: FastAPI, *, port: int, headers: list[tuple[str, str]]) -> None:
        self._socket = socket.create_server((HOST, port))
        self.port: int = self._socket.getsockname()[1]
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(_is_from_other_thread)
        self._server = uvicorn.Server(
            uvicorn.Config(
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
                h11_max_incomplete_event_size=_LONGEST_REQUEST,
            )
        )
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=_THREAD_NAME, daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.002)

    def _run(self) -> None:
        try:
            self._server.run([self._socket])
        finally:
            self._ended.set()

    def wait(self) -> None:
        """Return when the server has been stopped, by another thread or an interrupt."""
        while not self._ended.wait(0.2):  # after an interrupt, `join` would call the thread ended
            pass

    def stop(self) -> None:
        """Stop the server; return when the thread has ended and the socket is closed."""
        self._server.should_exit = True
        self._ended.wait()
        self._thread.join()
        self._socket.close()


def _is_from_other_thread(record: logging.LogRecord) -> bool:
    return record.threadName != _THREAD_NAME
