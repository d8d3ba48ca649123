"""How fast something goes lately, and how long the rest will take."""

from __future__ import annotations

from collections import deque

_LATELY_S = 15.0


class Speed:
    """What was done when, over the last seconds: answers from a cache don't count for long."""

    def __init__(self, begun_s: float) -> None:
        self._marks = deque([(begun_s, 0)])

    def note(self, now_s: float, done: int) -> None:
        """Take note of how much is done."""
        self._marks.append((now_s, done))
        while len(self._marks) > 2 and now_s - self._marks[0][0] > _LATELY_S:  # noqa: PLR2004
            self._marks.popleft()

    def left(self, total: int) -> str:
        """Say how long the rest will take."""
        (then_s, before), (now_s, done) = self._marks[0], self._marks[-1]
        if done == before or done >= total:
            return ""
        seconds = (total - done) * (now_s - then_s) / (done - before)
        if seconds < 100:  # noqa: PLR2004 - as people say it
            return f"about {max(1, round(seconds))} s left"
        return f"about {round(seconds / 60)} min left"
