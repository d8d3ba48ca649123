"""The pandas dtype of exact amounts, which stores integers of any size and never rounds."""

from walletframe.amounts.array import AmountArray, AmountDtype
from walletframe.amounts.columns import as_amounts

__all__ = ["AmountArray", "AmountDtype", "as_amounts"]
