"""Who takes as many slots of a pace as can be had: this process, or others that say when."""

import json
import subprocess
import sys
import time
from collections import Counter
from threading import Event

TAKE = """
import json, sys, time, warnings
from pathlib import Path
from threading import Event
place, clock_s, processes = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]) or None
honest = time.time
time.time = lambda: honest() + clock_s
from walletframe.settings import ServerUrl
from walletframe.transport import Pacer
warnings.simplefilter("ignore")
trips = 0
if "://" in place:
    from redis.connection import Connection
    sends = Connection.send_packed_command
    def send(*args, **kwargs):
        global trips
        trips += 1
        return sends(*args, **kwargs)
    Connection.send_packed_command = send
    place = ServerUrl(place)
else:
    place = Path(place)
print(flush=True)
rate, until = (float(each) for each in sys.stdin.readline().split())
pacer = Pacer(place, "s", rate=rate, longest_s=60, processes=processes)
end, taken = time.monotonic() + until - honest(), []
while pacer.wait(Event(), end):
    taken.append(honest())
    pacer.note_answer()
pacer.close()
print(json.dumps([taken, trips]))
"""


def taken(pacer, seconds):
    """Count the slots that are to be had in a time."""
    end, count = time.monotonic() + seconds, 0
    while pacer.wait(Event(), end):
        count += 1
    return count


def comes(pacer):
    """Wait for a slot, and tell whether one came, however busy the machine is."""
    return pacer.wait(Event(), time.monotonic() + 30)


class Takers:
    """Processes that have begun, and wait to be told the rate and the end."""

    def __init__(self, place, count, *, clocks_s=(0,), processes=None):
        self._running = [
            subprocess.Popen(
                [sys.executable, "-c", TAKE, str(place), str(clock_s), str(processes or 0)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _, clock_s in zip(range(count), clocks_s * count, strict=False)
        ]
        for each in self._running:
            each.stdout.readline()

    def go(self, rate, until):
        """Let them take slots at a rate until a time of ``time.time()``."""
        for each in self._running:
            each.stdin.write(f"{rate} {until}\n")
            each.stdin.flush()

    def slots(self):
        """Return the times of each one's slots, and how many trips all took."""
        said = [json.loads(each.communicate(timeout=120)[0]) for each in self._running]
        return [times for times, _ in said], sum(trips for _, trips in said)


def by_second(slots, begun, end):
    """Count the slots of all in each whole second between two times."""
    counts = Counter(int(at - begun) for times in slots for at in times if begun <= at < end)
    return [counts[second] for second in range(int(end - begun))]
