"""Files that ``walletframe fetch --output`` wrote, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from walletframe.cli.kinds import require_holdings
from walletframe.cli.output import SUFFIXES
from walletframe.frames import HOLDING_DTYPES, WALLET_DTYPES
from walletframe.text import from_cell

if TYPE_CHECKING:
    from collections.abc import Mapping


def is_saved(word: str) -> bool:
    """Tell a file of holdings on the command line from a wallet.

    Parameters
    ----------
    word : str
        An argument.

    Returns
    -------
    bool
        True where it ends like a file that ``--output`` writes.
    """
    return word.lower().endswith(SUFFIXES)


def read_saved(name: str) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Read what a fetch wrote.

    Parameters
    ----------
    name : str
        The file of holdings; its wallets are beside it (``NAME.wallets.csv``), or in the same
        JSON.

    Returns
    -------
    tuple of DataFrame and (DataFrame or None)
        Holdings and wallets, in the dtypes of the column contract; None where there are no
        wallets.

    Raises
    ------
    click.UsageError
        Where a file can't be read, or holds something else.
    """
    try:
        holdings, wallets = _tables(Path(name))
        require_holdings(name, [*holdings])
        held = _typed(holdings, HOLDING_DTYPES)
        return held, None if wallets is None else _typed(wallets, WALLET_DTYPES)
    except (OSError, ValueError, KeyError, TypeError) as fault:
        reason = f"{type(fault).__name__}: {fault}"
    raise click.UsageError(f"{name} can't be read as holdings of a fetch: {reason}")


def _tables(path: Path) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Read the holdings, or what stands in their place, and the wallets."""
    if path.suffix.lower() != ".json":
        beside = path.with_suffix(f".wallets{path.suffix}")
        return _table(path), _table(beside) if beside.exists() else None
    content = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(content, dict) and {"holdings", "wallets"} <= content.keys():
        return _records(content["holdings"]), _records(content["wallets"])
    records = next(iter(content.values()), []) if isinstance(content, dict) else content
    return pd.DataFrame(records), None


def _records(records: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(records, columns=None if records else [*WALLET_DTYPES | HOLDING_DTYPES])


def _table(path: Path) -> pd.DataFrame:
    if path.suffix.lower() == ".parquet":
        return pd.read_parquet(path)
    text = pd.read_csv(path, dtype="str", keep_default_na=False, encoding="utf-8-sig")
    for name, column in text.items():
        disarmed = column.str.startswith("'")
        text[name] = column.mask(disarmed, column[disarmed].map(from_cell))
    return text.mask((text == "") & (text.columns != "symbol"))


def _typed(frame: pd.DataFrame, dtypes: Mapping[str, Any]) -> pd.DataFrame:
    """Give the columns of the contract their dtypes; the others, of other programs, go."""
    return pd.DataFrame(
        {name: _column(frame[name], dtype) for name, dtype in dtypes.items() if name in frame}
    )


def _column(column: pd.Series, dtype: Any) -> pd.Series:
    if isinstance(dtype, pd.DatetimeTZDtype):
        return pd.to_datetime(column, utc=True, format="ISO8601").astype(dtype)
    if isinstance(dtype, pd.Int16Dtype | pd.Int64Dtype):
        column = pd.to_numeric(column)
    return column.astype(dtype)
