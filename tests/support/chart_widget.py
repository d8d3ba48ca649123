"""A widget that shows only the chart of an `ExplorerState`."""

from IPython.display import publish_display_data
from traitlets import Unicode

from walletframe.charts import plotlyjs_version_and_script
from walletframe.frames.details import WalletDetails
from walletframe.pickers.data import ExplorerData
from walletframe.pickers.explorer import static_mime_bundle
from walletframe.pickers.page import join_css, join_js
from walletframe.pickers.view import ExplorerState
from walletframe.pickers.widget import MessageHandlingWidget

SHOW = """
export default widget(({ model, root, kernel, signal }) => {
  root.chart = new Chart(root, kernel, { version: model.get("_plotly"), signal });
  kernel.onMessage("changed", () => root.chart.refresh());
  root.chart.refresh();
});
"""


class ChartWidget(MessageHandlingWidget):
    """A widget that shows the charts of a fetch."""

    _esm, _css = join_js("chart", "widget") + SHOW, join_css("chart")
    _plotly = Unicode(plotlyjs_version_and_script()[0]).tag(sync=True)

    def __init__(self, details, prepare=None):
        super().__init__()
        self.view = ExplorerState(ExplorerData(details, prepare))
        self._handlers |= self.view.handlers
        self._handlers["plotly"] = lambda _: ({}, [plotlyjs_version_and_script()[1]])

    def _ipython_display_(self):
        publish_display_data(self.saved())
        publish_display_data(*self._repr_mimebundle_())

    def saved(self):
        """Return the MIME bundle that a notebook saves."""
        result = self.view.drawn_chart().selected
        return static_mime_bundle(WalletDetails(result.wallets, result.held.holdings))
