"""A real browser, headless, that reaches this machine alone and remembers what it was asked.

Imported by ``conftest``, so that any test may take `visit`, a fresh tab, or `stay`, in which a
library of megabytes is loaded once. It needs Debian's chromium, which Playwright drives: where that
is missing the tests are skipped, and fail with WF_TEST_NO_SKIP.
"""

import os
import shutil
from urllib.parse import urlsplit

import pytest

FLAGS = [
    "--no-sandbox",  # as root, in a container
    "--disable-gpu",
    # Who hears of a page's errors, as this driver does, has each function on the way to one read
    # twice: half a second for plotly.js, which nobody waits for without a driver.
    "--js-flags=--no-enable-lazy-source-positions",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--proxy-server=127.0.0.1:9",  # nobody listens; this machine itself is asked without it
]
SIZE = {"width": 960, "height": 720}
PATIENCE_MS = 100_000  # other work on the machine may take most of it
_MISSING = "no browser: apt-get install chromium (.ci/run does it, and skips nothing)"


class Visit:
    """One tab, and what went on in it.

    Parameters
    ----------
    page : playwright.sync_api.Page
        The tab.

    Attributes
    ----------
    page : playwright.sync_api.Page
        The same.
    strayed : list of str
        Addresses beyond this machine that were asked for; none was reached.
    said : list of str
        Warnings and errors of the console, uncaught errors and dialogs.
    """

    def __init__(self, page):
        self.page, self.strayed, self.said = page, [], []
        page.set_default_timeout(PATIENCE_MS)
        page.on("request", self._look)  # a route would do without the browser's cache
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("dialog", self._dismiss)

    def open(self, address):
        """Go to an address, a file's path or a URL of this machine."""
        self.page.goto(address.as_uri() if hasattr(address, "as_uri") else address)

    def forget(self):
        """Look as at first, and know nothing of what went on."""
        self.page.set_viewport_size(SIZE)
        self.page.emulate_media(color_scheme="light")
        self.strayed.clear()
        self.said.clear()

    def _look(self, request):
        url = urlsplit(request.url)
        is_here = url.hostname in {"127.0.0.1", "localhost", "::1"}
        if url.scheme not in {"file", "data", "blob", "about"} and not is_here:
            self.strayed.append(request.url)

    def _listen(self, message):
        if message.type in {"warning", "error"}:
            self.said.append(f"{message.type}: {message.text}")

    def _dismiss(self, dialog):
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def require_chromium():
    """Return the browser's file; skip loudly where there is none, fail where nothing may be."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        if "WF_TEST_NO_SKIP" in os.environ:
            pytest.fail(_MISSING)
        pytest.skip(_MISSING)
    return path


@pytest.fixture(scope="module")
def chromium():
    """Give a browser to a module; Playwright's loop would be in the way of others'."""
    path = require_chromium()
    from playwright.sync_api import expect, sync_playwright  # noqa: PLC0415 - slow to load

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Give a fresh tab, its own cookies and storage included."""
    with chromium.new_context(viewport=SIZE) as context:
        yield Visit(context.new_page())


@pytest.fixture(scope="module")
def lasting_tab(chromium):
    """Give one tab to a module."""
    with chromium.new_context(viewport=SIZE) as context:
        yield Visit(context.new_page())


@pytest.fixture
def stay(lasting_tab):
    """Give the module's tab, which `BarePage` empties, but for plotly.js."""
    lasting_tab.forget()
    return lasting_tab
