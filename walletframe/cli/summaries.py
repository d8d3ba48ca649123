"""``walletframe totals`` and ``report``: what a fetch, or a file or folder of one, amounts to."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click
import numpy as np

from walletframe.accessor.delegation import LazyPackage
from walletframe.cli import flags
from walletframe.cli.asking import ask, end, token_named
from walletframe.cli.files import (
    file_or_snapshot,
    is_folder,
    read_saved,
    saved_details,
    saved_file,
    write_frame,
)
from walletframe.cli.screen import say, show, totals_table
from walletframe.frames.contract import HOLDING_DTYPES
from walletframe.frames.coverage import of_one_token
from walletframe.frames.identity import UNKNOWN
from walletframe.frames.known import known_wallets, stale_wallets, summary_lines, worth
from walletframe.frames.names import token_place
from walletframe.frames.positions import read_positions
from walletframe.numerals import many

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import pandas as pd

    from walletframe import analysis, reports
    from walletframe.accessor import folder as folders
    from walletframe.accessor.folder import StoredWallets
    from walletframe.frames.identity import Mask
    from walletframe.frames.known import Worth
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions
else:
    analysis, folders, reports = map(LazyPackage, ("analysis", "accessor.folder", "reports"))

_BY = ("token", "asset", "wallet", "blockchain")
_COLUMNS = {  # those that name a group, where that is more than its own
    "wallet": ["blockchain", "address"],
    "token": ["token_blockchain", "token_address"],
    "symbol": ["token_blockchain", "token_address"],
}
_WITHOUT_WALLETS = "what failed is unknown"

_given = click.argument("given", nargs=-1, metavar="[FILE | FOLDER | WALLET...]")


class Frames(NamedTuple):
    """Holdings, and the wallets asked where they are known."""

    holdings: pd.DataFrame
    wallets: pd.DataFrame | None


Source: TypeAlias = "Frames | StoredWallets"


@click.command(
    epilog=flags.example(
        "walletframe totals NEAR.alice.near --by wallet",
        "walletframe totals holdings.csv --by wallet --by token --output totals.csv",
        "walletframe totals holdings.csv --prices prices.csv --currency USD --by wallet",
        "walletframe totals --file people.csv --keep owner --by owner --by asset",
        "walletframe totals bulk --by asset",
    )
)
@_given
@flags.grouped("token")
@flags.output
@flags.of_token
@flags.priced
@click.option("--by-symbol", is_flag=True, help="The prices are by symbol: columns symbol, price.")
@flags.all_of("group")
@flags.asking
def totals(  # noqa: PLR0913 - every option is an argument
    given: tuple[str, ...],
    output: Path | None,
    token: str | None,
    prices: str | None,
    currency: str | None,
    rows: int | None,
    *,
    by_symbol: bool,
    **options: Any,
) -> None:
    """Add up what wallets hold, exactly: of a FILE that fetch wrote, or of WALLETS.

    With --prices or --currency also what it is worth: what has no price is counted, and not taken
    for worthless. The last column tells of how many wallets that could hold some the balances are
    known. The exit code is 1 where that is not all. A FOLDER of fetch-to-parquet may be larger than
    memory.
    """
    grouping = {name: options.pop(name) for name in ("by", "assets", "bridged")}
    if saved_file(given, options["files"]) is None:
        _require_names(grouping["by"], options["keep"])
    source, interrupted = _read_or_fetch(given, **options)
    wanted, wallets = None, source.wallets
    if token is not None:
        held = (
            source.holdings
            if isinstance(source, Frames)
            else analysis.tokens_of_blocks(source.holdings).holdings
        )
        wanted = token_named(token, held)
    if by_symbol or prices is not None or currency is not None:  # of all, then of a token
        pricing: dict[str, Any] = {"prices": prices, "currency": currency, "by_symbol": by_symbol}
        if not by_symbol:
            pricing |= {"assets": grouping["assets"], "bridged": grouping["bridged"]}
            if "asset" not in grouping["by"]:  # they are for the prices alone
                grouping |= {"assets": None, "bridged": False}
        if isinstance(source, Frames):
            source = source._replace(holdings=analysis.value(source.holdings, **pricing))
        else:
            source = source.wf.value(**pricing)
    table, value = _added_up(source, wanted, **grouping)
    table = _ordered(table, grouping["by"], of_one=wanted is not None)
    show(totals_table(table, rows, wallets))
    say()
    if value:
        balances = many(value.known + value.unpriced + value.unread, "balance")
        gaps = f"{value.unpriced:,} without a price, {value.unread:,} of unknown amount"
        say(f"Value of {value.known:,} of {balances}: {value.total} ({gaps})")
    if wallets is not None:
        say("\n".join(summary_lines(wallets)))
    write_frame(table, output, name="totals")
    known = wallets is None or bool(known_wallets(wallets).all())
    if known and wanted is not None and wallets is not None:
        known = bool((table["wallets_ok"] == table["wallets_asked"]).all())
    end(known=known, interrupted=interrupted)


def _read_or_fetch(
    given: tuple[str, ...], files: tuple[str, ...], **options: Any
) -> tuple[Source, bool]:
    """Read what was saved, or fetch wallets; and say whether an interrupt ended that."""
    file = saved_file(given, files)
    if file is None:
        details, interrupted = ask(given, files=files, **options)
        return Frames(details.holdings, details.wallets), interrupted
    if is_folder(file):
        return folders.open_wallets(file), False
    source = Frames(*read_saved(file))
    if source.wallets is None:
        lacking = "there is no file of wallets beside it, so it is unknown how complete this is"
        say(f"Warning: {lacking}", err=True)
    return source, False


def _added_up(
    source: Source, token: TokenLike | None, **grouping: Any
) -> tuple[pd.DataFrame, Worth | None]:
    """Add up all balances, or those of one token; also what they are worth."""
    if not isinstance(source, Frames):
        stored = source.holdings
        if token is None:
            return source.wf.totals(**grouping), analysis.worth_of_blocks(stored)
        written = analysis.tokens_of_blocks(stored)
        token = written.tokens.keys[token_place(written.holdings, written.tokens, token)]
        rows = stored.read({token, UNKNOWN}, [*stored.whole.holdings.columns])
        source = Frames(rows, source.wallets)
    positions = read_positions(*source, timed="snapshot" in grouping["by"])
    if token is not None:
        place = token_place(source.holdings, positions.tokens, token)
        positions = _of_one_token(positions, positions.tokens.codes == place)
    return analysis.totals(positions, **grouping), worth(positions.holdings)


def _of_one_token(positions: Positions, rows: Mask) -> Positions:
    """Return the rows of one token; a wallet is known if it can't hold more than they tell."""
    held = positions.where(rows)
    sure = of_one_token(held, np.ones(len(held.holdings), dtype=bool))
    sure_or_none = sure.known | ~np.isin(held.chain_codes, held.could_hold()[1])
    return replace(held, known=held.known & sure_or_none, stale=held.stale & sure_or_none)


