"""Analysis of holdings: frame in, frame out."""

from walletframe.analysis.distribution import (
    concentration,
    overlap,
    pivot,
    share,
    token_labels,
    top,
    top_rows,
)
from walletframe.analysis.parted import (
    concentration_on_disk,
    pivot_on_disk,
    share_on_disk,
    tokens_of_blocks,
    totals_of_blocks,
    units_on_disk,
    worth_of_blocks,
)
from walletframe.analysis.prices import ParquetPrices, PriceHistory, PriceSource
from walletframe.analysis.selection import where
from walletframe.analysis.spam.flags import explain_spam, flag_spam, flags_on_disk, without_spam
from walletframe.analysis.sums import totals
from walletframe.analysis.token_lists import TokensLike, read_token_list
from walletframe.analysis.valuation import PricesLike, value
from walletframe.frames.groups import By
