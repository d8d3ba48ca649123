"""What commands on snapshots share: where they lie, and how to look at one token alone."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from walletframe.cli.screen import say

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from walletframe.frames import TokenLike

in_folder = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where snapshots are kept. Default: in the user's data folder.",
)


def of_token(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the option ``--token``, and its old name, which says that it is one.

    Parameters
    ----------
    command : callable
        Takes ``token``.

    Returns
    -------
    callable
        The command.
    """

    @click.option(
        "--token",
        metavar="SYMBOL|BLOCKCHAIN.CONTRACT",
        help="One token alone: a symbol that no other has, or ETH.0x…; ETH. is the coin itself.",
    )
    @click.option("--symbol", hidden=True)
    @functools.wraps(command)
    def narrowed(*args: Any, token: str | None, symbol: str | None, **options: Any) -> None:
        if symbol is not None:
            if token is not None:
                raise click.UsageError("--symbol is called --token now: give one of them")
            say("Warning: --symbol is called --token now", err=True)
        command(*args, token=symbol if token is None else token, **options)

    return narrowed


def token_named(text: str | None, *holdings: pd.DataFrame) -> TokenLike | None:
    """Return the token that a person named in a shell.

    Parameters
    ----------
    text : str or None
        A symbol, or ``BLOCKCHAIN.CONTRACT``.
    *holdings : DataFrame
        Where it is to be found: what is a symbol there is one.

    Returns
    -------
    str, (str, str or None) or None
        As `find_token` takes it.
    """
    if text is None or "." not in text:
        return text
    if any((frame["symbol"] == text).any() for frame in holdings):
        return text
    blockchain, _, contract = text.partition(".")
    return blockchain, contract or None
