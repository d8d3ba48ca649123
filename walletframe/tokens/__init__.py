"""Tokens that many people know: their real contracts, blockchain by blockchain, without prices.

A small list, no registry: native coins, the tokens that are used and imitated most, and what public
lists have under the same symbols: wrapped and bridged twins, and namesakes.
"""

from walletframe.tokens.known import (
    PRIME,
    SOURCES,
    KnownToken,
    covered_blockchains,
    known_tokens,
    native_coin,
)

__all__ = [
    "PRIME",
    "SOURCES",
    "KnownToken",
    "covered_blockchains",
    "known_tokens",
    "native_coin",
]
