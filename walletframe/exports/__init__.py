"""Frames as files for other programs, and back: exact amounts, and text that does no harm there.

What writes takes any frame; a file is there whole, or the earlier one is.
"""

from walletframe.exports.excel import to_excel
from walletframe.exports.portable import to_json, to_parquet
from walletframe.exports.saved import NEEDED, SUFFIXES, read_holdings, saved_tables, typed
from walletframe.exports.separated import to_csv

__all__ = [
    "NEEDED",
    "SUFFIXES",
    "read_holdings",
    "saved_tables",
    "to_csv",
    "to_excel",
    "to_json",
    "to_parquet",
    "typed",
]
