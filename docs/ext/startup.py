"""What the notebooks' kernels run first, since their pages have no kernel and nobody waits."""

from functools import partialmethod
from typing import Any

from plotly.io import renderers, to_html
from plotly.io.base_renderers import MimetypeRenderer
from tqdm.auto import tqdm


class _Page(MimetypeRenderer):
    """A figure as HTML that takes plotly's script from the page it is in."""

    def to_mimebundle(self, fig_dict: dict[str, Any]) -> dict[str, str]:
        """Give it to IPython."""
        return {"text/html": to_html(fig_dict, include_plotlyjs=False, full_html=False)}


renderers["page"] = _Page()
renderers.default = "page"
tqdm.__init__ = partialmethod(tqdm.__init__, disable=True)  # a bar would stay at 0
