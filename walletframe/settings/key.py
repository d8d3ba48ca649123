"""Secrets as values that can be carried about without being seen: the API key, and a base of it."""

from __future__ import annotations

from typing import Any, Self


class Secret:
    """A text that shows itself to nobody who does not ask by name.

    Text, repr and copies show a mask; a pickle leaves the text out.

    Parameters
    ----------
    text : str
        What is secret.
    """

    __slots__ = ("_text",)
    _name = "secret"

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text itself.

        Returns
        -------
        str
            Empty after unpickling.
        """
        return self._text

    def __repr__(self) -> str:
        return f"<{self._name}, hidden>" if self._text else f"<{self._name}, left out>"

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and other._text == self._text

    def __hash__(self) -> int:
        return hash((type(self), self._text))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ("",)


class ApiKey(Secret):
    """An API key, hidden.

    Parameters
    ----------
    text : str
        The key.

    Examples
    --------
    >>> ApiKey("secret")
    <API key, hidden>
    """

    __slots__ = ()
    _name = "API key"
