"""Widgets to pick blockchains, wallets and tokens, to fetch, and to explore what was fetched.

Widgets like any other: put them into boxes, observe and link their traits, use them in `interact`.
Each takes what is done to it one thing at a time, since a notebook's front end, its cells and a
fetch run on threads of their own. Errors are shown in the widget itself.
"""

from walletframe.pickers.explorer import HoldingsExplorer
from walletframe.pickers.fetching import FetchPanel
from walletframe.pickers.picker import BlockchainPicker, TokenPicker, WalletPicker

__all__ = ["BlockchainPicker", "FetchPanel", "HoldingsExplorer", "TokenPicker", "WalletPicker"]
