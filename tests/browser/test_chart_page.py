"""The chart of a widget in a real browser: drawn in place, clicked, in the page's colours."""

import re
from urllib.parse import unquote

import bare_page
import pytest
from addresses import B
from bare_page import BarePage
from chart_widget import ChartWidget
from fetches import failed
from hostile_symbols import hostile_holdings
from playwright.sync_api import expect

from walletframe.analysis.selection import Selection
from walletframe.frames.assembly import assemble
from walletframe.frames.details import WalletDetails
from walletframe.frames.schema import HOLDING_DTYPES
from walletframe.pickers.chart import CHARTS
from walletframe.service import SHOWCASE

HARMFUL = """() => [window.__ran || 0, ...document.querySelectorAll(
    'main :is(a, img, script, iframe, object, embed, foreignObject)')]
    .filter(Boolean).map((each) => each.outerHTML || each)"""
SIZES = """() => [...document.querySelectorAll('main :is(text, p, span, button, select, li, h3)')]
    .filter((each) => each.textContent.trim() && each.getBoundingClientRect().height > 1)
    .filter((each) => getComputedStyle(each).visibility !== 'hidden')
    .map((each) => {
        const box = each.getCTM?.() ?? { a: 1, b: 0 };
        return parseFloat(getComputedStyle(each).fontSize) * Math.hypot(box.a, box.b);
    })"""
NODES = ".js-plotly-plot g.slice"
MARK = "document.querySelector('.js-plotly-plot').marked = true"
MARKED = "document.querySelector('.js-plotly-plot').marked === true"
LIBRARIES = "[...globalThis[Symbol.for('walletframe.plotly')].keys()]"


@pytest.fixture(scope="module")
def details(service):
    """Fetch the showcase."""
    with service.client(cache="memory") as client:
        return client.fetch(list(SHOWCASE), on_failure="ignore", progress=False)


@pytest.fixture
def shown(shared_tab, details):
    """Show the chart, and wait until it is drawn."""
    widget = ChartWidget(details)
    BarePage(shared_tab.page, widget)
    expect(shared_tab.page.locator(NODES).first).to_be_visible()
    yield widget
    widget.close()


def choose(page, label, name):
    """Choose from a list, and wait until the page shows it."""
    page.get_by_role("combobox", name=label, exact=True).select_option(name)
    expect(page.locator("[aria-busy]")).to_have_count(0)


def errors(visit):
    """Return the page's errors."""
    return [message for message in visit.messages if not message.startswith("warning")]


def test_it_opens_on_values_with_one_note(shared_tab, shown):
    """The summary has the value and the source of its prices; the chart one line, and a fold."""
    page = shared_tab.page
    assert page.get_by_text("the service's prices, currency not stated").count() == 1
    expect(page.locator(".wf-chart-title")).to_have_text("Holdings by blockchain, wallet and asset")
    assert page.locator(".wf-chart-line").bounding_box()["height"] < 30
    expect(page.get_by_role("group").get_by_role("listitem").first).not_to_be_visible()
    page.get_by_text("About this chart").click()
    expect(page.get_by_text("Not counted: 2 of 14 wallets unknown")).to_be_visible()
    assert page.locator("select").first.evaluate("each => each.value") == "Treemap"
    assert (shared_tab.outside_requests, errors(shared_tab), shown._alert) == ([], [], "")


@pytest.mark.parametrize("chart", CHARTS)
def test_charts_are_drawn_in_place(shared_tab, shown, chart):
    """One plot draws all charts; text is readable, and no other host gets a request."""
    page = shared_tab.page
    page.evaluate(MARK)
    choose(page, "Chart", chart)
    assert page.evaluate(MARKED)
    assert page.locator(".js-plotly-plot").count() == 1
    assert min(page.evaluate(SIZES)) > 10.9
    shapes = 1 if chart == "Pie of a wallet" else 4  # the largest wallet has one visible slice
    assert page.locator(".js-plotly-plot svg :is(path, image)").count() >= shapes
    assert (shared_tab.outside_requests, errors(shared_tab)) == ([], [])


def test_a_click_picks_and_the_path_leads_back(shared_tab, shown):
    """A box picks its token in its wallet, a band its wallet; a crumb takes all back."""
    page = shared_tab.page
    page.locator(f"{NODES} .slicetext", has_text="USDC").first.click(force=True)
    expect(page.get_by_role("navigation")).to_contain_text("USDC")
    assert len(shown.view.selection.tokens) == 1
    assert shown.view.selection.wallets == ("BSC.0x" + "1" * 40,)
    page.get_by_role("button", name="All").click()
    page.locator(f"{NODES} .slicetext", has_text="0x1111").first.click(force=True)
    expect(page.get_by_role("navigation")).to_contain_text("BSC.0x1111…1111")
    assert shown.view.selection == Selection(wallets=("BSC.0x" + "1" * 40,))
    page.get_by_role("button", name="All").click()
    expect(page.get_by_role("navigation")).to_have_count(0)
    assert shown.view.selection == Selection()


