"""The explorer: a widget with filters, a chart, a table and downloads for the result of a fetch."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime
from keyword import iskeyword
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from IPython.display import publish_display_data
from traitlets import Dict, Instance, Int, Unicode, Union

from walletframe.bulk import StoredHoldings
from walletframe.charts import plotlyjs_version_and_script
from walletframe.client import default_client, require_client
from walletframe.errors import ArgumentError, WalletframeError
from walletframe.exports import to_csv, to_excel, to_parquet
from walletframe.frames.details import WalletDetails, as_details
from walletframe.frames.display import disable_mathjax
from walletframe.frames.extra_columns import extra_names
from walletframe.frames.joining import merge_by_wallet
from walletframe.frames.schema import HOLDING_DTYPES
from walletframe.numerals import counted_noun
from walletframe.pickers.chart import VALUE
from walletframe.pickers.data import VALUE_COLUMNS, ExplorerData
from walletframe.pickers.fetching import FetchingWidget
from walletframe.pickers.page import join_css, join_js
from walletframe.pickers.view import FILTERS, ExplorerState
from walletframe.pickers.widget import LOCK, locked_handler
from walletframe.reports import report
from walletframe.service import latest_or_restarted_sandbox
from walletframe.text import escape_html, safe_line

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import TypeGuard

    import pandas as pd
    from traitlets import TraitType

    from walletframe.accessor.folder import StoredWallets
    from walletframe.client import Client
    from walletframe.frames.details import DetailsLike
    from walletframe.pickers.data import Prepare, SelectedHoldings

_MAX_DOWNLOAD_ROWS = 200_000
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_FORMATS: dict[str, tuple[str, str, Any]] = {
    "CSV": ("holdings.csv", "text/csv", to_csv),
    "Parquet": ("holdings.parquet", "application/vnd.apache.parquet", to_parquet),
    "Excel": ("holdings.xlsx", _SHEET, to_excel),
    "Report": ("report.html", "text/html", report),
}
_OUTPUT = ".jp-OutputArea-child"
_VIEW = '[data-mime-type="application/vnd.jupyter.widget-view+json"]'
# JupyterLab ignores HTML beside a widget view. Without a kernel, a view is only an error message.
# So a separate output with static tables precedes the view. This style hides one of the two.
_HIDING_STYLE = f"""<style>
{_OUTPUT}:has(.wf-saved):has(+ {_OUTPUT} .wf-live),
{_OUTPUT}:has(.wf-saved) + {_OUTPUT}:has({_VIEW}):not(:has(.wf-live)) {{ display: none !important }}
</style>"""
_IMG_STYLE = "max-width: 100%; min-width: 640px"  # on narrow screens, the picture scrolls
_RERUN = "Run the cell again to show the explorer."


def static_mime_bundle(details: WalletDetails, image: str = "") -> dict[str, str]:
    """Return static tables and a picture of the chart, to show in a saved notebook."""
    line, picture = f"The chart is drawn only while a kernel runs. {_RERUN}", ""
    if image:
        line = f"The chart was drawn at {datetime.now(UTC):%Y-%m-%d %H:%M} UTC. {_RERUN}"
        img = f'<img alt="Chart of holdings" style="{_IMG_STYLE}" src="data:{escape_html(image)}">'
        picture = f'<div style="overflow-x: auto">{img}</div>'
    html = disable_mathjax(f"{picture}<div><em>{line}</em></div>{details._repr_html_()}")
    content = f'{_HIDING_STYLE}<div class="wf-saved">{html}</div>'
    return {"text/html": content, "text/plain": f"{details!r}\n\n{line}"}


class HoldingsExplorer(FetchingWidget):
    """A widget to filter, draw, read, refresh and download the holdings of a fetch.

    Parameters
    ----------
    details : WalletDetails, tuple of (DataFrame, DataFrame), or StoredWallets
        The result of a fetch, or a folder that `open_wallets` has opened.
    client : Client, optional
        The client for the button Refresh. By default, this is the default client if `details` is
        from its service. For other results of a sandbox, it is a client of the latest sandbox.
    prepare : callable, optional
        A function that takes and returns a DataFrame of holdings. The explorer calls it with the
        holdings of `details` and of each Refresh.
    max_balances : int, default 500_000
        The maximum number of balances to read from a folder.

    Attributes
    ----------
    details : WalletDetails or StoredWallets
        The result of a fetch. The attribute can be set, observed and linked, for example to the
        attribute ``details`` of a `FetchPanel`.

    Raises
    ------
    ArgumentError
        If an argument or the result of `prepare` has a wrong type, or if a folder is too large.
    DatasetError
        If a file of a folder is damaged or missing.
    ColumnsError, AmountError
        If a frame lacks a required column, or if ``amount`` does not contain amounts.

    Notes
    -----
    Values are read from the column ``value``. Without this column, values are computed from prices.
    At first, spam is hidden. `prepare` can add values and spam flags, such as
    ``prepare=lambda holdings: holdings.wf.value(currency="USD")``.

    If exactly one token is selected, charts show amounts where possible. A token has the same
    colour in all selections. Charts combine balances per token or per asset (see `assets`). Extra
    columns of ``wallets``, such as ``owner``, can filter wallets and group the chart and the table.

    A folder is read into memory. If a folder is too large, explore a part, such as
    ``stored.wf.where(owner="Ada")``. Refresh is not available for a folder.

    Without `prepare`, Refresh shows an error if columns or rows of the holdings were added or
    removed after the fetch. Wallets that can't be refreshed keep older answers, marked ``stale``.

    A saved notebook contains static tables, and a picture of the chart if JupyterLab drew it. An
    explorer exists until `close` is called or the kernel stops, even if the cell runs again.

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
    _esm, _css = join_js("explorer"), join_css("picker", "chart", "table", "fetch", "explorer")
    # The number of changes so far. A front end with a lower number requests the data again. At
    # -1, it requests nothing.
    _edition = Int(-1).tag(sync=True)
    _plotly = Unicode().tag(sync=True)  # the version of plotly.js
    _filters = Dict().tag(sync=True)  # the title of each filter
    _on_unreadable = "ask"  # since an earlier fetch accepted the wallets

    def __init__(
        self,
        details: DetailsLike | StoredWallets,
        *,
        client: Client | None = None,
        prepare: Prepare | None = None,
        max_balances: int = 500_000,
    ) -> None:
        require_client(client)
        self._client, self._prepare, self._max_balances = client, prepare, max_balances
        version, script = plotlyjs_version_and_script()
        super().__init__(_plotly=version, _filters=FILTERS)
        self._handlers["plotly"] = lambda _: ({}, [script])
        self._edition = 0  # from now on, the front end can request plotly.js
        try:
            data = self._make_data_and_update_retry(details)
            self._explorer_state = ExplorerState(data, self._send_edition)
        except BaseException:
            self.close()  # to unregister the widget
            raise
        self.details = details if _is_stored(details) else self._explorer_state.data.fetched
        self.observe(self._replace_data, "details")
        self._handlers |= self._explorer_state.handlers | {
            "code": lambda _: {"text": self.code},
            "file": lambda request: self._make_file(request["format"]),
            "fetch": lambda _: self.refresh(),
            "picture": lambda message: self._display_static_tables(message["image"], update=True),
        }

    def _make_data_and_update_retry(self, details: DetailsLike | StoredWallets) -> ExplorerData:
        self._retry_label = ""
        if not _is_stored(details):
            data = ExplorerData(as_details(details), self._prepare)
            self._show_retry_button(data.wallets)
            return data
        held = details.holdings
        if (count := held.counts.sum()) > self._max_balances:
            raise ArgumentError(
                f"the folder contains {counted_noun(count, 'balance')}, but the explorer reads at "
                f"most {self._max_balances:,}",
                hint="explore a part of the folder, such as stored.wf.where(owner=…) or "
                "wf.read_wallets(folder, wallets=…, tokens=…), or pass a higher max_balances=…",
            )
        rows = held.read_rows(None, [*held.template.holdings])
        return ExplorerData(WalletDetails(held.wallets, rows), self._prepare)

    def _ipython_display_(self) -> None:
        self._display_static_tables()
        publish_display_data(*self._repr_mimebundle_())

    def _display_static_tables(self, image: str = "", *, update: bool = False) -> None:
        bundle = static_mime_bundle(self.shown, image)
        publish_display_data(bundle, transient={"display_id": self.model_id}, update=update)

    @property
    def shown(self) -> WalletDetails:
        """The selected wallets and holdings of `details`.

        A search in the table also selects rows, unless the table is grouped. If you passed
        `prepare`, holdings keep the index and the columns of its result. Known values are in the
        column ``value``.
        """
        with LOCK:
            state = self._explorer_state
            return state.data.where(state.selection, state.search)

    @property
    def code(self) -> str:
        """The Python code that selects the rows in `shown` and draws the chart.

        The code expects the variables ``details`` and ``prepare``. For a folder, it expects
        ``stored`` instead of ``details``.
        """
        with LOCK:
            chart, search = self._explorer_state.drawn_chart(), self._explorer_state.search
        data, options = chart.selected.data, chart.options
        source = "stored.wf.where()" if _is_stored(self.details) else "details"
        lines = [] if source == "details" else [f"details = {source}"]
        if self._prepare is not None:
            lines.append("details = details._replace(holdings=prepare(details.holdings))")
        valued = ".wf.value()" * (data.priced_by == "default")
        chosen = _where_arguments(chart.selected)
        searched = [f"search={search!a}"] * bool(search.strip())
        lines.append(f"shown = details.wf.where({', '.join([*chosen, *searched])}){valued}")
        if chart.arguments is None:
            return "\n".join(lines)
        chart_type, draws_values = options.type, options.measure == VALUE
        drawn = f"details.wf.where({', '.join(chosen)}){valued}" if searched else "shown"
        if not draws_values and chart_type.needs != "token" and data.priced_by:
            lines.append(f"drawn = {drawn}")
            unvalued = f'drawn.holdings.drop(columns={VALUE_COLUMNS!r}, errors="ignore")'
            drawn = f"drawn._replace(holdings={unvalued})"
        arguments = [f"{name}={value!a}" for name, value in chart.arguments.items()]
        figure = f"figure = {drawn}.wf.plot.{chart_type.function}({', '.join(arguments)})"
        return "\n".join([*lines, figure, "figure"])  # the last line of a cell is displayed

    @locked_handler
    def refresh(self) -> None:
        """Fetch all wallets again in the background.

        This method returns immediately; `details` changes when the fetch ends. If a wallet can't be
        fetched, its older answer is kept. Errors are shown in the widget.
        """
        self._fetch_again(refresh=True)

    @locked_handler
    def _retry_fetch(self) -> None:
        self._fetch_again(refresh=False)

    def _fetch_again(self, *, refresh: bool) -> None:
        """Start a new fetch. Raise an error if it would undo changes of the holdings."""
        if _is_stored(self.details):
            raise WalletframeError(
                "Refresh is not available for holdings that are stored in a folder",
                hint="run fetch_to_parquet with a new folder to fetch all wallets again, "
                "or with this folder to retry failed wallets",
            )
        wallets, holdings = self.details
        hint = (
            "pass the unchanged result of the fetch, and make changes in a function, such as "
            'prepare=lambda holdings: holdings.wf.without_spam().wf.value(currency="USD")'
        )
        added = [f"{name!r}" for name in holdings.columns if name not in HOLDING_DTYPES]
        if added and self._prepare is None:
            raise WalletframeError(f"Refresh would lose the columns {', '.join(added)}", hint)
        if len(holdings) != wallets["tokens"].sum() and self._prepare is None:
            message = "Refresh would lose added rows and restore removed rows of the holdings"
            raise WalletframeError(message, hint)
        keep = extra_names(wallets)
        hint = "set the explorer's attribute `details` to a result of fetch_wallets"
        requested = wallets[["blockchain", "address", *keep]]
        self._start_fetch(requested, hint=hint, keep=keep, refresh=refresh)

    @locked_handler
    def save(self, kind: str) -> None:
        """Write the shown wallets and holdings to a file, and show a download link.

        CSV, Parquet and Excel files contain all shown rows, with exact amounts and the extra
        columns of ``wallets``. The report is an offline HTML page. The widget shows errors.

        Parameters
        ----------
        kind : {"CSV", "Parquet", "Excel", "Report"}
            The format of the file.
        """
        fields, buffers = self._make_file(kind)
        self.send({"kind": "file", **fields}, buffers)

    def _make_file(self, file_format: str) -> tuple[dict[str, Any], list[bytes]]:
        if file_format not in _FORMATS:
            hint = f"choose one of {', '.join(_FORMATS)}"
            raise ArgumentError(f"{file_format!r} is not a file format", hint=hint)
        shown, (name, media_type, write) = self.shown, _FORMATS[file_format]
        if file_format != "Report" and len(shown.holdings) > _MAX_DOWNLOAD_ROWS:
            raise WalletframeError(
                f"{len(shown.holdings):,} rows are too many for a download in the browser",
                hint='press "Copy code", run the code in a cell, and then call '
                "shown.holdings.wf.to_parquet(path)",
            )
        with TemporaryDirectory() as folder:
            path = Path(folder) / name
            write(shown if file_format == "Report" else _holdings_with_wallet_columns(shown), path)
            return {"name": name, "type": media_type}, [path.read_bytes()]

    def _send_edition(self, edition: int) -> None:
        self._show_error("")
        self._edition = edition

    def _client_context(self) -> AbstractContextManager[Client]:
        if self._client is not None:
            return nullcontext(self._client)
        services, problem = [*self.details.wallets["service"].dropna().unique()], ""
        try:
            client = default_client()
            if not services or [client.settings.service] == services:
                return nullcontext(client)
        except WalletframeError as error:
            problem = f"; {error.message}"
        if services == ["sandbox"] and (running := latest_or_restarted_sandbox()) is not None:
            return running.client()
        names = ", ".join(safe_line(str(name)) for name in services) or "a service"
        hint = "pass client=… to the explorer, or call walletframe.configure for this service"
        raise WalletframeError(f"Refresh needs a client for {names}{problem}", hint)

    @locked_handler
    def _replace_data(self, change: dict[str, Any]) -> None:
        self._explorer_state.replace_data(self._make_data_and_update_retry(change["new"]))


