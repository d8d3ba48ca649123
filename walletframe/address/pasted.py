"""Wallets as people paste them: from a chat, a list in Python, or two columns of a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from walletframe.address.lists import parse_wallets
from walletframe.errors import AddressError

if TYPE_CHECKING:
    from walletframe.address.forms import WalletAddress

_BETWEEN = re.compile(r"[\s,;|]+")
_NUMBERING = re.compile(r"^\s*[(\[]?\d{1,4}[.)\]](?:\s+(?=\S)|(?=[A-Z][A-Z0-9_]*\.))")
_MARK = re.compile(r"[-–—*•‣▪·+:=]+")  # noqa: RUF001 - of lists and tables; an ellipsis is none
_HEADINGS = (["blockchain", "address"], ["address"], ["wallet"], ["wallets"])
_IDENTIFIER = re.compile(r"(?!0x)[A-Za-z][\w-]*|[A-Z][A-Z0-9_]*:")
_ADDRESS = re.compile(r"(?![A-Z][A-Z0-9_]*\.).*[\d.].*")  # neither a wallet in full nor a word
_COLON = re.compile(r"(?!\w+://)[^.]*:[^.]*\.")
_A_COLON = 'a colon before the first dot: write it as in "ETH.0x52…"'
_AROUND = "\"'`“”‘’[](){}<>"  # noqa: RUF001 - what chats make of straight quotes


@dataclass(frozen=True, slots=True)
class Pasted:
    """What was found in a text, in its order."""

    wallets: list[WalletAddress]
    problems: list[tuple[int, str, str]]  # line from 1, the piece that can't be read, the reason
    unread: str  # the lines with a problem, whole, to be mended


def read_pasted(text: str) -> Pasted:
    """Read wallets from a text, and say of each line why it can't be read.

    A comment, a list's marks and numbers, and a line of headings name nothing. A line is read as a
    whole or not at all.
    """
    wallets: list[WalletAddress] = []
    problems: list[tuple[int, str, str]] = []
    unread: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            wallets += _read_line(line.partition("#")[0])
        except AddressError as error:
            problems += [(number, value, reason) for _, value, reason in error.problems]
            unread.append(line)
    return Pasted(wallets, problems, "\n".join(unread))


def _read_line(line: str) -> list[WalletAddress]:
    named = [piece.strip(_AROUND) for piece in _BETWEEN.split(_NUMBERING.sub("", line))]
    pieces = [piece for piece in named if piece and not _MARK.fullmatch(piece)]
    if [piece.casefold() for piece in pieces] in _HEADINGS:
        return []
    if len(pieces) == 2 and _is_row(*pieces):  # noqa: PLR2004 - two columns
        return parse_wallets([(pieces[0].rstrip(":"), pieces[1])])
    if wrong := [(0, piece, _A_COLON) for piece in pieces if _COLON.match(piece)]:
        raise AddressError(wrong)
    return parse_wallets(pieces)


def _is_row(first: str, second: str) -> bool:
    """Tell a blockchain and an address from two wallets, and from words between wallets."""
    return bool(_IDENTIFIER.fullmatch(first) and _ADDRESS.fullmatch(second))
