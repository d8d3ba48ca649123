"""``walletframe fetch-to-parquet``: more wallets than memory holds, into a folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from walletframe.bulk import fetch_to_parquet as fetch_into
from walletframe.cli.asking import INTERRUPTED, named, naming
from walletframe.cli.screen import say
from walletframe.client import Client
from walletframe.errors import FetchInterrupted

if TYPE_CHECKING:
    from walletframe.address import OnUnreadable


@click.command("fetch-to-parquet")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("wallets", nargs=-1)
@naming
def fetch_to_parquet(
    folder: Path,
    wallets: tuple[str, ...],
    files: tuple[str, ...],
    on_unreadable: OnUnreadable,
    **overrides: Any,
) -> None:
    """Fetch the tokens of WALLETS into FOLDER, as Parquet files.

    The same command again, after any end, asks only for the wallets that are not ok in the folder.
    The key is read from the variable WALLETFRAME_API_KEY. The exit code is 1 when a wallet is not
    ok.
    """
    asked = named(wallets, files, on_unreadable)
    interrupted = False
    with Client(**overrides) as client:
        try:
            summary = fetch_into(asked, folder, client=client, on_failure="ignore")
        except FetchInterrupted as stopped:
            interrupted, summary = True, stopped.details
    say(repr(summary))
    if interrupted:
        sys.exit(INTERRUPTED)
    sys.exit(0 if summary.ok == summary.wallets else 1)
