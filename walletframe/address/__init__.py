"""Wallet addresses: the forms in which people write them, and when two are the same wallet."""

from walletframe.address.forms import (
    MAX_LENGTH,
    WalletAddress,
    WalletLike,
    WalletsLike,
    distinct_wallets,
    parse_wallets,
)
from walletframe.address.pasted import Pasted, read_pasted
from walletframe.address.spelling import canonical_address, canonical_blockchain, canonical_key

__all__ = [
    "MAX_LENGTH",
    "Pasted",
    "WalletAddress",
    "WalletLike",
    "WalletsLike",
    "canonical_address",
    "canonical_blockchain",
    "canonical_key",
    "distinct_wallets",
    "parse_wallets",
    "read_pasted",
]
