"""``walletframe sandbox``: the simulated service in the foreground."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from walletframe.cli.screen import say
from walletframe.service import Behaviour, Sandbox
from walletframe.settings import PREFIX, KeyKind, require_endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

_KINDS: tuple[KeyKind, ...] = ("private", "public", "test")


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
@click.option("--seed", default=0, help="Seed of the simulated holdings.")
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

    What it prints are the settings that reach it, as lines for a shell: paste them into another one
    as they are, or write them to a file and source it. With --ledger the keys among them are new
    each time, and nobody reaches your holdings without them.
    """
    behaviour = Behaviour(
        latency_s=latency_s,
        failure_share=failure_share,
        seed=seed,
        requests_per_second=requests_per_second,
    )
    with Sandbox(behaviour, ledger, port=port) as service:
        say("\n".join(_lines(service)))
        try:
            service.wait()
        except KeyboardInterrupt:
            say("Stopped.", err=True)


def _lines(service: Sandbox) -> Iterator[str]:
    """Say how to reach it, in lines that a shell runs as they stand."""
    yield "# Simulated data. In another shell:"
    yield _export(BASE_URL=service.base_url)
    yield _export(PUBLIC_BASE_URL=service.public_base_url)
    yield _export(SERVICE="sandbox", CACHE=service.settings().cache)
    for kind in _KINDS:
        _, key = require_endpoint(service.settings(kind))
        lead = "" if kind == "private" else "# or: "
        yield lead + _export(KEY_KIND=kind, API_KEY=key.reveal())
    yield f"# Its OpenAPI document: {service.openapi_url}"
    yield "# Stop it with Ctrl-C."


def _export(**values: object) -> str:
    named = (f"{PREFIX}{name}={shlex.quote(str(value))}" for name, value in values.items())
    return " ".join(["export", *named])
