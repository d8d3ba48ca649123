"""What pandas and Arrow ask a type before they see any data.

The scale belongs to an array: arrays of any scales are of one type, which has no parameters.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd
import pyarrow as pa
from pandas.api.extensions import ExtensionDtype, register_extension_dtype

from walletframe.amounts.arrow import from_arrow

if TYPE_CHECKING:
    import builtins

    from pandas.api.extensions import ExtensionArray

    class _ArrowType:  # Arrow ships no types
        extension_name: str

        def __init__(self, storage_type: pa.DataType, extension_name: str) -> None: ...

else:
    _ArrowType = pa.ExtensionType


@register_extension_dtype
class AmountDtype(ExtensionDtype):
    """The pandas dtype of exact amounts: integers of any size and a scale of up to 77 decimals.

    Its name is ``"amount"``; importing walletframe makes pandas know it. A missing amount is
    `pandas.NA`, and a single amount is a `decimal.Decimal` with plain text.

    Examples
    --------
    >>> import pandas as pd
    >>> pd.Series(["1.5", "0.000000000000000001", None], dtype="amount")
    0                     1.5
    1    0.000000000000000001
    2                    <NA>
    dtype: amount
    """

    name = "amount"
    type = Decimal
    # Without it pandas leaves it out of round by column, decimal commas and float formats, and
    # plotly express takes amounts for categories.
    kind = "f"
    itemsize = 8  # of a reference, asked for by pandas 3.0
    na_value: Any = pd.NA

    array_type: ClassVar[builtins.type[Any]]
    _is_numeric = True  # else numeric_only, describe and plots leave it out

    def __repr__(self) -> str:
        return "AmountDtype()"

    @classmethod
    def construct_array_type(cls) -> builtins.type[ExtensionArray]:
        """Give the class of arrays of this dtype, which registers itself."""
        return cls.array_type

    def _get_common_dtype(self, dtypes: list[Any]) -> AmountDtype | None:
        """Tell pandas's concat which dtypes join this one without loss."""
        return self if all(map(_is_exact, dtypes)) else None

    def __from_arrow__(self, array: pa.Array | pa.ChunkedArray) -> ExtensionArray:
        """Make an array of what Parquet and Feather hold."""
        amounts: ExtensionArray = self.array_type(*from_arrow(array))
        return amounts


def _is_exact(dtype: Any) -> bool:
    """Tell whether a dtype is that of amounts, of integers or of Arrow's decimals."""
    if isinstance(dtype, pd.ArrowDtype) and pa.types.is_decimal(dtype.pyarrow_dtype):
        return True
    return dtype == AmountDtype() or getattr(dtype, "kind", None) in {"i", "u"}


class AmountType(_ArrowType):
    """The Arrow type that Parquet, Feather and IPC keep, by its name; plain text for others."""

    def __init__(self) -> None:
        super().__init__(pa.large_string(), "walletframe.amount")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> AmountType:
        """Give the type; it has no parameters."""
        return cls()

    def __hash__(self) -> int:
        return hash(self.extension_name)

    def to_pandas_dtype(self) -> AmountDtype:
        """Give the dtype of a column of pandas."""
        return AmountDtype()


pa.register_extension_type(AmountType())
