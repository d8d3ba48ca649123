"""What there is to choose from, and how a person's words find some of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from walletframe.frames import TokenKey

Value: TypeAlias = "str | TokenKey"


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to choose.

    Attributes
    ----------
    value : str or tuple
        What it is.
    label : str
        What a person sees: one harmless line.
    words : str
        What is searched, case folded; the name that people know first.
    key : str or tuple
        What is equal for all spellings of the value.
    """

    value: Value
    label: str
    words: str
    key: Value


@dataclass(frozen=True, slots=True)
class Hits:
    """What was found.

    Attributes
    ----------
    options : list of Option
        The first ones.
    total : int
        How many there are.
    """

    options: list[Option]
    total: int


class Options:
    """Things to choose from, each value once.

    Parameters
    ----------
    options : iterable of Option
        In the order in which they are offered.
    """

    def __init__(self, options: Iterable[Option]) -> None:
        self._by_value: dict[Value, Option] = {}
        self._by_key: dict[Value, Option] = {}
        for option in options:
            self.add(option)

    def add(self, option: Option) -> Option:
        """Offer one more thing, unless it is there in another spelling.

        Parameters
        ----------
        option : Option
            The thing.

        Returns
        -------
        Option
            That which is offered now.
        """
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
        """Find what holds all words of a text.

        Parameters
        ----------
        text : str
            Words, in any case and order; blank for everything.
        limit : int
            The most options to return.
        first : sequence of str or tuple
            Values that come first where the text is blank.

        Returns
        -------
        Hits
            Those whose name is the text come first, then those that begin with it.

        Examples
        --------
        >>> both = Options([Option(1, "A", "wusd", 1), Option(2, "B", "usd eth", 2)])
        >>> [option.value for option in both.find("USD", 10).options]
        [2, 1]
        """
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
