"""The explorer: one widget, whose page asks for what is to be seen of what is picked."""

from __future__ import annotations

from contextlib import nullcontext
from keyword import iskeyword
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from IPython.display import publish_display_data
from traitlets import Dict, Instance, Int, Unicode, Union

from walletframe.bulk import StoredHoldings
from walletframe.charts import plotly_library
from walletframe.client import default_client, require_client
from walletframe.errors import ArgumentError, WalletframeError
from walletframe.exports import to_csv, to_excel, to_parquet
from walletframe.frames.contract import HOLDING_DTYPES
from walletframe.frames.details import WalletDetails, details_given
from walletframe.frames.display import without_mathematics
from walletframe.frames.kept import kept_names
from walletframe.numerals import many
from walletframe.pickers.fetching import Fetches
from walletframe.pickers.page import script, styles
from walletframe.pickers.pictures import VALUE
from walletframe.pickers.portfolio import VALUED, Portfolio, wallet_status
from walletframe.pickers.view import FILTERS, View
from walletframe.pickers.widget import LOCK, handler
from walletframe.reports import report
from walletframe.service import latest_sandbox
from walletframe.text import shown as as_line

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import TypeGuard

    from traitlets import TraitType

    from walletframe.accessor.folder import StoredWallets
    from walletframe.client import Client
    from walletframe.frames.details import DetailsLike
    from walletframe.pickers.portfolio import Prepare, Selected

    Answer = tuple[dict[str, Any], list[bytes]]

_MOST, _MOST_ROWS = 500_000, 200_000  # balances of a folder; rows of a download
_SERVICE = 80
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_FORMATS: dict[str, tuple[str, str, Any]] = {
    "CSV": ("holdings.csv", "text/csv", to_csv),
    "Parquet": ("holdings.parquet", "application/vnd.apache.parquet", to_parquet),
    "Excel": ("holdings.xlsx", _SHEET, to_excel),
    "Report": ("report.html", "text/html", report),
}
_CHILD = ".jp-OutputArea-child"
_VIEW = '[data-mime-type="application/vnd.jupyter.widget-view+json"]'
# JupyterLab shows a widget's view wherever an output has one, and "model not found" where its
# kernel is gone, whatever else the output has. So the saved form is an output of its own, before
# that of the view; of the two the page shows the one that is alive.
_ONE_OF_TWO = f"""<style>
{_CHILD}:has(.wf-saved):has(+ {_CHILD} .wf-live),
{_CHILD}:has(.wf-saved) + {_CHILD}:has({_VIEW}):not(:has(.wf-live)) {{ display: none !important }}
</style>"""
_AGAIN = "Run the cell again for the explorer itself."


def saved(details: WalletDetails) -> dict[str, str]:
    """Return what a saved notebook has, before its view, of a widget that shows a fetch."""
    html = without_mathematics(f"{details._repr_html_()}<div><em>{_AGAIN}</em></div>")
    whole = f'{_ONE_OF_TWO}<div class="wf-saved">{html}</div>'
    return {"text/html": whole, "text/plain": f"{details!r}\n\n{_AGAIN}"}


