"""The column contract, and how outcomes become the two DataFrames that keep it."""

from walletframe.frames.assembly import WalletRecord, assemble
from walletframe.frames.contract import HOLDING_DTYPES, SIMULATED, WALLET_DTYPES, Source
from walletframe.frames.details import WalletDetails, summary_lines

__all__ = [
    "HOLDING_DTYPES",
    "SIMULATED",
    "WALLET_DTYPES",
    "Source",
    "WalletDetails",
    "WalletRecord",
    "assemble",
    "summary_lines",
]
