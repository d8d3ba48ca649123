"""Printing to the shell: harmless text, in characters that the console supports.

All output of the commands goes through here, click's own messages included.
"""

from __future__ import annotations

import codecs
import io
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from walletframe.frames.display import table_text
from walletframe.text import as_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from walletframe.frames.tables import Table

_HANDLER = "walletframe.stand_in"
_STAND_INS = {"…": "~", "→": ">", "–": "-", "—": "-", "“": '"', "”": '"', "’": "'"}  # noqa: RUF001


def show(table: Table) -> None:
    """Print a table."""
    say(table_text(table))


def say(text: object = "", *, err: bool = False) -> None:
    """Print some lines, without characters that steer a terminal."""
    console = sys.stderr if err else sys.stdout  # named, else click takes ASCII for a mistake
    click.echo(as_lines(str(text)), file=console)


def fit_consoles() -> None:
    """Replace characters that a console's encoding lacks by stand-ins.

    Each is one character wide, so that tables stay aligned.
    """
    codecs.register_error(_HANDLER, _stand_in)  # type: ignore[arg-type]  # consoles only encode
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


@contextmanager
def harmless_errors() -> Iterator[None]:
    """Let click's errors, which quote what was typed, be shown as harmlessly as all else."""
    try:
        yield
    except click.ClickException as error:
        message = _fitting(as_lines(error.format_message()), sys.stderr.encoding)
        error.format_message = lambda: message  # type: ignore[method-assign]
        raise


def _fitting(text: str, encoding: str | None) -> str:
    """Return text as a console shows it."""
    known = encoding or "utf-8"
    return text.encode(known, _HANDLER).decode(known)


def _stand_in(error: UnicodeEncodeError) -> tuple[str, int]:
    lacking = error.object[error.start : error.end]
    return "".join(_STAND_INS.get(char, "?") for char in lacking), error.end
