"""The endpoint's OpenAPI document: what FastAPI can't read off a route that takes a plain request.

The texts are those of the service's document; where that is silent they say whose choice it is.
"""

from __future__ import annotations

from typing import Any

import msgspec

from walletframe.service.gate import ProblemAnswer
from walletframe.service.ledger import GENERATOR_VERSION
from walletframe.service.options import TEST_KEY_PER_SECOND
from walletframe.wire.shapes import ADDRESS_PARAMETER, KEY_PARAMETER, WalletDetailsAnswer

TITLE = "Wallet balance service (walletframe's sandbox, simulated data)"
VERSION = f"sandbox-{GENERATOR_VERSION}"
DESCRIPTION = (
    "Simulated or recorded holdings; no real service is asked. The service's document shows no "
    "version, no status but 200 and no error body: those here are the sandbox's own choice."
)
_SCHEMA = "#/components/schemas/"
_CHOSEN = "The sandbox's own choice: "
_OWN_STATUS = "The service's document does not show this status: it is the sandbox's own choice."

_MEANINGS = {
    400: "An address is missing, has no dot, or has an empty part.",
    401: "The key is missing or not known.",
    403: "The key is known, but belongs to the other base address.",
    404: "There is nothing at this path.",
    405: "The method is not GET, or the preflight names an origin that the key has not registered.",
    421: "The Host header does not name this machine: localhost, 127.0.0.1 or [::1].",
    429: "A limit of the IP address or of the key is exceeded; Retry-After says when to ask again.",
    500: "The sandbox could not answer.",
}

OPERATION: dict[str, Any] = {
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
            "name": ADDRESS_PARAMETER,
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
            "name": KEY_PARAMETER,
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


_MARKED = {"X-Walletframe-Simulated": "true: not a real service's data"}
_WITH_WAIT = _MARKED | {"Retry-After": "Whole seconds to wait."}


def _response(description: str, shape: str, headers: dict[str, str]) -> dict[str, Any]:
    return {
        "description": description,
        "headers": {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in headers.items()
        },
        "content": {"application/json": {"schema": {"$ref": _SCHEMA + shape}}},
    }


RESPONSES: dict[int | str, dict[str, Any]] = {
    200: _response("The wallets.", "WalletDetailsAnswer", _MARKED),
    **{
        status: _response(
            f"{meaning} {_OWN_STATUS}",
            "ProblemAnswer",
            _WITH_WAIT if status == 429 else _MARKED,  # noqa: PLR2004 - the status with a wait
        )
        for status, meaning in _MEANINGS.items()
    },
}


def with_components(document: dict[str, Any]) -> dict[str, Any]:
    """Add the schemas of the endpoint's answers to what FastAPI generated, and return it."""
    _, schemas = msgspec.json.schema_components(
        [WalletDetailsAnswer, ProblemAnswer], ref_template=_SCHEMA + "{name}"
    )
    for schema in schemas.values():
        schema["description"] = schema["description"].partition("\n")[0]
        # A reader may leave out what is null; the sandbox sends every field but a price.
        schema["required"] = [name for name in schema["properties"] if name != "price"]
        for field in schema["properties"].values():
            field.pop("default", None)
    document.setdefault("components", {}).setdefault("schemas", {}).update(schemas)
    return document
