"""Every chart in a real browser: drawn, harmless, and without outside requests."""

import pytest
from chromium import Visit
from hostile_symbols import SYMBOLS, hostile_holdings

from walletframe import charts

HOSTILE = hostile_holdings()
VALUED = HOSTILE.assign(value=range(1, len(HOSTILE) + 1), currency="<b>$US$</b>").astype(
    {"value": "float64"}
)
SNAPSHOTS = HOSTILE.assign(snapshot="2026-01-31T00:00Z").astype({"snapshot": "datetime64[us, UTC]"})
WORST = ("ETH", HOSTILE["token_address"][2])
OWNER = tuple(HOSTILE.loc[1, ["blockchain", "address"]])
MOST = {"top_tokens": 20}
FIGURES = {
    "treemap of counts": lambda: charts.treemap(HOSTILE, top=500),
    "treemap of values": lambda: charts.treemap(VALUED, top=500),
    "treemap of a token": lambda: charts.treemap(HOSTILE, token=WORST),
    "sunburst": lambda: charts.sunburst(VALUED, top=300),
    "bar of wallets": lambda: charts.bar(VALUED, **MOST),
    "bar of blockchains": lambda: charts.bar(HOSTILE, by="blockchain", **MOST),
    "bar of a token": lambda: charts.bar(HOSTILE, token=WORST),
    "heatmap of shares": lambda: charts.heatmap(HOSTILE, top_tokens=200),
    "heatmap of values": lambda: charts.heatmap(VALUED, top_tokens=200),
    "pie": lambda: charts.pie(VALUED, OWNER, top=20),
    "pie of counts": lambda: charts.pie(HOSTILE, OWNER, top=20),
    "lorenz": lambda: charts.lorenz(HOSTILE, WORST),
    "timeline": lambda: charts.timeline(SNAPSHOTS, **MOST),
    "empty": lambda: charts.treemap(HOSTILE.iloc[:0], token=SYMBOLS["link"]),
}
HARMFUL = """() => [
    window.__ran || 0,
    ...document.querySelectorAll('a, img, iframe, object, embed, foreignObject')
].filter(each => each && !each.closest?.('.modebar')).map(each => each.outerHTML || each)"""
TEXTS = """() => [...document.querySelectorAll('.main-svg text')]
    .filter(each => each.textContent.trim() && each.getBoundingClientRect().height)
    .filter(each => getComputedStyle(each).visibility !== 'hidden')
    .map(each => {
        const {a, b} = each.getCTM();
        return [parseFloat(getComputedStyle(each).fontSize) * Math.hypot(a, b), each.textContent];
    })"""
SHAPES = ":is(.surface, .point path, .slice path, .hm image, .js-line, .js-fill)"


@pytest.fixture(scope="module")
def stage(chromium, tmp_path_factory):
    """Draw all charts on one page, each with its figure in a script of its own."""
    page = tmp_path_factory.mktemp("charts") / "charts.html"
    parts = [
        figure().to_html(full_html=False, include_plotlyjs=place == 0, div_id=f"chart{place}")
        for place, figure in enumerate(FIGURES.values())
    ]
    page.write_text(f"<!DOCTYPE html><meta charset='utf-8'>{''.join(parts)}", encoding="utf-8")
    with chromium.new_context(viewport={"width": 960, "height": 720}) as context:
        visit = Visit(context.new_page())
        visit.open(page)
        visit.page.wait_for_function(
            f"document.querySelectorAll('.js-plotly-plot .g-gtitle').length == {len(parts)}"
        )
        yield visit


def chart(stage, name):
    """Return the chart of a name."""
    return stage.page.locator(f"#chart{[*FIGURES].index(name)}")


def test_hostile_text_is_harmless(stage):
    """No script runs, no link or image appears, and there are no requests and no messages."""
    assert stage.page.evaluate(HARMFUL) == []
    assert (stage.outside_requests, stage.messages) == ([], [])


@pytest.mark.parametrize("name", FIGURES)
def test_charts_are_not_blank(stage, name):
    """A chart with data has shapes, and every chart has text."""
    drawn = chart(stage, name)
    assert (drawn.locator(SHAPES).count() > 0) == bool(FIGURES[name]().data)
    assert "".join(drawn.locator(".main-svg text").all_text_contents()).strip()


@pytest.mark.parametrize("name", ["treemap of values", "bar of wallets", "pie", "lorenz"])
def test_hovers_are_harmless(stage, name):
    """Text under the pointer is text, tags and dollars included."""
    chart(stage, name).scroll_into_view_if_needed()
    box, seen = chart(stage, name).bounding_box(), []
    for place in range(100):
        across, down = (place * 37 % 100) / 100, (place * 61 % 100) / 100
        stage.page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * down)
        seen += chart(stage, name).locator(".hoverlayer text").all_text_contents()
        if "<ahref=" in (text := "".join(seen).replace(" ", "")):  # lines break at spaces
            break
    assert "<ahref=" in text
    assert stage.page.evaluate(HARMFUL) == []
    assert (stage.outside_requests, stage.messages) == ([], [])


def test_no_text_is_too_small(stage):
    """Text smaller than 11 pixels is hidden."""
    drawn = stage.page.evaluate(TEXTS)
    assert len(drawn) > 300
    assert min(size for size, _ in drawn) > 10.9


@pytest.mark.parametrize("text", ["<b>USDC</b>", "&#60;b&#62;x", "$WIF vs $BONK", "US<br>DC"])
def test_symbols_are_shown_literally(stage, text):
    """Tags, entities and dollars can be read letter by letter."""
    ticks = chart(stage, "heatmap of shares").locator(".xtick text").all_text_contents()
    assert any(tick.startswith(text) for tick in ticks)


def test_no_button_uploads_a_chart(stage):
    """The button that shares a figure is gone, the others are there."""
    titles = stage.page.locator(".modebar-btn").evaluate_all("all => all.map(e => e.dataset.title)")
    assert "Zoom in" in titles
    assert not [title for title in titles if "share" in title.lower() or "cloud" in title.lower()]
