"""Wallets from the command line, from files and from standard input, with the place of each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from walletframe.address import WalletAddress, parse_wallets
from walletframe.cli.kinds import require_wallets
from walletframe.cli.wording import in_shell
from walletframe.errors import AddressError
from walletframe.frames.summary import many
from walletframe.walletfile import wallets_of_file, wallets_of_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from walletframe.address import WalletLike

_Placed: TypeAlias = "tuple[str, WalletLike]"
_SHOWN = 20


def read_sources(words: Iterable[str], files: Iterable[str]) -> list[WalletAddress]:
    """Read wallets from everywhere, and report all that can't be read at once.

    Parameters
    ----------
    words : iterable of str
        Wallets on the command line.
    files : iterable of str
        Names of files: a ``.csv`` with the columns blockchain and address, or with one column of
        wallets; else one wallet a line, where # begins a comment. ``-`` is standard input.

    Returns
    -------
    list of WalletAddress
        In the order given.

    Raises
    ------
    click.UsageError
        Naming each wallet that can't be read, with its place and the reason.
    AddressError
        Where a file is no CSV of wallets, or no text.
    """
    placed: list[_Placed] = [(f"argument {number}", word) for number, word in enumerate(words, 1)]
    for name in files:
        placed += _rows(name)
    wallets: list[WalletAddress] = []
    problems: list[str] = []
    for place, given in placed:
        try:
            wallets += parse_wallets(given)
        except AddressError as fault:
            [(_, value, reason)] = fault.problems
            problems.append(f"  {place}: {value!r}: {in_shell(reason, {})}")
    if problems:
        more = [f"  … and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        listed = "\n".join(problems[:_SHOWN] + more)
        raise click.UsageError(f"{many(len(problems), 'wallet')} can't be read:\n{listed}")
    return wallets


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
