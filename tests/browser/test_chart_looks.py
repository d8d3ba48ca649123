"""The look of charts in a real browser: enough plot area and whole names at three widths."""

import json

import pandas as pd
import pytest
from chromium import Visit
from plotly.offline import get_plotlyjs

from walletframe import charts
from walletframe.analysis.valuation import value
from walletframe.service import SHOWCASE

WIDTHS = (1440, 1024, 390)
THEMES = ("plotly_white", "plotly_dark")
DRAW = """([figure, width]) => {
    const { data, layout } = JSON.parse(figure);
    Plotly.purge("chart");
    return Plotly.newPlot("chart", data, { ...layout, width }, { displayModeBar: false });
}"""
PLOT_SHARE = "width => document.getElementById('chart')._fullLayout._size.w / width"
LABELS = (
    "all => all.map((each) => { const b = each.getBoundingClientRect(); return [b.x, b.width]; })"
)
NAMELESS = """() => {
    const { parents } = document.getElementById("chart").data[0];
    return [...document.querySelectorAll("g.slice")].filter((slice) => {
        const text = slice.querySelector(".slicetext");
        const isVisible = text?.textContent.trim() && text.getBoundingClientRect().width > 0
            && getComputedStyle(text).display !== "none";
        return parents.includes(slice.__data__.data.data.id) && !isVisible;
    }).length;
}"""


@pytest.fixture(scope="module")
def holdings(service):
    """Fetch the showcase with values, and names of any length."""
    with service.client(cache="memory") as client:
        details = client.fetch(list(SHOWCASE), on_failure="ignore", progress=False)
    names = [f"Legal escrow grants of the foundation {n}" for n in range(len(details.wallets))]
    return value(details.holdings), details.wallets.assign(name=names)


@pytest.fixture(scope="module")
def page(chromium):
    """Open a page that has plotly.js."""
    with chromium.new_context(viewport={"width": 1440, "height": 900}) as context:
        opened = Visit(context.new_page()).page
        opened.set_content("<!doctype html><body style='margin:0'><div id=chart></div>")
        opened.add_script_tag(content=get_plotlyjs())
        yield opened


def draw(page, figure, width, theme):
    """Draw a figure in a template."""
    figure.update_layout(template=theme)
    page.evaluate(DRAW, [json.dumps(json.loads(figure.to_json())), width])


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["bar", "heatmap", "lorenz", "timeline"])
def test_plots_have_space(page, holdings, kind, width, theme):
    """The plot has 45 % of the width, the names of rows at most 35 %, and none is cut."""
    rows, wallets = holdings
    if kind == "timeline":
        times = pd.date_range("2026-01-03", periods=14, freq="7D", tz="UTC").as_unit("us")
        figure = charts.timeline(rows.merge(pd.DataFrame({"snapshot": times}), how="cross"))
    else:
        asset = ["ETH"] if kind == "lorenz" else []
        figure = getattr(charts, kind)(rows, *asset, wallets=wallets)
    draw(page, figure, width, theme)
    assert page.evaluate(PLOT_SHARE, width) >= 0.45
    labels = page.locator(".yaxislayer-above .ytick text, .yaxislayer-below .ytick text")
    boxes = labels.evaluate_all(LABELS)
    assert boxes
    assert min(left for left, _ in boxes) >= 0
    assert max(size for _, size in boxes) <= 0.35 * width
    subtitle = page.locator(".g-gtitle text").evaluate_all(LABELS)
    assert max(left + size for left, size in subtitle) <= width


@pytest.mark.parametrize("width", [1440, 1024])
@pytest.mark.parametrize("count", [False, True])
def test_bands_have_names(page, holdings, count, width):
    """Each box of a treemap that contains boxes shows its name."""
    rows, wallets = holdings
    figure = charts.treemap(rows.drop(columns="value") if count else rows, wallets=wallets)
    draw(page, figure, width, "plotly_white")
    assert page.evaluate(NAMELESS) == 0
