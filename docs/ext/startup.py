"""What the notebooks' kernels run first: how plotly shows figures in pages without a kernel."""

from typing import Any

from plotly.io import renderers, to_html
from plotly.io.base_renderers import MimetypeRenderer


class _Page(MimetypeRenderer):
    """A figure as HTML that takes plotly's script from the page it is in."""

    def to_mimebundle(self, fig_dict: dict[str, Any]) -> dict[str, str]:
        """Give it to IPython."""
        return {"text/html": to_html(fig_dict, include_plotlyjs=False, full_html=False)}


renderers["page"] = _Page()
renderers.default = "page"
