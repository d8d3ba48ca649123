"""Fetch wallets into a folder that may be larger than memory, and read the folder."""

from walletframe.bulk.reading import read_wallets
from walletframe.bulk.stored import StoredHoldings, open_holdings
