"""The options of a picker, and the search in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from walletframe.frames import TokenKey

Value: TypeAlias = "str | TokenKey"


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose."""

    value: Value
    label: str  # in the list: one harmless line, in full
    short: str  # on a button
    words: str  # what is searched, case folded; the name that people know comes first
    key: Value  # equal for all spellings of the value


@dataclass(frozen=True, slots=True)
class Hits:
    """The first of what was found, and how many there are in all."""

    options: list[Option]
    total: int


class Options:
    """Things to choose from, each key once, in the order in which they are offered."""

    def __init__(self, options: Iterable[Option]) -> None:
        self._by_value: dict[Value, Option] = {}
        self._by_key: dict[Value, Option] = {}
        for option in options:
            self.add(option)

    def add(self, option: Option) -> Option:
        """Offer one more thing, and return what is offered: it may be there in another spelling."""
        kept = self._by_key.setdefault(option.key, option)
        self._by_value[kept.value] = kept
        return kept

    def get(self, key: Value) -> Option | None:
        """Return what has a key, if anything."""
        return self._by_key.get(key)

    def __len__(self) -> int:
        return len(self._by_value)

    def __iter__(self) -> Iterator[Option]:
        return iter(self._by_value.values())

    def __contains__(self, value: object) -> bool:
        return value in self._by_value

    def __getitem__(self, value: Value) -> Option:
        return self._by_value[value]

    def find(self, text: str, limit: int, first: Sequence[Value] = ()) -> Hits:
        """Find what holds all words of a text, in any case and order; blank finds everything."""
        # Those whose name is the text come first, then those that begin with it; where the text is
        # blank, the values `first`.
        words = text.casefold().split()
        if not words:
            known = [value for value in first if value in self._by_value]
            order = dict.fromkeys([*known, *self._by_value])
            return Hits([self._by_value[value] for value in list(order)[:limit]], len(order))
        found = [option for option in self if all(word in option.words for word in words)]
        found.sort(key=lambda option: _distance(option.words, " ".join(words)))
        return Hits(found[:limit], len(found))


def _distance(words: str, text: str) -> int:
    if words.startswith(f"{text} ") or words == text:
        return 0
    return 1 if words.startswith(text) else 2
