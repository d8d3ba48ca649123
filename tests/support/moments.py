"""What a test does at a moment that it names, and the one that it stays away from."""

import os
import signal
import time
from datetime import UTC, datetime, timedelta
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


def let_midnight_pass(seconds):
    """Wait for the next day of UTC if it begins within so many seconds."""
    now = datetime.now(UTC)
    soon = now + timedelta(seconds=seconds)
    if soon.date() != now.date():
        midnight = soon.replace(hour=0, minute=0, second=0, microsecond=0)
        time.sleep((midnight - now).total_seconds())
