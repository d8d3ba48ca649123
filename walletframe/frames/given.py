"""A fetch, or one of its frames, as callers give it.

Wherever a fetch is asked for, the pair ``(wallets, holdings)`` does as well; wherever one of the
two frames is asked for, so does the whole fetch. Which columns are needed is not known here.
"""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

import pandas as pd

from walletframe.errors import ArgumentError
from walletframe.frames.details import WalletDetails

DetailsLike: TypeAlias = WalletDetails | tuple[pd.DataFrame, pd.DataFrame]
FetchLike: TypeAlias = pd.DataFrame | DetailsLike
"""One of the two frames of a fetch, or the whole of it."""

_PAIR = "(wallets, holdings)"


def is_details(given: object) -> TypeGuard[DetailsLike]:
    """Tell whether both frames of a fetch were given."""
    return (
        isinstance(given, tuple)
        and len(given) == len(WalletDetails._fields)
        and all(isinstance(frame, pd.DataFrame) for frame in given)
    )


def details_given(given: object, name: str = "details") -> WalletDetails:
    """Return a fetch, whichever way it was given."""
    if not is_details(given):
        raise ArgumentError(
            f"{name} is of type {type(given).__name__}, where a whole fetch is needed",
            hint=f"give what fetch_wallets returned, or its two frames as {_PAIR}",
        )
    wallets, holdings = given
    if "status" in holdings.columns and "status" not in wallets.columns:
        raise ArgumentError(
            f"{name} has the two frames the wrong way round", hint=f"give {_PAIR}, in this order"
        )
    return given if isinstance(given, WalletDetails) else WalletDetails(wallets, holdings)


def wallets_given(given: object, name: str = "wallets") -> pd.DataFrame:
    """Return the wallets of a fetch, whichever way they were given."""
    return given if isinstance(given, pd.DataFrame) else _whole(given, name, "wallets").wallets


def holdings_given(given: object, name: str = "holdings") -> pd.DataFrame:
    """Return the holdings of a fetch, whichever way they were given."""
    return given if isinstance(given, pd.DataFrame) else _whole(given, name, "holdings").holdings


def _whole(given: object, name: str, part: str) -> WalletDetails:
    if not is_details(given):
        raise ArgumentError(
            f"{name} is of type {type(given).__name__}, where the DataFrame of {part} is needed",
            hint=f"give the {part} of what fetch_wallets returned, or the whole of it",
        )
    return details_given(given, name)
