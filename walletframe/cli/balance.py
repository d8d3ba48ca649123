"""``walletframe balance``: one token of some wallets, straight from a blockchain's node."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import click

from walletframe.cli.output import output_path, write_frame
from walletframe.cli.screen import say
from walletframe.cli.sources import read_sources
from walletframe.cli.tables import balances_table
from walletframe.errors import FetchWarning
from walletframe.node import token_balance

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("wallets", nargs=-1)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    help="Read wallets from FILE, as fetch does. - is standard input.",
)
@click.option("--token", metavar="ADDRESS", help="The token's contract; else the native coin.")
@click.option("--block", type=int, help="The number of the block to read; else the latest.")
@click.option(
    "--chain-id",
    "chain_ids",
    type=(str, int),
    multiple=True,
    metavar="BLOCKCHAIN ID",
    help="The chain id of a blockchain that is not known, such as HYPEREVM 999.",
)
@click.option("--output", metavar="FILE", callback=output_path, help="A .csv, .parquet or .json.")
def balance(
    wallets: tuple[str, ...],
    files: tuple[str, ...],
    token: str | None,
    block: int | None,
    chain_ids: tuple[tuple[str, int], ...],
    output: Path | None,
) -> None:
    """Ask a node what WALLETS, such as ETH.0x52…, hold of one token.

    The node's URL is read from the variable WALLETFRAME_RPC_URL, never from the command line, where
    everyone on the machine could see it. The exit code is 1 when a balance is not known.
    """
    asked = read_sources(wallets, files)
    if not asked:
        raise click.UsageError("no wallets: name some, or a --file of them")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FetchWarning)  # the table says it
        frame = token_balance(asked, token, block=block, chain_ids=dict(chain_ids))
    say(balances_table(frame))
    if output is not None:
        write_frame(frame, output, name="balances")
        say(f"written: {output}")
    sys.exit(0 if (frame["status"] == "ok").all() else 1)
