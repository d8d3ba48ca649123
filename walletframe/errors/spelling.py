"""Texts of errors, parts of which are written differently in Python and in a shell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from walletframe.text import unlinked

Option: TypeAlias = Callable[[str], str]  # gives the name that an argument has in a shell


@dataclass(frozen=True, slots=True)
class Either:
    """Words for Python, and those for a shell, if any."""

    python: str
    shell: str = ""

    def __str__(self) -> str:
        return self.python

    def in_shell(self, _: Option) -> str:
        """Return the words for a shell."""
        return self.shell


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument: ``name=value`` in Python, or the name alone where the value is empty."""

    name: str
    value: Piece = Either("…")

    def __str__(self) -> str:
        return f"{self.name}={self.value}" if self.value else self.name

    def in_shell(self, option: Option) -> str:
        """Write it as an option and its value."""
        return f"{option(self.name)} {_in_shell(self.value, option)}".rstrip()


@dataclass(frozen=True, slots=True, init=False)
class Spelled:
    """A text in pieces; ``str`` gives the text for Python."""

    pieces: tuple[Piece, ...]

    def __init__(self, *pieces: Piece) -> None:
        object.__setattr__(self, "pieces", pieces)

    def __str__(self) -> str:
        return "".join(map(str, self.pieces))

    def in_shell(self, option: Option) -> str:
        """Write the text for a shell."""
        return "".join(_in_shell(piece, option) for piece in self.pieces)


Piece: TypeAlias = str | Either | Argument | Spelled
Text: TypeAlias = str | Spelled


def lines(first: Piece, *others: Piece) -> Spelled:
    """Put texts on lines of their own."""
    return Spelled(first, *(Spelled("\n", each) for each in others))


def more(left: int, indent: str, place: str) -> list[Piece]:
    """Say how many are left of a list that is whole in an attribute; nothing where none is."""
    return [Spelled(f"{indent}… and {left} more", Either(f" (see {place})"))] if left > 0 else []


def token_text(token: object) -> Piece:
    """Write a token as it is given: a pair in Python, BLOCKCHAIN.CONTRACT in a shell."""
    written = unlinked(ascii(token), slash=r"\x2f")  # to be pasted: still the same in Python
    match token:
        case (chain, contract):
            parts = (part if isinstance(part, str) else "" for part in (chain, contract))
            return Either(written, unlinked(ascii(".".join(parts))[1:-1], slash="/"))
    return written


def _in_shell(piece: Piece, option: Option) -> str:
    return piece if isinstance(piece, str) else piece.in_shell(option)
