"""What commands on snapshots share: where they lie, and how to look at one symbol alone."""

from __future__ import annotations

from pathlib import Path

import click

in_folder = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where snapshots are kept. Default: in the user's data folder.",
)
of_symbol = click.option(
    "--symbol", help="Only the tokens that bear this symbol, whatever their contracts."
)
