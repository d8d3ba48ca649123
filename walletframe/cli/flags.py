"""Options that several commands share."""

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


def combined(*options: _Option) -> _Option:
    """Return one decorator that adds several options, in the order of the help."""

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def example(*lines: str) -> str:
    """Return the end of a command's help, with lines that can be pasted into a shell."""
    head = "Example:" if len(lines) == 1 else "Examples:"
    return "\n".join(["\b", head, *(f"  {line}" for line in lines)])  # \b: lines are not joined


_naming = combined(
    _file(
        help="Read wallets from FILE. A text file has one <BLOCKCHAIN>.<ADDRESS> per line, and # "
        "starts a comment. A .csv has the columns blockchain and address, or one column of such "
        "texts. - is standard input. At most 5 million lines and 256 million characters are read.",
    ),
    click.option(
        "--keep",
        multiple=True,
        metavar="NAME",
        help="Keep this column of a .csv FILE with its wallets, such as owner. A column called "
        "name labels the wallets. Can be given several times.",
    ),
    click.option(
        "--on-unreadable",
        type=click.Choice(["raise", "drop"]),
        default="raise",
        show_default=True,
        help="What to do if wallets can't be read: stop with an error, or leave them out.",
    ),
)
_service = combined(
    click.option("--base-url", help="The private base address."),
    click.option("--public-base-url", help="The public base address."),
    click.option(
        "--key-kind", type=click.Choice(["public", "private", "test"]), help="The kind of the key."
    ),
)
wallet_options: _Option = combined(_naming, _service)  # for `requested_wallets` and `Client`
fetch_options: _Option = combined(  # for `fetch_details`
    _naming,
    click.option(
        "--refresh", is_flag=True, help="Request every wallet again, even if it is cached."
    ),
    click.option("--offline", is_flag=True, help="Send no request: answer from the cache."),
    _service,
)
file_option: _Option = _file(help="Read wallets from FILE, as fetch does. - is standard input.")
price_options: _Option = combined(
    click.option(
        "--prices",
        metavar="FILE",
        type=click.Path(exists=True),
        help="Prices: a .csv or .parquet with token_blockchain and token_address, or asset, and "
        "price, and optionally currency; or a folder of .parquet files that also have a date. With "
        "--currency alone, the service's own prices are used.",
    ),
    click.option("--currency", help="The currency of the prices, such as USD."),
)
asset_list_options: _Option = combined(
    click.option(
        "--assets",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="For totals by asset: a .csv or .parquet with asset, token_blockchain, token_address "
        "and kind, which overrides the packaged list.",
    ),
    click.option("--bridged", is_flag=True, help="Count bridged versions as their asset."),
)


asset_option: _Option = click.option(
    "--asset", metavar="NAME", help="Only this asset, such as USDC: all its contracts."
)


def group_options(default: str) -> _Option:
    """Return the options for grouping, and for the contracts of assets."""
    by = click.option(
        "--by",
        multiple=True,
        default=[default] if default else [],
        show_default=default,
        metavar="NAME",
        help="Group by token, asset, wallet, blockchain, a column of the balances, or a kept "
        "column of the wallets, such as owner. Repeat it to combine.",
    )
    return combined(by, asset_list_options)


folder_option: _Option = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the snapshots. Default: in the user's data folder.",
)


def all_rows_option(what: str) -> _Option:
    """Return the option that prints all rows; ``rows`` is their maximum, or None for all."""
    return click.option(
        "--all",
        "rows",
        is_flag=True,
        callback=lambda _ctx, _param, whole: None if whole else _ROWS,
        help=f"Print every {what}, not only the first {_ROWS}.",
    )


token_option: _Option = click.option(
    "--token",
    metavar="SYMBOL|BLOCKCHAIN.CONTRACT",
    help="Only this token: an unambiguous symbol, or ETH.0x…; ETH. is the native coin.",
)


def output_path(suffixes: Sequence[str]) -> Callable[..., Path | None]:
    """Return the check of an option ``--output``, which runs before any request."""

    def check(_ctx: object, _param: object, value: str | None) -> Path | None:
        if value is None:
            return None
        path = Path(value)
        if path.suffix.lower() not in suffixes:
            raise click.BadParameter(f"{value}: the name must end in {', '.join(suffixes)}")
        if path.is_dir():
            raise click.BadParameter(f"{value} is a folder")
        if not path.parent.is_dir():
            raise click.BadParameter(f"{value}: there is no folder {path.parent}")
        return path

    return check


output_option: _Option = click.option(
    "--output",
    metavar="FILE",
    callback=output_path([".csv", ".parquet", ".json"]),
    help="Write the result to a .csv, .parquet or .json.",
)
