"""Chance that repeats: a stream of draws fixed by a seed and a subject.

Whole numbers only, from a hash, so that every machine and Python version draws the same.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")
_PARTS = 1_000_000


class Chance:
    """A stream of draws.

    Parameters
    ----------
    *subject : object
        What the draws are about; equal subjects draw the same.

    Examples
    --------
    >>> Chance(0, "ETH").below(1000) == Chance(0, "ETH").below(1000)
    True
    """

    __slots__ = ("_drawn", "_subject")

    def __init__(self, *subject: object) -> None:
        self._subject = repr([str(part) for part in subject]).encode("utf-8", "replace")
        self._drawn = 0

    def below(self, stop: int) -> int:
        """Draw a whole number from 0 up to, and without, `stop`.

        Parameters
        ----------
        stop : int
            At least 1, at most 2**200.

        Returns
        -------
        int
            The number.
        """
        self._drawn += 1
        salt = self._drawn.to_bytes(8, "big")
        return int.from_bytes(blake2b(self._subject, salt=salt, digest_size=32).digest()) % stop

    def hits(self, share: float) -> bool:
        """Say whether something happens that happens in a share of all cases.

        Parameters
        ----------
        share : float
            From 0 for never to 1 for always, in steps of a millionth.

        Returns
        -------
        bool
            Whether it happens this time.
        """
        return self.below(_PARTS) < round(share * _PARTS)

    def pick(self, options: Sequence[T]) -> T:
        """Draw one of several options, each as likely as the others.

        Parameters
        ----------
        options : sequence
            At least one.

        Returns
        -------
        object
            One of them.
        """
        return options[self.below(len(options))]

    def digits(self, count: int) -> int:
        """Draw a whole number of so many decimal digits.

        Parameters
        ----------
        count : int
            At least 1, at most 59.

        Returns
        -------
        int
            From ``10**(count - 1)`` up to, and without, ``10**count``.
        """
        lowest: int = 10 ** (count - 1)
        return lowest + self.below(9 * lowest)
