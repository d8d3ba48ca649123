"""A widget that is a chart alone, of what a `Drawing` draws."""

from traitlets import Unicode

from walletframe.charts import plotly_library
from walletframe.pickers.drawing import Drawing
from walletframe.pickers.page import script, styles
from walletframe.pickers.saved import saved, show
from walletframe.pickers.selection import Selection
from walletframe.pickers.stock import Stock
from walletframe.pickers.widget import PageWidget


class ChartWidget(PageWidget):
    """Show a fetch as charts; `selection` is what is picked."""

    _esm, _css = script("chartwidget"), styles("chart")
    _plotly = Unicode(plotly_library().version).tag(sync=True)

    def __init__(self, details, prepare=None):
        super().__init__()
        self.selection = Selection()
        self.drawing = Drawing(Stock(details, prepare), lambda: self.selection, self.pick)
        for kind, handler in self.drawing.answers.items():
            self._answer(kind, handler)

    def _ipython_display_(self):
        sifted, _ = self.drawing.sifted()
        sieve = self.drawing.look.sieve
        show(self._repr_mimebundle_(), saved(self.drawing.stock, sifted, sieve))

    def pick(self, selection):
        """Pick something else."""
        self.selection = selection
