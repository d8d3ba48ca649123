"""Processes to be killed: children of one that has imported what takes long, each forked anew.

What they run is a function ``work`` of words, which calls ``say``: a kill leaves no half of a line.
None writes what it covered, since a kill loses that.
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
warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads, which numpy has
for line in sys.stdin:
    if os.fork() == 0:
        say(os.getpid())
        warnings.simplefilter("error")
        work(*line.split())
        os._exit(0)
    say("ended", os.waitstatus_to_exitcode(os.wait()[1]))
"""


class Mortals:
    """One process after the other; a context manager.

    Parameters
    ----------
    code : str
        What is run once, and defines the function.
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

    def begin(self, *words):
        """Let a child begin with its work."""
        self._parent.stdin.write(" ".join(map(str, words)) + "\n")
        self._parent.stdin.flush()
        self._child = int(self.said())

    def said(self):
        """Wait for its next line."""
        return self._parent.stdout.readline()

    def kill(self):
        """Kill it as `kill -9` does."""
        os.kill(self._child, signal.SIGKILL)

    def was_killed(self):
        """Wait for its end: tell whether that was by such a kill, and what it said before."""
        lines = []
        while not (line := self.said()).startswith("ended "):
            assert line, "the children's parent is gone"
            lines.append(line)
        return line == f"ended {-signal.SIGKILL}\n", lines
