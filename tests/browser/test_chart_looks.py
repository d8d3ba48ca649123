"""The look of charts in a real browser: space, whole texts and contrast, of each kind of chart.

The themes take turns, since a width changes no colour and a theme no place; on a phone, both are
drawn.
"""

import json
import re
from functools import partial
from html import unescape

import numpy as np
import pandas as pd
import pytest
from chromium import Visit
from fetches import fetched, made_up_details
from plotly import graph_objects as go
from plotly.offline import get_plotlyjs

from walletframe import charts
from walletframe.analysis.valuation import value
from walletframe.service import SHOWCASE

WHITE, DARK = "plotly_white", "plotly_dark"
PHONE, NOTE_HEIGHT = 390, 15
LOOKS = [(1440, WHITE), (1024, DARK), (PHONE, WHITE), (PHONE, DARK)]
TOKEN = ["token_blockchain", "token_address"]
MEASURE = r"""
const chart = document.getElementById("chart");
const SLACK = 2; // pixels by which the boxes of letters exceed what is painted

function isShown(text) {
    const { width, height } = text.getBoundingClientRect();
    return text.textContent.trim() && width > 1 && height > 1
        && text.checkVisibility({ opacityProperty: true, visibilityProperty: true });
}

/** Return the corners of a text, which may be slanted, in the picture's pixels. */
function corners(text) {
    const { x, y, width, height } = text.getBBox();
    const matrix = text.getScreenCTM();
    const place = chart.getBoundingClientRect();
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]].map(([left, top]) => {
        const point = new DOMPoint(left, top).matrixTransform(matrix);
        return [point.x - place.x, point.y - place.y];
    });
}

/** Return whether two slanted boxes overlap, by the theorem of separating axes. */
function overlap(one, other) {
    return [one, other].every((box) => [0, 1].every((side) => {
        const [x, y] = [0, 1].map((axis) => box[side + 1][axis] - box[side][axis]);
        const length = Math.hypot(x, y);
        const [[low, high], [least, most]] = [one, other].map((each) => {
            const along = each.map((corner) => (corner[0] * x + corner[1] * y) / length);
            return [Math.min(...along), Math.max(...along)];
        });
        return Math.min(high, most) - Math.max(low, least) > SLACK;
    }));
}

const luminances = new Map();

function luminance(color) {
    if (luminances.has(color)) return luminances.get(color);
    const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    luminances.set(color, 0.2126 * red + 0.7152 * green + 0.0722 * blue);
    return luminances.get(color);
}

function contrast(one, other) {
    const [high, low] = [one, other].map(luminance).sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
}

/** Return the colour of an area, without its pattern. */
function fillOf(area) {
    const { fill } = getComputedStyle(area);
    const id = fill.match(/url\("?.*#(.*?)"?\)/)?.[1];
    return id ? document.getElementById(id).querySelector("rect").getAttribute("fill") : fill;
}

function* violations(width, name) {
    const { _fullLayout: layout, data } = chart;
    const { w, h } = layout._size;
    const ground = layout.paper_bgcolor;
    const { tickmode, ticklabelposition } = layout.yaxis ?? {};
    // A figure does not know its page's width. On a phone, the labels of rows take a third of it;
    // only the explorer moves them above the rows.
    const hasLabels = tickmode === "array" && ticklabelposition !== "inside";
    if (data.length && layout.yaxis) {
        const shares = { width: w / width, picture: (w * h) / (width * layout.height) };
        if (hasLabels && width < 500) delete shares.picture;
        for (const [name, share] of Object.entries(shares)) {
            if (share < 0.45) yield `the plot has ${Math.round(100 * share)} % of the ${name}`;
        }
    }
    for (const label of hasLabels ? chart.querySelectorAll(".ytick text") : []) {
        if (label.getBoundingClientRect().width > 0.35 * width) yield `wide: ${label.textContent}`;
    }
    const lines = "svg.main-svg text:not(:has(tspan.line)), svg.main-svg tspan.line";
    const texts = [...chart.querySelectorAll(lines)].filter(isShown).map((each) => {
        return { each, words: each.textContent.slice(0, 40), box: corners(each) };
    });
    for (const [index, { each, words, box }] of texts.entries()) {
        const [left, right] = [0, 1].map((f) => Math[f ? "max" : "min"](...box.map(([x]) => x)));
        const [top, bottom] = [0, 1].map((f) => Math[f ? "max" : "min"](...box.map(([, y]) => y)));
        if (left < -1 || top < -1 || right > width + 1 || bottom > layout.height + 1) {
            yield `cut: ${words}`;
        }
        for (const other of texts.slice(index + 1)) {
            if (overlap(box, other.box)) yield `overlap: ${words} / ${other.words}`;
        }
        const area = each.closest("g.slice")?.querySelector("path");
        const isCell = each.closest(".heatmap-label");
        const back = area ? fillOf(area) : ground;
        const found = isCell ? Infinity : contrast(getComputedStyle(each).fill, back);
        if (found < 4.5) yield `text ${found.toFixed(1)}:1: ${words}`;
    }
    // The cells of a heatmap are pixels of one image; the lightest are small on light grounds.
    const marks = "g.slice > path.surface, .points path, .scatterlayer .lines path";
    const outlines = [...chart.querySelectorAll(".lines path")];
    for (const mark of chart.querySelectorAll(marks)) {
        const { width: wide, height: high } = mark.getBoundingClientRect();
        // A line may be flat; an area without a width is not painted, such as a bar of nothing.
        const isEmpty = mark.closest(".lines") ? !wide && !high : !wide || !high;
        if (isEmpty || mark.__data__?.parent === null) continue; // or the root
        const place = mark.getAttribute("d");
        const alike = outlines.filter((line) => line.getAttribute("d") === place);
        const styles = [mark, ...alike].map((each) => getComputedStyle(each));
        const edges = styles.filter(({ stroke, strokeWidth }) => {
            return stroke !== "none" && parseFloat(strokeWidth) >= 0.5;
        });
        const colors = [fillOf(mark), ...edges.map(({ stroke }) => stroke)];
        const found = Math.max(...colors.map((color) => {
            return color === "none" ? 0 : contrast(color, ground);
        }));
        if (found < 3) yield `mark ${found.toFixed(1)}:1: ${colors}`;
    }
    // On a phone, only the explorer draws so few boxes that each has space for its name. A leaf of
    // a sunburst may have several parts, one of them with the name.
    const isForPage = width >= 500 || name.includes("on a phone");
    const slices = [...chart.querySelectorAll("g.slice")].filter(({ __data__ }) => __data__.parent);
    const idOf = ({ __data__ }) => __data__.data.data.id.trim();
    const isNamed = (slice) => [...slice.querySelectorAll("text")].some(isShown);
    const named = new Set(slices.filter(isNamed).map(idOf));
    for (const slice of isForPage ? slices : []) {
        const id = idOf(slice);
        const node = slice.__data__;
        const isSmall = node.value < 0.1 * node.ancestors().at(-1).value;
        const isSmallOther = isSmall && id.endsWith("o");
        if (!named.has(id) && !isSmallOther) yield `blank tile: ${node.data.data.label}`;
    }
}

window.look = async (figures, width, template, size = {}) => {
    const found = [];
    for (const [name, { data, layout }] of Object.entries(figures)) {
        Plotly.purge(chart);
        const options = { displayModeBar: false };
        await Plotly.newPlot(chart, data, { ...layout, width, template, ...size }, options);
        found.push(...[...new Set(violations(width, name))].map((each) => `${name}: ${each}`));
    }
    return found;
};
"""


