"""`WalletDetails`: the two DataFrames of a fetch, and what a person sees of them first."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd  # noqa: TC002 - the fields' types are to be resolvable

from walletframe.frames.display import display_html, display_markdown, display_text


class WalletDetails(NamedTuple):
    """What a fetch found: one DataFrame of wallets, one of holdings.

    Attributes
    ----------
    wallets : DataFrame
        One row for each distinct wallet asked for, in the order asked: ``blockchain``,
        ``address``, ``status``, ``error``, ``tokens``, ``explorer_url``, ``fetched_at`` (UTC),
        ``source``, ``service``.
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

    def __repr__(self) -> str:
        return display_text(self.wallets, self.holdings)

    def _repr_html_(self) -> str:
        return display_html(self.wallets, self.holdings)

    def _repr_markdown_(self) -> str:
        return display_markdown(self.wallets, self.holdings)
