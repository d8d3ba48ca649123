"""Tables as cells, and as text for a terminal: exact amounts, shortened addresses.

Cells hold text as sent, which may be hostile. It is made harmless when it is drawn: as text here,
as Markdown and HTML in `display`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from decimal import Decimal
from textwrap import wrap
from typing import TYPE_CHECKING, Any
from unicodedata import combining, east_asian_width

import pandas as pd

from walletframe.address.forms import canonical_address
from walletframe.frames.known import known_wallets
from walletframe.frames.names import short_contract, short_wallet, user_wallet_names, whole_wallet
from walletframe.numerals import money, plain
from walletframe.text import safe_line, safe_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Columns = Mapping[str, list["Cell"]]

ROWS = 10
DASH, UNKNOWN = "-", "unknown"
NUMBERS = frozenset(
    {"tokens", "amount", "price", "value", "holders", "balances", "unpriced", "wallets", "block"}
    | {"contracts", "blockchains"}
    | {"before", "after", "difference", "unknown", "complete", "ok", "share"}
)
"""Headings of the columns that are right-aligned."""
_SYMBOL, _DIGITS = 24, 1_000
DIGITS = 25
CUT_NOTE = f"An amount of more than {DIGITS} digits is cut at …: files have all digits."
_HEAD, _LEAST_SYMBOL = 10, 6
_AMOUNTS = ("amount", "before", "after", "difference")
_NAMES = ("wallet", "contract")
_SENTENCES = ("reason", "error", "why")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Cell:
    """Untrusted text, how many characters of it to show, and its link.

    ``whole`` is the full text, if ``text`` is shortened.
    """

    text: str
    limit: int = 90
    whole: str | None = None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """The first of ``total`` rows, as columns by their headings."""

    name: str
    columns: Columns
    total: int

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """The cells, row by row."""
        return list(zip(*self.columns.values(), strict=True))

    @property
    def left_out(self) -> int:
        """The number of rows that are not shown."""
        return self.total - len(next(iter(self.columns.values())))


def wallets_table(wallets: pd.DataFrame, rows: int | None = ROWS) -> Table:
    """Return a table of wallets; with `rows`, failed ones first, then those with a reason."""
    head = wallets
    if rows is not None:
        failed = ~known_wallets(wallets)
        has_reason = wallets["error"].notna().to_numpy() & ~failed
        head = wallets.iloc[(2 - 2 * failed - has_reason).argsort(kind="stable")[:rows]]
    columns = {
        "wallet": wallet_cells(head, wallets, links=head["explorer_url"]),
        "status": text_cells(head["status"]),
        "reason": text_cells(head["error"], missing=""),
        "tokens": text_cells(head["tokens"]),
        "source": text_cells(head["source"]),
        "answered (UTC)": minute_cells(head["fetched_at"]),
    }
    if head["error"].isna().all():
        del columns["reason"]
    return Table("wallets", columns, len(wallets))


def holdings_table(
    holdings: pd.DataFrame, rows: int | None = ROWS, *, wallets: pd.DataFrame | None = None
) -> Table:
    """Return a table of balances, with prices, values and currencies if there are any.

    The column ``name`` of `wallets` names the wallets.
    """
    head = holdings if rows is None else holdings.head(rows)
    columns = balance_columns(head, wallets)
    if head["price"].notna().any():
        columns["price"] = text_cells(
            price if pd.isna(price) else plain(price) for price in head["price"]
        )
    if "value" in head:
        columns["value"] = value_cells(head["value"])
    if "currency" in head and head["currency"].notna().any():
        columns["currency"] = text_cells(head["currency"])
    return Table("holdings", columns, len(holdings))


def balance_columns(
    holdings: pd.DataFrame, wallets: pd.DataFrame | None = None
) -> dict[str, list[Cell]]:
    """Return the columns wallet, token, contract and amount."""
    amounts = [
        cell if isinstance(amount, Decimal) else Cell(unread(raw))
        for amount, cell, raw in zip(
            holdings["amount"],
            amount_cells(holdings["amount"]),
            holdings["raw_amount"],
            strict=True,
        )
    ]
    return {
        "wallet": wallet_cells(holdings, wallets),
        "token": text_cells(holdings["symbol"], missing="", limit=_SYMBOL),
        "contract": contract_cells(holdings),
        "amount": amounts,
    }


def unread(raw_amount: object) -> str:
    """Return the text for an amount that is NA: the amount as sent, or "unknown"."""
    if not isinstance(raw_amount, str):
        return UNKNOWN
    digits = raw_amount.isascii() and raw_amount.isdecimal()
    return f"{raw_amount} base units" if digits else f"unreadable: {raw_amount}"


def amount_cells(amounts: pd.Series) -> list[Cell]:
    """Return cells of amounts with all digits."""
    return text_cells(amounts, UNKNOWN, limit=_DIGITS)


def wallet_cells(
    frame: pd.DataFrame,
    wallets: pd.DataFrame | None = None,
    *,
    links: Iterable[object] | None = None,
) -> list[Cell]:
    """Return cells of wallets with their names in `wallets`, and with http(s) links."""
    links = [None] * len(frame) if links is None else links
    names = user_wallet_names(frame, wallets)
    named = zip(frame["blockchain"], frame["address"], names, strict=True)
    return [
        Cell(
            short_wallet(*each),
            whole=whole_wallet(*each),
            link=safe_url(link) if isinstance(link, str) else None,
        )
        for each, link in zip(named, links, strict=True)
    ]


def contract_cells(frame: pd.DataFrame, none: str = "unknown token") -> list[Cell]:
    """Return cells of contracts, ``none`` for rows with neither blockchain nor address."""
    cells = []
    for chain, address in zip(frame["token_blockchain"], frame["token_address"], strict=True):
        whole = None
        if isinstance(chain, str) and isinstance(address, str):
            whole = whole_wallet(chain, address)
        is_known = isinstance(chain, str) or isinstance(address, str)
        cells.append(Cell(short_contract(chain, address) if is_known else none, whole=whole))
    return cells


def value_cells(values: pd.Series, missing: str = DASH) -> list[Cell]:
    """Return cells of values, as money; a user's own column may hold other types."""
    written = (money(value) if isinstance(value, float) else str(value) for value in values)
    pairs = zip(written, values.notna(), strict=True)
    return [Cell(text if is_known else missing) for text, is_known in pairs]


