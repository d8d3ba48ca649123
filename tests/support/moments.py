"""Actions as soon as a condition holds, and a wait that avoids midnight."""

import os
import signal
import time
from datetime import UTC, datetime, timedelta
from threading import Thread


def when(happens, act):
    """Call `act` as soon as a condition holds. Give up after a minute."""

    def watch():
        until = time.monotonic() + 60
        while not happens() and time.monotonic() < until:
            time.sleep(0.01)
        if happens():
            act()

    Thread(target=watch, daemon=True).start()


def interrupt_when(happens):
    """Press Ctrl-C as soon as a condition holds."""
    when(happens, lambda: os.kill(os.getpid(), signal.SIGINT))


def wait_past_midnight(seconds):
    """Wait for the next day of UTC if it begins within this many seconds."""
    now = datetime.now(UTC)
    soon = now + timedelta(seconds=seconds)
    if soon.date() != now.date():
        midnight = soon.replace(hour=0, minute=0, second=0, microsecond=0)
        time.sleep((midnight - now).total_seconds())
