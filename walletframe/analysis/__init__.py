"""Analysis of holdings: frame in, frame out."""

from walletframe.analysis.matrix import overlap, pivot, token_labels
from walletframe.analysis.parted import (
    sums_of_blocks,
    totals_of_blocks,
    worth_of_blocks,
)
from walletframe.analysis.price_files import FilePrices, ParquetPrices, PriceHistory
from walletframe.analysis.prices import PriceSource
from walletframe.analysis.shares import concentration, share, top, top_rows
from walletframe.analysis.slices import (
    concentration_on_disk,
    pivot_on_disk,
    share_on_disk,
    units_on_disk,
)
from walletframe.analysis.spam.flags import explain_spam, flag_spam, without_spam
from walletframe.analysis.spam.stored import explain_on_disk, flags_on_disk
from walletframe.analysis.sums import totals
from walletframe.analysis.token_lists import TokensLike, read_token_list
from walletframe.analysis.valuation import PricesLike, value
from walletframe.frames import By

__all__ = [
    "By",
    "FilePrices",
    "ParquetPrices",
    "PriceHistory",
    "PriceSource",
    "PricesLike",
    "TokensLike",
    "concentration",
    "concentration_on_disk",
    "explain_on_disk",
    "explain_spam",
    "flag_spam",
    "flags_on_disk",
    "overlap",
    "pivot",
    "pivot_on_disk",
    "read_token_list",
    "share",
    "share_on_disk",
    "sums_of_blocks",
    "token_labels",
    "top",
    "top_rows",
    "totals",
    "totals_of_blocks",
    "units_on_disk",
    "value",
    "without_spam",
    "worth_of_blocks",
]
