"""Blockchains: the identifiers that the service is known to use, and how they are written."""

from walletframe.chains.known import (
    Blockchain,
    doubt,
    find_blockchain,
    known_blockchains,
    near,
    spelled,
)

__all__ = ["Blockchain", "doubt", "find_blockchain", "known_blockchains", "near", "spelled"]
