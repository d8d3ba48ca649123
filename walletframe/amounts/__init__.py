"""Exact amounts as a pandas dtype: integers of any size and a scale, never rounded."""

from walletframe.amounts.array import AmountArray, AmountDtype
from walletframe.amounts.columns import as_amounts

__all__ = ["AmountArray", "AmountDtype", "as_amounts"]
