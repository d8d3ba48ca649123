"""Add plotly's script, from this site, to the pages that contain charts."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_CHART_CLASS = "plotly-graph-div"


def _add_script(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    if _CHART_CLASS in context.get("body", ""):
        app.add_js_file("plotly.min.js")


def setup(app: Sphinx) -> dict[str, bool]:
    """Call `_add_script` for each page before Sphinx writes the page."""
    app.connect("html-page-context", _add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
