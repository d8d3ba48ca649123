"""The explorer's widget: what it shows follows what is picked, on a thread of its own."""

from __future__ import annotations

import json
from threading import Lock
from typing import TYPE_CHECKING, Any

from ipywidgets import HTML, Box, Button, Output, Widget
from traitlets import Instance

from walletframe.charts import has_template
from walletframe.client import require_client
from walletframe.frames import (
    WalletDetails,
    details_given,
    holdings_table,
    kept_names,
    summary_html,
    table_html,
    wallets_table,
)
from walletframe.pickers import views
from walletframe.pickers.chooser import ToggleRow
from walletframe.pickers.fetching import FetchBar, renewed
from walletframe.pickers.holdings import BlockchainPicker, TokenPicker
from walletframe.pickers.labels import LabelPicker
from walletframe.pickers.pane import LOCK, Debounce, Pane, alert_html, guarded
from walletframe.pickers.selection import Catalog, Selection, require_as_fetched
from walletframe.pickers.wallets import WalletPicker
from walletframe.text import as_html_block, shown

if TYPE_CHECKING:
    from walletframe.client import Client
    from walletframe.frames import DetailsLike
    from walletframe.pickers.selection import Prepare

_ROWS = 50
_CODE_STYLE = "width: 0; min-width: 100%; overflow: auto; line-height: 1.3; margin: 0"


