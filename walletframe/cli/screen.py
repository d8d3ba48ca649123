"""Print all output of commands, in safe characters that the console supports."""

from __future__ import annotations

import codecs
import io
import os
import sys
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from walletframe.frames import tables
from walletframe.frames.coverage import SELECT_HINT
from walletframe.frames.extra_columns import RESULT_COLUMNS
from walletframe.frames.tables import Cell, Table, console_text, terminal_width, text_cells
from walletframe.text import remove_invisible

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

_HANDLER = "walletframe.replace"
_REPLACEMENTS = {"…": "~", "→": ">", "–": "-", "—": "-", "“": '"', "”": '"', "’": "'"}  # noqa: RUF001 - characters to replace
_COUNTS = {name: name for name in ("contracts", "blockchains", "tokens", "holders", "balances")}
_COUNTS |= {"amount_na": "unknown", "unpriced": "unpriced"}
_WALLET, _TOKEN = {"blockchain", "address"}, {"token_blockchain", "token_address", "symbol"}
_MAX_LABEL_WIDTH = 44


def print_table(table: Table, *, exact: bool = False) -> None:
    """Print a table. In a terminal, fit its width and, unless `exact`, cut long amounts."""
    echo(console_text(table, terminal_width(), exact=exact))


def echo(text: object = "", *, err: bool = False) -> None:
    """Print text without terminal control characters. Drop the text if a pipe is closed."""
    # Without `file`, click would replace the encoding of an ASCII stream.
    stream = sys.stderr if err else sys.stdout
    try:
        click.echo(remove_invisible(str(text)), file=stream)
    except BrokenPipeError:  # the reader of the pipe, such as head, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def with_option_names(message: object) -> str:
    """Replace the names of Python arguments in a message by command-line options."""
    text = str(message).replace("bridged=True", "--bridged").replace(" (pass wallets=…)", "")
    return text.replace(SELECT_HINT, "compare files of the same selection, or of all balances")


def prepare_streams() -> None:
    """Connect closed streams to the null device. Make streams replace unsupported characters."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # otherwise, the next file could get this descriptor
            null = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - open until the end
            setattr(sys, name, null)

    def replace_characters(error: UnicodeEncodeError) -> tuple[str, int]:
        characters = error.object[error.start : error.end]
        return "".join(_REPLACEMENTS.get(char, "?") for char in characters), error.end

    codecs.register_error(_HANDLER, replace_characters)  # type: ignore[arg-type]  # the streams only encode
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_HANDLER)


@contextmanager
def sanitized_errors() -> Iterator[None]:
    """Remove control characters from click's errors, which quote arguments."""
    try:
        yield
    except click.ClickException as error:
        encoding = sys.stderr.encoding or "utf-8"
        text = remove_invisible(error.format_message())
        message = text.encode(encoding, _HANDLER).decode(encoding)
        error.format_message = lambda: message  # type: ignore[method-assign]  # only of this error
        raise


def balances_table(balances: pd.DataFrame) -> Table:
    """Return a table of a node's balances."""
    columns = tables.balance_cells(balances)
    columns |= {name: text_cells(balances[name]) for name in ("block", "status")}
    columns["error"] = text_cells(balances["error"], missing="", limit=120)
    return Table("balances", columns, len(balances))


def totals_table(totals: pd.DataFrame, rows: int | None, wallets: pd.DataFrame | None) -> Table:
    """Return a table of totals. In the column ``complete``, 3/4 means 3 of 4 wallets are known."""
    head = totals.iloc[:rows]
    columns = _group_columns(head, wallets)
    if "amount" in totals:
        columns["amount"] = tables.amount_cells(head["amount"])
    columns |= {title: text_cells(head[name]) for name, title in _COUNTS.items() if name in totals}
    if "value" in totals:
        columns["value"] = tables.value_cells(head["value"])
    if "wallets_ok" in totals:
        counts = (head[f"wallets_{name}"] for name in ("ok", "asked", "stale"))
        columns["complete"] = [
            Cell(f"{known}/{asked}" + (f" ({stale} out of date)" if stale else ""))
            for known, asked, stale in zip(*counts, strict=True)
        ]
    return Table("totals", columns, len(totals))


def snapshots_table(snapshots: pd.DataFrame) -> Table:
    """Return a table of snapshots."""
    counts = {"wallets": "wallets", "ok": "wallets_ok", "balances": "balances"}
    columns = {"snapshot": _snapshot_time_cells(snapshots)}
    columns |= {heading: text_cells(snapshots[name]) for heading, name in counts.items()}
    return Table("snapshots", columns, len(snapshots))


def timeline_table(timeline: pd.DataFrame, rows: int | None, wallets: pd.DataFrame | None) -> Table:
    """Return a table of amounts over time."""
    head = timeline.iloc[:rows]
    columns = {"wallet": tables.wallet_cells(head, wallets)} | _token_or_asset_columns(head)
    columns["snapshot"] = _snapshot_time_cells(head)
    columns["amount"] = tables.amount_cells(head["amount"])
    columns["status"] = text_cells(head["status"])
    return Table("amounts", columns, len(timeline))


def changes_table(changes: pd.DataFrame, rows: int | None, wallets: pd.DataFrame) -> Table:
    """Return a table of changes. The last column is ``known`` for groups, ``why`` for wallets."""
    head = changes.iloc[:rows]
    columns = _group_columns(head, wallets)
    for name in ("before", "after", "difference"):
        columns[name] = tables.amount_cells(head[name])
    columns["change"] = text_cells(head["change"])
    if "wallets_known" in changes:
        known = zip(head["wallets_known"], head["wallets"], strict=True)
        columns["known"] = [Cell(f"{count:,} of {total:,}") for count, total in known]
    else:
        pairs = zip(head["status_before"], head["status_after"], strict=True)
        columns["why"] = [Cell("" if pair == ("ok", "ok") else " → ".join(pair)) for pair in pairs]
    return Table("changes", columns, len(changes))


def _group_columns(frame: pd.DataFrame, wallets: pd.DataFrame | None) -> dict[str, list[Cell]]:
    names = [*map(str, takewhile(lambda name: name not in RESULT_COLUMNS, frame.columns))]
    columns: dict[str, list[Cell]] = {}
    for name in names:
        if name in _WALLET and {*names} >= _WALLET:
            if name == "address":
                columns["wallet"] = tables.wallet_cells(frame, wallets)
        elif name in _TOKEN and {*names} >= _TOKEN:
            if name == "symbol":
                columns |= _token_or_asset_columns(frame)
        elif name == "snapshot":
            columns[name] = _snapshot_time_cells(frame)
        else:
            columns[name] = text_cells(frame[name], limit=_MAX_LABEL_WIDTH)
    return columns


def _token_or_asset_columns(frame: pd.DataFrame) -> dict[str, list[Cell]]:
    if "symbol" not in frame:
        return {"asset": text_cells(frame["asset"], limit=_MAX_LABEL_WIDTH)}
    return {
        "token": text_cells(frame["symbol"], limit=24),
        "on": text_cells(frame["token_blockchain"], limit=20),
        "contract": tables.contract_cells(frame, missing="-"),
    }


def _snapshot_time_cells(frame: pd.DataFrame) -> list[Cell]:
    return text_cells(frame["snapshot"].dt.strftime("%Y-%m-%d %H:%M:%SZ"))
