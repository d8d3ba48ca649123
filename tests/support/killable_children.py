"""Processes to be killed: children of one that has done the slow imports, each forked anew.

They run a function ``work`` of words, which calls ``say``: a kill leaves no half of a line. None
writes its coverage, since a kill loses that.
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
    """One process after the other; a context manager.

    Parameters
    ----------
    code : str
        The code that is run once, and defines the function.
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
        """Start a child with its work."""
        self._parent.stdin.write(" ".join(map(str, words)) + "\n")
        self._parent.stdin.flush()
        self._child = int(self.read_line())

    def read_line(self):
        """Return its next line."""
        return self._parent.stdout.readline()

    def kill(self):
        """Kill it as `kill -9` does."""
        os.kill(self._child, signal.SIGKILL)

    def wait_for_kill(self):
        """Wait for its end: return whether that was by such a kill, and its lines before."""
        lines = []
        while not (line := self.read_line()).startswith("ended "):
            assert line, "the children's parent is gone"
            lines.append(line)
        return line == f"ended {-signal.SIGKILL}\n", lines
