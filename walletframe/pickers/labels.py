"""Labels to pick wallets by: what their user says of them in columns that were kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from walletframe.frames import kept_names, wallets_given
from walletframe.pickers.chooser import Option, Options
from walletframe.text import shown

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames import FetchLike

_NAME, _LABEL = 24, 60


def grouping_columns(wallets: pd.DataFrame) -> list[str]:
    """Return the kept columns that tell groups of wallets; ``name`` tells single ones."""
    return [name for name in kept_names(wallets) if name != "name"]


def label_texts(column: pd.Series) -> pd.Series:
    """Return the labels of a column as text, empty where there is none."""
    return column.astype("str").fillna("")


def label_options(source: FetchLike) -> Options:
    """Return the labels of a fetch, each a column and a text of it."""
    wallets = wallets_given(source)
    pairs = (
        (name, label)
        for name in grouping_columns(wallets)
        for label in label_texts(wallets[name]).value_counts().index
    )
    return Options(_option(name, label) for name, label in pairs)


def _option(name: str, label: str) -> Option:
    key, told, column = (name, label), shown(label, _LABEL) or "not told", shown(name, _NAME)
    return Option(key, key, told, column, short=f"{column}: {told}")
