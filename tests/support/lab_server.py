"""A JupyterLab server on loopback, which uses no folder of the user.

``conftest`` imports the fixture `lab_server`, which several modules share.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from own_folders import own_folders

PYTHON = os.environ.get("WF_TEST_PYTHON", sys.executable)  # .ci/widgets sets an older one
SUPPORT = Path(__file__).parent
ROOT = SUPPORT.parents[1]
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
FOLDER_NAMES = ("config", "runtime", "data", "ipython", "settings", "cache")


class Lab:
    """A running JupyterLab.

    Parameters
    ----------
    folder : pathlib.Path
        The folder of notebooks.
    address : str
        The address on loopback.
    """

    def __init__(self, folder, address):
        self.folder, self.address = folder, address

    @contextlib.contextmanager
    def serving(self, **notebooks):
        """Serve notebooks by name (without .ipynb), and finally end their kernels.

        Yields
        ------
        str
            The address.
        """
        for name, text in notebooks.items():
            (self.folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
        yield self.address
        for kernel in json.loads(self._request("GET", "api/kernels")):
            self._request("DELETE", f"api/kernels/{kernel['id']}")

    def _request(self, method, path):
        request = Request(self.address + path, method=method)  # noqa: S310 - its own address
        with urlopen(request) as answer:  # noqa: S310 - the same
            return answer.read()


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory):
    """Start one JupyterLab for all modules that a worker runs."""
    folder = tmp_path_factory.mktemp("lab")
    with running_lab(folder) as address:
        yield Lab(folder, address)


@contextlib.contextmanager
def running_lab(folder, *, theme="JupyterLab Light"):
    """Serve a folder of notebooks.

    Yields
    ------
    str
        The address on loopback.
    """
    own = server_folders(folder)
    settings = SETTINGS | {"@jupyterlab/apputils-extension:themes": {"theme": theme}}
    (own["settings"] / "overrides.json").write_text(json.dumps(settings))
    words = [
        *("-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"),
        *("--IdentityProvider.token=", "--PasswordIdentityProvider.hashed_password="),
        "--LabApp.expose_app_in_browser=True",
        "--ServerApp.disable_check_xsrf=True",  # a test ends kernels
        f"--LabApp.app_settings_dir={own['settings']}",
        f"--ServerApp.root_dir={folder}",
    ]
    with running(words, own) as (process, log):
        yield _address(own["runtime"], process, log)


def server_folders(folder):
    """Create folders in place of those in the user's home, and return them by name."""
    own = {name: folder / ".lab" / name for name in FOLDER_NAMES}
    for path in own.values():
        path.mkdir(parents=True)
    return own


@contextlib.contextmanager
def running(words, own):
    """Run Python as a server that uses no folder of the user, and finally end it.

    Yields
    ------
    tuple of subprocess.Popen and pathlib.Path
        The process, and its output.
    """
    environment = {
        "JUPYTER_CONFIG_DIR": str(own["config"]),
        "JUPYTER_RUNTIME_DIR": str(own["runtime"]),
        "JUPYTER_DATA_DIR": str(own["data"]),
        "IPYTHONDIR": str(own["ipython"]),
        "PYTHONPATH": str(ROOT),
        **own_folders(own["cache"], own["data"]),
    }
    log = own["runtime"].parent / "log.txt"
    command = [PYTHON, *words]
    with log.open("w") as sink:
        process = subprocess.Popen(command, stdout=sink, stderr=sink, env=os.environ | environment)
        try:
            yield process, log
        finally:
            process.terminate()
            process.wait(20)


def _address(runtime, process, log):
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            with contextlib.suppress(ValueError):
                return json.loads(path.read_text())["url"]
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()}")


def notebook_of(*cells):
    """Return a notebook of code cells, as text."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = [
        {
            "cell_type": "code",
            "id": f"cell-{place}",
            "metadata": {},
            "source": cell,
            "outputs": [],
            "execution_count": None,
        }
        for place, cell in enumerate(cells)
    ]
    whole = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole)


def open_notebook(page, address, name):
    """Open a notebook as the only tab of the page."""
    page.goto(f"{address}doc/tree/{name}?reset")
    page.wait_for_function(KERNEL_IS_IDLE)


def open_and_run(page, address, name):
    """Open a notebook as the only tab of the page, and run all its cells."""
    open_notebook(page, address, name)
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(KERNEL_IS_IDLE)
