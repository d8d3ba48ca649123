"""A fetch, valued and judged once for all views of it, and the part of it that is selected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.address import canonical_blockchain, canonical_key, parse_wallets
from walletframe.analysis import flag_spam, value
from walletframe.charts import token_colors
from walletframe.errors import ArgumentError, PricesError
from walletframe.frames import (
    HOLDING_DTYPES,
    WALLET_DTYPES,
    given_names,
    is_unknown,
    kept_names,
    read_positions,
    require_columns,
    wallet_identities,
    worth,
)
from walletframe.pickers.options import facts
from walletframe.pickers.table import HoldingsTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from walletframe.frames import Identities, Mask, Positions, TokenKey, WalletDetails
    from walletframe.frames.known import Worth
    from walletframe.pickers.options import Fact, Floats, Options

    Prepare: TypeAlias = Callable[[pd.DataFrame], pd.DataFrame]

VALUED = ["unit_price", "value", "currency"]
DUST = 1.0  # a balance of less value is dust
MOST_ROWS = 200_000  # of a folder that are read into memory


@dataclass(frozen=True, slots=True)
class Selection:
    """What a person chose; where nothing of a kind is chosen, all of it is meant."""

    blockchains: tuple[str, ...] = ()
    wallets: tuple[str, ...] = ()
    tokens: tuple[TokenKey, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()  # columns that wallets keep, and texts in these
    spam: bool = False  # whether it is shown
    dust: bool = True  # whether it is shown

    def wallet_keys(self) -> list[TokenKey]:
        """Return the identities of the chosen wallets, in the order chosen."""
        named = parse_wallets(self.wallets)
        return [canonical_key(wallet.blockchain, wallet.address) for wallet in named]


class Portfolio:
    """A fetch, with values and spam flags: those of `prepare` where it gives some, else our own."""

    def __init__(
        self,
        details: WalletDetails,
        prepare: Prepare | None = None,
        *,
        reading: str = "",
        judged: Judged | None = None,
    ) -> None:
        """Take a fetch; `reading` has the code that reads it, where it was read from a folder."""
        require_columns(details.wallets, WALLET_DTYPES)
        holdings = details.holdings
        self.fetched: WalletDetails = details
        self.prepare: Prepare | None = prepare
        self.reading: str = reading
        self.judged: Judged | None = judged
        if prepare is not None:
            holdings = _prepared(holdings, prepare)
        require_columns(holdings, HOLDING_DTYPES)
        self.priced_by: str = "own" if "value" in holdings else ""
        self.problem: str = ""
        if judged is not None:
            self.priced_by, self.problem = judged.priced_by, judged.problem
        elif not self.priced_by and holdings["price"].notna().any():
            try:
                holdings, self.priced_by = value(holdings), "service"
            except PricesError as error:
                self.problem = str(error)
        self.details: WalletDetails = details._replace(holdings=holdings)
        self.groups: list[str] = [name for name in kept_names(details.wallets) if name != "name"]
        self.asked: Identities = wallet_identities(details.wallets)
        self.held: Positions = read_positions(holdings)
        # Of holdings of other wallets than were asked nobody knows who else was.
        self.is_complete: bool = {*self.held.wallet_keys} <= {*self.asked.keys}
        self.colors: dict[TokenKey, str] = judged.colors if judged else token_colors(self.held)
        self.names: list[str] = given_names(self.held.wallets, details.wallets)
        self._table: HoldingsTable | None = None
        self.spam: Mask = judged.spam if judged else self._flags(holdings)
        self.row_values: Floats | None = (
            holdings["value"].to_numpy(np.float64, na_value=np.nan) if self.priced_by else None
        )

    def _flags(self, holdings: pd.DataFrame) -> Mask:
        if "is_spam" not in holdings:
            if self.prepare is not None:  # whoever prepares holdings decides what is in them
                return np.zeros(len(holdings), dtype=bool)
            holdings = flag_spam(holdings)
        return np.asarray(holdings["is_spam"].fillna(value=False).to_numpy(dtype=bool))

    def select(self, selection: Selection) -> Selected:
        """Return the wallets and the rows that are selected, and count what is left out."""
        marks = self.marks(selection)
        spam = np.unique(self.held.tokens.codes[marks & self.spam])
        if not selection.spam:
            marks = marks & ~self.spam
        dust, dust_value = np.zeros_like(marks), 0.0
        if self.row_values is not None:  # what has no value is not known to be small
            dust = marks & (self.row_values < DUST)
            dust_value = math.fsum(self.row_values[dust])
        if not selection.dust:
            marks = marks & ~dust
        asked, wallets = self.asked_marks(selection), self.details.wallets
        return Selected(
            portfolio=self,
            selection=selection,
            wallets=wallets if asked.all() else wallets[asked],
            held=self.held.where(marks),
            marks=marks,
            spam_tokens=len(spam),
            dust_balances=int(dust.sum()),
            dust_value=dust_value,
        )

    def facts(self, selection: Selection, kind: str) -> dict[Any, Fact]:
        """Return of what is held of a kind how many balances there are, and of what value."""
        held, values, keys = self.held, self.row_values, list[Any]()
        marks = self.marks(selection)
        if not selection.spam:
            marks &= ~self.spam
        if kind == "tokens":
            keys, codes = held.tokens.keys, held.tokens.codes
        elif kind == "wallets":
            keys = [f"{chain}.{address}" for chain, address in held.wallet_keys]
            codes = held.wallet_codes
        else:
            keys, codes = [*held.chain_places], held.chain_codes[held.wallet_codes]
        found = facts(keys, codes[marks], None if values is None else values[marks])
        return {key: fact for key, fact in found.items() if fact.balances and not is_unknown(key)}

    def options(self, _kind: str, made: Options) -> Options:
        """Return what there is to choose from, with what is held of each."""
        return made

    def table(self, selected: Selected) -> HoldingsTable:
        """Return a table of what is selected, with the names, columns and order of all."""
        wallets = self.details.wallets if self.is_complete else None
        if self._table is None:
            names = self.judged.names if self.judged else {}
            self._table = HoldingsTable(self.held, wallets, names=names)
        return self._table.where(selected.marks, selected.wallets if self.is_complete else None)

    def asked_marks(self, selection: Selection) -> Mask:
        """Mark the rows of wallets that are selected."""
        asked = _chosen(self.asked.keys, selection)[self.asked.codes]
        return np.asarray(asked & self._labelled(selection))

    def marks(self, selection: Selection) -> Mask:
        """Mark the rows of holdings that are selected, be they spam, dust or neither."""
        held, asked = self.held, self.asked
        owned = _chosen(held.wallet_keys, selection)[held.wallet_codes]
        if selection.labels:
            codes = asked.codes[self._labelled(selection)]
            owners = [asked.keys[code] for code in codes.tolist()]
            owned &= _among(held.wallet_keys, owners)[held.wallet_codes]
        if selection.tokens:
            owned &= _among(held.tokens.keys, selection.tokens)[held.tokens.codes]
        return owned

    def _labelled(self, selection: Selection) -> Mask:
        """Mark the wallets with any of the chosen labels of each column that has some."""
        wallets = self.details.wallets
        marks = np.ones(len(wallets), dtype=bool)
        for name in {name for name, _ in selection.labels}:
            texts = [label for column, label in selection.labels if column == name]
            marks &= label_texts(wallets[name]).isin(texts).to_numpy()
        return marks


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of some rows of a folder by all of them."""

    spam: Mask
    names: dict[TokenKey, str]  # of tokens, among all of the folder
    colors: dict[TokenKey, str]
    priced_by: str
    problem: str


