"""The endpoint as a FastAPI application, with failures by chance, served on loopback.

The server runs in a thread of this process: nothing is logged to the console, no signal handler is
installed, and the caller's event loop, if there is one, is left alone.
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

from walletframe.address import WalletAddress
from walletframe.errors import AddressError
from walletframe.service import gate as problems
from walletframe.service.document import (
    DESCRIPTION,
    OPERATION,
    RESPONSES,
    TITLE,
    VERSION,
    with_components,
)
from walletframe.service.gate import Problem, ProblemAnswer, refused
from walletframe.service.ledger import Chance, detail_of
from walletframe.service.options import Base
from walletframe.settings import is_this_machine
from walletframe.wire.shapes import (
    ADDRESS_PARAMETER,
    DETAILS_PATH,
    KEY_PARAMETER,
    WalletDetailsAnswer,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

    from walletframe.service.gate import Gate
    from walletframe.service.ledger import Ledger
    from walletframe.service.options import Behaviour

HOST = "127.0.0.1"
_JSON = "application/json"
_THREAD_NAME = "walletframe-sandbox"
_LONGEST_REQUEST = 1 << 20
_LOGGERS = ("uvicorn.error", "uvicorn.access", "uvicorn.asgi", "asyncio")


def create_app(ledger: Ledger, behaviour: Behaviour, gate: Gate) -> FastAPI:
    """Build the application: the endpoint under both base addresses, and its document."""
    app = FastAPI(
        title=TITLE,
        version=VERSION,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    desk = _Desk(ledger, behaviour, gate)
    for base in Base:
        path = f"/{base}{DETAILS_PATH}"
        app.add_api_route(
            path,
            desk.endpoint(base),
            operation_id=f"wallet_details_{base}",
            summary=f"Get wallet details ({base} base address)",
            responses=RESPONSES,
            response_class=Response,
            response_model=None,
            openapi_extra=OPERATION,
        )
        app.add_api_route(
            path, _preflight, methods=["OPTIONS"], response_model=None, include_in_schema=False
        )
    app.state.gate = gate
    app.add_middleware(_OwnNameOnly)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _broken)
    generate = app.openapi
    app.openapi = lambda: with_components(generate())  # type: ignore[method-assign]
    return app


class _Desk:
    """Answers for wallets, and remembers how often each was asked for.

    A wallet fails or not by the seed, its address, and how many times it was asked for before:
    asking again can succeed, and a second run fails alike.
    """

    def __init__(self, ledger: Ledger, behaviour: Behaviour, gate: Gate) -> None:
        self._ledger, self._behaviour, self._gate = ledger, behaviour, gate
        self._asked: Counter[WalletAddress] = Counter()

    def endpoint(self, base: Base) -> Callable[[Request], Awaitable[Response]]:
        """Return what answers requests to a base address."""

        async def details(request: Request) -> Response:
            host = request.client.host if request.client else ""
            self._gate.admit(request.query_params.get(KEY_PARAMETER), base, host)
            wallets = _addresses(request.query_params.getlist(ADDRESS_PARAMETER))
            await asyncio.sleep(self._behaviour.latency_s * len(wallets))
            answer = msgspec.json.encode(self._answer(wallets))
            return Response(answer, media_type=_JSON, headers=_cors_headers(request))

        return details

    def _answer(self, wallets: Sequence[WalletAddress]) -> WalletDetailsAnswer:
        """Return one entry for each, in the same order; spellings of one wallet fail together."""
        failing = {}
        for wallet in {wallet.canonical for wallet in wallets}:
            chance = Chance("failure", self._behaviour.seed, wallet, self._asked[wallet])
            self._asked[wallet] += 1
            failing[wallet] = chance.hits(self._behaviour.failure_share)
        return WalletDetailsAnswer(
            [
                detail_of(wallet, None, failed=True)
                if failing[wallet.canonical]
                else self._ledger.detail(wallet)
                for wallet in wallets
            ]
        )


def _addresses(texts: Sequence[str]) -> list[WalletAddress]:
    """Read the address parameters of a request in the order asked; equal texts count once."""
    if not texts:
        raise refused(problems.NO_ADDRESS)
    wallets: dict[WalletAddress, None] = {}
    for position, text in enumerate(texts):
        try:
            wallets[WalletAddress.parse(text)] = None
        except AddressError as error:
            message = f"Address parameter {position} (from 0): {error.problems[0][2]}."
            raise refused(Problem(400, "bad_address", message)) from None
    return list(wallets)


class _OwnNameOnly:
    """Refuses who asks by another name, as a web page does that had its own led to this machine."""

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
    asked = request.headers.get("Access-Control-Request-Headers")
    allowed = {"Access-Control-Allow-Headers": asked} if asked else {}
    return Response(
        status_code=204, headers=granted | {"Access-Control-Allow-Methods": "GET"} | allowed
    )


def _cors_headers(request: Request) -> dict[str, str]:
    """Return the headers for the origin that the request's key has registered, else none."""
    key = request.app.state.gate.find(request.query_params.get(KEY_PARAMETER))
    origin = request.headers.get("Origin")
    if key is None or key.domain is None or key.domain != origin:
        return {}
    return {
        "Access-Control-Allow-Origin": key.domain,
        "Access-Control-Expose-Headers": "Retry-After, X-Walletframe-Simulated",
        "Vary": "Origin",
    }


async def _refused(request: Request, error: Any) -> Response:
    """Answer what the gate refused, or what FastAPI found no route for."""
    problem = error.detail
    if not isinstance(problem, Problem):
        problem = problems.NO_SUCH_PATH if error.status_code == 404 else problems.NOT_ALLOWED  # noqa: PLR2004 - the status that says so
    return _refusal(request, problem, error.headers or {})


async def _broken(request: Request, _error: Exception) -> Response:
    return _refusal(request, problems.BROKEN, {})


def _refusal(request: Request, problem: Problem, headers: Mapping[str, str]) -> Response:
    return _answer(problem, {**headers, **_cors_headers(request)})


def _answer(problem: Problem, headers: Mapping[str, str]) -> Response:
    body = msgspec.json.encode(ProblemAnswer(problem))
    return Response(body, status_code=problem.status, media_type=_JSON, headers=headers)


class LoopbackServer:
    """A server that is up when it is made, until it is stopped; port 0 is any free one."""

    def __init__(self, app: FastAPI, *, port: int, headers: list[tuple[str, str]]) -> None:
        self._socket = socket.create_server((HOST, port))
        self.port: int = self._socket.getsockname()[1]
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(_is_from_elsewhere)
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
        while not self._ended.wait(0.2):  # an interrupted join would take the thread for ended
            pass

    def stop(self) -> None:
        """Stop serving: the thread has ended and the socket is closed when this returns."""
        self._server.should_exit = True
        self._ended.wait()
        self._thread.join()
        self._socket.close()


def _is_from_elsewhere(record: logging.LogRecord) -> bool:
    return record.threadName != _THREAD_NAME
