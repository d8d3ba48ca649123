"""Frame in, frame out: what is asked of holdings once they are there."""

from walletframe.analysis.largest import top, top_rows
from walletframe.analysis.matrix import pivot, token_labels
from walletframe.analysis.pairs import overlap
from walletframe.analysis.prices import FilePrices, PriceSource
from walletframe.analysis.shares import concentration, share
from walletframe.analysis.spam import explain_spam, flag_spam, without_spam
from walletframe.analysis.sums import totals
from walletframe.analysis.token_lists import read_token_list
from walletframe.analysis.valuation import value

__all__ = [
    "FilePrices",
    "PriceSource",
    "concentration",
    "explain_spam",
    "flag_spam",
    "overlap",
    "pivot",
    "read_token_list",
    "share",
    "token_labels",
    "top",
    "top_rows",
    "totals",
    "value",
    "without_spam",
]
