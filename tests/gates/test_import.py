"""The cost and the effects of importing, and the package's names."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import grimp
import pytest

import walletframe as wf

pytestmark = pytest.mark.children
PROBE = """
import socket, sys
import pandas
opened = []
def hook(event, args):
    if event == "socket.connect" or event == "socket.bind":
        opened.append((event, args))
    elif event == "open" and not str(args[0]).endswith((".py", ".pyc", ".so")):
        opened.append((event, args[0]))
sys.addaudithook(hook)
import walletframe
pandas.DataFrame().wf.plot, pandas.Series(dtype="amount").wf
heavy = "plotly anywidget ipywidgets requests requests_cache fastapi uvicorn tqdm click dask"
heavy = [*heavy.split(), "eth_abi", "Crypto", "redis", "msgspec"]
for_later = "frames wire client tokens settings address analysis exports bulk charts disk"
heavy += [f"walletframe.{name}" for name in for_later.split()]
print(opened, [name for name in heavy if name in sys.modules])
"""

SHELL = """
import sys
from walletframe.cli import main
try:
    main(sys.argv[1:], standalone_mode=False)
finally:
    heavy = "plotly jinja2 requests requests_cache redis fastapi walletframe.client".split()
    print([name for name in heavy if name in sys.modules], file=sys.stderr)
"""
HOLDINGS = """blockchain,address,symbol,token_blockchain,token_address,amount
NEAR,alice.near,NEAR,NEAR,,1.5
"""


def test_import_is_light_and_has_no_effects(tmp_path):
    """No socket, no file beyond the import itself, nothing that amounts don't need."""
    result = subprocess.run(
        [sys.executable, "-B", "-c", PROBE],  # writing .pyc files would open them
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert result.stdout.strip() == "[] []"


@pytest.mark.parametrize("words", [["--help"], ["settings"], ["totals", "holdings.csv"]])
def test_the_shell_loads_only_needed_modules(words, tmp_path):
    """A command that sends no request loads no client, cache or server."""
    (tmp_path / "holdings.csv").write_text(HOLDINGS)
    command = [sys.executable, "-c", SHELL, *words]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert result.stderr.splitlines()[-1] == "[]"


def test_every_public_name_is_there():
    """`__all__` is sorted, complete, and each name resolves."""
    assert wf.__all__ == sorted(wf.__all__)
    assert all(hasattr(wf, name) for name in wf.__all__)
    classes = {name: value for name, value in vars(wf).items() if inspect.isclass(value)}
    defined = {name for name, value in classes.items() if value.__module__.startswith(wf.__name__)}
    later = {name for names in wf._LAZY_NAMES.values() for name in names}
    assert defined | later | {"errors"} == set(wf.__all__)


def test_unknown_name_is_an_attribute_error():
    """A typo fails as in any module."""
    assert not hasattr(wf, "fetch_walets")


def test_names_that_are_not_loaded_yet_are_listed():
    """`dir`, and so a tab, offers every public name from the beginning."""
    code = "import walletframe as wf; print(sorted({*wf.__all__} - {*dir(wf)}))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_nothing_else_is_listed():
    """A tab does not offer the package's own imports."""
    assert {name for name in dir(wf) if not name.startswith("__")} == {*wf.__all__}


def test_older_pandas_is_refused_in_a_line():
    """Hosted notebooks may have it: the error says how to upgrade, without internal errors."""
    code = "import pandas; pandas.__version__ = '2.1.4'; import walletframe"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    text = "ImportError: walletframe needs pandas 2.2.2 or later, but this is pandas 2.1.4: pip"
    assert result.stderr.splitlines()[-1].startswith(text)


def test_version_is_that_of_the_distribution():
    """The citation has the same version."""
    assert wf.__version__ == version("walletframe")
    cited = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {wf.__version__}\n" in cited


def test_no_module_imports_the_package_root():
    """Modules import each other by their own names, so that the root stays a list."""
    graph = grimp.build_graph("walletframe")
    assert graph.find_modules_that_directly_import("walletframe") == set()


def test_no_module_bears_the_name_of_a_public_function():
    """Importing a module would hide such a function."""
    modules = {module.name for module in pkgutil.iter_modules(wf.__path__)}
    functions = {name for name in wf.__all__ if inspect.isfunction(getattr(wf, name))}
    assert modules & functions == set()


def test_every_module_has_a_docstring():
    """Each module imports on its own."""
    for module in pkgutil.walk_packages(wf.__path__, "walletframe."):
        if not module.name.endswith("__main__"):
            assert importlib.import_module(module.name).__doc__, module.name
