"""``walletframe compare``: what changed between two snapshots, or two files of fetches."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from walletframe.cli.output import output_path, write_frame
from walletframe.cli.saved import is_saved, read_saved
from walletframe.cli.screen import say
from walletframe.cli.snapshots import in_folder, of_token, token_named
from walletframe.cli.tables import changes_table
from walletframe.frames import WalletDetails, summary_lines
from walletframe.history import compare as changes_between
from walletframe.history import snapshot

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

_ROWS = 40


@click.command()
@click.argument("before")
@click.argument("after", default="latest")
@of_token
@in_folder
@click.option("--output", metavar="FILE", callback=output_path, help="A .csv, .parquet or .json.")
@click.option("--all", "whole", is_flag=True, help=f"Print every change, not the first {_ROWS}.")
def compare(
    before: str,
    after: str,
    token: str | None,
    folder: Path | None,
    output: Path | None,
    *,
    whole: bool,
) -> None:
    """Say what changed from BEFORE to AFTER, exactly, and what can't be said.

    Each is a time, for the last snapshot up to it: latest (what AFTER is unless given), yesterday,
    2026-01-31 or 2026-01-31T06:00, in UTC; or a FILE that fetch wrote. The exit code is 1 where
    something is unknown.
    """
    sides = _found("before", before, folder), _found("after", after, folder)
    changes = changes_between(*sides, token=token_named(token, *(s.holdings for s in sides)))
    say(f"\n{changes_table(changes, None if whole else _ROWS)}\n")
    say(_summary(changes))
    if output is not None:
        write_frame(changes, output, name="changes")
        say(f"written: {output}")
    sys.exit(1 if (changes["change"] == "unknown").any() else 0)


def _found(side: str, named: str, folder: Path | None) -> WalletDetails:
    if is_saved(named):
        holdings, wallets = read_saved(named)
        if wallets is None:
            raise click.UsageError(
                f"{named}: the file of wallets beside it is missing; without it, what failed would "
                "seem gone"
            )
        details, origin = WalletDetails(wallets, holdings), named
    else:
        details = snapshot(named, folder=folder)
        origin = f"the snapshot of {details.wallets['snapshot'].max():%Y-%m-%d %H:%M:%S} UTC"
    say("\n  ".join([f"{side}: {origin}", *summary_lines(details.wallets)]))
    return details


def _summary(changes: pd.DataFrame) -> str:
    counts = changes["change"].value_counts(sort=False)
    told = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
    unknown = changes.loc[changes["change"] == "unknown", ["blockchain", "address"]]
    wallets = len(unknown.drop_duplicates())
    return (told or "nothing changed") + (f"; wallets not known: {wallets:,}" if wallets else "")