def test_legends_and_cells_pick(shared_tab, shown):
    """A token by its entry, which hides nothing; a wallet and a token by a cell."""
    page = shared_tab.page
    choose(page, "Chart", "Bars")
    page.locator(".legendtoggle").first.click()
    expect(page.get_by_role("navigation")).to_be_visible()
    assert (len(shown.view.selection.tokens), shown.view.selection.wallets) == (1, ())
    page.get_by_role("button", name="All").click()
    choose(page, "Chart", "Heatmap")
    box = page.locator(".heatmaplayer image").bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    for step in range(40):
        page.mouse.click(box["x"] + 8 + step * box["width"] / 40, box["y"] + 8)
        page.wait_for_timeout(50)  # plotly reads the pointer's position no more often
        expect(page.locator("[aria-busy]")).to_have_count(0)
        if shown.view.selection.tokens:
            break
    assert (len(shown.view.selection.tokens), len(shown.view.selection.wallets)) == (1, 1)


def test_one_menu_has_spam_dust_and_bridged_versions(shared_tab, shown):
    """Its buttons say what they do and to how many, and work by the keyboard."""
    page = shared_tab.page
    page.get_by_role("button", name="Included").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Show 10 spam tokens").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Hide 10 spam tokens")).to_be_focused()
    assert shown.view.selection.spam is None  # all is shown
    page.get_by_role("button", name=re.compile("Hide . balances below 1.00")).click()
    expect(page.get_by_role("button", name=re.compile("Show . balances below"))).to_be_visible()
    assert shown.view.selection.small == 1
    page.get_by_role("button", name=re.compile(r"Combine \d+ bridged versions")).click()
    expect(page.get_by_role("button", name=re.compile("Separate"))).to_be_visible()
    assert shown.view.drawn_chart().arguments["bridged"]
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Included")).to_be_focused()
    page.get_by_role("button", name="Included").click()
    page.mouse.click(5, 400)
    expect(page.get_by_role("button", name=re.compile("spam"))).to_have_count(0)


def test_zoom_is_kept_while_the_view_is_unchanged(shared_tab, shown):
    """A picture that is requested again is the same, at any zoom."""
    page = shared_tab.page
    choose(page, "Chart", "Heatmap")
    ranges = "document.querySelector('.js-plotly-plot').layout.xaxis.range"
    box = page.locator(".heatmaplayer image").bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 100, box["y"] + 60, steps=5)
    page.mouse.up()
    page.wait_for_function(f"{ranges}?.[1] - {ranges}?.[0] < 8")
    before = page.evaluate(ranges)
    shown.send({"kind": "changed"})
    page.evaluate("models[0].send({ kind: 'none' })")
    expect(page.locator("[aria-busy]")).to_have_count(0)
    assert page.evaluate(ranges) == before


def test_widgets_of_a_page_share_plotly(visit, details):
    """It is sent once, and the page's own Plotly is unchanged."""
    first, second = ChartWidget(details), ChartWidget(details)
    sent = []
    for widget in (first, second):
        handler = widget._handlers["plotly"]
        widget._handlers["plotly"] = lambda requested, handler=handler: (
            sent.append(1) or handler(requested)
        )
    visit.page.evaluate("window.Plotly = 'of the page'")
    BarePage(visit.page, first, second)
    expect(visit.page.locator(".js-plotly-plot .slice").first).to_be_visible()
    expect(visit.page.locator(".js-plotly-plot")).to_have_count(2)
    assert sent == [1]
    assert len(visit.page.evaluate(LIBRARIES)) == 1
    assert visit.page.evaluate("window.Plotly") == "of the page"
    first.close()
    second.close()


