"""``walletframe history``: keep snapshots, look at them, and say what changed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

import click

from walletframe.accessor.delegation import LazyPackage
from walletframe.cli import flags
from walletframe.cli.asking import ask, end, named, token_named
from walletframe.cli.files import file_or_snapshot, is_saved, write_frame
from walletframe.cli.flags import example
from walletframe.cli.screen import changes_table, say, show, snapshots_table, timeline_table
from walletframe.frames.known import known_when_asked, summary_lines
from walletframe.numerals import many

if TYPE_CHECKING:
    from pathlib import Path

    from walletframe import history as kept
    from walletframe.frames.details import WalletDetails
    from walletframe.history import dataset
    from walletframe.settings.values import Settings
else:
    kept, dataset = map(LazyPackage, ("history", "history.dataset"))

_TIME = re.compile(r"\d{4}-|[^.]*$")  # a wallet has a dot, and no blockchain begins as a day


@click.group(epilog=example("walletframe history show --folder snapshots"))
def history() -> None:
    """Keep snapshots of what wallets hold, and look at them."""


@history.command(epilog=example("walletframe history save --file wallets.txt --folder snapshots"))
@click.argument("wallets", nargs=-1)
@flags.asking
@flags.in_folder
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
            dataset.require_savable(settings.service, folder=folder, at=at)

    details, interrupted = ask(wallets, before=check, **options)
    known = known_when_asked(details.wallets).all()
    if interrupted:
        say("Interrupted: no snapshot was saved. The same command again requests only the rest.")
        end(known=known, interrupted=True)
    moment = kept.save(details, folder=folder, at=at)
    say("\n".join(summary_lines(details.wallets)))
    say(f"saved: a snapshot of {moment:%Y-%m-%d %H:%M:%S} UTC")
    end(known=known)


@history.command(
    "thin",
    epilog=example("walletframe history thin --keep weekly --older-than 90d --folder snapshots"),
)
@click.option(
    "--keep",
    type=click.Choice(["hourly", "daily", "weekly", "monthly"]),
    default="daily",
    show_default=True,
    help="Of how long a period one snapshot stays.",
)
@click.option(
    "--older-than",
    metavar="AGE",
    default="30d",
    show_default=True,
    help="How old is what may be removed: hours, days or weeks, such as 12h, 30d or 4w.",
)
@flags.in_folder
def thin_history(keep: str, older_than: str, folder: Path | None) -> None:
    """Remove older snapshots until one of each period is left.

    Another snapshot of a period stays only where it knows a wallet that the first does not.
    """
    gone = kept.thin(keep=keep, older_than=older_than, folder=folder)
    left = kept.snapshots(folder=folder)
    say(f"kept: {many(len(left), 'snapshot')}; removed: {many(len(gone), 'snapshot')}")


@history.command(
    "show",
    epilog=example(
        "walletframe history show --folder snapshots",
        "walletframe history show NEAR.alice.near --token NEAR --folder snapshots",
        "walletframe history show latest holdings.csv --folder snapshots",
        "walletframe history show yesterday --by token",
        "walletframe history show yesterday --asset USDC --by owner",
    ),
)
@click.argument("given", nargs=-1, metavar="[WALLET... | BEFORE [AFTER]]")
@flags.from_files
@click.option("--since", help="The first day, in UTC, or moment: yesterday, 2026-01-31.")
@click.option("--until", help="The last day or moment.")
@click.option(
    "--by",
    multiple=True,
    metavar="NAME",
    help="Add up each token's changes: token, asset, wallet, blockchain or what the wallets keep, "
    "such as owner. Can be given several times.",
)
@flags.of_token
@flags.of_asset
@flags.of_assets
@flags.in_folder
@flags.output
@flags.all_of("line")
def show_history(
    given: tuple[str, ...],
    files: tuple[str, ...],
    token: str | None,
    folder: Path | None,
    rows: int | None,
    **options: Any,
) -> None:
    """List snapshots; show what WALLETS held over time, or what changed from BEFORE to AFTER.

    BEFORE and AFTER are each a time, for the last snapshot up to it: latest (what AFTER is unless
    given), yesterday, 2026-01-31 (a day of UTC) or 2026-01-31T06:00Z; or a FILE that fetch wrote;
    or a FOLDER of fetch-to-parquet. Changes are exact, and the exit code is 1 where one is unknown.
    """
    sides = [word for word in given if is_saved(word) or _TIME.match(word)]
    if not given and not files:
        if token or any(options.values()):
            raise click.UsageError("no wallets: give some, or a --file of them")
        listed = kept.snapshots(folder=folder)
        show(snapshots_table(listed))
        if listed["simulated"].any():
            say("Simulated data: the sandbox made it up.")
    elif not sides:
        if options.pop("by"):
            raise click.UsageError("--by is for changes: give a time or a file before its name")
        output = options.pop("output")
        period = {name: options.pop(name) for name in ("since", "until")}
        loaded = kept.load(wallets=named(given, files), folder=folder, **period)
        lines = kept.timeline(loaded, token=token_named(token, loaded.holdings), **options)
        show(timeline_table(lines, rows, loaded.wallets))
        write_frame(lines, output, name="timeline")
    else:
        if files or len(sides) < len(given) or len(sides) > 2:  # noqa: PLR2004 - before and after
            raise click.UsageError("either wallets, or one or two times, files or folders")
        if options.pop("since") or options.pop("until"):
            raise click.UsageError("--since and --until are for wallets, not for changes")
        _show_changes(sides, token, folder, rows, **options)


def _show_changes(
    given: list[str],
    token: str | None,
    folder: Path | None,
    rows: int | None,
    *,
    by: tuple[str, ...],
    output: Path | None,
    **options: Any,
) -> NoReturn:
    before, after = (*given, "latest")[:2]
    sides = _side("before", before, folder), _side("after", after, folder)
    wanted = token_named(token, *(side.holdings for side in sides))
    changes = kept.compare(*sides, by=by or None, token=wanted, **options)
    say()
    show(changes_table(changes, rows, sides[1].wallets))
    if by:
        unknown = (changes["wallets_known"] < changes["wallets"]).sum()
        said = f"{many(len(changes), 'row')}, {unknown:,} of them with wallets that are not known"
    else:
        unsure = changes[changes["change"] == "unknown"]
        unknown = len(unsure[["blockchain", "address"]].drop_duplicates())
        counts = changes["change"].value_counts(sort=False)
        said = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
        said = (said or "nothing changed") + (
            f"; wallets not known: {unknown:,}" if unknown else ""
        )
    say(f"\n{said}")
    write_frame(changes, output, name="changes")
    end(known=not unknown)


def _side(name: str, given: str, folder: Path | None) -> WalletDetails:
    details = file_or_snapshot(given, folder, "what failed would seem gone")
    origin = given
    if not is_saved(given):
        origin = f"the snapshot of {details.wallets['snapshot'].max():%Y-%m-%d %H:%M:%S} UTC"
    say("\n  ".join([f"{name}: {origin}", *summary_lines(details.wallets)]))
    return details