def minute_cells(times: pd.Series, missing: str = DASH) -> list[Cell]:
    """Return cells of times, to the minute."""
    return text_cells(
        (time if pd.isna(time) else f"{time:%Y-%m-%d %H:%M}" for time in times), missing
    )


def text_cells(column: Iterable[Any], missing: str = DASH, limit: int = 90) -> list[Cell]:
    """Return cells of values, as ``str`` writes them."""
    return [Cell(missing if pd.isna(value) else str(value), limit) for value in column]


def terminal_width() -> int | None:
    """Return the terminal's width; None if output is no terminal and ``COLUMNS`` is unset."""
    if not os.environ.get("COLUMNS") and not (sys.stdout and sys.stdout.isatty()):
        return None
    return shutil.get_terminal_size().columns


def table_text(table: Table) -> str:
    """Return a table as text, with a last line that counts the rows left out."""
    drawn = "\n".join(_lines(table.columns))
    return f"{drawn}\n… and {table.left_out:,} more" if table.left_out else drawn


def console_text(table: Table, width: int | None, *, exact: bool = False) -> str:
    """Return a table as text for a terminal; columns that don't fit are written below their row.

    With a ``width``, and unless ``exact``, long amounts are cut, with a note; amounts that would
    become equal are not. Wallets and contracts whose short forms are equal are written in full.
    """
    whole = _expand_ambiguous(table.columns)
    columns = whole if exact or width is None else _cut_amounts(whole)
    first, below = _fit_columns(columns, width)
    head, rule, *rows = _lines(first)
    lines = [head, rule]
    for place, row in enumerate(rows):
        more = [f"{name}: {_text(cells[place])}" for name, cells in below.items()]
        filled = "  ".join(text for text in more if not text.endswith(": "))
        room = max((width or 0) - len(_INDENT), 1)
        wrapped = wrap(filled, room, break_long_words=False, break_on_hyphens=False)
        lines += [row, *(f"{_INDENT}{line}" for line in wrapped)]
    if table.left_out:
        lines.append(f"… and {table.left_out:,} more")
    note = [] if columns == whole else wrap(CUT_NOTE, width or len(CUT_NOTE))
    return "\n".join([*lines, *note])


