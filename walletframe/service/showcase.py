"""Wallets for demonstrations: fixed addresses of which it is known what the sandbox answers.

The addresses are well-formed and made up: patterns, and the name that NEAR's own manual uses.
What each holds, other than what is promised here, comes from the ledger's seed like any other's.
"""

from __future__ import annotations

from enum import Enum, auto

from walletframe.address import WalletAddress


class Promise(Enum):
    """What the simulated ledger guarantees for a wallet, whatever the seed."""

    ORDINARY = auto()
    """It holds the native coin and, where the blockchain has any, tokens."""
    FAILING = auto()
    """It always fails."""
    EMPTY = auto()
    """It holds nothing."""
    UNKNOWN = auto()
    """Its balances are null."""
    EXTREME = auto()
    """It holds, beside ordinary tokens, a spam token of which it owns 2**256 - 1 units."""


_PROMISES = {
    "ETH.0x1111111111111111111111111111111111111111": Promise.ORDINARY,
    "ETH.0x2222222222222222222222222222222222222222": Promise.EXTREME,
    "BSC.0x1111111111111111111111111111111111111111": Promise.ORDINARY,
    "POLYGON.0x3333333333333333333333333333333333333333": Promise.ORDINARY,
    "ARBITRUM.0x4444444444444444444444444444444444444444": Promise.ORDINARY,
    "OPTIMISM.0x5555555555555555555555555555555555555555": Promise.EMPTY,
    "BASE.0x6666666666666666666666666666666666666666": Promise.UNKNOWN,
    "AVAX_CCHAIN.0x7777777777777777777777777777777777777777": Promise.FAILING,
    "SOLANA.29d2S7vB453rNYFdR5Ycwt7y9haRT5fwVwL9zTmBhfV2": Promise.ORDINARY,
    "TRON.TBXSw8fM4jpQkGc6zZjsVABFpVN7UvXPdV": Promise.ORDINARY,
    "NEAR.alice.near": Promise.ORDINARY,
    "BTC.bc1qzyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3h8ffkz": Promise.ORDINARY,
    "COSMOS.cosmos1zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3pahzj0": Promise.ORDINARY,
    "ETH.0x8888888888888888888888888888888888888888": Promise.ORDINARY,
}
SHOWCASE: tuple[WalletAddress, ...] = tuple(map(WalletAddress.parse, _PROMISES))
PROMISES = {wallet.canonical: _PROMISES[str(wallet)] for wallet in SHOWCASE}
