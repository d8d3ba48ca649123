"""The endpoint as a FastAPI application: routes, statuses, headers, and failures by chance."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
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
from walletframe.service.gate import Problem, ProblemAnswer, RefusedError
from walletframe.service.ledger import detail_of
from walletframe.service.options import Base
from walletframe.service.simulated import Chance
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

_JSON = "application/json"


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
    desk = _Desk(ledger, behaviour)
    for base in Base:
        _add_endpoint(app, base, _details_endpoint(base, gate, desk, behaviour.latency_s))
    app.state.gate = gate
    app.add_middleware(_OwnNameOnly)
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(HTTPException, _not_routed)
    app.add_exception_handler(Exception, _broken)
    generate = app.openapi
    app.openapi = lambda: with_components(generate())  # type: ignore[method-assign]
    return app


class _OwnNameOnly:
    """Refuses who asks by another name, as a web page does that had its own led to this machine."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not is_this_machine(Headers(scope=scope).get("Host", "")):
            answer: ASGIApp = _answer(problems.WRONG_HOST, {})
        else:
            answer = self._app
        await answer(scope, receive, send)


def _add_endpoint(
    app: FastAPI, base: Base, endpoint: Callable[[Request], Awaitable[Response]]
) -> None:
    path = f"/{base}{DETAILS_PATH}"
    app.add_api_route(
        path,
        endpoint,
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


def _details_endpoint(
    base: Base, gate: Gate, desk: _Desk, latency_s: float
) -> Callable[[Request], Awaitable[Response]]:
    async def details(request: Request) -> Response:
        host = request.client.host if request.client else ""
        gate.admit(request.query_params.get(KEY_PARAMETER), base, host)
        wallets = _addresses(request.query_params.getlist(ADDRESS_PARAMETER))
        await asyncio.sleep(latency_s * len(wallets))
        answer = msgspec.json.encode(desk.answer(wallets))
        return Response(answer, media_type=_JSON, headers=_cors_headers(request))

    return details


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


def _refusal(request: Request, problem: Problem, headers: Mapping[str, str]) -> Response:
    return _answer(problem, dict(headers) | _cors_headers(request))


def _answer(problem: Problem, headers: dict[str, str]) -> Response:
    body = msgspec.json.encode(ProblemAnswer(problem))
    return Response(body, status_code=problem.status, media_type=_JSON, headers=headers)


async def _refused(request: Request, error: Any) -> Response:
    wait = {} if error.retry_after_s is None else {"Retry-After": str(error.retry_after_s)}
    return _refusal(request, error.problem, wait)


async def _not_routed(request: Request, error: Any) -> Response:
    problem = problems.NO_SUCH_PATH if error.status_code == 404 else problems.NOT_ALLOWED  # noqa: PLR2004 - the status that says so
    return _refusal(request, problem, error.headers or {})


async def _broken(request: Request, _error: Exception) -> Response:
    return _refusal(request, problems.BROKEN, {})


def _addresses(texts: Sequence[str]) -> list[WalletAddress]:
    """Read the address parameters of a request in the order asked; equal texts count once."""
    if not texts:
        raise RefusedError(problems.NO_ADDRESS)
    wallets: dict[WalletAddress, None] = {}
    for position, text in enumerate(texts):
        try:
            wallets[WalletAddress.parse(text)] = None
        except AddressError as error:
            message = f"Address parameter {position} (from 0): {error.problems[0][2]}."
            raise RefusedError(Problem(400, "bad_address", message)) from None
    return list(wallets)


class _Desk:
    """Answers for wallets, and remembers how often each was asked for.

    A wallet fails or not by the seed, its address, and how many times it was asked for before:
    asking again can succeed, and a second run fails alike.
    """

    def __init__(self, ledger: Ledger, behaviour: Behaviour) -> None:
        self._ledger = ledger
        self._behaviour = behaviour
        self._asked: Counter[WalletAddress] = Counter()

    def answer(self, wallets: Sequence[WalletAddress]) -> WalletDetailsAnswer:
        """Return one entry for each, in the same order; spellings of one wallet fail together."""
        failing = {one: self._fails(one) for one in {wallet.canonical for wallet in wallets}}
        return WalletDetailsAnswer(
            [
                detail_of(wallet, None, failed=True)
                if failing[wallet.canonical]
                else self._ledger.detail(wallet)
                for wallet in wallets
            ]
        )

    def _fails(self, wallet: WalletAddress) -> bool:
        before = self._asked[wallet]
        self._asked[wallet] += 1
        chance = Chance("failure", self._behaviour.seed, wallet, before)
        return chance.hits(self._behaviour.failure_share)
