"""Bulk runs: more wallets than memory holds, into a folder of Parquet files and back."""

from walletframe.bulk.reading import read_wallets
from walletframe.bulk.run import fetch_to_parquet
from walletframe.bulk.stored import PriceLookup, SpamFlags, StoredHoldings, open_holdings
from walletframe.bulk.summary import FetchSummary
