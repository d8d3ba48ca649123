"""Tables for display. Cells show exact amounts and shortened addresses.

Cells contain untrusted text, which is escaped when a table is written.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import defaultdict
from decimal import Decimal
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import combining, east_asian_width

import pandas as pd

from walletframe.address.forms import canonical_address
from walletframe.frames.known import known_mask
from walletframe.frames.names import (
    full_wallet_name,
    short_contract,
    short_wallet_name,
    user_wallet_names,
)
from walletframe.numerals import money, plain_number
from walletframe.text import safe_line, url_if_safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Columns = Mapping[str, list["Cell"]]

ROWS = 10
_DASH, UNKNOWN = "-", "unknown"
NUMBER_COLUMNS = frozenset(
    {"tokens", "amount", "price", "value", "holders", "balances", "unpriced", "wallets", "block"}
    | {"contracts", "blockchains"}
    | {"before", "after", "difference", "unknown", "complete", "ok", "share"}
)
"""The headings of right-aligned columns."""
_MAX_SYMBOL, _MAX_DIGITS = 24, 1_000
DIGITS = 25
CUT_NOTE = f"Amounts of more than {DIGITS} digits are cut (…); files have all digits."
_HEAD_DIGITS, _MIN_SYMBOL = 10, 6
_AMOUNTS = ("amount", "before", "after", "difference")
_NAMES = ("wallet", "contract")
_SENTENCES = ("reason", "error", "why")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_INDENT = "    "


class Cell(NamedTuple):
    """A cell of a table. The displayed text is untrusted, and has at most `limit` characters."""

    text: str
    limit: int = 90
    full_text: str | None = None  # None if `text` is the full text
    link: str | None = None


class Table(NamedTuple):
    """The first rows of a table of `total` rows. `columns` maps headings to cells."""

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
    """Return a table of wallets. With `rows`, failed wallets come first, then those with errors."""
    head = wallets
    if rows is not None:
        failed = ~known_mask(wallets)
        has_reason = wallets["error"].notna().to_numpy() & ~failed
        head = wallets.iloc[(2 - 2 * failed - has_reason).argsort(kind="stable")[:rows]]
    columns = {
        "wallet": wallet_cells(head, wallets, links=head["explorer_url"]),
        "status": text_cells(head["status"]),
        "reason": text_cells(head["error"], missing=""),
        "tokens": text_cells(head["tokens"]),
        "source": text_cells(head["source"]),
        "answered (UTC)": time_cells(head["fetched_at"]),
    }
    if head["error"].isna().all():
        del columns["reason"]
    return Table("wallets", columns, len(wallets))


def holdings_table(
    holdings: pd.DataFrame, rows: int | None = ROWS, *, wallets: pd.DataFrame | None = None
) -> Table:
    """Return a table of balances, with prices, values, currencies and wallet names, if any."""
    head = holdings if rows is None else holdings.head(rows)
    columns = balance_cells(head, wallets)
    if head["price"].notna().any():
        columns["price"] = text_cells(head["price"], write=plain_number)
    if "value" in head:
        columns["value"] = value_cells(head["value"])
    if "currency" in head and head["currency"].notna().any():
        columns["currency"] = text_cells(head["currency"])
    return Table("holdings", columns, len(holdings))


def balance_cells(
    holdings: pd.DataFrame, wallets: pd.DataFrame | None = None
) -> dict[str, list[Cell]]:
    """Return the columns wallet, token, contract and amount."""
    amounts = holdings["amount"]
    rows = zip(amounts, amount_cells(amounts), holdings["raw_amount"], strict=True)
    cells = [
        cell if isinstance(amount, Decimal) else Cell(unreadable_amount_text(raw))
        for amount, cell, raw in rows
    ]
    return {
        "wallet": wallet_cells(holdings, wallets),
        "token": text_cells(holdings["symbol"], missing="", limit=_MAX_SYMBOL),
        "contract": contract_cells(holdings),
        "amount": cells,
    }


def unreadable_amount_text(raw_amount: object) -> str:
    """Return the text for an NA amount: the raw amount as sent, or "unknown"."""
    if not isinstance(raw_amount, str):
        return UNKNOWN
    digits = raw_amount.isascii() and raw_amount.isdecimal()
    return f"{raw_amount} base units" if digits else f"unreadable: {raw_amount}"


def amount_cells(amounts: pd.Series) -> list[Cell]:
    """Return cells of amounts with all digits."""
    return text_cells(amounts, UNKNOWN, limit=_MAX_DIGITS)


def wallet_cells(
    frame: pd.DataFrame,
    wallets: pd.DataFrame | None = None,
    *,
    links: Iterable[object] | None = None,
) -> list[Cell]:
    """Return cells of wallets, with the names in `wallets`. Only http(s) links are used."""
    links = [None] * len(frame) if links is None else links
    names = user_wallet_names(frame, wallets)
    named = zip(frame["blockchain"], frame["address"], names, strict=True)
    return [
        Cell(
            short_wallet_name(*each),
            full_text=full_wallet_name(*each),
            link=url_if_safe(link) if isinstance(link, str) else None,
        )
        for each, link in zip(named, links, strict=True)
    ]


def contract_cells(frame: pd.DataFrame, missing: str = "unknown token") -> list[Cell]:
    """Return cells of contracts, with the text `missing` if blockchain and address are NA."""
    cells = []
    for chain, address in zip(frame["token_blockchain"], frame["token_address"], strict=True):
        has_chain, has_address = isinstance(chain, str), isinstance(address, str)
        text = short_contract(chain, address) if has_chain or has_address else missing
        full_text = full_wallet_name(chain, address) if has_chain and has_address else None
        cells.append(Cell(text, full_text=full_text))
    return cells


def value_cells(values: pd.Series, missing: str = _DASH) -> list[Cell]:
    """Return cells of values as money. Values that are not floats become text."""
    texts = (money(value) if isinstance(value, float) else str(value) for value in values)
    pairs = zip(texts, values.notna(), strict=True)
    return [Cell(text if is_known else missing) for text, is_known in pairs]


def time_cells(times: pd.Series, missing: str = _DASH) -> list[Cell]:
    """Return cells of times, without seconds."""
    return text_cells(times, missing, write="{:%Y-%m-%d %H:%M}".format)


def text_cells(
    column: Iterable[Any], missing: str = _DASH, limit: int = 90, write: Callable[[Any], str] = str
) -> list[Cell]:
    """Return cells of values, converted to text with `write`."""
    return [Cell(missing if pd.isna(value) else write(value), limit) for value in column]


def terminal_width() -> int | None:
    """Return ``COLUMNS``, or the width of the terminal. Without both, return None."""
    if not os.environ.get("COLUMNS") and not (sys.stdout and sys.stdout.isatty()):
        return None
    return shutil.get_terminal_size().columns


def console_text(table: Table, width: int | None, *, exact: bool = False) -> str:
    """Return a table as text. Columns that exceed `width` are written below each row.

    With `width` and without `exact`, long amounts are cut if the results remain distinct. Wallets
    and contracts with equal short forms are written in full.
    """
    full = _unshorten_ambiguous_addresses(table.columns)
    columns = full if exact or width is None else _cut_amounts(full)
    fitting, moved = (columns, {}) if width is None else _split_columns(columns, width)
    head, rule, *rows = _aligned_lines(fitting)
    lines = [head, rule]
    for number, row in enumerate(rows):
        more = [f"{name}: {_shown_text(cells[number])}" for name, cells in moved.items()]
        filled = "  ".join(text for text in more if not text.endswith(": "))
        line_width = max((width or 0) - len(_INDENT), 1)
        wrapped = wrap(filled, line_width, break_long_words=False, break_on_hyphens=False)
        lines += [row, *(f"{_INDENT}{line}" for line in wrapped)]
    if table.left_out:
        lines.append(f"… and {table.left_out:,} more")
    note = [] if columns == full else wrap(CUT_NOTE, width or len(CUT_NOTE))
    return "\n".join([*lines, *note])


def _aligned_lines(columns: Columns) -> list[str]:
    drawn = []
    for name, cells in columns.items():
        texts = [name, *map(_shown_text, cells)]
        widths = [*map(_text_width, texts)]
        width = max(widths)
        gaps = [" " * (width - each) for each in widths]
        pairs = list(zip(gaps, texts, strict=True))
        sides = [gap + text if name in NUMBER_COLUMNS else text + gap for gap, text in pairs]
        drawn.append([sides[0], "-" * width, *sides[1:]])
    return ["  ".join(row).rstrip() for row in zip(*drawn, strict=True)]


def _shown_text(cell: Cell) -> str:
    return safe_line(cell.text, cell.limit)


def _text_width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def _split_columns(columns: Columns, width: int) -> tuple[Columns, Columns]:
    """Return the columns that fit on one line, and the columns to write below the line."""
    line, moved = dict(columns), dict[str, list[Cell]]()
    texts = {name: [name, *map(_shown_text, cells)] for name, cells in columns.items()}
    widths = {name: max(map(_text_width, each)) for name, each in texts.items()}

    def excess_width() -> int:
        return sum(widths[name] + 2 for name in line) - 2 - width

    for name in [*_SENTENCES, "token", *reversed([*columns][1:])]:
        if excess_width() <= 0:
            break
        if name not in line or len(line) == 1:
            continue
        if name == "token" and widths[name] > _MIN_SYMBOL:
            widths[name] = max(_MIN_SYMBOL, widths[name] - excess_width())
            line[name] = [cell._replace(limit=min(cell.limit, widths[name])) for cell in line[name]]
        else:
            moved = {name: line.pop(name)} | moved
    return line, moved


def _unshorten_ambiguous_addresses(columns: Columns) -> Columns:
    expanded = dict(columns)
    for name in _NAMES:
        addresses: defaultdict[str, set[str]] = defaultdict(set)
        for cell in columns.get(name, ()):
            if cell.full_text is not None:
                addresses[cell.text].add(canonical_address(cell.full_text.partition(".")[2]))
        ambiguous = {text for text, distinct in addresses.items() if len(distinct) > 1}
        if ambiguous:
            expanded[name] = [
                _unshorten(cell, name) if cell.text in ambiguous else cell for cell in columns[name]
            ]
    return expanded


def _unshorten(cell: Cell, name: str) -> Cell:
    text = cell.full_text or cell.text
    text = text.partition(".")[2] if name == "contract" else text
    return cell._replace(text=text, limit=len(text))


def _cut_amounts(columns: Columns) -> Columns:
    """Cut long amounts. Keep an amount whole if the result would be ambiguous or look like 0."""
    texts = {cell.text for name in _AMOUNTS for cell in columns.get(name, ())}
    short: defaultdict[str, list[str]] = defaultdict(list)
    for text in texts:
        short[_cut_amount(text)].append(text)
    cut = {texts[0]: text for text, texts in short.items() if len(texts) == 1}
    return {
        name: [cell._replace(text=cut.get(cell.text, cell.text)) for cell in cells]
        if name in _AMOUNTS
        else cells
        for name, cells in columns.items()
    }


def _cut_amount(text: str) -> str:
    integer_part, _, fraction = text.partition(".")
    digits = len(integer_part.removeprefix("-"))
    if _NUMBER.fullmatch(text) is None or digits + len(fraction) <= DIGITS:
        return text
    if digits > DIGITS:
        return f"{integer_part[:_HEAD_DIGITS]}…({digits} digits)"
    kept = f"{integer_part}.{fraction[: DIGITS - digits]}"
    return f"{kept}…" if kept.strip("-0.") else text
