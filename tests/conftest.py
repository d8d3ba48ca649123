"""What several test modules need: a sandbox and its client, canned answers, a blockchain."""

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
from chromium import chromium, lasting_tab, stay, visit  # noqa: F401 - fixtures
from hypothesis import settings
from lab_server import lab_server  # noqa: F401 - the same
from own_folders import keep_in_memory, own_folders

from walletframe.service import Sandbox, sandbox

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each child would compile all of it anew
os.environ.pop("COLUMNS", None)  # of pytest-xdist's workers, to which tables would be fitted
settings.register_profile(  # a busy machine is no failure; .ci/versions draws more examples
    "untimed", deadline=None, max_examples=int(os.environ.get("WF_TEST_EXAMPLES", "25"))
)
settings.load_profile("untimed")
if os.name == "nt":  # what only POSIX has: terminals, file locks by handle, small disks, forks
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
FIRST = ("gates", "leaks", "bulk", "client", "history", "cluster")  # long files, others fill up
BUSY, WAITING = "browser", "transport"  # what draws, and what waits for servers that hang
SYSTEM = ("browser", "cluster")
MARKED = dict.fromkeys(SYSTEM, "system") | {"benchmarks": "benchmark"}
INSTALLED = ("npm", "bare_chain")  # fixtures that need what npm installs
RARE = re.compile(
    r"\bmark\.(system|stress|children|tools)\b|def .*\b(npm|chain|bare_chain|relay)\b"
)


def pytest_configure(config):
    """Keep the tests' files in memory; what is measured has a disk."""
    if not config.option.markexpr.startswith("benchmark"):
        keep_in_memory()


def pytest_ignore_collect(collection_path, config):
    """Leave out what has no test that is asked for: each worker would load what it imports."""
    mark, asked = MARKED.get(collection_path.name), config.option.markexpr
    if mark and f"not {mark}" in asked:
        return True
    if not asked.startswith("system or stress") or not collection_path.match("test_*.py"):
        return None
    of_system = collection_path.parent.name in SYSTEM
    return None if of_system or RARE.search(collection_path.read_text(encoding="utf-8")) else True


def pytest_collection_modifyitems(items):
    """Mark what drives other programs, and begin with what takes longest: no worker ends alone.

    Files that keep a processor busy take turns with those that leave it free.
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

    Only this thread is left alone: once stopped, coverage traces no thread of a shared server any
    more.
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
        monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # of what it starts, too
    monkeypatch.setattr("walletframe.client.default._default", None)
    for name in [name for name in os.environ if name.startswith("WALLETFRAME_")]:
        monkeypatch.delenv(name)
    for name, folder in own_folders(tmp_path / "xdg", tmp_path / "data").items():
        monkeypatch.setenv(name, folder)
    return tmp_path


@pytest.fixture(scope="session")
def service():
    """Give one sandbox to the whole run."""
    with sandbox() as running:
        yield running


@pytest.fixture(scope="session")
def npm():
    """Give the folder of what npm installed; skip loudly where it is not."""
    folder = Path(__file__).with_name("page") / "node_modules" / ".bin"
    if shutil.which("node") and folder.is_dir():
        return folder
    missing = "no eslint: npm install --prefix tests/page (.ci/run does it, and skips nothing)"
    if "WF_TEST_NO_SKIP" in os.environ:
        pytest.fail(missing)
    return pytest.skip(missing)


@pytest.fixture
def client(service, monkeypatch):
    """Give a client of the sandbox that keeps its answers in memory; it is the one made last."""
    monkeypatch.setattr(Sandbox, "_latest", service)
    with service.client(cache="memory") as opened:
        yield opened


@contextmanager
def serving(server):
    """Let a server serve."""
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
    """Give a server of canned answers."""
    with serving(Canned()) as server:
        yield server


@pytest.fixture(scope="session")
def lasting_valkey():
    """Give one Valkey to the whole run."""
    with valkeys.running() as server:
        yield server


@pytest.fixture
def valkey(lasting_valkey):
    """Give the Valkey, which keeps nothing yet."""
    with lasting_valkey.asked() as client:
        client.flushall()
    return lasting_valkey


@pytest.fixture(scope="session")
def bare_chain(tmp_path_factory):
    """Give one blockchain to the whole run."""
    with Chain(tmp_path_factory.mktemp("anvil") / "log") as running:
        yield running


@pytest.fixture(params=[None, "Multicall3"])
def chain(bare_chain, request):
    """Give the blockchain without the contract Multicall3, and once more with it."""
    bare_chain.put(MULTICALL3, request.param)
    yield bare_chain
    bare_chain.put(MULTICALL3)


@pytest.fixture
def teller():
    """Give a node that is none, and says what a test tells it."""
    with serving(Relay()) as server:
        yield server


@pytest.fixture
def relay(teller, bare_chain):
    """Give a relay before the blockchain, which can say something else."""
    teller.node = bare_chain.url
    return teller
