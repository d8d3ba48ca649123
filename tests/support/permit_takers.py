"""Take as many permits as possible, in this process or in others, which report the times."""

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
FORK = "fork" if sys.platform == "linux" else "spawn"  # fork imports once for all


def limiter_at(path, service="s", *, key=KEY, kind="private", rate=None, longest_s=60):
    """Return a rate limiter with a file (suffix .pace), or without one if `path` is None."""
    from walletframe.settings.values import Settings  # noqa: PLC0415 - only the processes need it
    from walletframe.transport import RateLimiter  # noqa: PLC0415 - the same

    assert path is None or path.suffix == ".pace"
    options = {"api_key": key, "key_kind": kind, "base_url": "https://api.example"}
    own = {"requests_per_second": rate, "retry_after_max_s": longest_s, "service": service}
    cache = "memory" if path is None else path.with_suffix("")
    return RateLimiter(Settings.isolated(**options, **own, cache=cache))


def take(path, rate, until):
    """Take permits until a time, and return the times of the permits."""
    warnings.simplefilter("ignore")
    limiter = limiter_at(Path(path), rate=rate)
    end, result = time.monotonic() + until - time.time(), []
    while limiter.wait_for_permit(Event(), end):
        result.append(time.time())
        limiter.note_answer()
    limiter.close()
    return result


def main(path, count):
    """Start `count` processes. They take permits once the rate and the end time are read."""
    import walletframe.transport  # noqa: F401, PLC0415 - before they fork

    with multiprocessing.get_context(FORK).Pool(int(count)) as pool:
        print(flush=True)  # noqa: T201 - the test waits for it
        rate, until = map(float, sys.stdin.readline().split())
        taken = pool.starmap(take, [(path, rate, until)] * int(count), chunksize=1)
        print(json.dumps(taken))  # noqa: T201 - the test reads it
        pool.close()
        pool.join()


def count_permits(limiter, seconds):
    """Count the permits that a limiter grants within these seconds."""
    end, count = time.monotonic() + seconds, 0
    while limiter.wait_for_permit(Event(), end):
        count += 1
    return count


def permit_comes(limiter):
    """Wait for a permit, and return whether one came; a busy machine gets 30 seconds."""
    return limiter.wait_for_permit(Event(), time.monotonic() + 30)


class Takers:
    """Running processes that wait for a rate and an end time, and then take permits."""

    def __init__(self, path, count):
        self._running = subprocess.Popen(
            [sys.executable, __file__, str(path), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._running.stdout.readline()

    def go(self, rate, until):
        """Start taking permits at a rate, until a time of ``time.time()``."""
        self._running.stdin.write(f"{rate} {until}\n")
        self._running.stdin.flush()

    def permits(self):
        """Return the times of each process's permits."""
        return json.loads(self._running.communicate(timeout=120)[0])


def by_second(permits, begun, end):
    """Count the permits of all processes in each whole second between two times."""
    counts = Counter(int(at - begun) for times in permits for at in times if begun <= at < end)
    return [counts[second] for second in range(int(end - begun))]


if __name__ == "__main__":
    main(*sys.argv[1:])
