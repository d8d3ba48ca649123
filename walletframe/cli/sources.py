"""Wallets from the command line, from files and from standard input, with the place of each."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from walletframe.address import WalletAddress, parse_wallets
from walletframe.errors import AddressError

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
    """
    placed: list[_Placed] = [(f"argument {number}", word) for number, word in enumerate(words, 1)]
    for name in files:
        placed += _csv_rows(name) if name.lower().endswith(".csv") else _lines(name)
    wallets: list[WalletAddress] = []
    problems: list[str] = []
    for place, given in placed:
        try:
            wallets += parse_wallets(given)
        except AddressError as fault:
            [(_, value, reason)] = fault.problems
            problems.append(f"  {place}: {value!r}: {reason}")
    if problems:
        more = [f"  … and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
        listed = "\n".join(problems[:_SHOWN] + more)
        raise click.UsageError(f"{len(problems)} wallets can't be read:\n{listed}")
    return wallets


def _lines(name: str) -> Iterator[_Placed]:
    for number, line in enumerate(_text(name).splitlines(), 1):
        wallet = line.partition("#")[0].strip()
        if wallet:
            yield f"{name} line {number}", wallet


def _csv_rows(name: str) -> Iterator[_Placed]:
    reader = csv.DictReader(_text(name).splitlines())
    columns = reader.fieldnames or []
    if {"blockchain", "address"} <= set(columns):
        names = ["blockchain", "address"]
    elif len(columns) == 1:
        names = [*columns]
    else:
        raise click.UsageError(
            f"{name}: needs the columns blockchain and address, or a single column of "
            f"<BLOCKCHAIN>.<ADDRESS>; it has: {', '.join(columns) or 'none'}"
        )
    for row in reader:
        cells = [row[each] or "" for each in names]
        if any(cells):
            wallet: WalletLike = cells[0] if len(cells) == 1 else (cells[0], cells[1])
            yield f"{name} line {reader.line_num}", wallet


def _text(name: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as fault:
        reason = str(fault)
    raise click.UsageError(f"{name} can't be read: {reason}")
