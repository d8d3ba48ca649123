"""The methods section of a report, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_EXACT = (
    "Amounts are exact: each is the whole number of base units that the service sent, with the "
    "decimal point moved by the token's decimals. No digit was rounded."
)
_TOKENS = (
    "A token is its contract on its blockchain. Symbols are chosen by whoever makes a token, and "
    "several tokens may share one; amounts of different tokens are never added."
)
_FAILED = (
    "A wallet that the service gave no balances of is unknown. It counts neither as empty nor as "
    "zero."
)
_OWN_PRICES = (
    "A value is an amount times a price, rounded once, at the prices that whoever made this "
    "report chose."
)
_SENT_PRICES = (
    "A value is an amount times a price, rounded once, at the prices that the service sent with "
    "the balances. It doesn't name their currency."
)
_NO_PRICES = "There were no prices: charts show counts or shares, never values."


def method_notes(
    holdings: pd.DataFrame, *, own_prices: bool, spam: bool, compared: bool
) -> tuple[str, ...]:
    """Say in sentences how it was done; ``own_prices``: the holdings were valued before."""
    prices = _OWN_PRICES if own_prices else _SENT_PRICES if "value" in holdings else _NO_PRICES
    notes = [_EXACT, _TOKENS, _FAILED, prices]
    if spam:
        notes.append(
            "Tokens were taken for spam by rules on their symbols, contracts and amounts, listed "
            "with each. The rules miss some and may suspect an honest token: see the table."
        )
    if compared:
        notes.append(
            "Changes are exact differences between two answers. Where one of the two is unknown, "
            "so is the change; a token that is not listed counts as 0 where the wallet was known."
        )
    return (*notes, "Times are in UTC. All of it is as of the answers, not of the reading.")
