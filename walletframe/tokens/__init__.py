"""Tokens that many people know: their real contracts, blockchain by blockchain.

A small list, not a registry: the native coins, and tokens that are used, and imitated, most. The
contracts on EVM chains and Solana stand in the token lists of Uniswap, SushiSwap or CoinGecko.
Prices are not known here.
"""

from walletframe.tokens.chain_ids import CHAIN_IDS
from walletframe.tokens.known import KnownToken, known_tokens, native_coin

__all__ = ["CHAIN_IDS", "KnownToken", "known_tokens", "native_coin"]
