"""The explorer: one widget with filters, a chart, a table and downloads of a fetch."""

from __future__ import annotations

from contextlib import nullcontext
from keyword import iskeyword
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from IPython.display import publish_display_data
from traitlets import Dict, Instance, Int, Unicode, Union

from walletframe.bulk import StoredHoldings
from walletframe.charts import plotlyjs_bundle
from walletframe.client import default_client, require_client
from walletframe.errors import ArgumentError, WalletframeError
from walletframe.exports import to_csv, to_excel, to_parquet
from walletframe.frames.contract import HOLDING_DTYPES
from walletframe.frames.details import WalletDetails, as_details
from walletframe.frames.display import without_mathematics
from walletframe.frames.kept import kept_names
from walletframe.numerals import counted_noun
from walletframe.pickers.fetching import FetchingWidget
from walletframe.pickers.page import script, styles
from walletframe.pickers.pictures import VALUE
from walletframe.pickers.portfolio import VALUED, Portfolio, wallet_status
from walletframe.pickers.view import FILTERS, View
from walletframe.pickers.widget import LOCK, handler
from walletframe.reports import report
from walletframe.service import latest_sandbox
from walletframe.text import safe_line

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
# If an output has a widget view, JupyterLab shows it, and "model not found" if the kernel is gone,
# even if the output also has HTML. So the saved form is a separate output before the view, and this
# style hides one of the two: the saved form if the view is alive, else the view.
_ONE_OF_TWO = f"""<style>
{_CHILD}:has(.wf-saved):has(+ {_CHILD} .wf-live),
{_CHILD}:has(.wf-saved) + {_CHILD}:has({_VIEW}):not(:has(.wf-live)) {{ display: none !important }}
</style>"""
_RERUN = "Run the cell again to show the explorer."


def saved(details: WalletDetails) -> dict[str, str]:
    """Return the saved form of a widget for a notebook without a kernel: tables of its fetch."""
    html = without_mathematics(f"{details._repr_html_()}<div><em>{_RERUN}</em></div>")
    whole = f'{_ONE_OF_TWO}<div class="wf-saved">{html}</div>'
    return {"text/html": whole, "text/plain": f"{details!r}\n\n{_RERUN}"}


