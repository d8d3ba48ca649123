"""Jobs: every status arrives, and an interrupt cancels the work."""

import os
import signal
import time
from threading import Event

import pytest

from walletframe.client import Job


@pytest.mark.parametrize("attempt", range(24))
def test_no_news_is_lost_at_the_end(attempt):
    """Statuses that arrive just as a wait for them times out are returned."""

    def work(report):
        time.sleep(0.09)
        end = time.perf_counter() + 0.006 + attempt * 0.0004
        while time.perf_counter() < end:  # busy, so that the other thread has to wait
            pass
        report("first")
        report("last")
        return "done"

    job = Job(work)
    job.may_begin.set()
    assert (list(job.iter_statuses()), job.result()) == (["first", "last"], "done")
    assert job.ended.is_set()


def test_an_interrupt_at_the_first_moment_is_caught():
    """The interrupt cancels the work, and the result is returned."""

    def work(_):
        os.kill(os.getpid(), signal.SIGINT)
        return "done"

    for _ in range(50):
        cancel = Event()
        assert Job(work).run_with_progress(lambda _: None, cancel) == ("done", True)
        assert cancel.is_set()
