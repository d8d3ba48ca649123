"""The documentation: built without a warning, complete, and readable without a network."""

import os
import re
import subprocess
import sys
import zlib
from collections import Counter
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from urllib.parse import quote

import pytest
from axe import violations
from playwright.sync_api import expect
from test_docstrings import REACHABLE
from traitlets import HasTraits

import walletframe as wf

pytestmark = pytest.mark.site

ROOT = Path(__file__).parents[2]
RENDERERS = ROOT / "docs" / "howto" / "renderers.md"
CHART = """import pandas as pd, walletframe
held = {"blockchain": ["ETH"], "address": ["0x2"], "amount": pd.array([1], dtype="amount")}
held |= {"symbol": ["A"], "token_blockchain": ["ETH"], "token_address": ["0x1"]}
pd.DataFrame(held).wf.plot.treemap()"""
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "srcset", "link": "href"}
"""What a page loads by itself; of links, those that are no mere relation."""
RELATIONS = {"search", "next", "prev", "index", "author", "canonical"}
SEARCHED = re.compile("finished|did not match")
TARGETS = "links => links.map(link => link.getAttribute('href').split(/[?#]/)[0])"
LOOKED_AT = ("index", "tutorials/08-whose-holdings", "howto/index", "reference/details")


class Page(HTMLParser):
    """A page's resources, its links, and its pictures without text."""

    def __init__(self, path):
        super().__init__()
        self.loads, self.leads, self.textless = [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Record an element's references."""
        result = dict(attrs)
        if tag == "a" and result.get("href"):
            self.leads.append(result["href"])
        if tag == "img" and not result.get("alt"):
            self.textless.append(result.get("src"))
        if tag in LOADS and result.get("rel") not in RELATIONS:
            self.loads.append(result.get(LOADS[tag]))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site as `hatch run docs` does; a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    options = ["-q", "-n", "-W", "--keep-going", "-j", "2", "-d", str(folder / "trees")]
    command = [sys.executable, "-m", "sphinx", *options, "docs", str(folder / "html")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site):
    """Read all pages."""
    static = site / "_static"  # Sphinx's and the theme's templates are no pages
    return {path: Page(path) for path in site.rglob("*.html") if static not in path.parents}


@pytest.fixture(scope="module")
def address(site):
    """Serve the site on this machine."""
    handler = partial(SimpleHTTPRequestHandler, directory=site)
    handler.func.log_message = lambda *_: None
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_pages_load_nothing_from_elsewhere(pages):
    """Every script, style, font and picture is a file of the site."""
    for path, page in pages.items():
        for each in filter(None, page.loads):
            if not each.startswith("data:"):
                target = path.parent / each.partition("?")[0]
                assert target.is_file(), f"{path.name} loads {each}"


def test_styles_load_nothing_from_elsewhere(site):
    """Neither do the style sheets."""
    for path in site.rglob("*.css"):
        result = re.findall(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)", path.read_text())
        odd = [each for pair in result for each in pair if re.match(r"https?:|//", each)]
        assert odd == [], path.name


def test_links_lead_somewhere(pages):
    """A link to a page of the site names one that is there."""
    for path, page in pages.items():
        for each in page.leads:
            if not re.match(r"[a-z]+:|#|//", each):
                target = (path.parent / each.partition("#")[0]).resolve()
                assert target.is_file(), f"{path.name} leads to {each}"


def test_pictures_have_text(pages):
    """Every picture has an alternative text."""
    assert {path.name: page.textless for path, page in pages.items() if page.textless} == {}


def test_reference_is_complete(site):
    """Every public name has its place, and so has all that users reach, and nothing else."""
    inventory = (site / "objects.inv").read_bytes()
    lines = zlib.decompress(inventory.split(b"zlib.\n", 1)[1]).decode().splitlines()
    described = Counter(line.split()[0].rpartition(".")[2] for line in lines if " py:" in line)
    assert described.keys() & {*vars(HasTraits), *vars(BaseException)} == set()
    names = {
        *wf.__all__,
        *wf.errors.__all__,
        *wf.history.__all__,
        *(thing.__name__ for thing in REACHABLE),
    }
    modules = {name for name in names if isinstance(getattr(wf, name, None), ModuleType)}
    assert names - modules - described.keys() == set()


def test_charts_show(address, visit):
    """A notebook's figures are drawn, without its kernel and without another host."""
    visit.open(f"{address}/tutorials/08-whose-holdings.html")
    visit.page.locator(".treemaplayer .slice").first.wait_for()
    assert visit.page.locator(".js-plotly-plot .main-svg").count() >= 2
    assert visit.outside_requests == []


def test_charts_show_in_pages_of_nbconvert(tmp_path, visit):
    """The renderer of the how-to draws them, without another host's scripts."""
    import nbformat  # noqa: PLC0415 - slow to load

    assert "PLOTLY_RENDERER=notebook jupyter nbconvert" in RENDERERS.read_text(encoding="utf-8")
    cells = [nbformat.v4.new_code_cell(CHART)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "report.ipynb")
    convert = ["-m", "nbconvert", "--to", "html", "--execute", "report.ipynb"]
    subprocess.run(
        [sys.executable, *convert],
        cwd=tmp_path,
        env=os.environ | {"PLOTLY_RENDERER": "notebook"},
        capture_output=True,
        check=True,
    )
    visit.open(tmp_path / "report.html")
    visit.page.locator(".treemaplayer .slice").first.wait_for()


SOUGHT = {
    "howto/answers": ["subtotal"],
    "howto/assets": ["USDC"],
    "howto/charts": ["dark mode"],
    "howto/cluster": ["Dask"],
    "howto/excel": ["Excel", "how do I export to Excel"],
    "howto/files": ["DuckDB", "polars"],
    "howto/history": ["cron", "snapshot cron"],
    "howto/keys": [
        "API key",
        "private key",
        "environment variable",
        "proxy",
        "rate limit",
        "retry",
        "timeout",
    ],
    "howto/labels": ["group by owner"],
    "howto/lists": ["ENS"],
    "howto/many-wallets": ["resume"],
    "howto/prices": ["how do I add my own prices"],
    "howto/resume": ["cache lifetime", "expiry", "TTL", "how do I refresh"],
    "howto/spam": ["airdrop"],
    "howto/team": ["multiprocessing", "Redis"],
    "howto/testing": ["mock", "fixture", "how do I test without a key"],
    "howto/where": ["Colab"],
    "reference/api/walletframe.fetch_to_parquet": ["fetch_to_parquet"],
    "tutorials/02-exact-amounts": ["dtype", "decimals"],
}
"""The page that has to be among the first three of a search, by what people type."""


def test_search_finds(address, visit):
    """Words are found by the site's own index, which needs no network."""
    missed = {}
    for page, queries in SOUGHT.items():
        for query in queries:
            visit.open(f"{address}/search.html?q={quote(query)}")
            expect(visit.page.locator(".search-summary")).to_have_text(SEARCHED)
            links = visit.page.locator("ul.search > li > a").evaluate_all(TARGETS)
            if f"{page}.html" not in links[:3]:
                missed[query] = links[:3]
    assert missed == {}
    assert visit.outside_requests == []


@pytest.mark.parametrize("scheme, width", [("light", 390), ("dark", 390), ("light", 1280)])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_pages_are_accessible(address, visit, name, scheme, width):
    """On a phone, in the dark and on a desk: axe finds no fault, and nothing is too wide."""
    visit.page.emulate_media(color_scheme=scheme)
    visit.page.set_viewport_size({"width": width, "height": 844})
    visit.open(f"{address}/{name}.html")
    visit.page.wait_for_selector(f"html[data-theme={scheme}]")
    assert violations(visit.page, "body") == []
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.outside_requests == []
