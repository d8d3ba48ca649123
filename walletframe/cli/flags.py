"""The options that several commands have."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Command: TypeAlias = "Callable[..., Any]"
_Option: TypeAlias = "Callable[[_Command], _Command]"

_ROWS = 40
_file = partial(click.option, "--file", "files", multiple=True, metavar="FILE")


def together(*options: _Option) -> _Option:
    """Make one decorator of several, in the order in which help lists the options."""

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def example(*lines: str) -> str:
    """Write the end of a command's help: lines that a shell runs as they stand."""
    head = "Example:" if len(lines) == 1 else "Examples:"
    return "\n".join(["\b", head, *(f"  {line}" for line in lines)])  # \b: lines are not joined


_naming = together(
    _file(
        help="Read wallets from FILE: one <BLOCKCHAIN>.<ADDRESS> a line, # begins a comment; or a "
        ".csv with the columns blockchain and address, or one column of them. - is standard input. "
        "At most 5 million lines and 256 million characters are read.",
    ),
    click.option(
        "--keep",
        multiple=True,
        metavar="NAME",
        help="Keep this column of a .csv FILE beside its wallets, such as owner; name names them. "
        "Can be given several times.",
    ),
    click.option(
        "--on-unreadable",
        type=click.Choice(["raise", "drop"]),
        default="raise",
        show_default=True,
        help="What to do if wallets can't be read: stop with an error, or leave them out.",
    ),
)
_service = together(
    click.option("--base-url", help="The private base address."),
    click.option("--public-base-url", help="The public base address."),
    click.option(
        "--key-kind", type=click.Choice(["public", "private", "test"]), help="The kind of the key."
    ),
)
naming: _Option = together(_naming, _service)  # for `named`, and settings of the service
asking: _Option = together(  # for `ask`
    _naming,
    click.option(
        "--refresh", is_flag=True, help="Request every wallet again, whatever is in the cache."
    ),
    click.option("--offline", is_flag=True, help="Send no request: answer from the cache alone."),
    _service,
)
from_files: _Option = _file(help="Read wallets from FILE, as fetch does. - is standard input.")
priced: _Option = together(
    click.option(
        "--prices",
        metavar="FILE",
        type=click.Path(exists=True),
        help="A .csv or .parquet with token_blockchain and token_address, or asset, and price, "
        "optionally currency, or a folder of .parquet with a date, too. With --currency alone, the "
        "service's own prices.",
    ),
    click.option("--currency", help="What the prices are in, such as USD."),
)
of_assets: _Option = together(
    click.option(
        "--assets",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="By asset: a .csv or .parquet with asset, token_blockchain, token_address, kind, "
        "which counts more than the packaged list.",
    ),
    click.option("--bridged", is_flag=True, help="By asset: count bridged twins as their asset."),
)


of_asset: _Option = click.option(
    "--asset", metavar="NAME", help="Of all contracts of this asset, such as USDC."
)


def grouped(default: str) -> _Option:
    """Add the options that say what to group by, and what an asset is."""
    by = click.option(
        "--by",
        multiple=True,
        default=[default] if default else [],
        show_default=default,
        metavar="NAME",
        help="What to group by: token, asset, wallet, blockchain, a column of the balances, or one "
        "that the wallets keep, such as owner. Repeat it to combine.",
    )
    return together(by, of_assets)


in_folder: _Option = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where snapshots are kept. Default: in the user's data folder.",
)


def all_of(what: str) -> _Option:
    """Add the option that prints all rows; ``rows`` is how many to print, None for all."""
    return click.option(
        "--all",
        "rows",
        is_flag=True,
        callback=lambda _ctx, _param, whole: None if whole else _ROWS,
        help=f"Print every {what}, not the first {_ROWS}.",
    )


of_token: _Option = click.option(
    "--token",
    metavar="SYMBOL|BLOCKCHAIN.CONTRACT",
    help="Only this token: an unambiguous symbol, or ETH.0x…; ETH. is the native coin.",
)


def output_path(suffixes: Sequence[str]) -> Callable[..., Path | None]:
    """Make the check of an option ``--output``, which comes before anything is fetched."""

    def check(_ctx: object, _param: object, value: str | None) -> Path | None:
        if value is None:
            return None
        path = Path(value)
        if path.suffix.lower() not in suffixes:
            raise click.BadParameter(f"{value}: the name has to end in {', '.join(suffixes)}")
        if path.is_dir():
            raise click.BadParameter(f"{value}: is a folder")
        if not path.parent.is_dir():
            raise click.BadParameter(f"{value}: there is no folder {path.parent}")
        return path

    return check


output: _Option = click.option(
    "--output",
    metavar="FILE",
    callback=output_path([".csv", ".parquet", ".json"]),
    help="A .csv, .parquet or .json.",
)
