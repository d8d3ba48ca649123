"""What stands in the displayed tables, as cells: exact amounts, addresses by their two ends.

Texts are as sent, and may be hostile: `display`, which draws them, makes them harmless.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import pandas as pd

from walletframe.frames.known import known_wallets
from walletframe.frames.names import given_names, short_contract, short_wallet, whole_wallet
from walletframe.numerals import money, plain
from walletframe.text import as_link

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ROWS = 10
DASH, UNKNOWN = "-", "unknown"
NUMBERS = frozenset(
    {"tokens", "amount", "price", "value", "holders", "balances", "unpriced", "wallets", "block"}
    | {"contracts", "blockchains"}
    | {"before", "after", "difference", "unknown", "complete", "ok", "share"}
)
"""Headings of the columns that stand to the right."""
_SYMBOL, _DIGITS = 24, 1_000


@dataclass(frozen=True, slots=True)
class Cell:
    """A text as strangers may have written it, how much of it to show, and where it leads.

    ``whole`` is what the text stands for, where it was shortened.
    """

    text: str
    limit: int = 90
    whole: str | None = None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """The first rows of ``total``: columns of one length, by their headings."""

    name: str
    columns: Mapping[str, list[Cell]]
    total: int

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """The cells, row by row."""
        return list(zip(*self.columns.values(), strict=True))

    @property
    def left_out(self) -> int:
        """How many rows are not shown."""
        return self.total - len(next(iter(self.columns.values())))


def wallets_table(wallets: pd.DataFrame, rows: int | None = ROWS) -> Table:
    """Show wallets; a limited number with failed ones first, then those with a remark."""
    head = wallets
    if rows is not None:
        failed = ~known_wallets(wallets)
        flawed = wallets["error"].notna().to_numpy() & ~failed
        head = wallets.iloc[(2 - 2 * failed - flawed).argsort(kind="stable")[:rows]]
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
    """Show balances in their order, with prices, values and currencies where there are any.

    `wallets` may name the wallets.
    """
    head = holdings if rows is None else holdings.head(rows)
    columns = balance_columns(head, wallets)
    if head["price"].notna().any():
        columns["price"] = text_cells(head["price"].map(plain, na_action="ignore"))
    if "value" in head:
        columns["value"] = value_cells(head["value"])
    if "currency" in head and head["currency"].notna().any():
        columns["currency"] = text_cells(head["currency"])
    return Table("holdings", columns, len(holdings))


def balance_columns(
    holdings: pd.DataFrame, wallets: pd.DataFrame | None = None
) -> dict[str, list[Cell]]:
    """Give the columns wallet, token, contract and amount."""
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
    """Write what is known of an amount that is NA: what was sent, or that nothing was."""
    if not isinstance(raw_amount, str):
        return UNKNOWN
    digits = raw_amount.isascii() and raw_amount.isdecimal()
    return f"{raw_amount} base units" if digits else f"unreadable: {raw_amount}"


def amount_cells(amounts: pd.Series) -> list[Cell]:
    """Write amounts to the last digit."""
    return text_cells(amounts, UNKNOWN, limit=_DIGITS)


def wallet_cells(
    frame: pd.DataFrame,
    wallets: pd.DataFrame | None = None,
    *,
    links: Iterable[object] | None = None,
) -> list[Cell]:
    """Name the wallet of each row as `wallets` does, with its link where that is http or https."""
    links = [None] * len(frame) if links is None else links
    named = zip(frame["blockchain"], frame["address"], given_names(frame, wallets), strict=True)
    return [
        Cell(
            short_wallet(*each),
            whole=whole_wallet(*each),
            link=as_link(link) if isinstance(link, str) else None,
        )
        for each, link in zip(named, links, strict=True)
    ]


def contract_cells(frame: pd.DataFrame, none: str = "unknown token") -> list[Cell]:
    """Name the contract of each row, ``none`` where it has neither blockchain nor address."""
    cells = []
    for chain, address in zip(frame["token_blockchain"], frame["token_address"], strict=True):
        whole = None
        if isinstance(chain, str) and isinstance(address, str):
            whole = whole_wallet(chain, address)
        told = isinstance(chain, str) or isinstance(address, str)
        cells.append(Cell(short_contract(chain, address) if told else none, whole=whole))
    return cells


def value_cells(values: pd.Series, missing: str = DASH) -> list[Cell]:
    """Write values as money; a user's own column may hold anything else."""
    written = (money(value) if isinstance(value, float) else str(value) for value in values)
    known = values.notna()
    return [Cell(text if there else missing) for text, there in zip(written, known, strict=True)]


def minute_cells(times: pd.Series, missing: str = DASH) -> list[Cell]:
    """Write times to the minute."""
    return text_cells(times.dt.strftime("%Y-%m-%d %H:%M"), missing)


def text_cells(column: pd.Series, missing: str = DASH, limit: int = 90) -> list[Cell]:
    """Write values as ``str`` does."""
    return [Cell(missing if pd.isna(value) else str(value), limit) for value in column]
