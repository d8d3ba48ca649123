"""Wallets as people paste them: from a chat, a list in Python, or two columns of a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from walletframe.address.forms import parse_wallets
from walletframe.errors import AddressError

if TYPE_CHECKING:
    from walletframe.address.forms import WalletAddress, WalletLike

_BETWEEN = re.compile(r"[\s,;]+")
_IDENTIFIER = re.compile(r"(?!0x)[A-Za-z][\w-]*")
_ADDRESS = re.compile(r"(?![A-Z][A-Z0-9_]*\.).*[\d.].*")  # neither a wallet in full nor a word
_AROUND = "\"'`“”‘’[](){}<>"  # noqa: RUF001 - what chats make of straight quotes


@dataclass(frozen=True, slots=True)
class Pasted:
    """What was found in a text.

    Attributes
    ----------
    wallets : list of WalletAddress
        In the order of the text, repeats included.
    problems : list of (int, str, str)
        The number of the line, from 1; the piece that can't be read; and the reason.
    unread : str
        The lines with a problem, whole, to be mended.
    """

    wallets: list[WalletAddress]
    problems: list[tuple[int, str, str]]
    unread: str


def read_pasted(text: str) -> Pasted:
    r"""Read wallets from a text, and say of each line why it can't be read.

    Parameters
    ----------
    text : str
        ``<BLOCKCHAIN>.<ADDRESS>``, one or several a line, with white space, commas or semicolons
        between them and quotes or brackets around them; or a blockchain and an address a line,
        as copied from two columns. What follows a ``#`` is a comment. A line is read as a whole
        or not at all.

    Returns
    -------
    Pasted
        Wallets and problems.

    Examples
    --------
    >>> found = read_pasted("NEAR.alice.near  # Alice\nETH\t0x1\nnonsense")
    >>> [str(wallet) for wallet in found.wallets]
    ['NEAR.alice.near', 'ETH.0x1']
    >>> found.problems
    [(3, 'nonsense', 'no dot between blockchain and address, as in "ETH.0x52…"')]
    """
    wallets: list[WalletAddress] = []
    problems: list[tuple[int, str, str]] = []
    unread: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            wallets += parse_wallets(_pieces(line.partition("#")[0]))
        except AddressError as error:
            problems += [(number, value, reason) for _, value, reason in error.problems]
            unread.append(line)
    return Pasted(wallets, problems, "\n".join(unread))


def _pieces(line: str) -> list[WalletLike]:
    pieces = [piece.strip(_AROUND) for piece in _BETWEEN.split(line)]
    pieces = [piece for piece in pieces if piece]
    if len(pieces) == 2 and _is_row(*pieces):  # noqa: PLR2004 - two columns
        return [(pieces[0], pieces[1])]
    return [*pieces]


def _is_row(first: str, second: str) -> bool:
    """Tell a blockchain and an address from two wallets, and from words between wallets."""
    return bool(_IDENTIFIER.fullmatch(first) and _ADDRESS.fullmatch(second))