def test_colours_follow_the_page(shared_tab, shown):
    """Text becomes light on dark, or dark on light, at once."""
    page = shared_tab.page
    choose(page, "Chart", "Lorenz curve")
    fill = "getComputedStyle(document.querySelector('.xtick text')).fill"
    for scheme, is_light in (("dark", True), ("light", False)):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"(+/\\d+/.exec({fill})[0] > 128) === {str(is_light).lower()}")
    # Drawn while colours change, too.
    page.evaluate(
        "document.body.dataset.jpThemeLight = 'false';"
        "getComputedStyle(document.querySelector('.wf-unseen')).color;"
        "const list = document.querySelector('.wf-choice select'); list.value = 'Heatmap';"
        "list.dispatchEvent(new Event('change', { bubbles: true }))"
    )
    page.wait_for_function(f"+/\\d+/.exec({fill})[0] > 128")
    page.wait_for_function("document.querySelector('.js-plotly-plot').data[0].reversescale")
    assert shared_tab.messages == []


def test_hidden_changes_are_drawn_on_return(shared_tab, shown):
    """A notebook removes distant cells from the page: nothing there has a size or colour."""
    page = shared_tab.page
    page.evaluate("window.away = document.querySelector('main'); away.remove()")
    page.evaluate(
        "const list = away.querySelector('.wf-choice select'); list.value = 'Heatmap';"
        "list.dispatchEvent(new Event('change', { bubbles: true }))"
    )
    page.wait_for_function("() => away.textContent.includes('logarithmic scale')")
    page.evaluate("document.body.append(away)")
    color = page.evaluate("getComputedStyle(away.querySelector('h3')).color")
    expect(page.locator(".ytick text").first).to_have_css("fill", color)
    assert shared_tab.messages == []


@pytest.mark.parametrize("width", [360, 600, 900, 1600])
def test_it_fits_any_page(shared_tab, shown, width):
    """Nothing extends beyond the side of a narrow page."""
    page = shared_tab.page
    page.set_viewport_size({"width": width, "height": 800})
    for chart in CHARTS:
        choose(page, "Chart", chart)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        plot = page.locator(".js-plotly-plot .main-svg").first.bounding_box()
        assert plot["x"] + plot["width"] <= width


def test_hostile_symbols_are_text(shared_tab):
    """Symbols are text in every chart, its words, its path and under the pointer."""
    frame = hostile_holdings().reindex(columns=list(HOLDING_DTYPES)).astype(HOLDING_DTYPES)
    details = WalletDetails(assemble([failed(B)]).wallets, frame.assign(price=1.0))
    widget, page = (
        ChartWidget(details, prepare=lambda holdings: holdings.assign(is_spam=False)),
        shared_tab.page,
    )
    BarePage(page, widget)
    expect(page.locator(NODES).first).to_be_visible()
    for chart in CHARTS:
        choose(page, "Chart", chart)
        assert page.evaluate(HARMFUL) == []
    for token in widget.view.data.held.tokens.keys[:10]:
        widget.view.selection = Selection(tokens=(token,))
        choose(page, "Chart", "Treemap")
        choose(page, "Chart", "Bars")
        assert page.evaluate(HARMFUL) == []
    assert (shared_tab.outside_requests, errors(shared_tab), widget._alert) == ([], [], "")
    widget.close()


def test_no_eval_is_needed(visit, details, monkeypatch):
    """Charts are drawn under a policy that forbids eval, and all hosts but this one."""
    widget, page = ChartWidget(details), visit.page
    policy = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; "
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}img-src data: blob:">'
    monkeypatch.setattr(bare_page, "PAGE", bare_page.PAGE.replace("<head>", f"<head>{meta}"))
    BarePage(page, widget)
    expect(page.locator(NODES).first).to_be_visible()
    for chart in CHARTS:
        choose(page, "Chart", chart)
    assert not [message for message in visit.messages if "Content Security" in message]
    widget.close()


def test_a_closed_widget_leaves_nothing_behind(shared_tab, shown):
    """No element is left, and no plot with listeners."""
    shared_tab.page.evaluate("models[0].end()")
    expect(shared_tab.page.locator(".wf")).to_have_count(0)
    shared_tab.page.set_viewport_size({"width": 500, "height": 700})
    shared_tab.page.emulate_media(color_scheme="dark")
    assert (shared_tab.outside_requests, errors(shared_tab)) == ([], [])


def test_a_chart_can_be_downloaded(shared_tab, shown):
    """A picture has the chart's title, notes and background."""
    page = shared_tab.page
    for form, begins in (("png", "data:image/png;base64,"), ("svg", "data:image/svg+xml,")):
        image = page.evaluate("form => document.querySelector('.wf').chart.exportImage(form)", form)
        assert image.startswith(begins)
        if form == "svg":
            text = re.sub("<[^>]*>", " ", unquote(image))
            for part in ("Holdings by blockchain", "Simulated data.", "2 of 14 wallets", "UTC."):
                assert part in text
            assert "Areas show the value" in text
