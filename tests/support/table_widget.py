"""A widget that shows only a table of holdings."""

from walletframe.frames.positions import read_positions
from walletframe.pickers.page import join_css, join_js
from walletframe.pickers.table import HoldingsTable
from walletframe.pickers.widget import MessageHandlingWidget

SHOW = """
export default widget(({ root, kernel, signal }) => {
  const { store } = new Table(root, kernel, { signal });
  kernel.onMessage("table", () => store.open());
});
"""


class TableWidget(MessageHandlingWidget):
    """A widget with the table of holdings."""

    _esm, _css = join_js("table", "widget") + SHOW, join_css("table")

    def __init__(self, holdings, wallets=None):
        super().__init__()
        self.show(holdings, wallets)

    def show(self, holdings, wallets=None):
        """Show other holdings. Each page keeps its order and its groups."""
        self._handlers["rows"] = HoldingsTable(read_positions(holdings, wallets)).answer_rows
        self.send({"kind": "table"})
