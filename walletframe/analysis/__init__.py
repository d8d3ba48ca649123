"""Analysis of holdings: frame in, frame out."""

from walletframe.analysis.prices import ParquetPrices, PriceHistory, PriceSource
from walletframe.analysis.token_lists import read_token_list
