"""Tokens that many people know: their real contracts, blockchain by blockchain.

A small list, not a registry: the native coins, the tokens that are used, and imitated, most, and
all that public lists have under the same symbols: wrapped and bridged twins, and namesakes.
`SOURCES` names these lists. Prices are not known here.
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
