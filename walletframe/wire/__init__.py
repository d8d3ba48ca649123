"""The wallet details endpoint: the query out, the JSON in.

Knows the service's document and nothing about HTTP, keys, caches or DataFrames. What the sandbox
needs of the document is in `shapes`.
"""

from walletframe.wire.answer import NO_LIST, Answer, Split, read_answer, split_answer
from walletframe.wire.outcome import FLAWS, Balances, Outcome, Status, unforeseen
from walletframe.wire.shapes import DETAILS_PATH, KEY_PARAMETER, MAX_DECIMALS, details_query

__all__ = [
    "DETAILS_PATH",
    "FLAWS",
    "KEY_PARAMETER",
    "MAX_DECIMALS",
    "NO_LIST",
    "Answer",
    "Balances",
    "Outcome",
    "Split",
    "Status",
    "details_query",
    "read_answer",
    "split_answer",
    "unforeseen",
]