def holdings_of(details, values):
    """Return the holdings with made-up values."""
    return details.holdings.assign(value=values, currency="USD")


@pytest.fixture(scope="module")
def data_sets(service):
    """Return holdings and wallets by name; the wallets have long names, and owners."""
    with service.client(cache="memory") as client:
        usual = client.fetch(list(SHOWCASE), on_failure="ignore", progress=False)
    rows = value(usual.holdings)
    largest = rows.groupby("address", observed=True)["value"].sum().idxmax()
    whale = made_up_details(60, wallets=9, tokens=9)
    many = made_up_details(900, wallets=40, tokens=200)
    values = np.arange(1.0, 901)
    of_whale = holdings_of(whale, np.append([1e9], values[: len(whale.holdings) - 1]))
    symbols = many.holdings["symbol"].map("Receipt of the staking pool for liquidity {}".format)
    failed = fetched({str(each): "failed" for each in SHOWCASE})
    sets = {
        "usual": (rows, usual.wallets),
        "one wallet": (rows[rows["address"] == largest], usual.wallets),
        "whale": (of_whale, whale.wallets),
        "nothing priced": (rows.drop(columns=["value", "currency"]), usual.wallets),
        "all failed": (failed.holdings, failed.wallets),
        "long names": (holdings_of(many, values).assign(symbol=symbols), many.wallets),
    }
    return {name: (rows, with_names(wallets)) for name, (rows, wallets) in sets.items()}


