"""The wallet details endpoint: the query out, the JSON in.

Knows the service's document and nothing about HTTP, keys, caches or DataFrames.
"""

from walletframe.wire.answer import NO_LIST, Answer, read_answer
from walletframe.wire.batch import Split, split_answer
from walletframe.wire.outcome import FLAWS, Balances, Outcome, Status, unforeseen
from walletframe.wire.query import details_query
from walletframe.wire.shapes import (
    DETAILS_PATH,
    KEY_PARAMETER,
    MAX_DECIMALS,
    Amount,
    Asset,
    AssetAndAmount,
    WalletDetail,
)

__all__ = [
    "DETAILS_PATH",
    "FLAWS",
    "KEY_PARAMETER",
    "MAX_DECIMALS",
    "NO_LIST",
    "Amount",
    "Answer",
    "Asset",
    "AssetAndAmount",
    "Balances",
    "Outcome",
    "Split",
    "Status",
    "WalletDetail",
    "details_query",
    "read_answer",
    "split_answer",
    "unforeseen",
]
