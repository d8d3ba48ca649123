"""One fetch on a thread of its own, which can be cancelled."""

from __future__ import annotations

import time
from threading import Event, Thread, current_thread
from typing import TYPE_CHECKING

from walletframe.pickers.speed import Speed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from walletframe.client import Client
    from walletframe.frames import WalletDetails

_TELL_EVERY_S = 0.1
_PATIENCE_S = 5.0


class Fetching:
    """A fetch under way, from the moment it is made."""

    def __init__(
        self,
        client: Client,
        wallets: Sequence[str],
        *,
        refresh: bool,
        tell: Callable[[int, int, Mapping[str, int], str], None],
        finish: Callable[[WalletDetails | Exception], None],
    ) -> None:
        self._cancel = Event()
        self._speed, self._told_s = Speed(time.monotonic()), 0.0
        self._tell, self._finish = tell, finish
        self._thread = Thread(
            target=self._run, args=(client, wallets, refresh), name="walletframe-panel", daemon=True
        )
        self._thread.start()

    def cancel(self) -> None:
        """End it soon: what is not finished by then has the status ``cancelled``."""
        self._cancel.set()

    def stop(self) -> None:
        """End it, and wait until it has ended."""
        self.cancel()
        if self._thread is not current_thread():
            self._thread.join(_PATIENCE_S)

    def _run(self, client: Client, wallets: Sequence[str], refresh: bool) -> None:  # noqa: FBT001
        try:
            result: WalletDetails | Exception = client.fetch(
                wallets,
                refresh=refresh,
                progress=self._progress,
                on_failure="ignore",
                cancel=self._cancel,
            )
        except Exception as error:  # noqa: BLE001 - told by who is waiting for the end
            result = error
        self._finish(result)

    def _progress(self, done: int, total: int, counts: Mapping[str, int]) -> None:
        now_s = time.monotonic()
        if done == total or now_s - self._told_s > _TELL_EVERY_S:
            self._told_s = now_s
            self._speed.note(now_s, done)
            self._tell(done, total, counts, self._speed.left(total))
