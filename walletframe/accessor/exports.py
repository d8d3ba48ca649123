"""Files for other programs, of any DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


class ExportsAccessor:
    """Methods that write a DataFrame to a file."""

    _data: pd.DataFrame

    def to_csv(self, path: str | Path) -> None:
        """Write a CSV file: amounts exact, formulas of strangers disarmed, one row a line.

        As with any CSV, a spreadsheet turns symbols such as ``1e5`` and ``2026-01-01`` into numbers
        and dates; `to_excel` keeps them as text.

        Amounts and floats have all their digits and no exponent. Text that a spreadsheet would read
        as a formula, or that has control characters, is escaped and begins with an apostrophe.
        Empty text is quoted, missing values are not. The index is left out.

        Parameters
        ----------
        path : str or Path
            Where to write; an earlier file is replaced once the new one is complete on the disk.
            Separated by tabs where it ends in ``.tsv``, compressed where it ends in ``.gz``.

        Raises
        ------
        SettingsError
            If the name asks for another compression.
        OSError
            If it can't be written.

        See Also
        --------
        walletframe.read_holdings : Gives the frame back.

        Examples
        --------
        >>> import pandas as pd, walletframe
        >>> from pathlib import Path
        >>> frame = pd.DataFrame({"symbol": ["ETH"], "amount": pd.array(["1.5"], dtype="amount")})
        >>> frame.wf.to_csv("amounts.csv")
        >>> print(Path("amounts.csv").read_text().rstrip())
        symbol,amount
        ETH,1.5
        """
        from walletframe.exports import to_csv

        to_csv(self._data, path)

    def to_parquet(self, path: str | Path) -> None:
        """Write a Parquet file that pandas without walletframe, DuckDB and polars open.

        Amounts are exact text. Each such column gets a second one, ``<name>_decimal``,
        decimal128(38, 18), which other programs can sum: null if it can't hold an amount. The index
        is left out.

        Parameters
        ----------
        path : str or Path
            Where to write; an earlier file is replaced once the new one is complete on the disk.

        Raises
        ------
        ValueError, TypeError
            If a column of objects has no one type; these are Arrow's own.
        OSError
            If it can't be written.

        See Also
        --------
        walletframe.read_holdings : Gives the frame back.

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

    def to_excel(self, path: str | Path) -> None:
        """Write an Excel file: amounts as exact text, all other text harmless.

        Each column of amounts gets a second one, ``<name>_number``, with the nearest numbers, to
        sort and filter by: a cell's number is a float, of which Excel shows 15 digits. Times are in
        UTC, to the millisecond; text is on one line, and cut to what a cell holds. Only columns
        ``…_url`` hold links, and these lead to http or https. The index is left out.

        Parameters
        ----------
        path : str or Path
            Where to write; an earlier file is replaced once the new one is complete on the disk.

        Raises
        ------
        MissingExtraError
            If openpyxl is not installed.
        OSError
            If it can't be written.

        See Also
        --------
        walletframe.read_holdings : Gives the frame back.

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
