"""Fixtures that several test modules share: a sandbox, its client, canned answers, a blockchain."""

import os
import re
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
import valkeys
from anvil import MULTICALL3, Chain, Relay
from canned_service import Canned
from chromium import chromium, lasting_tab, shared_tab, visit  # noqa: F401 - fixtures
from hypothesis import settings
from lab_server import lab_server  # noqa: F401 - the same
from own_folders import keep_in_memory, own_folders

from walletframe.service import Sandbox, sandbox

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each child would compile all of it anew
os.environ.pop("COLUMNS", None)  # pytest-xdist's workers have it, and tables would be fitted to it
settings.register_profile(  # a busy machine is no failure; .ci/versions draws more examples
    "untimed", deadline=None, max_examples=int(os.environ.get("WF_TEST_EXAMPLES", "25"))
)
settings.load_profile("untimed")
if os.name == "nt":  # POSIX alone has terminals, file locks by handle, small disks, forks
    collect_ignore = [
        "bulk/test_bulk_faults.py",
        "cli/test_consoles.py",
        "cli/test_pipes.py",
        "client/test_forks.py",
        "cluster/test_cluster_fetch.py",
        "cluster/test_cluster_kills.py",
        "exports/test_disk.py",
        "history/test_shared_history.py",
        "reports/test_pictures.py",
        "transport/test_store_faults.py",
    ]
FIRST = (
    "gates",
    "leaks",
    "bulk",
    "client",
    "history",
    "cluster",
)  # long files; the others fill the gaps
BUSY, WAITING = "browser", "transport"  # tests that draw, and tests that wait for hanging servers
SYSTEM = ("browser", "cluster")
MARKED = dict.fromkeys(SYSTEM, "system") | {"benchmarks": "benchmark"}
INSTALLED = ("npm", "bare_chain")  # fixtures that need npm's packages
RARE = re.compile(
    r"\bmark\.(system|stress|children|tools)\b|def .*\b(npm|chain|bare_chain|relay)\b"
)


def pytest_configure(config):
    """Keep the tests' files in memory, but those of benchmarks on a disk."""
    if not config.option.markexpr.startswith("benchmark"):
        keep_in_memory()


def pytest_ignore_collect(collection_path, config):
    """Skip files without a requested test, so that no worker loads their imports."""
    mark, selected = MARKED.get(collection_path.name), config.option.markexpr
    if mark and f"not {mark}" in selected:
        return True
    if not selected.startswith("system or stress") or not collection_path.match("test_*.py"):
        return None
    of_system = collection_path.parent.name in SYSTEM
    return None if of_system or RARE.search(collection_path.read_text(encoding="utf-8")) else True


def pytest_collection_modifyitems(items):
    """Mark tests that drive other programs, and run the longest first: no worker ends alone.

    Files that keep a processor busy alternate with files that wait.
    """
    for item in items:
        if item.path.parent.name in SYSTEM:
            item.add_marker("system")
        if not {*INSTALLED}.isdisjoint(item.fixturenames):
            item.add_marker("tools")
        is_drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if is_drawn or item.get_closest_marker("stress"):
            item.add_marker("uncounted")
    paths = dict.fromkeys(item.path for item in items)
    places = {path: (2, _place(FIRST, path.parent.name)) for path in paths}
    for folder in (BUSY, WAITING):
        own = [path for path in paths if path.parent.name == folder]
        places |= {path: (1, place) for place, path in enumerate(own)}
    items.sort(key=lambda item: places[item.path])


def _place(names, name):
    return names.index(name) if name in names else len(names)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Trace no line of a long test: the coverage that counts is that of written examples.

    Tracing stops in this thread alone: a thread of a shared server would never be traced again.
    """
    tracer = sys.gettrace()
    if item.get_closest_marker("uncounted"):
        sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


@pytest.fixture(autouse=True)
def home(request, tmp_path, monkeypatch):
    """Keep every test away from the user's folders, environment and default client."""
    if request.node.get_closest_marker("uncounted"):
        monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # of its children, too
    monkeypatch.setattr("walletframe.client.default._default", None)
    monkeypatch.setattr("walletframe.settings.tables._current", None)
    for name in [name for name in os.environ if name.startswith("WALLETFRAME_")]:
        monkeypatch.delenv(name)
    for name, folder in own_folders(tmp_path / "xdg", tmp_path / "data").items():
        monkeypatch.setenv(name, folder)
    return tmp_path


@pytest.fixture(scope="session")
def service():
    """Start one sandbox for the whole run."""
    with sandbox() as running:
        yield running


@pytest.fixture(scope="session")
def npm():
    """Return the folder of npm's programs; skip loudly where they are not installed."""
    folder = Path(__file__).with_name("page") / "node_modules" / ".bin"
    if shutil.which("node") and folder.is_dir():
        return folder
    missing = "no eslint: npm install --prefix tests/page (.ci/run does it, and skips nothing)"
    if "WF_TEST_NO_SKIP" in os.environ:
        pytest.fail(missing)
    return pytest.skip(missing)


@pytest.fixture
def client(service, monkeypatch):
    """Open a client of the sandbox that caches in memory; the sandbox is the latest one."""
    monkeypatch.setattr(Sandbox, "_latest", service)
    with service.client(cache="memory") as opened:
        yield opened


@contextmanager
def serving(server):
    """Run a server in a thread."""
    with server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def canned():
    """Start a server of canned answers."""
    with serving(Canned()) as server:
        yield server


@pytest.fixture(scope="session")
def lasting_valkey():
    """Start one Valkey for the whole run."""
    with valkeys.running() as server:
        yield server


@pytest.fixture
def valkey(lasting_valkey):
    """Return the Valkey, emptied."""
    with lasting_valkey.connection() as client:
        client.flushall()
    return lasting_valkey


@pytest.fixture(scope="session")
def bare_chain(tmp_path_factory):
    """Start one blockchain for the whole run."""
    with Chain(tmp_path_factory.mktemp("anvil") / "log") as running:
        yield running


@pytest.fixture(params=[None, "Multicall3"])
def chain(bare_chain, request):
    """Return the blockchain, once without the contract Multicall3 and once with it."""
    bare_chain.set_code(MULTICALL3, request.param)
    yield bare_chain
    bare_chain.set_code(MULTICALL3)


@pytest.fixture
def scripted_node():
    """Start a node without a blockchain that sends a test's replies."""
    with serving(Relay()) as server:
        yield server


@pytest.fixture
def relay(scripted_node, bare_chain):
    """Return a relay in front of the blockchain that can replace its replies."""
    scripted_node.node = bare_chain.url
    return scripted_node
