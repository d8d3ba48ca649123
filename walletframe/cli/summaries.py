"""``walletframe totals``, ``value`` and ``report``: what a fetch, or a file of one, amounts to."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from walletframe.analysis import value as valued_at
from walletframe.cli.asking import ask, end
from walletframe.cli.files import file_or_snapshot, saved_details, saved_file, write_frame
from walletframe.cli.options import (
    all_of,
    asking,
    example,
    grouped,
    in_folder,
    of_asset,
    of_token,
    output,
    output_path,
    priced,
    together,
)
from walletframe.cli.screen import say, show, totals_table
from walletframe.cli.sources import found
from walletframe.frames import (
    HOLDING_DTYPES,
    known_wallets,
    stale_wallets,
    summary_lines,
)
from walletframe.numerals import many
from walletframe.reports import SUFFIXES
from walletframe.reports import report as write_report

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    import pandas as pd

    from walletframe.cli.sources import Source


_BY = ("token", "asset", "wallet", "blockchain")
_COLUMNS = {  # those that name a group, where that is more than its own
    "wallet": ["blockchain", "address"],
    "token": ["token_blockchain", "token_address"],
    "symbol": ["token_blockchain", "token_address"],
}
_WITHOUT_WALLETS = "what failed is unknown"

_adding_up = together(
    click.argument("given", nargs=-1, metavar="[FILE | FOLDER | WALLET...]"),
    grouped("token"),
    output,
    of_token,
    all_of("group"),
    asking,
)


@click.command(
    epilog=example(
        "walletframe totals NEAR.alice.near --by wallet",
        "walletframe totals holdings.csv --by wallet --by token --output totals.csv",
        "walletframe totals --file people.csv --keep owner --by owner --by asset",
        "walletframe totals bulk --by asset",
    )
)
@_adding_up
def totals(given: tuple[str, ...], **options: Any) -> None:
    """Add up what wallets hold, exactly: of a FILE that fetch wrote, or of WALLETS.

    The last column tells of how many wallets that could hold some the balances are known. The
    exit code is 1 where that is not all. A FOLDER of fetch-to-parquet may be larger than memory.
    """
    _add_up(given, lambda source: source, **options)


@click.command(
    epilog=example("walletframe value holdings.csv --prices prices.csv --currency USD --by wallet")
)
@priced
@click.option("--by-symbol", is_flag=True, help="The prices are by symbol: columns symbol, price.")
@_adding_up
def value(
    given: tuple[str, ...],
    prices: str | None,
    currency: str | None,
    *,
    by_symbol: bool,
    **options: Any,
) -> None:
    """Value what wallets hold: of a FILE that fetch wrote, or of WALLETS.

    Prices are by contract, or by asset, such as USDC. What has no price is counted, and not taken
    for worthless. The exit code is 1 where the balances of a wallet are not known. A FOLDER of
    fetch-to-parquet may be larger than memory.
    """
    how: dict[str, Any] = {"prices": prices, "currency": currency, "by_symbol": by_symbol}
    if not by_symbol:
        how |= {"assets": options["assets"], "bridged": options["bridged"]}
    if "asset" not in options["by"] and not by_symbol:  # they are for the prices alone
        options |= {"assets": None, "bridged": False}
    _add_up(given, lambda source: source.value(**how), **options)  # of all, then of a token


def _add_up(
    given: tuple[str, ...],
    prepare: Callable[[Source], Source],
    output: Path | None,
    token: str | None,
    rows: int | None,
    **options: Any,
) -> None:
    grouping = {name: options.pop(name) for name in ("by", "assets", "bridged")}
    if saved_file(given, options["files"]) is None:
        _require_names(grouping["by"], options["keep"])
    source, interrupted = found(given, **options)
    wallets, named = source.wallets, source.named(token)
    table, value = prepare(source).totals(named, **grouping)
    table = _ordered(table, grouping["by"], of_one=named is not None)
    show(totals_table(table, rows, wallets))
    say()
    if value:
        balances = many(value.known + value.unpriced + value.unread, "balance")
        gaps = f"{value.unpriced:,} without a price, {value.unread:,} of unknown amount"
        say(f"Value of {value.known:,} of {balances}: {value.total} ({gaps})")
    if wallets is not None:
        say("\n".join(summary_lines(wallets)))
    write_frame(table, output, name="totals")
    known = wallets is None or known_wallets(wallets).all()
    end(known=known, interrupted=interrupted)


def _ordered(table: pd.DataFrame, by: Sequence[str], *, of_one: bool) -> pd.DataFrame:
    """Put what is most first; of groups of several kinds, below what is most of the first kind."""
    ranks = [name for name in ("value", "holders") if name in table]
    if of_one and not ranks and "amount" in table:  # those of several are not compared
        ranks = ["amount"]
    ordered = table.sort_values(ranks, ascending=False, kind="stable") if ranks else table
    if len(by) < 2:  # noqa: PLR2004  one kind of groups
        return ordered
    first = ordered.groupby(_COLUMNS.get(by[0], by[0]), sort=False, dropna=False, observed=True)
    return ordered.iloc[first.ngroup().argsort(kind="stable")]


@click.command(
    epilog=example(
        "walletframe share --asset NEAR NEAR.alice.near",
        "walletframe share holdings.csv --token NEAR. --by blockchain",
        "walletframe share --file people.csv --keep owner --asset USDC --by owner --by blockchain",
    )
)
@click.argument("given", nargs=-1, metavar="[FILE | FOLDER | WALLET...]")
@of_asset
@of_token
@grouped("wallet")
@output
@all_of("group")
@asking
def share(
    given: tuple[str, ...],
    token: str | None,
    output: Path | None,
    rows: int | None,
    **options: Any,
) -> None:
    """Say how much of one token or asset each group holds: of a FILE that fetch wrote, or WALLETS.

    The last column tells of how many wallets that could hold some the balances are known. The
    exit code is 1 where that is not all. A FOLDER of fetch-to-parquet may be larger than memory.
    """
    wanted = {name: options.pop(name) for name in ("asset", "by", "assets", "bridged")}
    if (wanted["asset"] is None) == (token is None):
        raise click.UsageError("name one thing: --asset, such as USDC, or --token")
    if saved_file(given, options["files"]) is None:
        _require_names(wanted["by"], options["keep"])
    source, interrupted = found(given, **options)
    table = source.share(source.named(token), **wanted)
    show(totals_table(table, rows, source.wallets))
    write_frame(table, output, name="share")
    known = source.wallets is None or bool((table["wallets_ok"] == table["wallets_asked"]).all())
    end(known=known, interrupted=interrupted)


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
    epilog=example(
        "walletframe report --file wallets.txt --output report.html",
        "walletframe report --file people.csv --keep owner --by owner --output report.md",
    )
)
@click.argument("given", nargs=-1, metavar="[FILE | FOLDER | WALLET...]")
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
@grouped("")
@in_folder
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
        details = details._replace(holdings=valued_at(details.holdings, prices, currency=currency))
    written = write_report(
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
