"""``walletframe report``: from wallets to a document in one command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from walletframe.analysis import value as valued_at
from walletframe.cli.asking import ask, asking, end, priced
from walletframe.cli.files import is_saved, output_path, saved_details, saved_file
from walletframe.cli.history import in_folder
from walletframe.cli.screen import say
from walletframe.frames import known_wallets, stale_wallets
from walletframe.history import snapshot
from walletframe.numerals import many
from walletframe.reports import SUFFIXES
from walletframe.reports import report as write_report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from walletframe.frames import WalletDetails

_WITHOUT_WALLETS = "what failed is unknown"


@click.command()
@click.argument("given", nargs=-1, metavar="[FILE | WALLET...]")
@asking
@click.option(
    "--output",
    metavar="FILE",
    required=True,
    callback=output_path(SUFFIXES),
    help="A .html or .md file; an existing one is replaced.",
)
@click.option("--title", default="Token holdings", show_default=True, help="The heading.")
@click.option("--static", is_flag=True, help="Charts as pictures, for a page without scripts.")
@click.option(
    "--before",
    metavar="FILE|TIME",
    help="Say what changed since then: a FILE that fetch wrote, or the time of a snapshot, such as "
    "yesterday.",
)
@priced
@in_folder
def report(  # noqa: PLR0913 - every option is an argument
    given: tuple[str, ...],
    output: Path,
    *,
    title: str,
    before: str | None,
    prices: str | None,
    currency: str | None,
    folder: Path | None,
    static: bool,
    **options: Any,
) -> None:
    """Write a report on what wallets hold: of a FILE that fetch wrote, or of WALLETS.

    The page opens offline, and prints. The exit code is 1 where the balances of a wallet are not
    known.
    """
    earlier = None if before is None else _earlier(before, folder)
    details, interrupted = _found(given, **options)
    if prices is not None or currency is not None:
        details = details._replace(holdings=valued_at(details.holdings, prices, currency=currency))
    written = write_report(
        details,
        output,
        before=earlier,
        title=title,
        images="static" if static else "interactive",
    )
    say(f"written: {written}")
    wallets = details.wallets
    known, older = known_wallets(wallets, stale=True).sum(), stale_wallets(wallets).sum()
    outdated = f", of {older:,} as of an older answer" if older else ""
    say(f"The balances of {known:,} of {many(len(wallets), 'wallet')} are known{outdated}.")
    end(known=known == len(wallets), interrupted=interrupted)


def _found(
    given: Sequence[str], files: Sequence[str], **options: Any
) -> tuple[WalletDetails, bool]:
    file = saved_file(given, files)
    if file is None:
        return ask(given, files=files, **options)
    return saved_details(file, _WITHOUT_WALLETS), False


def _earlier(named: str, folder: Path | None) -> WalletDetails:
    if is_saved(named):
        return saved_details(named, _WITHOUT_WALLETS)
    return snapshot(named, folder=folder)
