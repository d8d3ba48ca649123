"""What commands on wallets do alike: read which are meant, fetch them, and exit with a code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

import click
import pandas as pd

from walletframe.address import (
    A_FILE,
    A_FILE_IN_SHELL,
    asked_wallets,
    distinct_labels,
    labelled,
    read_rows,
)
from walletframe.cli.files import require_wallets
from walletframe.client import Client
from walletframe.errors import FetchInterrupted
from walletframe.frames import names_to_keep
from walletframe.numerals import many
from walletframe.walletfile import rows_of_file, rows_of_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from walletframe.address import OnUnreadable, WalletAddress, WalletLike
    from walletframe.frames import TokenLike, WalletDetails
    from walletframe.settings import Settings
    from walletframe.walletfile import Labels

_Placed: TypeAlias = "tuple[str, WalletLike, Labels]"

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
    keep: Sequence[str],
    on_unreadable: OnUnreadable,
    before: Callable[[Settings], None] | None = None,
    **overrides: Any,
) -> tuple[WalletDetails, bool]:
    """Fetch wallets, and say whether an interrupt ended the fetch.

    ``before`` gets the settings before anything is asked, and may refuse.
    """
    how: dict[str, Any] = {name: overrides.pop(name) for name in ("refresh", "offline")}
    asked = named(wallets, files, on_unreadable, keep)
    with Client(**overrides) as client:
        if before is not None:
            before(client.settings)
        try:
            found = client.fetch(asked, keep=keep, **how, on_failure="ignore")
        except FetchInterrupted as stopped:
            return cast("WalletDetails", stopped.details), True
    return found, False


def end(*, known: object, interrupted: bool = False) -> NoReturn:
    """Exit: 0 if all is known, 1 if not, 130 after an interrupt."""
    sys.exit(_INTERRUPTED if interrupted else 0 if known else 1)


def named(
    words: Iterable[str],
    files: Sequence[str],
    on_unreadable: OnUnreadable = "raise",
    keep: Sequence[str] = (),
) -> list[WalletAddress] | pd.DataFrame:
    """Read the wallets of a command line, with what is kept of them; refuse where there are none.

    A file that is no .csv, and a wallet that is an argument, tell nothing else of a wallet.
    """
    if keep and not any(name.lower().endswith(".csv") for name in files):
        raise click.UsageError("--keep is for columns of a --file that ends in .csv")
    asked, kept = _read(words, files, on_unreadable, names_to_keep(keep))
    if not asked:
        raise click.UsageError("no wallets: give some, or a --file of them")
    if kept is None:
        return asked
    pairs = [(wallet.blockchain, wallet.address) for wallet in asked]
    return pd.DataFrame(pairs, columns=["blockchain", "address"]).join(kept)


def named_if_any(words: Iterable[str], files: Sequence[str]) -> list[WalletAddress]:
    """Read the wallets of a command line, if there are any."""
    return _read(words, files, "raise", [])[0]


def _read(
    words: Iterable[str], files: Iterable[str], on_unreadable: OnUnreadable, keep: list[str]
) -> tuple[list[WalletAddress], pd.DataFrame | None]:
    """Read distinct wallets in their order, and report all that can't be read at once."""
    nothing = (None,) * len(keep)
    placed: list[_Placed] = [(f"argument {n}", word, nothing) for n, word in enumerate(words, 1)]
    for name in files:
        placed += _rows(name, keep)
    reading = read_rows(enumerate(given for _, given, _ in placed), "by place")
    if reading.problems and on_unreadable == "raise":
        count = len(reading.problems)
        lines = [f"{many(count, 'wallet')} can't be read:"]
        for number, value, reason in reading.problems[:_SHOWN]:
            why = A_FILE_IN_SHELL if reason == A_FILE else reason
            lines.append(f"  {placed[number][0]}: {value!r}: {why}")
        if count > _SHOWN:
            lines.append(f"  … and {count - _SHOWN} more")
        raise click.UsageError("\n".join(lines))
    asked = asked_wallets(reading, on_unreadable, place=lambda number: placed[number][0])
    if not keep:
        return asked, None
    told = pd.DataFrame([placed[number][2] for number in reading.places], columns=keep)
    return asked, distinct_labels(labelled(reading, told), place=lambda number: placed[number][0])


def _rows(name: str, keep: Sequence[str]) -> Iterator[_Placed]:
    """Read the wallets of a file or of standard input, each with its place and what is kept."""
    if name != "-":
        require_wallets(name)
    try:
        numbered = rows_of_lines(sys.stdin, keep) if name == "-" else rows_of_file(Path(name), keep)
        for number, wallet, labels in numbered:
            yield f"{name} line {number}", wallet, labels
    except (OSError, UnicodeDecodeError) as fault:
        reason = str(fault)
    else:
        return
    raise click.UsageError(f"{name} can't be read: {reason}")
