"""JupyterLab on loopback, isolated from the user's own, and its notebooks in a browser."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from own_folders import own_folders

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
PLACES = ("config", "runtime", "data", "ipython", "settings", "cache")


@contextlib.contextmanager
def running_lab(folder, *, theme="JupyterLab Light"):
    """Serve a folder of notebooks.

    Yields
    ------
    str
        The address on loopback.
    """
    own = own_places(folder)
    settings = SETTINGS | {"@jupyterlab/apputils-extension:themes": {"theme": theme}}
    (own["settings"] / "overrides.json").write_text(json.dumps(settings))
    words = [
        *("jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"),
        *("--IdentityProvider.token=", "--PasswordIdentityProvider.hashed_password="),
        "--LabApp.expose_app_in_browser=True",
        f"--LabApp.app_settings_dir={own['settings']}",
        f"--ServerApp.root_dir={folder}",
    ]
    with running(words, own) as (process, log):
        yield _address(own["runtime"], process, log)


def own_places(folder):
    """Make the folders that a server would have in the user's home, by name."""
    own = {name: folder / ".lab" / name for name in PLACES}
    for path in own.values():
        path.mkdir(parents=True)
    return own


@contextlib.contextmanager
def running(words, own):
    """Run a module of Python as a server that knows nothing of the user's, and end it.

    Yields
    ------
    tuple of subprocess.Popen and pathlib.Path
        The process, and what it says.
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
    command = [sys.executable, "-m", *words]
    with log.open("w") as sink:
        process = subprocess.Popen(command, stdout=sink, stderr=sink, env=os.environ | environment)
        try:
            yield process, log
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
    """Open a notebook, alone on the page."""
    page.goto(f"{address}doc/tree/{name}?reset")
    page.wait_for_function(KERNEL_IS_IDLE, timeout=60_000)


def open_and_run(page, address, name):
    """Open a notebook, alone on the page, and run all its cells."""
    open_notebook(page, address, name)
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    page.wait_for_function(KERNEL_IS_IDLE, timeout=60_000)
