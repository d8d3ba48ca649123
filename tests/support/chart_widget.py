"""A widget that is the chart of a `View` alone."""

from traitlets import Unicode

from walletframe.charts import plotly_library
from walletframe.pickers.page import script, styles
from walletframe.pickers.portfolio import Portfolio
from walletframe.pickers.saved import show_saved
from walletframe.pickers.view import View
from walletframe.pickers.widget import PageWidget

SHOW = """
export default widget(({ model, root, kernel, signal }) => {
  root.chart = new Chart(root, kernel, { version: model.get("_plotly"), signal });
  kernel.hear("changed", () => root.chart.refresh());
  root.chart.refresh();
});
"""


class ChartWidget(PageWidget):
    """Show a fetch as charts; its view has what is picked."""

    _esm, _css = script("chart", "widget") + SHOW, styles("chart")
    _plotly = Unicode(plotly_library().version).tag(sync=True)

    def __init__(self, details, prepare=None):
        super().__init__()
        self.view = View(Portfolio(details, prepare))
        self._handlers |= self.view.handlers
        self._handlers["plotly"] = lambda _: ({}, [plotly_library().script])

    def _ipython_display_(self):
        show_saved(self.view.selected(), self._repr_mimebundle_())
