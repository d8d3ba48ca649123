"""Wallets from the command line, from files and from standard input, with the place of each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from walletframe.address import A_FILE, asked_wallets, read_rows
from walletframe.cli.kinds import require_wallets
from walletframe.numerals import many
from walletframe.walletfile import wallets_of_file, wallets_of_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from walletframe.address import OnUnreadable, Reading, WalletAddress, WalletLike

_Placed: TypeAlias = "tuple[str, WalletLike]"
_SHOWN = 20
_IN_SHELL = {A_FILE: "a file: give it behind --file"}


def read_sources(
    words: Iterable[str], files: Iterable[str], on_unreadable: OnUnreadable = "raise"
) -> list[WalletAddress]:
    """Read wallets from everywhere, and report all that can't be read at once.

    Parameters
    ----------
    words : iterable of str
        Wallets on the command line.
    files : iterable of str
        Names of files: a ``.csv`` with the columns blockchain and address, or with one column of
        wallets; else one wallet a line, where # begins a comment. ``-`` is standard input.
    on_unreadable : {"raise", "drop"}, default "raise"
        What to do with what can't be read.

    Returns
    -------
    list of WalletAddress
        The distinct ones, in the order given.

    Raises
    ------
    click.UsageError
        Naming each wallet that can't be read, with its place and the reason.
    AddressError
        Where a file is no CSV of wallets, or no text.

    Warns
    -----
    InputWarning
        Where wallets are repeated or left out.
    """
    placed: list[_Placed] = [(f"argument {number}", word) for number, word in enumerate(words, 1)]
    for name in files:
        placed += _rows(name)
    reading = read_rows(enumerate(given for _, given in placed), "by place")
    if reading.problems and on_unreadable == "raise":
        raise click.UsageError(_listed(reading, placed))
    return asked_wallets(reading, on_unreadable, place=lambda number: placed[number][0])


def _listed(reading: Reading, placed: Sequence[_Placed]) -> str:
    problems = [
        f"  {placed[number][0]}: {value!r}: {_IN_SHELL.get(reason, reason)}"
        for number, value, reason in reading.problems[:_SHOWN]
    ]
    count = len(reading.problems)
    more = [f"  … and {count - _SHOWN} more"] if count > _SHOWN else []
    return "\n".join([f"{many(count, 'wallet')} can't be read:", *problems, *more])


def _rows(name: str) -> Iterator[_Placed]:
    if name != "-":
        require_wallets(name)
    try:
        numbered = wallets_of_lines(sys.stdin) if name == "-" else wallets_of_file(Path(name))
        for number, wallet in numbered:
            yield f"{name} line {number}", wallet
    except (OSError, UnicodeDecodeError) as fault:
        reason = str(fault)
    else:
        return
    raise click.UsageError(f"{name} can't be read: {reason}")
