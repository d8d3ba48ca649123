"""Widgets to pick blockchains, wallets and tokens, to fetch wallets, and to explore the result.

The widgets work like other ipywidgets: in boxes, in `interact`, and with observed or linked traits.
Each widget shows its errors. Handlers run on several threads, so a lock runs one handler at a time.
"""

from walletframe.pickers.explorer import HoldingsExplorer
from walletframe.pickers.fetching import FetchPanel
from walletframe.pickers.picker import BlockchainPicker, TokenPicker, WalletPicker

__all__ = ["BlockchainPicker", "FetchPanel", "HoldingsExplorer", "TokenPicker", "WalletPicker"]
