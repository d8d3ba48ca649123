"""Surfaces that a saved notebook offers, with the key in the environment of its kernel."""

import json
import re
import subprocess
import sys

from addresses import A
from leak_surfaces import surfaces

FETCH = f"wf.fetch_wallets('ETH.{A}', "
SETUP = """
import logging, os
import walletframe as wf
get_key = lambda: os.environ["WALLETFRAME_API_KEY"]
settings = wf.configure()
settings
"""
CELLS = {  # a cell, and a word of its expected output
    "what configure returns": (SETUP, "key_kind='private'"),
    "a client": ("client = wf.Client()\nclient", "Client(Settings("),
    "the key": ("settings.api_key", "API key, hidden"),
    "a fetch with a bar and a warning": (f"{FETCH}progress=True)", "FetchWarning"),
    "its tables": (f"display(*{FETCH}on_failure='ignore'))", "service_error"),
    "an error": (f"{FETCH}on_failure='raise')", "FetchError"),
    "a wrong setting": ("wf.configure(workers='many')", "SettingsError"),
    "an error, verbose": (f"%xmode Verbose\n{FETCH}on_failure='raise')", "FetchError"),
    "a wrong setting, verbose": ("wf.configure(workers='many')", "SettingsError"),
    "a setting beside the key, verbose": (
        "wf.configure(api_key=get_key(), workers='many')",
        "SettingsError",
    ),
    "a misspelt key, verbose": ("wf.configure(apikey=get_key())", "SettingsError"),
    "the error again": ("%tb", "SettingsError"),
    "all variables": ("%whos", "settings"),
    "a log": (f"logging.basicConfig(level=10, force=True)\n{FETCH}refresh=True)", "GET /wallets"),
}
RUN = "from nbclient.cli import main; main()"
_outputs = {}


def _execute(ground):
    """Run all cells in a real kernel, and return the outputs that were saved, by cell."""
    ground.echo()
    ground.environment()
    empty = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [empty | {"source": source} for source, _ in CELLS.values()]
    path = ground.folder / "explore.ipynb"
    path.write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
    )
    words = [sys.executable, "-c", RUN, str(path), "--inplace", "--allow-errors"]
    subprocess.run(words, check=True, capture_output=True)
    text = re.sub(r"\\u001b\[[0-9;]*m", "", path.read_text())  # colours may divide a word
    outputs = [json.dumps(cell["outputs"]) for cell in json.loads(text)["cells"]]
    return dict(zip(CELLS, outputs, strict=True)) | {"the whole file": text}


@surfaces([*CELLS, "the whole file"])
def notebook(ground, variant):
    """A saved notebook."""
    if not _outputs:
        _outputs.update(_execute(ground))
    assert CELLS.get(variant, ("", "FetchError"))[1] in _outputs[variant]
    return _outputs[variant]
