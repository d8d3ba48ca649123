"""Surfaces that processes offer: the command line, its output, their entries in the system."""

import subprocess
import sys
import time
from pathlib import Path

from chromium import require_chromium
from click.testing import CliRunner
from leak_ground import WALLET
from leak_scan import KEY
from leak_surfaces import surface, surfaces
from leaks_in_files import echoing
from leaks_in_nodes import hidden

import walletframe as wf
from walletframe.cli import main

COMMANDS = {
    "fetch": ["fetch", WALLET],
    "fetch of all": ["fetch", WALLET, "--all", "--refresh"],
    "fetch offline": ["fetch", WALLET, "--offline"],
    "fetch of nonsense": ["fetch", "nonsense"],
    "fetch with the key as an option": ["fetch", WALLET, "--api-key", KEY],
    "fetch --help": ["fetch", "--help"],
    "--help": ["--help"],
    "settings": ["settings"],
    "cache info": ["cache", "info"],
    "cache path": ["cache", "path"],
    "cache clear": ["cache", "clear"],
}
FAILURES = {
    "an error": (500, {}),
    "a refused key": (401, {}),
    "a redirect": (302, {}),
    "a wrong variable": (200, {"WALLETFRAME_WORKERS": "many"}),
    "an unknown variable": (200, {"WALLETFRAME_APIKEY": KEY}),
    "an unreadable key": (200, {"WALLETFRAME_API_KEY": f"{KEY}\u202e"}),
    "nobody there": (200, {"WALLETFRAME_BASE_URL": "http://127.0.0.1:9"}),
}


def run(*words):
    """Run a command in this process, and return all that it prints."""
    return CliRunner().invoke(main, words, catch_exceptions=False).output


@surfaces(COMMANDS)
def command(ground, variant):
    """The output of a command."""
    echoing(ground)
    ground.environment(cache=ground.folder / "kept.sqlite")
    ground.fetch(cache=ground.folder / "kept.sqlite")
    return run(*COMMANDS[variant])


@surfaces(FAILURES)
def failed_fetch(ground, variant):
    """The output of a failed fetch."""
    status, variables = FAILURES[variant]
    ground.echo(status=status)
    ground.environment(cache=ground.folder / "kept.sqlite")
    for name, value in variables.items():
        ground.patch.setenv(name, value)
    return run("fetch", WALLET)


def _tree(pid):
    """Return the numbers of a process and of all its descendants."""
    children = " ".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return [pid, *(each for child in children.split() for each in _tree(child))]


def _system_view(pid):
    """Return a process's public entries in the system, and its open files."""
    folder = Path(f"/proc/{pid}")
    names = [path.read_text() for path in folder.glob("task/*/comm")]
    return [(folder / "cmdline").read_bytes(), *names] + [
        str(path.readlink()) for path in folder.glob("fd/*")
    ]


@surface
def process_list(ground):
    """The system's entries of a running fetch: command lines, names of threads, open files."""
    ground.server.add_reply([b" "] * 100)
    ground.environment(cache=ground.folder / "kept.sqlite")
    words = [sys.executable, "-m", "walletframe", "fetch", WALLET]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while not ground.server.paths:
            time.sleep(0.02)
        seen = [part for pid in _tree(process.pid) for part in _system_view(pid)]
        process.kill()
        printed = process.stdout.read()
    assert any(b"walletframe\0fetch" in part for part in seen if isinstance(part, bytes))
    return [*seen, printed]


SPY = """#!/bin/sh
env >> {seen}
cat /proc/$PPID/environ /proc/$$/cmdline >> {seen}
exec {browser} "$@"
"""


@surface
def browser_of_a_report(ground):
    """The start of the browser that draws a report's charts."""
    browser = require_chromium()
    ground.answer()
    ground.environment()
    hidden(ground, ground.server.base_url)
    spy, seen = ground.folder / "spy", ground.folder / "seen"
    spy.write_text(SPY.format(seen=seen, browser=browser))
    spy.chmod(0o700)
    ground.patch.setenv("BROWSER_PATH", str(spy))
    wf.report(ground.fetch(), ground.folder / "report.html", images="static")
    assert b"BROWSER_PATH" in seen.read_bytes()
    return seen.read_bytes()


SCRIPT = """
import http.client, sys
import walletframe as wf
http.client.HTTPConnection.debuglevel = 1
client = wf.Client()
audit = open(sys.argv[1], "w")
sys.addaudithook(lambda event, args: print(event, args, file=audit))
client.fetch("ETH.0x000000000000000000000000000000000000000a")
audit.flush()
client.fetch("ETH.0x000000000000000000000000000000000000000b", on_failure="raise")
"""
_printed = {}


@surfaces(("output", "errors", "audit events"))
def script(ground, variant):
    """The output of a script in Python's debug mode."""
    if not _printed:
        echoing(ground)
        headers = {"X-Key": KEY.encode().decode("latin-1")}
        ground.server.add_reply(b"{}", status=200, **headers)
        ground.echo()
        ground.environment()
        words = [sys.executable, "-X", "dev", "-c", SCRIPT, str(ground.folder / "audit")]
        done = subprocess.run(words, capture_output=True, check=False)
        _printed["output"] = b"output:" + done.stdout
        _printed["errors"] = done.stderr
        _printed["audit events"] = (ground.folder / "audit").read_bytes()
        assert b"FetchError" in done.stderr
        assert b"http.client.send" in _printed["audit events"]
    return _printed[variant]
