"""``walletframe fetch``: wallets from the command line, a file or standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from walletframe.address import parse_wallets
from walletframe.cli.output import output_path, write_details
from walletframe.cli.tables import holdings_table, wallets_table
from walletframe.client import Client
from walletframe.frames import summary_lines

if TYPE_CHECKING:
    from walletframe.address import WalletAddress
    from walletframe.frames import WalletDetails

_ROWS = 40


@click.command()
@click.argument("wallets", nargs=-1)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    help="Read wallets from FILE: one <BLOCKCHAIN>.<ADDRESS> a line, # begins a comment; or a "
    ".csv with the columns blockchain and address. - is standard input.",
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
    asked = parse_wallets(wallets) + [wallet for name in files for wallet in _read(name)]
    if not asked:
        raise click.UsageError("no wallets: name some, or a --file of them")
    with Client(**overrides) as client:
        details = client.fetch(asked, refresh=refresh, offline=offline, on_failure="ignore")
    show(details, None if whole else _ROWS)
    if output is not None:
        for path in write_details(details, output):
            click.echo(f"written: {path}")
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


def _read(name: str) -> list[WalletAddress]:
    try:
        if name.endswith(".csv"):
            return parse_wallets(pd.read_csv(name, dtype="str"))
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as fault:
        raise click.UsageError(f"{name} can't be read: {fault}") from None
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return parse_wallets([line for line in lines if line])
