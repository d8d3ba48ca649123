"""``walletframe history`` and ``compare``: keep snapshots, look at them, and say what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from walletframe.cli.asking import ask, end, named_if_any, token_named
from walletframe.cli.files import file_or_snapshot, is_saved, write_frame
from walletframe.cli.options import all_of, asking, example, from_files, in_folder, of_token, output
from walletframe.cli.screen import changes_table, say, show, snapshots_table, timeline_table
from walletframe.frames import known_when_asked, summary_lines
from walletframe.history import compare as changes_between
from walletframe.history import load, snapshots, timeline
from walletframe.history import save as keep
from walletframe.history.admission import require_savable
from walletframe.history.changes import only

if TYPE_CHECKING:
    from pathlib import Path

    from walletframe.frames import WalletDetails
    from walletframe.settings import Settings


@click.group(epilog=example("walletframe history show --folder snapshots"))
def history() -> None:
    """Keep snapshots of what wallets hold, and look at them."""


@history.command(epilog=example("walletframe history save --file wallets.txt --folder snapshots"))
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
            require_savable(settings.service, folder=folder, at=at)

    details, interrupted = ask(wallets, before=check, **options)
    known = known_when_asked(details.wallets).all()
    if interrupted:
        say("Interrupted: no snapshot was saved. The same command again requests only the rest.")
        end(known=known, interrupted=True)
    moment = keep(details, folder=folder, at=at)
    say("\n".join(summary_lines(details.wallets)))
    say(f"saved: a snapshot of {moment:%Y-%m-%d %H:%M:%S} UTC")
    end(known=known)


@history.command(
    "show",
    epilog=example("walletframe history show NEAR.alice.near --token NEAR --folder snapshots"),
)
@click.argument("wallets", nargs=-1)
@from_files
@click.option("--since", help="The first day or moment, such as 2026-01-31 or yesterday, in UTC.")
@click.option("--until", help="The last day or moment.")
@of_token
@in_folder
@output
@all_of("line")
def show_history(
    wallets: tuple[str, ...],
    files: tuple[str, ...],
    token: str | None,
    folder: Path | None,
    rows: int | None,
    **options: Any,
) -> None:
    """List the snapshots; with WALLETS, show what they held over time."""
    asked = named_if_any(wallets, files)
    if not asked:
        if token or any(options.values()):
            raise click.UsageError("no wallets: give some, or a --file of them")
        listed = snapshots(folder=folder)
        show(snapshots_table(listed))
        if listed["simulated"].any():
            say("Simulated data: the sandbox made it up.")
        return
    output = options.pop("output")
    loaded = load(wallets=asked, folder=folder, **options)
    [found] = only(token_named(token, loaded.holdings), loaded)
    lines = timeline(found)
    show(timeline_table(lines, rows, found.wallets))
    write_frame(lines, output, name="timeline")


@click.command(
    epilog=example(
        "walletframe compare latest holdings.csv --folder snapshots",
        "walletframe compare yesterday --token ETH.0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    )
)
@click.argument("before")
@click.argument("after", default="latest")
@of_token
@in_folder
@output
@all_of("change")
def compare(
    before: str,
    after: str,
    token: str | None,
    folder: Path | None,
    output: Path | None,
    rows: int | None,
) -> None:
    """Say what changed from BEFORE to AFTER, exactly, and what is unknown.

    Each is a time, for the last snapshot up to it: latest (what AFTER is unless given), yesterday,
    2026-01-31 or 2026-01-31T06:00, in UTC; or a FILE that fetch wrote. The exit code is 1 where
    something is unknown.
    """
    sides = _side("before", before, folder), _side("after", after, folder)
    changes = changes_between(*sides, token=token_named(token, *(s.holdings for s in sides)))
    say()
    show(changes_table(changes, rows, sides[1].wallets))
    unknown = changes[changes["change"] == "unknown"]
    counts = changes["change"].value_counts(sort=False)
    counted = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
    wallets = len(unknown[["blockchain", "address"]].drop_duplicates())
    not_known = f"; wallets not known: {wallets:,}" if wallets else ""
    say(f"\n{counted or 'nothing changed'}{not_known}")
    write_frame(changes, output, name="changes")
    end(known=unknown.empty)


def _side(name: str, given: str, folder: Path | None) -> WalletDetails:
    details = file_or_snapshot(given, folder, "what failed would seem gone")
    origin = given
    if not is_saved(given):
        origin = f"the snapshot of {details.wallets['snapshot'].max():%Y-%m-%d %H:%M:%S} UTC"
    say("\n  ".join([f"{name}: {origin}", *summary_lines(details.wallets)]))
    return details
