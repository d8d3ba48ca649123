"""Choosing several things in a searched list: what is offered, what is chosen, what remains."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ipywidgets import ValueWidget
from ipywidgets.widgets.trait_types import TypedTuple
from traitlets import Any as AnyTrait
from traitlets import Int, Unicode, observe, validate

from walletframe.pickers.facts import columns
from walletframe.pickers.page import script, styles
from walletframe.pickers.widget import LOCK, PageWidget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from walletframe.frames import TokenKey
    from walletframe.pickers.facts import Fact

Value: TypeAlias = "str | TokenKey"


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose; all texts but `words` are harmless lines."""

    value: Value
    key: Value  # equal for all spellings of the value
    name: str  # what people call it; empty where it has none
    chain: str = ""  # where it is
    whole: str = ""  # its address or contract
    short: str = ""  # a name that no other has, where `name` is not enough
    words: str = ""  # finds it, too


class Options(dict[Value, Option]):
    """Things to choose from by their values, each key once; where known, of most value first."""

    def __init__(
        self,
        options: Iterable[Option],
        known: Mapping[Any, Fact] | None = None,
        sorted_by: str = "",
    ) -> None:
        """Offer things, with what stands behind them, by key, and what their order is by."""
        super().__init__()
        self.by_key: dict[Value, Option] = {}
        self.known, self.sorted_by = known or {}, sorted_by
        for option in sorted(options, key=self._order) if known else options:
            self.add(option)

    def _order(self, option: Option) -> tuple[bool, tuple[float, int]]:
        fact = self.known.get(option.key)
        return (fact is None, fact.order() if fact else (0, 0))

    def add(self, option: Option) -> Value:
        """Offer one more thing, and return its value: it may be there in another spelling."""
        kept = self.by_key.setdefault(option.key, option)
        self[kept.value] = kept
        return kept.value

    def columns(self) -> dict[str, Any]:
        """Return all that a page shows and searches, as columns of JSON.

        What only some have is by place; a place is the one in the order of the options.
        """
        options = [*self.values()]
        chains = {chain: code for code, chain in enumerate({each.chain: 0 for each in options})}
        made = {
            "values": [each.value for each in options],
            "names": [each.name for each in options],
            "chains": [*chains],
            "on": [chains[each.chain] for each in options],
            "wholes": [_whole(each) for each in options],
            "sorted": self.sorted_by,
        }
        for name in ("short", "words"):
            texts = [(place, getattr(each, name)) for place, each in enumerate(options)]
            made[name] = {place: text for place, text in texts if text}
        return made | (columns(self.known, [each.key for each in options]) if self.known else {})

    def here(self, left: Mapping[Any, Fact | None]) -> dict[str, Any]:
        """Return for a page what remains, those of most value first."""
        places = {option.key: place for place, option in enumerate(self.values())}
        known = {key: fact for key, fact in left.items() if fact}
        keys = [key for key in left if key in places]
        keys.sort(key=lambda key: known[key].order() if key in known else (math.inf, 0))
        return {"places": [places[key] for key in keys], **columns(known, keys)}


def _whole(option: Option) -> str | None:
    """Return the whole address or contract, None where the value has it as it is."""
    value = option.value
    own = value.partition(".")[2] if isinstance(value, str) else value[1]
    return None if own and option.whole == own else option.whole


class _Several(TypedTuple):
    """A tuple; a text is one value, not its letters."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Return the tuple."""
        return super().validate(obj, (value,) if isinstance(value, str) else value)


def _from_page(values: list[Any], picker: Chooser) -> tuple[Any, ...]:
    """Read what the page chose; what is not offered any more is refused before it is set."""
    given = (tuple(value) if isinstance(value, list) else value for value in values)
    return tuple(picker._resolve(value) for value in given)  # noqa: SLF001 - it is one of ours


class Chooser(PageWidget, ValueWidget):
    """A list to search and choose from, with a button for each thing that is chosen."""

    _esm, _css = script("pickerwidget"), styles("picker")
    # mypy takes a trait for what it validates
    value: Any = _Several(AnyTrait()).tag(sync=True, from_json=_from_page)
    description = Unicode().tag(sync=True)  # names the things
    _hint = Unicode().tag(sync=True)  # what can be typed to find one
    _offers = Int().tag(sync=True)  # how often other things were offered
    _resolve: Callable[[Any], Value]  # returns the option's value that is meant, or raises
    _read: Callable[[Any], Options]  # returns what there is to choose from in a source

    def __init__(self, options: Options, *, value: Sequence[Any], description: str) -> None:
        self._options = options
        self._remaining: Mapping[Any, Fact | None] | None = None
        named = Chooser.value.validate(self, value)
        chosen = [self._resolve(each) for each in named]  # what fails leaves no widget behind
        super().__init__(description=description)
        self._answer("options", lambda _: self._options.columns() | self._here())
        self.value = chosen

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
        if source is None:
            self._narrow(None)
        else:
            left = self._read(source)
            self._narrow({key: left.known.get(key) for key in left.by_key})

    def _narrow(self, remaining: Mapping[Any, Fact | None] | None) -> None:
        """Show only what has these keys, with these facts."""
        with LOCK:
            self._remaining = remaining
            self._tell("narrowed", self._here())

    def _here(self) -> dict[str, Any]:
        """Return what remains of the options, for the page."""
        left = self._remaining
        return {"here": None if left is None else self._options.here(left)}

    def _offer(self, options: Options) -> None:
        """Offer other things; what is chosen and not among them is removed."""
        with LOCK:
            kept = tuple(value for value in self.value if value in options)
            self._options, self._remaining = options, None
            self.value = kept
            self._offers += 1

    @validate("value")
    def _resolve_all(self, proposal: dict[str, Any]) -> tuple[Value, ...]:
        return tuple(dict.fromkeys(self._resolve(value) for value in proposal["value"]))

    @observe("value")
    def _forget_error(self, _change: object) -> None:
        self._show_error("")
