"""The explorer: one widget, whose page asks for what is to be seen of what is picked."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from traitlets import Dict, Instance, Int, List, Unicode

from walletframe.address import canonical_blockchain, read_wallet
from walletframe.charts import plotly_library
from walletframe.client import require_client
from walletframe.frames import WalletDetails, details_given, kept_names
from walletframe.pickers import recipes
from walletframe.pickers.drawing import Drawing
from walletframe.pickers.fetching import Fetches, client_for, renewed
from walletframe.pickers.files import FORMATS, contents
from walletframe.pickers.offers import OFFERS, remaining
from walletframe.pickers.page import script, styles
from walletframe.pickers.saved import saved, show
from walletframe.pickers.selection import Selection, require_as_fetched
from walletframe.pickers.stock import Stock
from walletframe.pickers.table import HoldingsTable
from walletframe.pickers.telling import told
from walletframe.pickers.widget import LOCK, guarded

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from walletframe.client import Client
    from walletframe.frames import DetailsLike
    from walletframe.pickers.chooser import Options
    from walletframe.pickers.offers import Remaining
    from walletframe.pickers.selection import Prepare

    Said = tuple[dict[str, Any], list[bytes]]

_PICKS = {"wallet": "wallets", "token": "tokens", "blockchain": "blockchains"}


class HoldingsExplorer(Fetches):
    """Explore holdings: pick, chart, read, refresh and take away.

    Parameters
    ----------
    details : WalletDetails or tuple of (DataFrame, DataFrame)
        What was fetched.
    client : Client, optional
        The client that Refresh uses. If not given: the default client where its service is that of
        `details`, see `configure`; or a sandbox of this process, where they are of one.
    prepare : callable, optional
        A function that takes and returns holdings, applied to those of `details` and of each
        Refresh before they are shown.

    Attributes
    ----------
    details : WalletDetails
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

    _esm, _css = script("explorer"), styles("picker", "chart", "table", "fetch", "explorer")
    details = Instance(WalletDetails)
    _edition = Int().tag(sync=True)  # counts what changed: a page that shows an older one asks anew
    _plotly = Unicode().tag(sync=True)
    _kinds = List(Dict()).tag(sync=True)  # of pickers

    def __init__(
        self, details: DetailsLike, *, client: Client | None = None, prepare: Prepare | None = None
    ) -> None:
        details = details_given(details)
        require_client(client)
        stock = Stock(details, prepare)  # what fails leaves no widget behind
        self._client, self._prepare, self._selection = client, prepare, Selection()
        self._drawing = Drawing(stock, lambda: self._selection, self._select)
        self._restock(stock)
        kinds = [
            {"of": kind, "title": offer.title, "hint": offer.hint} for kind, offer in OFFERS.items()
        ]
        super().__init__(_plotly=plotly_library().version, _kinds=kinds)
        self.details = details
        self.observe(self._take_details, "details")
        self._answer("plotly", self._drawing.answers["plotly"])
        self._answer("chart", self._say_chart)
        self._answer("rows", lambda asked: self._table_of_now().answer(asked))
        for kind in OFFERS:
            self._answer(f"options {kind}", partial(self._say_options, kind))
        self._answer("here", self._say_here)
        self._answer("told", lambda _: told(self.shown))
        self._answer("code", lambda _: {"text": self.code})
        self._answer("file", lambda asked: self._say_file(str(asked.get("format"))))
        self._answer("fetch", lambda _: self.refresh())

    def _ipython_display_(self) -> None:
        """Show it, behind what a saved notebook has of it."""
        (sifted, _), sieve = self._drawing.sifted(), self._drawing.look.sieve
        show(self._repr_mimebundle_(), saved(self._drawing.stock, sifted, sieve))

    @property
    def shown(self) -> WalletDetails:
        """The wallets and holdings that are shown.

        Returns
        -------
        WalletDetails
            Rows of `details`, after `prepare`, on their index; with values, where they are known.
        """
        with LOCK:
            sifted, _ = self._drawing.sifted()
        return WalletDetails(sifted.wallets, sifted.held.holdings)

    @property
    def code(self) -> str:
        """The lines of code that make what is shown.

        Returns
        -------
        str
            Python that fetches again, from the cache where it is fresh, and prepares, chooses and
            draws. What can't be told is a line to fill in: how frames of elsewhere were had, or a
            `prepare` without source.
        """
        with LOCK:
            return recipes.code(self._drawing.stock, self._selection, self._drawing.picture())

    @guarded
    def refresh(self) -> None:
        """Ask anew for all wallets, in the background; what can't be had anew stays.

        It returns at once; `details` changes when the answers are there. It shows its errors.
        """
        if self._prepare is None:
            require_as_fetched(self.details)
        wallets = self.details.wallets
        keep = kept_names(wallets)
        hint = "set .details of the explorer to what fetch_wallets returned"
        asked = wallets[["blockchain", "address", *keep]]
        self._fetch(asked, hint=hint, keep=keep, refresh=True)

    @guarded
    def save(self, kind: str) -> None:
        """Make a file of what is shown, and offer it in the page.

        CSV, Parquet and Excel hold every row, with exact amounts; the report is one page that needs
        no network. It shows its errors.

        Parameters
        ----------
        kind : {"CSV", "Parquet", "Excel", "Report"}
            Of which kind.
        """
        self._tell("file", *self._say_file(kind))

    def _client_of_now(self) -> AbstractContextManager[Client]:
        return client_for(self.details, self._client)

    def _take(self, details: WalletDetails) -> None:
        self.details = renewed(self.details, details)

    @guarded
    def _take_details(self, change: dict[str, Any]) -> None:
        self._restock(Stock(change["new"], self._prepare))
        self._edition += 1

    def _restock(self, stock: Stock) -> None:
        """Show another fetch; of what is picked, what is there stays."""
        self._options: dict[str, Options] = {}
        self._drawing.restock(stock)
        self._table: tuple[object, HoldingsTable] | None = None
        self._whole: HoldingsTable | None = None
        left = {kind: self._offered(kind, getattr(self._selection, kind)) for kind in OFFERS}
        self._selection = Selection(**left)

    def _select(self, selection: Selection) -> None:
        if selection != self._selection:
            self._selection = selection
            self._edition += 1

    def _options_of(self, kind: str) -> Options:
        if kind not in self._options:
            self._options[kind] = OFFERS[kind].options(self._drawing.stock)
        return self._options[kind]

    def _offered(self, kind: str, values: Any) -> tuple[Any, ...]:
        """Return those of some values that are offered, as they are spelled there."""
        if not values:
            return ()
        options = self._options_of(kind)
        found = (options.by_key.get(_key(kind, value)) for value in values)
        return tuple(dict.fromkeys(option.value for option in found if option))

    def _say_chart(self, asked: dict[str, Any]) -> Said:
        """Take what was done, and tell what there is to see: the chart, and what is picked."""
        self._show_error("")
        pick, meant = asked.get("pick"), asked.get("only")
        if isinstance(pick, dict) and pick.get("of") in OFFERS:
            chosen = self._offered(pick["of"], pick.get("values"))
            self._select(replace(self._selection, **{pick["of"]: chosen}))
        if isinstance(meant, dict) and (found := self._table_of_now().meant(meant)):
            kind = _PICKS[found[0]]
            only = self._offered(kind, [found[1]])
            self._select(replace(self._selection, **{kind: only}))
        sieve = self._drawing.look.sieve
        content, buffers = self._drawing.answer(asked)
        if sieve != self._drawing.look.sieve:
            self._edition += 1
        stock, sieve = self._drawing.stock, self._drawing.look.sieve
        content["edition"] = self._edition
        content["rows"] = f"{hash((id(stock), self._selection, sieve)):x}"
        content["chosen"] = {kind: getattr(self._selection, kind) for kind in OFFERS}
        content["offered"] = f"{id(stock):x}"
        return content, buffers

    def _left(self, kind: str) -> Remaining:
        sieve = self._drawing.look.sieve
        return remaining(self._drawing.stock, self._selection, sieve, kind)

    def _say_options(self, kind: str, _asked: object) -> dict[str, Any]:
        options = self._options_of(kind)
        return options.columns() | {"here": options.here(self._left(kind))}

    def _say_here(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Tell how much of each kind remains, and what of those that the page shows."""
        stock, left = self._drawing.stock, {kind: self._left(kind) for kind in OFFERS}
        counts = {
            kind: {"all": offer.count(stock), "here": len(left[kind])}
            for kind, offer in OFFERS.items()
        }
        kinds = [kind for kind in OFFERS if kind in asked.get("of", ())]
        here = {kind: self._options_of(kind).here(left[kind]) for kind in kinds}
        return {"counts": counts, "of": here}

    def _table_of_now(self) -> HoldingsTable:
        """Return the table of the rows that are shown; it is made when they are first asked for."""
        sifted, _ = self._drawing.sifted()
        stock = self._drawing.stock
        is_whole = {*stock.held.wallet_keys} <= {*stock.asked_keys.keys}  # else nobody knows who
        if self._whole is None:
            wallets = stock.details.wallets if is_whole else None
            self._whole = HoldingsTable(stock.held, wallets)
        if self._table is None or self._table[0] is not sifted:
            wallets = sifted.wallets if is_whole else None
            self._table = (sifted, self._whole.where(sifted.marks, wallets))
        return self._table[1]

    def _say_file(self, kind: str) -> Said:
        data = contents(kind, self.shown)
        name, media_type = FORMATS[kind]
        return {"name": name, "type": media_type}, [data]


def _key(kind: str, value: Any) -> Any:
    """Return what equals all spellings of a value, as options are found by."""
    if kind == "wallets":
        wallet = read_wallet(value)
        return value if isinstance(wallet, str) else str(wallet.canonical)
    if kind == "blockchains":
        return canonical_blockchain(str(value))
    return tuple(value) if isinstance(value, list) else value
