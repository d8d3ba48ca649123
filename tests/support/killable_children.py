"""Processes that tests kill. They are forks of a parent that has already done the slow imports.

Each child calls the function ``work`` with words. ``work`` prints lines with ``say``, since a kill
never cuts such a line in half. No coverage is measured, since a kill would lose it.
"""

import os
import signal
import subprocess
import sys

SAY = """
import os
def say(*words):
    os.write(1, " ".join(map(str, words)).encode() + b"\\n")
"""
LOOP = """
import sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # about forks beside numpy's threads
for line in sys.stdin:
    if os.fork() == 0:
        say(os.getpid())
        warnings.simplefilter("error")
        work(*line.split())
        os._exit(0)
    say("ended", os.waitstatus_to_exitcode(os.wait()[1]))
"""


class KillableChildren:
    """A context manager for child processes, of which one runs at a time.

    Parameters
    ----------
    code : str
        The code that the parent runs once. The code defines ``work``.
    """

    def __init__(self, code):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        environment.pop("COVERAGE_PROCESS_CONFIG", None)
        self._parent = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", SAY + code + LOOP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self._child = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._parent.kill()
        self._parent.communicate()

    def start(self, *words):
        """Start a child that calls ``work`` with these words."""
        self._parent.stdin.write(" ".join(map(str, words)) + "\n")
        self._parent.stdin.flush()
        self._child = int(self.read_line())

    def read_line(self):
        """Return the next line that the child prints."""
        return self._parent.stdout.readline()

    def kill(self):
        """Kill the child as `kill -9` does."""
        os.kill(self._child, signal.SIGKILL)

    def wait_for_kill(self):
        """Wait until the child ends. Return whether it was killed, and its unread lines."""
        lines = []
        while not (line := self.read_line()).startswith("ended "):
            assert line, "the children's parent is gone"
            lines.append(line)
        return line == f"ended {-signal.SIGKILL}\n", lines
