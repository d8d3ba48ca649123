"""The column contract, and how outcomes become the two DataFrames that keep it."""

from walletframe.frames.assembly import WalletRecord, assemble
from walletframe.frames.contract import HOLDING_DTYPES, SIMULATED, WALLET_DTYPES, Source
from walletframe.frames.details import WalletDetails, summary_lines
from walletframe.frames.identity import (
    Identities,
    TokenKey,
    TokenLike,
    WalletLike,
    find_token,
    find_wallet,
    require_columns,
    token_identities,
    token_key,
    wallet_identities,
)

__all__ = [
    "HOLDING_DTYPES",
    "SIMULATED",
    "WALLET_DTYPES",
    "Identities",
    "Source",
    "TokenKey",
    "TokenLike",
    "WalletDetails",
    "WalletLike",
    "WalletRecord",
    "assemble",
    "find_token",
    "find_wallet",
    "require_columns",
    "summary_lines",
    "token_identities",
    "token_key",
    "wallet_identities",
]
