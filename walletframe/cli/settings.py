"""``walletframe settings`` and ``cache``: the settings in force, and the cached answers."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import click

from walletframe.cli.screen import say
from walletframe.errors import SettingsError
from walletframe.numerals import many
from walletframe.settings import PREFIX, Settings
from walletframe.transport import clear as clear_store
from walletframe.transport import default_path, describe

_SIMULATED = "sandbox-*.sqlite"


@click.command()
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


@click.group()
def cache() -> None:
    """Show or clear the answers kept on this machine."""


@cache.command()
def path() -> None:
    """Print the file in which answers are kept."""
    say(_path())


@cache.command()
def info() -> None:
    """Say what is stored, the sandbox's answers included."""
    for file in _files():
        facts = describe(file)
        say(f"{facts.path}: {many(facts.size_bytes, 'byte')}")
        for service, count in facts.answers.items():
            say(f"  {count:,} of {service}")
        if facts.oldest and facts.newest:
            span = f"{facts.oldest:%Y-%m-%d %H:%M} to {facts.newest:%Y-%m-%d %H:%M}"
            say(f"  answered from {span} UTC")
        else:
            say("  nothing is kept")


@cache.command()
@click.option("--sandbox", is_flag=True, help="Delete the sandbox's answers instead.")
def clear(*, sandbox: bool) -> None:
    """Delete the stored answers of the service."""
    for file in _simulated() if sandbox else [_path()]:
        say(f"{file}: {many(clear_store(file), 'answer')} forgotten")


def _path() -> Path:
    chosen = Settings().cache
    if chosen is None:
        return default_path()
    if isinstance(chosen, Path):
        return chosen
    raise SettingsError(f"the cache is not a file: {chosen!r}", hint="unset WALLETFRAME_CACHE")


def _files() -> list[Path]:
    chosen = Settings().cache
    own = [_path()] if chosen is None or isinstance(chosen, Path) else []
    return list(dict.fromkeys([*own, *_simulated()]))


def _simulated() -> list[Path]:
    return sorted(default_path().parent.glob(_SIMULATED))
