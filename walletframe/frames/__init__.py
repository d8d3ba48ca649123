"""The column contract, and how outcomes become the two DataFrames that keep it."""

from walletframe.frames.assembly import WalletRecord, assemble
from walletframe.frames.chains import blockchains
from walletframe.frames.contract import (
    HOLDING_DTYPES,
    SIMULATED,
    WALLET_DTYPES,
    Source,
    category_of,
    require_columns,
    typed_frame,
)
from walletframe.frames.details import WalletDetails
from walletframe.frames.display import holdings_table, summary_html, table_html, wallets_table
from walletframe.frames.given import (
    DetailsLike,
    details_given,
    holdings_given,
    is_details,
    wallets_given,
)
from walletframe.frames.holders import candidates
from walletframe.frames.identified import HoldingsLike, Identified, identified
from walletframe.frames.identity import (
    Identities,
    TokenKey,
    is_unknown,
    token_identities,
    token_key,
    wallet_identities,
)
from walletframe.frames.known import (
    as_failed,
    known_wallets,
    stale_wallets,
    stood_in_for,
    unreadable,
)
from walletframe.frames.names import (
    TokenLike,
    WalletLike,
    ambiguous,
    find_token,
    find_wallet,
    known_token,
    shared_symbols,
    short_contract,
    short_wallet,
    token_names,
    token_place,
    wallet_names,
    whole_token,
    whole_wallet,
)
from walletframe.frames.spelling import respelled
from walletframe.frames.summary import is_simulated, summary_lines

__all__ = [
    "HOLDING_DTYPES",
    "SIMULATED",
    "WALLET_DTYPES",
    "DetailsLike",
    "HoldingsLike",
    "Identified",
    "Identities",
    "Source",
    "TokenKey",
    "TokenLike",
    "WalletDetails",
    "WalletLike",
    "WalletRecord",
    "ambiguous",
    "as_failed",
    "assemble",
    "blockchains",
    "candidates",
    "category_of",
    "details_given",
    "find_token",
    "find_wallet",
    "holdings_given",
    "holdings_table",
    "identified",
    "is_details",
    "is_simulated",
    "is_unknown",
    "known_token",
    "known_wallets",
    "require_columns",
    "respelled",
    "shared_symbols",
    "short_contract",
    "short_wallet",
    "stale_wallets",
    "stood_in_for",
    "summary_html",
    "summary_lines",
    "table_html",
    "token_identities",
    "token_key",
    "token_names",
    "token_place",
    "typed_frame",
    "unreadable",
    "wallet_identities",
    "wallet_names",
    "wallets_given",
    "wallets_table",
    "whole_token",
    "whole_wallet",
]
