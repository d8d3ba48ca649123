"""``walletframe totals`` and ``report``: summaries of a fetch, or of a file or folder of one."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click
import numpy as np

from walletframe.accessor.delegation import LazyPackage
from walletframe.cli import flags
from walletframe.cli.asking import exit_with, fetch_details, parse_token
from walletframe.cli.files import (
    file_or_snapshot,
    is_folder,
    read_saved,
    saved_details,
    saved_file,
    write_frame,
)
from walletframe.cli.screen import echo, print_table, totals_table
from walletframe.frames.contract import HOLDING_DTYPES
from walletframe.frames.coverage import known_by_token
from walletframe.frames.identity import UNKNOWN
from walletframe.frames.known import known_wallets, stale_wallets, summary_lines, value_summary
from walletframe.frames.names import token_place
from walletframe.frames.positions import read_positions
from walletframe.numerals import counted_noun

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import pandas as pd

    from walletframe import reports
    from walletframe.accessor import folder as folders
    from walletframe.accessor.folder import StoredWallets
    from walletframe.analysis import parted, sums, valuation
    from walletframe.frames.identity import Mask
    from walletframe.frames.known import ValueSummary
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions
else:
    folders, reports = map(LazyPackage, ("accessor.folder", "reports"))
    parted, sums, valuation = map(
        LazyPackage, ("analysis.parted", "analysis.sums", "analysis.valuation")
    )

_BY = ("token", "asset", "wallet", "blockchain")
_COLUMNS = {  # the columns behind a name for grouping, if not the column of that name
    "wallet": ["blockchain", "address"],
    "token": ["token_blockchain", "token_address"],
    "symbol": ["token_blockchain", "token_address"],
}
_WITHOUT_WALLETS = "failed wallets are unknown"

_given = click.argument("given", nargs=-1, metavar="[FILE | FOLDER | WALLET...]")


class Frames(NamedTuple):
    """Holdings, and the requested wallets if they are known."""

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
@flags.group_options("token")
@flags.output_option
@flags.token_option
@flags.price_options
@click.option("--by-symbol", is_flag=True, help="The prices are by symbol: columns symbol, price.")
@flags.all_rows_option("group")
@flags.fetch_options
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
    """Show exact totals of the holdings in a FILE that fetch wrote, or of WALLETS.

    With --prices or --currency, totals have values, and balances without a price are counted. The
    last column shows how many wallets that could hold the token are known. The exit code is 1 if
    some are unknown. A FOLDER of fetch-to-parquet may be larger than memory.
    """
    grouping = {name: options.pop(name) for name in ("by", "assets", "bridged")}
    if saved_file(given, options["files"]) is None:
        _require_names(grouping["by"], options["keep"])
    source, interrupted = _read_or_fetch(given, **options)
    wanted, wallets = None, source.wallets
    if token is not None:
        holdings = (
            source.holdings
            if isinstance(source, Frames)
            else parted.chunked_tokens(source.holdings).holdings
        )
        wanted = parse_token(token, holdings)
    if by_symbol or prices is not None or currency is not None:  # before the selection
        pricing: dict[str, Any] = {"prices": prices, "currency": currency, "by_symbol": by_symbol}
        if not by_symbol:
            pricing |= {"assets": grouping["assets"], "bridged": grouping["bridged"]}
            if "asset" not in grouping["by"]:  # the asset options are only for the prices
                grouping |= {"assets": None, "bridged": False}
        if isinstance(source, Frames):
            source = source._replace(holdings=valuation.value(source.holdings, **pricing))
        else:
            source = source.wf.value(**pricing)
    table, value = _totals(source, wanted, **grouping)
    table = _ordered(table, grouping["by"], of_one=wanted is not None)
    print_table(totals_table(table, rows, wallets))
    echo()
    if value:
        balances = counted_noun(value.known + value.unpriced + value.unread, "balance")
        gaps = f"{value.unpriced:,} without a price, {value.unread:,} of unknown amount"
        echo(f"Value of {value.known:,} of {balances}: {value.total} ({gaps})")
    if wallets is not None:
        echo("\n".join(summary_lines(wallets)))
    write_frame(table, output, name="totals")
    known = wallets is None or bool(known_wallets(wallets).all())
    if known and wanted is not None and wallets is not None:
        known = bool((table["wallets_ok"] == table["wallets_asked"]).all())
    exit_with(known=known, interrupted=interrupted)


def _read_or_fetch(
    given: tuple[str, ...], files: tuple[str, ...], **options: Any
) -> tuple[Source, bool]:
    """Read a saved fetch, or fetch wallets; also return whether an interrupt ended it."""
    file = saved_file(given, files)
    if file is None:
        details, interrupted = fetch_details(given, files=files, **options)
        return Frames(details.holdings, details.wallets), interrupted
    if is_folder(file):
        return folders.open_wallets(file), False
    source = Frames(*read_saved(file))
    if source.wallets is None:
        lacking = "there is no file of wallets beside it, so it is unknown how complete this is"
        echo(f"Warning: {lacking}", err=True)
    return source, False


def _totals(
    source: Source, token: TokenLike | None, **grouping: Any
) -> tuple[pd.DataFrame, ValueSummary | None]:
    """Return totals of all balances, or of one token, and a summary of their value."""
    if not isinstance(source, Frames):
        stored = source.holdings
        if token is None:
            return source.wf.totals(**grouping), parted.chunked_value_summary(stored)
        written = parted.chunked_tokens(stored)
        token = written.tokens.keys[token_place(written.holdings, written.tokens, token)]
        rows = stored.read({token, UNKNOWN}, [*stored.whole.holdings.columns])
        source = Frames(rows, source.wallets)
    positions = read_positions(*source, timed="snapshot" in grouping["by"])
    if token is not None:
        place = token_place(source.holdings, positions.tokens, token)
        positions = _of_one_token(positions, positions.tokens.codes == place)
    return sums.totals(positions, **grouping), value_summary(positions.holdings)


def _of_one_token(positions: Positions, rows: Mask) -> Positions:
    """Return the rows of one token; wallets that could hold more of it count as unknown."""
    held = positions.where(rows)
    sure = known_by_token(held, np.ones(len(held.holdings), dtype=bool))
    sure_or_none = sure.known | ~np.isin(held.chain_codes, held.possible_blockchains()[1])
    return replace(held, known=held.known & sure_or_none, stale=held.stale & sure_or_none)


def _ordered(table: pd.DataFrame, by: Sequence[str], *, of_one: bool) -> pd.DataFrame:
    """Sort groups, the largest first; with several names, keep the groups of the first together."""
    ranks = [name for name in ("value", "holders") if name in table]
    if of_one and not ranks and "amount" in table:  # amounts of several tokens can't be compared
        ranks = ["amount"]
    ordered = table.sort_values(ranks, ascending=False, kind="stable") if ranks else table
    if len(by) < 2:  # noqa: PLR2004  one name
        return ordered
    first = ordered.groupby(_COLUMNS.get(by[0], by[0]), sort=False, dropna=False, observed=True)
    return ordered.iloc[first.ngroup().argsort(kind="stable")]


def _require_names(by: Collection[str], keep: Collection[str]) -> None:
    """Raise before any request if a name to group by is not a column of the result."""
    for name in by:
        if name not in _BY and name not in keep and name not in HOLDING_DTYPES:
            raise click.BadParameter(
                f"{name!r} is not a column of balances. Choose from {', '.join(_BY)}, or keep a "
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
@flags.fetch_options
@click.option(
    "--output",
    metavar="FILE",
    required=True,
    callback=flags.output_path([".html", ".md"]),
    help="A .html or .md file; an existing one is replaced.",
)
@click.option("--title", default="Token holdings", show_default=True, help="The heading.")
@click.option("--static", is_flag=True, help="Draw charts as pictures: the page has no scripts.")
@click.option(
    "--before",
    metavar="FILE|TIME",
    help="Show the changes since then: a FILE that fetch wrote, or the time of a snapshot, such as "
    "yesterday.",
)
@flags.price_options
@flags.group_options("")
@flags.folder_option
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
    """Write a report on the holdings in a FILE that fetch wrote, or of WALLETS.

    The page opens offline and can be printed. The exit code is 1 if the balances of a wallet are
    unknown. A FOLDER of fetch-to-parquet is read into memory as a whole.
    """
    earlier = None if before is None else file_or_snapshot(before, folder, _WITHOUT_WALLETS)
    interrupted = False
    if file := saved_file(given, files):
        details = saved_details(file, _WITHOUT_WALLETS)
    else:
        _require_names(by, options["keep"])
        details, interrupted = fetch_details(given, files=files, **options)
    if prices is not None or currency is not None:
        details = details._replace(
            holdings=valuation.value(details.holdings, prices, currency=currency)
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
    echo(f"written: {written}")
    wallets = details.wallets
    known, older = known_wallets(wallets).sum(), stale_wallets(wallets).sum()
    outdated = f", of {older:,} as of an older answer" if older else ""
    echo(
        f"The balances of {known:,} of {counted_noun(len(wallets), 'wallet')} are known{outdated}."
    )
    exit_with(known=known == len(wallets), interrupted=interrupted)
