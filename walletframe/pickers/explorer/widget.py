"""The explorer's widget: what it shows follows what is picked, on a thread of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from ipywidgets import HTML, Box, Button, Layout, Output, ToggleButtons
from traitlets import Instance

from walletframe.charts import has_template
from walletframe.client import require_client
from walletframe.errors import WalletframeError
from walletframe.frames import (
    WalletDetails,
    details_given,
    holdings_table,
    summary_html,
    table_html,
)
from walletframe.pickers.bar import FetchBar
from walletframe.pickers.blockchains import BlockchainPicker
from walletframe.pickers.explorer.downloads import FORMATS, link, prepare
from walletframe.pickers.explorer.script import script
from walletframe.pickers.explorer.selection import Catalog, Selection
from walletframe.pickers.explorer.theme import FOLLOWS, STYLE
from walletframe.pickers.explorer.views import VIEWS, arguments, draw
from walletframe.pickers.pane import TURN, Pane, guarded
from walletframe.pickers.pause import Pause
from walletframe.pickers.tokens import TokenPicker
from walletframe.pickers.wallets import WalletPicker
from walletframe.text import as_html_block

if TYPE_CHECKING:
    from walletframe.charts import Figure
    from walletframe.client import Client
    from walletframe.frames import DetailsLike
    from walletframe.pickers.explorer.views import View

_ROWS = 50


@dataclass(frozen=True, slots=True)
class _Wish:
    """What a person wants to see."""

    catalog: Catalog
    selection: Selection
    view: View


@dataclass(frozen=True, slots=True)
class _Sight:
    """What is to be seen of it."""

    wish: _Wish
    shown: WalletDetails
    figure: Figure | None
    code: str


class HoldingsExplorer(Pane):
    """Look at holdings from all sides: pick, draw, read, refresh and download.

    Parameters
    ----------
    details : WalletDetails or tuple of (DataFrame, DataFrame)
        What was fetched.
    client : Client, optional
        Whom Refresh asks; the default client where not given, see `configure`.

    Attributes
    ----------
    details : WalletDetails
        What is looked at. Can be set, observed and linked, to a `FetchPanel` for instance.

    Raises
    ------
    ArgumentError
        Where `details` is no fetch, or `client` none.

    Notes
    -----
    A chart of one token, where exactly one is picked, shows its amounts; otherwise values where
    the holdings have a column ``value``, or counts. A token keeps its colour while the selection
    changes.

    Examples
    --------
    >>> from walletframe.frames import assemble
    >>> explorer = HoldingsExplorer(assemble([]))
    >>> len(explorer.shown.holdings)
    0
    >>> explorer.close()
    """

    details = Instance(WalletDetails)

    def __init__(self, details: DetailsLike, *, client: Client | None = None) -> None:
        details = details_given(details)
        require_client(client)
        super().__init__()
        self.details, self._catalog = details, Catalog(details)
        self._pause, self._drawing = Pause(self._draw, wait_s=0), Lock()
        start = Button(description="Refresh", icon="refresh", tooltip="Ask anew for all wallets")
        self._bar = FetchBar(start, self.refresh, client, hint="")
        self._chains = BlockchainPicker(details)
        self._wallets = WalletPicker(details, paste=False)
        self._tokens = TokenPicker(details)
        self._view = ToggleButtons(options=list(VIEWS), style={"button_width": "auto"})
        self._savers = [self._saver(kind) for kind in FORMATS]
        self._summary, self._table, self._code, self._link = HTML(), HTML(), HTML(), HTML()
        self._output = Output(layout=Layout(width="100%"))
        self._style = HTML(f"<style>{STYLE}</style>", layout=Layout(display="none"))
        self._place_parts()
        self._bar.observe(self._take_refreshed, "details")
        for part in (self._view, self._chains, self._wallets, self._tokens):
            part.observe(lambda _: self._pause.begin(), "value")
        self.observe(self._take_details, "details")
        self._draw()

    @property
    def shown(self) -> WalletDetails:
        """The wallets and holdings that are selected.

        Returns
        -------
        WalletDetails
            Rows of `details`, on its index.
        """
        wish = self._wish()
        return wish.catalog.select(wish.selection)

    @property
    def code(self) -> str:
        """The lines of pandas code that make what is shown.

        Returns
        -------
        str
            Python, for a variable ``details``.
        """
        return _look(self._wish()).code

    @guarded
    def refresh(self) -> None:
        """Ask anew for all wallets, in the background."""
        wallets = self.details.wallets
        pairs = zip(wallets["blockchain"], wallets["address"], strict=True)
        self._bar.fetch([f"{chain}.{address}" for chain, address in pairs], refresh=True)

    @guarded
    def save(self, kind: str) -> None:
        """Make a file of what is shown, and offer it as a link.

        Parameters
        ----------
        kind : {"CSV", "Parquet", "HTML page", "pandas code"}
            Of which kind.
        """
        self.tell_fault("")
        sight = _look(self._wish())
        self._link.value = link(*prepare(kind, sight.shown, sight.figure, sight.code))

    def _place_parts(self) -> None:
        pickers = (self._chains, self._wallets, self._tokens)
        for picker in pickers:
            picker.layout.width, picker.layout.min_width = "auto", "15em"
            picker.layout.flex = "1 1 18em"
        saving = (HTML("Save what is shown as"), *self._savers, self._link)
        rows = [
            Box(parts, layout=Layout(flex_flow="row wrap", width="100%"))
            for parts in (pickers, (self._view,), saving)
        ]
        self.children = (
            *(self._bar, *rows, self._alert, self._summary),
            *(self._output, self._table, self._code, self._style),
        )

    def _saver(self, kind: str) -> Button:
        button = Button(description=kind, layout={"width": "auto"}, tooltip=f"Prepare {kind}")
        button.on_click(lambda _: self.save(kind))
        return button

    def _draw(self) -> None:
        """Draw what is wanted now; where that changes meanwhile, leave it to who comes next.

        Not to be called by who has the turn: another thread may draw, and wait for it.
        """
        with self._drawing:
            wish = self._wish()
            try:
                sight = _look(wish)
            except Exception as error:  # noqa: BLE001 - on a thread nobody else would see it
                self._tell(error)
            else:
                self._show(sight)

    def _wish(self) -> _Wish:
        with TURN:
            picked = (self._chains.value, self._wallets.value, self._tokens.value)
            return _Wish(self._catalog, Selection(*picked), VIEWS[self._view.value])

    @guarded
    def _show(self, sight: _Sight) -> None:
        if sight.wish != self._wish():
            return
        self.tell_fault("")
        self._link.value = ""
        (self._output.remove_class if has_template() else self._output.add_class)(FOLLOWS)
        self._output.outputs = (_display(sight.figure),)
        self._summary.value = f'<div role="status">{summary_html(*sight.shown)}</div>'
        self._table.value = table_html(holdings_table(sight.shown.holdings, _ROWS), "24em")
        self._code.value = _folded("The lines of pandas code that make this", sight.code)

    @guarded
    def _tell(self, error: Exception) -> None:
        raise error

    @guarded
    def _take_refreshed(self, change: dict[str, Any]) -> None:
        details = change["new"]
        if (details.wallets["status"] == "cancelled").any():
            raise WalletframeError("cancelled: what is shown is as it was before")
        self.details = details

    @guarded
    def _take_details(self, change: dict[str, Any]) -> None:
        self._catalog = Catalog(change["new"])
        for picker in (self._chains, self._wallets, self._tokens):
            picker.offer(change["new"])
        self._pause.begin()

    def _stop(self) -> None:
        self._pause.stop()


def _look(wish: _Wish) -> _Sight:
    shown = wish.catalog.select(wish.selection)
    figure, chosen = None, {}
    if len(shown.holdings):
        chosen = arguments(wish.view, wish.selection, shown)
        figure = draw(wish.view, chosen, shown, wish.catalog.colors)
    return _Sight(wish, shown, figure, script(wish.view, wish.selection, chosen))


def _display(figure: Figure | None) -> dict[str, Any]:
    if figure is None:
        data = {"text/plain": "No balance is selected: take away some of what is picked."}
    else:
        drawn = json.loads(figure.to_json())  # whatever plotly's default renderer is
        data = figure._repr_mimebundle_() | {"application/vnd.plotly.v1+json": drawn}
    return {"output_type": "display_data", "data": data, "metadata": {}}


def _folded(title: str, code: str) -> str:
    style = "width: 0; min-width: 100%; overflow: auto; line-height: 1.3; margin: 0"
    return (
        f"<details><summary>{title}</summary>"
        f'<pre style="{style}">{as_html_block(code)}</pre></details>'
    )
