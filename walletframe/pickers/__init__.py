"""Widgets to pick blockchains, wallets and tokens, to fetch, and to explore a fetch.

They work like other widgets: put them into boxes, observe and link their traits, use them in
`interact`. A lock serializes their handlers, since a notebook's front end, its cells and a fetch
run on different threads. Errors are shown in the widget itself.
"""

from walletframe.pickers.explorer import HoldingsExplorer
from walletframe.pickers.fetching import FetchPanel
from walletframe.pickers.picker import BlockchainPicker, TokenPicker, WalletPicker

__all__ = ["BlockchainPicker", "FetchPanel", "HoldingsExplorer", "TokenPicker", "WalletPicker"]
