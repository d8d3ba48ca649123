"""The sandbox's keys: one of each kind, and which base address each may be used at.

The keys are public knowledge and open nothing but a sandbox on this machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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

    key: str
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
_BY_KEY = {known.key: known for known in SANDBOX_KEYS.values()}


def find_key(text: str | None) -> SandboxKey | None:
    """Return what is known of a key, or None.

    Parameters
    ----------
    text : str or None
        The key as sent.

    Returns
    -------
    SandboxKey or None
        None for a missing or an unknown key.

    Examples
    --------
    >>> find_key("nobody's") is None
    True
    """
    return _BY_KEY.get(text or "")
