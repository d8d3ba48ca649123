"""What commands on wallets do alike: read which are meant, fetch them, and exit with a code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

import click

from walletframe.address import A_FILE, A_FILE_IN_SHELL, asked_wallets, read_rows
from walletframe.cli.files import require_wallets
from walletframe.client import Client
from walletframe.errors import FetchInterrupted
from walletframe.numerals import many
from walletframe.walletfile import wallets_of_file, wallets_of_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pandas as pd

    from walletframe.address import OnUnreadable, WalletAddress, WalletLike
    from walletframe.frames import TokenLike, WalletDetails
    from walletframe.settings import Settings

_Placed: TypeAlias = "tuple[str, WalletLike]"

_INTERRUPTED = 130
_SHOWN = 20


def token_named(text: str | None, *holdings: pd.DataFrame) -> TokenLike | None:
    """Read a token: BLOCKCHAIN.CONTRACT, unless it is a symbol in some of the holdings."""
    if text is None or "." not in text:
        return text
    if any((frame["symbol"] == text).any() for frame in holdings):
        return text
    blockchain, _, contract = text.partition(".")
    return blockchain, contract or None


def ask(
    wallets: Sequence[str],
    *,
    files: Sequence[str],
    on_unreadable: OnUnreadable,
    refresh: bool,
    offline: bool,
    before: Callable[[Settings], None] | None = None,
    **overrides: Any,
) -> tuple[WalletDetails, bool]:
    """Fetch wallets, and say whether an interrupt ended the fetch.

    ``before`` gets the settings before anything is asked, and may refuse.
    """
    asked = named(wallets, files, on_unreadable)
    with Client(**overrides) as client:
        if before is not None:
            before(client.settings)
        try:
            found = client.fetch(asked, refresh=refresh, offline=offline, on_failure="ignore")
        except FetchInterrupted as stopped:
            return cast("WalletDetails", stopped.details), True
    return found, False


def end(*, known: object, interrupted: bool = False) -> NoReturn:
    """Exit: 0 if all is known, 1 if not, 130 after an interrupt."""
    sys.exit(_INTERRUPTED if interrupted else 0 if known else 1)


def named(
    words: Iterable[str], files: Iterable[str], on_unreadable: OnUnreadable = "raise"
) -> list[WalletAddress]:
    """Read the wallets of a command line, and refuse where there are none."""
    asked = named_if_any(words, files, on_unreadable)
    if not asked:
        raise click.UsageError("no wallets: give some, or a --file of them")
    return asked


def named_if_any(
    words: Iterable[str], files: Iterable[str], on_unreadable: OnUnreadable = "raise"
) -> list[WalletAddress]:
    """Read distinct wallets in their order, and report all that can't be read at once."""
    placed: list[tuple[str, WalletLike]] = [
        (f"argument {n}", word) for n, word in enumerate(words, 1)
    ]
    for name in files:
        placed += _rows(name)
    reading = read_rows(enumerate(given for _, given in placed), "by place")
    if reading.problems and on_unreadable == "raise":
        count = len(reading.problems)
        lines = [f"{many(count, 'wallet')} can't be read:"]
        for number, value, reason in reading.problems[:_SHOWN]:
            why = A_FILE_IN_SHELL if reason == A_FILE else reason
            lines.append(f"  {placed[number][0]}: {value!r}: {why}")
        if count > _SHOWN:
            lines.append(f"  … and {count - _SHOWN} more")
        raise click.UsageError("\n".join(lines))
    return asked_wallets(reading, on_unreadable, place=lambda number: placed[number][0])


def _rows(name: str) -> Iterator[_Placed]:
    """Read the wallets of a file or of standard input, each with its place."""
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
