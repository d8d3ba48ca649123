"""``walletframe settings``: what is in force, the key masked."""

from __future__ import annotations

import os
from dataclasses import fields

import click

from walletframe.settings import PREFIX, Settings


@click.command()
def settings() -> None:
    """Show the settings in force, and where each comes from."""
    chosen = Settings()
    for field in fields(chosen):
        variable = f"{PREFIX}{field.name.upper()}"
        origin = variable if os.environ.get(variable) else "default"
        value = getattr(chosen, field.name)
        click.echo(f"{field.name:<16} {'not set' if value is None else value!s:<40} ({origin})")