class HoldingsExplorer(Pane):
    """Explore holdings: pick, chart, read, refresh and download.

    Parameters
    ----------
    details : WalletDetails or tuple of (DataFrame, DataFrame)
        What was fetched.
    client : Client, optional
        The client that Refresh uses; the default client if not given, see `configure`.
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
    By own columns that ``wallets`` keeps, such as owner, wallets can be picked, and charts grouped;
    charts add up tokens, or assets (see `assets`).

    A chart of one token, where exactly one is picked, shows its amounts; otherwise values where
    the holdings have a column ``value``, or counts. A token keeps its colour while the selection
    changes.

    To explore values, give what was fetched and
    ``prepare=lambda holdings: holdings.wf.without_spam().wf.value(currency="USD")``. Without
    `prepare`, Refresh refuses where holdings have more columns, or other rows, than a fetch gave.
    Wallets that Refresh can't reach keep what was known of them, with the source ``stale``.

    Each explorer lives until `close` is called or the kernel ends: running its cell again makes
    another one.

    Examples
    --------
    >>> from walletframe.service import sandbox
    >>> with sandbox() as service, service.client(cache=False) as client:
    ...     explorer = HoldingsExplorer(client.fetch(["NEAR.alice.near"]), client=client)
    ...     explorer.save("CSV")
    ...     explorer.refresh()
    ...     explorer.close()
    """

    details = Instance(WalletDetails)

    def __init__(
        self, details: DetailsLike, *, client: Client | None = None, prepare: Prepare | None = None
    ) -> None:
        details = details_given(details)
        require_client(client)
        catalog = Catalog(details, prepare)  # what fails leaves no widget behind
        super().__init__()
        self.details, self._catalog, self._prepare = details, catalog, prepare
        self._debounce, self._drawing = Debounce(self._draw), Lock()
        self._endings.append(self._debounce.stop)
        start = Button(description="Refresh", icon="refresh", tooltip="Ask anew for all wallets")
        hint = "set .details of the explorer to what fetch_wallets returned"
        self._bar = FetchBar(start, self.refresh, client, hint=hint)
        self._chains = BlockchainPicker(catalog.details)
        self._wallets = WalletPicker(details, paste=False)
        self._tokens = TokenPicker(catalog.details)
        self._labels = LabelPicker(details)
        self._chart = ToggleRow("Chart", list(views.CHARTS))
        self._group = ToggleRow("Group by", [views.WALLET, *catalog.groups])
        self._things = ToggleRow("Add up", [views.TOKENS, views.ASSETS])
        self._summary, self._table, self._code, self._link = HTML(), HTML(), HTML(), HTML()
        self._output = Output(layout={"width": "100%"})
        self._place_parts()
        self._bar.observe(self._take_refreshed, "details")
        choices = (self._chart, self._group, self._things)
        for part in (*choices, self._chains, self._wallets, self._tokens, self._labels):
            part.observe(lambda _: self._debounce.call(), "value")
        self.observe(self._take_details, "details")
        self._draw()

    @property
    def shown(self) -> WalletDetails:
        """The wallets and holdings that are selected.

        Returns
        -------
        WalletDetails
            Rows of `details`, after `prepare`, on their index.
        """
        view = self._view()
        wallets, held = view.catalog.select(view.selection)
        return WalletDetails(wallets, held.holdings)

    @property
    def code(self) -> str:
        """The lines of pandas code that make what is shown.

        Returns
        -------
        str
            Python, for variables ``details`` and, where it was given, ``prepare``; of the rows
            alone where no chart can be drawn.
        """
        return views.render(self._view()).code

    @guarded
    def refresh(self) -> None:
        """Ask anew for all wallets, in the background; what can't be had anew stays.

        It returns at once; `details` changes when the answers are there. It shows its errors.
        """
        if self._prepare is None:
            require_as_fetched(self.details)
        self._show_error("")
        wallets = self.details.wallets
        keep = kept_names(wallets)
        self._bar.fetch(wallets[["blockchain", "address", *keep]], keep=keep, refresh=True)

    @guarded
    def save(self, kind: str) -> None:
        """Make a file of what is shown, and offer it as a link.

        CSV and Parquet hold every row, with exact amounts. The page needs no network; it holds the
        summary, the chart and the first 1,000 rows. It shows its errors.

        Parameters
        ----------
        kind : {"CSV", "Parquet", "HTML page", "pandas code"}
            Of which kind.
        """
        self._show_error("")
        self._link.value = ""
        self._link.value = views.link(kind, views.render(self._view()))

    def _place_parts(self) -> None:
        pickers = (self._chains, self._wallets, self._tokens, self._labels)
        for picker in pickers:
            picker.layout.width, picker.layout.min_width = "auto", "15em"
            picker.layout.flex = "1 1 18em"
        saving: list[Widget] = [HTML("Save what is shown as")]
        for kind in views.FORMATS:
            button = Button(description=kind, layout={"width": "auto"}, tooltip=f"Prepare {kind}")
            button.on_click(lambda button: self.save(button.description))
            saving.append(button)
        row = {"flex_flow": "row wrap", "width": "100%"}
        picking = Box(pickers, layout=row | {"grid_gap": "12px"})
        links = Box([*saving, self._link], layout=row)
        style = HTML(f"<style>{views.STYLE}</style>", layout={"display": "none"})
        shown = (self._summary, self._output, self._table, self._code, style)
        choices = Box([self._chart, self._group, self._things], layout=row)
        self.children = (self._bar, picking, choices, links, self._alert, *shown)

    def _draw(self) -> None:
        """Draw the view of now; where it changes meanwhile, the next call draws.

        Lock order: `_drawing` before `LOCK`. So never call this while holding `LOCK`.
        """
        with self._drawing:
            view = self._view()
            try:
                self._show(view, views.render(view))
            except Exception as error:  # noqa: BLE001 - on a thread nobody else would see it
                self._show(view, error)

    def _view(self) -> views.View:
        with LOCK:
            pickers = (self._chains, self._wallets, self._tokens, self._labels)
            selection = Selection(*(picker.value for picker in pickers))
            chart, by_asset = views.CHARTS[self._chart.value], self._things.value == views.ASSETS
            return views.View(self._catalog, selection, chart, self._group.value, by_asset)

    @guarded
    def _show(self, view: views.View, rendered: views.Rendered | Exception) -> None:
        if isinstance(rendered, Exception):
            raise rendered
        if view != self._view():
            return
        self._show_error("")
        self._link.value = ""
        (self._output.remove_class if has_template() else self._output.add_class)(views.FOLLOWS)
        self._output.outputs = (_display(rendered),)
        wallets, holdings = rendered.rows
        summary = summary_html(wallets, holdings)
        troubled = wallets[wallets["error"].notna()]
        if len(troubled):
            table = table_html(wallets_table(troubled, _ROWS), "24em")
            summary += _folded("Which wallets, and why", table)
        self._summary.value = f'<div role="status">{summary}</div>'
        self._table.value = table_html(holdings_table(holdings, _ROWS, wallets=wallets), "24em")
        code = f'<pre style="{_CODE_STYLE}">{as_html_block(rendered.code)}</pre>'
        self._code.value = _folded("The lines of pandas code that make this", code)

    @guarded
    def _take_refreshed(self, change: dict[str, Any]) -> None:
        self.details = renewed(self.details, change["new"])

    @guarded
    def _take_details(self, change: dict[str, Any]) -> None:
        self._catalog = catalog = Catalog(change["new"], self._prepare)
        for picker in (self._chains, self._wallets, self._tokens, self._labels):
            picker.offer(catalog.details)
        self._group.offer([views.WALLET, *catalog.groups])
        self._debounce.call()


def _display(rendered: views.Rendered) -> dict[str, Any]:
    figure = rendered.figure
    if figure is None:
        reason = rendered.reason
        data = {"text/html": alert_html(reason), "text/plain": shown(reason, len(reason))}
    else:
        drawn = json.loads(figure.to_json())  # whatever plotly's default renderer is
        data = figure._repr_mimebundle_() | {"application/vnd.plotly.v1+json": drawn}
    return {"output_type": "display_data", "data": data, "metadata": {}}


def _folded(title: str, html: str) -> str:
    return f"<details><summary>{title}</summary>{html}</details>"
