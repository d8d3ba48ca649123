"""How much a row of holdings counts in a chart, and what that means.

With its value, with its exact amount where one token is looked at, with its share of all of its
token, or as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from walletframe.charts.labels import SHORT, token_labels, whole_token
from walletframe.charts.ranking import added
from walletframe.errors import PricesError
from walletframe.numerals import compact, many, money, percent
from walletframe.text import shown

if TYPE_CHECKING:
    import numpy.typing as npt

    from walletframe.amounts import AmountArray
    from walletframe.charts.ranking import Places, Sizes
    from walletframe.frames import Identities, TokenLike


@dataclass(frozen=True, slots=True)
class Measure:
    """What the size of a drawn thing means.

    Attributes
    ----------
    kind : str
        ``value``, ``amount``, ``share`` or ``count``.
    phrase : str
        The same in words.
    unit : str
        What stands behind a number, empty where nothing does.
    """

    kind: str
    phrase: str
    unit: str = ""

    def short(self, size: float) -> str:
        """Return a size in a few characters."""
        return f"{compact(size)} {self.unit}".rstrip()

    def axis(self, largest: float) -> dict[str, int]:
        """Return what an axis of sizes up to the largest needs: no half balance on it."""
        return {"dtick": 1} if self.kind == "count" and largest < 10 else {}  # noqa: PLR2004

    def share(self, size: float, total: float) -> str:
        """Return a size as a sentence says it: where it is one, with its share of the total."""
        if self.kind == "share":
            return f"{percent(size)} of the token"
        part = f"{percent(size / total)} of all"
        if self.kind == "amount":
            return part
        text = (
            f"{money(size)} {self.unit}" if self.kind == "value" else many(round(size), "balance")
        )
        return f"{text.rstrip()} ({part})"


_COUNT = Measure("count", "number of balances, since different tokens can't be added")
_SHARE = Measure("share", "a wallet's share of all of the token that these wallets hold")


def measured(
    holdings: pd.DataFrame,
    tokens: Identities,
    rows: Places,
    *,
    token: TokenLike | None,
    shares: bool,
) -> tuple[Measure, Sizes]:
    """Tell how much each row counts.

    Parameters
    ----------
    holdings : DataFrame
        All of them.
    tokens : Identities
        Of all its rows.
    rows : ndarray of intp, shape (n,)
        The rows of interest: those of `token`, where there is one.
    token : str or (str, str or None), optional
        The token whose amounts are looked at.
    shares : bool
        Whether a row counts with its share where there are neither a token nor values.

    Returns
    -------
    tuple of (Measure, ndarray of float64, shape (n,))
        What the sizes mean, and the sizes: NaN where unknown, negative or 0 where there is
        nothing to draw.

    Raises
    ------
    PricesError
        Where values are in more than one currency.
    """
    if token is not None:
        symbol, name = _names(holdings, tokens, rows, token)
        return Measure("amount", f"amount of {name}", symbol), _amounts(holdings, rows)
    if "value" in holdings.columns:
        values = _values(holdings)
        return _value_measure(holdings, values), values[rows]
    if shares:
        return _SHARE, _shares(_amounts(holdings, rows), tokens.codes[rows])
    return _COUNT, _counts(holdings, rows)


def left_out(measure: Measure, sizes: Sizes, tokens: Places) -> tuple[str, ...]:
    """Say which rows are not drawn; those of 0 need no mention.

    Parameters
    ----------
    measure : Measure
        What the sizes mean.
    sizes : ndarray of float64, shape (n,)
        As from `measured`.
    tokens : ndarray of intp, shape (n,)
        The token of each row.

    Returns
    -------
    tuple of str
        Sentences.
    """
    unknown, negative = np.isnan(sizes), int((sizes < 0).sum())
    sentences = []
    if unknown.any() and measure.kind == "value":
        count = len(np.unique(tokens[unknown]))
        sentences.append(f"{many(count, 'token')} without a value not drawn.")
    elif unknown.any():
        sentences.append(f"{many(int(unknown.sum()), 'balance')} of unknown amount not drawn.")
    if negative:
        sentences.append(f"{many(negative, 'negative balance')} not drawn.")
    return tuple(sentences)


def why_none(measure: Measure, sizes: Sizes) -> str:
    """Say why there is nothing to draw, where there is nothing.

    Parameters
    ----------
    measure : Measure
        What the sizes mean.
    sizes : ndarray of float64
        As from `measured`.

    Returns
    -------
    str
        A sentence.
    """
    if not len(sizes):
        return "No holdings: there is no row to draw."
    what = "value" if measure.kind == "value" else "amount"
    return f"No {what} is known." if np.isnan(sizes).all() else f"No {what} is above zero."


def _names(
    holdings: pd.DataFrame, tokens: Identities, rows: Places, token: TokenLike
) -> tuple[str, str]:
    """Name a token by its symbol, and so that it is told from others."""
    if not len(rows):
        asked = shown(token if isinstance(token, str) else token[1] or f"{token[0]} coin", SHORT)
        return asked, asked
    place = int(tokens.codes[rows[0]])
    [label] = token_labels(holdings, tokens, [place]).values()
    return shown(whole_token(holdings, tokens, place)[0], SHORT), label


def _amounts(holdings: pd.DataFrame, rows: Places) -> Sizes:
    amounts: AmountArray = holdings["amount"].array[rows]
    return _finite(amounts.to_numpy(dtype=np.float64))


def _value_measure(holdings: pd.DataFrame, values: Sizes) -> Measure:
    """Name the currency of all values; an unknown one is not that of the others."""
    if "currency" not in holdings.columns:
        return Measure("value", "value")
    named = holdings["currency"][~np.isnan(values)].unique()
    currencies = ["unknown" if pd.isna(name) else str(name) for name in named]
    if len(currencies) > 1:
        raise PricesError(
            f"the values are in {len(currencies)} currencies: {currencies[:5]}",
            hint="values of different currencies can't be added: draw each currency's rows apart",
        )
    unit = shown(currencies[0], 12) if currencies != ["unknown"] and currencies else ""
    return Measure("value", f"value in {unit}" if unit else "value", unit)


def _values(holdings: pd.DataFrame) -> Sizes:
    return _finite(holdings["value"].to_numpy(dtype=np.float64, na_value=np.nan))


def _finite(sizes: npt.NDArray[Any]) -> Sizes:
    """Take what no plot has room for as unknown."""
    return np.where(np.isfinite(sizes), sizes, np.nan)


def _shares(amounts: Sizes, tokens: Places) -> Sizes:
    totals = added(tokens, np.where(amounts > 0, amounts, 0))
    return amounts / np.where(totals > 0, totals, 1)[tokens]


def _counts(holdings: pd.DataFrame, rows: Places) -> Sizes:
    """Count a balance as one, of unknown amount included, and as none where it is 0 or less."""
    integers, missing, _ = holdings["amount"].array[rows].exact()
    return np.where(missing | (integers > 0), 1.0, np.where(integers < 0, -1.0, 0.0))
