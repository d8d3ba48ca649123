"""Wallet addresses: accepted forms, and canonical forms for comparisons."""
