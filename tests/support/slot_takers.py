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

KEY = "a-key-of-nobody-1"
FORK = "fork" if sys.platform == "linux" else "spawn"  # which imports once for all


def pacer_at(path, service="s", *, key=KEY, kind="private", rate=None, longest_s=60):
    """Return a pacer whose pace is in a file with the suffix .pace, or, with None, nowhere."""
    from walletframe.settings.values import Settings  # noqa: PLC0415 - what only the processes need
    from walletframe.transport import Pacer  # noqa: PLC0415 - the same

    assert path is None or path.suffix == ".pace"
    given = {"api_key": key, "key_kind": kind, "base_url": "https://api.example"}
    own = {"requests_per_second": rate, "retry_after_max_s": longest_s, "service": service}
    cache = "memory" if path is None else path.with_suffix("")
    return Pacer(Settings.isolated(**given, **own, cache=cache))


def take(path, rate, until):
    """Take slots until a time; return when."""
    warnings.simplefilter("ignore")
    pacer = pacer_at(Path(path), rate=rate)
    end, found = time.monotonic() + until - time.time(), []
    while pacer.wait(Event(), end):
        found.append(time.time())
        pacer.note_answer()
    pacer.close()
    return found


def main(path, count):
    """Begin as many processes, and let them take slots once it is said."""
    import walletframe.transport  # noqa: F401, PLC0415 - before they fork

    with multiprocessing.get_context(FORK).Pool(int(count)) as pool:
        print(flush=True)  # noqa: T201 - the test waits for it
        rate, until = map(float, sys.stdin.readline().split())
        taken = pool.starmap(take, [(path, rate, until)] * int(count), chunksize=1)
        print(json.dumps(taken))  # noqa: T201 - the test reads it
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

    def __init__(self, path, count):
        self._running = subprocess.Popen(
            [sys.executable, __file__, str(path), str(count)],
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
        """Return the times of each one's slots."""
        return json.loads(self._running.communicate(timeout=120)[0])


def by_second(slots, begun, end):
    """Count the slots of all in each whole second between two times."""
    counts = Counter(int(at - begun) for times in slots for at in times if begun <= at < end)
    return [counts[second] for second in range(int(end - begun))]


if __name__ == "__main__":
    main(*sys.argv[1:])
