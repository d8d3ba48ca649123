"""What a test does at a moment that it names, from another thread."""

import os
import signal
import time
from threading import Thread


def when(happens, act):
    """Do something as soon as something else is so; after a minute it is not done any more."""

    def watch():
        until = time.monotonic() + 60
        while not happens() and time.monotonic() < until:
            time.sleep(0.01)
        if happens():
            act()

    Thread(target=watch, daemon=True).start()


def interrupt_when(happens):
    """Press Ctrl-C then."""
    when(happens, lambda: os.kill(os.getpid(), signal.SIGINT))
