"""Both frames as files for tools: CSV, Parquet or JSON, exact, and without surprises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pandas as pd

from walletframe.amounts import AmountDtype
from walletframe.text import as_cell

if TYPE_CHECKING:
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
        whole = {name: _records(frame) for name, frame in details._asdict().items()}
        path.write_text(json.dumps(whole, ensure_ascii=False, indent=1), encoding="utf-8")
        return [path]
    beside = path.with_suffix(f".wallets{path.suffix}")
    write = _write_csv if path.suffix == ".csv" else _write_parquet
    write(details.holdings, path)
    write(details.wallets, beside)
    return [path, beside]


def _records(frame: pd.DataFrame) -> object:
    return json.loads(frame.to_json(orient="records", date_format="iso", date_unit="us"))


def _write_csv(frame: pd.DataFrame, path: Path) -> None:
    safe = {
        str(name): frame[name].map(as_cell, na_action="ignore")
        for name, dtype in frame.dtypes.items()
        if isinstance(dtype, pd.StringDtype)
    }
    frame.assign(**safe).to_csv(path, index=False)


def _write_parquet(frame: pd.DataFrame, path: Path) -> None:
    texts = {name: "str" for name, dtype in frame.dtypes.items() if isinstance(dtype, AmountDtype)}
    frame.astype(texts).to_parquet(path, index=False)
