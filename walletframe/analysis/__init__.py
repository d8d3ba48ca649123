"""Frame in, frame out: what is asked of holdings once they are there."""

from walletframe.analysis.inequality import concentration
from walletframe.analysis.labels import token_labels
from walletframe.analysis.largest import top, top_rows
from walletframe.analysis.matrix import pivot
from walletframe.analysis.pairs import overlap
from walletframe.analysis.prices import FilePrices, PriceSource
from walletframe.analysis.shares import share
from walletframe.analysis.sums import totals
from walletframe.analysis.valuation import value

__all__ = [
    "FilePrices",
    "PriceSource",
    "concentration",
    "overlap",
    "pivot",
    "share",
    "token_labels",
    "top",
    "top_rows",
    "totals",
    "value",
]
