"""``walletframe history``: snapshots by a line in a shell or a cron job, and a look at them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from walletframe.cli.asking import INTERRUPTED, ask, asking
from walletframe.cli.output import output_path, write_frame
from walletframe.cli.screen import say
from walletframe.cli.snapshots import in_folder, of_token, token_named
from walletframe.cli.sources import read_sources
from walletframe.cli.tables import snapshots_table, timeline_table
from walletframe.frames import known_wallets, summary_lines
from walletframe.history import load, snapshots, timeline
from walletframe.history import save as keep
from walletframe.history.admission import require_place
from walletframe.history.tokens import only

if TYPE_CHECKING:
    from pathlib import Path

    from walletframe.settings import Settings

_ROWS = 40


@click.group()
def history() -> None:
    """Keep snapshots of what wallets hold, and look at them."""


@history.command()
@click.argument("wallets", nargs=-1)
@asking
@in_folder
@click.option("--at", help="The snapshot's time, such as 2026-01-31T06:00, in UTC. Default: now.")
def save(wallets: tuple[str, ...], folder: Path | None, at: str | None, **options: Any) -> None:
    """Fetch WALLETS and keep a snapshot, failed wallets included.

    The exit code is 1 when a wallet is not ok, or its answer is out of date. Simulated holdings
    need a --folder of their own.
    """

    def check(settings: Settings) -> None:
        if settings.service is not None:  # else asking says what is missing
            require_place(settings.service, folder=folder, at=at)

    details, interrupted = ask(wallets, before=check, **options)
    if interrupted:
        say("Interrupted: no snapshot was kept. The same line again asks for the rest.")
        sys.exit(INTERRUPTED)
    moment = keep(details, folder=folder, at=at)
    say("\n".join(summary_lines(details.wallets)))
    say(f"kept: a snapshot of {moment:%Y-%m-%d %H:%M:%S} UTC")
    sys.exit(0 if known_wallets(details.wallets, stale=False).all() else 1)


@history.command()
@click.argument("wallets", nargs=-1)
@click.option("--file", "files", multiple=True, metavar="FILE", help="Read wallets from FILE.")
@click.option("--since", help="The first day or moment, such as 2026-01-31 or yesterday, in UTC.")
@click.option("--until", help="The last one.")
@of_token
@in_folder
@click.option("--output", metavar="FILE", callback=output_path, help="A .csv, .parquet or .json.")
@click.option("--all", "whole", is_flag=True, help=f"Print every line, not the first {_ROWS}.")
def show(
    wallets: tuple[str, ...],
    files: tuple[str, ...],
    token: str | None,
    folder: Path | None,
    *,
    whole: bool,
    **options: Any,
) -> None:
    """List the snapshots; with WALLETS, show what they held over time."""
    asked = read_sources(wallets, files)
    if not asked:
        if token or any(options.values()):
            raise click.UsageError("no wallets: name some, or a --file of them")
        _list(folder)
        return
    output = options.pop("output")
    loaded = load(wallets=asked, folder=folder, **options)
    [found] = only(token_named(token, loaded.holdings), loaded)
    lines = timeline(found)
    say(timeline_table(lines, None if whole else _ROWS))
    if output is not None:
        write_frame(lines, output, name="timeline")
        say(f"written: {output}")


def _list(folder: Path | None) -> None:
    listed = snapshots(folder=folder)
    say(snapshots_table(listed))
    if listed["simulated"].any():
        say("Simulated data: the sandbox made it up.")
