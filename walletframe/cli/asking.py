"""What commands on wallets share: options, reading input, fetching and exit codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

import click

from walletframe.address import A_FILE, A_FILE_IN_SHELL, asked_wallets, read_rows
from walletframe.cli.kinds import require_wallets
from walletframe.client import Client
from walletframe.errors import FetchInterrupted
from walletframe.numerals import many
from walletframe.walletfile import wallets_of_file, wallets_of_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from walletframe.address import OnUnreadable, Reading, WalletAddress, WalletLike
    from walletframe.frames import WalletDetails
    from walletframe.settings import Settings

_Placed: TypeAlias = "tuple[str, WalletLike]"
_Command: TypeAlias = "Callable[..., None]"

ROWS: Final = 40
_INTERRUPTED = 130
_SHOWN = 20

_NAMING = (
    click.option(
        "--file",
        "files",
        multiple=True,
        metavar="FILE",
        help="Read wallets from FILE: one <BLOCKCHAIN>.<ADDRESS> a line, # begins a comment; or a "
        ".csv with the columns blockchain and address, or one column of them. - is standard input.",
    ),
    click.option(
        "--on-unreadable",
        type=click.Choice(["raise", "drop"]),
        default="raise",
        show_default=True,
        help="What to do if wallets can't be read: stop with an error, or leave them out.",
    ),
)
_KEPT = (
    click.option(
        "--refresh", is_flag=True, help="Request every wallet again, whatever is in the cache."
    ),
    click.option("--offline", is_flag=True, help="Send no request: answer from the cache alone."),
)
_SERVICE = (
    click.option("--base-url", help="The private base address."),
    click.option("--public-base-url", help="The public base address."),
    click.option(
        "--key-kind", type=click.Choice(["public", "private", "test"]), help="The kind of the key."
    ),
)
_PRICED = (
    click.option(
        "--prices",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="A .csv or .parquet with token_blockchain, token_address, price, optionally currency; "
        "without it, the service's own prices.",
    ),
    click.option("--currency", help="What the prices are in, such as USD."),
)


def asking(command: _Command) -> _Command:
    """Add the options that `ask` takes."""
    return with_options(command, *_NAMING, *_KEPT, *_SERVICE)


def naming(command: _Command) -> _Command:
    """Add the options for `named`, and those that are settings of the service."""
    return with_options(command, *_NAMING, *_SERVICE)


def priced(command: _Command) -> _Command:
    """Add the options that say what tokens are worth."""
    return with_options(command, *_PRICED)


def all_of(rows: str) -> Callable[[_Command], _Command]:
    """Add the option that prints all rows, as ``whole``."""
    shown = f"Print every {rows}, not the first {ROWS}."
    return click.option("--all", "whole", is_flag=True, help=shown)


def with_options(command: _Command, *options: Callable[[_Command], _Command]) -> _Command:
    """Add options in the order in which help lists them."""
    for option in reversed(options):
        command = option(command)
    return command


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
            return stopped.details, True
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
    placed: list[_Placed] = [(f"argument {number}", word) for number, word in enumerate(words, 1)]
    for name in files:
        placed += _rows(name)
    reading = read_rows(enumerate(given for _, given in placed), "by place")
    if reading.problems and on_unreadable == "raise":
        raise click.UsageError(_listed(reading, placed))
    return asked_wallets(reading, on_unreadable, place=lambda number: placed[number][0])


def _listed(reading: Reading, placed: Sequence[_Placed]) -> str:
    problems = [
        f"  {placed[number][0]}: {value!r}: {A_FILE_IN_SHELL if reason == A_FILE else reason}"
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
