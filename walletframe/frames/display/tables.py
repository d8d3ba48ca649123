"""What stands in the tables that a person sees; how it is drawn is not known here.

Exact amounts, addresses by their two ends, what is not ok first. Texts are as sent: whoever draws
a cell makes it harmless.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd

from walletframe.frames.known import known_wallets
from walletframe.text import as_link, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable

ROWS = 10
_DASH = "-"
_CENT, _TOO_LARGE = 0.005, 1e15


@dataclass(frozen=True, slots=True)
class Cell:
    """What is said in one place.

    Attributes
    ----------
    text : str
        As strangers may have written it.
    limit : int
        The most characters of it to show.
    whole : str or None
        What the text stands for, where it was shortened.
    link : str or None
        Where it leads: only ``http`` or ``https``.
    """

    text: str
    limit: int = 90
    whole: str | None = None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """The first rows of a frame.

    Attributes
    ----------
    name : str
        What the rows are.
    columns : dict of str to list of Cell
        All of one length, by their headings.
    total : int
        How many rows there are in all.
    """

    name: str
    columns: dict[str, list[Cell]]
    total: int

    @property
    def left_out(self) -> int:
        """How many rows are not among the first."""
        return self.total - len(next(iter(self.columns.values())))


NUMBERS = frozenset({"tokens", "amount", "price", "value"})


def wallets_table(wallets: pd.DataFrame, rows: int | None = ROWS) -> Table:
    """Choose what to show of the wallets.

    Parameters
    ----------
    wallets : DataFrame
        The ``wallets`` of a fetch.
    rows : int or None, default 10
        The most rows: those that are not ok first, then those that are out of date or of which
        not all could be read, otherwise in their order. None for all of them, in their order.

    Returns
    -------
    Table
        wallet, status, reason where there is any, tokens, source and answered (UTC).
    """
    head = wallets if rows is None else _worst_first(wallets).head(rows)
    columns = {
        "wallet": _wallets(head, head["explorer_url"]),
        "status": _texts(head["status"]),
        "reason": _texts(head["error"], missing=""),
        "tokens": _texts(head["tokens"]),
        "source": _texts(head["source"]),
        "answered (UTC)": _texts(head["fetched_at"].dt.strftime("%Y-%m-%d %H:%M")),
    }
    if head["error"].isna().all():
        del columns["reason"]
    return Table("wallets", columns, len(wallets))


def holdings_table(holdings: pd.DataFrame, rows: int | None = ROWS) -> Table:
    """Choose what to show of the holdings.

    Parameters
    ----------
    holdings : DataFrame
        The ``holdings`` of a fetch.
    rows : int or None, default 10
        The most rows; None for all of them.

    Returns
    -------
    Table
        wallet, token, contract, amount and, where one was sent, price; after a valuation, value
        and, where it was named, currency.
    """
    head = holdings if rows is None else holdings.head(rows)
    contracts = zip(head["token_blockchain"], head["token_address"], strict=True)
    columns = {
        "wallet": _wallets(head, [None] * len(head)),
        "token": [Cell(symbol, 24) for symbol in head["symbol"].fillna("")],
        "contract": [_contract(*pair) for pair in contracts],
        "amount": list(map(_amount, head["amount"], head["raw_amount"])),
        "price": _texts(head["price"]),
    }
    if head["price"].isna().all():
        del columns["price"]
    if "value" in head:
        columns["value"] = [_value(value) for value in head["value"]]
    if "currency" in head and head["currency"].notna().any():
        columns["currency"] = _texts(head["currency"])
    return Table("holdings", columns, len(holdings))


def worth(value: float) -> str:
    """Write a value, which is never so small as to look like nothing.

    Parameters
    ----------
    value : float
        In any currency.

    Returns
    -------
    str
        To the cent; in two digits below half a cent, in four where a person counts no digits.

    Examples
    --------
    >>> worth(1234.5), worth(0.00012), worth(0), worth(1e18)
    ('1,234.50', '0.00012', '0.00', '1.000e+18')
    """
    if abs(value) >= _TOO_LARGE:
        return f"{value:.3e}"
    return f"{value:.2g}" if 0 < abs(value) < _CENT else f"{value:,.2f}"


def _worst_first(wallets: pd.DataFrame) -> pd.DataFrame:
    failed = ~known_wallets(wallets, stale=True)
    flawed = wallets["error"].notna().to_numpy() & ~failed
    order = (2 - 2 * failed - flawed).argsort(kind="stable")
    return wallets.iloc[order]


def _wallets(frame: pd.DataFrame, links: Iterable[object]) -> list[Cell]:
    named = zip(frame["blockchain"], frame["address"], links, strict=True)
    return [
        Cell(
            f"{chain[:20]}.{shortened(address)}",
            whole=f"{chain}.{address}",
            link=as_link(link) if isinstance(link, str) else None,
        )
        for chain, address, link in named
    ]


def _contract(blockchain: object, address: object) -> Cell:
    if not isinstance(blockchain, str):
        return Cell("unknown token")
    if not isinstance(address, str):
        return Cell("native coin")
    return Cell(shortened(address), whole=f"{blockchain}.{address}")


def _amount(amount: object, raw_amount: object) -> Cell:
    if isinstance(amount, Decimal):
        return Cell(str(amount))
    return Cell(unread_amount(raw_amount))


def unread_amount(raw_amount: object) -> str:
    """Write what is known of an amount that is NA: what was sent, as strangers may have written it.

    Examples
    --------
    >>> unread_amount("1500"), unread_amount("0x1f"), unread_amount(None)
    ('1500 base units', 'unreadable: 0x1f', 'unknown')
    """
    if not isinstance(raw_amount, str):
        return "unknown"
    digits = raw_amount.isascii() and raw_amount.isdecimal()
    return f"{raw_amount} base units" if digits else f"unreadable: {raw_amount}"


def _value(value: Any) -> Cell:
    if pd.isna(value):
        return Cell(_DASH)
    return Cell(worth(value) if isinstance(value, float) else str(value))


def _texts(column: pd.Series, missing: str = _DASH) -> list[Cell]:
    return [Cell(missing if pd.isna(value) else str(value)) for value in column]
