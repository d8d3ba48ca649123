"""Things to choose from, and what stands behind each: how many balances, and of what value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from walletframe.amounts import AmountDtype
from walletframe.analysis import value
from walletframe.numerals import compact
from walletframe.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt
    import pandas as pd

    from walletframe.frames import Codes, TokenKey

    Floats = npt.NDArray[np.float64]

Value: TypeAlias = "str | TokenKey"
_PRICED = ("symbol", "token_blockchain", "token_address", "amount", "price")
_LEAST, _MOST, _CURRENCY = 0.01, 1e300, 12


class Fact(NamedTuple):
    """What stands behind one thing."""

    balances: int
    value: float  # NaN where no balance has one

    def order(self) -> tuple[float, int]:
        """Return what sorts facts: the most value first, then the most balances."""
        return (math.inf if math.isnan(self.value) else -self.value, -self.balances)


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose; all texts but `words` are harmless lines."""

    value: Value
    key: Value  # equal for all spellings of the value
    name: str  # what people call it; empty where it has none
    chain: str = ""  # where it is
    whole: str = ""  # its address or contract
    short: str = ""  # a name that no other has, where `name` is not enough
    words: str = ""  # finds it, too


class Options(dict[Value, Option]):
    """Things to choose from by their values, each key once; where known, of most value first."""

    def __init__(
        self,
        hint: str,
        options: Iterable[Option],
        known: Mapping[Any, Fact] | None = None,
        sorted_by: str = "",
    ) -> None:
        """Offer things; told are what to search by, what stands behind each key, and the order."""
        super().__init__()
        self.hint = hint
        self.by_key: dict[Value, Option] = {}
        self.known: Mapping[Any, Fact] = known or {}
        self.sorted_by = sorted_by
        if known:
            last = (math.inf, 1)
            options = sorted(
                options,
                key=lambda option: known[option.key].order() if option.key in known else last,
            )
        for option in options:
            self.add(option)

    def add(self, option: Option) -> Value:
        """Offer one more thing, and return its value: it may be there in another spelling."""
        kept = self.by_key.setdefault(option.key, option)
        self[kept.value] = kept
        return kept.value

    def columns(self) -> dict[str, Any]:
        """Return all that a page shows and searches, as columns of JSON.

        What only some have is by place; a place is the one in the order of the options.
        """
        options = [*self.values()]
        chains = {chain: code for code, chain in enumerate({each.chain: 0 for each in options})}
        made = {
            "values": [each.value for each in options],
            "names": [each.name for each in options],
            "chains": [*chains],
            "on": [chains[each.chain] for each in options],
            "wholes": [_whole(each) for each in options],
            "sorted": self.sorted_by,
            "hint": self.hint,
        }
        for name in ("short", "words"):
            texts = [(place, getattr(each, name)) for place, each in enumerate(options)]
            made[name] = {place: text for place, text in texts if text}
        return made | (_columns(self.known, [each.key for each in options]) if self.known else {})

    def here(self, left: Mapping[Any, Fact | None]) -> dict[str, Any]:
        """Return for a page what remains, those of most value first."""
        places = {option.key: place for place, option in enumerate(self.values())}
        known = {key: fact for key, fact in left.items() if fact}
        keys = [key for key in left if key in places]
        keys.sort(key=lambda key: known[key].order() if key in known else (math.inf, 0))
        return {"places": [places[key] for key in keys], **_columns(known, keys)}


def _whole(option: Option) -> str | None:
    """Return the whole address or contract, None where the value has it as it is."""
    value = option.value
    own = value.partition(".")[2] if isinstance(value, str) else value[1]
    return None if own and option.whole == own else option.whole


def _columns(facts: Mapping[Any, Fact], keys: Sequence[Any]) -> dict[str, list[Any]]:
    """Write the facts of some things for a page: None for a thing of which nothing is known."""
    found = [facts.get(key) for key in keys]
    return {
        "balances": [fact and fact.balances for fact in found],
        "worths": [_value_text(fact.value) if fact else "" for fact in found],
    }


def _value_text(value: float) -> str:
    """Write a value in a few characters; empty where it is unknown."""
    if math.isnan(value):
        return ""
    return "<0.01" if 0 < value < _LEAST else compact(value)


def facts(keys: Sequence[Any], codes: Codes, values: Floats | None) -> dict[Any, Fact]:
    """Count the balances, and add up their values, of each thing; `codes` has each row's place."""
    counts = np.bincount(codes, minlength=len(keys)).tolist()
    sums = np.full(len(keys), np.nan)
    if values is not None:
        known = ~np.isnan(values)
        of = codes[known]
        sums = np.bincount(of, values[known], len(keys)).astype(np.float64)  # of none: integers
        sums[np.bincount(of, minlength=len(keys)) == 0] = np.nan
    return dict(zip(keys, map(Fact, counts, sums.tolist()), strict=True))


def row_values(holdings: pd.DataFrame) -> tuple[Floats | None, str]:
    """Return the value of each balance, and in a few words whose; None where that can't be told.

    Values that holdings have come first, then the service's prices, whose currency is not named.
    """
    if "value" in holdings:
        named = [*holdings["currency"].dropna().unique()] if "currency" in holdings else []
        if len(named) > 1:
            return None, ""
        unit = f"value in {shown(str(named[0]), _CURRENCY)}" if named else "value"
        return holdings["value"].to_numpy(np.float64, na_value=np.nan), unit
    if not {*_PRICED} <= {*holdings} or not isinstance(holdings["amount"].dtype, AmountDtype):
        return None, ""
    prices = holdings["price"].where(holdings["price"].between(0, _MOST))
    if prices.isna().all():
        return None, ""
    values = value(holdings.assign(price=prices))["value"]
    return values.to_numpy(np.float64, na_value=np.nan), "value at the service's prices"
