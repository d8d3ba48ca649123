"""Options that several commands share."""

from __future__ import annotations

from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from walletframe.settings.tables import SERVICE_PRICES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Option: TypeAlias = "Callable[[Callable[..., Any]], Callable[..., Any]]"

_MAX_ROWS = 40


class _PricesPathOrService(click.Path):
    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return value if value == SERVICE_PRICES else super().convert(value, param, ctx)


_file = partial(click.option, "--file", "files", multiple=True, metavar="FILE")
flag: Callable[..., _Option] = partial(click.option, is_flag=True)
refresh_option: _Option = flag(
    "--refresh", help="Request every wallet again, even if it is cached."
)


def combine_options(*options: _Option) -> _Option:
    """Return one decorator that adds several options. The help lists them in this order."""
    return lambda command: reduce(lambda each, option: option(each), reversed(options), command)


def one_or_list(_ctx: object, _param: object, chosen: tuple[str, ...]) -> str | list[str] | None:
    """Return the values of a repeatable option: None, one text, or a list of texts."""
    return [*chosen] if chosen[1:] else next(iter(chosen), None)


def _at_most_one(_ctx: object, _param: object, chosen: tuple[str, ...]) -> str | None:
    if chosen[1:]:
        raise click.BadParameter("it can't be repeated in this command")
    return next(iter(chosen), None)


def examples(*lines: str) -> str:
    """Return example commands to print at the end of a command's help."""
    head = "Example:" if len(lines) == 1 else "Examples:"
    return "\n".join(["\b", head, *(f"  {line}" for line in lines)])  # \b keeps line breaks


keep_option: _Option = click.option(
    "--keep",
    multiple=True,
    metavar="NAME",
    help="Keep this column, such as owner, of a .csv FILE in the result. The column 'name' "
    "contains the names of wallets. Can be repeated.",
)
_wallet_input = combine_options(
    _file(
        help="Read wallets from FILE. A text file has one <BLOCKCHAIN>.<ADDRESS> per line, and # "
        "starts a comment. A .csv file has the columns blockchain and address, or one column of "
        "<BLOCKCHAIN>.<ADDRESS> texts. Use - for standard input. The limits are 5 million lines "
        "and 256 million characters."
    ),
    keep_option,
    click.option(
        "--on-unreadable",
        type=click.Choice(["raise", "drop", "ask"]),
        default="raise",
        show_default=True,
        help="If wallets can't be read, stop with an error (raise), drop these wallets (drop), or "
        "request the addresses as written (ask).",
    ),
    flag(
        "--fix",
        help="Replace other names of blockchains, such as Ethereum or chain id 1, with the "
        "service's names.",
    ),
)
_service = combine_options(
    click.option("--base-url", help="The base URL of the private endpoint."),
    click.option("--public-base-url", help="The base URL of the public endpoint."),
    click.option(
        "--key-kind",
        type=click.Choice(["public", "private", "test"]),
        help="The kind of the API key, which selects the endpoint.",
    ),
)
wallet_options: _Option = combine_options(_wallet_input, _service)
fetch_options: _Option = combine_options(
    _wallet_input,
    refresh_option,
    flag("--offline", help="Send no request, and use only cached answers."),
    _service,
)
file_option: _Option = _file(
    help="Read wallets from FILE, as fetch does. Use - for standard input."
)
price_options: _Option = combine_options(
    click.option(
        "--prices",
        multiple=True,
        metavar="FILE",
        type=_PricesPathOrService(exists=True),
        callback=one_or_list,
        help="Compute values from the prices in a .csv or .parquet file. Its columns are "
        "asset (or token_blockchain and token_address), price and, optionally, currency. FILE can "
        'also be a folder of .parquet files that also have the column date, or "service": the '
        "service's prices. Can be repeated: the first price of a token is used. With "
        "--currency, the default prices are those in the settings, or else the service's.",
    ),
    click.option("--currency", help="The currency of the prices, such as USD."),
)
asset_list_options: _Option = combine_options(
    click.option(
        "--assets",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="Assign tokens to assets by a .csv or .parquet file with the columns asset, "
        "token_blockchain, token_address and kind. These rows take precedence over walletframe's "
        "list.",
    ),
    flag("--bridged", help="Count bridged versions of an asset as well."),
)
with_spam_option: _Option = flag(
    "--with-spam",
    help="Also count the balances of tokens that look like spam. Without this option, these are "
    "left out, and the last line states their number and value.",
)


def grouping_and_asset_options(default: str) -> _Option:
    """Return options for grouping and assets. The help shows `default` as the default of --by."""
    by = click.option(
        "--by",
        multiple=True,
        show_default=default,
        metavar="NAME",
        help="Group by asset, token, wallet, blockchain, a column of the balances, or an extra "
        "column of the wallets, such as owner. Can be repeated to group by several columns.",
    )
    return combine_options(by, asset_list_options)


folder_option: _Option = click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder with the snapshots. Default: a folder in the user's data folder.",
)


def all_rows_option(noun: str) -> _Option:
    """Return the option --all, which prints all rows. It sets the argument ``rows`` to None."""
    return flag(
        "--all",
        "rows",
        callback=lambda _ctx, _param, is_all: None if is_all else _MAX_ROWS,
        help=f"Print every {noun}, not only the first {_MAX_ROWS}.",
    )


def _token_option(callback: Callable[..., Any]) -> _Option:
    return click.option(
        "--token",
        multiple=True,
        callback=callback,
        metavar="SYMBOL|BLOCKCHAIN.CONTRACT",
        help="Show only this token: an unambiguous symbol, or a blockchain and a contract, such as "
        "ETH.0x…. The native coin is 'ETH.', with the dot. In totals, it can be repeated.",
    )


token_option: _Option = _token_option(_at_most_one)
tokens_option: _Option = _token_option(one_or_list)


def output_path_check(suffixes: Sequence[str]) -> Callable[..., Path | None]:
    """Return a function that checks the path of ``--output`` before any request is sent."""

    def check_path(_ctx: object, _param: object, value: str | None) -> Path | None:
        if value is None:
            return None
        path = Path(value)
        if path.suffix.lower() not in suffixes:
            raise click.BadParameter(f"{value}: the file name must end in {' or '.join(suffixes)}")
        if path.is_dir():
            raise click.BadParameter(f"{value} is a folder")
        if not path.parent.is_dir():
            raise click.BadParameter(f"{value}: the folder {path.parent} does not exist")
        return path

    return check_path


output_option: _Option = click.option(
    "--output",
    metavar="FILE",
    callback=output_path_check([".csv", ".parquet", ".json"]),
    help="Write the result to a .csv, .parquet or .json file.",
)
