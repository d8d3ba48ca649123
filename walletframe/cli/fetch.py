"""The commands ``fetch``, ``fetch-to-parquet``, ``balance``, ``demo``, and ``check``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from walletframe.accessor.delegation import LazyPackage
from walletframe.cli import flags, steps
from walletframe.cli.files import write_details, write_frames_if_path
from walletframe.cli.screen import balances_table, echo, print_table
from walletframe.errors import FetchInterrupted, FetchWarning
from walletframe.frames import inspection
from walletframe.frames.known import known_mask, summary_lines
from walletframe.frames.tables import Table, holdings_table, text_cells, wallets_table
from walletframe.numerals import count_with_verb, counted_noun

if TYPE_CHECKING:
    from walletframe import client, node, service
    from walletframe.bulk import run as bulk
    from walletframe.bulk.summary import FetchSummary
    from walletframe.frames.details import WalletDetails
else:
    client, node, service = map(LazyPackage, ("client", "node", "service"))
    bulk = LazyPackage("bulk.run")


@click.command(
    epilog=flags.examples(
        "walletframe fetch NEAR.alice.near --output holdings.csv",
        "walletframe fetch --file people.csv --keep owner --keep name --output holdings.csv",
    )
)
@click.argument("wallets", nargs=-1)
@flags.fetch_options
@flags.output_option
@flags.all_rows_option("balance")
def fetch(wallets: tuple[str, ...], output: Path | None, rows: int | None, **options: Any) -> None:
    """Fetch the tokens of WALLETS, such as ETH.0x52… and NEAR.alice.near.

    The API key is read from the environment variable WALLETFRAME_API_KEY, not from the command
    line. The exit code is 1 if a wallet is not ok.
    """
    details, interrupted = steps.fetch_until_interrupted(wallets, **options)
    if output is not None:
        write_details(details, output)
    _print_details(details, rows)
    steps.exit_by_completeness(all_known=known_mask(details.wallets).all(), interrupted=interrupted)


@click.command(epilog=flags.examples("walletframe check people.csv --keep owner"))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@flags.keep_option
def check(file: Path, keep: tuple[str, ...]) -> None:
    """Check the wallets in FILE, and suggest fixes. No requests are sent.

    The exit code is 1 if there is a problem.
    """
    checked = inspection.check(file, keep=keep)
    problems = checked[checked["problem"].notna()]
    if len(problems):
        columns = {str(name): text_cells(problems[name], missing="") for name in problems}
        print_table(Table("check", columns, len(problems)), exact=True)
    echo(f"{count_with_verb(len(checked) - len(problems), len(checked), 'row')} without a problem.")
    steps.exit_by_completeness(all_known=not len(problems))


@click.command(epilog=flags.examples("walletframe fetch-to-parquet bulk --file wallets.txt"))
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("wallets", nargs=-1)
@flags.wallet_options
def fetch_to_parquet(
    folder: Path, wallets: tuple[str, ...], keep: tuple[str, ...], **options: Any
) -> None:
    """Fetch the tokens of WALLETS into FOLDER, as Parquet files.

    After an error or an interrupt, run the same command again. Wallets that are ok in the folder
    are not requested again. The API key is read from the environment variable WALLETFRAME_API_KEY.
    The exit code is 1 if a wallet is not ok.
    """
    read_options = {name: options.pop(name) for name in ("files", "on_unreadable", "fix")}
    requested, interrupted = steps.read_requested_wallets(wallets, keep=keep, **read_options), False
    with client.Client(**options) as fetcher:
        try:
            summary = bulk.fetch_to_parquet(
                requested, folder, keep=keep, client=fetcher, **steps.NEVER_RAISE
            )
        except FetchInterrupted as stopped:
            interrupted, summary = True, cast("FetchSummary", stopped.details)
    echo(repr(summary))
    all_known = summary.ok_count == summary.wallets
    steps.exit_by_completeness(all_known=all_known, interrupted=interrupted)


@click.command(epilog=flags.examples("walletframe demo"))
@flags.refresh_option
def demo(*, refresh: bool) -> None:
    """Fetch simulated wallets from a sandbox on this machine.

    A second run reads the answers from the cache.
    """
    with service.sandbox(latency_s=0.1) as running, running.client() as fetcher:
        echo(f"Simulated data from a sandbox at {running.base_url}, in place of the service.\n")
        details = fetcher.fetch(
            service.SHOWCASE, refresh=refresh, progress=False, on_failure="ignore"
        )
        _print_details(details, None)
        for row in details.wallets[~known_mask(details.wallets)].itertuples():
            echo(f"Failed: {row.blockchain}.{row.address}: {row.error}")
        cached = int((details.wallets["source"] == "cache").sum())
        answers = f"{cached} of {counted_noun(len(details.wallets), 'answer')}"
        echo(f"{answers} came from the cache {fetcher.settings.cache}")
        if not cached:
            echo("A second run reads the answers for ok wallets from the cache.")


@click.command(
    epilog=flags.examples(
        "walletframe balance ETH.0x1111111111111111111111111111111111111111",
        "walletframe balance --file wallets.txt --block 23000000 \\",
        "  --token 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    )
)
@click.argument("wallets", nargs=-1)
@flags.file_option
@click.option("--token", metavar="ADDRESS", help="The token's contract. Default: the native coin.")
@click.option("--block", type=int, help="The number of the block. Default: the latest block.")
@click.option(
    "--chain-id",
    "chain_ids",
    type=(str, int),
    multiple=True,
    callback=lambda _ctx, _param, pairs: dict(pairs),
    metavar="BLOCKCHAIN ID",
    help="The chain id of a blockchain that walletframe does not know, such as HYPEREVM 999.",
)
@flags.output_option
def balance(
    wallets: tuple[str, ...], files: tuple[str, ...], output: Path | None, **options: Any
) -> None:
    """Read the balances of one token in WALLETS, such as ETH.0x52…, from a node.

    The node's URL is read from the environment variable WALLETFRAME_RPC_URL, not from the command
    line, because other users of the machine can see command lines. The exit code is 1 if a balance
    is unknown.
    """
    requested = steps.read_requested_wallets(wallets, files)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FetchWarning)  # the table shows failures
        frame = node.token_balance(requested, **options)
    write_frames_if_path(output, balances=frame)
    print_table(balances_table(frame), exact=True)
    steps.exit_by_completeness(all_known=(frame["status"] == "ok").all())


def _print_details(details: WalletDetails, rows: int | None) -> None:
    print_table(wallets_table(details.wallets, None))
    echo()
    print_table(holdings_table(details.holdings, rows, wallets=details.wallets))
    echo()
    echo("\n".join(summary_lines(*details)))
