"""Frames as files for other programs, and back: exact amounts, and text that does no harm there.

What writes takes any frame; a file is there whole, or the earlier one is.
"""

from walletframe.exports.readers import NEEDED, SUFFIXES, read_holdings, saved_tables, typed
from walletframe.exports.writers import to_arrow, to_csv, to_excel, to_json, to_parquet, to_sql
