"""DataFrames as pandas shows them, but for values as money: by arguments, never by its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from pandas import get_option
from pandas.api.types import is_float_dtype
from pandas.io.formats.format import (  # type: ignore[attr-defined]  # it is for this
    get_dataframe_repr_params,
)

from walletframe.amounts import AmountDtype
from walletframe.numerals import money, plain

if TYPE_CHECKING:
    from collections.abc import Callable

_WRITTEN = {"value": money, "price": plain, "unit_price": plain}


def frame_html(frame: Any) -> str | None:
    """Return what pandas shows of a frame, or of a Styler, in a notebook."""
    written = _writers(frame)
    if not written or not get_option("display.notebook_repr_html"):
        html: str | None = frame._repr_html_()
        return html
    most, fewer = get_option("display.max_rows"), get_option("display.min_rows")
    drawn: str = frame.to_html(
        formatters=written,
        notebook=True,
        max_rows=fewer if most and fewer and len(frame) > most else most,
        max_cols=get_option("display.max_columns"),
        show_dimensions=get_option("display.show_dimensions"),
    )
    return drawn


def frame_text(frame: Any) -> str:
    """Return what pandas shows of a frame in a terminal."""
    written = _writers(frame)
    if not written:
        return repr(frame)
    text: str = frame.to_string(formatters=written, **get_dataframe_repr_params())
    return text


def _writers(frame: Any) -> dict[str, Callable[[float], str]]:
    """Choose how to write the columns of values and prices, unless the user chose."""
    chosen = get_option("display.float_format") or get_option("display.large_repr") != "truncate"
    if chosen or not isinstance(frame, pd.DataFrame):
        return {}
    names = frame.columns
    if names.nlevels > 1 or not names.is_unique:
        return {}
    found = {name: write for name, write in _WRITTEN.items() if name in names}
    return {name: write for name, write in found.items() if _is_float(frame[name].dtype)}


def _is_float(dtype: Any) -> bool:
    return is_float_dtype(dtype) and not isinstance(dtype, AmountDtype)
