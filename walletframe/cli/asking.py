"""What every command that needs wallets has: how to name them, and how to reach the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from walletframe.cli.sources import read_sources
from walletframe.client import Client
from walletframe.errors import FetchInterrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from walletframe.address import OnUnreadable, WalletAddress
    from walletframe.frames import WalletDetails
    from walletframe.settings import Settings

INTERRUPTED = 130

_FILES = click.option(
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    help="Read wallets from FILE: one <BLOCKCHAIN>.<ADDRESS> a line, # begins a comment; or a "
    ".csv with the columns blockchain and address, or one column of them. - is standard input.",
)
_UNREADABLE = click.option(
    "--on-unreadable",
    type=click.Choice(["raise", "drop"]),
    default="raise",
    show_default=True,
    help="What to do with wallets that can't be read: ask for none, or leave these out.",
)
_KEPT = (
    click.option(
        "--refresh", is_flag=True, help="Ask for all, even where an answer is in the cache."
    ),
    click.option("--offline", is_flag=True, help="Ask for none: answer from the cache."),
)
_SERVICE = (
    click.option("--base-url", help="The private base address."),
    click.option("--public-base-url", help="The public base address."),
    click.option(
        "--key-kind", type=click.Choice(["public", "private", "test"]), help="Of the key."
    ),
)


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that `ask` needs to a command.

    Parameters
    ----------
    command : callable
        A command to be.

    Returns
    -------
    callable
        The same, with the options.
    """
    return _with(command, _FILES, _UNREADABLE, *_KEPT, *_SERVICE)


def naming(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say which wallets, and which service, to a command.

    Parameters
    ----------
    command : callable
        A command to be; it gets ``files``, ``on_unreadable``, and the settings by their names.

    Returns
    -------
    callable
        The same, with the options.
    """
    return _with(command, _FILES, _UNREADABLE, *_SERVICE)


def named(
    wallets: Sequence[str], files: Sequence[str], on_unreadable: OnUnreadable
) -> list[WalletAddress]:
    """Read the wallets of a command line.

    Parameters
    ----------
    wallets : sequence of str
        Those on the command line.
    files : sequence of str
        Files of more of them.
    on_unreadable : {"raise", "drop"}
        What to do with those that can't be read.

    Returns
    -------
    list of WalletAddress
        The distinct ones, in the order given.

    Raises
    ------
    click.UsageError
        Where there are none, or some can't be read.
    """
    asked = read_sources(wallets, files, on_unreadable)
    if not asked:
        raise click.UsageError("no wallets: name some, or a --file of them")
    return asked


def _with(
    command: Callable[..., None], *options: Callable[[Callable[..., None]], Callable[..., None]]
) -> Callable[..., None]:
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
    """Fetch the wallets of a command line.

    Parameters
    ----------
    wallets : sequence of str
        Those on the command line.
    files : sequence of str
        Files of more of them.
    on_unreadable : {"raise", "drop"}
        What to do with those that can't be read.
    refresh, offline : bool
        As the client takes them.
    before : callable, optional
        Gets the settings before anything is asked, and may refuse.
    **overrides : object
        Settings.

    Returns
    -------
    tuple of (WalletDetails, bool)
        What was fetched, and whether an interrupt ended it.

    Raises
    ------
    click.UsageError
        Where there are none, or some can't be read.
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
