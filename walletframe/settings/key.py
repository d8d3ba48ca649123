"""Secrets as values that never show their text: the API key, and the base address it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable


class Secret:
    """A text that repr, members and copies mask, and that a pickle leaves out."""

    __slots__ = ("_reveal",)
    _name = "secret"
    _reveal: Callable[[], str]

    def __init__(self, text: str) -> None:
        self._reveal = lambda: text  # a debugger lists members, but does not call them

    def reveal(self) -> str:
        """Return the text itself, empty after unpickling."""
        return self._reveal()

    @property
    def is_one_line(self) -> bool:
        """Whether it is text, visible, on one line."""
        text: object = self.reveal()
        return isinstance(text, str) and text.isprintable()

    def __repr__(self) -> str:
        return f"<{self._name}, hidden>" if self else f"<{self._name}, left out>"

    def __bool__(self) -> bool:
        return bool(self.reveal())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and other.reveal() == self.reveal()

    def __hash__(self) -> int:
        return hash((type(self), self.reveal()))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ("",)


class ApiKey(Secret):
    """An API key, hidden."""

    __slots__ = ()
    _name = "API key"