def _ordered(table: pd.DataFrame, by: Sequence[str], *, of_one: bool) -> pd.DataFrame:
    """Sort the largest first; groups of several kinds below the largest of the first kind."""
    ranks = [name for name in ("value", "holders") if name in table]
    if of_one and not ranks and "amount" in table:  # those of several are not compared
        ranks = ["amount"]
    ordered = table.sort_values(ranks, ascending=False, kind="stable") if ranks else table
    if len(by) < 2:  # noqa: PLR2004  one kind of groups
        return ordered
    first = ordered.groupby(_COLUMNS.get(by[0], by[0]), sort=False, dropna=False, observed=True)
    return ordered.iloc[first.ngroup().argsort(kind="stable")]


def _require_names(by: Collection[str], keep: Collection[str]) -> None:
    """Refuse to group by what no fetch will have, before anything is asked."""
    for name in by:
        if name not in _BY and name not in keep and name not in HOLDING_DTYPES:
            raise click.BadParameter(
                f"{name!r} is no column of balances. Choose from {', '.join(_BY)}, or keep a "
                f"column of a .csv of wallets: --file FILE --keep {shlex.quote(name)}",
                param_hint="'--by'",
            )


@click.command(
    epilog=flags.example(
        "walletframe report --file wallets.txt --output report.html",
        "walletframe report --file people.csv --keep owner --by owner --output report.md",
    )
)
@_given
@flags.asking
@click.option(
    "--output",
    metavar="FILE",
    required=True,
    callback=flags.output_path([".html", ".md"]),
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
@flags.priced
@flags.grouped("")
@flags.in_folder
def report(  # noqa: PLR0913 - every option is an argument
    given: tuple[str, ...],
    output: Path,
    *,
    files: tuple[str, ...],
    title: str,
    before: str | None,
    prices: str | None,
    currency: str | None,
    folder: Path | None,
    static: bool,
    by: tuple[str, ...],
    assets: str | None,
    bridged: bool,
    **options: Any,
) -> None:
    """Write a report on what wallets hold: of a FILE that fetch wrote, or of WALLETS.

    The page opens offline, and prints. The exit code is 1 where the balances of a wallet are not
    known. A FOLDER of fetch-to-parquet is read as a whole.
    """
    earlier = None if before is None else file_or_snapshot(before, folder, _WITHOUT_WALLETS)
    interrupted = False
    if file := saved_file(given, files):
        details = saved_details(file, _WITHOUT_WALLETS)
    else:
        _require_names(by, options["keep"])
        details, interrupted = ask(given, files=files, **options)
    if prices is not None or currency is not None:
        details = details._replace(
            holdings=analysis.value(details.holdings, prices, currency=currency)
        )
    written = reports.report(
        details,
        output,
        by=by or None,
        assets=assets,
        bridged=bridged,
        before=earlier,
        title=title,
        images="static" if static else "interactive",
    )
    say(f"written: {written}")
    wallets = details.wallets
    known, older = known_wallets(wallets).sum(), stale_wallets(wallets).sum()
    outdated = f", of {older:,} as of an older answer" if older else ""
    say(f"The balances of {known:,} of {many(len(wallets), 'wallet')} are known{outdated}.")
    end(known=known == len(wallets), interrupted=interrupted)
