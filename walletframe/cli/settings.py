"""``walletframe settings``: what is in force, the key masked."""

from __future__ import annotations

import os
from dataclasses import fields

import click

from walletframe.cli.screen import say
from walletframe.settings import PREFIX, Settings
from walletframe.transport import default_path


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
