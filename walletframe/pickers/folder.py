"""A folder of a bulk run as the explorer shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.bulk import StoredHoldings
from walletframe.errors import WalletframeError
from walletframe.frames import HOLDING_DTYPES, WalletDetails, details_given
from walletframe.pickers.portfolio import Portfolio

if TYPE_CHECKING:
    from typing import TypeGuard

    from walletframe.accessor.folder import StoredWallets
    from walletframe.frames import DetailsLike
    from walletframe.pickers.portfolio import Prepare

MOST_ROWS = 200_000  # that are read into memory
_ADDED = ("unit_price", "value", "currency", "spam_score", "spam_reasons", "is_spam")


def is_stored(details: object) -> TypeGuard[StoredWallets]:
    """Tell whether a fetch stays on the disk."""
    return isinstance(getattr(details, "holdings", None), StoredHoldings)


def portfolio_of(details: DetailsLike | StoredWallets, prepare: Prepare | None) -> Portfolio:
    """Return a fetch, valued and judged; what is on the disk is read."""
    if not is_stored(details):
        return Portfolio(details_given(details), prepare)
    held = details.holdings
    if (rows := int(held.counts.sum())) > MOST_ROWS:
        raise WalletframeError(
            f"{rows:,} balances are too many for the explorer",
            hint=f"read up to {MOST_ROWS:,}, such as read_wallets(folder, wallets=[…])",
        )
    holdings = held.read(None, [*HOLDING_DTYPES, *_ADDED])
    return Portfolio(WalletDetails(held.wallets, holdings), prepare, reading=_reading(held))


def _reading(held: StoredHoldings) -> str:
    """Write how the rows are read again; what was done to them is a line to fill in."""
    read = f"wallets, holdings = wf.read_wallets({str(held.root)!a})\n"
    done = held.units or held.flags or held.left_out
    return read + "# fill in: what was done to the folder, such as .wf.value(…)\n" * bool(done)
