"""JupyterLab on loopback and a real browser that may see nothing else."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}
KERNEL_IS_IDLE = """() => {
    const widget = window.jupyterapp?.shell?.currentWidget;
    const kernel = widget?.sessionContext?.session?.kernel;
    return kernel && kernel.connectionStatus === 'connected' && kernel.status === 'idle';
}"""


@contextlib.contextmanager
def running_lab(folder, *, theme="JupyterLab Light", **environment):
    """Serve a folder of notebooks with JupyterLab, isolated from the user's own.

    Yields
    ------
    str
        Its address on loopback.
    """
    own = folder / ".lab"
    for name in ("config", "runtime", "data", "ipython", "settings"):
        (own / name).mkdir(parents=True, exist_ok=True)
    settings = SETTINGS | {"@jupyterlab/apputils-extension:themes": {"theme": theme}}
    (own / "settings" / "overrides.json").write_text(json.dumps(settings))
    places = {
        "JUPYTER_CONFIG_DIR": str(own / "config"),
        "JUPYTER_RUNTIME_DIR": str(own / "runtime"),
        "JUPYTER_DATA_DIR": str(own / "data"),
        "IPYTHONDIR": str(own / "ipython"),
        "PYTHONPATH": str(ROOT),
    }
    words = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        *("--port=0", "--IdentityProvider.token=", "--PasswordIdentityProvider.hashed_password="),
        "--LabApp.expose_app_in_browser=True",
        f"--LabApp.app_settings_dir={own / 'settings'}",
        f"--ServerApp.root_dir={folder}",
    ]
    log = own / "log.txt"
    with log.open("w") as sink:
        process = subprocess.Popen(
            words, stdout=sink, stderr=sink, env=os.environ | places | environment
        )
    try:
        yield _address(own / "runtime", process, log)
    finally:
        process.terminate()
        process.wait(20)


def _address(runtime, process, log):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            with contextlib.suppress(ValueError):
                return json.loads(path.read_text())["url"]
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()}")


class Browser:
    """A page of Chromium, what it asked for, and what went wrong in it."""

    def __init__(self, page):
        self.page = page
        self.strangers, self.faults = [], []
        page.route("**/*", self._guard)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._listen)

    def _guard(self, route):
        host = urlsplit(route.request.url).hostname
        if host in ("127.0.0.1", "localhost", None):
            route.continue_()
        else:
            self.strangers.append(route.request.url)
            route.abort()

    def _listen(self, message):
        if message.type == "error":
            self.faults.append(message.text)

    def open_notebook(self, address, name):
        """Open a notebook in JupyterLab, alone on the page, and wait for its kernel."""
        self.page.goto(f"{address}doc/tree/{name}?reset")
        self.page.wait_for_function(KERNEL_IS_IDLE, timeout=60_000)

    def run_all(self, cells=None):
        """Run all cells, and wait until they have run."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        self.page.wait_for_function(KERNEL_IS_IDLE, timeout=60_000)


@contextlib.contextmanager
def open_browser(width=1280, height=900):
    """Open Chromium.

    Yields
    ------
    Browser
        With one empty page.
    """
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        context = chromium.new_context(
            viewport={"width": width, "height": height}, accept_downloads=True
        )
        try:
            yield Browser(context.new_page())
        finally:
            chromium.close()
