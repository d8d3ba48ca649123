"""Wallet addresses: the forms in which people write them, and when two are the same wallet."""

from walletframe.address.asked import (
    accepted_wallets,
    asked_wallets,
    check_unreadable,
    doubts_about,
    tell_doubts,
    wallets_to_ask,
)
from walletframe.address.forms import (
    A_FILE,
    MAX_LENGTH,
    WalletAddress,
    WalletLike,
    is_blank,
    read_wallet,
    shorten,
)
from walletframe.address.lists import (
    COLUMNS,
    OnUnreadable,
    Reading,
    WalletsLike,
    distinct_wallets,
    frame_rows,
    in_one_spelling,
    parse_wallets,
    read_list,
    read_rows,
)
from walletframe.address.pasted import Pasted, read_pasted
from walletframe.address.spelling import canonical_address, canonical_blockchain, canonical_key

__all__ = [
    "A_FILE",
    "COLUMNS",
    "MAX_LENGTH",
    "OnUnreadable",
    "Pasted",
    "Reading",
    "WalletAddress",
    "WalletLike",
    "WalletsLike",
    "accepted_wallets",
    "asked_wallets",
    "canonical_address",
    "canonical_blockchain",
    "canonical_key",
    "check_unreadable",
    "distinct_wallets",
    "doubts_about",
    "frame_rows",
    "in_one_spelling",
    "is_blank",
    "parse_wallets",
    "read_list",
    "read_pasted",
    "read_rows",
    "read_wallet",
    "shorten",
    "tell_doubts",
    "wallets_to_ask",
]
