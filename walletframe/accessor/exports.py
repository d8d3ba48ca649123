"""Files for other programs, of any DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


class ExportsAccessor:
    """What writes a DataFrame to a file."""

    _data: pd.DataFrame

    def to_csv(self, path: str | Path) -> None:
        """Write a CSV file: amounts exact, formulas of strangers disarmed, one row a line.

        Parameters
        ----------
        path : str or Path
            Where to write; an earlier file stays until all of the new one is on the disk.
            Separated by tabs where it ends in ``.tsv``, compressed where it ends in ``.gz``.

        Raises
        ------
        SettingsError
            Where the name asks for another compression.
        OSError
            Where it can't be written.

        See Also
        --------
        walletframe.read_holdings : Gives the frame back.
        """
        from walletframe.exports import to_csv  # noqa: PLC0415 - loads pyarrow.compute

        to_csv(self._data, path)

    def to_parquet(self, path: str | Path) -> None:
        """Write a Parquet file that pandas without walletframe, DuckDB and polars open.

        Amounts are exact text; beside each such column stands ``<name>_decimal``,
        decimal128(38, 18), which can be summed there: null where it can't hold an amount.

        Parameters
        ----------
        path : str or Path
            Where to write; an earlier file stays until all of the new one is on the disk.

        Raises
        ------
        OSError
            Where it can't be written.

        See Also
        --------
        walletframe.read_holdings : Gives the frame back.
        """
        from walletframe.exports import to_parquet  # noqa: PLC0415 - loads pyarrow.compute

        to_parquet(self._data, path)

    def to_excel(self, path: str | Path) -> None:
        """Write an Excel file: amounts as exact text, all other text harmless.

        Beside each column of amounts stands ``<name>_number``, the nearest numbers, to sort by.
        Only columns ``…_url`` hold links, and these lead to http or https.

        Parameters
        ----------
        path : str or Path
            Where to write; an earlier file stays until all of the new one is on the disk.

        Raises
        ------
        MissingExtraError
            Where openpyxl is not installed.
        OSError
            Where it can't be written.

        See Also
        --------
        walletframe.read_holdings : Gives the frame back.
        """
        from walletframe.exports import to_excel  # noqa: PLC0415 - loads pyarrow.compute

        to_excel(self._data, path)
