"""The explorer: one widget, whose page asks for what is to be seen of what is picked."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from traitlets import Dict, Instance, Int, Unicode, Union

from walletframe.charts import plotly_library
from walletframe.client import require_client
from walletframe.errors import WalletframeError
from walletframe.frames import WalletDetails, kept_names
from walletframe.pickers.fetching import client_for
from walletframe.pickers.filters import FILTERS
from walletframe.pickers.folder import Folder
from walletframe.pickers.page import script, styles
from walletframe.pickers.reading import ReadsFolder, is_stored, portfolio_of
from walletframe.pickers.saved import show_saved, show_stored
from walletframe.pickers.summary import wallet_status
from walletframe.pickers.takeaway import FORMATS, code, contents, require_as_fetched
from walletframe.pickers.view import View
from walletframe.pickers.widget import LOCK, handler

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from traitlets import TraitType

    from walletframe.accessor.folder import StoredWallets
    from walletframe.client import Client
    from walletframe.frames import DetailsLike
    from walletframe.pickers.portfolio import Prepare

    Answer = tuple[dict[str, Any], list[bytes]]

_STORED = "walletframe.accessor.folder.StoredWallets"


class HoldingsExplorer(ReadsFolder):
    """Explore holdings: pick, chart, read, refresh and take away.

    Parameters
    ----------
    details : WalletDetails, tuple of (DataFrame, DataFrame), or StoredWallets
        What was fetched, or a folder of it as `open_wallets` opens it.
    client : Client, optional
        The client that Refresh uses. If not given: the default client where its service is that of
        `details`, see `configure`; or a sandbox of this process, where they are of one.
    prepare : callable, optional
        A function that takes and returns holdings, applied to those of `details` and of each
        Refresh before they are shown.
    cache : bool, default False
        Whether to keep what is read of a whole folder in a file beside its parts, so that the next
        explorer of it opens at once. Without it nothing is written.

    Attributes
    ----------
    details : WalletDetails or StoredWallets
        What was fetched. Can be set, observed and linked, to a `FetchPanel` for instance.

    Raises
    ------
    ArgumentError
        If `details` is not a fetch, `client` not a `Client`, or `prepare` not such a function.
    ColumnsError, AmountError
        If a frame, perhaps by `prepare`, lacks a column of a fetch, or ``amount`` has no amounts.

    Notes
    -----
    It opens on values: those of a column ``value``, else at the service's prices where it sent
    some; what `flag_spam` flags is left out until it is asked for. With `prepare`, its values and
    its column ``is_spam`` decide alone, such as
    ``prepare=lambda holdings: holdings.wf.value(currency="USD")``. A chart of one token, where
    exactly one is picked, shows its amounts. A token keeps its colour while the selection changes.

    By own columns that ``wallets`` keeps, such as owner, wallets can be picked, and charts and the
    table grouped; charts add up tokens, or assets (see `assets`).

    A folder of more than 200,000 balances is read in the background, part by part, for what is
    picked: sums, and where few are left single balances. Refresh leaves a folder as it is. What
    `cache` keeps counts for just these balances, what was done to them, and this release;
    otherwise it is read anew, and replaced. It is in the folder's ``.walletframe/explorer``.

    Without `prepare`, Refresh refuses where holdings have more columns, or other rows, than a fetch
    gave. Wallets that it can't reach keep what was known of them, with the source ``stale``.

    A saved notebook keeps what is seen at first as plain HTML. Each explorer lives until `close` is
    called or the kernel ends: running its cell again makes another one.

    Examples
    --------
    >>> from walletframe.service import sandbox
    >>> with sandbox() as service, service.client(cache=False) as client:
    ...     explorer = HoldingsExplorer(client.fetch(["NEAR.alice.near"]), client=client)
    ...     explorer.save("CSV")
    ...     explorer.refresh()
    ...     explorer.close()
    """

    details: TraitType[WalletDetails | Any, WalletDetails | StoredWallets] = Union(
        [Instance(WalletDetails), Instance("walletframe.accessor.folder.StoredWallets")]
    )
    _esm, _css = script("explorer"), styles("picker", "chart", "table", "fetch", "explorer")
    # counts what changed: a page that shows an older one asks anew, and nothing before 0
    _edition = Int(-1).tag(sync=True)
    _plotly = Unicode().tag(sync=True)  # the version of plotly.js
    _filters = Dict().tag(sync=True)  # their titles, by kind

    def __init__(
        self,
        details: DetailsLike | StoredWallets,
        *,
        client: Client | None = None,
        prepare: Prepare | None = None,
        cache: bool = False,
    ) -> None:
        require_client(client)
        self._client, self._prepare, self._cache = client, prepare, cache
        titles = {kind: each.title for kind, each in FILTERS.items()}
        super().__init__(_plotly=plotly_library().version, _filters=titles)
        self._handlers["plotly"] = lambda _: ({}, [plotly_library().script])
        self._edition = 0  # from now on the page asks for plotly.js
        try:
            self._view = View(portfolio_of(details, prepare, cache=cache))
        except BaseException:
            self.close()  # what fails leaves no widget behind
            raise
        self.details = details if is_stored(details) else self._view.portfolio.fetched
        self.observe(self._take_details, "details")
        answers = self._view.handlers | {
            "chart": self._answer_chart,
            "status": lambda _: self._status(),
            "code": lambda _: {"text": code(self._view.picture())},
            "file": lambda asked: self._file(asked["format"]),
        }
        self._handlers |= {kind: partial(self._answer, each) for kind, each in answers.items()}
        self._handlers["fetch"] = lambda _: self.refresh()

    def _ipython_display_(self) -> None:
        """Show it, behind what a saved notebook has of it."""
        if isinstance(portfolio := self._view.portfolio, Folder):
            show_stored(portfolio.details.wallets, self._repr_mimebundle_())
        else:
            show_saved(self._view.selected(), self._repr_mimebundle_())

    @property
    def shown(self) -> WalletDetails:
        """The wallets and holdings that are shown.

        Returns
        -------
        WalletDetails
            Rows of `details`, after `prepare`, on their index; with values, where they are known.

        Raises
        ------
        WalletframeError
            If more than 200,000 balances of a folder are selected, or it can't be read.
        """
        self._wait(self._view.selected)
        with LOCK:
            return self._shown()

    def _shown(self) -> WalletDetails:
        selected = self._view.selected()
        if selected.summed:
            raise WalletframeError(
                f"{selected.summed.balances:,} balances are too many to be had one by one",
                hint="pick wallets or tokens, or take the sums of open_wallets(folder).wf",
            )
        return WalletDetails(selected.wallets, selected.held.holdings)

    def _status(self) -> dict[str, Any]:
        selected = self._view.selected()
        return wallet_status(selected.wallets, None if selected.summed else selected.held.holdings)

    @property
    def code(self) -> str:
        """The lines of code that make what is shown.

        Returns
        -------
        str
            Python that fetches again, from the cache where it is fresh, and prepares, chooses and
            draws. What can't be told is a line to fill in: how frames of elsewhere were had, or a
            `prepare` without source.

        Raises
        ------
        WalletframeError
            If a folder can't be read.
        """
        self._wait(self._view.picture)
        with LOCK:
            return code(self._view.picture())

    @handler
    def refresh(self) -> None:
        """Ask anew for all wallets, in the background; what can't be had anew stays.

        It returns at once; `details` changes when the answers are there. It shows its errors.
        """
        if is_stored(self.details):
            hint = "fetch_to_parquet asks anew into another folder, and in this one what is not ok"
            raise WalletframeError("Refresh leaves a folder as it is", hint=hint)
        if self._prepare is None:
            require_as_fetched(self.details)
        wallets = self.details.wallets
        keep = kept_names(wallets)
        hint = "set .details of the explorer to what fetch_wallets returned"
        asked = wallets[["blockchain", "address", *keep]]
        self._fetch(asked, hint=hint, keep=keep, refresh=True)

    def save(self, kind: str) -> None:
        """Make a file of what is shown, and offer it in the page.

        CSV, Parquet and Excel hold every row, with exact amounts; the report is one page that needs
        no network. It shows its errors.

        Parameters
        ----------
        kind : {"CSV", "Parquet", "Excel", "Report"}
            Of which kind.
        """
        with suppress(WalletframeError):  # which was shown
            self._wait(self._view.selected)
        self._save(kind)

    @handler
    def _save(self, kind: str) -> None:
        named, data = self._file(kind)
        self.send({"kind": "file", **named}, data)

    def _file(self, kind: str) -> Answer:
        data = contents(kind, self._shown())
        name, media_type = FORMATS[kind]
        return {"name": name, "type": media_type}, [data]

    def _answer_chart(self, asked: dict[str, Any]) -> Answer:
        self._show_error("")
        answer = self._view.answer_chart(asked)
        self._edition, self._seen = self._view.edition, self._view.selection
        return answer

    def _client_of_now(self) -> AbstractContextManager[Client]:
        return client_for(self.details, self._client)

    @handler
    def _take_details(self, change: dict[str, Any]) -> None:
        self._view.show(portfolio_of(change["new"], self._prepare, cache=self._cache))
        self._edition = self._view.edition
