"""``walletframe sandbox``: the simulated service in the foreground."""

from __future__ import annotations

from pathlib import Path

import click

from walletframe.service import SANDBOX_KEYS, Sandbox


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="any free one",
    help="Where to listen.",
)
@click.option("--latency-s", default=0.0, help="Seconds an answer takes for each wallet.")
@click.option("--failure-share", default=0.0, help="Share of wallets that fail, from 0 to 1.")
@click.option("--seed", default=0, help="What the holdings are drawn from.")
@click.option("--requests-per-second", type=float, help="Limit for each IP address and key.")
@click.option(
    "--ledger",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Serve the holdings of this .json or .parquet file.",
)
def sandbox(
    port: int,
    latency_s: float,
    failure_share: float,
    seed: int,
    requests_per_second: float | None,
    ledger: Path | None,
) -> None:
    """Serve simulated data on this machine until interrupted.

    What it prints are the settings that reach it.
    """
    with Sandbox(
        ledger=ledger,
        port=port,
        latency_s=latency_s,
        failure_share=failure_share,
        seed=seed,
        requests_per_second=requests_per_second,
    ) as service:
        click.echo("Simulated data. In another shell:\n")
        click.echo(f"export WALLETFRAME_BASE_URL={service.base_url}")
        click.echo(f"export WALLETFRAME_PUBLIC_BASE_URL={service.public_base_url}")
        click.echo(
            f"export WALLETFRAME_SERVICE=sandbox WALLETFRAME_CACHE={service.settings().cache}"
        )
        for kind, known in SANDBOX_KEYS.items():
            lead = "" if kind == "private" else "# or: "
            click.echo(f"{lead}export WALLETFRAME_KEY_KIND={kind} WALLETFRAME_API_KEY={known.key}")
        click.echo(f"\nIts OpenAPI document: {service.openapi_url}\nStop it with Ctrl-C.")
        try:
            service.wait()
        except KeyboardInterrupt:
            click.echo("Stopped.")
