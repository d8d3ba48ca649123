"""A widget in a notebook: live while its kernel lives, then its saved copy."""

import json

import nbformat
import pytest
from chart_widget import ChartWidget
from chromium import Visit
from fetches import made_up_details
from lab_server import SUPPORT, notebook_of, open_and_run, open_notebook
from nbconvert import HTMLExporter
from playwright.sync_api import expect

CELL = f"""
import sys
sys.path.insert(0, {str(SUPPORT)!r})
from chart_widget import ChartWidget
from fetches import made_up_details
ChartWidget(made_up_details(300, wallets=9, tokens=9))
"""


def left_behind():
    """Return a notebook with the outputs of a widget without a kernel."""
    widget = ChartWidget(made_up_details(300, wallets=9, tokens=9))
    bundles = [widget.saved(), widget._repr_mimebundle_()[0]]
    widget.close()
    notebook = json.loads(notebook_of(CELL))
    notebook["cells"][0]["outputs"] = [
        {"output_type": "display_data", "data": each, "metadata": {}} for each in bundles
    ]
    return json.dumps(notebook)


@pytest.fixture(scope="module")
def lab(lab_server):
    """Serve a notebook to run, and one without a kernel."""
    with lab_server.serving(alive=notebook_of(CELL), left=left_behind()) as address:
        yield address


def test_a_live_widget_hides_its_saved_copy(lab, chromium):
    """A restored view is not visible beside the live one."""
    with chromium.new_context(viewport={"width": 1280, "height": 1400}) as context:
        page = Visit(context.new_page()).page
        open_and_run(page, lab, "alive.ipynb")
        expect(page.locator(".js-plotly-plot g.slice").first).to_be_visible()
        expect(page.locator(".wf-saved")).to_be_hidden()
        assert page.locator(".js-plotly-plot .main-svg").first.bounding_box()["width"] > 600


def test_a_reopened_notebook_shows_the_saved_copy(lab, chromium):
    """There is no message about a missing model; GitHub and nbconvert show it, too."""
    with chromium.new_context(viewport={"width": 1280, "height": 1400}) as context:
        visit = Visit(context.new_page())
        open_notebook(visit.page, lab, "left.ipynb")
        expect(visit.page.locator(".wf-saved")).to_be_visible()
        expect(visit.page.get_by_text("made up")).to_have_count(0)
        visit.page.wait_for_timeout(
            2_000
        )  # the kernel is there: a restored view would be there soon
        expect(visit.page.get_by_text("model not found")).not_to_be_visible()
    html, _ = HTMLExporter(template_name="lab").from_notebook_node(
        nbformat.reads(left_behind(), as_version=4)
    )
    with chromium.new_context() as context:
        page = Visit(context.new_page()).page
        page.set_content(html)
        expect(page.locator(".wf-saved")).to_be_visible()
        expect(page.get_by_text("300 balances")).to_be_visible()
