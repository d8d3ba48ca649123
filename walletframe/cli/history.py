"""``walletframe history`` and ``compare``: keep snapshots, look at them, and say what changed."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from walletframe.cli.asking import ROWS, all_of, ask, asking, end, named_if_any
from walletframe.cli.files import is_saved, output, saved_details, write_frame
from walletframe.cli.screen import say, show
from walletframe.cli.tables import changes_table, snapshots_table, timeline_table
from walletframe.frames import known_when_asked, summary_lines
from walletframe.history import compare as changes_between
from walletframe.history import load, snapshot, snapshots, timeline
from walletframe.history import save as keep
from walletframe.history.admission import require_savable
from walletframe.history.changes import only

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from walletframe.frames import TokenLike, WalletDetails
    from walletframe.settings import Settings

in_folder = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where snapshots are kept. Default: in the user's data folder.",
)


def of_token(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option ``--token``, and ``--symbol``, its old name, which warns."""

    @click.option(
        "--token",
        metavar="SYMBOL|BLOCKCHAIN.CONTRACT",
        help="Only this token: an unambiguous symbol, or ETH.0x…; ETH. is the native coin.",
    )
    @click.option("--symbol", hidden=True)
    @functools.wraps(command)
    def narrowed(*args: Any, token: str | None, symbol: str | None, **options: Any) -> None:
        if symbol is not None:
            if token is not None:
                raise click.UsageError("--symbol is now called --token: give only one of them")
            say("Warning: --symbol is now called --token", err=True)
        command(*args, token=symbol if token is None else token, **options)

    return narrowed


def token_named(text: str | None, *holdings: pd.DataFrame) -> TokenLike | None:
    """Read a token: BLOCKCHAIN.CONTRACT, unless it is a symbol in some of the holdings."""
    if text is None or "." not in text:
        return text
    if any((frame["symbol"] == text).any() for frame in holdings):
        return text
    blockchain, _, contract = text.partition(".")
    return blockchain, contract or None


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


@history.command("show")
@click.argument("wallets", nargs=-1)
@click.option("--file", "files", multiple=True, metavar="FILE", help="Read wallets from FILE.")
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
    *,
    whole: bool,
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
    show(timeline_table(lines, None if whole else ROWS))
    write_frame(lines, output, name="timeline")


@click.command()
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
    *,
    whole: bool,
) -> None:
    """Say what changed from BEFORE to AFTER, exactly, and what is unknown.

    Each is a time, for the last snapshot up to it: latest (what AFTER is unless given), yesterday,
    2026-01-31 or 2026-01-31T06:00, in UTC; or a FILE that fetch wrote. The exit code is 1 where
    something is unknown.
    """
    sides = _found("before", before, folder), _found("after", after, folder)
    changes = changes_between(*sides, token=token_named(token, *(s.holdings for s in sides)))
    say()
    show(changes_table(changes, None if whole else ROWS))
    say(f"\n{_summary(changes)}")
    write_frame(changes, output, name="changes")
    end(known=not (changes["change"] == "unknown").any())


def _found(side: str, named: str, folder: Path | None) -> WalletDetails:
    if is_saved(named):
        details, origin = saved_details(named, "what failed would seem gone"), named
    else:
        details = snapshot(named, folder=folder)
        origin = f"the snapshot of {details.wallets['snapshot'].max():%Y-%m-%d %H:%M:%S} UTC"
    say("\n  ".join([f"{side}: {origin}", *summary_lines(details.wallets)]))
    return details


def _summary(changes: pd.DataFrame) -> str:
    counts = changes["change"].value_counts(sort=False)
    counted = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
    unknown = changes.loc[changes["change"] == "unknown", ["blockchain", "address"]]
    wallets = len(unknown.drop_duplicates())
    return (counted or "nothing changed") + (f"; wallets not known: {wallets:,}" if wallets else "")
