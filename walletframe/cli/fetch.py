"""``walletframe fetch``: wallets from the command line, a file or standard input."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from walletframe.cli.asking import INTERRUPTED, ask, asking
from walletframe.cli.output import output_path, write_details
from walletframe.cli.screen import say
from walletframe.cli.tables import holdings_table, wallets_table
from walletframe.frames import known_wallets, summary_lines

if TYPE_CHECKING:
    from pathlib import Path

    from walletframe.frames import WalletDetails

_ROWS = 40


@click.command()
@click.argument("wallets", nargs=-1)
@asking
@click.option("--output", metavar="FILE", callback=output_path, help="A .csv, .parquet or .json.")
@click.option("--all", "whole", is_flag=True, help=f"Print every balance, not the first {_ROWS}.")
def fetch(wallets: tuple[str, ...], output: Path | None, *, whole: bool, **options: Any) -> None:
    """Fetch the tokens of WALLETS, such as ETH.0x52… and NEAR.alice.near.

    The key is read from the variable WALLETFRAME_API_KEY, never from the command line. The exit
    code is 1 when a wallet is not ok.
    """
    details, interrupted = ask(wallets, **options)
    show(details, None if whole else _ROWS)
    if output is not None:
        for path in write_details(details, output):
            say(f"written: {path}")
    if interrupted:
        sys.exit(INTERRUPTED)
    sys.exit(0 if known_wallets(details.wallets, stale=True).all() else 1)


def show(details: WalletDetails, rows: int | None) -> None:
    """Print both tables and the summary.

    Parameters
    ----------
    details : WalletDetails
        What was fetched.
    rows : int or None
        The most balances to print; None for all.
    """
    say(wallets_table(details.wallets))
    say()
    say(holdings_table(details.holdings, rows))
    say()
    say("\n".join(summary_lines(*details)))