def with_names(wallets):
    """Add the columns of names and owners."""
    numbers = range(len(wallets))
    names = [f"Legal escrow grants of the foundation {n}" for n in numbers]
    return wallets.assign(name=names, owner=[f"Owner {n % 4}" for n in numbers])


def changes_of(rows):
    """Return changes of amounts that are a third of them negative."""
    signs = np.where(np.arange(len(rows)) % 3, 1, -1)
    columns = ["blockchain", "address", "symbol", *TOKEN]
    return rows[columns].assign(
        before=rows["amount"], difference=rows["amount"] * signs, change="increased"
    )


def on_phone(figure):
    """Change a figure as the explorer does on a narrow page."""
    if figure.data:
        charts.pop_title_and_notes(figure)
        if figure.data[0].type == "treemap":
            figure.update_layout(height=400, margin=dict.fromkeys("tblr", 0))
        else:
            charts.move_labels_above_rows(figure)
    return figure


def figures_of(rows, wallets):
    """Yield the name and the figure of each kind of chart."""
    options = {"wallets": wallets}
    yield "bar", charts.bar(rows, **options)
    yield "bar by owner", charts.bar(rows, by="owner", **options)
    yield "facets", charts.bar(rows, facet="owner", **options)
    yield "treemap", charts.treemap(rows, **options)
    yield "treemap by owner", charts.treemap(rows, by=["owner", "asset"], **options)
    yield "sunburst", charts.sunburst(rows, **options)
    yield "sunburst by owner", charts.sunburst(rows, by=["owner", "asset"], **options)
    yield "heatmap", charts.heatmap(rows, **options)
    yield "bar on a phone", on_phone(charts.bar(rows, top=12, **options))
    yield "heatmap on a phone", on_phone(charts.heatmap(rows, top=15, top_tokens=5, **options))
    few = options | {"top": 80, "width": 400}
    yield "treemap on a phone", on_phone(charts.treemap(rows, **few))
    by_owner = charts.treemap(rows, by=["owner", "asset"], **few)
    yield "treemap by owner on a phone", on_phone(by_owner)
    times = pd.date_range("2026-01-03", periods=14, freq="7D", tz="UTC").as_unit("us")
    snapshots = rows.merge(pd.DataFrame({"snapshot": times}), how="cross")
    yield "timeline", charts.timeline(snapshots)
    yield "timeline of wallets", charts.timeline(snapshots, by="wallet")
    if len(rows):
        sizes = rows["value"] if "value" in rows else rows["amount"].notna()
        wallet = rows.loc[sizes.astype(float).fillna(0).idxmax(), ["blockchain", "address"]]
        yield "pie", charts.pie(rows, tuple(wallet), **options)
        contracts = rows[TOKEN[1]].astype(object).where(rows[TOKEN[1]].notna(), None)
        held = [*zip(rows[TOKEN[0]], contracts, strict=True)]
        token = max(held, key=held.count)
        yield "lorenz", charts.lorenz(rows, token=token, **options)
        mask = [each == token for each in held]
        yield "waterfall", charts.waterfall(changes_of(rows[mask]), **options)


