"""Which columns a table has: those of balances, or of their sums by wallet, token and the like."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from walletframe.address import canonical_blockchain
from walletframe.frames import (
    HOLDING_DTYPES,
    WALLET_DTYPES,
    given_names,
    is_unknown,
    kept_names,
    short_contract,
    text_array,
    token_identities,
    token_names,
    wallet_identities,
    wallet_names,
    whole_wallet,
)
from walletframe.pickers.cells import Cells, Texts, alphabetical, text_cells
from walletframe.pickers.columns import PICKS, Amounts, Column, cells_of
from walletframe.text import as_link, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from walletframe.frames import Codes, Identities, Mask, Positions, TokenKey

_LABEL, _HEADING, _SEARCHED, _WHOLE = 64, 40, 100, 500
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_VALUED = ("unit_price", "value", "currency")
_RANKS = ["token", "amount", "value", "wallet", "price", "holders", "tokens", "balances", "known"]
_OWN, _LAST = 20, 90  # behind those, and before the rest
_COUNTS = {
    "tokens": "tokens",
    "holders": "holders",
    "balances": "balances",
    "amount_na": "unknown amounts",
    "unpriced": "unpriced",
}
NAMES = ("wallet", "token", "asset", "blockchain")  # to group by, beside a user's own
_ODD = {"amount_na", "unpriced"}  # shown where there are any


@dataclass(frozen=True, slots=True)
class Grid:
    """The columns of a table of n rows, in the order in which they stand."""

    columns: dict[str, Column]
    count: int
    opens_by: tuple[str, bool]  # the column that sorts it at first, and whether downwards

    @classmethod
    def of(cls, columns: Iterable[Column], count: int) -> Grid:
        """Open with the most valuable rows; where no values are known, as the rows stand."""
        named = {column.name: column for column in columns}
        first = next((name for name in ("value", "balances") if name in named), "")
        return cls(named, count, (first, bool(first)))

    def meant(self, name: str, row: int) -> tuple[str, Any] | None:
        """Return the wallet, token or blockchain that stands in a cell, with its kind."""
        column = self.columns.get(name)
        if name not in PICKS or column is None or not isinstance(column.cells, Texts):
            return None
        key = column.cells.key(row)
        return None if key is None else (PICKS[name], key)


def balances_grid(positions: Positions, names: Mapping[TokenKey, str]) -> Grid:
    """Show each balance, and what holdings and wallets have in columns of the user's."""
    holdings, tokens, wallets = positions.holdings, positions.tokens, _asked(positions)
    texts = {
        "wallet": _wallet_cells(positions.wallets, positions.wallet_codes, wallets),
        **_token_cells(holdings, tokens, _explorers(wallets), names),
    }
    numbers: dict[str, Cells] = {"amount": Amounts(positions.amounts, holdings.get("raw_amount"))}
    price = next((name for name in ("unit_price", "price") if name in holdings), None)
    if price is not None and holdings[price].notna().any():
        numbers["price"] = cells_of(holdings[price])
    columns = _columns(texts | numbers) + _value_column(holdings)
    own = [holdings.iloc[:, place] for place in _own(holdings, HOLDING_DTYPES)]
    if wallets is not None:
        rows = positions.first[positions.wallet_codes]
        kept = [wallets.iloc[:, place] for place in _own(wallets, [*WALLET_DTYPES, "name"])]
        own += [pd.Series(each.array.take(rows), name=each.name) for each in kept]
    columns += [_own_column(f"own {place}", each, _OWN) for place, each in enumerate(own)]
    grid = Grid.of(columns, len(holdings))
    is_one = len(tokens.keys) == 1
    return with_bars(grid, positions, np.ones(len(holdings), dtype=bool)) if is_one else grid


def with_bars(grid: Grid, positions: Positions, marks: Mask) -> Grid:
    """Draw bars behind the amounts of one token, whose rows are marked; others don't compare."""
    raw = positions.holdings.get("raw_amount")
    amounts = replace(grid.columns["amount"], cells=Amounts(positions.amounts, raw, marks))
    return replace(grid, columns=grid.columns | {"amount": amounts})


def groups_grid(positions: Positions, by: str, sums: pd.DataFrame) -> Grid:
    """Show the sums that `totals` gives, by one name."""
    wallets = _asked(positions)
    each = np.arange(len(sums))
    texts: dict[str, Cells]
    if by == "token":
        texts = _token_cells(sums, token_identities(sums), _explorers(wallets), {})
    elif by == "wallet":
        texts = {"wallet": _wallet_cells(sums, each, wallets)}
    else:
        texts = {}
    columns = _columns(texts) or [_own_column(by if by in PICKS else "group", sums[by], 0)]
    numbers = {"amount": cells_of(sums["amount"])} if "amount" in sums else {}
    columns += _columns(numbers) + _value_column(sums)
    counted = {
        name: cells_of(sums[name])
        for name in _COUNTS
        if name in sums and (name not in _ODD or (sums[name] > 0).any())
    }
    if "wallets_asked" in sums:
        counted["known"] = _known_cells(sums)
    return Grid.of(columns + _columns(counted), len(sums))


def names_to_group_by(positions: Positions) -> list[str]:
    """Return what the rows can be grouped by; of a user's own columns those that are no numbers."""
    held = positions.holdings
    names = Counter(held.columns)
    own = [
        name for name in kept_names(held) if names[name] == 1 and not is_numeric_dtype(held[name])
    ]
    return list(dict.fromkeys([*NAMES, *positions.kept, *own]))


def _asked(positions: Positions) -> pd.DataFrame | None:
    return positions.given if positions.asked else None


def _own(frame: pd.DataFrame, contract: Iterable[str]) -> list[int]:
    """Find the places of columns that are the user's own; two may have one name."""
    ours = {*contract, *_VALUED}
    return [place for place, name in enumerate(frame.columns) if name not in ours]


