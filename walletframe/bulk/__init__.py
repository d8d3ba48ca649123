"""Bulk runs: more wallets than memory holds, into a folder of Parquet files and back."""

from walletframe.bulk.added import Flags, Units, cases_of_frame
from walletframe.bulk.fetching import fetch_to_parquet
from walletframe.bulk.reading import read_wallets
from walletframe.bulk.stored import StoredHoldings, open_holdings
from walletframe.bulk.summary import FetchSummary

__all__ = [
    "FetchSummary",
    "Flags",
    "StoredHoldings",
    "Units",
    "cases_of_frame",
    "fetch_to_parquet",
    "open_holdings",
    "read_wallets",
]