def _holdings_with_wallet_columns(shown: WalletDetails) -> pd.DataFrame:
    wallets, holdings = shown
    if not (names := [name for name in extra_names(wallets) if name not in holdings]):
        return holdings
    kept = wallets[["blockchain", "address", *names]].drop_duplicates(["blockchain", "address"])
    return merge_by_wallet(holdings, kept, "left", on=None, suffixes=("", ""))[0]


def _is_stored(details: object) -> TypeGuard[StoredWallets]:
    return isinstance(getattr(details, "holdings", None), StoredHoldings)


def _where_arguments(selected: SelectedHoldings) -> list[str]:
    selection, data = selected.selection, selected.data
    texts_by_column = selection.texts_by_column(dict(selection.labels))
    columns = {name: [text or None for text in texts] for name, texts in texts_by_column.items()}
    chosen = {name: [*getattr(selection, f"{name}s")] for name in ("wallet", "token", "blockchain")}
    arguments = [f"{name}={values!a}" for name, values in chosen.items() if values]
    if all(name.isidentifier() and not iskeyword(name) for name in columns):
        arguments = [*(f"{name}={values!a}" for name, values in columns.items()), *arguments]
    else:
        arguments.append(f"**{columns!a}")
    arguments += [f"spam={selection.spam}"] * (selection.spam is not None)
    if selection.small is not None and data.row_values is not None:
        arguments.append(f"small={selection.small}")
    return arguments
