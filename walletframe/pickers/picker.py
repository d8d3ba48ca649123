"""A list to search and choose several things from, as a widget."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from traitlets import Any as AnyTrait
from traitlets import Int, Unicode, observe, validate

from walletframe.pickers.base import TypedTuple, ValueWidget
from walletframe.pickers.page import script, styles
from walletframe.pickers.widget import LOCK, PageWidget

if TYPE_CHECKING:
    from collections.abc import Mapping

    from walletframe.pickers.options import Fact, Options, Value


class _Several(TypedTuple):
    """A tuple; a text is one value, not its letters."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Return the tuple."""
        return super().validate(obj, (value,) if isinstance(value, str) else value)


def _from_page(values: list[Any], picker: Picker) -> tuple[Any, ...]:
    """Read what the page chose; what is not offered any more is refused before it is set."""
    given = (tuple(value) if isinstance(value, list) else value for value in values)
    return tuple(picker._resolve(value) for value in given)  # noqa: SLF001 - it is one of ours


class Picker(PageWidget, ValueWidget):
    """A list to search and choose from, with a button for each thing that is chosen."""

    _esm, _css = script("pickerwidget"), styles("picker")
    # mypy takes a trait for what it validates
    value: Any = _Several(AnyTrait()).tag(sync=True, from_json=_from_page)
    description: Unicode[str, str | bytes] = Unicode().tag(sync=True)  # names the things
    _offers = Int().tag(sync=True)  # how often other things were offered

    def __init__(self, source: Any, *, value: Any, description: str) -> None:
        self._options = self._read(source)
        self._remaining: Mapping[Any, Fact | None] | None = None
        named = Picker.value.validate(self, value)
        chosen = [self._resolve(each) for each in named]  # what fails leaves no widget behind
        super().__init__(description=description)
        self._handlers["options"] = lambda _: self._options.columns() | self._here()
        self.value = chosen

    @abstractmethod
    def _read(self, source: Any) -> Options:
        """Return what there is to choose from in a source."""

    @abstractmethod
    def _resolve(self, value: Any) -> Value:
        """Return the value of the option that is meant."""

    def offer(self, source: Any, /) -> None:
        """Offer other things; of those chosen, those that are not among them are removed.

        Parameters
        ----------
        source : WalletDetails, DataFrame or list
            What to choose from: whatever a picker of this kind can be made of.

        Raises
        ------
        ArgumentError, ColumnsError, AddressError
            If `source` is of another type, lacks a column, or names what is no wallet.

        Examples
        --------
        >>> from walletframe.pickers import BlockchainPicker
        >>> picker = BlockchainPicker(["ETH", "BSC"], value=["ETH", "BSC"])
        >>> picker.offer(["BSC", "NEAR"])
        >>> picker.value
        ('BSC',)
        >>> picker.close()
        """
        options = self._read(source)
        with LOCK:
            kept = tuple(value for value in self.value if value in options)
            self._options, self._remaining = options, None
            self.value = kept
            self._offers += 1

    def narrow(self, source: Any = None) -> None:
        """Show only some of what is offered, as other pickers leave it; what is chosen stays so.

        Parameters
        ----------
        source : WalletDetails, DataFrame or None
            A part of what was offered, which also says how much stands behind each; None for all.

        Raises
        ------
        ArgumentError, ColumnsError
            If `source` is of another type, or lacks a column.

        Examples
        --------
        >>> from walletframe.pickers import BlockchainPicker
        >>> picker = BlockchainPicker(["ETH", "BSC", "NEAR"])
        >>> picker.narrow(["ETH", "NEAR"])
        >>> picker.narrow()
        >>> picker.close()
        """
        left = None if source is None else self._read(source)
        with LOCK:
            self._remaining = (
                None if left is None else {key: left.known.get(key) for key in left.by_key}
            )
            self.send({"kind": "narrowed", **self._here()})

    def _here(self) -> dict[str, Any]:
        """Return what remains of the options, for the page."""
        left = self._remaining
        return {"here": None if left is None else self._options.here(left)}

    @validate("value")
    def _resolve_all(self, proposal: dict[str, Any]) -> tuple[Value, ...]:
        return tuple(dict.fromkeys(self._resolve(value) for value in proposal["value"]))

    @observe("value")
    def _forget_error(self, _change: object) -> None:
        self._show_error("")
