"""The gates for every change, run by the same command as the tests."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest
from copied_code import executed

import walletframe as wf

ROOT = Path(__file__).parents[2]

ENGINES = ("pyspark", "ray")  # test_engines.py runs them


def python_of(path):
    """Return the Python blocks of a page."""
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def engine_of(block):
    """Return the engine that a block imports, if any."""
    result = re.search(rf"^(?:from|import) ({'|'.join(ENGINES)})\b", block, flags=re.MULTILINE)
    return result and result[1]


PAGES = [
    path for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))] if python_of(path)
]


def run(*command):
    """Run a tool on the repository and return its complaints."""
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def modules():
    """Return every module of the package but the one that runs it."""
    result = pkgutil.walk_packages(wf.__path__, "walletframe.")
    return ["walletframe", *(each.name for each in result if not each.name.endswith("__main__"))]


def test_ruff_finds_nothing():
    """All rules hold but those with a reason not to."""
    assert run("-m", "ruff", "check", "--no-cache", ".") == ""


def test_code_is_formatted():
    """Ruff decides the format."""
    assert run("-m", "ruff", "format", "--no-cache", "--check", ".") == ""


def test_layers_are_kept():
    """An arrow always points down."""
    code = (
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    )
    assert run("-c", code) == ""


def test_no_module_needs_itself():
    """Following imports, in functions and for types too, never leads back."""
    graph = grimp.build_graph("walletframe", cache_dir=None)
    imported = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    TopologicalSorter(imported).prepare()  # it raises on a cycle


@pytest.mark.parametrize("name", modules())
def test_examples_run(name, tmp_path, monkeypatch):
    """Every example in a docstring works, offline, in a temporary folder."""
    monkeypatch.chdir(tmp_path)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(importlib.import_module(name), optionflags=options).failed == 0


@pytest.fixture
def own_environment():
    """Restore the environment after an example."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.usefixtures("own_environment")
@pytest.mark.filterwarnings("ignore::walletframe.errors.FetchWarning")  # readers get it, too
@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")  # Dask's own call
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_of_pages_run(path, tmp_path, monkeypatch):
    """A page's Python blocks work, one after the other, but for those of a service or an engine."""
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in python_of(path):
        if "https://" not in block and not engine_of(block):
            executed(block, names, source=path.name)
