"""Writers of files for other programs, and readers of these files.

A writer accepts any DataFrame. Amounts are exact. Text that other programs would run as code is
escaped. If writing fails, an earlier file is unchanged.
"""

from walletframe.exports.readers import SUFFIXES, read_holdings, read_with_wallets, restore_dtypes
from walletframe.exports.writers import to_arrow, to_csv, to_excel, to_json, to_parquet, to_sql