def _own_column(name: str, series: pd.Series, rank: int) -> Column:
    return Column(name, shown(str(series.name), _HEADING), rank, cells_of(series))


def _columns(cells: Mapping[str, Cells]) -> list[Column]:
    labels = _COUNTS | {"known": "wallets known"}
    return [
        Column(name, labels.get(name, name), _RANKS.index(name) if name in _RANKS else _LAST, each)
        for name, each in cells.items()
    ]


def _value_column(frame: pd.DataFrame) -> list[Column]:
    """Show values as money; a user's own column may hold anything else."""
    if "value" not in frame:
        return []
    currencies: Any = frame["currency"].dropna().unique() if "currency" in frame else []
    unit = f" ({shown(str(currencies[0]), 12)})" if len(currencies) == 1 else ""
    rank = _RANKS.index("value")
    columns = [Column("value", f"value{unit}", rank, cells_of(frame["value"], money=True))]
    if len(currencies) > 1:
        columns.append(Column("currency", "currency", rank, text_cells(frame["currency"])))
    return columns


def _wallet_cells(named: pd.DataFrame, codes: Codes, wallets: pd.DataFrame | None) -> Texts:
    """Name wallets, of which `named` has one row each, and link their explorer's pages."""
    names = given_names(named, wallets)
    labels = wallet_names(named, np.arange(len(named)), names)
    chains, addresses = (named[name].fillna("") for name in ("blockchain", "address"))
    pairs = [*zip(chains, addresses, strict=True)]
    keys = [f"{chain}.{address}" for chain, address in pairs]
    wholes = [whole_wallet(*pair) for pair in pairs]
    by = [alphabetical(f"{name}{whole}") for name, whole in zip(names, wholes, strict=True)]
    links: list[str | None] = []
    if wallets is not None:
        asked, pages = wallet_identities(wallets), _pages(wallets)
        found = {key: pages[row] for key, row in zip(asked.keys, asked.first, strict=True)}
        links = [found.get(key) for key in wallet_identities(named).keys]
    return Texts(codes, labels, wholes, links=links, by=by, keys=keys)


def _token_cells(
    frame: pd.DataFrame,
    tokens: Identities,
    explorers: Mapping[str, str],
    known: Mapping[TokenKey, str],
) -> dict[str, Cells]:
    """Name the token of each row, its blockchain and its contract."""
    first, codes = tokens.first, tokens.codes
    symbols, chains, contracts = (
        frame[name].array.take(first).tolist()
        for name in ("symbol", "token_blockchain", "token_address")
    )
    places = np.arange(len(tokens.keys))
    named = token_names(frame, tokens, places)
    names = [known.get(key, name) for key, name in zip(tokens.keys, named, strict=True)]
    sent = [each[:_SEARCHED] if isinstance(each, str) else "" for each in symbols]
    short = [short_contract(*pair) for pair in zip(chains, contracts, strict=True)]
    wholes = [
        shown(contract, _WHOLE) if isinstance(contract, str) else label
        for contract, label in zip(contracts, short, strict=True)
    ]
    links = [_contract_link(*pair, explorers) for pair in zip(chains, contracts, strict=True)]
    keys = [None if is_unknown(key) else key for key in tokens.keys]
    full = [shown(each, _WHOLE) if isinstance(each, str) else "" for each in symbols]
    return {
        "token": Texts(
            codes,
            [name if len(name) <= _LABEL else f"{name[: _LABEL - 1]}…" for name in names],
            [name if whole in name else whole for whole, name in zip(full, names, strict=True)],
            words=sent,
            by=[alphabetical(name) for name in names],
            keys=keys,
        ),
        "blockchain": text_cells(pd.Series(text_array(chains).take(codes))),
        "contract": Texts(
            codes,
            short,
            wholes,
            links=links,
            by=[alphabetical(whole) for whole in wholes],
            keys=keys,
        ),
    }


def _pages(wallets: pd.DataFrame) -> list[str | None]:
    if "explorer_url" not in wallets:
        return [None] * len(wallets)
    return [as_link(link) if isinstance(link, str) else None for link in wallets["explorer_url"]]


def _explorers(wallets: pd.DataFrame | None) -> dict[str, str]:
    """Learn of each blockchain how its explorer writes the page of an address, up to that.

    An explorer shows a contract as it shows any address.
    """
    found: dict[str, str] = {}
    if wallets is None:
        return found
    named = zip(wallets["blockchain"], wallets["address"], _pages(wallets), strict=True)
    for chain, address, page in named:
        if page is not None and isinstance(address, str):
            before, _, after = page.lower().rpartition(quote(address, safe="").lower())
            if before and not after:
                found.setdefault(canonical_blockchain(chain), page[: len(before)])
    return found


def _contract_link(chain: object, contract: object, explorers: Mapping[str, str]) -> str | None:
    if not isinstance(chain, str) or not isinstance(contract, str):
        return None
    before = explorers.get(canonical_blockchain(chain))
    return as_link(f"{before}{contract}") if before and _PLAIN.fullmatch(contract) else None


def _known_cells(sums: pd.DataFrame) -> Texts:
    """Say of how many of the wallets of each group it is known what they hold."""
    names = ["wallets_ok", "wallets_stale", "wallets_asked"]
    kinds, codes = np.unique(sums[names].to_numpy(np.int64), axis=0, return_inverse=True)
    labels, by = [], []
    for ok, stale, asked in kinds.tolist():
        labels.append(f"{ok:,} of {asked:,}" + (f", {stale:,} stale" if stale else ""))
        by.append((ok / max(asked, 1), ok - stale, asked))
    return Texts(codes.ravel(), labels, by=by)
