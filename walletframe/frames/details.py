"""The result of a fetch (`WalletDetails`), and functions that check arguments of this type.

Users may also pass a plain tuple ``(wallets, holdings)``. Functions that need only one of the
frames also accept the complete result.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeGuard

import pandas as pd

from walletframe.errors import ArgumentError, FramesNeededError
from walletframe.frames.display import details_html, details_markdown, details_text

_PAIR = "(wallets, holdings)"
_PARTS_HINT = (
    "use one of the two DataFrames, details.holdings or details.wallets, as in details.holdings"
    '["amount"] and details.holdings.head()'
)


class WalletDetails(NamedTuple):
    """The result of a fetch: one DataFrame of wallets, one of holdings.

    Attributes
    ----------
    wallets : DataFrame
        One row for each distinct requested wallet, in the requested order. The columns are
        ``blockchain``, ``address``, ``status``, ``error``, ``tokens``, ``explorer_url``,
        ``fetched_at`` (UTC), ``source`` and ``service``, and then the columns from ``keep=``.
        Tables and charts show the names in a kept column ``name``.
    holdings : DataFrame
        One row for each balance of the wallets with the status ok. The columns are ``blockchain``,
        ``address``, ``symbol``, ``token_address``, ``amount`` (exact, in units of the token),
        ``decimals``, ``raw_amount`` (in base units, as sent), ``token_blockchain`` and ``price``.

    Notes
    -----
    Check ``wallets.status`` before you add up amounts: ``holdings`` has no rows of failed wallets.
    """

    wallets: pd.DataFrame
    holdings: pd.DataFrame

    @property
    def wf(self) -> Any:
        """Methods for tables and charts that show the completeness of the fetch.

        Returns
        -------
        DetailsAccessor
            The methods of ``holdings.wf``, called with these ``wallets``.
        """
        frame_class: Any = pd.DataFrame  # the package `accessor` adds the attribute `wf`
        return frame_class.wf._details_accessor(self)  # noqa: SLF001 - our own class

    def __getattr__(self, name: str) -> NoReturn:
        raise FramesNeededError(f"the result of a fetch has no attribute {name!r}", _PARTS_HINT)

    def __getitem__(self, key: Any) -> Any:
        try:
            return tuple.__getitem__(self, key)
        except TypeError:
            message = f"the result of a fetch has no item {key!r}"
            raise ArgumentError(message, _PARTS_HINT) from None

    def __add__(self, other: object) -> NoReturn:
        raise ArgumentError(
            "fetches can't be added", "repeat the fetch: only failed wallets are requested again"
        )

    def __repr__(self) -> str:
        return details_text(self.wallets, self.holdings)

    def _repr_html_(self) -> str:
        return details_html(self.wallets, self.holdings)

    def _repr_markdown_(self) -> str:
        return details_markdown(self.wallets, self.holdings)


DetailsLike: TypeAlias = WalletDetails | tuple[pd.DataFrame, pd.DataFrame]
FetchLike: TypeAlias = pd.DataFrame | DetailsLike
"""One of the two DataFrames of a fetch, or the complete result."""


def is_pair_of_frames(argument: object) -> TypeGuard[DetailsLike]:
    """Return whether an argument is a tuple of two DataFrames."""
    return (
        isinstance(argument, tuple)
        and len(argument) == len(WalletDetails._fields)
        and all(isinstance(frame, pd.DataFrame) for frame in argument)
    )


def as_details(argument: object, name: str = "details") -> WalletDetails:
    """Return a tuple of two frames as `WalletDetails`, or raise an error."""
    if not is_pair_of_frames(argument):
        raise ArgumentError(
            f"`{name}` must be the result of a fetch, but has the type {type(argument).__name__}",
            hint=f"pass the result of fetch_wallets or of wf.read_wallets(folder), or {_PAIR}",
        )
    wallets, holdings = argument
    if "status" in holdings.columns and "status" not in wallets.columns:
        raise ArgumentError(
            f"the two DataFrames of `{name}` are in the wrong order", hint=f"pass {_PAIR}"
        )
    return argument if isinstance(argument, WalletDetails) else WalletDetails(wallets, holdings)


def extract_frame(argument: object, name: str) -> pd.DataFrame:
    """Return a DataFrame unchanged. From the result of a fetch, return the frame `name`."""
    if isinstance(argument, pd.DataFrame):
        return argument
    if not is_pair_of_frames(argument):
        raise ArgumentError(
            f"{name} of type {type(argument).__name__} are not supported",
            hint=f"pass the result of fetch_wallets or read_wallets, or its DataFrame .{name}",
        )
    frame: pd.DataFrame = getattr(as_details(argument, name), name)
    return frame
