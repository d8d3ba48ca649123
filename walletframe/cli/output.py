"""Both frames as files for tools: CSV, Parquet or JSON, exact, and without surprises."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from walletframe.exports import to_csv, to_json, to_parquet

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames import WalletDetails

SUFFIXES = (".csv", ".parquet", ".json")


def output_path(_ctx: object, _param: object, value: str | None) -> Path | None:
    """Check the option ``--output`` before anything is fetched.

    Parameters
    ----------
    value : str or None
        What was given.

    Returns
    -------
    Path or None
        Where to write.

    Raises
    ------
    click.BadParameter
        For a suffix that is not known, or a folder that is not there.
    """
    if value is None:
        return None
    path = Path(value)
    if path.suffix not in SUFFIXES:
        raise click.BadParameter(f"{value}: the name has to end in {', '.join(SUFFIXES)}")
    if path.is_dir():
        raise click.BadParameter(f"{value}: is a folder")
    if not path.parent.is_dir():
        raise click.BadParameter(f"{value}: there is no folder {path.parent}")
    return path


def write_details(details: WalletDetails, path: Path) -> list[Path]:
    """Write both frames.

    Parameters
    ----------
    details : WalletDetails
        What was fetched.
    path : Path
        For the holdings; the wallets go beside it (``NAME.wallets.csv``), but for JSON, which
        holds both.

    Returns
    -------
    list of Path
        The files written.
    """
    if path.suffix == ".json":
        to_json(details._asdict(), path)
        return [path]
    beside = path.with_suffix(f".wallets{path.suffix}")
    write_frame(details.holdings, path, name="holdings")
    write_frame(details.wallets, beside, name="wallets")
    return [path, beside]


def write_frame(frame: pd.DataFrame, path: Path, *, name: str) -> None:
    """Write one frame.

    Parameters
    ----------
    frame : DataFrame
        Any.
    path : Path
        Where to write; its suffix is one of those that `output_path` lets pass.
    name : str
        What JSON calls it.
    """
    if path.suffix == ".json":
        to_json({name: frame}, path)
    elif path.suffix == ".csv":
        to_csv(frame, path)
    else:
        to_parquet(frame, path)
