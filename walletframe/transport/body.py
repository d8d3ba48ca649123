"""The body of an answer: read within bounds, of one answer and of all that are read at once."""

from __future__ import annotations

from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import requests

    from walletframe.transport.attempt import Attempt

MAX_BODY_BYTES = 256 * 1024 * 1024
SMALL_BODY_BYTES = 8 * 1024 * 1024
_PIECE = 256 * 1024
_TICK_S = 0.05


class Bodies:
    """Reads bodies: any number of small ones at once, and one at a time that is not small.

    Parameters
    ----------
    scrub : callable
        Takes what is not to be seen out of a body.
    """

    def __init__(self, scrub: Callable[[bytes], bytes]) -> None:
        self._scrub = scrub
        self._turn = Lock()

    def read(self, response: requests.Response, attempt: Attempt) -> bytes | None:
        """Read one.

        Parameters
        ----------
        response : requests.Response
            An answer whose head was read.
        attempt : Attempt
            How long that may take.

        Returns
        -------
        bytes or None
            None for a body beyond all measure.

        Raises
        ------
        TimeoutError
            Where the attempt ended before the turn of this large one came.
        """
        read, is_large = BytesIO(), False  # shows nobody what it holds, and is of one piece
        try:
            for _ in map(read.write, response.iter_content(_PIECE)):
                if read.tell() > MAX_BODY_BYTES:
                    return None
                if read.tell() > SMALL_BODY_BYTES and not is_large:
                    while not self._turn.acquire(timeout=min(_TICK_S, attempt.left_s())):
                        pass
                    is_large = True
            return self._scrub(read.getvalue())
        finally:
            read.close()
            if is_large:
                self._turn.release()
