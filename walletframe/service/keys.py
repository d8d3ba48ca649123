"""The sandbox's keys: one of each kind, and which base address each may be used at.

The keys are public knowledge, and open nothing but simulated data on this machine. A sandbox that
serves holdings of its user's has keys of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from secrets import token_hex


class Base(StrEnum):
    """The two base addresses of the service."""

    PRIVATE = "private"
    PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class SandboxKey:
    """A key as it was given out: its kind and, for a website, the registered domain.

    Parameters
    ----------
    key : str
        The key.
    kind : str
        ``"private"``, ``"public"`` or ``"test"``.
    bases : frozenset of Base
        The base addresses it may be used at.
    domain : str, optional
        The origin, such as ``https://notebook.example``, that is answered with CORS headers.

    Examples
    --------
    >>> SANDBOX_KEYS["public"].domain
    'https://notebook.example'
    """

    key: str = field(repr=False)
    kind: str
    bases: frozenset[Base]
    domain: str | None = None


SANDBOX_KEYS = {
    "private": SandboxKey("wf-sandbox-private-0000", "private", frozenset({Base.PRIVATE})),
    "public": SandboxKey(
        "wf-sandbox-public-0000",
        "public",
        frozenset({Base.PUBLIC}),
        domain="https://notebook.example",
    ),
    "test": SandboxKey("wf-sandbox-test-0000", "test", frozenset(Base)),
}


def keys_of_its_own() -> dict[str, SandboxKey]:
    """Return keys that nobody knows, for a sandbox whose holdings are not simulated.

    Returns
    -------
    dict of str to SandboxKey
        By kind, as in `SANDBOX_KEYS`.

    Examples
    --------
    >>> keys_of_its_own()["private"].key == keys_of_its_own()["private"].key
    False
    """
    return {
        kind: replace(known, key=f"wf-sandbox-{kind}-{token_hex(16)}")
        for kind, known in SANDBOX_KEYS.items()
    }
