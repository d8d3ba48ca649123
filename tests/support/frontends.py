"""Notebook 7, Voilà, marimo and a bare host on loopback, with the same cells."""

import contextlib
import socket
import textwrap
import time

from lab_server import KERNEL_IS_IDLE, SUPPORT, notebook_of, running, server_folders

FRONTENDS = ("notebook", "voila", "marimo", "bare")
MARIMO = """import marimo

app = marimo.App(width="full")

with app.setup:
{setup}


@app.cell
def _():
    import marimo as mo

    widget = mo.ui.anywidget({shown})
    widget
    return
"""


@contextlib.contextmanager
def serving(frontend, folder, setup, shown):
    """Serve one cell that creates a widget, and one cell that shows the widget.

    Yields
    ------
    str
        The address on loopback.
    """
    own, port = server_folders(folder), _free_port()
    notebook, script, bare = (folder / name for name in ("shown.ipynb", "shown.py", "bare.py"))
    notebook.write_text(notebook_of(setup, shown))
    script.write_text(MARIMO.format(setup=textwrap.indent(setup.strip(), "    "), shown=shown))
    bare.write_text(f"{setup}\nshown = {shown}\n")
    jupyter = ["--IdentityProvider.token=", "--PasswordIdentityProvider.hashed_password="]
    words = {
        "notebook": [
            *("-m", "notebook", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
            *(*jupyter, f"--ServerApp.root_dir={folder}"),
            "--JupyterNotebookApp.expose_app_in_browser=True",
        ],
        "voila": ["-m", "voila", "--no-browser", f"--port={port}", str(notebook)],
        "marimo": [
            *("-m", "marimo", "--yes", "run", "--headless", "--no-token", "--host=127.0.0.1"),
            *(f"--port={port}", str(script)),
        ],
        "bare": [str(SUPPORT / "bare_host.py"), str(port), str(bare)],
    }
    with running(words[frontend], own) as (process, log):
        _wait(port, process, log)
        yield f"http://127.0.0.1:{port}/"


def open_widget(page, frontend, address):
    """Open the page, and run the cells unless the frontend runs them itself."""
    page.goto(f"{address}notebooks/shown.ipynb" if frontend == "notebook" else address)
    if frontend == "notebook":
        page.wait_for_function(KERNEL_IS_IDLE)
        page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")


def _free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _wait(port, process, log):
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        time.sleep(0.1)
    raise AssertionError(f"It did not start:\n{log.read_text()}")
