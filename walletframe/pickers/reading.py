"""Reading a folder in the background, for pages whose questions wait meanwhile."""

from __future__ import annotations

from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from walletframe.bulk import StoredHoldings
from walletframe.errors import ArgumentError, WalletframeError
from walletframe.frames import HOLDING_DTYPES, WalletDetails, details_given
from walletframe.pickers.fetching import Fetches
from walletframe.pickers.folder import ADDED, READ, Folder, reading_of
from walletframe.pickers.portfolio import MOST_ROWS, Portfolio
from walletframe.pickers.widget import LOCK, NotReadError, error_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeGuard

    from walletframe.accessor.folder import StoredWallets
    from walletframe.frames import DetailsLike
    from walletframe.pickers.portfolio import Prepare, Selection
    from walletframe.pickers.view import View


def is_stored(details: object) -> TypeGuard[StoredWallets]:
    """Tell whether a fetch stays on the disk."""
    return isinstance(getattr(details, "holdings", None), StoredHoldings)


def portfolio_of(
    details: DetailsLike | StoredWallets, prepare: Prepare | None, *, cache: bool
) -> Portfolio:
    """Return a fetch, valued and judged; a folder of few balances is read."""
    if not is_stored(details):
        return Portfolio(details_given(details), prepare)
    held = details.holdings
    if held.counts.sum() > MOST_ROWS:
        if prepare is not None:
            hint = "do it to the folder, such as stored.wf.value(…).wf.without_spam()"
            raise ArgumentError("prepare takes holdings that are in memory", hint)
        return Folder(held, cache=cache)
    holdings = held.read(None, [*HOLDING_DTYPES, *ADDED])
    return Portfolio(WalletDetails(held.wallets, holdings), prepare, reading=reading_of(held, READ))


class _StoppedError(Exception):
    """Something else is selected by now, or it was cancelled."""


class ReadsFolder(Fetches):
    """A widget whose view may have to be read first: what is asked is answered when it was."""

    _view: View

    def __init__(self, **traits: Any) -> None:
        self._waiting: list[dict[str, Any]] = []  # what pages asked
        self._seen: Selection | None = None  # what was selected when a page was last answered
        self._parts = 0  # that were read
        self._problem: Exception | None = None  # why reading ended
        super().__init__(**traits)

    def _answer(self, handle: Callable[[dict[str, Any]], Any], asked: dict[str, Any]) -> Any:
        """Answer a page, or later."""
        try:
            return handle(asked)
        except NotReadError:
            self._waiting.append(asked)
            self._begin()
            raise

    def _begin(self) -> Thread:
        if self._thread is None:
            self._problem, self._cancelled = None, Event()
            self._under_way = {"done": 0, "total": 1, "said": "reading the folder …"}
            self._thread = Thread(target=self._read, name="walletframe-panel", daemon=True)
            self._thread.start()
        return self._thread

    def _wait(self, look: Callable[[], object]) -> None:
        """Wait until what is selected was read; say why it can't be."""
        while True:
            with LOCK:
                try:
                    look()
                except NotReadError:
                    thread = self._begin()
                else:
                    return
            thread.join()
            if self._problem is not None:
                raise self._problem

    def _read(self) -> None:
        """Read what is wanted, on a thread of its own, until nothing is."""
        goes_on = True
        while goes_on:
            problem: Exception | None = None
            with LOCK:
                folder, selection = self._view.portfolio, self._view.selection
                self._parts = 0
            try:
                if isinstance(folder, Folder):
                    folder.load(partial(self._saw, folder, selection))
            except _StoppedError:
                hint = "run the cell again, or pick less"
                said = WalletframeError("reading the folder was cancelled", hint=hint)
                problem = said if self._cancelled.is_set() else None
            except Exception as error:  # noqa: BLE001 - on a thread nobody else would see it
                problem = error
            goes_on = self._goes_on(problem)

    def _saw(self, folder: Folder, selection: Selection) -> None:
        """Say how far it is; what was selected meanwhile comes first."""
        with LOCK:
            is_other = (self._view.portfolio, self._view.selection) != (folder, selection)
            if is_other or self._cancelled.is_set():
                raise _StoppedError
            done, total = self._parts % folder.parts, folder.parts
            said = f"reading part {done + 1:,} of {total:,} of the folder"
            self._under_way = {"done": done, "total": total, "said": said}
            self._parts += 1

    def _goes_on(self, problem: Exception | None) -> bool:
        """Answer what can be answered by now; tell whether more is to be read."""
        with LOCK:
            folder, waiting = self._view.portfolio, self._waiting
            self._problem, self._waiting = problem, []
            if isinstance(folder, Folder):
                folder.forget_wanted()
            if problem is not None and self._seen is not None:
                self._view.go_back(self._seen)
            for asked in waiting:
                self._take_message(self, asked, [])
            if problem is None and isinstance(folder, Folder) and folder.is_wanted:
                return True
            for asked in self._waiting:
                self.send({"kind": asked["kind"], "n": asked.get("n"), "failed": True})
            self._waiting, self._thread, self._under_way = [], None, {}
            self._edition = self._view.edition
            if problem is not None:
                self._show_error(error_text(problem))
            return False
