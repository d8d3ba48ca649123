"""Analysis of holdings: frame in, frame out."""

from walletframe.analysis.prices import ParquetPrices, PriceHistorySource, PriceSource
from walletframe.analysis.token_lists import read_token_list
