"""The commands ``totals`` and ``report``, which summarize wallets, a file or a folder."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click

from walletframe.accessor.delegation import LazyPackage
from walletframe.cli import flags
from walletframe.cli.files import (
    holdings_path,
    is_bulk_folder,
    read_file_or_snapshot,
    read_saved_details,
    read_saved_frames,
    write_frames_if_path,
)
from walletframe.cli.screen import echo, print_table, totals_table, with_option_names
from walletframe.cli.steps import exit_by_coverage, fetch_until_interrupted, parse_token
from walletframe.frames.groups import KINDS
from walletframe.frames.known import ValueSummary, summarize_value, summary_lines
from walletframe.frames.positions import read_positions
from walletframe.frames.results import coverage_from_attrs
from walletframe.frames.schema import HOLDING_DTYPES
from walletframe.numerals import counted_noun
from walletframe.settings.tables import table_defaults

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    import pandas as pd

    from walletframe import reports
    from walletframe.accessor import folder as folders
    from walletframe.accessor.folder import StoredWallets
    from walletframe.analysis import chunked, selection, sums, valuation
    from walletframe.reports import composition
else:
    folders, valuation = map(LazyPackage, ("accessor.folder", "analysis.valuation"))
    chunked, sums = map(LazyPackage, ("analysis.chunked", "analysis.sums"))
    selection = LazyPackage("analysis.selection")
    reports, composition = map(LazyPackage, ("reports", "reports.composition"))

_BY = ("asset", "token", "wallet", "blockchain")
_TOKEN = ["token_blockchain", "token_address"]
_KEY_COLUMNS = {"wallet": ["blockchain", "address"], "token": _TOKEN, "symbol": _TOKEN}
_WITHOUT_WALLETS = "it is not known which wallets failed"

_arguments = click.argument("arguments", nargs=-1, metavar="[FILE | FOLDER | WALLET...]")


class FetchFrames(NamedTuple):
    """The holdings and wallets of a fetch. `wallets` is None if only holdings were saved."""

    holdings: pd.DataFrame
    wallets: pd.DataFrame | None


Source: TypeAlias = "FetchFrames | StoredWallets"


@click.command(
    epilog=flags.examples(
        "walletframe totals NEAR.alice.near --by wallet",
        "walletframe totals holdings.csv --by wallet --by token --output totals.csv",
        "walletframe totals holdings.csv --prices prices.csv --currency USD --by wallet",
        "walletframe totals --file people.csv --keep owner --by owner --by asset",
        "walletframe totals bulk --by asset",
    )
)
@_arguments
@flags.grouping_and_asset_options("asset, or token with --token")
@flags.output_option
@flags.tokens_option
@click.option(
    "--asset",
    multiple=True,
    callback=flags.one_or_list,
    metavar="NAME",
    help="Show only this asset, such as USDC, with all its contracts. Can be repeated.",
)
@flags.price_options
@flags.flag("--by-symbol", help="Find prices by symbol. They have the columns symbol and price.")
@flags.with_spam_option
@flags.all_rows_option("group")
@flags.fetch_options
def totals(
    arguments: tuple[str, ...],
    output: Path | None,
    token: str | list[str] | None,
    rows: int | None,
    *,
    asset: str | list[str] | None,
    with_spam: bool,
    **options: Any,
) -> None:
    """Show exact totals of the holdings of WALLETS or of a FILE that fetch wrote.

    With --asset or --token, the table has amounts by asset or token. With --prices, --currency or
    the setting prices, the table has values, and counts the balances without a price. In the last
    column, 3/4 means that 3 of 4 wallets that could hold the asset are known. The exit code is 1 if
    a wallet or an amount is unknown. With --asset or --token, it is also 1 if a token is unknown,
    but wallets that can't hold the asset or token don't affect it. A FOLDER that fetch-to-parquet
    wrote can be larger than memory. In a FOLDER of snapshots, the newest snapshot is read.
    """
    pricing = {name: options.pop(name) for name in ("prices", "currency", "by_symbol")}
    asset_options = {name: options.pop(name) for name in ("assets", "bridged")}
    by, kind = options.pop("by"), "asset" if token is None else "token"
    if not by or ((token or asset) and KINDS.isdisjoint(by)):
        by = (*by, kind)
    if holdings_path(arguments, options["files"]) is None:
        _require_grouping_names(by, options["keep"])
    source, interrupted = _read_or_fetch_until_interrupted(arguments, **options)
    wallets = source.wallets
    price_options = (*pricing.values(), table_defaults().prices)
    if any(each is not None and each is not False for each in price_options):
        pricing |= {} if pricing["by_symbol"] else asset_options
        if isinstance(source, FetchFrames):
            source = source._replace(holdings=valuation.value(source.holdings, **pricing))
        else:
            source = source.wf.value(**pricing)
    filters: dict[str, Any] = {} if token is None else {"token": token}
    filters |= {"asset": asset, **asset_options} if asset else {}
    # Without groups by asset, --assets and --bridged apply only to prices or to --asset.
    is_by_asset = "asset" in by or not (asset or "assets" in pricing)
    grouping = {"by": by} | (asset_options if is_by_asset else {})
    table, value = _compute_totals_and_value(source, filters, with_spam=with_spam, **grouping)
    coverage = coverage_from_attrs(table)
    table = _sort_totals(table, by, is_comparable=isinstance(token or asset, str))
    write_frames_if_path(output, totals=table)
    print_table(totals_table(table, rows, wallets))
    echo()
    if value:
        balances = counted_noun(value.known + value.unpriced + value.unread, "balance")
        gaps = f"{value.unpriced:,} without a price, {value.unread:,} of unknown amount"
        echo(f"Value: {value.total}, from {value.known:,} of {balances} ({gaps})")
    if wallets is not None:
        echo("\n".join(summary_lines(wallets)))
    echo(with_option_names(coverage))
    exit_by_coverage(coverage, interrupted=interrupted)


def _read_or_fetch_until_interrupted(
    arguments: tuple[str, ...], files: tuple[str, ...], **options: Any
) -> tuple[Source, bool]:
    if (file := holdings_path(arguments, files)) is None:
        details, interrupted = fetch_until_interrupted(arguments, files=files, **options)
        return FetchFrames(details.holdings, details.wallets), interrupted
    if is_bulk_folder(file):
        return folders.open_wallets(file), False
    source = FetchFrames(*read_saved_frames(file))
    if source.wallets is None:
        missing = "the file of wallets, such as holdings.wallets.csv, is missing in this folder"
        echo(f"Warning: {missing}, so the totals may be incomplete", err=True)
    return source, False


def _compute_totals_and_value(
    source: Source, filters: dict[str, Any], *, with_spam: bool, **grouping: Any
) -> tuple[pd.DataFrame, ValueSummary | None]:
    by_snapshot = "snapshot" in grouping["by"]
    if filters:
        selected = _holdings_of_tokens(source, **filters)
    elif isinstance(source, FetchFrames):
        selected = selection.where_in_fetch(*source, spam=None if with_spam else False).holdings
    else:
        stored = source.holdings
        if not with_spam:  # unlike the method without_spam, this does not warn
            flagged: Any = source.wf.flag_spam().holdings
            stored = stored.without_spam(flagged.flags, flagged.unknown_rows)
        return chunked.chunked_totals(stored, **grouping), chunked.chunked_value_summary(stored)
    positions = read_positions(selected, source.wallets, by_snapshot=by_snapshot)
    return sums.totals(positions, **grouping), summarize_value(selected)


def _holdings_of_tokens(source: Source, token: Any = None, **asset_options: Any) -> pd.DataFrame:
    if isinstance(source, FetchFrames):
        token_option = parse_token(token, source.holdings)
        return selection.where_in_fetch(*source, token=token_option, **asset_options).holdings
    stored = source.holdings
    token_option = token and parse_token(token, chunked.read_token_symbol_pairs(stored).holdings)
    return source.wf.where(token=token_option, **asset_options).holdings


def _sort_totals(table: pd.DataFrame, by: Sequence[str], *, is_comparable: bool) -> pd.DataFrame:
    """Sort by value, holders or amount, largest first. Keep rows of the same `by[0]` together."""
    keys = [name for name in ("value", "holders") if name in table]
    if is_comparable and "value" not in table:
        keys = ["amount"]
    ordered = table.sort_values(keys, ascending=False, kind="stable") if keys else table
    if len(by) < 2:  # noqa: PLR2004 - at most one grouping name
        return ordered
    first = ordered.groupby(_KEY_COLUMNS.get(by[0], by[0]), sort=False, dropna=False, observed=True)
    return ordered.iloc[first.ngroup().argsort(kind="stable")]


def _require_grouping_names(by: Collection[str], keep: Collection[str]) -> None:
    for name in by:
        if name not in _BY and name not in keep and name not in HOLDING_DTYPES:
            raise click.BadParameter(
                f"{name!r} is not a column of balances. Use {', '.join(_BY)}. To group by a column "
                f"of a .csv file of wallets, add: --file FILE --keep {shlex.quote(name)}",
                param_hint="'--by'",
            )


@click.command(
    epilog=flags.examples(
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
@click.option("--title", default="Token holdings", show_default=True, help="The report's title.")
@flags.flag("--static", help="Draw charts as pictures, so that the page contains no scripts.")
@flags.flag("--data", help="Write the complete data as CSV files beside the report.")
@click.option(
    "--before",
    metavar="FILE|FOLDER|TIME",
    help="Show the changes since an earlier FILE that fetch wrote, since an earlier FOLDER of "
    "fetch-to-parquet or of snapshots, or since the snapshot of a TIME, such as yesterday.",
)
@flags.price_options
@flags.with_spam_option
@flags.grouping_and_asset_options("owner, if there is this column, or else wallet")
@flags.folder_option
def report(  # noqa: PLR0913 - click passes each option as an argument
    arguments: tuple[str, ...],
    output: Path,
    before: str | None,
    folder: Path | None,
    *,
    files: tuple[str, ...],
    static: bool,
    with_spam: bool,
    by: tuple[str, ...],
    **options: Any,
) -> None:
    """Write a report on the holdings of WALLETS or of a FILE that fetch wrote.

    The report can be opened offline and printed. The exit code is 1 if a wallet or an amount is
    unknown. A FOLDER that fetch-to-parquet wrote is loaded completely into memory. In a FOLDER of
    snapshots, the newest snapshot is read.
    """
    choices = {name: options.pop(name) for name in ("title", "data", "assets", "bridged")}
    pricing = {name: options.pop(name) for name in ("prices", "currency")}
    earlier = None if before is None else read_file_or_snapshot(before, folder, _WITHOUT_WALLETS)
    if file := holdings_path(arguments, files):
        details, interrupted = read_saved_details(file, _WITHOUT_WALLETS), False
    else:
        _require_grouping_names(by, options["keep"])
        details, interrupted = fetch_until_interrupted(arguments, files=files, **options)
    if any(each is not None for each in pricing.values()):
        details = details._replace(holdings=valuation.value(details.holdings, **pricing))
    if with_spam:
        details = details._replace(holdings=details.holdings.assign(is_spam=False))
        earlier = earlier and earlier._replace(holdings=earlier.holdings.assign(is_spam=False))
    choices |= {"by": by or None, "before": earlier}
    choices["images"] = "static" if static else "interactive"
    written = reports.report(details, output, **choices)
    echo(f"written: {written}")
    drawn = selection.where(composition.add_values_if_priced(details.holdings), spam=False)
    coverage = sums.coverage(drawn, wallets=details.wallets)
    echo(with_option_names(coverage))
    exit_by_coverage(coverage, interrupted=interrupted)
