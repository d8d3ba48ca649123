"""Addresses of servers: which text is one that can be asked, and which of them are this machine."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import SplitResult, urlsplit

from walletframe.text import is_unseen


def url_parts(value: Any) -> SplitResult | None:
    """Return the parts of an address that can be asked.

    Parameters
    ----------
    value : object
        Anything; white space around a text is ignored.

    Returns
    -------
    SplitResult or None
        None where it is no http or https address of a host.

    Examples
    --------
    >>> url_parts("https://api.example/v1").hostname
    'api.example'
    """
    if not isinstance(value, str) or any(is_unseen(char) or char == "…" for char in value.strip()):
        return None
    try:
        parts = urlsplit(value.strip())
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable and parts.scheme in ("http", "https") else None


def is_this_machine(place: str) -> bool:
    """Tell whether a header ``Host`` names this machine, on whatever port.

    Parameters
    ----------
    place : str
        A host, perhaps with a port.

    Returns
    -------
    bool
        False also for what is no such header.

    Examples
    --------
    >>> is_this_machine("127.0.0.1:8000"), is_this_machine("127.0.0.1.example")
    (True, False)
    """
    parts = url_parts(f"http://{place}/")
    return parts is not None and parts.netloc == place and is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine.

    Parameters
    ----------
    host : str
        A name or an IP address.

    Returns
    -------
    bool
        True for ``localhost`` and for loopback addresses.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("api.example")
    (True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
