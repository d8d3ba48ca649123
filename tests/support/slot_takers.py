"""Who takes as many slots of a pace as can be had: this process, or others that say when."""

import json
import multiprocessing
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from threading import Event

FORK = "fork" if sys.platform == "linux" else "spawn"  # which imports once for all


def take(place, clock_s, processes, rate, until):
    """Take slots until a time, with a clock that goes wrong, and count the trips to a server."""
    from redis.connection import Connection  # noqa: PLC0415 - what only the processes need

    from walletframe.settings import ServerUrl  # noqa: PLC0415 - the same
    from walletframe.transport import Pacer  # noqa: PLC0415 - the same

    honest, sends, trips = time.time, Connection.send_packed_command, []

    def send(*args, **kwargs):
        trips.append(1)
        return sends(*args, **kwargs)

    time.time, Connection.send_packed_command = lambda: honest() + clock_s, send
    warnings.simplefilter("ignore")
    where = ServerUrl(place) if "://" in place else Path(place)
    pacer = Pacer(where, "s", rate=rate, longest_s=60, processes=processes)
    end, taken = time.monotonic() + until - honest(), []
    while pacer.wait(Event(), end):
        taken.append(honest())
        pacer.note_answer()
    pacer.close()
    return taken, len(trips)


def main(place, processes, *clocks_s):
    """Begin as many processes as there are clocks, and let them take slots once it is said."""
    import redis  # noqa: F401, PLC0415 - as below

    import walletframe.transport  # noqa: F401, PLC0415 - before they fork

    with multiprocessing.get_context(FORK).Pool(max(1, len(clocks_s))) as pool:
        print(flush=True)  # noqa: T201 - the test waits for it
        rate, until = map(float, sys.stdin.readline().split())
        given = [
            (place, float(clock_s), int(processes) or None, rate, until) for clock_s in clocks_s
        ]
        print(json.dumps(pool.starmap(take, given, chunksize=1)))  # noqa: T201 - the test reads it
        pool.close()
        pool.join()


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
        clocks = [str(clock_s) for _, clock_s in zip(range(count), clocks_s * count, strict=False)]
        self._running = subprocess.Popen(
            [sys.executable, __file__, str(place), str(processes or 0), *clocks],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._running.stdout.readline()

    def go(self, rate, until):
        """Let them take slots at a rate until a time of ``time.time()``."""
        self._running.stdin.write(f"{rate} {until}\n")
        self._running.stdin.flush()

    def slots(self):
        """Return the times of each one's slots, and how many trips all took."""
        said = json.loads(self._running.communicate(timeout=120)[0])
        return [times for times, _ in said], sum(trips for _, trips in said)


def by_second(slots, begun, end):
    """Count the slots of all in each whole second between two times."""
    counts = Counter(int(at - begun) for times in slots for at in times if begun <= at < end)
    return [counts[second] for second in range(int(end - begun))]


if __name__ == "__main__":
    main(*sys.argv[1:])
