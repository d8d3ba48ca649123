"""The API key as a value that can be carried about without being seen."""

from __future__ import annotations

from typing import Any


class ApiKey:
    """An API key that shows itself to nobody who does not ask by name.

    Text, repr and copies show a mask; a pickle leaves the key out.

    Parameters
    ----------
    key : str
        The key.

    Examples
    --------
    >>> ApiKey("secret")
    <API key, hidden>
    """

    __slots__ = ("_key",)

    def __init__(self, key: str) -> None:
        self._key = key

    def reveal(self) -> str:
        """Return the key itself.

        Returns
        -------
        str
            Empty after unpickling.
        """
        return self._key

    def __repr__(self) -> str:
        return "<API key, hidden>" if self._key else "<API key, left out>"

    def __bool__(self) -> bool:
        return bool(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApiKey) and other._key == self._key

    def __hash__(self) -> int:
        return hash((ApiKey, self._key))

    def __copy__(self) -> ApiKey:
        return self

    def __deepcopy__(self, memo: object) -> ApiKey:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return ApiKey, ("",)
