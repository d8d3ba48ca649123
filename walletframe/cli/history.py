"""``walletframe history``: save, list and compare snapshots."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

import click

from walletframe.accessor.delegation import LazyPackage
from walletframe.cli import flags, screen, steps
from walletframe.cli.files import is_holdings_path, read_file_or_snapshot, write_frames_if_path
from walletframe.cli.screen import echo, print_table, with_option_names
from walletframe.frames.known import SIMULATED_NOTE, known_and_fresh_mask, summary_lines
from walletframe.frames.results import coverage_from_attrs
from walletframe.numerals import counted_noun

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from walletframe import history as archive
    from walletframe.analysis.spam import flags as spam_flags
    from walletframe.frames.details import WalletDetails
    from walletframe.history import dataset
    from walletframe.settings.values import Settings
else:
    archive, dataset = map(LazyPackage, ("history", "history.dataset"))
    spam_flags = LazyPackage("analysis.spam.flags")

_TIME = re.compile(r"\d{4}-|[^.]*$")  # a wallet contains a dot and does not begin with a year
_MIXED_ARGUMENTS = "use either wallets (for amounts over time), or BEFORE and AFTER (for changes)"


@click.group(epilog=flags.examples("walletframe history show --folder snapshots"))
def history() -> None:
    """Save, list, compare and thin out snapshots of the holdings of wallets."""


@history.command(
    epilog=flags.examples("walletframe history save --file wallets.txt --folder snapshots")
)
@click.argument("wallets", nargs=-1)
@flags.fetch_options
@flags.folder_option
@click.option(
    "--at",
    help="The time of the snapshot, such as 2026-01-31T06:00Z. A time without a time zone is in "
    "this machine's time zone. Default: the time of the newest answer.",
)
def save(wallets: tuple[str, ...], folder: Path | None, at: str | None, **options: Any) -> None:
    """Fetch WALLETS and save a snapshot, which includes failed wallets.

    The snapshot has the time of the newest answer, which may be cached. Cached answers of an
    earlier day can't be saved together with newer answers: use --refresh. The exit code is 1 if a
    wallet is not ok, or if an answer is out of date. Simulated holdings need a separate --folder.
    """

    def check(settings: Settings) -> None:
        if settings.service is not None:  # otherwise the fetch raises an error
            dataset.require_savable(settings.service, folder=folder, at=at)

    details, interrupted = steps.fetch_until_interrupted(wallets, check_settings=check, **options)
    known = known_and_fresh_mask(details.wallets).all()
    if interrupted:
        echo("Interrupted: no snapshot was saved. Run the command again to fetch the rest.")
        steps.exit_by_completeness(all_known=known, interrupted=True)
    moment = archive.save(details, folder=folder, at=at)
    echo("\n".join(summary_lines(details.wallets)))
    echo(f"saved: a snapshot of {moment:%Y-%m-%d %H:%M:%S} UTC")
    steps.exit_by_completeness(all_known=known)


@history.command(
    epilog=flags.examples(
        "walletframe history thin --keep weekly --older-than 90d --folder snapshots"
    ),
)
@click.option(
    "--keep",
    type=click.Choice(["hourly", "daily", "weekly", "monthly"]),
    default="daily",
    show_default=True,
    help="Keep one snapshot per hour, day, week or month.",
)
@click.option(
    "--older-than",
    metavar="AGE",
    default="30d",
    show_default=True,
    help="Remove only snapshots older than this age in hours, days or weeks: 12h, 30d or 4w.",
)
@flags.folder_option
def thin(keep: str, older_than: str, folder: Path | None) -> None:
    """Remove older snapshots, but keep one snapshot per period.

    More snapshots of a period remain if they contain additional wallets or balances.
    """
    removed = archive.thin(keep=keep, older_than=older_than, folder=folder)
    kept = counted_noun(len(archive.snapshots(folder=folder)), "snapshot")
    echo(f"kept: {kept}; removed: {counted_noun(len(removed), 'snapshot')}")


@history.command(
    epilog=flags.examples(
        "walletframe history show --folder snapshots",
        "walletframe history show NEAR.alice.near --token NEAR --folder snapshots",
        "walletframe history show latest holdings.csv --folder snapshots",
        "walletframe history show yesterday --by token",
        "walletframe history show yesterday --asset USDC --by owner",
    ),
)
@click.argument("arguments", nargs=-1, metavar="[WALLET... | BEFORE [AFTER]]")
@flags.file_option
@click.option("--since", help="The first day (UTC) or time, such as yesterday or 2026-01-31.")
@click.option("--until", help="The last day (UTC) or time, inclusive.")
@click.option(
    "--by",
    multiple=True,
    metavar="NAME",
    help="Sum the changes by token (of all wallets), asset, wallet, blockchain, or an extra column "
    "of the wallets, such as owner. Can be repeated.",
)
@flags.token_option
@click.option(
    "--asset", metavar="NAME", help="Show only this asset, such as USDC, with all its contracts."
)
@flags.asset_list_options
@flags.folder_option
@flags.output_option
@flags.all_rows_option("line")
def show(
    arguments: tuple[str, ...], files: tuple[str, ...], folder: Path | None, **options: Any
) -> None:
    """List snapshots, show amounts of WALLETS over time, or show changes from BEFORE to AFTER.

    BEFORE and AFTER are times, files of fetch, folders of fetch-to-parquet, or folders of
    snapshots. A time, such as latest, yesterday, 2026-01-31 (a day in UTC) or 2026-01-31T06:00Z,
    means the last snapshot until then. The default of AFTER is latest. A folder of snapshots means
    its newest snapshot. Tokens that look like spam are included. The exit code is 1 if a change, a
    wallet, an amount or a token is unknown.
    """
    rows = options.pop("rows")
    compared = [text for text in arguments if is_holdings_path(text) or _TIME.match(text)]
    if not arguments and not files:
        if any(options.values()):
            raise click.UsageError(steps.NO_WALLETS)
        listed = archive.snapshots(folder=folder)
        print_table(screen.snapshots_table(listed))
        if listed["simulated"].any():
            echo(SIMULATED_NOTE)
    elif not compared:
        if options.pop("by"):
            raise click.UsageError("--by needs changes: add BEFORE (a time, file or folder)")
        output = options.pop("output")
        period = {name: options.pop(name) for name in ("since", "until")}
        wallets = steps.read_requested_wallets(arguments, files)
        loaded = archive.load(wallets=wallets, folder=folder, **period)
        options["token"] = steps.parse_token(options["token"], loaded.holdings)
        timeline = archive.timeline(loaded, **options)
        write_frames_if_path(output, timeline=timeline)
        print_table(screen.timeline_table(timeline, rows, loaded.wallets))
        if options["token"] is None and options["asset"] is None:
            for line in _included_spam_lines(loaded.holdings):
                echo(f"\n{line}")
        steps.exit_by_completeness(all_known=(timeline["status"] == "ok").all())
    else:
        if files or len(compared) < len(arguments) or len(compared) > 2:  # noqa: PLR2004 - before and after
            raise click.UsageError(_MIXED_ARGUMENTS)
        if options.pop("since") or options.pop("until"):
            raise click.UsageError("--since and --until work with wallets, but not with changes")
        _show_changes(compared, folder, rows, **options)


def _show_changes(
    arguments: list[str], folder: Path | None, rows: int | None, **options: Any
) -> NoReturn:
    by, output = options.pop("by"), options.pop("output")
    before, after = (*arguments, "latest")[:2]
    earlier = _read_and_print_summary("before", before, folder)
    later = _read_and_print_summary("after", after, folder)
    options["token"] = steps.parse_token(options["token"], earlier.holdings, later.holdings)
    changes = archive.compare(earlier, later, by=by or None, **options)
    write_frames_if_path(output, changes=changes)
    echo()
    print_table(screen.changes_table(changes, rows, later.wallets))
    coverage = coverage_from_attrs(changes)
    if by:
        unknown = (changes["wallets_known"] < changes["wallets"]).sum()
        summary = f"{counted_noun(len(changes), 'row')}, {unknown:,} of them with unknown wallets"
    else:
        unknown = coverage.wallets_asked - coverage.wallets_ok
        counts = changes["change"].value_counts(sort=False)
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
        summary = f"changes: {kinds or 'none'}" + f"; unknown wallets: {unknown:,}" * bool(unknown)
    echo(f"\n{with_option_names(coverage)}\n{summary}")
    if changes["change"].eq("unknown").any():
        steps.exit_by_completeness(all_known=False)
    steps.exit_by_coverage(coverage)


def _read_and_print_summary(heading: str, argument: str, folder: Path | None) -> WalletDetails:
    details = read_file_or_snapshot(argument, folder, "holdings of failed wallets would seem gone")
    origin = argument
    if "snapshot" in details.wallets:
        origin = f"the snapshot of {details.wallets['snapshot'].max():%Y-%m-%d %H:%M:%S} UTC"
    lines = [*summary_lines(details.wallets), *_included_spam_lines(details.holdings)]
    echo("\n  ".join([f"{heading}: {origin}", *lines]))
    return details


def _included_spam_lines(holdings: pd.DataFrame) -> list[str]:
    count = int(spam_flags.spam_mask(holdings).sum())
    return [f"Spam is included: {counted_noun(count, 'balance')}."] if count else []
