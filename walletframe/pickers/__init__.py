"""Widgets to pick blockchains, wallets and tokens, to fetch wallets, and to explore the result.

The widgets work like those of ipywidgets: they can be put into boxes and used in `interact`, and
their traits can be observed and linked. The front end, the cells of the notebook and a running
fetch use different threads, so a lock makes sure that only one handler runs at a time. Errors are
shown in the widget itself.
"""

from walletframe.pickers.explorer import HoldingsExplorer
from walletframe.pickers.fetching import FetchPanel
from walletframe.pickers.picker import BlockchainPicker, TokenPicker, WalletPicker

__all__ = ["BlockchainPicker", "FetchPanel", "HoldingsExplorer", "TokenPicker", "WalletPicker"]
