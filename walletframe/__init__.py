"""Token holdings of wallets as pandas DataFrames, with exact amounts."""