class HoldingsExplorer(FetchingWidget):
    """Explore holdings: filter, chart, read, refresh and download.

    Parameters
    ----------
    details : WalletDetails, tuple of (DataFrame, DataFrame), or StoredWallets
        The fetch, or a folder of one, as `open_wallets` opens it.
    client : Client, optional
        The client that Refresh uses. If not given: the default client (see `configure`) if it has
        the same service as `details`, or a running sandbox if `details` come from a sandbox.
    prepare : callable, optional
        A function that takes and returns holdings. It is applied to those of `details`, and of
        each Refresh, before they are shown.
    max_balances : int, default 500_000
        The most balances of a folder to read into memory.

    Attributes
    ----------
    details : WalletDetails or StoredWallets
        The fetch. Can be set, observed and linked, for instance to a `FetchPanel`.

    Raises
    ------
    ArgumentError
        If `details` is not a fetch, `client` is not a `Client`, `prepare` is not such a function,
        or a folder has more than `max_balances` balances.
    DatasetError
        If a file of a folder is broken or missing.
    ColumnsError, AmountError
        If a frame, perhaps from `prepare`, lacks a column of a fetch, or ``amount`` has no amounts.

    Notes
    -----
    It opens with values: those of a column ``value``, else at the service's prices if it sent any.
    Tokens that `flag_spam` flags are hidden until the user shows them. With `prepare`, such as
    ``prepare=lambda holdings: holdings.wf.value(currency="USD")``, a ``value`` that it adds is
    used, and only its ``is_spam`` marks spam. If exactly one token is selected, charts of one
    token show its amounts. A token keeps its colour when the selection changes.

    Your own columns of ``wallets``, such as owner, can filter wallets, and group charts and the
    table. Charts combine balances per token, or per asset (see `assets`).

    A folder is read into memory. If it is too large, explore a part, such as
    ``stored.wf.where(owner="Ada")``. Refresh does not change a folder.

    Without `prepare`, Refresh is refused if the holdings have more columns, or other rows, than the
    fetch had. Wallets that it can't refresh keep their older answer, with the source ``stale``.

    A saved notebook keeps the first view as plain HTML. Each explorer lives until `close` is called
    or the kernel ends: running its cell again makes another one.

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
    # Counts changes: a page with an older number asks again; before 0 it asks nothing.
    _edition = Int(-1).tag(sync=True)
    _plotly = Unicode().tag(sync=True)  # the version of plotly.js
    _filters = Dict().tag(sync=True)  # titles, by kind

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
        version, script = plotlyjs_bundle()
        super().__init__(_plotly=version, _filters=FILTERS)
        self._handlers["plotly"] = lambda _: ({}, [script])
        self._edition = 0  # now the page may ask for plotly.js
        try:
            self._view = View(self._portfolio_of(details), self._follow)
        except BaseException:
            self.close()  # an error leaves no widget behind
            raise
        self.details = details if _is_stored(details) else self._view.portfolio.fetched
        self.observe(self._take_details, "details")
        self._handlers |= self._view.handlers | {
            "status": lambda _: wallet_status(*self.shown, self._view.selected().held.tokens),
            "code": lambda _: {"text": self.code},
            "file": lambda request: self._file(request["format"]),
            "fetch": lambda _: self.refresh(),
        }

    def _portfolio_of(self, details: DetailsLike | StoredWallets) -> Portfolio:
        """Return a fetch with values and spam flags; a folder is read into memory."""
        if not _is_stored(details):
            return Portfolio(as_details(details), self._prepare)
        held = details.holdings
        if (count := held.counts.sum()) > self._most:
            raise ArgumentError(
                f"the folder has {counted_noun(count, 'balance')}, and the explorer takes "
                f"{self._most:,}",
                hint="explore a part: stored.wf.where(owner=…), or "
                "wf.read_wallets(folder, wallets=…, tokens=…); or pass max_balances=…",
            )
        rows = held.read(None, [*held.whole.holdings])
        return Portfolio(WalletDetails(held.wallets, rows), self._prepare)

    def _ipython_display_(self) -> None:
        """Display the saved form, then the widget."""
        publish_display_data(saved(self.shown))
        publish_display_data(*self._repr_mimebundle_())

    @property
    def shown(self) -> WalletDetails:
        """The wallets and holdings that are shown.

        Returns
        -------
        WalletDetails
            Rows of `details`, after `prepare`, with their index, and with values if known.
        """
        with LOCK:
            selected = self._view.selected()
            return WalletDetails(selected.wallets, selected.held.holdings)

    @property
    def code(self) -> str:
        """The Python code that reproduces what is shown.

        Returns
        -------
        str
            Python code that selects these rows with ``details.wf.where`` and draws the chart. If
            the table is searched, it also selects the rows that match. ``details``, ``stored`` and
            ``prepare`` are the arguments of the explorer.
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
        chosen = _where_arguments(picture.selected)
        lines.append(f"shown = {whole}.wf.where({', '.join(chosen)})")
        if search.strip():
            lines.append(f"found = {whole}.wf.where({', '.join([*chosen, f'search={search!a}'])})")
        if picture.arguments is None:
            return "\n".join(lines)
        kind, drawn = picture.options.type, "shown"
        arguments = [f"{name}={value!a}" for name, value in picture.arguments.items()]
        if picture.options.measure != VALUE and kind.needs != "token":  # counts are drawn
            bare = f'shown.holdings.drop(columns={VALUED!r}, errors="ignore")'
            drawn = f"shown._replace(holdings={bare})"
        if kind.colored:  # the same as in the chart of all rows
            lines = ["from walletframe.charts import token_colors", "", *lines]
            arguments.append(f"colors=token_colors({whole}.holdings)")
        figure = f"figure = {drawn}.wf.plot.{kind.function}({', '.join(arguments)})"
        return "\n".join([*lines, figure, "figure"])  # the last line of a cell is displayed

    @handler
    def refresh(self) -> None:
        """Fetch all wallets again, in the background; failed ones keep their older answer.

        It returns at once; `details` changes when the fetch ends. Errors are shown in the widget.
        """
        if _is_stored(self.details):
            hint = "use fetch_to_parquet: with a new folder, or with this one to retry failures"
            raise WalletframeError("Refresh does not change a folder", hint=hint)
        wallets, holdings = self.details
        hint = (
            "pass the unchanged fetch to the explorer, and your changes as prepare=, such as "
            'prepare=lambda holdings: holdings.wf.without_spam().wf.value(currency="USD")'
        )
        added = [f"{name!r}" for name in holdings.columns if name not in HOLDING_DTYPES]
        if added and self._prepare is None:
            message = f"Refresh would lose the columns {', '.join(added)}"
            raise WalletframeError(message, hint=hint)
        if self._prepare is None and len(holdings) != wallets["tokens"].sum():
            message = "the holdings have other rows than the fetch, and Refresh would undo that"
            raise WalletframeError(message, hint=hint)
        keep = kept_names(wallets)
        hint = "set .details of the explorer to a result of fetch_wallets"
        requested = wallets[["blockchain", "address", *keep]]
        self._fetch(requested, hint=hint, keep=keep, refresh=True)

    @handler
    def save(self, kind: str) -> None:
        """Make a file of what is shown, and offer it in the page.

        CSV, Parquet and Excel have every row, with exact amounts; the report is one page that needs
        no network. Errors are shown in the widget.

        Parameters
        ----------
        kind : {"CSV", "Parquet", "Excel", "Report"}
            The format of the file.
        """
        fields, data = self._file(kind)
        self.send({"kind": "file", **fields}, data)

    def _file(self, kind: str) -> Answer:
        """Return name, type and bytes of a file: all rows exactly, or the report."""
        if kind not in _FORMATS:
            hint = f"choose one of {', '.join(_FORMATS)}"
            raise ArgumentError(f"{kind!r} is not a file format", hint=hint)
        shown, (name, media_type, write) = self.shown, _FORMATS[kind]
        if kind != "Report" and len(shown.holdings) > _MOST_ROWS:
            raise WalletframeError(
                f"{len(shown.holdings):,} rows are too many for a download by the browser",
                hint="run the copied code, then shown.holdings.wf.to_parquet(path)",
            )
        with TemporaryDirectory() as folder:
            path = Path(folder) / name
            write(shown if kind == "Report" else shown.holdings, path)
            return {"name": name, "type": media_type}, [path.read_bytes()]

    def _follow(self, edition: int) -> None:
        """Show the new view on all pages, and clear the error."""
        self._show_error("")
        self._edition = edition

    def _current_client(self) -> AbstractContextManager[Client]:
        """Return the client for Refresh: the explorer's, or one with the service of the fetch."""
        if self._client is not None:
            return nullcontext(self._client)
        services = [*self.details.wallets["service"].dropna().unique()]
        problem = ""
        try:
            client = default_client()
            if not services or [client.settings.service] == services:
                return nullcontext(client)
        except WalletframeError as error:
            problem = f"; {error}"
        if services == ["sandbox"] and (running := latest_sandbox()) is not None:
            return running.client()
        names = ", ".join(safe_line(str(name), _SERVICE) for name in services) or "a service"
        raise WalletframeError(
            f"Refresh needs a client for {names}{problem}",
            hint="pass client= to the explorer, or set that service with walletframe.configure",
        )

    @handler
    def _take_details(self, change: dict[str, Any]) -> None:
        self._view.show(self._portfolio_of(change["new"]))


def _is_stored(details: object) -> TypeGuard[StoredWallets]:
    """Return whether a fetch is a folder on disk."""
    return isinstance(getattr(details, "holdings", None), StoredHoldings)


def _where_arguments(selected: Selected) -> list[str]:
    """Return the arguments of `where` as Python code."""
    selection, portfolio = selected.selection, selected.portfolio
    columns: dict[str, list[str | None]] = {}
    for name, text in selection.labels:
        columns.setdefault(name, []).append(text or None)
    chosen = {name: [*getattr(selection, f"{name}s")] for name in ("wallet", "token", "blockchain")}
    arguments = [f"{name}={values!a}" for name, values in chosen.items() if values]
    if all(name.isidentifier() and not iskeyword(name) for name in columns):
        arguments = [*(f"{name}={values!a}" for name, values in columns.items()), *arguments]
    else:
        arguments.append(f"**{columns!a}")
    if selection.spam is not None and portfolio.judges_spam:
        arguments.append(f"spam={selection.spam}")
    if selection.small is not None and portfolio.row_values is not None:
        arguments.append(f"small={selection.small}")
    return arguments
