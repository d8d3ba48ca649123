"""The explorer: pickers, a chart, the table and downloads of what was fetched.

What is selected, how it is drawn, which lines of pandas make it and what is downloaded are pure
functions of the frames; only the widget knows widgets.
"""

from walletframe.pickers.explorer.widget import HoldingsExplorer

__all__ = ["HoldingsExplorer"]
