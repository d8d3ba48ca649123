"""``walletframe settings``, ``cache`` and ``sandbox``: what is set, kept, and there to try out."""

from __future__ import annotations

import os
import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from walletframe.cli.options import example
from walletframe.cli.screen import say
from walletframe.errors import SettingsError
from walletframe.numerals import many
from walletframe.service import Behaviour, Sandbox
from walletframe.settings import PREFIX, KeyKind, ServerUrl, Settings, require_endpoint
from walletframe.transport import clear as clear_store
from walletframe.transport import default_path, describe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_KINDS: tuple[KeyKind, ...] = ("private", "public", "test")
_SIMULATED = "sandbox-*.sqlite"


@click.command(epilog=example("walletframe settings"))
def settings() -> None:
    """Show the settings in force, and where each comes from."""
    chosen = Settings()
    width = max(len(field.name) for field in fields(chosen))
    for field in fields(chosen):
        variable = f"{PREFIX}{field.name.upper()}"
        origin = variable if os.environ.get(variable) else "default"
        value = getattr(chosen, field.name)
        if field.name == "cache" and value is None:
            value = default_path()
        shown = "not set" if value is None else str(value)
        say(f"{field.name:<{width}}  {shown:<40} ({origin})")


@click.group(epilog=example("walletframe cache info"))
def cache() -> None:
    """Show or clear the answers that are kept, on this machine or in a Redis."""


@cache.command(epilog=example("walletframe cache path"))
def path() -> None:
    """Print the file in which answers are kept."""
    say(_path())


@cache.command(epilog=example("walletframe cache info"))
def info() -> None:
    """Say what is stored, the sandbox's answers included."""
    chosen = Settings().cache
    if isinstance(chosen, ServerUrl):
        from walletframe.transport.redis import kept_in  # noqa: PLC0415 - an extra

        answers, size = kept_in(chosen)
        say(f"{chosen.place}: {many(size, 'byte')}")
        say(f"  {many(answers, 'answer')}, expired ones included")
    own = [_path()] if chosen is None or isinstance(chosen, Path) else []
    for file in dict.fromkeys([*own, *_simulated()]):
        facts = describe(file)
        say(f"{facts.path}: {many(facts.size_bytes, 'byte')}")
        for service, count in facts.answers.items():
            say(f"  {count:,} of {service}")
        if facts.oldest and facts.newest:
            span = f"{facts.oldest:%Y-%m-%d %H:%M} to {facts.newest:%Y-%m-%d %H:%M}"
            say(f"  answered from {span} UTC")
        else:
            say("  nothing is kept")


@cache.command(epilog=example("walletframe cache clear --sandbox"))
@click.option("--sandbox", is_flag=True, help="Delete the sandbox's answers instead.")
def clear(*, sandbox: bool) -> None:
    """Delete the stored answers of the service; in a Redis those of all who share it."""
    chosen = Settings().cache
    if isinstance(chosen, ServerUrl) and not sandbox:
        from walletframe.transport import redis  # noqa: PLC0415 - an extra

        say(f"{chosen.place}: {many(redis.clear(chosen), 'answer')} forgotten")
        return
    for file in _simulated() if sandbox else [_path()]:
        say(f"{file}: {many(clear_store(file), 'answer')} forgotten")


def _path() -> Path:
    chosen = Settings().cache
    if chosen is None:
        return default_path()
    if isinstance(chosen, Path):
        return chosen
    raise SettingsError(f"the cache is not a file: {chosen!r}", hint="unset WALLETFRAME_CACHE")


def _simulated() -> list[Path]:
    return sorted(default_path().parent.glob(_SIMULATED))


@click.command(epilog=example("walletframe sandbox --latency-s 0.5 --seed 7"))
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

    What it prints are the settings that reach it, as lines for a shell: paste them into another one
    as they are, or write them to a file and source it. With --ledger the keys among them are new
    each time, and nobody reaches your holdings without them.
    """
    with Sandbox(Behaviour(**behaviour), ledger, port=port) as service:
        say("\n".join(_lines(service, _SHELLS[shell])))
        try:
            service.wait()
        except KeyboardInterrupt:
            say("Stopped.", err=True)


def _lines(service: Sandbox, export: Callable[..., str]) -> Iterator[str]:
    """Say how to reach it, in lines that a shell runs as they stand."""
    yield "# Simulated data. In another shell:"
    yield export(BASE_URL=service.base_url)
    yield export(PUBLIC_BASE_URL=service.public_base_url)
    yield export(SERVICE="sandbox", CACHE=service.settings().cache)
    for kind in _KINDS:
        _, key = require_endpoint(service.settings(kind))
        lead = "" if kind == "private" else "# or: "
        yield lead + export(KEY_KIND=kind, API_KEY=key.reveal())
    yield f"# Its OpenAPI document: {service.openapi_url}"
    yield "# Stop it with Ctrl-C."


def _posix(**values: object) -> str:
    named = (f"{PREFIX}{name}={shlex.quote(str(value))}" for name, value in values.items())
    return " ".join(["export", *named])


def _powershell(**values: object) -> str:
    quoted = {name: str(value).replace("'", "''") for name, value in values.items()}
    return "; ".join(f"$env:{PREFIX}{name} = '{value}'" for name, value in quoted.items())


_SHELLS = {"posix": _posix, "powershell": _powershell}
