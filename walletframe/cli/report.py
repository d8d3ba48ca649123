"""``walletframe report``: from wallets to a document in one line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from walletframe.analysis import value as valued_at
from walletframe.cli.asking import INTERRUPTED, ask, asking
from walletframe.cli.saved import is_saved, read_saved
from walletframe.cli.screen import say
from walletframe.cli.snapshots import in_folder
from walletframe.frames import WalletDetails, known_wallets, stale_wallets
from walletframe.history import snapshot
from walletframe.numerals import many
from walletframe.reports import SUFFIXES
from walletframe.reports import report as write_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from walletframe.reports.document import Images


def report_path(_ctx: object, _param: object, value: str) -> Path:
    """Check the option ``--output`` before anything is fetched.

    Parameters
    ----------
    value : str
        What was given.

    Returns
    -------
    Path
        Where to write.

    Raises
    ------
    click.BadParameter
        For a suffix that is not known, or a folder that is not there.
    """
    path = Path(value)
    if path.suffix.lower() not in SUFFIXES:
        raise click.BadParameter(f"{value}: the name has to end in {' or '.join(SUFFIXES)}")
    if path.is_dir() or not path.parent.is_dir():
        raise click.BadParameter(f"{value}: is a folder, or in none that is there")
    return path


@click.command()
@click.argument("given", nargs=-1, metavar="[FILE | WALLET...]")
@asking
@click.option(
    "--output",
    metavar="FILE",
    required=True,
    callback=report_path,
    help="A .html or .md; what is there is replaced.",
)
@click.option("--title", default="Token holdings", show_default=True, help="The heading.")
@click.option("--static", is_flag=True, help="Charts as pictures, for a page without scripts.")
@click.option(
    "--before",
    metavar="FILE|TIME",
    help="Say what changed since then: a FILE that fetch wrote, or the time of a snapshot, such as "
    "yesterday.",
)
@click.option(
    "--prices",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="A .csv or .parquet with token_blockchain, token_address, price, perhaps currency; "
    "without it, the service's own prices.",
)
@click.option("--currency", help="What the prices are in, such as USD.")
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
    images: Images = "static" if static else "interactive"
    written = write_report(details, output, before=earlier, title=title, images=images)
    say(f"written: {written}")
    wallets = details.wallets
    known, older = known_wallets(wallets, stale=True).sum(), stale_wallets(wallets).sum()
    outdated = f", of {older:,} as of an older answer" if older else ""
    say(f"The balances of {known:,} of {many(len(wallets), 'wallet')} are known{outdated}.")
    if interrupted:
        sys.exit(INTERRUPTED)
    sys.exit(0 if known == len(wallets) else 1)


def _found(
    given: Sequence[str], files: Sequence[str], **options: Any
) -> tuple[WalletDetails, bool]:
    if not any(map(is_saved, given)):
        return ask(given, files=files, **options)
    if len(given) > 1 or files:
        raise click.UsageError(f"either wallets or one file of holdings, not {' '.join(given)}")
    return _saved(given[0]), False


def _earlier(named: str, folder: Path | None) -> WalletDetails:
    return _saved(named) if is_saved(named) else snapshot(named, folder=folder)


def _saved(name: str) -> WalletDetails:
    holdings, wallets = read_saved(name)
    if wallets is None:
        raise click.UsageError(
            f"{name}: the file of wallets beside it is missing; without it, what failed is unknown"
        )
    return WalletDetails(wallets, holdings)
