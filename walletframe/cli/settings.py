"""The commands ``settings``, ``cache`` and ``sandbox``."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from walletframe.accessor.delegation import LazyPackage
from walletframe.cli import flags
from walletframe.cli.screen import echo
from walletframe.errors import SettingsError
from walletframe.numerals import counted_noun
from walletframe.settings.sources import PREFIX, Entry
from walletframe.settings.tables import table_defaults
from walletframe.settings.values import (
    KeyKind,
    Settings,
    default_cache_path,
    endpoint_and_key,
    read_files_and_environment,
)

if TYPE_CHECKING:
    from walletframe import service, transport
else:
    service, transport = map(LazyPackage, ("service", "transport"))


@click.command(epilog=flags.examples("walletframe settings"))
def settings() -> None:
    """Show the value and the source of each setting."""
    entries = read_files_and_environment()
    chosen = Settings()
    value_by_name: dict[str, Any] = {name: getattr(chosen, name) for name in Settings.__slots__}
    value_by_name |= table_defaults()._asdict()
    if value_by_name["cache"] is None:
        value_by_name["cache"] = default_cache_path()
    width = max(map(len, value_by_name))
    for name, value in value_by_name.items():
        entry = entries.get(name, Entry("default", None))
        values = value if isinstance(value, list) else [value]
        text = "not set" if value is None else ", ".join(map(str, values))
        echo(f"{name:<{width}}  {text:<40} ({entry.file or entry.source})")


@click.group(epilog=flags.examples("walletframe cache info"))
def cache() -> None:
    """Show or delete the answers that are cached on this machine."""


@cache.command("path", epilog=flags.examples("walletframe cache path"))
def print_cache_path() -> None:
    """Print the path of the cache file."""
    echo(_cache_file())


@cache.command("info", epilog=flags.examples("walletframe cache info"))
def print_cache_info() -> None:
    """Show statistics of all cache files, including those of sandboxes."""
    chosen = Settings().cache
    configured = [_cache_file()] if chosen is None or isinstance(chosen, Path) else []
    for file in dict.fromkeys([*configured, *_sandbox_cache_files()]):
        statistics = transport.cache_statistics(file)
        echo(f"{statistics.path}: {counted_noun(statistics.size_bytes, 'byte')}")
        for service, count in statistics.answers.items():
            echo(f"  {counted_noun(count, 'answer')} of {service}")
        if statistics.oldest and statistics.newest:
            span = f"{statistics.oldest:%Y-%m-%d %H:%M} to {statistics.newest:%Y-%m-%d %H:%M}"
            echo(f"  answers dated {span} UTC")
        else:
            echo("  no cached answers")


@cache.command("clear", epilog=flags.examples("walletframe cache clear --sandbox"))
@flags.flag("--sandbox", help="Delete the answers of sandboxes instead.")
def clear_cache(*, sandbox: bool) -> None:
    """Delete the cached answers of the service."""
    for file in _sandbox_cache_files() if sandbox else [_cache_file()]:
        echo(f"{file}: {counted_noun(transport.clear_cache(file), 'answer')} deleted")


def _cache_file() -> Path:
    if (chosen := Settings().cache) is None:
        return default_cache_path()
    if isinstance(chosen, Path):
        return chosen
    hint = "unset WALLETFRAME_CACHE, or remove the setting `cache` from walletframe.toml"
    raise SettingsError(f"the setting `cache` is {chosen!r}, so there is no cache file", hint)


def _sandbox_cache_files() -> list[Path]:
    return sorted(default_cache_path().parent.glob("sandbox-*.sqlite"))


@click.command(epilog=flags.examples("walletframe sandbox --latency-s 0.5 --seed 7"))
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default="a free port", help="The port."
)
@click.option("--latency-s", default=0.0, help="Seconds of delay per requested wallet.")
@click.option("--failure-share", default=0.0, help="Share of wallets that fail, from 0 to 1.")
@click.option("--seed", default=0, help="Seed of the simulated holdings.")
@click.option("--requests-per-second", type=float, help="Rate limit per IP address and API key.")
@click.option(
    "--ledger",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Serve the holdings in this .json or .parquet file.",
)
@click.option(
    "--shell",
    type=click.Choice(["posix", "powershell"]),
    default="powershell" if os.name == "nt" else "posix",
    show_default=True,
    help="The shell whose syntax is used to print the settings.",
)
def sandbox(port: int, ledger: Path | None, shell: str, **behaviour: Any) -> None:
    """Run a sandbox with simulated data on this machine, until you press Ctrl-C.

    The command prints the settings of a client as shell commands. Paste these commands into another
    shell, or write them to a file and source it. With --ledger, each run has new API keys. Only
    requests with one of these keys can read the holdings.
    """
    export = _posix_export if shell == "posix" else _powershell_export
    with service.Sandbox(service.Behaviour(**behaviour), ledger, port=port) as running:
        keys = {kind: endpoint_and_key(running.settings(kind))[1] for kind in get_args(KeyKind)}
        pairs = {kind: export(KEY_KIND=kind, API_KEY=key.reveal()) for kind, key in keys.items()}
        echo("# Simulated data. Run these commands in another shell:")
        echo(export(BASE_URL=running.base_url))
        echo(export(PUBLIC_BASE_URL=running.public_base_url))
        echo(export(SERVICE="sandbox", CACHE=running.settings().cache))
        echo(pairs.pop("private"))
        for pair in pairs.values():
            echo(f"# or: {pair}")
        echo(f"# OpenAPI document: {running.openapi_url}")
        echo("# Press Ctrl-C to stop the sandbox.")
        try:
            running.wait()
        except KeyboardInterrupt:
            echo("Stopped.", err=True)


def _posix_export(**values: object) -> str:
    pairs = (f"{PREFIX}{name}={shlex.quote(str(value))}" for name, value in values.items())
    return " ".join(["export", *pairs])


def _powershell_export(**values: object) -> str:
    quoted = {name: str(value).replace("'", "''") for name, value in values.items()}
    return "; ".join(f"$env:{PREFIX}{name} = '{value}'" for name, value in quoted.items())
