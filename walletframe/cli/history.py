"""``walletframe history`` and ``compare``: keep snapshots, look at them, and say what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import click

from walletframe.cli.asking import ask, end, named_if_any, token_named
from walletframe.cli.files import file_or_snapshot, is_saved, write_frame
from walletframe.cli.options import (
    all_of,
    asking,
    example,
    from_files,
    in_folder,
    of_asset,
    of_assets,
    of_token,
    output,
)
from walletframe.cli.screen import (
    changes_table,
    say,
    show,
    snapshots_table,
    sums_table,
    timeline_table,
)
from walletframe.frames import known_when_asked, summary_lines
from walletframe.history import compact, load, snapshots, timeline
from walletframe.history import compare as changes_between
from walletframe.history import save as keep
from walletframe.history.admission import require_savable
from walletframe.numerals import many

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from walletframe.frames import WalletDetails
    from walletframe.settings import Settings


@click.group(epilog=example("walletframe history show --folder snapshots"))
def history() -> None:
    """Keep snapshots of what wallets hold, and look at them."""


@history.command(epilog=example("walletframe history save --file wallets.txt --folder snapshots"))
@click.argument("wallets", nargs=-1)
@asking
@in_folder
@click.option(
    "--at",
    help="The snapshot's time, such as 2026-01-31T06:00Z; without a zone, of this machine's own. "
    "Default: when the newest answer was given.",
)
def save(wallets: tuple[str, ...], folder: Path | None, at: str | None, **options: Any) -> None:
    """Fetch WALLETS and keep a snapshot, failed wallets included.

    It is of the time of the newest answer: what comes from the cache is no snapshot of now, and
    cached answers of an earlier day are not kept beside newer ones (see --refresh). The exit code
    is 1 when a wallet is not ok, or its answer is out of date. Simulated holdings need a --folder
    of their own.
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
    "compact",
    epilog=example("walletframe history compact --keep weekly --older-than 90d --folder snapshots"),
)
@click.option(
    "--keep",
    type=click.Choice(["all", "hourly", "daily", "weekly", "monthly"]),
    default="daily",
    show_default=True,
    help="Of how long a period one snapshot stays.",
)
@click.option(
    "--older-than",
    metavar="AGE",
    default="30d",
    show_default=True,
    help="How old is what may be left out: hours, days or weeks, such as 12h, 30d or 4w.",
)
@in_folder
def compact_history(keep: str, older_than: str, folder: Path | None) -> None:
    """Keep fewer of the older snapshots, and pack all so that they are read faster.

    Another snapshot of a period stays only where it knows a wallet that the first does not.
    """
    gone = compact(keep=keep, older_than=older_than, folder=folder)
    left = snapshots(folder=folder)
    say(f"kept: {many(len(left), 'snapshot')}; left out: {many(len(gone), 'snapshot')}")


@history.command(
    "show",
    epilog=example("walletframe history show NEAR.alice.near --token NEAR --folder snapshots"),
)
@click.argument("wallets", nargs=-1)
@from_files
@click.option("--since", help="The first day, in UTC, or moment: yesterday, 2026-01-31.")
@click.option("--until", help="The last day or moment.")
@of_token
@of_asset
@of_assets
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
    period = {name: options.pop(name) for name in ("since", "until")}
    loaded = load(wallets=asked, folder=folder, **period)
    lines = timeline(loaded, token=token_named(token, loaded.holdings), **options)
    show(timeline_table(lines, rows, loaded.wallets))
    write_frame(lines, output, name="timeline")


@click.command(
    epilog=example(
        "walletframe compare latest holdings.csv --folder snapshots",
        "walletframe compare yesterday --token ETH.0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
        "walletframe compare yesterday --by token",
        "walletframe compare yesterday --asset USDC --by owner",
    )
)
@click.argument("before")
@click.argument("after", default="latest")
@click.option(
    "--by",
    multiple=True,
    metavar="NAME",
    help="Add up each token's changes: token, asset, wallet, blockchain or what the wallets keep, "
    "such as owner. Can be given several times.",
)
@of_token
@of_asset
@of_assets
@in_folder
@output
@all_of("change")
def compare(
    before: str,
    after: str,
    token: str | None,
    folder: Path | None,
    rows: int | None,
    **options: Any,
) -> None:
    """Say what changed from BEFORE to AFTER, exactly, and what is unknown.

    Each is a time, for the last snapshot up to it: latest (what AFTER is unless given), yesterday,
    2026-01-31 (a day of UTC) or 2026-01-31T06:00Z; or a FILE that fetch wrote; or a FOLDER of
    fetch-to-parquet. The exit code is 1 where something is unknown.
    """
    by, output = options.pop("by"), options.pop("output")
    sides = _side("before", before, folder), _side("after", after, folder)
    wanted = token_named(token, *(side.holdings for side in sides))
    changes = changes_between(*sides, by=by or None, token=wanted, **options)
    say()
    show((sums_table if by else changes_table)(changes, rows, sides[1].wallets))
    if by:
        _end_of_sums(changes, output)
    unknown = changes[changes["change"] == "unknown"]
    counts = changes["change"].value_counts(sort=False)
    counted = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
    wallets = len(unknown[["blockchain", "address"]].drop_duplicates())
    not_known = f"; wallets not known: {wallets:,}" if wallets else ""
    say(f"\n{counted or 'nothing changed'}{not_known}")
    write_frame(changes, output, name="changes")
    end(known=unknown.empty)


def _end_of_sums(changes: pd.DataFrame, output: Path | None) -> NoReturn:
    partial = (changes["wallets_known"] < changes["wallets"]).sum()
    say(f"\n{many(len(changes), 'row')}, {partial:,} of them with wallets that are not known")
    write_frame(changes, output, name="changes")
    end(known=not partial)


def _side(name: str, given: str, folder: Path | None) -> WalletDetails:
    details = file_or_snapshot(given, folder, "what failed would seem gone")
    origin = given
    if not is_saved(given):
        origin = f"the snapshot of {details.wallets['snapshot'].max():%Y-%m-%d %H:%M:%S} UTC"
    say("\n  ".join([f"{name}: {origin}", *summary_lines(details.wallets)]))
    return details
