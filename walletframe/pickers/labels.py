"""Pick wallets by what their user says of them: the labels in columns that were kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from traitlets import Unicode

from walletframe.errors import ArgumentError
from walletframe.frames import kept_names, wallets_given
from walletframe.pickers.chooser import Chooser, Option, Options
from walletframe.text import shown

if TYPE_CHECKING:
    import pandas as pd

    from walletframe.frames import FetchLike
    from walletframe.pickers.chooser import Value

_NAME, _LABEL = 24, 60


def grouping_columns(wallets: pd.DataFrame) -> list[str]:
    """Return the kept columns that tell groups of wallets; ``name`` tells single ones."""
    return [name for name in kept_names(wallets) if name != "name"]


def label_texts(column: pd.Series) -> pd.Series:
    """Return the labels of a column as text, empty where there is none."""
    return column.astype("str").fillna("")


class LabelPicker(Chooser):
    """Pick labels, as pairs of a column and a text, of the columns that wallets keep."""

    _hint = Unicode("Label or column").tag(sync=True)

    def __init__(self, wallets: FetchLike) -> None:
        super().__init__(self._read(wallets), value=(), description="Labels")
        self._hide()

    def offer(self, wallets: FetchLike) -> None:
        """Offer the labels of other wallets; of those chosen, those that are gone are removed."""
        self._offer(self._read(wallets))
        self._hide()

    def _read(self, source: FetchLike) -> Options:
        return _offered(source)

    def _hide(self) -> None:
        self.layout.display = None if self._options else "none"

    def _resolve(self, value: Any) -> Value:
        option = self._options.by_key.get(value) if isinstance(value, tuple) else None
        if option is None:
            raise ArgumentError(f"{value!r} is no label", hint="a column and one of its texts")
        return option.value


def _offered(source: FetchLike) -> Options:
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
