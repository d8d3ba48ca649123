"""Gives plotly's script, of this site, to the pages that have charts."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_CHART = "plotly-graph-div"


def _load(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    if _CHART in context.get("body", ""):
        app.add_js_file("plotly.min.js")


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at each page before it is written."""
    app.connect("html-page-context", _load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
