"""``walletframe fetch``: wallets from the command line, a file or standard input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from walletframe.cli.output import output_path, write_details
from walletframe.cli.sources import read_sources
from walletframe.cli.tables import holdings_table, wallets_table
from walletframe.client import Client
from walletframe.errors import FetchInterrupted
from walletframe.frames import summary_lines

if TYPE_CHECKING:
    from pathlib import Path

    from walletframe.frames import WalletDetails

_ROWS = 40
_INTERRUPTED = 130


@click.command()
@click.argument("wallets", nargs=-1)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    help="Read wallets from FILE: one <BLOCKCHAIN>.<ADDRESS> a line, # begins a comment; or a "
    ".csv with the columns blockchain and address, or one column of them. - is standard input.",
)
@click.option("--output", metavar="FILE", callback=output_path, help="A .csv, .parquet or .json.")
@click.option("--refresh", is_flag=True, help="Ask for all, even where an answer is in the cache.")
@click.option("--offline", is_flag=True, help="Ask for none: answer from the cache.")
@click.option("--base-url", help="The private base address.")
@click.option("--public-base-url", help="The public base address.")
@click.option("--key-kind", type=click.Choice(["public", "private", "test"]), help="Of the key.")
@click.option("--all", "whole", is_flag=True, help=f"Print every balance, not the first {_ROWS}.")
def fetch(
    wallets: tuple[str, ...],
    files: tuple[str, ...],
    output: Path | None,
    *,
    refresh: bool,
    offline: bool,
    whole: bool,
    **overrides: Any,
) -> None:
    """Fetch the tokens of WALLETS, such as ETH.0x52… and NEAR.alice.near.

    The key is read from the variable WALLETFRAME_API_KEY, never from the command line. The exit
    code is 1 when a wallet is not ok.
    """
    asked = read_sources(wallets, files)
    if not asked:
        raise click.UsageError("no wallets: name some, or a --file of them")
    interrupted = False
    with Client(**overrides) as client:
        try:
            details = client.fetch(asked, refresh=refresh, offline=offline, on_failure="ignore")
        except FetchInterrupted as stopped:
            interrupted, details = True, stopped.details
    show(details, None if whole else _ROWS)
    if output is not None:
        for path in write_details(details, output):
            click.echo(f"written: {path}")
    if interrupted:
        sys.exit(_INTERRUPTED)
    sys.exit(0 if (details.wallets["status"] == "ok").all() else 1)


def show(details: WalletDetails, rows: int | None) -> None:
    """Print both tables and the summary.

    Parameters
    ----------
    details : WalletDetails
        What was fetched.
    rows : int or None
        The most balances to print; None for all.
    """
    click.echo(wallets_table(details.wallets))
    click.echo()
    click.echo(holdings_table(details.holdings, rows))
    click.echo()
    click.echo("\n".join(summary_lines(details.wallets)))
