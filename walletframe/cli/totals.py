"""``walletframe totals`` and ``walletframe value``: totals of holdings in one command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from walletframe.analysis import totals as add_up
from walletframe.analysis import value as valued_at
from walletframe.cli.asking import ROWS, all_of, ask, asking, end, priced, with_options
from walletframe.cli.files import output, read_saved, saved_file, write_frame
from walletframe.cli.history import of_token, token_named
from walletframe.cli.screen import say, show
from walletframe.cli.tables import totals_table
from walletframe.frames import find_token, known_wallets, summary_lines, worth
from walletframe.numerals import many

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from walletframe.analysis import By


def _adding_up(command: Callable[..., None]) -> Callable[..., None]:
    return with_options(
        command,
        click.argument("given", nargs=-1, metavar="[FILE | WALLET...]"),
        click.option(
            "--by",
            multiple=True,
            default=["token"],
            show_default="token",
            type=click.Choice(["token", "wallet", "blockchain", "symbol"]),
            help="What to group by; repeat it to combine.",
        ),
        output,
        of_token,
        all_of("group"),
        asking,
    )


@click.command()
@_adding_up
def totals(given: tuple[str, ...], **options: Any) -> None:
    """Add up what wallets hold, exactly: of a FILE that fetch wrote, or of WALLETS.

    The last column tells of how many wallets that could hold some the balances are known. The
    exit code is 1 where that is not all.
    """
    _report(given, lambda holdings: holdings, **options)


@click.command()
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

    What has no price is counted, and not taken for worthless. The exit code is 1 where the
    balances of a wallet are not known.
    """

    def valued(holdings: pd.DataFrame) -> pd.DataFrame:
        return valued_at(holdings, prices, currency=currency, by_symbol=by_symbol)

    _report(given, valued, **options)


def _report(
    given: tuple[str, ...],
    prepare: Callable[[pd.DataFrame], pd.DataFrame],
    by: tuple[By, ...],
    output: Path | None,
    token: str | None,
    *,
    whole: bool,
    **options: Any,
) -> None:
    holdings, wallets, interrupted = _found(given, **options)
    named = token_named(token, holdings)
    if named is not None:
        holdings = holdings[find_token(holdings, named)]
    holdings = prepare(holdings)
    table = add_up(holdings, list(by), wallets=wallets)
    ranks = [name for name in ("value", "holders") if name in table]
    ranks = ["amount"] if named is not None and not ranks else ranks
    if ranks:
        table = table.sort_values(ranks, ascending=False, kind="stable")
    show(totals_table(table, None if whole else ROWS))
    lines = [] if wallets is None else summary_lines(wallets)
    say("\n".join(["", *_value_lines(holdings), *lines]))
    write_frame(table, output, name="totals")
    known = wallets is None or known_wallets(wallets, stale=True).all()
    end(known=known, interrupted=interrupted)


def _found(
    given: tuple[str, ...], files: tuple[str, ...], **options: Any
) -> tuple[pd.DataFrame, pd.DataFrame | None, bool]:
    """Give holdings, the wallets asked where they are known, and whether that was interrupted."""
    file = saved_file(given, files)
    if file is None:
        details, interrupted = ask(given, files=files, **options)
        return details.holdings, details.wallets, interrupted
    holdings, wallets = read_saved(file)
    if wallets is None:
        say(
            "Warning: there is no file of wallets beside it, so it is unknown how complete this is",
            err=True,
        )
    return holdings, wallets, False


def _value_lines(holdings: pd.DataFrame) -> list[str]:
    found = worth(holdings)
    if found is None:
        return []
    gaps = f"{found.unpriced:,} without a price, {found.unread:,} of unknown amount"
    balances = many(len(holdings), "balance")
    return [f"Value of {found.known:,} of {balances}: {found.total} ({gaps})"]
