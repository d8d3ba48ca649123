"""Fetch wallets into a folder that may be larger than memory, and read the folder."""

from walletframe.bulk.reading import read_wallets
from walletframe.bulk.stored import (
    PriceLookup,
    SpamFlags,
    StoredHoldings,
    first_known_prices,
    open_holdings,
)
