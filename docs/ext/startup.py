"""Startup file of the notebooks' kernels: the site's pages have no kernel and show no progress."""

from functools import partialmethod
from typing import Any

from plotly.io import renderers, to_html
from plotly.io.base_renderers import MimetypeRenderer
from tqdm.auto import tqdm


class _PageRenderer(MimetypeRenderer):
    """A renderer of figures as HTML that uses the plotly script of the page."""

    def to_mimebundle(self, fig_dict: dict[str, Any]) -> dict[str, str]:
        """Return the figure's HTML for IPython."""
        return {"text/html": to_html(fig_dict, include_plotlyjs=False, full_html=False)}


renderers["page"] = _PageRenderer()
renderers.default = "page"
tqdm.__init__ = partialmethod(tqdm.__init__, disable=True)  # on a page, bars would stay at 0
