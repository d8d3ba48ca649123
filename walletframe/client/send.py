"""Then act: ask for wallets, several requests at a time, and hand the replies back in order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING

from walletframe.transport import Reply
from walletframe.wire import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from walletframe.address import WalletAddress
    from walletframe.transport import ServiceSession

_NOT_ASKED = Outcome(Status.CANCELLED, "not asked for, since the key was refused before")


def replies(
    session: ServiceSession, wallets: Sequence[WalletAddress], workers: int
) -> Iterator[Reply]:
    """Ask for each wallet in a request of its own.

    Parameters
    ----------
    session : ServiceSession
        Whom to ask.
    wallets : sequence of WalletAddress
        The distinct wallets.
    workers : int
        How many requests are under way at once.

    Yields
    ------
    Reply
        One for each wallet, in the order given. After a refused key nothing more is asked.
    """
    refused = Event()

    def ask(wallet: WalletAddress) -> Reply:
        if refused.is_set():
            return Reply(datetime.now(UTC), _NOT_ASKED)
        reply = session.ask([wallet])
        if reply.key_refused:
            refused.set()
        return reply

    pool = ThreadPoolExecutor(workers, thread_name_prefix="walletframe")
    try:
        for future in [pool.submit(ask, wallet) for wallet in wallets]:
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
