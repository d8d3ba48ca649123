"""Frames for other programs: files, tables of Arrow and of databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from walletframe.exports.writers import Database, Existing


class ExportsAccessor:
    """What other programs are given of any DataFrame."""

    _data: pd.DataFrame

    def to_csv(self, path: str | Path) -> None:
        """Write a CSV file: amounts exact, formulas of strangers disarmed, one row a line.

        Amounts and floats have all their digits and no exponent. Text that a spreadsheet would read
        as a formula, or that has control characters, is escaped and begins with an apostrophe.
        Empty text is quoted, missing values are not. The index is left out. A spreadsheet turns
        symbols such as ``1e5`` and ``2026-01-01`` into numbers and dates; `to_excel` keeps them.
        `read_holdings` reads it back.

        Parameters
        ----------
        path : str or Path
            Where to write; an earlier file is replaced once the new one is complete on the disk.
            Separated by tabs where it ends in ``.tsv``, compressed where it ends in ``.gz``.

        Raises
        ------
        SettingsError, OSError
            If the name asks for another compression, or the file can't be written.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
        >>> frame.wf.to_csv("amounts.csv")
        >>> pd.read_csv("amounts.csv", dtype="str").amount.tolist()
        ['1.5']
        """
        from walletframe.exports import to_csv

        to_csv(self._data, path)

    def to_parquet(self, path: str | Path) -> None:
        """Write a Parquet file that pandas without walletframe, DuckDB and polars open.

        Amounts are exact text. Each such column gets a second one, ``<name>_decimal``,
        decimal128(38, 18), which other programs can sum: null if it can't hold an amount. The index
        is left out. `read_holdings` reads it back.

        Parameters
        ----------
        path : str or Path
            Where to write; an earlier file is replaced once the new one is complete on the disk.

        Raises
        ------
        ValueError, TypeError, OSError
            If a column of objects has no one type (Arrow's own), or the file can't be written.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
        >>> frame.wf.to_parquet("amounts.parquet")
        >>> pd.read_parquet("amounts.parquet").columns.tolist()
        ['symbol', 'amount', 'amount_decimal']
        """
        from walletframe.exports import to_parquet

        to_parquet(self._data, path)

    def to_arrow(self) -> pa.Table:
        """Give an Arrow table that DuckDB, polars and other programs take.

        Returns
        -------
        pyarrow.Table
            The columns of the frame, without the index. Amounts are exact text, large_string; each
            such column has a second one beside it, ``<name>_decimal``, decimal128(38, 18), which
            other programs can sum: null if it can't hold an amount.

        Raises
        ------
        ValueError, TypeError
            If a column of objects has no one type; these are Arrow's own.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
        >>> frame.wf.to_arrow().column_names
        ['symbol', 'amount', 'amount_decimal']
        """
        from walletframe.exports import to_arrow

        return to_arrow(self._data)

    def to_sql(self, name: str, con: Database, *, if_exists: Existing = "fail") -> None:
        """Write a table of a database.

        Amounts are exact text. Each such column gets a second one, ``<name>_decimal``, of
        DECIMAL(38, 18), which the database can sum: null if it can't hold an amount. SQLite has no
        decimals: there it is the nearest float. The index is left out. To read it back:
        ``pd.read_sql("…", con, dtype={"amount": "amount"})``.

        Parameters
        ----------
        name : str
            The table.
        con : sqlite3.Connection, str, or engine or connection of SQLAlchemy
            The database; a str is SQLAlchemy's URL.
        if_exists : {"fail", "replace", "append"}, default "fail"
            What to do if there is such a table.

        Raises
        ------
        ArgumentError
            If `con` is something else.
        ValueError
            If there is such a table; this is pandas's own, as all errors of the database are.

        Examples
        --------
        >>> import sqlite3, pandas as pd, walletframe
        >>> database = sqlite3.connect(":memory:")
        >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
        >>> frame.wf.to_sql("holdings", database)
        >>> database.execute("select * from holdings").fetchall()
        [('ETH', '1.5', 1.5)]
        """
        from walletframe.exports import to_sql

        to_sql(self._data, name, con, if_exists=if_exists)

    def to_excel(self, path: str | Path) -> None:
        """Write an Excel file: amounts as exact text, all other text harmless.

        Each column of amounts gets a second one, ``<name>_number``, with the nearest numbers, to
        sort and filter by: a cell's number is a float, of which Excel shows 15 digits. Times are in
        UTC, to the millisecond; text is on one line, and cut to what a cell holds. Only columns
        ``…_url`` hold links, to http or https. The index is left out. `read_holdings` reads it.

        Parameters
        ----------
        path : str or Path
            Where to write; an earlier file is replaced once the new one is complete on the disk.

        Raises
        ------
        MissingExtraError, OSError
            If openpyxl is not installed, or the file can't be written.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
        >>> frame.wf.to_excel("amounts.xlsx")
        >>> pd.read_excel("amounts.xlsx").columns.tolist()
        ['symbol', 'amount', 'amount_number']
        """
        from walletframe.exports import to_excel

        to_excel(self._data, path)