class HoldingsExplorer(Fetches):
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
    max_balances : int, default 500_000
        How many balances of a folder are read into memory at most.

    Attributes
    ----------
    details : WalletDetails or StoredWallets
        What was fetched. Can be set, observed and linked, to a `FetchPanel` for instance.

    Raises
    ------
    ArgumentError
        If `details` is not a fetch, `client` not a `Client`, or `prepare` not such a function; or
        if a folder has more than `max_balances` balances.
    DatasetError
        If a file of a folder is broken or gone.
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

    A folder is read into memory. Of one that is too large, explore a part, such as
    ``stored.wf.where(owner="Ada")``. Refresh leaves a folder as it is.

    Without `prepare`, Refresh refuses where holdings have more columns, or other rows, than a fetch
    gave. Wallets that it can't reach keep what was known of them, with the source ``stale``.

    A saved notebook keeps the fetch that is seen at first as plain HTML. Each explorer lives until
    `close` is called or the kernel ends: running its cell again makes another one.

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
        max_balances: int = _MOST,
    ) -> None:
        require_client(client)
        self._client, self._prepare, self._most = client, prepare, max_balances
        version, script = plotly_library()
        super().__init__(_plotly=version, _filters=FILTERS)
        self._handlers["plotly"] = lambda _: ({}, [script])
        self._edition = 0  # from now on the page asks for plotly.js
        try:
            self._view = View(self._portfolio_of(details), self._follow)
        except BaseException:
            self.close()  # what fails leaves no widget behind
            raise
        self.details = details if _is_stored(details) else self._view.portfolio.fetched
        self.observe(self._take_details, "details")
        self._handlers |= self._view.handlers | {
            "status": lambda _: wallet_status(*self.shown),
            "code": lambda _: {"text": self.code},
            "file": lambda asked: self._file(asked["format"]),
            "fetch": lambda _: self.refresh(),
        }

    def _portfolio_of(self, details: DetailsLike | StoredWallets) -> Portfolio:
        """Return a fetch, valued and judged; a folder is read."""
        if not _is_stored(details):
            return Portfolio(details_given(details), self._prepare)
        held = details.holdings
        if (count := held.counts.sum()) > self._most:
            raise ArgumentError(
                f"The folder has {many(count, 'balance')}, and the explorer takes {self._most:,}",
                hint="explore some, such as stored.wf.where(owner=…), or what "
                "wf.read_wallets(folder, wallets=…, tokens=…) reads, or pass max_balances=…",
            )
        rows = held.read(None, [*held.whole.holdings])
        return Portfolio(WalletDetails(held.wallets, rows), self._prepare)

    def _ipython_display_(self) -> None:
        """Show it, behind what a saved notebook has of it."""
        publish_display_data(saved(self.shown))
        publish_display_data(*self._repr_mimebundle_())

    @property
    def shown(self) -> WalletDetails:
        """The wallets and holdings that are shown.

        Returns
        -------
        WalletDetails
            Rows of `details`, after `prepare`, on their index; with values, where they are known.
        """
        with LOCK:
            selected = self._view.selected()
            return WalletDetails(selected.wallets, selected.held.holdings)

    @property
    def code(self) -> str:
        """The lines of code that make what is shown.

        Returns
        -------
        str
            Python that selects these rows of ``details``, by ``details.wf.where``, and draws them;
            those of the table, too, where it is searched. ``details``, ``stored`` and ``prepare``
            are what the explorer was given.
        """
        with LOCK:
            picture, search = self._view.picture(), self._view.search
        portfolio = picture.selected.portfolio
        lines, whole = ["# details: what the explorer was given"], "details"
        if _is_stored(self.details):
            lines, whole = ["# stored: the folder that the explorer was given"], "stored.wf.where()"
        if portfolio.is_prepared:
            lines += [f"whole = {whole}  # prepare: the function that the explorer was given"]
            whole = "whole._replace(holdings=prepare(whole.holdings))"
        if portfolio.priced_by == "service":
            whole += ".wf.value()"
        if whole != "details":
            lines.append(f"whole = {whole}")
            whole = "whole"
        chosen = _filters(picture.selected)
        lines.append(f"shown = {whole}.wf.where({', '.join(chosen)})")
        if search.strip():
            lines.append(f"found = {whole}.wf.where({', '.join([*chosen, f'search={search!a}'])})")
        if picture.arguments is None:
            return "\n".join(lines)
        kind, drawn = picture.options.type, "shown"
        given = [f"{name}={value!a}" for name, value in picture.arguments.items()]
        if picture.options.measure != VALUE and kind.takes != "a token":  # counted
            bare = f'shown.holdings.drop(columns={VALUED!r}, errors="ignore")'
            drawn = f"shown._replace(holdings={bare})"
        if kind.colored:  # as in the chart of all
            lines = ["from walletframe.charts import token_colors", "", *lines]
            given.append(f"colors=token_colors({whole}.holdings)")
        figure = f"figure = {drawn}.wf.plot.{kind.function}({', '.join(given)})"
        return "\n".join([*lines, figure, "figure"])  # as the last line of a cell, it is displayed

    @handler
    def refresh(self) -> None:
        """Ask anew for all wallets, in the background; what can't be had anew stays.

        It returns at once; `details` changes when the answers are there. It shows its errors.
        """
        if _is_stored(self.details):
            hint = "fetch_to_parquet asks anew into another folder, and in this one what is not ok"
            raise WalletframeError("Refresh leaves a folder as it is", hint=hint)
        wallets, holdings = self.details
        hint = (
            "give the explorer what was fetched, and what you did to it as prepare=, such as "
            'prepare=lambda holdings: holdings.wf.without_spam().wf.value(currency="USD")'
        )
        added = [f"{name!r}" for name in holdings.columns if name not in HOLDING_DTYPES]
        if added and self._prepare is None:
            said = f"Refresh would lose the columns {', '.join(added)}"
            raise WalletframeError(said, hint=hint)
        if self._prepare is None and len(holdings) != wallets["tokens"].sum():
            said = "the holdings have other rows than were fetched, and Refresh would undo that"
            raise WalletframeError(said, hint=hint)
        keep = kept_names(wallets)
        hint = "set .details of the explorer to what fetch_wallets returned"
        asked = wallets[["blockchain", "address", *keep]]
        self._fetch(asked, hint=hint, keep=keep, refresh=True)

    @handler
    def save(self, kind: str) -> None:
        """Make a file of what is shown, and offer it in the page.

        CSV, Parquet and Excel hold every row, with exact amounts; the report is one page that needs
        no network. It shows its errors.

        Parameters
        ----------
        kind : {"CSV", "Parquet", "Excel", "Report"}
            Of which kind.
        """
        named, data = self._file(kind)
        self.send({"kind": "file", **named}, data)

    def _file(self, kind: str) -> Answer:
        """Return a file of some kind: all rows exactly, or the report."""
        if kind not in _FORMATS:
            hint = f"one of {', '.join(_FORMATS)}"
            raise ArgumentError(f"{kind!r} is not a file format", hint=hint)
        shown, (name, media_type, write) = self.shown, _FORMATS[kind]
        if kind != "Report" and len(shown.holdings) > _MOST_ROWS:
            raise WalletframeError(
                f"{len(shown.holdings):,} rows are too many for a download by the browser",
                hint="run the pandas code, then shown.holdings.wf.to_parquet(path)",
            )
        with TemporaryDirectory() as folder:
            path = Path(folder) / name
            write(shown if kind == "Report" else shown.holdings, path)
            return {"name": name, "type": media_type}, [path.read_bytes()]

    def _follow(self, edition: int) -> None:
        """Show in every page what the view shows by now; what went wrong before is over."""
        self._show_error("")
        self._edition = edition

    def _client_of_now(self) -> AbstractContextManager[Client]:
        """Return the client that can ask anew: the one given, or one of the fetch's service."""
        if self._client is not None:
            return nullcontext(self._client)
        services = [*self.details.wallets["service"].dropna().unique()]
        problem = ""
        try:
            found = default_client()
            if not services or [found.settings.service] == services:
                return nullcontext(found)
        except WalletframeError as error:
            problem = f"; {error}"
        if services == ["sandbox"] and (made := latest_sandbox()) is not None:
            return made.client()
        asked = ", ".join(as_line(str(name), _SERVICE) for name in services) or "a service"
        raise WalletframeError(
            f"Refresh needs a client of {asked}{problem}",
            hint="give the explorer client=, or tell walletframe.configure of that service",
        )

    @handler
    def _take_details(self, change: dict[str, Any]) -> None:
        self._view.show(self._portfolio_of(change["new"]))


def _is_stored(details: object) -> TypeGuard[StoredWallets]:
    """Return whether a fetch stays on the disk."""
    return isinstance(getattr(details, "holdings", None), StoredHoldings)


def _filters(selected: Selected) -> list[str]:
    """Write the arguments of `where`."""
    selection, portfolio = selected.selection, selected.portfolio
    columns: dict[str, list[str | None]] = {}
    for name, text in selection.labels:
        columns.setdefault(name, []).append(text or None)
    given = {name: [*getattr(selection, f"{name}s")] for name in ("wallet", "token", "blockchain")}
    found = [f"{name}={values!a}" for name, values in given.items() if values]
    if all(name.isidentifier() and not iskeyword(name) for name in columns):
        found = [*(f"{name}={values!a}" for name, values in columns.items()), *found]
    else:
        found.append(f"**{columns!a}")
    if selection.spam is not None and portfolio.judges_spam:
        found.append(f"spam={selection.spam}")
    if selection.small is not None and portfolio.row_values is not None:
        found.append(f"small={selection.small}")
    return found