@dataclass(frozen=True, slots=True)
class Summed:
    """Of balances that are too many to be shown one by one."""

    balances: int
    worth: Worth | None
    by_label: Callable[[str], Positions]  # rows for each label of a column, blockchain and token


@dataclass(frozen=True, slots=True)
class Selected:
    """The part of a portfolio that is selected, and how much of it is, or would be, left out."""

    portfolio: Portfolio
    selection: Selection
    wallets: pd.DataFrame
    held: Positions
    marks: Mask  # of all rows
    spam_tokens: int
    dust_balances: int
    dust_value: float
    summed: Summed | None = None  # then a row has the sum of a token's balances on a blockchain

    @property
    def worth(self) -> Worth | None:
        """What it is worth, if that is known."""
        return self.summed.worth if self.summed else worth(self.held.holdings)


def label_texts(column: pd.Series) -> pd.Series:
    """Return what a user says of wallets in a column, as text, empty where that is nothing."""
    return column.astype("str").fillna("")


def _chosen(wallets: list[TokenKey], selection: Selection) -> Mask:
    """Mark the wallets that are on the blockchains and among the wallets that are picked."""
    marks = np.ones(len(wallets), dtype=bool)
    if selection.blockchains:
        chains = [canonical_blockchain(name) for name in selection.blockchains]
        marks &= _among([chain for chain, _ in wallets], chains)
    if selection.wallets:
        marks &= _among(wallets, selection.wallet_keys())
    return marks


def _among(keys: Iterable[object], picked: Iterable[object]) -> Mask:
    wanted = set(picked)
    return np.array([key in wanted for key in keys], dtype=bool)


def _prepared(holdings: pd.DataFrame, prepare: Prepare) -> pd.DataFrame:
    hint = "give a function such as lambda holdings: holdings.wf.without_spam()"
    if not callable(prepare):
        raise ArgumentError(f"prepare is of type {type(prepare).__name__}, not a function", hint)
    made: object = prepare(holdings.copy(deep=False))  # what is written into it stays there
    if not isinstance(made, pd.DataFrame):
        said = f"prepare returned a {type(made).__name__}, not a DataFrame of holdings"
        raise ArgumentError(said, hint)
    return made
