"""The URL of a blockchain's node: as secret as the API key, since it often carries one."""

from __future__ import annotations

import os
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

from walletframe.errors import Either, SettingsError, Spelled
from walletframe.settings.key import Secret
from walletframe.settings.urls import is_loopback, url_parts

if TYPE_CHECKING:
    from urllib.parse import SplitResult

RPC_URL_VARIABLE = "WALLETFRAME_RPC_URL"


class NodeUrl(Secret):
    """The URL of a node, hidden.

    Parameters
    ----------
    text : str
        The URL.

    Examples
    --------
    >>> NodeUrl("https://node.example/v2/secret")
    <node URL, hidden>
    """

    __slots__ = ()
    _name = "node URL"

    @classmethod
    def of(cls, given: object) -> NodeUrl:
        """Hide what was given.

        Parameters
        ----------
        given : str, NodeUrl or None
            None for what the environment variable ``WALLETFRAME_RPC_URL`` holds.

        Returns
        -------
        NodeUrl
            To be checked by `require_node`.
        """
        if isinstance(given, NodeUrl):
            return given
        if given is None:
            given = os.environ.get(RPC_URL_VARIABLE, "")
        return cls(given.strip() if isinstance(given, str) else "no text")


def require_node(url: NodeUrl) -> SplitResult:
    """Return where a node is, or say what is wrong with its URL, without quoting it.

    Parameters
    ----------
    url : NodeUrl
        What was given.

    Returns
    -------
    SplitResult
        The parts of the URL.

    Raises
    ------
    SettingsError
        Where it is not set, no http or https address, or http to another machine.

    Examples
    --------
    >>> require_node(NodeUrl("https://node.example/v2/secret")).hostname
    'node.example'
    """
    if not url:
        raise SettingsError(
            "rpc_url: no node is named",
            hint=Spelled(
                f"set {RPC_URL_VARIABLE} in the environment",
                Either(", or give rpc_url=…"),  # no option: everyone on the machine could see it
                ": the address of a node's JSON-RPC over https",
            ),
        )
    found = _found(url)
    if isinstance(found, str):
        raise SettingsError(f"rpc_url: {found}", hint="such as https://node.example/v2/<key>")
    return found


def secret_pieces(parts: SplitResult) -> tuple[Secret, ...]:
    """Return what of a node's URL must not be seen, to be looked for in what the node says.

    Parameters
    ----------
    parts : SplitResult
        The parts of the URL.

    Returns
    -------
    tuple of Secret
        The host, the user's name and password, these as a header, and the pieces of path and
        query.

    Examples
    --------
    >>> len(secret_pieces(require_node(NodeUrl("https://node.example/v2/secret?key=1"))))
    4
    """
    values = [value for _, value in parse_qsl(parts.query)]
    found = [parts.hostname, parts.username, parts.password, *parts.path.split("/"), *values]
    login = login_of(parts).reveal().rstrip("=")
    return tuple(Secret(unquote(piece)) for piece in [*found, login] if piece)


def login_of(parts: SplitResult) -> Secret:
    """Return the name and the password of a node's URL as a header sends them.

    Parameters
    ----------
    parts : SplitResult
        The parts of the URL.

    Returns
    -------
    Secret
        Empty where there is no name.

    Examples
    --------
    >>> login_of(require_node(NodeUrl("https://name:word@node.example"))).reveal()
    'bmFtZTp3b3Jk'
    """
    if not parts.username:
        return Secret("")
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Secret(b64encode(login.encode()).decode())


def _found(url: NodeUrl) -> SplitResult | str:
    """Return the parts, or what is wrong."""
    parts = url_parts(url.reveal())
    if parts is None:
        return "not an http or https address"
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        return "http would show the URL to everyone on the way; http is only for this machine"
    return parts