def _lines(columns: Columns) -> list[str]:
    """Return the aligned lines of a table: headings, a rule, and rows."""
    drawn = []
    for name, cells in columns.items():
        texts = [name, *map(_text, cells)]
        widths = [*map(_text_width, texts)]
        width = max(widths)
        gaps = [" " * (width - each) for each in widths]
        pairs = list(zip(gaps, texts, strict=True))
        sides = [gap + text if name in NUMBERS else text + gap for gap, text in pairs]
        drawn.append([sides[0], "-" * width, *sides[1:]])
    return ["  ".join(row).rstrip() for row in zip(*drawn, strict=True)]


def _text(cell: Cell) -> str:
    return safe_line(cell.text, cell.limit)


def _text_width(text: str) -> int:
    """Return the number of terminal columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def _column_width(name: str, cells: list[Cell]) -> int:
    return max(_text_width(text) for text in [name, *map(_text, cells)])


def _fit_columns(columns: Columns, width: int | None) -> tuple[Columns, Columns]:
    """Return the columns of a line, and those below it: sentences first, then the rightmost."""
    line, below = dict(columns), dict[str, list[Cell]]()
    widths = {name: _column_width(name, cells) for name, cells in columns.items()}

    def excess() -> int:
        return sum(widths[name] + 2 for name in line) - 2 - (width or sys.maxsize)

    for name in [*_SENTENCES, "token", *reversed([*columns][1:])]:
        if excess() <= 0:
            break
        if name not in line or len(line) == 1:
            continue
        if name == "token" and widths[name] > _LEAST_SYMBOL:
            widths[name] = max(_LEAST_SYMBOL, widths[name] - excess())
            line[name] = [replace(cell, limit=min(cell.limit, widths[name])) for cell in line[name]]
        else:
            below = {name: line.pop(name)} | below
    return line, below


def _expand_ambiguous(columns: Columns) -> Columns:
    """Write wallets and contracts in full if two of them have the same short form."""
    expanded = dict(columns)
    for name in _NAMES:
        ends: defaultdict[str, set[str]] = defaultdict(set)
        for cell in columns.get(name, ()):
            if cell.whole is not None:
                ends[cell.text].add(canonical_address(cell.whole.partition(".")[2]))
        doubles = {text for text, wholes in ends.items() if len(wholes) > 1}
        if doubles:
            expanded[name] = [
                _whole(cell, name) if cell.text in doubles else cell for cell in columns[name]
            ]
    return expanded


def _whole(cell: Cell, name: str) -> Cell:
    text = cell.whole or cell.text
    text = text.partition(".")[2] if name == "contract" else text
    return replace(cell, text=text, limit=len(text))


def _cut_amounts(columns: Columns) -> Columns:
    """Cut long amounts, except those that would become equal, or 0."""
    texts = {cell.text for name in _AMOUNTS for cell in columns.get(name, ())}
    short: defaultdict[str, list[str]] = defaultdict(list)
    for text in texts:
        short[_short(text)].append(text)
    cut = {texts[0]: text for text, texts in short.items() if len(texts) == 1}
    return {
        name: [replace(cell, text=cut.get(cell.text, cell.text)) for cell in cells]
        if name in _AMOUNTS
        else cells
        for name, cells in columns.items()
    }


def _short(text: str) -> str:
    whole, _, rest = text.partition(".")
    digits = len(whole.removeprefix("-"))
    if _NUMBER.fullmatch(text) is None or digits + len(rest) <= DIGITS:
        return text
    if digits > DIGITS:
        return f"{whole[:_HEAD]}…({digits} digits)"
    kept = f"{whole}.{rest[: DIGITS - digits]}"
    return f"{kept}…" if kept.strip("-0.") else text
