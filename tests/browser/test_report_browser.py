"""Reports in a real browser: wide, on a phone and on paper; harmless, without requests."""

import io
from hashlib import sha256

import kaleido
import pandas as pd
import pytest
from addresses import A
from axe import violations
from chromium import Visit
from fetches import fetched, token
from hostile_symbols import SYMBOLS
from pypdf import PdfReader

import walletframe as wf
from walletframe.frames.details import WalletDetails
from walletframe.pandas_versions import TEXT

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
AMOUNTS = [2**256 - 1, 2_450_000_000_000_123, 1, 7_591_129_588_432_864_127_126_462, 3 * 10**18]
RICH = {
    f"{chain}.0x{owner:040x}": [
        token(f"TOKEN{place}", raw // owner, 18, contract=f"0x{place:040x}", blockchain=chain)
        for place, raw in enumerate([*AMOUNTS, *(10**19 + place for place in range(25))])
    ]
    for chain in ("ETH", "AVAX_CCHAIN", "BSC")
    for owner in range(1, 9)
}
EDGES = [360, 600, 601, 1056, 1057, 1600]  # the extremes, and the limits of layouts
BETWEEN = [390, 430, 540, 768, 900, 1200, 1280]
DRAWN = """() => [...document.querySelectorAll('.chart')]
    .filter(each => each.offsetParent).every(each => each.querySelector('.main-svg'))"""
BEYOND = """() => {
    const wide = document.documentElement.clientWidth, found = [];
    const beyond = (each, left, right) => {
        const box = each.getBoundingClientRect();
        return box.width && box.height && (box.left < left - 1 || box.right > right + 1);
    };
    for (const each of document.querySelectorAll('body, main, main :not(svg *)')) {
        const isHidden = getComputedStyle(each).position !== 'static';
        if (each.closest('thead, caption, .js-plotly-plot') && isHidden) continue;
        const style = getComputedStyle(each);
        if (beyond(each, 0, wide)) found.push(`beyond the page: ${each.outerHTML.slice(0, 200)}`);
        if (style.display !== 'inline' && each.scrollWidth > each.clientWidth + 1 &&
            !each.closest('thead, caption, .js-plotly-plot'))
            found.push(`cut or scrolled: ${each.outerHTML.slice(0, 200)}`);
    }
    for (const chart of document.querySelectorAll('.chart .svg-container')) {
        const box = chart.getBoundingClientRect();
        for (const text of chart.querySelectorAll('text'))
            if (beyond(text, box.left, box.right)) found.push(`off its chart: ${text.textContent}`);
        for (const bar of chart.querySelectorAll('.legend .scrollbar'))
            if (bar.getBoundingClientRect().height) found.push('a legend that scrolls');
    }
    return found;
}"""
COVERED = """() => [...document.querySelectorAll('.chart')].flatMap(chart => {
    const parts = '.xtick text, .ytick text, .xtitle, .ytitle, .legend, .annotation, .bars path';
    const boxes = [...chart.querySelectorAll(parts)].map(
        each => [each.textContent || 'bar', each.getBoundingClientRect()]);
    return boxes.flatMap(([name, box], n) => boxes.slice(n + 1).filter(([other, its]) =>
        !(name === 'bar' && other === 'bar') &&
        Math.min(box.right, its.right) - Math.max(box.left, its.left) > 1 &&
        Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top) > 3
    ).map(([other]) => `${chart.ariaLabel}: ${name} and ${other}`));
})"""
SPLIT = """() => {
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    const found = [], range = document.createRange();
    while (walker.nextNode()) {
        const node = walker.currentNode;
        if (node.parentElement.closest('script, svg, td.contract, td.wallet')) continue;
        for (const word of node.data.matchAll(/[A-Za-z]{2,15}/g)) {
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            if (range.getClientRects().length > 1) found.push(`${word[0]} in ${node.data}`);
        }
    }
    return found;
}"""
OPEN = "() => document.querySelectorAll('details').forEach(each => each.open = true)"
NUMBERS = """() => ['amount', 'difference', 'before', 'after'].flatMap(name =>
    [...document.querySelectorAll(`tr:nth-child(-n + 8) td.${name}`)].map(e => e.textContent))"""
WIDTHS = "() => [document.documentElement.scrollWidth, innerWidth]"


def wait_until_drawn(page):
    """Wait until all charts are drawn for the width of the page."""
    page.wait_for_function("width => seen === width", arg=page.viewport_size["width"])
    page.evaluate("() => drawn")  # a promise, which `wait_for_function` would not await
    assert page.evaluate(DRAWN)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Write a report in which all untrusted text is hostile."""
    details = fetched({**HOSTILE, f"BSC.{A}": "failed"}, service="sandbox")
    evil = SYMBOLS["end of script"]
    details.wallets["error"] = details.wallets["error"].mask(
        details.wallets["status"] == "failed", evil
    )
    before = fetched({next(iter(HOSTILE)): []}, service="sandbox")
    path = tmp_path_factory.mktemp("report") / "report.html"
    return wf.report(details, path, before=before, title=evil)


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """Write a report with values and changes, with the longest and the smallest amounts."""
    details = fetched({**RICH, f"BSC.{A}": "failed"})
    valued = details.holdings.assign(
        value=details.holdings["amount"].astype("float64").clip(upper=1e6)
    )
    before = fetched({wallet: held[:3] for wallet, held in RICH.items()})
    path = tmp_path_factory.mktemp("rich") / "report.html"
    return wf.report(details._replace(holdings=valued), path, before=before)


def of_sixty_wallets(factor):
    """Return the holdings of five owners, who hold 20 assets and some spam, at some prices."""
    chains, owners = ("ETH", "BSC", "POLYGON"), ["Operations", "Grants programme", "Ada", None]
    held = {
        f"{chains[number % 3]}.0x{number:040x}": [
            token(f"ASSET{place}", (number * place + 1) * factor**place * 10**9, 12,
                  contract=f"0x{place:040x}", blockchain=chains[number % 3])
            for place in range(number % 9 + 3)
        ]
        + [token("visit gift.com to claim", 10**30, contract="0xbad")]
        for number in range(60)
    }  # fmt: skip
    wallets, holdings = fetched({**held, "BSC.0xA": "failed", "ETH.0xA": "rate_limited"})
    owner = pd.Series([owners[number % 4] for number in range(len(wallets))], dtype=TEXT)
    return WalletDetails(
        wallets.assign(owner=owner, name=[f"wallet {number}" for number in range(len(wallets))]),
        holdings.assign(price=1234.5 * factor).wf.value(currency="USD"),
    )


@pytest.fixture(scope="module", params=["owner", "wallet"])
def sixty(tmp_path_factory, request):
    """Write a report on 60 wallets, with changes."""
    path = tmp_path_factory.mktemp("sixty") / "report.html"
    return wf.report(of_sixty_wallets(2), path, before=of_sixty_wallets(1), by=request.param)


@pytest.mark.parametrize("by", ["owner", "wallet"])
def test_sixty_wallets_of_the_sandbox_fill_few_sheets(tmp_path, service, by):
    """A PDF with changes has at most 4 pages, and the first page is mostly filled."""
    chains = ["ETH", "BSC", "POLYGON", "ARBITRUM", "OPTIMISM", "BASE"]
    asked = pd.DataFrame(
        {
            "blockchain": chains * 10,
            "address": [f"0x{sha256(str(n).encode()).hexdigest()[:40]}" for n in range(60)],
            "owner": ["Treasury", "Ada", "Grants", "Operations"] * 15,
            "name": [f"Wallet {n}" for n in range(60)],
        }
    )
    with service.client(cache="memory") as client:
        details = wf.fetch_wallets(asked, client=client, keep=["owner", "name"])
    details = details.wf.value(currency="USD")
    more = details.holdings.assign(amount=details.holdings["amount"] * 3)
    before = details._replace(holdings=more.wf.value(currency="USD"))
    pages = PdfReader(wf.report(details, tmp_path / "r.pdf", before=before, by=by)).pages
    assert len(pages) <= 4
    ends = []

    def add_end(text, cm, tm, *_):
        is_level = cm[1] == tm[1] == 0  # the watermark is slanted
        ends.extend([tm[5] * cm[3] + cm[5]] * (is_level and bool(text.strip())))

    text = pages[0].extract_text(visitor_text=add_end)
    height = float(pages[0].mediabox.height)
    lowest = min(end for end in ends if end > 0.06 * height)  # above the number of the page
    assert lowest < 0.3 * height, (lowest, height)
    assert text.count("Holdings by") == 2


def test_sixty_wallets_fit_the_limits(chromium, sixty):
    """6,000 pixels on a phone, one screen on a wide page, and 4 sheets of A4; no word is split."""
    for width, limit, scheme in ((390, 6_000, "light"), (1440, 1_300, "dark")):
        size = {"width": width, "height": 900}
        with chromium.new_context(viewport=size, color_scheme=scheme) as context:
            visit = Visit(context.new_page())
            visit.open(sixty)
            wait_until_drawn(visit.page)
            assert visit.page.evaluate("document.documentElement.scrollHeight") <= limit
            overview = visit.page.locator(".overview").bounding_box()
            assert width == 390 or overview["y"] + overview["height"] <= 900
            printed = PdfReader(io.BytesIO(visit.page.pdf(prefer_css_page_size=True)))
            assert len(printed.pages) <= 4
            visit.page.evaluate(OPEN)
            assert visit.page.evaluate(SPLIT) == [], width
            assert visit.page.evaluate(COVERED) == [], width
            assert visit.page.evaluate(BEYOND) == [], width


@pytest.fixture(scope="module", params=[1200, 390], ids=["wide", "phone"])
def opened(chromium, page, request):
    """Open the report on a screen of some width."""
    with chromium.new_context(viewport={"width": request.param, "height": 800}) as context:
        visit = Visit(context.new_page())
        visit.open(page)
        wait_until_drawn(visit.page)
        yield visit


def test_page_is_harmless_and_sends_no_request(opened):
    """No untrusted script ran, no untrusted link is there, and nothing was logged."""
    assert opened.page.evaluate(RAN) == 0
    assert opened.page.evaluate(STRANGE) == []
    assert (opened.outside_requests, opened.messages) == ([], [])


def test_page_fits_the_screen(opened):
    """Tables scroll in themselves, the page does not sideways; charts have its width."""
    wide, screen = opened.page.evaluate(WIDTHS)
    assert wide <= screen
    boxes = [each.bounding_box() for each in opened.page.locator(".chart .main-svg:visible").all()]
    assert boxes
    assert all(box["x"] + box["width"] <= screen for box in boxes)


@pytest.mark.parametrize("which", ["rich", "page"])
@pytest.mark.parametrize(
    "widths",
    [EDGES, pytest.param(BETWEEN, marks=pytest.mark.stress)],
    ids=["edges", "between"],
)
def test_everything_fits_at_any_width(chromium, request, which, widths):
    """From a small phone to a large screen, no text, table or chart overflows or overlaps."""
    with chromium.new_context(viewport={"width": widths[0], "height": 800}) as context:
        visit = Visit(context.new_page())
        visit.open(request.getfixturevalue(which))
        for width in widths:
            visit.page.set_viewport_size({"width": width, "height": 800})
            wait_until_drawn(visit.page)
            visit.page.evaluate(OPEN)
            assert visit.page.evaluate(BEYOND) == [], width
            assert visit.page.evaluate(COVERED) == [], width
            assert visit.page.evaluate(WIDTHS)[0] <= width


def test_numbers_are_complete(visit, rich):
    """Every digit of every printed amount is on the page and on paper, in one line if it fits."""
    visit.open(rich)
    wait_until_drawn(visit.page)
    visit.page.evaluate(OPEN)
    numbers = visit.page.evaluate(NUMBERS)
    assert any(len(number) > 70 for number in numbers)
    printed = PdfReader(io.BytesIO(visit.page.pdf(prefer_css_page_size=True)))
    text = "".join("".join(sheet.extract_text().split()) for sheet in printed.pages)
    assert [number for number in numbers if number not in text] == []
    lengths = visit.page.locator(".long").evaluate_all("all => all.map(e => e.innerText.length)")
    assert lengths
    assert min(lengths) > 30


def test_everything_fits_on_paper(visit, rich):
    """All content lies between the margins of A4."""
    visit.page.set_viewport_size({"width": 703, "height": 1000})
    visit.page.emulate_media(media="print")
    visit.open(rich)
    wait_until_drawn(visit.page)
    visit.page.evaluate("() => { dispatchEvent(new Event('beforeprint')); return drawn; }")
    result = visit.page.evaluate(BEYOND)
    assert [each for each in result if "watermark" not in each] == []


def test_page_is_accessible(opened):
    """One heading of the first level, tables with captions and scopes, charts with words."""
    assert opened.page.locator("h1").count() == 1
    tables = opened.page.locator("table")
    opened.page.evaluate(OPEN)
    assert tables.count() == opened.page.locator("table > caption").count() >= 3
    assert opened.page.locator("th:not([scope])").count() == 0
    charts = opened.page.locator(".chart")
    assert charts.count() == opened.page.locator(".chart[role=group][aria-label]").count() >= 2


def test_axe_finds_nothing(opened):
    """Charts are groups, whose children axe accepts."""
    assert violations(opened.page) == []


def test_charts_have_no_toolbar(opened):
    """It would cover the titles of axes, and could send the chart away."""
    assert opened.page.locator(".modebar-btn").count() == 0


def test_every_printed_page_is_marked_and_complete(visit, page):
    """Each page says that data are simulated; charts are not cut off at its edge."""
    visit.open(page)
    wait_until_drawn(visit.page)
    printed = PdfReader(io.BytesIO(visit.page.pdf(prefer_css_page_size=True)))
    texts = [sheet.extract_text() for sheet in printed.pages]
    assert len(texts) > 2
    assert all("Simulated data" in text for text in texts)
    assert (visit.outside_requests, visit.messages) == ([], [])


def test_charts_fit_the_paper(visit, page):
    """Before printing charts become as wide as the paper, and after it as wide as the screen."""
    visit.open(page)
    wait_until_drawn(visit.page)
    width = "document.querySelector('.chart .main-svg').getBoundingClientRect().width"
    before = visit.page.evaluate(width)
    visit.page.evaluate("() => { dispatchEvent(new Event('beforeprint')); return drawn; }")
    visit.page.emulate_media(media="print")
    assert visit.page.evaluate(width) == pytest.approx(340, abs=2)
    visit.page.emulate_media(media="screen")
    visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert visit.page.evaluate(width) == pytest.approx(before, abs=2)


def test_charts_as_pictures(tmp_path, visit):
    """A page without any script shows the charts, sends no request, and is small."""
    details = fetched(HOSTILE, service="sandbox")
    path = wf.report(details, tmp_path / "still.html", images="static")
    visit.open(path)
    sizes = visit.page.evaluate("() => [...document.images].map(each => each.naturalWidth)")
    assert sizes == [800, 800]
    assert visit.page.locator("script").count() == 0
    assert (visit.outside_requests, visit.messages) == ([], [])
    assert path.stat().st_size < 2_000_000


def test_a_pdf_file_is_the_printed_page(tmp_path):
    """With its charts as text, on at most 4 sheets, marked as simulated."""
    details = of_sixty_wallets(2)
    details = details._replace(wallets=details.wallets.assign(service="sandbox"))
    path = wf.report(details, tmp_path / "report.pdf", title="Team wallets")
    texts = [page.extract_text() for page in PdfReader(path).pages]
    assert 2 <= len(texts) <= 4
    assert all("Simulated data" in text for text in texts)
    of_print = "54 of 62 rows are not printed."  # of the wallets, of which a page shows 25
    titles = ("Team wallets", "Grants programme", "Holdings by asset", "Sources and methods")
    for text in (*titles, of_print):
        assert any(text in each for each in texts), text
    assert not any("not shown" in each for each in texts)
    assert "value in USD" in texts[0]  # the title of an axis


def test_the_users_own_kaleido_stays_open(tmp_path):
    """A report with pictures does not close it."""
    kaleido.start_sync_server(page_generator=kaleido.PageGenerator(mathjax=False))
    try:
        wf.report(fetched(HOSTILE), tmp_path / "still.html", images="static")
    finally:
        kaleido.stop_sync_server()  # it warns when it is closed, which is an error here
