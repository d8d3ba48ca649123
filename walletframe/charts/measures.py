"""What the size of a shape means: value, exact amount, share, or number of balances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import pandas as pd

from walletframe.errors import PricesError
from walletframe.frames import held_names, whole_token
from walletframe.numerals import brief, compact, many, money, percent
from walletframe.text import shown

if TYPE_CHECKING:
    import numpy.typing as npt

    from walletframe.amounts.scalar import Amount
    from walletframe.frames import Positions, TokenLike

    Places: TypeAlias = npt.NDArray[np.intp]
    Sizes: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measure:
    """What sizes mean, in words, and the unit behind a number; the words of each are its own."""

    phrase: str
    unit: str = ""

    noun: ClassVar[str] = "amount"
    one_token: ClassVar[bool] = False  # then its wallets are told apart, not its tokens
    adds_up: ClassVar[bool] = True  # whether sizes of different tokens can be added

    @property
    def name(self) -> str:
        """What an axis of sizes is called."""
        return self.phrase

    def title(self, rest: str) -> str:
        """Name a chart by what it is of, and by the rest: "by wallet"."""
        return f"Holdings {rest}"

    def short(self, size: float) -> str:
        """Write a size in a few characters."""
        return f"{compact(size)} {self.unit}".rstrip()

    def words(self, size: float) -> str:
        """Write a size where it stands alone."""
        return self.short(size)

    def below(self, size: float) -> str:
        """Write a size below a line that says how many things it is of."""
        return self.short(size)

    def share(self, size: float, total: float) -> str:
        """Write a size as a sentence says it, with its share of the total."""
        return f"{percent(size / total)} of all"

    def slice(self, size: float, total: float) -> str:
        """Write what part a slice is, nothing where all are of one size."""
        return percent(size / total)

    def cell(self, size: float) -> str:
        """Write a size in a cell of a table."""
        return compact(size)

    def tick(self, size: float) -> str:
        """Write a size on a scale."""
        return compact(size)

    def leaf(self, size: float, amount: Amount | None, of: str) -> str:
        """Write how much of a token a wallet has, or several: `of` says how many, else empty."""
        return self.short(size)

    def leaf_share(self, size: float, total: float, of: str) -> str:
        """Write the share of what `leaf` writes."""
        return self.share(size, total)

    def height(self, size: float, exact: str) -> str:
        """Write a size on one line; the amount is empty where it is of several tokens or none."""
        return self.short(size)

    def axis(self, largest: float) -> dict[str, int]:
        """Return what an axis of sizes up to the largest needs."""
        return {}

    def unknown(self, tokens: Places) -> str:
        """Say that rows are not drawn since their size is unknown; `tokens` are theirs."""
        return f"{many(len(tokens), 'balance')} of unknown amount not drawn."


class Value(Measure):
    """Values in one currency."""

    __slots__ = ()
    noun = "value"

    def share(self, size: float, total: float) -> str:
        return f"{f'{money(size)} {self.unit}'.rstrip()} ({percent(size / total)} of all)"

    def height(self, size: float, exact: str) -> str:
        return f"{exact} ({self.short(size)})" if exact else self.short(size)

    def unknown(self, tokens: Places) -> str:
        return f"{many(len(np.unique(tokens)), 'token')} without a value not drawn."


class TokenAmount(Measure):
    """Amounts of one token; the unit is its symbol."""

    __slots__ = ()
    one_token = True

    def title(self, rest: str) -> str:
        return f"{self.unit} {rest}"

    def height(self, size: float, exact: str) -> str:
        return exact or "0"


class TokenShare(Measure):
    """Shares of each token, or asset, which is the unit: of all of it in the frame."""

    __slots__ = ()
    adds_up = False

    @property
    def name(self) -> str:
        return f"share of the {self.unit}"

    def title(self, rest: str) -> str:
        return f"Share of each {self.unit} {rest}"

    def share(self, size: float, total: float) -> str:
        return f"{percent(size)} of the {self.unit}"

    def cell(self, size: float) -> str:
        return percent(size)

    def tick(self, size: float) -> str:
        return f"{compact(100 * size)}%"


class Count(Measure):
    """Numbers of balances."""

    __slots__ = ()
    name = "number of balances"

    def words(self, size: float) -> str:
        return many(round(size), "balance")

    def below(self, size: float) -> str:
        return ""

    def share(self, size: float, total: float) -> str:
        return f"{self.words(size)} ({percent(size / total)} of all)"

    def slice(self, size: float, total: float) -> str:
        return ""

    def leaf(self, size: float, amount: Amount | None, of: str) -> str:
        return of or brief(amount)

    def leaf_share(self, size: float, total: float, of: str) -> str:
        return self.share(size, total) if of else ""

    def axis(self, largest: float) -> dict[str, int]:
        return {"dtick": 1} if largest < 10 else {}  # noqa: PLR2004  no half balance on it


_SYMBOL = 24
_COUNT = Count("number of balances, since different tokens can't be added")
_SHARE = "a wallet's share of all of the {} that these wallets hold"


def measured(
    positions: Positions, rows: Places, *, token: TokenLike | None, shares: bool
) -> tuple[Measure, Sizes]:
    """Tell how much each of some rows counts: NaN where unknown, negative or 0 where nothing is.

    The rows are those of `token`, where there is one. With `shares` a row counts with its share
    where there are neither a token nor values. Values in several currencies are a PricesError.
    """
    if token is not None:
        symbol, name = _names(positions, rows, token)
        amounts = positions.amounts[rows].to_numpy(dtype=np.float64)
        return TokenAmount(f"amount of {name}", symbol), _finite(amounts)
    if "value" in positions.holdings:
        values = _finite(positions.holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan))
        return _value(positions.holdings, values), values[rows]
    amounts = positions.amounts[rows]
    if shares:
        sizes, tokens = _finite(amounts.to_numpy(dtype=np.float64)), positions.tokens.codes[rows]
        totals = np.bincount(tokens, np.where(sizes > 0, sizes, 0))
        share = TokenShare(_SHARE.format(positions.kind), positions.kind)
        return share, np.asarray(sizes / np.where(totals > 0, totals, 1)[tokens])
    # A balance counts as one, of unknown amount included, and as none where it is 0 or less.
    integers, missing, _ = amounts.exact()
    return _COUNT, np.where(missing | (integers > 0), 1.0, np.where(integers < 0, -1.0, 0.0))


def left_out(measure: Measure, sizes: Sizes, tokens: Places) -> list[str]:
    """Say which rows are not drawn, given the token of each; those of 0 need no mention."""
    unknown, negative = np.isnan(sizes), int((sizes < 0).sum())
    said = [measure.unknown(tokens[unknown])] if unknown.any() else []
    return [*said, f"{many(negative, 'negative balance')} not drawn."] if negative else said


def why_none(measure: Measure, sizes: Sizes) -> str:
    """Say why there is nothing to draw, where there is nothing."""
    if not len(sizes):
        return "No holdings: there is no row to draw."
    return f"No {measure.noun} is {'known' if np.isnan(sizes).all() else 'above zero'}."


def _names(positions: Positions, rows: Places, token: TokenLike) -> tuple[str, str]:
    """Name a token by its symbol, and so that it is told from others."""
    if not len(rows):
        asked = shown(token if isinstance(token, str) else token[1] or f"{token[0]} coin", _SYMBOL)
        return asked, asked
    place = int(positions.tokens.codes[rows[0]])
    [name] = held_names(positions, np.array([place]))
    if positions.assets:
        return shown(name, _SYMBOL), name
    return shown(whole_token(positions.holdings, positions.tokens, place)[0], _SYMBOL), name


def _value(holdings: pd.DataFrame, values: Sizes) -> Value:
    """Name the currency of all values; an unknown one is not that of the others."""
    if "currency" not in holdings.columns:
        return Value("value")
    named = holdings["currency"][~np.isnan(values)].unique()
    currencies = ["unknown" if pd.isna(name) else str(name) for name in named]
    if len(currencies) > 1:
        raise PricesError(
            f"the values are in {len(currencies)} currencies: {currencies[:5]}",
            hint="currencies can't be added: draw each currency's rows separately",
        )
    unit = shown(currencies[0], 12) if currencies != ["unknown"] and currencies else ""
    return Value(f"value in {unit}" if unit else "value", unit)


def _finite(sizes: npt.NDArray[Any]) -> Sizes:
    """Take what no plot has room for as unknown."""
    return np.where(np.isfinite(sizes), sizes, np.nan)
