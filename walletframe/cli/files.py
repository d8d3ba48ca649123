"""The files that commands write, with exact amounts, and read back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from walletframe.cli.kinds import require_holdings
from walletframe.cli.screen import say
from walletframe.errors import SettingsError
from walletframe.exports import SUFFIXES, saved_tables, to_csv, to_json, to_parquet, typed
from walletframe.frames import WalletDetails, as_failed, respelled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd


def output_path(
    suffixes: Sequence[str],
) -> Callable[[click.Context, click.Parameter, str | None], Path | None]:
    """Make the check of an option ``--output``, made before anything is fetched."""

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


output = click.option(
    "--output",
    metavar="FILE",
    callback=output_path([".csv", ".parquet", ".json"]),
    help="A .csv, .parquet or .json.",
)


def write_details(details: WalletDetails, path: Path) -> list[Path]:
    """Write both frames, into one JSON or the wallets beside the holdings; return the files."""
    if path.suffix.lower() == ".json":
        to_json(details._asdict(), path)
        return [path]
    beside = path.with_suffix(f".wallets{path.suffix}")
    _write(details.holdings, path, "holdings")
    _write(details.wallets, beside, "wallets")
    return [path, beside]


def write_frame(frame: pd.DataFrame, path: Path | None, *, name: str) -> None:
    """Write a frame to the file of ``--output``, if one was given; in JSON under ``name``."""
    if path is not None:
        _write(frame, path, name)
        say(f"written: {path}")


def _write(frame: pd.DataFrame, path: Path, name: str) -> None:
    match path.suffix.lower():
        case ".json":
            to_json({name: frame}, path)
        case ".csv":
            to_csv(frame, path)
        case _:
            to_parquet(frame, path)


def saved_file(given: Sequence[str], files: Sequence[str]) -> str | None:
    """Return the file of holdings that was given instead of wallets, None where there is none."""
    if not any(map(is_saved, given)):
        return None
    if len(given) > 1 or files:
        raise click.UsageError(f"either wallets or one file of holdings, not {' '.join(given)}")
    return given[0]


def is_saved(word: str) -> bool:
    """Tell whether an argument is a file of holdings and no wallet."""
    return word.lower().endswith(SUFFIXES)


def read_saved(name: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Read holdings, and the wallets beside them or in the same JSON, if they are there."""
    try:
        holdings, wallets = saved_tables(Path(name))
        require_holdings(name, [*holdings])
        named = [] if wallets is None else [as_failed(typed(wallets))]
        *asked, held = respelled(*named, typed(holdings))
        return held, asked[0] if asked else None
    except (OSError, SettingsError) as fault:
        reason = str(fault)
    raise click.UsageError(f"{name} can't be read as holdings of a fetch: {reason}")


def saved_details(name: str, without: str) -> WalletDetails:
    """Read a whole fetch; ``without`` says what would go wrong without its file of wallets."""
    holdings, wallets = read_saved(name)
    if wallets is None:
        lacking = f"{name}: the file of wallets beside it is missing"
        raise click.UsageError(f"{lacking}; without it, {without}")
    return WalletDetails(wallets, holdings)
