"""Writers of files for other programs, and readers of the files that walletframe wrote.

Amounts are exact, and text that another program would run as code is escaped. A writer accepts any
DataFrame. If writing fails, the earlier file is unchanged.
"""

from walletframe.exports.readers import NEEDED, SUFFIXES, read_holdings, read_tables, restore_dtypes
from walletframe.exports.writers import to_arrow, to_csv, to_excel, to_json, to_parquet, to_sql