@pytest.fixture(scope="module")
def figures(data_sets):
    """Return all figures by name, as plotly's JSON."""
    return {
        f"{kind}, {name}": json.loads(figure.to_json())
        for name, each in data_sets.items()
        for kind, figure in figures_of(*each)
    }


@pytest.fixture(scope="module")
def page(chromium):
    """Open a page that has plotly.js."""
    with chromium.new_context(viewport={"width": 1440, "height": 900}) as context:
        opened = Visit(context.new_page()).page
        opened.set_content("<!doctype html><body style='margin:0'><div id=chart></div>")
        opened.add_script_tag(content=get_plotlyjs())
        opened.add_script_tag(content=MEASURE)
        yield opened


@pytest.mark.parametrize("width, theme", LOOKS)
def test_charts_are_readable(page, figures, width, theme):
    """Plots have space, no text is cut or covers another one, and contrasts suffice."""
    drawn = {name: each for name, each in figures.items() if width == PHONE or "phone" not in name}
    template = json.loads(go.Figure(layout={"template": theme}).to_json())["layout"]["template"]
    found = page.evaluate("each => look(...each)", [drawn, width, template])
    assert not found, "\n".join(found)


def test_margins_have_space_for_labels_and_legends(page, figures):
    """Otherwise, plotly would draw each chart twice."""
    for name, figure in figures.items():
        if name.startswith(("bar", "facets", "heatmap")) and "phone" not in name:
            page.evaluate("each => look({ each }, 1024, each.layout.template)", figure)
            grown = page.evaluate("chart._fullLayout._size.b - chart.layout.margin.b")
            assert not grown, name


@pytest.mark.parametrize("width", [*range(780, 960, 20), 1120, 1280])
def test_each_box_has_a_name(page, figures, width):
    """No box but a small Other is without a name, between the usual widths, too."""
    kinds = "treemap", "sunburst"
    drawn = {name: each for name, each in figures.items() if name.startswith(kinds)}
    drawn = {name: each for name, each in drawn.items() if "phone" not in name}
    found = page.evaluate("each => look(...each)", [drawn, width, None])
    assert not [each for each in found if "blank tile" in each]


@pytest.mark.parametrize("width, height", [(900, 500), (1000, 600), (1400, 900)])
def test_texts_are_apart_at_a_fixed_size(page, data_sets, width, height):
    """The notes, a colour scale, and the headings of small charts cover no other text."""
    rows, wallets = data_sets["usual"]
    options = {"wallets": wallets, "top": 8}
    drawn = {"heatmap": charts.heatmap(rows, by="owner", **options, top_tokens=6)}
    drawn["facets"] = charts.bar(rows, by="blockchain", facet="owner", **options, top_tokens=4)
    drawn = {name: json.loads(each.to_json()) for name, each in drawn.items()}
    found = page.evaluate("each => look(...each)", [drawn, width, None, {"height": height}])
    assert not [each for each in found if ": overlap" in each or ": cut" in each]


def test_hover_texts_fit_on_a_phone(page, data_sets):
    """The hover text of each rectangle, with its contract and wallet, is inside the page."""
    rows, wallets = data_sets["usual"]
    drawn = json.loads(charts.treemap(rows, wallets=wallets, width=400).to_json())
    page.evaluate("each => look({ each }, 390, null)", drawn)
    widths = []
    for each in page.locator("g.slice").all():
        place = each.bounding_box()
        page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
        box = page.locator(".hoverlayer text.nums").bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= PHONE
        widths.append(box["width"])
    assert max(widths) > PHONE / 2


