"""`WalletDetails`, the two DataFrames of a fetch, and the forms in which callers give a fetch.

Wherever a fetch is asked for, the pair ``(wallets, holdings)`` does as well; wherever one of the
two frames is asked for, so does the whole fetch.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias, TypeGuard

import pandas as pd

from walletframe.errors import ArgumentError
from walletframe.frames.display import display_html, display_markdown, display_text

_PAIR = "(wallets, holdings)"


class WalletDetails(NamedTuple):
    """What a fetch found: one DataFrame of wallets, one of holdings.

    Attributes
    ----------
    wallets : DataFrame
        One row for each distinct wallet asked for, in the order asked: ``blockchain``,
        ``address``, ``status``, ``error``, ``tokens``, ``explorer_url``, ``fetched_at`` (UTC),
        ``source``, ``service``, and behind them the columns that you asked to keep, of which
        ``name`` names wallets wherever one is shown.
    holdings : DataFrame
        One row for each balance of the wallets that are ok: ``blockchain``, ``address``,
        ``symbol``, ``token_address``, ``amount`` (whole tokens, exact), ``decimals``,
        ``raw_amount`` (base units, as sent), ``token_blockchain``, ``price``.

    Notes
    -----
    A wallet that failed has no holdings: check ``wallets.status`` before adding anything up.
    """

    wallets: pd.DataFrame
    holdings: pd.DataFrame

    @property
    def wf(self) -> Any:
        """Tables and charts of the fetch, which say how complete they are.

        Returns
        -------
        DetailsAccessor
            With the methods of ``holdings.wf``, which are given these ``wallets``, too.
        """
        registered: Any = pd.DataFrame  # with pandas, by the package `accessor`
        return registered.wf._of_fetch(self)  # noqa: SLF001 - of ours

    def __repr__(self) -> str:
        return display_text(self.wallets, self.holdings)

    def _repr_html_(self) -> str:
        return display_html(self.wallets, self.holdings)

    def _repr_markdown_(self) -> str:
        return display_markdown(self.wallets, self.holdings)


DetailsLike: TypeAlias = WalletDetails | tuple[pd.DataFrame, pd.DataFrame]
FetchLike: TypeAlias = pd.DataFrame | DetailsLike
"""One of the two frames of a fetch, or the whole of it."""


def is_details(given: object) -> TypeGuard[DetailsLike]:
    """Return whether both frames of a fetch were given."""
    return (
        isinstance(given, tuple)
        and len(given) == len(WalletDetails._fields)
        and all(isinstance(frame, pd.DataFrame) for frame in given)
    )


def details_given(given: object, name: str = "details") -> WalletDetails:
    """Return a fetch, whichever way it was given."""
    if not is_details(given):
        raise ArgumentError(
            f"{name} is of type {type(given).__name__}, but a whole fetch is needed",
            hint=f"give what fetch_wallets returned, or its two frames as {_PAIR}",
        )
    wallets, holdings = given
    if "status" in holdings.columns and "status" not in wallets.columns:
        raise ArgumentError(
            f"{name} has the two frames the wrong way round", hint=f"give {_PAIR}, in this order"
        )
    return given if isinstance(given, WalletDetails) else WalletDetails(wallets, holdings)


def wallets_given(given: object) -> pd.DataFrame:
    """Return the wallets of a fetch, whichever way they were given."""
    return given if isinstance(given, pd.DataFrame) else _whole(given, "wallets").wallets


def holdings_given(given: object) -> pd.DataFrame:
    """Return the holdings of a fetch, whichever way they were given."""
    return given if isinstance(given, pd.DataFrame) else _whole(given, "holdings").holdings


def _whole(given: object, part: str) -> WalletDetails:
    if not is_details(given):
        raise ArgumentError(
            f"{part} is of type {type(given).__name__}, but the DataFrame of {part} is needed",
            hint=f"give the {part} of what fetch_wallets returned, or the whole of it",
        )
    return details_given(given, part)
