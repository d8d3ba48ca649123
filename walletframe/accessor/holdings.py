"""What is asked of holdings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


class HoldingsAccessor:
    """What can be asked of a DataFrame with the columns of holdings."""

    _data: pd.DataFrame

    def top(self, n: int = 10, *, by: str = "amount") -> pd.DataFrame:
        """Return the rows with the largest amounts, exactly, or with the largest numbers.

        Parameters
        ----------
        n : int, default 10
            How many.
        by : str, default "amount"
            The column of amounts, or of numbers, such as ``"value"``.

        Returns
        -------
        DataFrame
            At most `n` rows, the largest first, equal ones in their order; no NA.

        Raises
        ------
        ColumnsError
            Where the column is missing.
        AmountError
            Where the values are neither amounts nor numbers, or floats in ``amount``.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"amount": pd.array(["2", "7", None], dtype="amount")})
        >>> frame.wf.top(1)
          amount
        1      7
        """
        from walletframe.analysis import top_rows  # noqa: PLC0415 - loads pyarrow.compute

        return top_rows(self._data, n, by=by)