def test_saved_pictures_have_all_notes(data_sets, tmp_path):
    """Lines of notes are as wide as the picture; the figure and a subtitle of users are kept."""
    rows, wallets = data_sets["usual"]
    figure = charts.heatmap(rows, by="owner", wallets=wallets)
    before = json.loads(figure.to_json())
    assert any(" note" in each.text for each in figure.layout.annotations)
    figure.write_image(tmp_path / "bar.svg", width=1000)
    texts = {"file": (tmp_path / "bar.svg").read_text(encoding="utf-8")}
    texts["700"] = figure.to_image("svg").decode()
    assert json.loads(figure.to_json()) == before
    for svg in texts.values():
        words = " ".join(unescape(re.sub("<[^>]*>", " ", svg)).split())
        assert " ".join(figure.layout.meta["about"]) in words
        assert not re.search(r"\+\d+ notes?", words)
    counts = [svg.count('class="line"') for svg in texts.values()]
    assert counts[0] < counts[1]
    heights = [int(re.search(r'height="(\d+)"', svg)[1]) for svg in texts.values()]
    assert heights[1] - heights[0] == NOTE_HEIGHT * (counts[1] - counts[0])
    figure.update_layout(title_subtitle_text="Own words")
    assert "Own words" in figure.to_image("svg").decode()


@pytest.mark.parametrize("columns, is_whole", [(13, True), (16, False)])
def test_a_heatmap_omits_no_column_silently(page, data_sets, columns, is_whole):
    """On a phone, each column has its name, or a note says that some lack it."""
    rows, wallets = data_sets["long names"]
    figure = charts.heatmap(rows, wallets=wallets, top_tokens=columns)
    page.evaluate("each => look({ each }, 390, null)", json.loads(figure.to_json()))
    assert (page.locator(".xtick text").count() == columns + 1) == is_whole
    is_stated = "Narrow pages omit names of assets." in figure.layout.meta["about"]
    assert is_stated == (not is_whole)


def test_labels_of_rows_are_apart_in_a_lower_figure(page, data_sets):
    """At 0.8 of their own height, names of two lines and totals don't overlap."""
    rows, wallets = data_sets["long names"]
    figures = [charts.bar, partial(charts.bar, facet="owner"), charts.heatmap]
    for figure in [draw(rows, wallets=wallets) for draw in figures]:
        size, drawn = {"height": 0.8 * figure.layout.height}, json.loads(figure.to_json())
        found = page.evaluate("each => look(...each)", [{"low": drawn}, 1000, None, size])
        assert not [each for each in found if ": overlap" in each or ": cut" in each]


def test_many_small_charts_fit_a_low_figure(page, data_sets):
    """Labels of rows and headings of ten small charts don't overlap at half of the usual height."""
    rows, _ = data_sets["usual"]
    figure = charts.bar(rows, by="blockchain", facet="asset", top=24, top_tokens=2)
    assert figure.layout.height > 2 * 640
    drawn = {"facets": json.loads(figure.to_json())}
    found = page.evaluate("each => look(...each)", [drawn, 1000, None, {"height": 640}])
    assert not [each for each in found if ": overlap" in each or ": cut" in each]


@pytest.mark.parametrize("template", ["plotly", "seaborn", "simple_white", "ggplot2"])
def test_a_colour_scale_is_below_its_title(page, data_sets, template):
    """The ticks of a template don't move the scale."""
    rows, wallets = data_sets["usual"]
    figure = charts.heatmap(rows, wallets=wallets).update_layout(template=template)
    page.evaluate("each => Plotly.newPlot(chart, each)", json.loads(figure.to_json()))
    title = page.get_by_text("(logarithmic scale)").bounding_box()
    scale = page.locator(".cbfills").bounding_box()
    assert title["y"] + title["height"] <= scale["y"] + 2


@pytest.mark.parametrize("days, is_shown", [(6, True), (30, False)])
def test_bars_have_totals_if_there_is_space(page, data_sets, days, is_shown):
    """On a phone, the totals above six bars are visible, and the totals of many are hidden."""
    rows, _ = data_sets["usual"]
    times = pd.date_range("2026-01-03", periods=days, tz="UTC").as_unit("us")
    snapshots = rows.merge(pd.DataFrame({"snapshot": times}), how="cross")
    for options in ({}, {"facet": "blockchain"}):
        drawn = {"timeline": json.loads(charts.timeline(snapshots, **options).to_json())}
        found = page.evaluate("each => look(...each)", [drawn, PHONE, None])
        assert not [each for each in found if ": overlap" in each or ": cut" in each]
        shown = page.evaluate("[...chart.querySelectorAll('.bartext')].filter(isShown).length")
        assert shown >= days if is_shown else not shown
