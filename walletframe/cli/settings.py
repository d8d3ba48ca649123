"""``walletframe settings``, ``cache`` and ``sandbox``: settings, cached answers, simulated data."""

from __future__ import annotations

import os
import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from walletframe.accessor.delegation import LazyPackage
from walletframe.cli import flags
from walletframe.cli.screen import echo
from walletframe.errors import SettingsError
from walletframe.numerals import counted_noun
from walletframe.settings.values import PREFIX, KeyKind, Settings, default_cache, require_endpoint

if TYPE_CHECKING:
    from walletframe import service, transport
else:
    service, transport = map(LazyPackage, ("service", "transport"))

_SIMULATED = "sandbox-*.sqlite"


@click.command(epilog=flags.example("walletframe settings"))
def settings() -> None:
    """Show the settings in force, and where each comes from."""
    chosen = Settings()
    width = max(len(field.name) for field in fields(chosen))
    for field in fields(chosen):
        variable = f"{PREFIX}{field.name.upper()}"
        origin = variable if os.environ.get(variable) else "default"
        value = getattr(chosen, field.name)
        if field.name == "cache" and value is None:
            value = default_cache()
        shown = "not set" if value is None else str(value)
        echo(f"{field.name:<{width}}  {shown:<40} ({origin})")


@click.group(epilog=flags.example("walletframe cache info"))
def cache() -> None:
    """Show or clear the answers that are cached on this machine."""


@cache.command(epilog=flags.example("walletframe cache path"))
def path() -> None:
    """Print the path of the cache file."""
    echo(_path())


@cache.command(epilog=flags.example("walletframe cache info"))
def info() -> None:
    """Show statistics of the cache, the sandbox's answers included."""
    chosen = Settings().cache
    own = [_path()] if chosen is None or isinstance(chosen, Path) else []
    for file in dict.fromkeys([*own, *_simulated()]):
        facts = transport.describe(file)
        echo(f"{facts.path}: {counted_noun(facts.size_bytes, 'byte')}")
        for service, count in facts.answers.items():
            echo(f"  {count:,} of {service}")
        if facts.oldest and facts.newest:
            span = f"{facts.oldest:%Y-%m-%d %H:%M} to {facts.newest:%Y-%m-%d %H:%M}"
            echo(f"  answered from {span} UTC")
        else:
            echo("  no answers are cached")


@cache.command(epilog=flags.example("walletframe cache clear --sandbox"))
@click.option("--sandbox", is_flag=True, help="Delete the sandbox's answers instead.")
def clear(*, sandbox: bool) -> None:
    """Delete the stored answers of the service."""
    for file in _simulated() if sandbox else [_path()]:
        echo(f"{file}: {counted_noun(transport.clear(file), 'answer')} deleted")


def _path() -> Path:
    chosen = Settings().cache
    if chosen is None:
        return default_cache()
    if isinstance(chosen, Path):
        return chosen
    raise SettingsError(f"the cache is not a file: {chosen!r}", hint="unset WALLETFRAME_CACHE")


def _simulated() -> list[Path]:
    return sorted(default_cache().parent.glob(_SIMULATED))


@click.command(epilog=flags.example("walletframe sandbox --latency-s 0.5 --seed 7"))
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
@click.option(
    "--shell",
    type=click.Choice(["posix", "powershell"]),
    default="powershell" if os.name == "nt" else "posix",
    show_default=True,
    help="The shell that the printed lines are for.",
)
def sandbox(port: int, ledger: Path | None, shell: str, **behaviour: Any) -> None:
    """Serve simulated data on this machine until interrupted.

    It prints the settings for its clients as lines of a shell: paste them into another shell, or
    write them to a file and source it. With --ledger the keys are new each time, and nobody can
    read your holdings without them.
    """
    export = _posix if shell == "posix" else _powershell
    with service.Sandbox(service.Behaviour(**behaviour), ledger, port=port) as running:
        keys = {kind: require_endpoint(running.settings(kind))[1] for kind in get_args(KeyKind)}
        pairs = {kind: export(KEY_KIND=kind, API_KEY=key.reveal()) for kind, key in keys.items()}
        echo("# Simulated data. In another shell:")
        echo(export(BASE_URL=running.base_url))
        echo(export(PUBLIC_BASE_URL=running.public_base_url))
        echo(export(SERVICE="sandbox", CACHE=running.settings().cache))
        echo(pairs.pop("private"))
        for pair in pairs.values():
            echo(f"# or: {pair}")
        echo(f"# Its OpenAPI document: {running.openapi_url}")
        echo("# Stop it with Ctrl-C.")
        try:
            running.wait()
        except KeyboardInterrupt:
            echo("Stopped.", err=True)


def _posix(**values: object) -> str:
    named = (f"{PREFIX}{name}={shlex.quote(str(value))}" for name, value in values.items())
    return " ".join(["export", *named])


def _powershell(**values: object) -> str:
    quoted = {name: str(value).replace("'", "''") for name, value in values.items()}
    return "; ".join(f"$env:{PREFIX}{name} = '{value}'" for name, value in quoted.items())
