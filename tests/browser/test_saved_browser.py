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
EXPLORED = CELL.replace("ChartWidget(", "HoldingsExplorer(").replace(
    "from chart_widget import ChartWidget", "from walletframe import HoldingsExplorer"
)
MOST_LETTERS = 150_000


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


def exported(text):
    """Return the page that nbconvert makes of a notebook without running it."""
    notebook = nbformat.reads(text, as_version=4)
    return HTMLExporter(template_name="lab").from_notebook_node(notebook)[0]


@pytest.fixture(scope="module")
def lab(lab_server):
    """Serve a notebook to run, and one without a kernel."""
    explored = notebook_of(EXPLORED)
    with lab_server.serving(
        alive=notebook_of(CELL), left=left_behind(), explored=explored
    ) as address:
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
    with chromium.new_context() as context:
        page = Visit(context.new_page()).page
        page.set_content(exported(left_behind()))
        expect(page.locator(".wf-saved")).to_be_visible()
        expect(page.get_by_text("300 balances")).to_be_visible()


def test_a_saved_notebook_has_a_picture_of_the_chart(lab, lab_server, chromium):
    """It changes nothing in the page; nbconvert shows it without scripts, also on a phone."""
    with chromium.new_context(viewport={"width": 1280, "height": 1400}) as context:
        page = Visit(context.new_page()).page
        open_and_run(page, lab, "explored.ipynb")
        live = page.locator(".wf").element_handle()
        expect(page.locator(".wf-saved img")).to_have_count(1)
        expect(page.locator(".wf-saved")).to_be_hidden()
        assert live.evaluate("(root) => root.isConnected")
        page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    saved = (lab_server.folder / "explored.ipynb").read_text(encoding="utf-8")
    assert len(json.loads(saved)["cells"][0]["outputs"][0]["data"]["text/html"]) < MOST_LETTERS
    phone = {"width": 390, "height": 844}
    with chromium.new_context(viewport=phone, java_script_enabled=False) as context:
        page = Visit(context.new_page()).page
        page.set_content(exported(saved))
        picture = page.get_by_role("img", name="Chart of holdings")
        expect(picture).to_be_visible()
        assert picture.evaluate("(image) => image.naturalWidth") > 600
        assert picture.bounding_box()["width"] > 600
        assert page.evaluate("document.documentElement.scrollWidth") <= phone["width"]
