"""Reports in a real browser: wide, on a phone and on paper; harmless, and silent to the world."""

import io

import pytest
from browser import Visit
from fetched import fetched, token
from hostile import SYMBOLS
from pypdf import PdfReader

import walletframe as wf

HOSTILE = {
    f"ETH.0x{owner:040x}": [
        token(symbol, 10**18 * (place + owner), 18, contract=f"0x{place:038x}<a href='//evil'>")
        for place, symbol in enumerate(SYMBOLS.values(), start=1)
    ]
    for owner in range(1, 4)
}
RAN = "() => window.__ran || 0"
STRANGE = """() => [...document.querySelectorAll('main :is(img, iframe, object, svg a, a)')]
    .filter(each => !/^(#|https:\\/\\/explorer\\.example\\/)/.test(each.getAttribute('href')))
    .map(each => each.outerHTML)"""
WIDTHS = "() => [document.documentElement.scrollWidth, innerWidth]"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Give a report in which all that strangers can write is hostile."""
    details = fetched({**HOSTILE, "BSC.0xA": "failed"}, service="sandbox")
    evil = SYMBOLS["end of script"]
    details.wallets["error"] = details.wallets["error"].mask(
        details.wallets["status"] == "failed", evil
    )
    before = fetched({next(iter(HOSTILE)): []}, service="sandbox")
    path = tmp_path_factory.mktemp("report") / "report.html"
    return wf.report(details, path, before=before, title=evil)


@pytest.fixture(scope="module", params=[1200, 390], ids=["wide", "phone"])
def opened(chromium, page, request):
    """Give the report as opened on a screen of some width."""
    with chromium.new_context(viewport={"width": request.param, "height": 800}) as context:
        visit = Visit(context.new_page())
        visit.open(page)
        visit.page.wait_for_function(
            "document.querySelectorAll('.chart .g-gtitle').length"
            " == document.querySelectorAll('.chart').length"
        )
        yield visit


def test_page_is_harmless_and_silent(opened):
    """No script of a stranger ran, no link of theirs is there, nothing was asked for or said."""
    assert opened.page.evaluate(RAN) == 0
    assert opened.page.evaluate(STRANGE) == []
    assert (opened.strayed, opened.said) == ([], [])


def test_page_fits_the_screen(opened):
    """Tables scroll in themselves, the page does not to the side; charts are as wide as it."""
    wide, screen = opened.page.evaluate(WIDTHS)
    assert wide <= screen
    boxes = [each.bounding_box() for each in opened.page.locator(".chart .main-svg").all()]
    assert boxes
    assert all(box["x"] + box["width"] <= screen for box in boxes)


def test_page_can_be_heard(opened):
    """One heading of the first level, tables with captions and scopes, charts with words."""
    assert opened.page.locator("h1").count() == 1
    tables = opened.page.locator("table")
    assert tables.count() == opened.page.locator("table > caption").count() >= 3
    assert opened.page.locator("th:not([scope])").count() == 0
    charts = opened.page.locator(".chart")
    assert charts.count() == opened.page.locator(".chart[role=img][aria-label]").count() >= 2


def test_page_has_no_button_that_uploads(opened):
    """Of plotly's buttons none sends the chart away."""
    titles = opened.page.locator(".modebar-btn").evaluate_all(
        "all => all.map(each => each.dataset.title || '')"
    )
    assert titles
    assert not [title for title in titles if "cloud" in title.lower() or "edit" in title.lower()]


def test_every_printed_page_is_marked_and_whole(visit, page):
    """Paper says on each page that data are simulated; charts are not cut off at its edge."""
    visit.open(page)
    visit.page.wait_for_selector(".chart .g-gtitle")
    printed = PdfReader(io.BytesIO(visit.page.pdf(prefer_css_page_size=True)))
    texts = [sheet.extract_text() for sheet in printed.pages]
    assert len(texts) > 2
    assert all("Simulated data" in text for text in texts)
    assert (visit.strayed, visit.said) == ([], [])


def test_charts_fit_the_paper(visit, page):
    """Before printing charts become as wide as the paper, and after it as wide as the screen."""
    visit.open(page)
    visit.page.wait_for_selector(".chart .g-gtitle")
    width = "document.querySelector('.chart .main-svg').getBoundingClientRect().width"
    before = visit.page.evaluate(width)
    visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert visit.page.evaluate(width) == pytest.approx(862, abs=2)
    visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert visit.page.evaluate(width) == pytest.approx(before, abs=2)


def test_charts_as_pictures(tmp_path, visit):
    """A page without any script shows what was drawn, asks for nothing, and is light."""
    details = fetched(HOSTILE, service="sandbox")
    path = wf.report(details, tmp_path / "still.html", images="static")
    visit.open(path)
    sizes = visit.page.evaluate("() => [...document.images].map(each => each.naturalWidth)")
    assert len(sizes) >= 2
    assert min(sizes) == 1920
    assert visit.page.locator("script").count() == 0
    assert (visit.strayed, visit.said) == ([], [])
    assert path.stat().st_size < 2_000_000
