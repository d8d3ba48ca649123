"""Widgets to pick blockchains, wallets and tokens, to fetch wallets, and to explore the result.

Like other ipywidgets, the widgets can be used in boxes and in `interact`, and traits can be
observed and linked. The front end, the cells and a running fetch use different threads, so a lock
prevents simultaneous handlers. Each widget shows its errors.
"""

from walletframe.pickers.explorer import HoldingsExplorer
from walletframe.pickers.fetching import FetchPanel
from walletframe.pickers.picker import BlockchainPicker, TokenPicker, WalletPicker

__all__ = ["BlockchainPicker", "FetchPanel", "HoldingsExplorer", "TokenPicker", "WalletPicker"]
