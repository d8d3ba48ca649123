"""``walletframe history``: save, list and compare snapshots."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

import click

from walletframe.accessor.delegation import LazyPackage
from walletframe.cli import flags
from walletframe.cli.asking import exit_with, fetch_details, parse_token, requested_wallets
from walletframe.cli.files import file_or_snapshot, is_saved, write_frame
from walletframe.cli.flags import example
from walletframe.cli.screen import changes_table, echo, print_table, snapshots_table, timeline_table
from walletframe.frames.known import known_and_fresh, summary_lines
from walletframe.numerals import counted_noun

if TYPE_CHECKING:
    from pathlib import Path

    from walletframe import history as archive
    from walletframe.frames.details import WalletDetails
    from walletframe.history import dataset
    from walletframe.settings.values import Settings
else:
    archive, dataset = map(LazyPackage, ("history", "history.dataset"))

_TIME = re.compile(r"\d{4}-|[^.]*$")  # wallets have a dot, and no blockchain looks like a year


@click.group(epilog=example("walletframe history show --folder snapshots"))
def history() -> None:
    """Keep snapshots of the holdings of wallets, and show them."""


@history.command(epilog=example("walletframe history save --file wallets.txt --folder snapshots"))
@click.argument("wallets", nargs=-1)
@flags.fetch_options
@flags.folder_option
@click.option(
    "--at",
    help="The snapshot's time, such as 2026-01-31T06:00Z; without a time zone, in this machine's. "
    "Default: the time of the newest answer.",
)
def save(wallets: tuple[str, ...], folder: Path | None, at: str | None, **options: Any) -> None:
    """Fetch WALLETS and save a snapshot, failed wallets included.

    Its time is that of the newest answer, which may be a cached one. Cached answers of an earlier
    day can't be saved with newer ones (see --refresh). The exit code is 1 if a wallet is not ok, or
    its answer is out of date. Simulated holdings need a --folder of their own.
    """

    def check(settings: Settings) -> None:
        if settings.service is not None:  # else the fetch says what is missing
            dataset.require_savable(settings.service, folder=folder, at=at)

    details, interrupted = fetch_details(wallets, before=check, **options)
    known = known_and_fresh(details.wallets).all()
    if interrupted:
        echo("Interrupted: no snapshot was saved. The same command again requests only the rest.")
        exit_with(known=known, interrupted=True)
    moment = archive.save(details, folder=folder, at=at)
    echo("\n".join(summary_lines(details.wallets)))
    echo(f"saved: a snapshot of {moment:%Y-%m-%d %H:%M:%S} UTC")
    exit_with(known=known)


@history.command(
    "thin",
    epilog=example("walletframe history thin --keep weekly --older-than 90d --folder snapshots"),
)
@click.option(
    "--keep",
    type=click.Choice(["hourly", "daily", "weekly", "monthly"]),
    default="daily",
    show_default=True,
    help="Keep one snapshot for each of these periods.",
)
@click.option(
    "--older-than",
    metavar="AGE",
    default="30d",
    show_default=True,
    help="Remove only snapshots older than this, in hours, days or weeks: 12h, 30d or 4w.",
)
@flags.folder_option
def thin_history(keep: str, older_than: str, folder: Path | None) -> None:
    """Remove older snapshots, but keep one for each period.

    Another snapshot of a period stays only if it knows a wallet that the first does not.
    """
    removed = archive.thin(keep=keep, older_than=older_than, folder=folder)
    remaining = archive.snapshots(folder=folder)
    kept = counted_noun(len(remaining), "snapshot")
    echo(f"kept: {kept}; removed: {counted_noun(len(removed), 'snapshot')}")


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
@flags.file_option
@click.option("--since", help="The first day, in UTC, or point in time: yesterday, 2026-01-31.")
@click.option("--until", help="The last day, in UTC, or the last point in time; inclusive.")
@click.option(
    "--by",
    multiple=True,
    metavar="NAME",
    help="Sum each token's changes by token, asset, wallet, blockchain or a kept column of the "
    "wallets, such as owner. Can be given several times.",
)
@flags.token_option
@flags.asset_option
@flags.asset_list_options
@flags.folder_option
@flags.output_option
@flags.all_rows_option("line")
def show_history(
    given: tuple[str, ...],
    files: tuple[str, ...],
    token: str | None,
    folder: Path | None,
    rows: int | None,
    **options: Any,
) -> None:
    """List snapshots; show the amounts of WALLETS over time, or the changes from BEFORE to AFTER.

    BEFORE and AFTER are each a time, a FILE that fetch wrote, or a FOLDER of fetch-to-parquet. A
    time selects the last snapshot up to it: latest (the default of AFTER), yesterday, 2026-01-31 (a
    day in UTC) or 2026-01-31T06:00Z. Changes are exact. The exit code is 1 if one is unknown.
    """
    sides = [word for word in given if is_saved(word) or _TIME.match(word)]
    if not given and not files:
        if token or any(options.values()):
            raise click.UsageError("no wallets: give some, or a --file of them")
        listed = archive.snapshots(folder=folder)
        print_table(snapshots_table(listed))
        if listed["simulated"].any():
            echo("Simulated data: the sandbox made it up.")
    elif not sides:
        if options.pop("by"):
            raise click.UsageError("--by is for changes: give a time or a file before its name")
        output = options.pop("output")
        period = {name: options.pop(name) for name in ("since", "until")}
        loaded = archive.load(wallets=requested_wallets(given, files), folder=folder, **period)
        lines = archive.timeline(loaded, token=parse_token(token, loaded.holdings), **options)
        print_table(timeline_table(lines, rows, loaded.wallets))
        write_frame(lines, output, name="timeline")
    else:
        if files or len(sides) < len(given) or len(sides) > 2:  # noqa: PLR2004 - before and after
            raise click.UsageError("give either wallets, or one or two times, files or folders")
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
    wanted = parse_token(token, *(side.holdings for side in sides))
    changes = archive.compare(*sides, by=by or None, token=wanted, **options)
    echo()
    print_table(changes_table(changes, rows, sides[1].wallets))
    if by:
        unknown = (changes["wallets_known"] < changes["wallets"]).sum()
        rows_text = counted_noun(len(changes), "row")
        summary = f"{rows_text}, {unknown:,} of them with wallets that are not known"
    else:
        unsure = changes[changes["change"] == "unknown"]
        unknown = len(unsure[["blockchain", "address"]].drop_duplicates())
        counts = changes["change"].value_counts(sort=False)
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
        unknowns = f"; wallets not known: {unknown:,}" if unknown else ""
        summary = (kinds or "nothing changed") + unknowns
    echo(f"\n{summary}")
    write_frame(changes, output, name="changes")
    exit_with(known=not unknown)


def _side(name: str, word: str, folder: Path | None) -> WalletDetails:
    details = file_or_snapshot(word, folder, "holdings of failed wallets would seem gone")
    origin = word
    if not is_saved(word):
        origin = f"the snapshot of {details.wallets['snapshot'].max():%Y-%m-%d %H:%M:%S} UTC"
    echo("\n  ".join([f"{name}: {origin}", *summary_lines(details.wallets)]))
    return details
