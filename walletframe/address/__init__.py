"""Accepted and canonical forms of wallet addresses."""
