"""Wallet addresses: the forms in which people write them, and when two are the same wallet."""
