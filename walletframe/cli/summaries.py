"""The commands ``totals`` and ``report``, which summarize wallets, a file or a folder."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click
import numpy as np

from walletframe.accessor.delegation import LazyPackage
from walletframe.cli import flags
from walletframe.cli.files import (
    holdings_path,
    is_bulk_folder,
    read_file_or_snapshot,
    read_saved_details,
    read_saved_frames,
    write_frames,
)
from walletframe.cli.screen import echo, print_table, totals_table
from walletframe.cli.steps import exit_by_completeness, fetch_details, parse_token
from walletframe.frames.coverage import mark_unknown_wallets
from walletframe.frames.identity import UNKNOWN
from walletframe.frames.known import known_mask, summarize_value, summary_lines
from walletframe.frames.names import token_index
from walletframe.frames.positions import read_positions
from walletframe.frames.results import coverage_from_attrs
from walletframe.frames.schema import HOLDING_DTYPES
from walletframe.numerals import counted_noun
from walletframe.settings.tables import table_settings

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import pandas as pd

    from walletframe import reports
    from walletframe.accessor import folder as folders
    from walletframe.accessor.folder import StoredWallets
    from walletframe.analysis import chunked, sums, valuation
    from walletframe.bulk import files as bulk_files
    from walletframe.frames.identity import Mask
    from walletframe.frames.known import ValueSummary
    from walletframe.frames.names import TokenLike
    from walletframe.frames.positions import Positions
    from walletframe.reports import composition
else:
    folders, valuation = map(LazyPackage, ("accessor.folder", "analysis.valuation"))
    chunked, sums = map(LazyPackage, ("analysis.chunked", "analysis.sums"))
    bulk_files = LazyPackage("bulk.files")
    reports, composition = map(LazyPackage, ("reports", "reports.composition"))

_BY = ("asset", "token", "wallet", "blockchain")
_KEY_COLUMNS = {  # of groups that need more than the column of the same name
    "wallet": ["blockchain", "address"],
    "token": ["token_blockchain", "token_address"],
    "symbol": ["token_blockchain", "token_address"],
}
_WITHOUT_WALLETS = "it is not known which wallets failed"

_arguments = click.argument("arguments", nargs=-1, metavar="[FILE | FOLDER | WALLET...]")


class FetchFrames(NamedTuple):
    """The holdings and wallets of a fetch. `wallets` is None if only holdings were saved."""

    holdings: pd.DataFrame
    wallets: pd.DataFrame | None


Source: TypeAlias = "FetchFrames | StoredWallets"


@click.command(
    epilog=flags.example(
        "walletframe totals NEAR.alice.near --by wallet",
        "walletframe totals holdings.csv --by wallet --by token --output totals.csv",
        "walletframe totals holdings.csv --prices prices.csv --currency USD --by wallet",
        "walletframe totals --file people.csv --keep owner --by owner --by asset",
        "walletframe totals bulk --by asset",
    )
)
@_arguments
@flags.group_options("asset, or token with --token")
@flags.output_option
@flags.token_option
@flags.price_options
@click.option("--by-symbol", is_flag=True, help="Read prices by symbol: columns symbol, price.")
@flags.all_rows_option("group")
@flags.fetch_options
def totals(  # noqa: PLR0913 - click passes each option as an argument
    arguments: tuple[str, ...],
    output: Path | None,
    token: str | None,
    prices: str | list[str] | None,
    currency: str | None,
    rows: int | None,
    *,
    by_symbol: bool,
    **options: Any,
) -> None:
    """Show exact totals of the holdings of WALLETS, or in a FILE that fetch wrote.

    With --prices, --currency or the setting prices, the table also contains values and the number
    of balances without a price. The last column counts the known wallets and all wallets that could
    hold the asset. The exit code is 1 if balances of a wallet are unknown. A FOLDER that
    fetch-to-parquet wrote can be larger than memory.
    """
    grouping = {name: options.pop(name) for name in ("by", "assets", "bridged")}
    grouping["by"] = grouping["by"] or ("asset" if token is None else "token",)
    if holdings_path(arguments, options["files"]) is None:
        _require_grouping_names(grouping["by"], options["keep"])
    source, interrupted = _read_or_fetch(arguments, **options)
    wanted, wallets = None, source.wallets
    if token is not None:
        holdings = (
            source.holdings
            if isinstance(source, FetchFrames)
            else chunked.chunked_tokens(source.holdings).holdings
        )
        wanted = parse_token(token, holdings)
    price_options = (prices, currency, table_settings().prices)
    if by_symbol or any(each is not None for each in price_options):  # before the rows are selected
        pricing: dict[str, Any] = {"prices": prices, "currency": currency, "by_symbol": by_symbol}
        if not by_symbol:
            pricing |= {"assets": grouping["assets"], "bridged": grouping["bridged"]}
            if "asset" not in grouping["by"]:  # the asset options are only for prices
                grouping |= {"assets": None, "bridged": False}
        if isinstance(source, FetchFrames):
            source = source._replace(holdings=valuation.value(source.holdings, **pricing))
        else:
            source = source.wf.value(**pricing)
    table, value = _compute_totals(source, wanted, **grouping)
    coverage = coverage_from_attrs(table)
    # With --token, other tokens do not count as filtered.
    coverage = coverage if wanted is None else replace(coverage, filtered=0)
    table = _sort_totals(table, grouping["by"], is_single_token=wanted is not None)
    print_table(totals_table(table, rows, wallets))
    echo()
    if value:
        balances = counted_noun(value.known + value.unpriced + value.unread, "balance")
        gaps = f"{value.unpriced:,} without a price, {value.unread:,} of unknown amount"
        echo(f"Value of {value.known:,} of {balances}: {value.total} ({gaps})")
    if wallets is not None:
        echo("\n".join([*summary_lines(wallets), str(coverage)]))
    write_frames(output, totals=table)
    known = _is_complete(source, table, is_single_token=wanted is not None)
    exit_by_completeness(all_known=known, interrupted=interrupted)


def _is_complete(source: Source, table: pd.DataFrame, *, is_single_token: bool) -> bool:
    """Return whether all wallets were requested, and are known (for the token in the table)."""
    if source.wallets is None:
        return True
    root = None if isinstance(source, FetchFrames) else source.holdings.root
    if root and bulk_files.Layout(root).unfinished.exists():
        return False
    is_known = table["wallets_ok"] == table["wallets_asked"] if is_single_token else True
    return bool(known_mask(source.wallets).all()) and bool(np.all(is_known))


def _read_or_fetch(
    arguments: tuple[str, ...], files: tuple[str, ...], **options: Any
) -> tuple[Source, bool]:
    """Read a file or folder, or fetch wallets. Also return whether a fetch was interrupted."""
    file = holdings_path(arguments, files)
    if file is None:
        details, interrupted = fetch_details(arguments, files=files, **options)
        return FetchFrames(details.holdings, details.wallets), interrupted
    if is_bulk_folder(file):
        return folders.open_wallets(file), False
    source = FetchFrames(*read_saved_frames(file))
    if source.wallets is None:
        missing = "the file of wallets, such as holdings.wallets.csv, is missing in this folder"
        echo(f"Warning: {missing}, so the totals may be incomplete", err=True)
    return source, False


def _compute_totals(
    source: Source, token: TokenLike | None, **grouping: Any
) -> tuple[pd.DataFrame, ValueSummary | None]:
    if not isinstance(source, FetchFrames):
        stored = source.holdings
        if token is None:
            return source.wf.totals(**grouping), chunked.chunked_value_summary(stored)
        rows = chunked.chunked_tokens(stored)
        token = rows.tokens.keys[token_index(rows.holdings, rows.tokens, token)]
        columns = stored.template.holdings.columns
        source = FetchFrames(stored.read_rows({token, UNKNOWN}, [*columns]), source.wallets)
    positions = read_positions(*source, by_snapshot="snapshot" in grouping["by"])
    if token is not None:
        index = token_index(source.holdings, positions.tokens, token)
        positions = _select_token(positions, positions.tokens.codes == index)
    return sums.totals(positions, **grouping), summarize_value(positions.holdings)


def _select_token(positions: Positions, rows: Mask) -> Positions:
    """Return the rows of one token. Wallets that may hold more of this token become unknown."""
    selected = positions.select_rows(rows)
    coverage = mark_unknown_wallets(selected, np.ones(len(selected.holdings), dtype=bool))
    other_chains = ~np.isin(selected.chain_codes, selected.possible_blockchains()[1])
    is_certain = coverage.known | other_chains
    return replace(selected, known=selected.known & is_certain, stale=selected.stale & is_certain)


def _sort_totals(table: pd.DataFrame, by: Sequence[str], *, is_single_token: bool) -> pd.DataFrame:
    """Sort by value, holders or amount, largest first. Rows with equal `by[0]` stay together."""
    keys = [name for name in ("value", "holders") if name in table]
    if is_single_token and not keys and "amount" in table:  # of one token: comparable
        keys = ["amount"]
    ordered = table.sort_values(keys, ascending=False, kind="stable") if keys else table
    if len(by) < 2:  # noqa: PLR2004 - at most one grouping name
        return ordered
    first = ordered.groupby(_KEY_COLUMNS.get(by[0], by[0]), sort=False, dropna=False, observed=True)
    return ordered.iloc[first.ngroup().argsort(kind="stable")]


def _require_grouping_names(by: Collection[str], keep: Collection[str]) -> None:
    """Raise an error if a grouping name is no column of the result, before any request."""
    for name in by:
        if name not in _BY and name not in keep and name not in HOLDING_DTYPES:
            raise click.BadParameter(
                f"{name!r} is not a column of balances. Use {', '.join(_BY)}, or keep a column of "
                f"a .csv file of wallets: --file FILE --keep {shlex.quote(name)}",
                param_hint="'--by'",
            )


@click.command(
    epilog=flags.example(
        "walletframe report --file wallets.txt --output report.html",
        "walletframe report --file people.csv --keep owner --by owner --output report.md",
    )
)
@_arguments
@flags.fetch_options
@click.option(
    "--output",
    metavar="FILE",
    required=True,
    callback=flags.output_path_check([".html", ".md", ".pdf"]),
    help="Write the report to this .html, .md or .pdf file; an existing file is replaced.",
)
@click.option(
    "--title", default="Token holdings", show_default=True, help="The title of the report."
)
@click.option(
    "--static", is_flag=True, help="Draw charts as pictures, so that the page contains no scripts."
)
@click.option(
    "--data", is_flag=True, help="Write the complete data as CSV files beside the report."
)
@click.option(
    "--before",
    metavar="FILE|TIME",
    help="Show the changes since an earlier FILE that fetch wrote, or since a snapshot of this "
    "TIME, such as yesterday.",
)
@flags.price_options
@flags.group_options()
@flags.folder_option
def report(  # noqa: PLR0913 - click passes each option as an argument
    arguments: tuple[str, ...],
    output: Path,
    *,
    files: tuple[str, ...],
    before: str | None,
    prices: str | list[str] | None,
    currency: str | None,
    folder: Path | None,
    static: bool,
    by: tuple[str, ...],
    **options: Any,
) -> None:
    """Write a report on the holdings of WALLETS, or in a FILE that fetch wrote.

    The report can be opened offline and printed. The exit code is 1 if the balances of a wallet are
    unknown. A FOLDER that fetch-to-parquet wrote is loaded completely into memory.
    """
    choices = {name: options.pop(name) for name in ("title", "data", "assets", "bridged")}
    earlier = None if before is None else read_file_or_snapshot(before, folder, _WITHOUT_WALLETS)
    interrupted = False
    if file := holdings_path(arguments, files):
        details = read_saved_details(file, _WITHOUT_WALLETS)
    else:
        _require_grouping_names(by, options["keep"])
        details, interrupted = fetch_details(arguments, files=files, **options)
    if prices is not None or currency is not None:
        valued = valuation.value(details.holdings, prices, currency=currency)
        details = details._replace(holdings=valued)
    written = reports.report(
        details,
        output,
        by=by or None,
        before=earlier,
        images="static" if static else "interactive",
        **choices,
    )
    echo(f"written: {written}")
    drawn = composition.with_values_and_flags(details.holdings)
    coverage = sums.coverage(composition.drop_flagged_spam(drawn), wallets=details.wallets)
    echo(coverage)
    known = coverage.wallets_ok == coverage.wallets_asked
    exit_by_completeness(all_known=known, interrupted=interrupted)
