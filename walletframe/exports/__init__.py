"""Frames as files for other programs, and back: exact amounts, and text that does no harm there.

Writers take any frame, and are atomic: a failure leaves the earlier file.
"""

from walletframe.exports.readers import NEEDED, SUFFIXES, read_holdings, saved_tables, typed
from walletframe.exports.writers import to_arrow, to_csv, to_excel, to_json, to_parquet, to_sql
