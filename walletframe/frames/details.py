"""`WalletDetails`, the two DataFrames of a fetch, and the conversion of arguments to them.

Where a function takes a fetch, it takes the pair ``(wallets, holdings)``, too; where it takes one
of the two frames, it takes the whole fetch, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias, TypeGuard

import pandas as pd

from walletframe.errors import ArgumentError
from walletframe.frames.display import display_html, display_markdown, display_text

_PAIR = "(wallets, holdings)"


class WalletDetails(NamedTuple):
    """The result of a fetch: one DataFrame of wallets, one of holdings.

    Attributes
    ----------
    wallets : DataFrame
        One row for each distinct requested wallet, in the requested order: ``blockchain``,
        ``address``, ``status``, ``error``, ``tokens``, ``explorer_url``, ``fetched_at`` (UTC),
        ``source``, ``service``, and after them the columns that you keep. A column ``name``
        labels wallets in all tables and charts.
    holdings : DataFrame
        One row for each balance of the wallets with status ok: ``blockchain``, ``address``,
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
        """Tables and charts of the fetch, with their completeness.

        Returns
        -------
        DetailsAccessor
            The methods of ``holdings.wf``, called with these ``wallets``.
        """
        registered: Any = pd.DataFrame  # the package `accessor` registers `wf` with pandas
        return registered.wf._of_fetch(self)  # noqa: SLF001 - of ours

    def __repr__(self) -> str:
        return display_text(self.wallets, self.holdings)

    def _repr_html_(self) -> str:
        return display_html(self.wallets, self.holdings)

    def _repr_markdown_(self) -> str:
        return display_markdown(self.wallets, self.holdings)


DetailsLike: TypeAlias = WalletDetails | tuple[pd.DataFrame, pd.DataFrame]
FetchLike: TypeAlias = pd.DataFrame | DetailsLike
"""One of the two frames of a fetch, or the whole fetch."""


def is_details(argument: object) -> TypeGuard[DetailsLike]:
    """Return whether an argument is a whole fetch: a tuple of two DataFrames."""
    return (
        isinstance(argument, tuple)
        and len(argument) == len(WalletDetails._fields)
        and all(isinstance(frame, pd.DataFrame) for frame in argument)
    )


def as_details(argument: object, name: str = "details") -> WalletDetails:
    """Return an argument as a fetch."""
    if not is_details(argument):
        raise ArgumentError(
            f"{name} is of type {type(argument).__name__}, but a whole fetch is needed",
            hint=f"give what fetch_wallets returned, or its two frames as {_PAIR}",
        )
    wallets, holdings = argument
    if "status" in holdings.columns and "status" not in wallets.columns:
        raise ArgumentError(
            f"{name} has the two frames the wrong way round", hint=f"give {_PAIR}, in this order"
        )
    return argument if isinstance(argument, WalletDetails) else WalletDetails(wallets, holdings)


def as_wallets_frame(argument: object) -> pd.DataFrame:
    """Return the wallets of an argument: a DataFrame, or a whole fetch."""
    return argument if isinstance(argument, pd.DataFrame) else _whole(argument, "wallets").wallets


def as_holdings_frame(argument: object) -> pd.DataFrame:
    """Return the holdings of an argument: a DataFrame, or a whole fetch."""
    return argument if isinstance(argument, pd.DataFrame) else _whole(argument, "holdings").holdings


def _whole(argument: object, part: str) -> WalletDetails:
    if not is_details(argument):
        raise ArgumentError(
            f"{part} is of type {type(argument).__name__}, but the DataFrame of {part} is needed",
            hint=f"give the {part} of what fetch_wallets returned, or the whole of it",
        )
    return as_details(argument, part)
