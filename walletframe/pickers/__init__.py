"""Widgets to pick blockchains, wallets and tokens, to fetch wallets, and to explore the result.

The widgets work like other ipywidgets: in boxes, in `interact`, and with observed or linked traits.
Each widget shows its errors. Several threads call handlers, and a lock lets one run at a time.
"""

from walletframe.pickers.explorer import HoldingsExplorer
from walletframe.pickers.fetching import FetchPanel
from walletframe.pickers.picker import BlockchainPicker, TokenPicker, WalletPicker

__all__ = ["BlockchainPicker", "FetchPanel", "HoldingsExplorer", "TokenPicker", "WalletPicker"]
