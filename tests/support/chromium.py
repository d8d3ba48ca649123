"""A headless browser that reaches only this machine, and records its requests.

``conftest`` imports the fixtures: `visit` is a new tab, and `shared_tab` is one tab per module,
which loads plotly.js only once. Playwright drives Debian's chromium. Without chromium, tests are
skipped, or fail if WF_TEST_NO_SKIP is set.
"""

import os
import shutil
from urllib.parse import urlsplit

import pytest

FLAGS = [
    "--no-sandbox",  # as root, in a container
    "--disable-gpu",
    # Since Playwright listens to errors, V8 would parse each function on an error's stack twice.
    # For plotly.js, this takes half a second, but only in tests.
    "--js-flags=--no-enable-lazy-source-positions",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--proxy-server=127.0.0.1:9",  # the port is closed; this machine is reached without a proxy
]
SIZE = {"width": 960, "height": 720}
PATIENCE_MS = 100_000  # a busy machine may need most of it
_MISSING = "no browser: apt-get install chromium (.ci/run does it, and skips nothing)"


class Visit:
    """One tab, and its records.

    Parameters
    ----------
    page : playwright.sync_api.Page
        The tab.

    Attributes
    ----------
    page : playwright.sync_api.Page
        The tab.
    outside_requests : list of str
        The requested URLs of other machines. None of these was reached.
    messages : list of str
        Warnings and errors of the console, uncaught errors and dialogs.
    """

    def __init__(self, page):
        self.page, self.outside_requests, self.messages = page, [], []
        page.set_default_timeout(PATIENCE_MS)
        page.on("request", self._look)  # a route would disable the browser's cache
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self.messages.append(f"error: {error}"))
        page.on("dialog", self._dismiss)

    def open(self, address):
        """Go to an address, a file's path or a URL of this machine."""
        self.page.goto(address.as_uri() if hasattr(address, "as_uri") else address)

    def forget(self):
        """Reset the tab's size and colours, and drop the records."""
        self.page.set_viewport_size(SIZE)
        self.page.emulate_media(color_scheme="light")
        self.outside_requests.clear()
        self.messages.clear()

    def _look(self, request):
        url = urlsplit(request.url)
        is_here = url.hostname in {"127.0.0.1", "localhost", "::1"}
        if url.scheme not in {"file", "data", "blob", "about"} and not is_here:
            self.outside_requests.append(request.url)

    def _listen(self, message):
        if message.type in {"warning", "error"}:
            self.messages.append(f"{message.type}: {message.text}")

    def _dismiss(self, dialog):
        self.messages.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def require_chromium():
    """Return chromium's path. Without chromium, skip the test, or fail (WF_TEST_NO_SKIP)."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        if "WF_TEST_NO_SKIP" in os.environ:
            pytest.fail(_MISSING)
        pytest.skip(_MISSING)
    return path


@pytest.fixture(scope="module")
def chromium():
    """Start a browser for one module; Playwright's event loop would disturb other modules."""
    path = require_chromium()
    from playwright.sync_api import expect, sync_playwright  # noqa: PLC0415 - slow to load

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium):
    """Open a new tab with its own cookies and storage."""
    with chromium.new_context(viewport=SIZE) as context:
        yield Visit(context.new_page())


@pytest.fixture(scope="module")
def lasting_tab(chromium):
    """Open one tab for a module."""
    with chromium.new_context(viewport=SIZE) as context:
        yield Visit(context.new_page())


@pytest.fixture
def shared_tab(lasting_tab):
    """Return the module's tab. `BarePage` removes everything but plotly.js."""
    lasting_tab.forget()
    return lasting_tab
